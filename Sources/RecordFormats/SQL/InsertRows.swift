/// Writes each row as an INSERT statement. In a table with the same columns, it stores exactly the
/// same values. On a terminal, control characters in names are spelled out, because SQL cannot
/// escape them.
struct InsertRows: RowWriter {
  private let sink: ByteSink
  private let beginning: String

  init(columns: [OutputColumn], options: OutputFormat.Options, sink: ByteSink) {
    self.sink = sink
    func quoted(_ name: String) -> String {
      SQLLiteral.quoted(name: options.controls == .shown ? CellText.visible(name) : name)
    }
    let names = columns.map { quoted($0.name) }.joined(separator: ", ")
    beginning = "INSERT INTO \(quoted(options.tableName)) (\(names)) VALUES ("
  }

  mutating func write(_ row: [CellValue]) throws(OutputError) {
    let values = row.map { SQLLiteral.text(of: $0) }.joined(separator: ", ")
    try sink.append(beginning + values + ");\n")
  }

  mutating func finish() throws(OutputError) {
    try sink.flush()
  }
}
