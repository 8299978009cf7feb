import ModelStore
import RecordFormats

/// The records that differ, one after the other, in the chosen format. It holds one at a time.
struct DifferenceReport {
  private let context: CommandContext
  /// For the formats with rows; nil for lines.
  private var rows: (any RowWriter)?
  private(set) var count = 0

  init(_ context: CommandContext) throws {
    self.context = context
    if [.csv, .tsv, .yaml, .md, .sql].contains(context.format) {
      rows = try context.rowWriter(
        columns: ["op", "model", "id", "field", "old", "new"].map { OutputColumn($0) })
    }
  }

  mutating func add(_ record: RecordDifference, _ schema: StoreSchema) throws {
    let line = ChangeLine(record, schema.knownModel(named: record.model))
    defer { count += 1 }
    let console = context.console
    switch context.format {
    case .ndjson: try console.writeLine(try JSONText.text(.object(line.changeMembers)))
    case .json:
      try console.data.append(
        (count == 0 ? "[\n" : ",\n") + (try JSONText.text(.object(line.changeMembers))))
    case .csv, .tsv, .yaml, .md, .sql:
      for field in line.fields {
        try rows?.write([
          .text(line.operation.rawValue), .text(line.model), .text(KeyText.text(line.key)),
          .text(field.name), CellValue(field.old ?? .null), CellValue(field.new ?? .null),
        ])
      }
    case .table, .plain:
      let terminal = console.dataTerminal
      try console.writeLine(
        line.text(palette: terminal.palette, width: terminal.width, unseen: .exact))
    }
  }

  /// Ends the report, and says how many records it has.
  func finish() throws {
    try end()
    try context.console.say(Grouped.text(count, "record"))
  }

  /// Ends the report.
  func end() throws {
    if context.format == .json { try context.console.writeLine(count == 0 ? "[]" : "\n]") }
    if let rows { try context.finish(rows) }
    try context.console.finish()
  }
}

extension ChangeLine {
  /// The line of a record that differs between two databases.
  init(_ record: RecordDifference, _ schema: ModelSchema?) {
    let names = schema?.fields.map(\.name) ?? (record.old ?? record.new ?? [:]).keys.sorted()
    self.init(
      operation: record.operation, model: record.model, key: record.key,
      fields: names.compactMap { name in
        let (old, new) = (record.old?[name], record.new?[name])
        return old == nil && new == nil ? nil : Field(name: name, old: old, new: new)
      }, origin: .user, cause: nil, schema: schema)
  }
}
