import ArgumentParser
import ModelStore

/// `migrate up`: applies what is pending.
struct MigrateUpCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "up", abstract: "Apply the pending migrations.",
    discussion: """
      Example: storecli migrate up
      Each migration is one transaction; after an error the earlier ones stay applied. Creates the \
      database if there is none. If another program migrates at the same time, it waits for that \
      program. Before values are deleted, it asks, and makes a backup beside the database; the \
      newest 3 backups stay.
      On a member of a shared store, all pending migrations are applied together or none, and the \
      other members begin again from the result.
      """)

  @OptionGroup var choices: MigrationRunOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var change: ChangeOptions { choices.change }
  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    var run = try MigrationRun(choices, context, existing: .created)
    return try run.up()
  }
}

/// `migrate down`: takes the newest migrations back.
struct MigrateDownCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "down", abstract: "Take back the newest migrations.",
    discussion: """
      Examples: storecli migrate down
      storecli migrate down 2 --yes
      Runs the -- down section as it was when the migration was applied, so it works on any \
      branch. It asks first; in a script, pass --yes.
      """)

  @Argument(help: "How many migrations.")
  var count = 1

  @OptionGroup var choices: MigrationRunOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var change: ChangeOptions { choices.change }
  var hasData: Bool { false }

  func validate() throws {
    guard count >= 1 else { throw ValidationError("down takes 1 or more.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    var run = try MigrationRun(choices, context)
    return try run.down(count)
  }
}

/// `migrate to`: applies or takes back migrations until the database has a version.
struct MigrateToCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "to", abstract: "Apply or take back migrations until the database has a version.",
    discussion: """
      Examples: storecli migrate to 20260820101500
      storecli migrate to 0 --yes
      With 0, takes all of them back.
      """)

  @Argument(help: "The version, or the file.", completion: Completion.migration)
  var version: String

  @OptionGroup var choices: MigrationRunOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var change: ChangeOptions { choices.change }
  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    var migrating = try MigrationRun(choices, context, existing: .created)
    guard version != "0" else { return try migrating.down(to: 0) }
    let version = try MigrationSource.version(
      version, among: migrating.statuses.map(\.version))
    return version < migrating.statuses.newestApplied
      ? try migrating.down(to: version) : try migrating.up(to: version)
  }
}

/// `migrate redo`: takes the newest migration back and applies it again.
struct MigrateRedoCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Take back the newest migration, and apply it as it is now.",
    discussion: """
      Example: storecli migrate redo
      Use it while you write a migration. Both directions are one transaction.
      """)

  @OptionGroup var choices: MigrationRunOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var change: ChangeOptions { choices.change }
  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    var run = try MigrationRun(choices, context)
    return try run.redo()
  }
}
