import ArgumentParser
import ModelStore
import RecordFormats

/// `migrate status`: each migration, and whether the database has had it.
struct MigrateStatusCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "List the migrations, and which of them the database has had.",
    discussion: """
      Example: storecli migrate status
      Exits with 2 if a migration is pending or was changed, or the schema is not the one that the \
      migrations make; with 6 if the database has had newer ones than there are here.
      """)

  @OptionGroup var source: MigrationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let source = try MigrationSource(source, context)
    let opened = try context.openForReading()
    let file = FileMigrations(
      of: opened.store, declared: source.migrations, models: source.models)
    let statuses = try file.status()
    try write(statuses, source, context)
    let counts = Self.counts(of: statuses)
    try context.console.say(counts.isEmpty ? "no migrations" : counts.joined(separator: ", "))
    let isNewer = statuses.contains {
      $0.state == .missing && $0.version > source.newestVersion
    }
    let isOpen = statuses.contains { !$0.isSettled }
    let remarks = try isOpen ? [] : remarks(on: file, statuses)
    for remark in remarks { try context.console.say(remark) }
    if isNewer { return .newerSchema }
    return isOpen || !remarks.isEmpty ? .found : .ok
  }

  private func write(
    _ statuses: [MigrationStatus], _ source: MigrationSource, _ context: CommandContext
  ) throws {
    let all = [
      OutputColumn("version", role: .key), OutputColumn("name"), OutputColumn("state"),
      OutputColumn("applied"), OutputColumn("program"), OutputColumn("kind"),
      OutputColumn("reversible", meaning: .truth),
    ]
    let shown = context.isForScreen ? Array(all.prefix(5)) : all
    var writer = try context.reportWriter(columns: shown)
    for status in statuses {
      let applied = status.applied
      let row: [CellValue] = [
        .integer(status.version), .text(status.name), .text(status.word),
        applied.map { .text(context.isForScreen ? $0.age : $0.appliedAt) } ?? .null,
        (applied?.program).map { .text($0) } ?? .null,
        applied.map { .text($0.kind.rawValue) } ?? .null, .integer(status.isReversible ? 1 : 0),
      ]
      try writer.write(Array(row.prefix(shown.count)))
    }
    try context.finish(writer)
  }

  private static func counts(of statuses: [MigrationStatus]) -> [String] {
    let words = ["applied", "replaced", "renamed", "changed", "missing", "late", "pending"]
    return words.compactMap { word in
      let count = statuses.count { $0.word == word }
      return count == 0 ? nil : "\(Grouped.text(count)) \(word)"
    }
  }

  /// What is open although the database has had every migration.
  private func remarks(on file: FileMigrations, _ statuses: [MigrationStatus]) throws -> [String] {
    var remarks: [String] = []
    let plan = try file.plan()
    if !plan.isEmpty {
      let count = Grouped.text(plan.steps.count, "change")
      remarks.append("the models ask for \(count) (\(Program.name) migrate plan)")
    }
    let drift: [String]
    do {
      drift = try statuses.newestApplied == 0 ? [] : file.drift()
    } catch let error as StoreError where error.code == .schemaMismatch {
      return remarks + [error.message]
    }
    if !drift.isEmpty, plan.isEmpty {
      remarks.append(
        "\(Grouped.text(drift.count, "difference")) to what the migrations make "
          + "(\(Program.name) migrate drift)")
    }
    return remarks
  }
}

extension MigrationStatus {
  /// The state in one word.
  var word: String {
    switch state {
    case .applied: "applied"
    case .pending: "pending"
    case .late: "late"
    case .missing: "missing"
    case .changed: "changed"
    case .renamed: "renamed"
    case .replaced: "replaced"
    }
  }

  /// Whether there is nothing to do about it.
  var isSettled: Bool {
    switch state {
    case .applied, .renamed, .replaced: true
    case .pending, .late, .missing, .changed: false
    }
  }
}

extension AppliedMigration {
  /// How long ago it was applied.
  var age: String { TimeText.time(appliedAt).map { TimeText.ago($0) } ?? appliedAt }
}
