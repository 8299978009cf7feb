/// Applies numbered migrations. Each migration and its ledger entry are one transaction, so a file
/// is never between two versions.
///
/// The migrator takes the write lock before it reads the ledger. A second process waits for the
/// first, and then finds no pending migrations.
struct Migrator {
  let connection: Connection
  let scope: MigrationLedger.Scope
  /// Runs at the beginning of each migration's transaction.
  var preparation: (Connection) throws -> Void = { _ in }

  private var ledger: MigrationLedger { MigrationLedger(connection: connection, scope: scope) }

  /// Returns the migrations that the file has not had, in the order of versions. It only reads.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` or `migrationConflict`.
  func pending(_ migrations: [Migration]) throws -> [Migration] {
    try scope.pending(of: migrations, after: ledger.entries())
  }

  /// Applies the pending migrations, in the order of versions.
  ///
  /// Foreign keys are off while an application's migration runs. So a table can be rebuilt without
  /// cascading deletes in the tables that refer to it. The migrator checks foreign keys before the
  /// commit: <https://sqlite.org/lang_altertable.html#otheralter>.
  ///
  /// - Returns: The migrations applied now. If none were pending, it is empty and no write lock was
  ///   taken.
  /// - Throws: ``StoreError``. The migrations before the failed one stay applied. The failed
  ///   migration is rolled back.
  /// - Precondition: `connection` is not in a transaction.
  @discardableResult
  func apply(_ migrations: [Migration]) throws -> [Migration] {
    precondition(!connection.isInTransaction, "A migration needs its own transaction.")
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
      // The migration before may have enabled it, and a rollback does not disable it.
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
      // After such a failure the connection is not used again, and the pragma could not take
      // effect.
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
      (\(broken.reasons.joined(separator: ", "))). The migration was rolled back.
      """)
  }
}
