import ArgumentParser
import ModelStore
import RecordFormats

/// `get`: records by key, every field in full.
struct GetCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Show records by their keys.",
    discussion: """
      Example: storecli get PlaylistTrack 1,3402
      A composite key is its values joined by commas, or NAME=VALUE pairs joined by commas. A \
      key of one field may be NAME=VALUE, too, but a key of text is the text as it stands.
      With --at, records as they were; storecli history tells the positions.
      """)

  @Argument(help: "The model.")
  var model: String

  @Argument(help: ArgumentHelp("The keys.", valueName: "id"))
  var keys: [String]

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Show them as they were at this position of the journal.", valueName: "seq"))
  var at: Int64?

  @OptionGroup var options: GlobalOptions

  func validate() throws {
    guard at ?? 0 >= 0 else { throw ValidationError("--at takes a position, 0 or more.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let schema = try opened.model(named: model)
    let columns = try FieldColumns(of: schema, names: options.fieldNames)
    let wanted = try keys.map { key in
      try KeyText.key(key, for: schema) { meanings in
        try find(meanings, of: schema, in: opened).compactMap { $0?.key }
      }
    }
    let found = try find(wanted, of: schema, in: opened)
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
        "There \(at == nil ? "is" : "was") no \(schema.name) "
          + "\(missing.joined(separator: ", no "))\(at.map { " at seq \($0)" } ?? "").",
        hint: "storecli query \(Shell.quoted(schema.name))", model: schema.name)
    }
    return .ok
  }

  /// The records that there are, or were, at the places of their keys.
  private func find(
    _ keys: [[SQLValue]], of schema: ModelSchema, in opened: OpenedStore
  ) throws -> [DynamicRecord?] {
    guard let at else {
      return try opened.read { reads in try keys.map { try reads.find(schema, key: $0) } }
    }
    let position = try opened.store.changeJournal.settledPlace(
      of: JournalPosition(rawValue: at))
    return try OpenedStore.reading {
      try keys.map { try opened.store.find(schema, key: $0, at: position) }
    }
  }

  private func writeSheets(
    of records: [DynamicRecord], _ columns: FieldColumns, _ context: CommandContext
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
