internal import CSQLite

// Writes that share a transaction, each in a savepoint of its own. A stopped savepoint statement
// would leave the transaction in doubt, so none is stopped.
extension Connection {
  func beginShare() throws {
    try hooks.withoutStopping { try run(.beginShare) }
  }

  func releaseShare() throws {
    try hooks.withoutStopping { try run(.releaseShare) }
  }

  /// Undoes everything since ``beginShare()``, if SQLite has not rolled the transaction back. If
  /// that fails, rolls the whole transaction back.
  ///
  /// - Returns: The error to throw, as ``rollBack(after:)`` does.
  func rollBackShare(after error: any Error) -> any Error {
    guard isInTransaction else { return error }
    do {
      try hooks.withoutStopping {
        Statement.countFailure()
        try withStatement("ROLLBACK TO share") { try $0.run() }
        try run(.releaseShare)
        try endDeferral()
      }
      return error
    } catch {
      return rollBack(after: error)
    }
  }

  /// Checks foreign keys after each statement again. `PRAGMA defer_foreign_keys` lasts until the
  /// transaction ends, so the next write of a shared transaction would inherit it.
  ///
  /// - Precondition: No reference is broken.
  func endDeferral() throws {
    guard mayDefer else { return }
    // SQLite reads the setting when it compiles the statement, so a cached one may be out of date.
    let statement = try Statement("PRAGMA defer_foreign_keys", on: handle)
    guard try statement.step(), sqlite3_column_int(statement.handle, 0) != 0 else { return }
    try execute("PRAGMA defer_foreign_keys = OFF")
  }

  /// Whether compiling `sql` may set `PRAGMA defer_foreign_keys`, also after EXPLAIN. "No" is
  /// certain.
  static func mayDefer(_ sql: String) -> Bool {
    // Only the first letter of the name is "d", so after a difference no letter is read again.
    let name = deferringPragma
    var count = 0
    for byte in sql.utf8 {
      let letter = (0x41...0x5A).contains(byte) ? byte + 32 : byte
      if letter == name[count] {
        count += 1
        if count == name.count { return true }
      } else {
        count = letter == name[0] ? 1 : 0
      }
    }
    return false
  }

  private static let deferringPragma = Array("defer_foreign_keys".utf8)

  /// Whether a statement that can change the file has begun and not ended. SQLite rolls the whole
  /// transaction back if such a statement is interrupted:
  /// <https://sqlite.org/c3ref/interrupt.html>.
  var isChanging: Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0, sqlite3_stmt_readonly(current) == 0 { return true }
      statement = sqlite3_next_stmt(handle, current)
    }
    return false
  }
}
