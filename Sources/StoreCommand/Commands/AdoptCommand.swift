import ArgumentParser
import ModelStore
import RecordFormats

/// `adopt`: makes tables of an existing database models of the store.
struct AdoptCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt", abstract: "Make tables of an existing database models.",
    discussion: """
      Examples: storecli adopt -d chinook.sqlite
      storecli adopt --type account.is_active=bool --type note.created=date:unix
      The tables stay as they are; the file gets the store's catalog beside them. Without names, \
      every table and view that can be a model becomes one, and the others are listed with the \
      reason. The notes list what only the program that made a table can do with it.
      Declared types say what columns mean, and stored values decide where a declaration is open; \
      each such column is reported. --type sets the type of a field, also of a table that was \
      adopted before, if all stored values fit and bindings can still be kept. TYPE is integer, \
      real, decimal, text, blob, bool, date, uuid, url, json or any. decimal means digits in text \
      for a column of texts, and real for a column of numbers, such as DECIMAL(10,2). date:FORM is \
      a pattern such as 'YYYY-MM-DD HH:MM:SS', or ISO-8601, unix, unixms, julian or 2001; uuid:FORM \
      is lowercase or anycase. An empty column of dates or UUIDs takes any ISO-8601 text or UUID and \
      stores it as given; for dates as numbers, set the unit.
      A file with a rollback journal gets a write-ahead log, so that readers and writers do not \
      wait for each other; on a terminal you are asked first. With --keep-journal-mode it stays as \
      it is: readers and writers then wait for each other, and watch learns of other programs' \
      changes up to a second late. No other command changes it.
      Another program may change an adopted table. --refresh brings models up to date with their \
      tables, in one transaction: new columns become fields, columns that are gone leave the model, \
      and a model without its table leaves the store. Types that you set stay. A renamed column is \
      one that is gone and a new one. -n shows it first. Undo adoption with leave.
      """)

  @Argument(
    help: ArgumentHelp(
      "The tables; all that can be models when none is named. With --refresh, adopted models.",
      valueName: "table")
  )
  var names: [String] = []

  @Option(
    name: .customLong("type"),
    help: ArgumentHelp("What a field means; may be repeated.", valueName: "table.field=type"))
  var types: [String] = []

  @Flag(help: "Bring adopted models up to date with their tables.")
  var refresh = false

  @Flag(help: "Leave a file with a rollback journal as it is.")
  var keepJournalMode = false

  @Flag(help: "Do not ask before the file gets a write-ahead log.")
  var yes = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  /// The outcome for one table or model.
  private struct Outcome {
    var schema: ModelSchema
    var notes: [String] = []
    var decisions: [TypeDecision]
  }

  /// What could be adopted.
  private struct Offer {
    var tables: [AdoptableTable]
    /// Whether the file has models already.
    var hasModels: Bool

    var isEmpty: Bool { tables.isEmpty && !hasModels }
  }

  func validate() throws {
    guard !yes || !keepJournalMode else {
      throw ValidationError("Choose one of --yes and --keep-journal-mode.")
    }
    guard !refresh || types.isEmpty && !yes && !keepJournalMode else {
      throw ValidationError("--refresh takes no --type, --yes or --keep-journal-mode.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    if refresh { return try refreshModels(context) }
    // Comes before any write: it refuses fields that the report does not have.
    let columns = [
      OutputColumn("model", role: .key), OutputColumn("fields"), OutputColumn("key"),
      OutputColumn("types", meaning: .json), OutputColumn("notes"),
    ]
    let writer = try context.reportWriter(
      columns: context.isForScreen ? Array(columns.prefix(3)) : columns)
    if options.database == nil, let name = names.first, DatabaseLocation.isNamedLikeDatabase(name),
      FileIdentity.isRegularFile(at: name)
    {
      throw Self.isFile(name)
    }
    let opened = try context.openToLook()
    let found = try opened.store.adoptableTables()
    let offer = Offer(tables: found, hasModels: !opened.store.schema.models.isEmpty)
    let choices = try choices(among: found, opened)
    let chosen = try chosen(from: found, choices, opened)
    let outcomes = try outcomes(chosen, choices, opened)
    // All members of a shared store would begin again for nothing.
    let isSharedAlready =
      try opened.isMember
      && outcomes.allSatisfy { outcome in
        try opened.store.schema.contains(outcome.schema.name)
          && opened.store.schema.model(named: outcome.schema.name) == outcome.schema
      }
    if change.dryRun || outcomes.isEmpty || isSharedAlready {
      try report(outcomes, chosen, of: offer, to: writer, context)
    } else {
      let changesJournal = !opened.store.usesWriteAheadLog && !keepJournalMode
      opened.store.close()
      if changesJournal, try !mayChangeJournal(of: opened.location.path, for: chosen, context) {
        try context.console.say("nothing was adopted; --keep-journal-mode adopts without that")
        return .failed
      }
      var writing = try context.openForWriting(
        journalMode: changesJournal ? .writeAheadLog : .asFound)
      try context.changeCatalog(through: &writing) { store in
        _ = try store.adopt(chosen.map(\.name), types: choices)
      }
      try context.reporting {
        try report(outcomes, chosen, of: offer, to: writer, context)
        try context.sayUnrecorded(among: chosen.map(\.name), writing.store)
        guard changesJournal else { return }
        try context.console.say(
          "the file had a rollback journal and has a write-ahead log now; sqlite3 "
            + "\(Shell.quoted(opened.location.path)) 'PRAGMA journal_mode = DELETE' takes that back"
        )
      }
    }
    return .ok
  }

  /// How many tables are named before the question.
  private static let shownNameCount = 8

  private static func isFile(_ name: String) -> CommandError {
    .usage(
      "\(name) is a file; adopt takes the names of tables.",
      hint: "storecli adopt -d \(Shell.quoted(name))")
  }

  /// Asks on a terminal. A script gets what it asked for: a store has a write-ahead log.
  private func mayChangeJournal(
    of path: String, for chosen: [AdoptableTable], _ context: CommandContext
  ) throws -> Bool {
    guard !yes, Confirmation.canAsk(context.console) else { return true }
    if !chosen.isEmpty {
      let shown = chosen.prefix(Self.shownNameCount).map(\.name).joined(separator: ", ")
      let rest = chosen.count - Self.shownNameCount
      try context.console.say(
        "would be adopted: \(Grouped.text(chosen.count, "table")), \(shown)"
          + (rest > 0 ? " and \(Grouped.text(rest)) more" : ""))
    }
    return try Confirmation.isGranted(
      "\(path) has a rollback journal. Change it to a write-ahead log, for all programs?",
      isGiven: false, flag: "--yes", console: context.console)
  }

  private func report(
    _ outcomes: [Outcome], _ chosen: [AdoptableTable], of offer: Offer,
    to writer: any RowWriter, _ context: CommandContext
  ) throws {
    var writer = writer
    // Then types and notes are messages below the table, in full.
    let isForScreen = context.isForScreen
    for outcome in outcomes {
      let (schema, decisions) = (outcome.schema, outcome.decisions)
      let types = decisions.map { "\($0.field) \(TypeWords.text($0.type, $0.form))" }
      let row: [CellValue] = [
        .text(schema.name), .integer(Int64(schema.fields.count)),
        .text(schema.key.joined(separator: ",")),
        try context.list(decisions.map(TypeWords.json), as: types.joined(separator: ", ")),
        .text(outcome.notes.joined(separator: " ")),
      ]
      try writer.write(isForScreen ? Array(row.prefix(3)) : row)
    }
    try context.finish(writer)
    let console = context.console
    try console.say(
      outcomes.flatMap { outcome in
        outcome.decisions.map { TypeWords.remark($0, of: outcome.schema.name) }
      })
    if isForScreen {
      try console.say(
        outcomes.flatMap { outcome in outcome.notes.map { ("note on \(outcome.schema.name)", $0) } }
      )
    }
    if names.isEmpty, types.isEmpty {
      try console.say(
        offer.tables.compactMap { table in table.reason.map { ("not \(table.name)", $0) } })
    }
    try context.console.say(summary(chosen.count, of: offer))
  }

  private func summary(_ tableCount: Int, of offer: Offer) -> String {
    guard tableCount > 0 || !types.isEmpty else {
      return offer.isEmpty ? "the file has no tables" : "no table is left to adopt"
    }
    let ending = change.dryRun ? "; dry run: nothing was written" : ""
    let modal = change.dryRun ? "would be " : ""
    var parts: [String] = []
    if tableCount > 0 { parts.append("\(Grouped.text(tableCount, "table")) \(modal)adopted") }
    if !types.isEmpty { parts.append("\(Grouped.text(types.count, "type")) \(modal)set") }
    return parts.joined(separator: ", ") + ending
  }

  private func choices(
    among found: [AdoptableTable], _ opened: OpenedStore
  ) throws -> [TypeChoice] {
    let tables = opened.store.schema.models.map(\.name) + found.map(\.name)
    var choices: [TypeChoice] = []
    for word in types {
      let choice = try TypeWords.choice(word, among: tables)
      guard !choices.contains(where: { $0.model == choice.model && $0.field == choice.field })
      else {
        throw CommandError.usage(
          "--type names \(choice.model).\(choice.field) twice.", model: choice.model,
          field: choice.field)
      }
      let models = opened.store.schema.models + found.compactMap(\.schema)
      let field = models.first { $0.name == choice.model }?.field(named: choice.field)
      choices.append(TypeWords.resolved(choice, for: field))
    }
    return choices
  }

  /// The chosen tables, then the models that only receive types.
  private func outcomes(
    _ chosen: [AdoptableTable], _ choices: [TypeChoice], _ opened: OpenedStore
  ) throws -> [Outcome] {
    var outcomes = chosen.compactMap { table in
      table.schema.map { Outcome(schema: $0, notes: table.notes, decisions: table.decisions) }
    }
    for (choice, decision) in zip(choices, try opened.store.typeDecisions(choices)) {
      if let place = outcomes.firstIndex(where: { $0.schema.name == choice.model }) {
        outcomes[place].decisions.removeAll { $0.field == choice.field }
        outcomes[place].decisions.append(decision)
      } else {
        let schema = try opened.store.schema.model(named: choice.model)
        outcomes.append(Outcome(schema: schema, decisions: [decision]))
      }
    }
    return outcomes
  }

  private func chosen(
    from found: [AdoptableTable], _ choices: [TypeChoice], _ opened: OpenedStore
  ) throws -> [AdoptableTable] {
    if names.isEmpty, types.isEmpty { return found.filter { $0.schema != nil } }
    let tables = choices.map(\.model).filter { !opened.store.schema.contains($0) }
    var seen: Set<String> = []
    return try (names + tables).filter { seen.insert($0).inserted }.compactMap { name in
      if let table = found.first(where: { $0.name == name }) {
        if let reason = table.reason {
          throw CommandError(.failed, code: "unsupportedSchema", reason, model: name)
        }
        return table
      }
      if opened.store.schema.contains(name) { return nil }
      let near = NearMiss.suggestions(for: name, among: found.map(\.name))
      if near.isEmpty, FileIdentity.isRegularFile(at: name) { throw Self.isFile(name) }
      throw CommandError(
        .notFound, code: "unknownModel", "There is no table \(name)" + CommandError.meant(near),
        hint: near.first.map { "storecli adopt \(Shell.quoted($0))" }, model: name)
    }
  }
}
