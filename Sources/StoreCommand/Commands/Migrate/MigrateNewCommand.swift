import ArgumentParser
import ModelStore

/// `migrate new`: an empty migration.
struct MigrateNewCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Write an empty migration, to be filled by you.",
    discussion: """
      Example: storecli migrate new 'add due date'
      Writes Migrations/<time>_add_due_date.sql, with the time in UTC. It reads and changes no \
      database.
      """)

  @Argument(help: "What the migration does, in a few words.")
  var name: String

  @OptionGroup var source: MigrationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let directory = try MigrationDirectory(option: source.migrations)
    let writer = NewMigration(directory: directory, context: context)
    let path = try writer.write(
      named: name,
      MigrationFile.text(
        up: [], down: ["-- Take back what -- up does, or write: -- down: irreversible"]))
    try context.console.say("wrote \(path)")
    return .ok
  }
}

/// Writes a new file with the present time as its version.
struct NewMigration {
  let directory: MigrationDirectory
  let context: CommandContext

  /// - Returns: The path of the file.
  /// - Throws: ``CommandError`` if the name has no letters, or a file has the version.
  func write(named words: String, _ text: String) throws -> String {
    let name = MigrationName.snake(words)
    guard !name.isEmpty else {
      throw CommandError.usage(
        "The name \(words) has no letter or digit of ASCII, so it names no file.")
    }
    let version = MigrationVersion.now(context.surroundings.now)
    if directory.exists,
      let other = try directory.contents().files.first(where: { $0.version == version })
    {
      throw CommandError(
        .failed, code: "fileExists",
        "\(other.path) already has the version \(version). Try again in a second.")
    }
    return try directory.create("\(version)_\(name).sql", text)
  }
}
