internal import CSQLite

// Trying a statement out.
extension Connection {
  /// Runs `body` while CHECKs are not looked at:
  /// <https://sqlite.org/pragma.html#pragma_ignore_check_constraints>.
  ///
  /// - Precondition: What `body` writes is rolled back in it.
  func ignoringChecks<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("PRAGMA ignore_check_constraints = ON")
    defer {
      var code = SQLITE_INTERRUPT
      // A cancelled task's interrupt may hit the pragma itself.
      while code == SQLITE_INTERRUPT {
        code = sqlite3_exec(handle, "PRAGMA ignore_check_constraints = OFF", nil, nil, nil)
      }
      precondition(code == SQLITE_OK, "SQLite no longer looks at CHECKs.")
    }
    return try body()
  }

  /// Runs `body` inside the present transaction and takes back what it wrote.
  func rollingBack<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("SAVEPOINT trial")
    let result: Result
    do {
      result = try body()
    } catch {
      try execute("ROLLBACK TO trial; RELEASE trial")
      throw error
    }
    try execute("ROLLBACK TO trial; RELEASE trial")
    return result
  }
}
