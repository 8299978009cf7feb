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

/// Writes a new file whose version is the present time or, if there is a later file, the number
/// after the newest version.
struct NewMigration {
  let directory: MigrationDirectory
  let context: CommandContext

  /// Throws what ``write(named:_:)`` would throw about the name and the directory, so that a
  /// command finds it out before it prints a text.
  func check(named words: String) throws { _ = try fileName(words) }

  /// - Returns: The path of the file.
  /// - Throws: ``CommandError`` if the name has no letters, or no version is left.
  func write(named words: String, _ text: String) throws -> String {
    try check(named: words)
    // Two programs that read the same names would choose the same version.
    return try directory.whileLocked { try directory.create(fileName(words), text) }
  }

  private func fileName(_ words: String) throws -> String {
    let name = MigrationName.snake(words)
    guard !name.isEmpty else {
      throw CommandError.usage(
        "The name \(words) has no letter or digit of ASCII, so it names no file.")
    }
    let now = MigrationVersion.now(context.surroundings.now)
    guard let newest = try directory.newestVersion() else { return "\(now)_\(name).sql" }
    guard newest < Int64.max else {
      throw CommandError(
        .failed, code: "migrationFile",
        """
        The version \(newest) in \(directory.path) is the highest that there is, so no file can \
        follow it; nothing was written.
        """, hint: "give that file a lower version")
    }
    return "\(Swift.max(now, newest + 1))_\(name).sql"
  }
}
