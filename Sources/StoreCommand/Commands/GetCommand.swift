import ArgumentParser
import ModelStore
import RecordFormats

/// `get`: records by key, every field in full.
struct GetCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Show records by their keys.",
    discussion: """
      Examples: storecli get Track 1 2
      storecli get PlaylistTrack 1,3402
      storecli get Track 1 --at 10m
      storecli get Track 1 --expand albumID.artistID
      Write a composite key as its values joined by commas, or as FIELD=VALUE pairs joined by \
      commas. A key of one field may also be FIELD=VALUE; a text key is taken literally.
      --at shows records as they were; storecli history lists the positions.
      """)

  @Argument(help: "The model.", completion: Completion.model)
  var model: String

  @Argument(help: ArgumentHelp("The keys.", valueName: "id"), completion: Completion.key)
  var keys: [String]

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Show the records as of this position, span such as 10m, or date.", valueName: "position"),
    transform: JournalPlace.reading("--at"))
  var at: JournalPlace?

  @Option(
    help: ArgumentHelp(
      "Also show the record to which a reference leads, or one of its fields: albumID.title.",
      valueName: "path"),
    completion: Completion.references)
  var expand: [String] = []

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }
  var writesSQL: Bool { true }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let schema = try opened.model(named: model)
    let columns = try ResultColumns(
      of: schema, options, expanding: expand.flatMap { CommaList($0).texts }, as: context.format,
      in: opened.store.schema.models)
    let wanted = try keys.map { key in
      try KeyText.key(key, for: schema) { meanings in
        try find(meanings, of: schema, in: opened).compactMap { $0?.key }
      }
    }
    let found = try find(wanted, of: schema, in: opened)
    let records = found.compactMap(\.self)
    context.beginResult(of: schema.name)
    for record in records { context.note(record.key) }
    let referenced = ReferencedRecords()
    let rows = try records.map { record in
      try columns.row(of: record.values) { model, index, value in
        try referenced.find(model, index, value) { try self.referenced($0, $1, $2, in: opened) }
      }
    }
    if context.format == .table {
      try writeSheets(of: Array(zip(records, rows)), columns.columns, context)
    } else {
      var writer = try context.rowWriter(
        columns: columns.columns, recordName: schema.name, table: schema.table)
      for row in rows { try writer.write(row) }
      try context.finish(writer)
    }
    let missing = zip(wanted, found).filter { $0.1 == nil }.map { KeyText.text($0.0) }
    guard missing.isEmpty else {
      throw CommandError(
        .notFound, code: "recordNotFound",
        "There \(at == nil ? "is" : "was") no record \(missing.joined(separator: " or ")) in "
          + "\(schema.name)\(at.map { " \($0.words)" } ?? "").",
        hint: "storecli query \(Shell.quoted(schema.name))", model: schema.name)
    }
    return .ok
  }

  /// The records that exist, or existed, in the order of the keys.
  private func find(
    _ keys: [[SQLValue]], of schema: ModelSchema, in opened: OpenedStore
  ) throws -> [DynamicRecord?] {
    guard let at else {
      return try opened.read { reads in try keys.map { try reads.find(schema, key: $0) } }
    }
    let position = try at.settledPosition(in: opened.store.changeJournal)
    return try OpenedStore.reading {
      try keys.map { try opened.store.find(schema, key: $0, at: position) }
    }
  }

  /// A referenced record, as it is or as it was.
  private func referenced(
    _ model: ModelSchema, _ index: Int, _ value: SQLValue, in opened: OpenedStore
  ) throws -> DynamicRecord? {
    guard let at else {
      return try opened.read { reads in try reads.referenced(model, index, value) }
    }
    guard model.keyIndices == [index] else {
      throw CommandError.usage(
        "\(model.name) is not referred to by its key, so --expand cannot show it as of a position.",
        model: model.name)
    }
    let position = try at.settledPosition(in: opened.store.changeJournal)
    return try OpenedStore.reading { try opened.store.find(model, key: [value], at: position) }
  }

  private func writeSheets(
    of records: [(record: DynamicRecord, row: [CellValue])], _ columns: [OutputColumn],
    _ context: CommandContext
  ) throws {
    for (record, row) in records {
      let fields = zip(columns, row).filter { $0.0.role != .key }
        .map { RecordSheet.Field($0.0, $0.1) }
      let sheet = RecordSheet(
        title: "\(record.schema.name) \(KeyText.text(record.key))", fields: fields)
      try context.console.data.append(sheet.text(palette: context.console.dataTerminal.palette))
    }
  }
}
