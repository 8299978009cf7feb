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
      storecli migrate drift --sql | sqlite3 app.db
      Runs the migrations that the database has had in an empty database, and compares. Checks the \
      triggers of bindings, rules and the journal, too. Exits with 2 if something differs. You can \
      keep a difference (--adopt writes it as a migration), take it back (--sql prints the \
      statements), or leave it.
      """)

  @Option(
    help: ArgumentHelp("Write the differences as a migration of this name.", valueName: "name"))
  var adopt: String?

  @Flag(help: "Print the statements that take the differences back.")
  var sql = false

  @OptionGroup var source: MigrationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    guard adopt == nil || !sql else { throw ValidationError("Choose one of --adopt and --sql.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let declared = try Self.source(source, context)
    let store = try context.openForReading().store
    let file = FileMigrations(
      of: store, declared: declared?.migrations ?? [], models: declared?.models ?? [])
    let newest = try file.status().newestApplied
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

  /// The migrations; nil for a database that no migrations belong to.
  private static func source(
    _ options: MigrationOptions, _ context: CommandContext
  ) throws -> MigrationSource? {
    let isKnown = try MigrationDirectory(option: options.migrations).exists
    guard isKnown || !context.application.declarations.isEmpty || options.migrations != nil else {
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
    let functions = context.application.configuration.functions
    let (found, expected) = (try store.schemaSnapshot(), try file.expectedSchema())
    guard let adopt else {
      let evolution = try SchemaEvolution(from: found, to: expected, functions: functions)
      let statements = evolution.steps.flatMap(\.statements)
      try context.console.writeStatements(statements)
      return statements.isEmpty ? .ok : .found
    }
    let evolution = try SchemaEvolution(from: expected, to: found, functions: functions)
    guard !evolution.steps.isEmpty else {
      try context.console.say("no difference")
      return .ok
    }
    let text = NewSchemaText(evolution).text
    let directory = try MigrationDirectory(option: source.migrations)
    let path = try NewMigration(directory: directory, context: context).write(named: adopt, text)
    try context.console.writeSQL(String(text.dropLast()))
    try context.console.say("wrote \(path)")
    try context.console.say(
      "this database has it already: \(Program.name) migrate baseline \(Shell.quoted(path))")
    return .ok
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
