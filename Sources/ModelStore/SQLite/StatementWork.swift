internal import CSQLite

/// What SQLite did to run a statement, as it counts it. The numbers are the same on every machine.
///
/// See <https://sqlite.org/c3ref/c_stmtstatus_counter.html>.
package struct StatementWork: Hashable, Sendable {
  /// Rows of the result.
  package var rowCount: Int
  /// Steps of SQLite's virtual machine.
  package var stepCount: Int
  /// Steps of full scans from one row of a table or index to the next: one less than the rows of
  /// each scan. Rows that an index found are not counted.
  package var fullScanStepCount: Int
  package var sortCount: Int
  /// Rows inserted into indexes that exist for this statement only.
  package var automaticIndexRowCount: Int
  /// Whether the statement came to its end, and was not stopped at a limit.
  package var isComplete: Bool
}

extension Connection {
  /// Runs a statement that reads, up to `maxStepCount` steps, and ignores its rows.
  func work(of text: SQLText, maxStepCount: Int) throws -> StatementWork {
    // A new statement, whose counters begin at zero.
    let statement = try Statement(text.sql, on: handle)
    try statement.bind(text)
    var rowCount = 0
    let end: Void? = try limitingSteps(to: maxStepCount) {
      while try statement.step() { rowCount += 1 }
    }
    func count(_ counter: Int32) -> Int {
      Int(sqlite3_stmt_status(statement.handle, counter, 0))
    }
    return StatementWork(
      rowCount: rowCount, stepCount: count(SQLITE_STMTSTATUS_VM_STEP),
      fullScanStepCount: count(SQLITE_STMTSTATUS_FULLSCAN_STEP),
      sortCount: count(SQLITE_STMTSTATUS_SORT),
      automaticIndexRowCount: count(SQLITE_STMTSTATUS_AUTOINDEX), isComplete: end != nil)
  }
}
