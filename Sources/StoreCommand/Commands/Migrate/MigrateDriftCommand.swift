import ArgumentParser
import ModelStore
import RecordFormats

/// `migrate drift`: what another program changed in the schema.
struct MigrateDriftCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "drift",
    abstract: "Compare the schema of the database with the one that its migrations make.",
    discussion: """
      Examples: storecli migrate drift
      storecli migrate drift --sql | sqlite3 -bail app.db
      Runs the migrations that the database has had in an empty database, and compares. Checks the \
      triggers of bindings, rules and the journal, too. Exits with 2 if something differs. You can \
      keep a difference (--adopt writes it as a migration), take it back (--sql prints the \
      statements, as one transaction), or leave it.
      A column or table that goes while another of its form comes may have a new name. It asks on \
      a terminal; elsewhere say --rename or --drop. With --sql these are the names in the database, \
      with --adopt those of the migrations.
      """)

  @Option(
    help: ArgumentHelp("Write the differences as a migration of this name.", valueName: "name"))
  var adopt: String?

  @Flag(help: "Print the statements that take the differences back.")
  var sql = false

  @OptionGroup var renaming: RenamingOptions
  @OptionGroup var source: MigrationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    guard adopt == nil || !sql else { throw ValidationError("Choose one of --adopt and --sql.") }
    guard adopt != nil || sql || renaming.isEmpty else {
      throw ValidationError("--rename and --drop belong to --adopt or --sql.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let declared = try Self.source(source, context)
    let store = try context.openForReading().store
    let file = FileMigrations(
      of: store, declared: declared?.migrations ?? [], models: declared?.models ?? [])
    let newest = try Self.newestVersion(of: file, declared, source, context)
    if adopt != nil || sql {
      guard newest > 0 else {
        throw CommandError.usage("The database has had no migration to compare it with.")
      }
      return try resolve(file, store, context)
    }
    let differences = try newest == 0 ? [] : file.drift()
    let drifts = try store.schemaDrift()
    try write(differences, drifts, context)
    let count = differences.count + drifts.count
    guard count > 0 else {
      try context.console.say(
        newest == 0
          ? "no difference to the catalog; the database has had no migration"
          : "no difference to the migrations up to \(newest)")
      return .ok
    }
    try context.console.say(Grouped.text(count, "difference"))
    let name = Program.name
    if !differences.isEmpty {
      try context.console.say("keep them: \(name) migrate drift --adopt NAME")
      try context.console.say("take them back: \(name) migrate drift --sql")
      try context.console.say("or leave them: later migrations may then fail")
    }
    return .found
  }

  /// The newest version that the database has had; 0 for none.
  ///
  /// - Throws: ``CommandError`` if the migrations here are not those that the database has had.
  ///   Their schema is not the expected one then.
  private static func newestVersion(
    of file: FileMigrations, _ declared: MigrationSource?, _ options: MigrationOptions,
    _ context: CommandContext
  ) throws -> Int64 {
    let statuses = try file.status()
    let newest = statuses.newestApplied
    if let declared {
      try statuses.check(against: declared, context)
    } else if newest > 0 {
      let path = try MigrationDirectory(option: options.migrations).path
      throw CommandError(
        .notFound, code: "noMigrations",
        """
        The database has had migrations up to \(newest), and there is no directory \(path) with \
        them; nothing was compared.
        """, hint: "say where they are: storecli migrate drift --migrations DIRECTORY")
    }
    return newest
  }

  /// The migrations; nil for a database that no migrations belong to.
  private static func source(
    _ options: MigrationOptions, _ context: CommandContext
  ) throws -> MigrationSource? {
    let isMissing = try MigrationDirectory(option: options.migrations).isMissing
    guard !isMissing || !context.application.declarations.isEmpty || options.migrations != nil
    else {
      return nil
    }
    return try MigrationSource(options, context)
  }

  private func write(
    _ differences: [String], _ drifts: [SchemaDrift], _ context: CommandContext
  ) throws {
    var writer = try context.reportWriter(
      columns: [
        OutputColumn("part"), OutputColumn("name"), OutputColumn("difference", role: .whole),
        OutputColumn("remedy"),
      ])
    for sentence in differences {
      try writer.write([.text("schema"), .null, .text(sentence), .null])
    }
    for drift in drifts {
      let sentences = drift.sentences
      try writer.write([
        .text(drift.owner.word), .text(drift.owner.name),
        .text(sentences.isEmpty ? "Its model or field is gone." : sentences.joined(separator: " ")),
        drift.owner.remedy.map { .text($0) } ?? .null,
      ])
    }
    try context.finish(writer)
  }

  /// Writes the difference in one of its directions.
  private func resolve(
    _ file: FileMigrations, _ store: Store, _ context: CommandContext
  ) throws -> ExitCode {
    let (found, expected) = (try store.schemaSnapshot(), try file.expectedSchema())
    let schemas = ComparedSchemas(
      current: adopt == nil ? found : expected, desired: adopt == nil ? expected : found,
      notes: [], functions: context.application.configuration.functions)
    var answers = renaming.answers
    guard let evolution = try answers.evolution(schemas, context) else {
      try context.console.say(adopt == nil ? "nothing was printed" : "nothing was written")
      return .failed
    }
    guard !evolution.steps.isEmpty else {
      try context.console.say("no difference")
      return .ok
    }
    guard let adopt else {
      try write(evolution, context)
      return .found
    }
    let text = evolution.text
    let directory = try MigrationDirectory(option: source.migrations)
    let path = try NewMigration(directory: directory, context: context).write(named: adopt, text)
    try context.console.writeSQL(String(text.dropLast()))
    try context.console.say("wrote \(path)")
    try context.console.say(
      "this database has it already: \(Program.name) migrate baseline \(Shell.quoted(path))")
    return .ok
  }
}

extension MigrateDriftCommand {
  /// Prints the statements as one transaction, and what they lose or may fail for as messages.
  fileprivate func write(_ evolution: NewSchemaText, _ context: CommandContext) throws {
    let steps = evolution.steps
    for remark in steps.flatMap({ step in step.losses.map(\.sentence) + step.warnings }) {
      context.console.warn("warning: \(CellText.visible(remark))")
    }
    let statements = steps.flatMap(\.statements)
    // Where references are enforced, dropping the old form of a table deletes what refers to it.
    if statements.contains(where: { $0.hasPrefix("DROP TABLE") }) {
      try context.console.writeSQL("PRAGMA foreign_keys = OFF;")
    }
    try context.console.writeSQL("BEGIN;")
    try context.console.writeStatements(statements)
    try context.console.writeSQL("COMMIT;")
  }
}

extension SchemaDrift.Owner {
  fileprivate var word: String {
    switch self {
    case .model: "model"
    case .binding: "binding"
    case .rule: "rule"
    case .journal: "journal"
    }
  }

  /// The command that repairs it.
  fileprivate var remedy: String? {
    switch self {
    case .model: nil
    case .binding: "\(Program.name) bindings rebuild"
    case .rule: "\(Program.name) rules rebuild"
    case .journal(let model): "\(Program.name) journal on \(Shell.quoted(model))"
    }
  }
}
