import ArgumentParser
import ModelStore

/// `migrate schema`: the schema of the database as one script.
struct MigrateSchemaCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the schema of the database as SQL.",
    discussion: """
      Examples: storecli migrate schema
      storecli migrate schema --write
      Tables are in the order of names, each with its indexes and triggers; columns stay in the \
      order of the table. What the store keeps for itself is not shown. With --write, it goes to \
      Migrations/schema.sql. Once that file exists, up, down, to and redo write it again, so that \
      a review shows what a migration changes.
      """)

  @Flag(help: "Write it to schema.sql beside the migrations.")
  var write = false

  @OptionGroup var source: MigrationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let script = try opened.store.schemaSnapshot().script
    guard write else {
      if !script.isEmpty { try context.console.writeSQL(String(script.dropLast())) }
      return .ok
    }
    let directory = try MigrationDirectory(option: source.migrations)
    try Directory(path: directory.path).create()
    try MigrationDirectory.write(script, to: directory.schemaPath)
    try context.console.say("wrote \(directory.schemaPath)")
    return .ok
  }
}
