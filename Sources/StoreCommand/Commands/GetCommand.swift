import ArgumentParser
import ModelStore

/// `get`: records by key, every field in full.
struct GetCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Show records by their keys.",
    discussion: """
      Example: storecli get PlaylistTrack 1,3402
      A composite key is its values joined by commas, or NAME=VALUE pairs joined by commas. A \
      key of one field may be NAME=VALUE, too, but a key of text is the text as it stands.
      """)

  @Argument(help: "The model.")
  var model: String

  @Argument(help: ArgumentHelp("The keys.", valueName: "id"))
  var keys: [String]

  @OptionGroup var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let schema = try opened.model(named: model)
    let columns = try FieldColumns(of: schema, names: options.fieldNames)
    let wanted = try keys.map { try KeyText.parse($0, for: schema) }
    let found = try opened.read { reads in
      try wanted.map { try reads.find(schema, key: $0) }
    }
    let records = found.compactMap(\.self)
    if context.format == .table {
      try writeSheets(of: records, columns, context)
    } else {
      var writer = try context.rowWriter(columns: columns.columns, recordName: schema.name)
      for record in records { try writer.write(columns.row(of: record.values)) }
      try context.finish(writer)
    }
    let missing = zip(wanted, found).filter { $0.1 == nil }.map { KeyText.text($0.0) }
    guard missing.isEmpty else {
      throw CommandError(
        .notFound, code: "recordNotFound",
        "There is no \(schema.name) \(missing.joined(separator: ", no ")).",
        hint: "storecli query \(Shell.quoted(schema.name))", model: schema.name)
    }
    return .ok
  }

  private func writeSheets(
    of records: [Record], _ columns: FieldColumns, _ context: CommandContext
  ) throws {
    for record in records {
      let fields = zip(columns.columns, columns.row(of: record.values)).filter { $0.0.role != .key }
        .map { RecordSheet.Field($0.0, $0.1) }
      let sheet = RecordSheet(
        title: "\(record.schema.name) \(KeyText.text(record.key))", fields: fields)
      try context.console.data.append(sheet.text(palette: context.console.dataTerminal.palette))
    }
  }
}
