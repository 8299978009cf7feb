/// Applies and reverts numbered migrations. Each is one transaction, which also changes the ledger,
/// so a file is never between two versions. If ``FreshFilePlan`` creates tables or skips
/// migrations, the tables and all pending migrations are one transaction.
///
/// The migrator takes the write lock before it reads the ledger. A second process waits for the
/// first, and then finds no pending migrations.
struct Migrator {
  let connection: Connection
  let scope: MigrationLedger.Scope
  /// The newest version to apply.
  var limit = Int64.max
  /// Receives the run of each script, in its transaction, and brings what the store has about
  /// models in line with it: the catalog, the triggers and the change journal.
  var keepingModels: (_ run: () throws -> TableMoves) throws -> Void = { _ = try $0() }

  /// Receives each entry that the migrator adds to the ledger, in its transaction.
  var onRecord: (AppliedMigration) -> Void = { _ in }

  /// Runs after each commit of ``each(isKept:_:)``.
  var onCommit: () throws -> Void = {}

  var ledger: MigrationLedger { MigrationLedger(connection: connection, scope: scope) }

  /// Returns the migrations that the file has not had, in the order of versions. It only reads.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` or `migrationConflict`.
  func pending(_ migrations: [Migration]) throws -> [Migration] { try outlook(migrations).all }

  private func outlook(_ migrations: [Migration]) throws -> PendingMigrations {
    var pending = try PendingMigrations(of: migrations, after: ledger.entries(), in: scope)
    pending.limit(to: limit)
    return pending
  }

  /// What is pending between two transactions of one run. The declarations are compared with the
  /// ledger again only if another connection has written in between.
  struct Outlook {
    fileprivate var pending: PendingMigrations?
    private var writes: Int64?
    /// How often the declarations were compared with the ledger.
    private(set) var comparisonCount = 0

    /// - Precondition: `migrator` is in a transaction.
    fileprivate mutating func read(
      _ migrations: [Migration], by migrator: Migrator
    ) throws -> PendingMigrations {
      let current = try migrator.connection.firstRow("PRAGMA data_version") { row in
        try row.integer(at: 0)
      }
      if let pending, writes == current { return pending }
      writes = current
      comparisonCount += 1
      return try migrator.outlook(migrations)
    }
  }

  // Applying

  /// Applies the pending migrations, in the order of versions.
  ///
  /// Foreign keys are off while an application's migration runs. So a table can be rebuilt without
  /// cascading deletes in the tables that refer to it. The migrator checks foreign keys before the
  /// commit: <https://sqlite.org/lang_altertable.html#otheralter>.
  ///
  /// - Parameters:
  ///   - models: The models whose tables may be created before the migrations.
  ///   - isKept: Whether transactions are committed. Otherwise everything is one transaction, which
  ///     is rolled back.
  /// - Returns: The migrations that were applied or skipped now. If none was pending, the result is
  ///   empty and no write lock was taken.
  /// - Throws: ``StoreError``, or what a migration in Swift throws. The failed transaction is
  ///   rolled back, and transactions before it stay.
  /// - Precondition: `connection` is not in a transaction.
  @discardableResult
  func apply(
    _ migrations: [Migration], creating models: [ModelSchema] = [], isKept: Bool = true
  ) throws -> [Migration] {
    precondition(!connection.isInTransaction, "A migration needs its own transaction.")
    guard try !pending(migrations).isEmpty else { return [] }
    for migration in migrations { try MigrationScript(migration).check() }
    var outlook = Outlook()
    return try each(isKept: isKept) {
      try applyNext(of: migrations, creating: models, after: &outlook)
    }
  }

  /// Runs `next` in transactions until it returns nothing, with foreign keys off for an
  /// application's migrations.
  func each<Step>(isKept: Bool, _ next: () throws -> [Step]) throws -> [Step] {
    func all(_ next: () throws -> [Step]) throws -> [Step] {
      var done: [Step] = []
      while true {
        let steps = try next()
        guard !steps.isEmpty else { return done }
        done += steps
      }
    }
    func run() throws -> [Step] {
      isKept
        ? try all {
          let steps = try connection.inTransaction(next)
          if !steps.isEmpty { try onCommit() }
          return steps
        }
        : try connection.inTransaction(isKept: false) { try all(next) }
    }
    return try scope == .app ? connection.withForeignKeysOff(run) : run()
  }

  /// Applies the first pending migration, or all of them if the plan is not empty: once a table was
  /// created, another plan would take it for one in an old form.
  ///
  /// - Parameter outlook: Of the same run; a new one for its first step.
  func applyNext(
    of migrations: [Migration], creating models: [ModelSchema], after outlook: inout Outlook
  ) throws -> [Migration] {
    let pending = try outlook.read(migrations, by: self)
    outlook.pending = nil
    guard let first = pending.all.first else { return [] }
    let plan = scope == .app ? try plan(pending, creating: models) : nil
    guard let plan, !plan.isEmpty else {
      try apply(first, pending)
      outlook.pending = pending
      outlook.pending?.removeFirst()
      return [first]
    }
    try SchemaValidation(models).check()
    try Reconciler(connection)
      .apply(SchemaPlan(created: plan.created.flatMap { SchemaSQL($0).objects }))
    for migration in pending.all {
      if plan.skipped.contains(migration.version) {
        try record(migration, as: .skip)
      } else {
        try apply(migration, pending)
      }
    }
    return pending.all
  }

