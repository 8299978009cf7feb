/// Applies numbered migrations, each in one transaction that includes its line in the ledger, so
/// that a file is never between two versions.
///
/// The write lock is taken before the ledger is read: a second process waits for the first, then
/// finds nothing to do.
struct Migrator {
  let connection: Connection
  let scope: MigrationLedger.Scope

  private var ledger: MigrationLedger { MigrationLedger(connection: connection, scope: scope) }

  /// The migrations that the file has not had, in the order of versions. Reads only.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` or `migrationConflict`.
  func pending(_ migrations: [Migration]) throws -> [Migration] {
    try scope.pending(of: migrations, after: ledger.entries())
  }

  /// Applies what is pending, in the order of versions.
  ///
  /// Foreign keys are off while an application's migration runs, so that a table can be rebuilt
  /// without the rows that refer to it being cascaded away, and are checked before the commit:
  /// <https://sqlite.org/lang_altertable.html#otheralter>.
  ///
  /// - Returns: What was applied now; empty, and without a write lock taken, when nothing was
  ///   pending.
  /// - Throws: ``StoreError``. The migrations before the one that failed stay applied; of that one
  ///   nothing is kept.
  /// - Precondition: `connection` is not in a transaction.
  @discardableResult
  func apply(_ migrations: [Migration]) throws -> [Migration] {
    precondition(!connection.isInTransaction, "A migration needs a transaction of its own.")
    guard try !pending(migrations).isEmpty else { return [] }
    for migration in migrations { try MigrationScript(migration).check() }
    var applied: [Migration] = []
    try withForeignKeysOff {
      while let migration = try applyNext(of: migrations) { applied.append(migration) }
    }
    return applied
  }

  private func applyNext(of migrations: [Migration]) throws -> Migration? {
    try connection.inTransaction {
      // The migration before may have switched it on, which no rollback ends either.
      try connection.execute("PRAGMA legacy_alter_table = OFF")
      guard let migration = try pending(migrations).first else { return nil }
      let broken = scope == .app ? try brokenReferences() : [:]
      try MigrationScript(migration).run(on: connection)
      if scope == .app {
        var newlyBroken = try brokenReferences()
        for (reference, count) in broken { newlyBroken[reference, default: 0] -= count }
        newlyBroken = newlyBroken.filter { $0.value > 0 }
        guard newlyBroken.isEmpty else { throw dangling(newlyBroken, after: migration) }
      }
      try ledger.create()
      try ledger.record(migration)
      return migration
    }
  }

  private func withForeignKeysOff(_ body: () throws -> Void) throws {
    guard scope == .app else { return try body() }
    // Inside a transaction the pragma does nothing:
    // https://sqlite.org/pragma.html#pragma_foreign_keys
    try connection.execute("PRAGMA foreign_keys = OFF")
    do {
      try body()
    } catch {
      // After such a failure the connection is not used again, nor could the pragma take effect.
      if !(error is ConnectionFailure) { try restorePragmas() }
      throw error
    }
    try restorePragmas()
  }

  private func restorePragmas() throws {
    try connection.execute("PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")
  }

  /// What is broken: a foreign key of a table. Not a row of it, since a table need not have rowids
  /// and a migration may give its rows others.
  private struct BrokenReference: Hashable {
    let table: String
    let columns: [String]
    let parent: String
    /// Why the foreign key cannot be checked at all, or nil for rows without their parent.
    var problem: String?
  }

  /// How many rows lack their parent, by foreign key, and the tables that cannot be checked.
  private func brokenReferences() throws -> [BrokenReference: Int] {
    var broken: [BrokenReference: Int] = [:]
    for table in try Catalog(reading: connection).tables where !table.foreignKeys.isEmpty {
      do {
        let rows = try connection.rows(
          """
          SELECT fkid, parent, count(*)
          FROM pragma_foreign_key_check(\(table.name), 'main')
          GROUP BY fkid, parent
          """
        ) { row in
          // SQLite numbers foreign keys from the last one declared.
          let place = table.foreignKeys.count - 1 - Int(try row.integer(at: 0))
          return (
            BrokenReference(
              table: table.name, columns: table.foreignKeys[place].columns,
              parent: try row.text(at: 1)),
            Int(try row.integer(at: 2))
          )
        }
        for (reference, count) in rows { broken[reference, default: 0] += count }
      } catch let error as SQLiteError where error.code.primary == .error {
        // The parent's columns are not unique: https://sqlite.org/foreignkeys.html#fk_indexes
        let reference = BrokenReference(
          table: table.name, columns: [], parent: "", problem: error.message)
        broken[reference] = 1
      }
    }
    return broken
  }

  private func dangling(
    _ broken: [BrokenReference: Int], after migration: Migration
  ) -> StoreError {
    let pairs = Set(
      broken.keys.map { $0.problem.map { "\($0)" } ?? "from \($0.table) to \($0.parent)" })
    return StoreError(
      .rejected,
      """
      The migration \(migration) leaves \(broken.values.reduce(0, +)) broken references \
      (\(pairs.sorted().joined(separator: ", "))). Nothing of it was kept.
      """)
  }
}
