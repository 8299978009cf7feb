import ArgumentParser
import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `migrate squash`: one file in place of several.
struct MigrateSquashCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "squash", abstract: "Replace several migrations by one file.",
    discussion: """
      Example: storecli migrate squash 20260101000000..20260820101500 --name base
      Writes a file that stands for all migrations of the range, and removes theirs. It first runs \
      both in empty databases, and refuses if the schemas differ, or if the new way back fails. A \
      database that has had all of them records the new one without running it; a new database \
      runs only the new one. Apply the range everywhere first: a database that has had only some \
      of them refuses the new file.
      """)

  @Argument(
    help: ArgumentHelp("The first and the last version.", valueName: "first..last"))
  var range: String

  @Option(help: "What the new file is called.")
  var name: String

  @Flag(name: .shortAndLong, help: "Do not ask before files are removed.")
  var yes = false

  @Flag(name: [.customShort("n"), .long], help: "Print the new file, and write nothing.")
  var dryRun = false

  @OptionGroup var source: MigrationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    guard context.application.declarations.isEmpty else {
      throw CommandError.usage(
        "This program declares its migrations. Write Migration(…, replaces: […]) in its code.")
    }
    let directory = try MigrationDirectory(option: source.migrations)
    let files = try directory.load()
    let squashed = try selection(of: files)
    guard let last = squashed.last else { return .ok }
    let name = MigrationName.snake(name)
    guard !name.isEmpty else {
      throw CommandError.usage("The name \(self.name) has no letter or digit of ASCII.")
    }
    let squash = Squash(squashed, isFirst: squashed.first == files.first)
    let text = try squash.text(before: files.filter { $0.version <= last.version })
    let path = directory.file(named: "\(last.version)_\(name).sql")
    let replacement = try Self.file(path, text)
    try prove(replacement, before: files.filter { $0.version <= last.version })
    try context.console.writeSQL(String(text.dropLast()))
    for file in squashed { try context.console.say("replaces \(file.path)") }
    guard !dryRun else {
      try context.console.say("dry run: nothing was written")
      return .ok
    }
    guard
      try Confirmation.isGranted(
        "Write \(path), and remove \(Grouped.text(squashed.count, "file"))?", isGiven: yes,
        flag: "--yes", console: context.console)
    else {
      try context.console.say("nothing was written")
      return .failed
    }
    try write(text, to: path, replacing: squashed)
    try context.console.say("wrote \(path), which replaces \(Grouped.text(squashed.count, "file"))")
    return .ok
  }

  private func selection(of files: [MigrationFile]) throws -> [MigrationFile] {
    guard let dots = range.firstRange(of: "..") else {
      throw CommandError.usage(
        "squash takes the first and the last version, as in 20260101000000..20260820101500.")
    }
    let versions = files.map(\.version)
    let first = try MigrationSource.version(String(range[..<dots.lowerBound]), among: versions)
    let last = try MigrationSource.version(String(range[dots.upperBound...]), among: versions)
    let found = files.filter { $0.version >= first && $0.version <= last }
    guard found.count > 1 else {
      throw CommandError.usage("\(range) is not a range of two or more migrations.")
    }
    return found
  }

  private static func file(_ path: String, _ text: String) throws -> MigrationFile {
    do throws(MigrationProblem) {
      return try MigrationFile(path: path, text: text)
    } catch {
      throw error.commandError
    }
  }

  private func prove(_ squash: MigrationFile, before files: [MigrationFile]) throws {
    let differences = try FileMigrations.differences(
      of: squash.migration, from: files.map(\.migration))
    guard differences.isEmpty else {
      throw CommandError(
        .found, code: "schemaMismatch",
        "One migration would not make the schema that \(range) makes; nothing was written.",
        details: differences.map { "  \($0)" })
    }
    let rehearsal = try MigrationRehearsal()
    for file in files where !squash.replaces.contains(file.version) {
      _ = try rehearsal.run(file.forwards)
    }
    for case .reverseFails(let sentence) in try rehearsal.run(squash.migration) {
      throw CommandError(
        .failed, code: "migrationFile",
        "\(sentence) So the new file could not be taken back; nothing was written.",
        hint: "correct the sections -- down of \(range); storecli migrate lint names the file")
    }
  }

  /// Removes the old files after the new one is complete. The new name may be an old one.
  private func write(
    _ text: String, to path: String, replacing old: [MigrationFile]
  ) throws {
    try MigrationDirectory.write(text, to: path)
    for file in old where file.path != path {
      guard unlink(file.path) == 0 else {
        throw CommandError(
          .failed, code: "output", "\(file.path) could not be removed; \(path) replaces it.")
      }
    }
  }
}

extension MigrationFile {
  /// The migration without its way back, which may leave something else.
  fileprivate var forwards: Migration { Migration(version: version, name: name, sql: up) }
}

/// The text of a migration that stands for others.
private struct Squash {
  private let files: [MigrationFile]
  /// Whether no migration comes before them.
  private let isFirst: Bool

  init(_ files: [MigrationFile], isFirst: Bool) {
    self.files = files
    self.isFirst = isFirst
  }

  /// - Parameter all: All files up to the last one.
  func text(before all: [MigrationFile]) throws -> String {
    let rehearsal = try MigrationRehearsal()
    for file in all {
      for case .fails(let sentence) in try rehearsal.run(file.forwards) {
        throw CommandError(
          .failed, code: "migrationFile", "\(file.path): \(sentence)",
          hint: "storecli migrate lint")
      }
    }
    // A schema says nothing about records, so statements that write some are kept.
    let isSchemaOnly = isFirst && files.allSatisfy { MigrationRehearsal.changesOnlySchema($0.up) }
    let up =
      try isSchemaOnly
      ? [String(rehearsal.schema().script.dropLast())]
      : files.flatMap { ["-- from \($0.fileName)", Self.ended($0.up)] }
    return MigrationFile.text(
      notes: isSchemaOnly ? ["The schema after \(files.last?.fileName ?? "")."] : [],
      replaces: Set(files.flatMap { $0.replaces + [$0.version] }).sorted(), up: up, down: down)
  }

  /// The statements with a semicolon behind the last one, so that others can follow.
  private static func ended(_ text: String) -> String {
    let source = SQLTokens(text)
    guard let last = source.significant.last, source.text(last.range) != ";" else { return text }
    return SQLTokens.terminated(text)
  }

  /// Nil if one of the migrations is irreversible.
  private var down: [String]? {
    var lines: [String] = []
    for file in files.reversed() {
      guard case .sql(let text) = file.down else { return nil }
      lines += ["-- from \(file.fileName)", Self.ended(text)]
    }
    return lines
  }
}
