/// Writes rows as JSON objects whose keys are the column names in order, or as YAML with JSON's
/// values.
struct JSONRows: RowWriter {
  /// The syntax around the objects.
  enum Framing: Hashable, Sendable {
    /// One array, with one object on each line.
    case array
    /// One object on each line, each flushed.
    case lines
    /// A list of YAML mappings, one field on a line.
    case yaml
  }

  private let framing: Framing
  private let columns: [OutputColumn]
  private let quotedNames: [[UInt8]]
  private let sink: ByteSink
  private var rowCount = 0

  /// - Throws: ``OutputError/duplicateColumn(_:)``.
  init(_ framing: Framing, columns: [OutputColumn], sink: ByteSink) throws(OutputError) {
    var seen: Set<String> = []
    for column in columns where !seen.insert(column.name).inserted {
      throw .duplicateColumn(column.name)
    }
    self.framing = framing
    self.columns = columns
    self.sink = sink
    quotedNames = columns.map { column in
      var bytes: [UInt8] = []
      JSONText.append(column.name, to: &bytes)
      bytes.append(contentsOf: framing == .yaml ? ": ".utf8 : ":".utf8)
      return bytes
    }
  }

  mutating func write(_ row: [CellValue]) throws(OutputError) {
    let opening =
      switch framing {
      case .lines, .yaml: ""
      case .array: rowCount == 0 ? "[\n" : ",\n"
      }
    try sink.append { output throws(OutputError) in
      output.append(contentsOf: opening.utf8)
      try append(row, to: &output)
      if framing == .lines { output.append(UInt8(ascii: "\n")) }
    }
    rowCount += 1
    if framing == .lines { try sink.flush() }
  }

  mutating func finish() throws(OutputError) {
    switch framing {
    case .array: try sink.append(rowCount == 0 ? "[]\n" : "\n]\n")
    case .yaml: if rowCount == 0 { try sink.append("[]\n") }
    case .lines: break
    }
    try sink.flush()
  }

  private func append(_ row: [CellValue], to output: inout [UInt8]) throws(OutputError) {
    let isYAML = framing == .yaml
    if !isYAML { output.append(UInt8(ascii: "{")) }
    for (index, value) in row.enumerated() {
      if isYAML {
        output.append(contentsOf: index > 0 ? "  ".utf8 : "- ".utf8)
      } else if index > 0 {
        output.append(UInt8(ascii: ","))
      }
      output.append(contentsOf: quotedNames[index])
      switch (value, columns[index].meaning) {
      case (.null, _): output.append(contentsOf: "null".utf8)
      case (.integer(0), .truth): output.append(contentsOf: "false".utf8)
      case (.integer(1), .truth): output.append(contentsOf: "true".utf8)
      case (.integer(let number), _): JSONText.append(number, to: &output)
      case (.real(let number), _) where isYAML && number.isInfinite:
        output.append(contentsOf: number < 0 ? "-.inf".utf8 : ".inf".utf8)
      case (.real(let number), _) where isYAML: try Self.append(yaml: number, to: &output)
      case (.real(let number), _): try JSONText.append(number, to: &output)
      case (.text(let text), .json): JSONText.append(json: text, to: &output)
      case (.text(let text), _): JSONText.append(text, to: &output)
      case (.blob, _): try JSONText.append(JSONValue(value), to: &output)
      }
      if isYAML { output.append(UInt8(ascii: "\n")) }
    }
    if !isYAML { output.append(UInt8(ascii: "}")) }
  }

  /// Appends a finite number with a point, without which YAML 1.1 takes an exponent for text:
  /// <https://yaml.org/type/float.html>.
  private static func append(yaml number: Double, to output: inout [UInt8]) throws(OutputError) {
    var text: [UInt8] = []
    try JSONText.append(number, to: &text)
    if !text.contains(UInt8(ascii: ".")), let place = text.firstIndex(of: UInt8(ascii: "e")) {
      text.insert(contentsOf: ".0".utf8, at: place)
    }
    output += text
  }
}
