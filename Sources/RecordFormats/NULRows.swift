/// Writes every value as stored with a NUL behind it, for programs such as `xargs -0`. No value is
/// escaped, so texts keep their tabs and newlines. A null has no bytes. On a terminal, control
/// characters are spelled out.
struct NULRows: RowWriter {
  private let columns: [OutputColumn]
  private let sink: ByteSink
  private let controls: OutputFormat.Options.Controls
  private var pendingHeader: [CellValue]?

  init(columns: [OutputColumn], options: OutputFormat.Options, sink: ByteSink) {
    self.columns = columns
    self.sink = sink
    controls = options.controls
    pendingHeader = options.header == .present ? columns.map { .text($0.name) } : nil
  }

  mutating func write(_ row: [CellValue]) throws(OutputError) {
    try writeHeader()
    try writeValues(row)
  }

  mutating func finish() throws(OutputError) {
    try writeHeader()
    try sink.flush()
  }

  private mutating func writeHeader() throws(OutputError) {
    guard let names = pendingHeader else { return }
    pendingHeader = nil
    try writeValues(names)
  }

  private func writeValues(_ row: [CellValue]) throws(OutputError) {
    try sink.append { output throws(OutputError) in
      for (value, column) in zip(row, columns) {
        let text = CellText.exchange(value, as: column.meaning) ?? ""
        guard !text.utf8.contains(0) else { throw .nulInText(column: column.name) }
        output.append(contentsOf: (controls == .shown ? CellText.visible(text) : text).utf8)
        output.append(0)
      }
    }
  }
}
