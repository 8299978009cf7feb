import ArgumentParser
import ModelStore

/// `migrate baseline`: records migrations whose effect the database already has.
struct MigrateBaselineCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "baseline",
    abstract: "Record migrations as applied, because the database already has their schema.",
    discussion: """
      Example: storecli migrate baseline 20260820101500
      Records everything up to that version without running it. It refuses if the schema of the \
      database is not the one that these migrations make in an empty database, and lists the \
      differences.
      """)

  @Argument(help: "The version, or the file.", completion: Completion.migration)
  var version: String

  @OptionGroup var source: MigrationOptions
  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let source = try MigrationSource(source, context)
    let version = try MigrationSource.version(version, among: source.migrations.map(\.version))
    var opened = try context.openToMigrate(existing: .required)
    let file = FileMigrations(of: opened.store, declared: source.migrations, models: source.models)
    try file.status().check(against: source, context)
    let recorded: [AppliedMigration]
    do {
      // All members of a shared store would begin again for nothing.
      let isUnchanged =
        try context.isDryRun
        || opened.isMember && file.baseline(version, mode: .preview).isEmpty
      recorded =
        try isUnchanged
        ? file.baseline(version, mode: .preview)
        : context.changeCatalog(through: &opened) { store in
          try FileMigrations(of: store, declared: source.migrations, models: source.models)
            .baseline(version)
        }
    } catch let error as StoreError where error.schemaDifferences?.isEmpty == false {
      let differences = error.schemaDifferences ?? []
      throw CommandError(
        .found, code: error.code.rawValue,
        "The schema of the database is not the one after \(version); nothing was recorded.",
        details: differences.map { "  \($0)" }, hint: "storecli migrate drift")
    }
    let verb = context.isDryRun ? "would record" : "recorded"
    for migration in recorded {
      try context.console.say("\(verb) \(source.shortTitle(migration.version, migration.name))")
    }
    if recorded.isEmpty {
      try context.console.say("nothing to do: the database has had all of them")
    }
    if context.isDryRun { try context.console.say("dry run: nothing was changed") }
    return .ok
  }
}
