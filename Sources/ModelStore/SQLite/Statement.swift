internal import CSQLite
internal import Synchronization

/// A prepared statement with one owner: bind, step, read. It is finalized at its end, unless it
/// returns to the ``StatementCache`` that lent it.
///
/// Arguments are numbered from 0 in this layer. SQLite numbers them from 1.
struct Statement: ~Copyable {
  let handle: OpaquePointer

  /// Prepares the first statement of `sql`.
  ///
  /// - Throws: ``SQLiteError`` if SQLite cannot compile it, or if text follows the statement.
  init(_ sql: String, on database: OpaquePointer, persistent: Bool = false) throws(SQLiteError) {
    var prepared: OpaquePointer?
    var unread = 0
    var copy = sql
    let code = copy.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { characters in
        var tail: UnsafePointer<CChar>?
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(
          database, characters.baseAddress, Int32(clamping: characters.count), flags, &prepared,
          &tail)
        if let base = characters.baseAddress, let tail {
          unread = characters.count - base.distance(to: tail)
        }
        return code
      }
    }
    guard code == SQLITE_OK else {
      throw SQLiteError(code: code, database: database, sql: sql)
    }
    guard let prepared else {
      throw SQLiteError(code: .misuse, message: "The text holds no SQL statement.", sql: sql)
    }
    if !SQLText.droppingBlanks(sql.utf8.suffix(unread)).isEmpty {
      sqlite3_finalize(prepared)
      throw SQLiteError(
        code: .misuse, message: "The text holds more than one SQL statement.", sql: sql)
    }
    handle = prepared
  }

  /// Takes ownership of a handle that ``release()`` returned.
  init(adopting handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Ends this owner without finalizing. The caller then owns the handle.
  consuming func release() -> OpaquePointer {
    let handle = handle
    discard self
    return handle
  }

  var sql: String {
    sqlite3_sql(handle).map { String(cString: $0) } ?? ""
  }

  var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  var columnCount: Int { Int(sqlite3_column_count(handle)) }

  /// Whether running the statement cannot change the file:
  /// <https://sqlite.org/c3ref/stmt_readonly.html>.
  var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  func columnName(at index: Int) -> String {
    sqlite3_column_name(handle, Int32(index)).map { String(cString: $0) } ?? ""
  }

  /// The names in column order. They match the rows only after a step, which recompiles a statement
  /// that is older than the schema.
  var columnNames: [String] {
    (0..<columnCount).map { columnName(at: $0) }
  }

  /// Runs one step.
  ///
  /// - Returns: true if a row is ready to read, false if the statement is done.
  func step() throws(SQLiteError) -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw failure(code)
  }

  /// Steps to the end, ignoring rows.
  func run() throws(SQLiteError) {
    while try step() {}
  }

  /// Ends the current run so that the statement can be bound again. It keeps the arguments.
  func reset() {
    // The returned code is the last step's error, which was already thrown.
    sqlite3_reset(handle)
  }

  /// Calls `body` with each row, in the statement's order.
  func forEachRow<Failure: Error>(
    _ body: (borrowing RowView) throws(Failure) -> Void
  ) throws {
    let row = RowView(statement: handle)
    while try step() { try body(row) }
  }

  /// Calls `body` with each row, as ``forEachRow(_:)`` does. For many rows it takes less time, and
  /// decoders are kept from row to row.
  @inline(__always)
  func forEachRowOfRun(_ body: (borrowing RowView) throws -> Void) throws {
    guard try step() else { return }
    let companion = RowCompanion(isOfRun: true)
    companion.beginRows(of: handle)
    defer { companion.endRows() }
    let row = RowView(statement: handle, companion: companion)
    try body(row)
    while try step() {
      companion.nextRow(of: handle)
      try body(row)
    }
  }

  func bind(_ arguments: [SQLValue]) throws(SQLiteError) {
    guard arguments.count == parameterCount else { throw wrongCount(of: arguments.count) }
    var writer = ArgumentWriter(statement: handle)
    for (index, argument) in arguments.enumerated() {
      writer.set(argument, at: index)
    }
    try check(writer)
  }

  /// The error for a number of arguments that is not the number of parameters.
  func wrongCount(of arguments: Int) -> SQLiteError {
    SQLiteError(
      code: .range, message: "The statement takes \(parameterCount) arguments; got \(arguments).",
      sql: sql)
  }

  /// Binds the arguments of `text`.
  func bind(_ text: SQLText) throws(SQLiteError) {
    if let problem = text.unstorable {
      throw SQLiteError(code: .unstorable, message: problem, sql: sql)
    }
    try bind(text.arguments)
  }

  /// Throws the error of binding through `writer`, if any.
  func check(_ writer: borrowing ArgumentWriter) throws(SQLiteError) {
    if writer.failure == ResultCode.unstorable.rawValue {
      throw SQLiteError(
        code: .unstorable, message: "NaN cannot be stored; SQLite would keep NULL instead", sql: sql
      )
    }
    if writer.failure != SQLITE_OK { throw failure(writer.failure) }
  }

  /// The number of runs that failed so far, of all statements of the process, and of savepoints
  /// that were undone. While it stays the same, SQLite has undone no change of an open transaction.
  static var failureCount: UInt64 { failures.load(ordering: .relaxed) }

  private static let failures = Atomic<UInt64>(0)

  /// Counts a failure of SQL that is not run as a statement, and what undoes a savepoint.
  static func countFailure() { failures.add(1, ordering: .relaxed) }

  private func failure(_ code: Int32) -> SQLiteError {
    // Only reads are given up, and they undo nothing.
    if !CachedFileReads.isLimited { Self.countFailure() }
    return SQLiteError(code: code, database: sqlite3_db_handle(handle), sql: sql)
  }
}
