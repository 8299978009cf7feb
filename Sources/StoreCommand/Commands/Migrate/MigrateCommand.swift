import ArgumentParser

/// `migrate`: numbered changes of the schema.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Change the schema by migrations: files of SQL that each database gets once.",
    discussion: """
      A migration is a file such as Migrations/20260820101500_add_due_date.sql, with the SQL after \
      a line -- up, and the way back after a line -- down. The database keeps which of them it has \
      had, with their text.
      """,
    subcommands: [
      MigrateStatusCommand.self, MigrateNewCommand.self, MigrateDiffCommand.self,
      MigratePlanCommand.self, MigrateUpCommand.self, MigrateDownCommand.self,
      MigrateRedoCommand.self, MigrateToCommand.self, MigrateBaselineCommand.self,
      MigrateSquashCommand.self, MigrateLintCommand.self, MigrateDriftCommand.self,
      MigrateRepairCommand.self, MigrateSchemaCommand.self,
    ], defaultSubcommand: MigrateStatusCommand.self)
}
