/// Applies numbered migrations, each in one transaction that includes its line in the ledger, so
/// that a file is never between two versions.
///
/// The write lock is taken before the ledger is read: a second process waits for the first, then
/// finds nothing to do.
struct Migrator {
  let connection: Connection
  let scope: MigrationLedger.Scope
  /// What comes first in the transaction of each migration.
  var preparation: (Connection) throws -> Void = { _ in }

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
      let script = MigrationScript(migration)
      try preparation(connection)
      if scope == .app {
        let earlier = try BrokenReferences(in: connection)
        try script.run(on: connection)
        let broken = try BrokenReferences(in: connection).subtracting(earlier)
        guard broken.isEmpty else { throw dangling(broken, after: migration) }
      } else {
        try script.run(on: connection)
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

  private func dangling(_ broken: BrokenReferences, after migration: Migration) -> StoreError {
    StoreError(
      .rejected,
      """
      The migration \(migration) leaves \(broken.count) broken references \
      (\(broken.reasons.joined(separator: ", "))). Nothing of it was kept.
      """)
  }
}
