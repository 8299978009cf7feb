import ArgumentParser
import ModelStore
import RecordFormats

/// `migrate repair`: accepts the present text of a migration that the database has had.
struct MigrateRepairCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Accept that the text of a migration was changed after it was applied.",
    discussion: """
      Example: storecli migrate repair 20260820101500
      Shows how the text differs from the one that ran, and asks; in a script, pass --yes. Nothing \
      runs: only the record of the migration changes. Comments and blanks do not count as changes, \
      so they need no repair.
      """)

  @Argument(help: "The version, or the file.", completion: Completion.migration)
  var version: String

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @OptionGroup var source: MigrationOptions
  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let source = try MigrationSource(source, context)
    var opened = try context.openToMigrate(existing: .required)
    let statuses = try FileMigrations(
      of: opened.store, declared: source.migrations, models: source.models
    ).status()
    let version = try MigrationSource.version(version, among: statuses.map(\.version))
    guard let status = statuses.first(where: { $0.version == version }),
      let declared = status.declared, let applied = status.applied
    else {
      throw CommandError(
        .failed, code: "migrationConflict",
        "Only a migration that exists here and that the database has had can be repaired.",
        hint: "storecli migrate status")
    }
    let title = source.shortTitle(version, status.name)
    guard status.state != .applied || applied.reverse != declared.reverseSQL else {
      try context.console.say("nothing to do: \(title) is as it was applied")
      return .ok
    }
    try context.console.writeLine("--- \(version) \(applied.name), as it was applied")
    try context.console.writeLine("+++ \(source.title(version, status.name))")
    for line in TextDifference(from: applied.text, to: declared.text).lines {
      try context.console.writeSQL(line)
    }
    guard !context.isDryRun else {
      try context.console.say("dry run: nothing was changed")
      return .ok
    }
    guard
      try Confirmation.isGranted(
        "Accept the new text of \(title)? Nothing runs.", isGiven: yes, flag: "--yes",
        console: context.console)
    else {
      try context.console.say("nothing was changed")
      return .failed
    }
    try context.changeCatalog(through: &opened) { store in
      _ = try FileMigrations(of: store, declared: source.migrations, models: source.models)
        .repair(version)
    }
    try context.console.say("accepted \(title)")
    return .ok
  }
}

extension AppliedMigration {
  /// Both directions, as a file has them.
  fileprivate var text: String {
    isSwift
      ? "-- in Swift\n"
      : MigrationFile.text(replaces: replaced, up: [sql], down: reverse.map { [$0] })
  }
}

extension Migration {
  /// Both directions, as a file has them.
  fileprivate var text: String {
    isSwift
      ? "-- in Swift\n"
      : MigrationFile.text(replaces: replaces, up: [sql], down: reverseSQL.map { [$0] })
  }
}

/// The lines of two texts, marked as in a patch.
struct TextDifference {
  let lines: [String]

  init(from old: String, to new: String) {
    let before = old.split(separator: "\n", omittingEmptySubsequences: false)
    let after = new.split(separator: "\n", omittingEmptySubsequences: false)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in after.difference(from: before) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var lines: [String] = []
    var place = 0
    for (index, line) in before.enumerated() {
      guard !removed.contains(index) else {
        lines.append("- \(line)")
        continue
      }
      while place < after.count, inserted.contains(place) {
        lines.append("+ \(after[place])")
        place += 1
      }
      lines.append("  \(line)")
      place += 1
    }
    lines += after[min(place, after.count)...].map { "+ \($0)" }
    while lines.last == "  " { lines.removeLast() }
    self.lines = lines
  }
}
