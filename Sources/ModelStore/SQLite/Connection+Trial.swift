internal import CSQLite

// Trying a statement out.
extension Connection {
  /// Whether SQLite compiles a statement, with all triggers that it would run. Runs nothing.
  ///
  /// - Throws: ``SQLiteError`` when it fails for another reason than the statement.
  func compiles(_ sql: String) throws(SQLiteError) -> Bool {
    try compilationError(of: sql) == nil
  }

  /// Why SQLite cannot compile a statement; nil when it can. Runs nothing.
  ///
  /// - Throws: As ``compiles(_:)``.
  func compilationError(of sql: String) throws(SQLiteError) -> SQLiteError? {
    do throws(SQLiteError) {
      _ = try Statement(sql, on: handle)
      return nil
    } catch {
      guard error.code.primary == .error else { throw error }
      return error
    }
  }

  /// Whether a statement of this connection stands between its first row and its last. While one
  /// does, SQLite keeps an interrupt in mind and stops every other statement with it, too:
  /// <https://sqlite.org/c3ref/interrupt.html>.
  var hasRunningStatement: Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let present = statement {
      if sqlite3_stmt_busy(present) != 0 { return true }
      statement = sqlite3_next_stmt(handle, present)
    }
    return false
  }

  /// Runs one statement to its end without looking at CHECKs, and without asking what the triggers
  /// whose names begin with `prefix` ask.
  ///
  /// - Precondition: What it writes is rolled back; no other statement is running, so that an
  ///   interrupt passes.
  func runUnchecked(_ text: SQLText, leavingOutTriggers prefix: String) throws {
    let statement = try hooks.leavingOutQueries(ofTriggersNamed: prefix) {
      () throws(SQLiteError) -> Statement in
      try compilingWithoutChecks { () throws(SQLiteError) in
        // Not from the cache, where nobody may find a statement that was compiled so.
        try Statement(text.sql, on: handle)
      }
    }
    try statement.bind(text)
    try statement.run()
  }

  /// Whether a statement looks at CHECKs is decided while it is compiled, so that is how long it is
  /// switched: <https://sqlite.org/pragma.html#pragma_ignore_check_constraints>.
  private func compilingWithoutChecks(
    _ compile: () throws(SQLiteError) -> Statement
  ) throws(SQLiteError) -> Statement {
    precondition(!hasRunningStatement, "An interrupt would not pass while a statement runs.")
    defer { switchChecks(on: true) }
    switchChecks(on: false)
    return try compile()
  }

  /// Compiling the pragma is enough to carry it out. An interrupt may hit that too, but passes with
  /// it, since nothing else runs.
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
    precondition(code == SQLITE_OK, "SQLite does not let go of the pragma for CHECKs.")
  }

  /// Runs `body` inside the present transaction and takes back what it wrote.
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

  /// What was tried must not stay, so an interrupt that hits this runs it once more.
  private func endTrial() throws(SQLiteError) {
    let sql = "ROLLBACK TO trial; RELEASE trial"
    var code = SQLITE_INTERRUPT
    // A stop request would interrupt every attempt.
    hooks.withoutStopping {
      while code == SQLITE_INTERRUPT { code = sqlite3_exec(handle, sql, nil, nil, nil) }
    }
    guard code == SQLITE_OK else {
      throw SQLiteError(code: code, database: handle, sql: sql)
    }
  }
}