  /// Returns which tables are created first, and which migrations do not run.
  func plan(
    _ pending: PendingMigrations, creating models: [ModelSchema]
  ) throws -> FreshFilePlan {
    let objects = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE name NOT GLOB '_ms_*' AND name NOT GLOB 'sqlite_*'"
    ) { row in try row.text(at: 0) }
    return try FreshFilePlan(
      pending.all.filter { !pending.squashes.contains($0.version) }, models: models,
      objects: objects, isFresh: objects.isEmpty && ledger.entries().isEmpty)
  }

  private func apply(_ migration: Migration, _ pending: PendingMigrations) throws {
    if pending.squashes.contains(migration.version) {
      let entries = try ledger.entries().filter { migration.replaces.contains($0.version) }
      return try record(
        migration, as: .squash,
        replacing: Set(entries.flatMap { [$0.version] + $0.replaced }).sorted())
    }
    let duration = try run(MigrationScript(migration))
    try record(migration, as: .run, taking: duration)
  }

  private func record(
    _ migration: Migration, as kind: AppliedMigration.Kind, taking duration: Duration? = nil,
    replacing replaced: [Int64] = []
  ) throws {
    try ledger.record(migration, as: kind, taking: duration, replacing: replaced)
    if let entry = try ledger.entries(of: migration.version).first { onRecord(entry) }
  }

  /// - Returns: How long the script ran.
  private func run(_ script: MigrationScript) throws -> Duration {
    // The script before may have enabled it, and a rollback does not disable it.
    try connection.execute("PRAGMA legacy_alter_table = OFF")
    let start = ContinuousClock.now
    guard scope == .app else {
      _ = try script.run(on: connection)
      return ContinuousClock.now - start
    }
    var duration = Duration.zero
    let earlier = try BrokenReferences(in: connection)
    try keepingModels {
      let moves = try script.run(on: connection)
      duration = ContinuousClock.now - start
      return moves
    }
    let broken = try BrokenReferences(in: connection).subtracting(earlier)
    guard broken.isEmpty else { throw dangling(broken, after: script) }
    return duration
  }

  private func dangling(_ broken: BrokenReferences, after script: MigrationScript) -> StoreError {
    StoreError(
      .rejected,
      """
      \(script.place): it leaves \(broken.count) broken references \
      (\(broken.reasons.joined(separator: ", "))). The migration was rolled back.
      """)
  }
}

// Reverting.
extension Migrator {
  /// Reverts the applied migrations above `version`, newest first.
  ///
  /// - Parameter declared: The program's migrations, for what the ledger does not have.
  /// - Throws: As ``apply(_:creating:isKept:)``; ``StoreError`` with code `migrationConflict` if
  ///   one of them is irreversible. Nothing was changed then.
  func revert(
    to version: Int64, declaring declared: [Migration], isKept: Bool = true
  ) throws -> [AppliedMigration] {
    precondition(!connection.isInTransaction, "A migration needs its own transaction.")
    guard try !reversions(to: version, declaring: declared).isEmpty else { return [] }
    return try each(isKept: isKept) {
      guard let first = try reversions(to: version, declaring: declared).first else { return [] }
      try revert(first)
      return [first.entry]
    }
  }

  /// A migration to revert, and how.
  struct Reversion {
    let entry: AppliedMigration
    let script: MigrationScript
  }

  /// Returns the applied migrations above `version`, newest first. It only reads.
  func reversions(
    to version: Int64, declaring declared: [Migration]
  ) throws -> [Reversion] {
    let entries = try ledger.entries()
    guard version == 0 || entries.contains(where: { $0.version == version }) else {
      throw unknown(version, in: entries)
    }
    let reversions = try entries.filter { $0.version > version }.reversed().map { entry in
      guard let script = MigrationScript(reverting: entry, declared: declared) else {
        throw StoreError(
          .migrationConflict,
          """
          The migration \(entry) is irreversible: neither the file nor this program has a reverse \
          for it. Write a new migration instead; nothing was changed.
          """)
      }
      return Reversion(entry: entry, script: script)
    }
    for reversion in reversions { try reversion.script.check() }
    return reversions
  }

  /// Reverts the newest applied migration and applies its declaration again, in one transaction.
  ///
  /// - Returns: The new entry; nil if the file has had no migration.
  func redo(_ declared: [Migration], isKept: Bool = true) throws -> AppliedMigration? {
    for migration in declared { try MigrationScript(migration).check() }
    return try connection.withForeignKeysOff {
      try connection.inTransaction(isKept: isKept) {
        let entries = try ledger.entries()
        guard let newest = entries.last else { return nil }
        guard let migration = declared.first(where: { $0.version == newest.version }) else {
          throw StoreError(
            .migrationConflict,
            "The migration \(newest) is missing here, so it cannot be applied again. Nothing was changed."
          )
        }
        let before = entries.dropLast().last?.version ?? 0
        for reversion in try reversions(to: before, declaring: declared) { try revert(reversion) }
        let duration = try run(MigrationScript(migration))
        try ledger.record(migration, taking: duration)
        return try ledger.entries().last
      }
    }
  }

  /// - Precondition: A write transaction is open, and foreign keys are off.
  private func revert(_ reversion: Reversion) throws {
    _ = try run(reversion.script)
    try ledger.remove(reversion.entry.version)
  }

  private func unknown(_ version: Int64, in entries: [AppliedMigration]) -> StoreError {
    if let squash = entries.first(where: { $0.replaced.contains(version) }) {
      return StoreError(
        .migrationConflict,
        "The migration \(squash) stands for \(version) in this file, so it can only be reverted as a whole. Nothing was changed."
      )
    }
    let newest = entries.last.map { "Its newest one is \($0)." } ?? "It has had none."
    return StoreError(
      .migrationConflict,
      "The file has not had a migration \(version), so it cannot go back to it. \(newest) Nothing was changed."
    )
  }
}
