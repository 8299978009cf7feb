extension Connection {
  /// Runs `body`, which begins its own transaction, without enforcing foreign keys. So a table can
  /// be replaced without deleting the records that refer to it. The caller checks the references
  /// before the commit: <https://sqlite.org/lang_altertable.html#otheralter>.
  ///
  /// - Precondition: No transaction is open. Inside one the pragma does nothing:
  ///   <https://sqlite.org/pragma.html#pragma_foreign_keys>.
  func withForeignKeysOff<Result>(_ body: () throws -> Result) throws -> Result {
    precondition(!isInTransaction, "Foreign keys cannot be switched off in a transaction.")
    try execute("PRAGMA foreign_keys = OFF")
    let result: Result
    do {
      result = try body()
    } catch {
      // After such a failure the connection is not used again, and the pragma could not take
      // effect.
      if !(error is ConnectionFailure) { try restorePragmas(after: error) }
      throw error
    }
    try restorePragmas(after: nil)
    return result
  }

  /// A stop request must not leave the connection without foreign keys.
  ///
  /// - Throws: ``ConnectionFailure`` if foreign keys stay off, as they do inside a transaction.
  private func restorePragmas(after cause: (any Error)?) throws {
    try hooks.withoutStopping {
      try execute("PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")
      guard try !enforcesForeignKeys else { return }
      throw ConnectionFailure(
        moment: cause == nil ? .commit : .rollback,
        failure: SQLiteError(code: .error, message: "Foreign keys could not be switched on again."),
        cause: cause)
    }
  }

  /// Whether SQLite enforces foreign keys on this connection now.
  var enforcesForeignKeys: Bool {
    get throws { try firstRow("PRAGMA foreign_keys") { try $0.integer(at: 0) } == 1 }
  }
}
