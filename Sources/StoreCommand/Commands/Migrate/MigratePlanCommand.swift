import ArgumentParser
import ModelStore
import RecordFormats

/// `migrate plan`: what `up` would do.
struct MigratePlanCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Show what up would do, and what stands in its way.",
    discussion: """
      Examples: storecli migrate plan
      storecli migrate plan --sql
      Runs the pending migrations in a transaction and takes it back. So it finds what fails for \
      the records that the database has. In the command line of an application, it also shows what \
      the models ask for. Exits with 2 if there is anything to do.
      """)

  @Flag(help: "Print the exact statements.")
  var sql = false

  @OptionGroup var source: MigrationOptions

  @Option(
    help: ArgumentHelp("How long to wait for another writer, in seconds.", valueName: "seconds"))
  var busyTimeout: Double = 5

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var change: ChangeOptions { .preview(busyTimeout: busyTimeout) }
  var takesFields: Bool { false }

  func validate() throws { try change.validate() }

  func run(_ context: CommandContext) throws -> ExitCode {
    guard [nil, .table, .plain, .json, .ndjson].contains(options.format) else {
      throw CommandError.usage("plan prints lines, or with --json one object.")
    }
    let plan = try PlannedMigrations(try MigrationSource(source, context), context)
    if context.format == .json || context.format == .ndjson {
      try context.console.writeLine(try JSONText.text(plan.json))
    } else {
      try plan.write(to: context.console, withSQL: sql)
    }
    return plan.isEmpty ? .ok : .found
  }
}
