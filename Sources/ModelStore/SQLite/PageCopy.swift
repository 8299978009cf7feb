internal import CSQLite

/// A copy of one state of a database into another database, page by page, through SQLite's backup
/// interface: <https://sqlite.org/c3ref/backup_finish.html>.
struct PageCopy {
  let source: Connection
  let target: Connection

  /// The pages that are copied between two checks for cancellation.
  static let stepPageCount: Int32 = 256

  /// Replaces the content of `target`, as one transaction of it.
  ///
  /// SQLite begins again whenever another connection changes the source between two steps. A read
  /// transaction that is open for the whole copy prevents that: every step reads its state.
  ///
  /// - Parameter onProgress: Called between two steps with the pages done and the total. It is not
  ///   called after the last step, which also commits.
  /// - Throws: ``SQLiteError``, or the error of `onProgress`; `target` is then as before.
  ///   ``ConnectionFailure`` if it is unknown whether the copy was committed.
  /// - Precondition: A read transaction that has begun to read is open on `source`, and none on
  ///   `target`.
  func run(onProgress: (_ done: Int, _ all: Int) throws -> Void) throws {
    guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
      throw SQLiteError(code: sqlite3_errcode(target.handle), database: target.handle)
    }
    var isFinished = false
    // Rolls the target back if the copy is not complete.
    defer { if !isFinished { sqlite3_backup_finish(backup) } }
    var attempt = 0
    var leftCount = Int(try source.pageCounts().all)
    while true {
      try source.checkNotStopped()
      try target.checkNotStopped()
      let code = sqlite3_backup_step(backup, Self.stepPageCount)
      guard code != SQLITE_BUSY, code != SQLITE_LOCKED else {
        guard target.hooks.waitForLock(attempt: attempt) else {
          throw SQLiteError(
            code: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
        }
        attempt += 1
        continue
      }
      guard code == SQLITE_OK else { break }
      let all = Int(sqlite3_backup_pagecount(backup))
      leftCount = Int(sqlite3_backup_remaining(backup))
      try onProgress(all - leftCount, all)
    }
    isFinished = true
    let code = sqlite3_backup_finish(backup)
    guard code == SQLITE_OK else {
      let error = SQLiteError(code: code, database: target.handle)
      // The step that copies the last page also commits. Nothing depends on an unfinished copy.
      guard leftCount <= Int(Self.stepPageCount), target.role != .copy else { throw error }
      throw target.outcome(ofFailedWork: error)
    }
  }
}

extension Connection {
  /// Throws if the program or the calling task wants the work to end.
  func checkNotStopped() throws(SQLiteError) {
    guard hooks.isStopRequested || isInterrupted else { return }
    throw SQLiteError(
      code: .interrupted, message: String(cString: sqlite3_errstr(SQLITE_INTERRUPT)))
  }

  /// Runs `body`, which ends early if the task of the current call is cancelled.
  func stoppingWithCall<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let call = StoppableCall.current else { return try body() }
    return try hooks.withStopRequest(call.request, in: body)
  }

  /// Runs `body`, during which no program can copy the log into the database.
  ///
  /// It is for work on another connection that may restart the log: see ``beginWriting()``. The
  /// lock needs a read transaction of this connection, which is open meanwhile.
  ///
  /// - Throws: The error of `body`; ``SQLiteError`` with code busy if a checkpoint keeps its lock
  ///   longer than the busy timeout.
  func blockingCheckpoints<Result>(_ body: () throws -> Result) throws -> Result {
    guard hasLog else { return try body() }
    return try inOneState {
      // The transaction begins with the first read.
      _ = try schemaVersion()
      try hooks.retryingWhileBusy {
        let code = csqlite_checkpoint_lock(handle, 1)
        guard code == SQLITE_OK else {
          throw SQLiteError(
            code: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
        }
      }
      // A failure has no effect: closing the last descriptor also releases every lock.
      defer { _ = csqlite_checkpoint_lock(handle, 0) }
      return try body()
    }
  }

  /// The pages of the database, and how many of them are free, in the state that is read.
  func pageCounts() throws -> (all: Int64, free: Int64, size: Int64) {
    func number(_ pragma: String) throws -> Int64 {
      try firstRow(SQLText(sql: "PRAGMA \(pragma)")) { try $0.integer(at: 0) } ?? 0
    }
    return (try number("page_count"), try number("freelist_count"), try number("page_size"))
  }

  /// Opens an empty database in a temporary file, which the system removes when the connection is
  /// closed or the process ends.
  static func temporary(policy: Policy) throws(SQLiteError) -> Connection {
    try Connection(path: "", role: .copy, policy: policy)
  }

  /// Rebuilds the database without free pages, in one transaction.
  ///
  /// SQLite copies the database into a temporary file and back. It opens that file as an attached
  /// database, and it must not be in memory, whatever size it has.
  ///
  /// - Parameter version: The ``contentVersion`` that the database must have. Then no other
  ///   connection has committed since.
  /// - Throws: ``SQLiteError`` with code busy if the database has another version;
  ///   ``ConnectionFailure`` if it is unknown whether VACUUM was committed.
  func vacuum(content version: Int64?) throws {
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
    defer { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }
    try execute("PRAGMA temp_store = FILE")
    do {
      // VACUUM compiles statements of its own after it has locked the database.
      try hooks.refusingStatements(
        when: { self.isWriting && self.contentVersion != version },
        // The texts of tables and indexes are compiled again.
        in: { try readingQuotedStrings { try execute("VACUUM") } })
    } catch let error as SQLiteError where error.code.primary == .authorization {
      throw SQLiteError(
        code: .busy, message: "another connection changed the database before VACUUM")
    } catch let error as SQLiteError {
      throw outcome(ofFailedWork: error)
    }
  }
}

/// The space that this user may still allocate.
enum FreeSpace {
  /// Returns the free bytes on the file system of a file's directory; nil if they are unknown.
  static func byteCount(beside path: String) -> Int64? {
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let count = csqlite_free_byte_count(directory)
    return count >= 0 ? count : nil
  }
}
