/// Writes rows as lines of delimited fields: plain, CSV or TSV. ``CellText`` defines the text of
/// each value. On a terminal, control characters are spelled out.
struct DelimitedRows: RowWriter {
  /// The rules for delimiters, line ends and special characters.
  enum Dialect: Hashable, Sendable {
    /// Tabs between fields; tab, line end and NUL inside a text are shown as `\t`, `\n`, `\r`,
    /// `\0`.
    case plain
    /// Commas, CRLF, quotes around text that needs them and around empty text.
    case csv
    /// Tabs, LF; tab, newline, carriage return and backslash escaped, `\N` for null.
    case tsv
  }

  private let dialect: Dialect
  private let columns: [OutputColumn]
  private let options: OutputFormat.Options
  private let sink: ByteSink
  private var pendingHeader: [String]?

  init(
    _ dialect: Dialect, columns: [OutputColumn], header: OutputFormat.Options.Header,
    options: OutputFormat.Options, sink: ByteSink
  ) {
    self.dialect = dialect
    self.columns = columns
    self.options = options
    self.sink = sink
    let escapes = options.formulas == .escaped
    pendingHeader =
      header == .present
      ? columns.map { escapes ? FormulaText.escaped($0.name) : $0.name } : nil
  }

  mutating func write(_ row: [CellValue]) throws(OutputError) {
    try writeHeader()
    let fields = zip(row, columns).map { value, column -> String? in
      let text = CellText.exchange(value, as: column.meaning)
      guard options.formulas == .escaped else { return text }
      return switch value {
      case .text, .blob: text.map(FormulaText.escaped)
      // A negative number is not a formula.
      case .null, .integer, .real: text
      }
    }
    try writeLine(fields)
  }

  mutating func finish() throws(OutputError) {
    try writeHeader()
    try sink.flush()
  }

  private mutating func writeHeader() throws(OutputError) {
    guard let names = pendingHeader else { return }
    pendingHeader = nil
    try writeLine(names)
  }

  private func writeLine(_ fields: [String?]) throws(OutputError) {
    try sink.append { output throws(OutputError) in
      for (index, field) in fields.enumerated() {
        if index > 0 { output.append(dialect.delimiter) }
        append(field, to: &output)
      }
      dialect.appendLineEnd(to: &output)
    }
  }

  private func append(_ field: String?, to output: inout [UInt8]) {
    guard options.controls == .shown else { return dialect.append(field, to: &output) }
    var bytes: [UInt8] = []
    dialect.append(field, to: &bytes)
    output.append(contentsOf: CellText.visible(String(decoding: bytes, as: UTF8.self)).utf8)
  }
}

extension DelimitedRows.Dialect {
  fileprivate var delimiter: UInt8 {
    switch self {
    case .csv: UInt8(ascii: ",")
    case .plain, .tsv: UInt8(ascii: "\t")
    }
  }

  fileprivate func appendLineEnd(to output: inout [UInt8]) {
    switch self {
    case .csv: output.append(contentsOf: "\r\n".utf8)
    case .plain, .tsv: output.append(UInt8(ascii: "\n"))
    }
  }

  /// Appends one field, nil for null.
  func append(_ field: String?, to output: inout [UInt8]) {
    switch self {
    case .csv: appendQuotedAsNeeded(field, to: &output)
    case .tsv:
      guard let field else { return output.append(contentsOf: "\\N".utf8) }
      appendEscaped(field, to: &output)
    case .plain: appendEscaped(field ?? "", to: &output)
    }
  }

  private func appendQuotedAsNeeded(_ field: String?, to output: inout [UInt8]) {
    guard let field else { return }
    // A leading byte order mark is quoted so that no reader drops it from the head of the file.
    let needsQuotes =
      field.isEmpty || field.utf8.first == 0xEF
      || field.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
    guard needsQuotes else { return output.append(contentsOf: field.utf8) }
    output.append(UInt8(ascii: "\""))
    for byte in field.utf8 {
      if byte == UInt8(ascii: "\"") { output.append(byte) }
      output.append(byte)
    }
    output.append(UInt8(ascii: "\""))
  }

  private func appendEscaped(_ field: String, to output: inout [UInt8]) {
    for byte in field.utf8 {
      switch (byte, self) {
      case (UInt8(ascii: "\t"), _): output.append(contentsOf: "\\t".utf8)
      case (UInt8(ascii: "\n"), _): output.append(contentsOf: "\\n".utf8)
      case (UInt8(ascii: "\r"), _): output.append(contentsOf: "\\r".utf8)
      case (UInt8(ascii: "\\"), .tsv): output.append(contentsOf: "\\\\".utf8)
      case (0, .plain): output.append(contentsOf: "\\0".utf8)
      default: output.append(byte)
      }
    }
  }
}
