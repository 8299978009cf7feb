internal import CSQLite

// Trying out a statement.
extension Connection {
  /// Whether SQLite compiles a statement, with all triggers that it would fire. It runs nothing.
  ///
  /// - Throws: ``SQLiteError`` for a failure that is not caused by the statement.
  func compiles(_ sql: String) throws(SQLiteError) -> Bool {
    try compilationError(of: sql) == nil
  }

  /// Returns why SQLite cannot compile a statement; nil if it can. It runs nothing.
  ///
  /// - Throws: See ``compiles(_:)``.
  func compilationError(of sql: String) throws(SQLiteError) -> SQLiteError? {
    noteDeferral(in: sql)
    do throws(SQLiteError) {
      _ = try Statement(sql, on: handle)
      return nil
    } catch {
      guard error.code.primary == .error else { throw error }
      return error
    }
  }

  /// Whether a statement of this connection is between its first row and its last. During that
  /// time, SQLite remembers an interrupt and also stops every other statement:
  /// <https://sqlite.org/c3ref/interrupt.html>.
  var hasRunningStatement: Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let present = statement {
      if sqlite3_stmt_busy(present) != 0 { return true }
      statement = sqlite3_next_stmt(handle, present)
    }
    return false
  }

  /// Runs one statement to its end, without CHECKs and without the queries of triggers whose names
  /// begin with `prefix`.
  ///
  /// - Precondition: The caller rolls back its writes. No other statement is running, so that an
  ///   interrupt ends.
  func runUnchecked(_ text: SQLText, leavingOutTriggers prefix: String) throws {
    noteDeferral(in: text.sql)
    let statement = try hooks.leavingOutQueries(ofTriggersNamed: prefix) {
      () throws(SQLiteError) -> Statement in
      try compilingWithoutChecks { () throws(SQLiteError) in
        // Bypasses the cache, so that no other caller receives a statement that was compiled this
        // way.
        try Statement(text.sql, on: handle)
      }
    }
    try statement.bind(text)
    try statement.run()
  }

  /// Disables CHECKs while the statement is compiled, because SQLite decides then whether it checks
  /// them: <https://sqlite.org/pragma.html#pragma_ignore_check_constraints>.
  private func compilingWithoutChecks(
    _ compile: () throws(SQLiteError) -> Statement
  ) throws(SQLiteError) -> Statement {
    precondition(!hasRunningStatement, "An interrupt would not end while a statement runs.")
    defer { switchChecks(on: true) }
    switchChecks(on: false)
    return try compile()
  }

  /// Compiling the pragma already applies it. An interrupt may stop the compilation, but ends with
  /// it, because no other statement is running.
  private func switchChecks(on isOn: Bool) {
    let sql = "PRAGMA ignore_check_constraints = \(isOn ? "OFF" : "ON")"
    var code = SQLITE_INTERRUPT
    hooks.withoutStopping {
      while code == SQLITE_INTERRUPT {
        var statement: OpaquePointer?
        code = sqlite3_prepare_v3(handle, sql, -1, 0, &statement, nil)
        sqlite3_finalize(statement)
      }
    }
    precondition(code == SQLITE_OK, "SQLite cannot restore the pragma for CHECKs.")
  }

  /// Runs `body` inside the current transaction and rolls back its writes.
  ///
  /// - Precondition: No statement is running.
  func rollingBack<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("SAVEPOINT trial")
    let result: Result
    do {
      result = try body()
    } catch {
      try endTrial()
      throw error
    }
    try endTrial()
    return result
  }

  /// The trial must be rolled back, so this tries again after an interrupt.
  private func endTrial() throws(SQLiteError) {
    Statement.countFailure()
    let sql = "ROLLBACK TO trial; RELEASE trial"
    var code = SQLITE_INTERRUPT
    // Otherwise a stop request would interrupt every attempt.
    hooks.withoutStopping {
      while code == SQLITE_INTERRUPT { code = sqlite3_exec(handle, sql, nil, nil, nil) }
    }
    guard code == SQLITE_OK else {
      throw SQLiteError(code: code, database: handle, sql: sql)
    }
  }
}
