/// Writes rows as a Markdown table, for people: a blob is shown as its length, and a line break as
/// `<br>`.
struct MarkdownRows: RowWriter {
  private let columns: [OutputColumn]
  private let sink: ByteSink
  private var hasHeading = false

  init(columns: [OutputColumn], sink: ByteSink) {
    self.columns = columns
    self.sink = sink
  }

  mutating func write(_ row: [CellValue]) throws(OutputError) {
    try writeHeading()
    try writeLine(zip(row, columns).map { Self.text($0, as: $1.meaning) })
  }

  mutating func finish() throws(OutputError) {
    try writeHeading()
    try sink.flush()
  }

  private mutating func writeHeading() throws(OutputError) {
    guard !hasHeading else { return }
    hasHeading = true
    try writeLine(columns.map { Self.escaped($0.name) })
    try writeLine(columns.map { _ in "---" })
  }

  private func writeLine(_ cells: [String]) throws(OutputError) {
    try sink.append("| " + cells.joined(separator: " | ") + " |\n")
  }

  private static func text(_ value: CellValue, as meaning: OutputColumn.Meaning) -> String {
    switch value {
    case .null: ""
    case .text(let text): escaped(text)
    case .integer, .real, .blob: CellText.display(value, as: meaning)
    }
  }

  private static func escaped(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let escaped = line.reduce(into: "") { escaped, character in
        if "|\\<&".contains(character) { escaped.append("\\") }
        escaped.append(character)
      }
      return CellText.visible(escaped)
    }.joined(separator: "<br>")
  }
}
