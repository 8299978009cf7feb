internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The C callbacks of one connection, turned into Swift closures. Each trampoline recovers the
/// object, converts and calls; it decides nothing.
final class ConnectionHooks {
  private let database: OpaquePointer
  private let busyTimeout: Duration
  private var busySince: ContinuousClock.Instant?
  private var mayWait = true
  private var rowChanged: ((borrowing PreupdateRow) -> Void)?
  private var programStarted: ((ProgramStart) -> Void)?
  /// How many frames the WAL held after this connection's latest commit.
  private(set) var walFrameCount = 0

  init(database: OpaquePointer, busyTimeout: Duration) {
    self.database = database
    self.busyTimeout = busyTimeout
    sqlite3_busy_handler(
      database, { context, count in hooks(context).waitForLock(attempt: Int(count)) ? 1 : 0 },
      context)
  }

  /// Keeps ``walFrameCount`` up to date from now on. To be called after the last
  /// `PRAGMA wal_autocheckpoint`, which takes the hook away:
  /// <https://sqlite.org/c3ref/wal_autocheckpoint.html>.
  func countWALFrames() {
    sqlite3_wal_hook(
      database,
      { context, _, _, frames in
        hooks(context).walFrameCount = Int(frames)
        return SQLITE_OK
      }, context)
  }

  private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Reports every row about to change, or stops doing so. Costs nothing while nil.
  ///
  /// See <https://sqlite.org/c3ref/preupdate_blobwrite.html>. The session extension takes the same slot.
  func onRowChange(_ report: ((borrowing PreupdateRow) -> Void)?) {
    rowChanged = report
    guard report != nil else {
      sqlite3_preupdate_hook(database, nil, nil)
      return
    }
    sqlite3_preupdate_hook(
      database,
      { context, database, operation, _, table, oldRowID, newRowID in
        guard let database, let table else { return }
        hooks(context).rowChanged?(
          PreupdateRow(
            database: database, operation: operation, table: table, oldRowID: oldRowID,
            newRowID: newRowID))
      }, context)
  }

  /// What SQLite is about to run.
  enum ProgramStart {
    case statement
    /// A trigger's program.
    case trigger(String)
    /// A statement of a trigger's program.
    case step
  }

  /// Reports each statement and each trigger as it starts. SQLite announces a trigger inside a
  /// statement by the comment `-- TRIGGER name`, and each of its steps by a comment with its text:
  /// <https://sqlite.org/c3ref/c_trace.html>.
  func onProgramStart(_ report: ((ProgramStart) -> Void)?) {
    programStarted = report
    guard report != nil else {
      sqlite3_trace_v2(database, 0, nil, nil)
      return
    }
    sqlite3_trace_v2(
      database, UInt32(SQLITE_TRACE_STMT),
      { _, context, statement, text in
        hooks(context).programStarted?(ProgramStart(statement: statement, text: text))
        return 0
      }, context)
  }

  func removeAll() {
    onRowChange(nil)
    onProgramStart(nil)
    sqlite3_wal_hook(database, nil, nil)
    sqlite3_busy_handler(database, nil, nil)
  }

  /// Runs `body` with locks tried once: a lock that another process holds fails at once.
  func withoutWaiting<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    mayWait = false
    defer { mayWait = true }
    return try body()
  }

  /// Runs `body` again while another connection is in its way, until the busy timeout: for what
  /// SQLite refuses without asking the busy handler, because waiting could be a deadlock.
  func retryingWhileBusy<Result>(_ body: () throws -> Result) throws -> Result {
    var attempt = 0
    while true {
      do {
        return try body()
      } catch let error as SQLiteError {
        guard error.code.primary == .busy, waitForLock(attempt: attempt) else { throw error }
        attempt += 1
      }
    }
  }

  /// Sleeps a little longer each time, with jitter so that waiting processes do not march in step.
  private func waitForLock(attempt: Int) -> Bool {
    let now = ContinuousClock.now
    if attempt == 0 { busySince = now }
    guard mayWait, let busySince, busySince.duration(to: now) < busyTimeout else { return false }
    let ceiling = UInt32(min(25_000, 250 << min(attempt, 7)))
    usleep(UInt32.random(in: ceiling / 2...ceiling))
    return true
  }
}

private func hooks(_ context: UnsafeMutableRawPointer?) -> ConnectionHooks {
  guard let context else { preconditionFailure("SQLite lost the context of a hook.") }
  return Unmanaged<ConnectionHooks>.fromOpaque(context).takeUnretainedValue()
}

extension ConnectionHooks.ProgramStart {
  /// - Parameters:
  ///   - statement: The running statement.
  ///   - text: Its own SQL, or a comment with the trigger's name.
  fileprivate init(statement: UnsafeMutableRawPointer?, text: UnsafeMutableRawPointer?) {
    guard let statement, let text else {
      self = .statement
      return
    }
    let characters = UnsafePointer(text.assumingMemoryBound(to: CChar.self))
    // The statement's own text may start with a comment too, so compare places, not content.
    guard characters != sqlite3_sql(OpaquePointer(statement)) else {
      self = .statement
      return
    }
    let comment = String(cString: characters)
    let mark = "-- TRIGGER "
    self = comment.hasPrefix(mark) ? .trigger(String(comment.dropFirst(mark.count))) : .step
  }
}

/// A row about to be inserted, updated or deleted, lent during the preupdate hook.
struct PreupdateRow: ~Copyable {
  enum Operation { case insert, update, delete }

  let database: OpaquePointer
  fileprivate let code: Int32
  /// The table's name; the pointer is stable while the schema is.
  let table: UnsafePointer<CChar>
  /// The rowid before the change. Meaningless for WITHOUT ROWID tables and inserts.
  let oldRowID: Int64
  /// The rowid after the change. Meaningless for WITHOUT ROWID tables and deletes.
  let newRowID: Int64

  fileprivate init(
    database: OpaquePointer, operation: Int32, table: UnsafePointer<CChar>, oldRowID: Int64,
    newRowID: Int64
  ) {
    self.database = database
    code = operation
    self.table = table
    self.oldRowID = oldRowID
    self.newRowID = newRowID
  }

  var operation: Operation {
    switch code {
    case SQLITE_INSERT: .insert
    case SQLITE_DELETE: .delete
    default: .update
    }
  }

  /// 0 for a statement's own change, 1 or more inside triggers and foreign-key actions.
  var depth: Int { Int(sqlite3_preupdate_depth(database)) }

  /// The stored value before the change. `index` counts stored columns only.
  func old(at index: Int) throws(ColumnError) -> SQLValue {
    var value: OpaquePointer?
    return try read(sqlite3_preupdate_old(database, Int32(index), &value), value, index)
  }

  /// The stored value after the change, before column affinity is applied.
  func new(at index: Int) throws(ColumnError) -> SQLValue {
    var value: OpaquePointer?
    return try read(sqlite3_preupdate_new(database, Int32(index), &value), value, index)
  }

  private func read(
    _ code: Int32, _ value: OpaquePointer?, _ index: Int
  ) throws(ColumnError) -> SQLValue {
    guard code == SQLITE_OK, let value else {
      throw ColumnError(column: index, problem: .unrepresentable("SQLite gave no value (\(code))"))
    }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      guard let text = sqlite3_value_text(value) else { return .text("") }
      let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
      guard let string = String(exactUTF8: bytes) else {
        throw ColumnError(column: index, problem: .invalidUTF8)
      }
      return .text(string)
    case SQLITE_BLOB:
      return .blob(
        [UInt8](
          UnsafeRawBufferPointer(
            start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))))
    default: return .null
    }
  }
}
