internal import CSQLite
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The C callbacks of one connection, converted to Swift closures. Each trampoline recovers the
/// object, converts the arguments and calls a method. It makes no decisions.
final class ConnectionHooks {
  private let database: OpaquePointer
  private let busyTimeout: Duration
  private let stopRequest: StopRequest?
  /// The request of the call that uses the connection now.
  private var callRequest: StopRequest?
  /// Whether the running body is to stop; see ``Connection/interrupt()``. Any thread may use it.
  let interrupted = Atomic<Bool>(false)
  /// Whether ``interrupted`` may stop the running statement; nil while it stops none by itself.
  private var mayInterrupt: (() -> Bool)?
  private var busySince: ContinuousClock.Instant?
  /// How long the latest wait for a lock took so far.
  private(set) var waited = Duration.zero
  private var mayWait = true
  private var mayStop = true
  /// Whether the first check of ``limited(toSteps:_:)`` has happened.
  private var isPastFirstCheck = false
  /// Whether all waits for locks share one timeout, which began at the first refusal.
  private var waitsOnce = false
  private var rowChanged: ((borrowing PreupdateRow) -> Void)?
  private var everyRow: ((borrowing PreupdateRow) -> Void)?
  private var programStarted: ((ProgramStart) -> Void)?
  private var statementEnded: ((UnsafePointer<CChar>, Duration) -> Void)?
  private var sourceRead: ((RowSource) -> Void)?
  /// The name prefix of triggers whose queries are compiled to nothing.
  private var leftOutPrefix: String?
  /// Whether the trigger with that name is compiled as if it read only NULLs; nil if none is.
  private var isBlind: ((String) -> Bool)?
  /// Whether statements are refused while they are compiled; nil while none is.
  private var isRefused: (() -> Bool)?
  /// The number of frames in the WAL after this connection's latest commit.
  private(set) var walFrameCount = 0

  init(database: OpaquePointer, busyTimeout: Duration, stopRequest: StopRequest? = nil) {
    self.database = database
    self.busyTimeout = busyTimeout
    self.stopRequest = stopRequest
    sqlite3_busy_handler(
      database, { context, count in hooks(context).waitForLock(attempt: Int(count)) ? 1 : 0 },
      context)
    installStopCheck()
  }

  /// Whether the program, or the task that waits for the call, wants its work to end.
  var isStopRequested: Bool {
    stopRequest?.isMade() == true || callRequest?.isMade() == true
  }

  /// Stops running statements from now on if the program requests it. Call it again after another
  /// progress handler was set, because there is only one slot:
  /// <https://sqlite.org/c3ref/progress_handler.html>.
  func installStopCheck() {
    guard stopRequest != nil || callRequest != nil || mayInterrupt != nil else {
      sqlite3_progress_handler(database, 0, nil, nil)
      return
    }
    sqlite3_progress_handler(
      database, Self.stepsBetweenChecks,
      { context in
        let hooks = hooks(context)
        return hooks.mayStop && (hooks.isStopRequested || hooks.isInterruptionDue) ? 1 : 0
      }, context)
  }

  private var isInterruptionDue: Bool {
    interrupted.load(ordering: .relaxed) && mayInterrupt?() == true
  }

  /// Runs `body`. Its statements stop once ``interrupted`` is set and `mayInterrupt` returns true.
  func stopping<Result>(
    _ body: () throws -> Result, when mayInterrupt: @escaping () -> Bool
  ) rethrows -> Result {
    let before = self.mayInterrupt
    self.mayInterrupt = mayInterrupt
    installStopCheck()
    defer {
      self.mayInterrupt = before
      installStopCheck()
    }
    return try body()
  }

  /// Runs `body`, which `request` can stop too.
  func withStopRequest<Result>(_ request: StopRequest, in body: () throws -> Result) rethrows
    -> Result
  {
    let before = callRequest
    callRequest = request
    installStopCheck()
    defer {
      callRequest = before
      installStopCheck()
    }
    return try body()
  }

  /// Runs `body`, which runs one statement. It stops after `stepCount` to twice as many steps of
  /// SQLite's virtual machine, which count over all runs of a cached statement. Nothing else stops
  /// it.
  func limited<Result>(
    toSteps stepCount: Int32, _ body: () throws -> Result
  ) rethrows -> Result {
    isPastFirstCheck = false
    sqlite3_progress_handler(
      database, stepCount,
      { context in
        let hooks = hooks(context)
        defer { hooks.isPastFirstCheck = true }
        return hooks.isPastFirstCheck ? 1 : 0
      }, context)
    defer { installStopCheck() }
    return try body()
  }

  /// In steps of SQLite's virtual machine.
  private static let stepsBetweenChecks: Int32 = 1000

  /// Runs `body`, which begins or ends a transaction, to its end despite a stop request.
  ///
  /// SQLite counts the steps of a cached statement over all its runs, so even a short statement may
  /// be stopped. A stopped COMMIT may still have taken effect. Calls may be nested.
  func withoutStopping<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = mayStop
    mayStop = false
    defer { mayStop = before }
    return try body()
  }

  /// Lets a stop request stop statements, or not, until the next call.
  ///
  /// ``withoutStopping(_:)`` is better where one function begins and ends what must not be stopped.
  func setStops(_ stops: Stops) { mayStop = stops == .allowed }

  enum Stops { case allowed, refused }

  /// Keeps ``walFrameCount`` up to date from now on. Call it after the last `PRAGMA
  /// wal_autocheckpoint`, which removes the hook:
  /// <https://sqlite.org/c3ref/wal_autocheckpoint.html>.
  func countWALFrames() {
    sqlite3_wal_hook(
      database,
      { context, _, _, frames in
        hooks(context).walFrameCount = Int(frames)
        return SQLITE_OK
      }, context)
    onRowChange(nil)
  }

  private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Reports every row before it changes, or stops doing so.
  ///
  /// See <https://sqlite.org/c3ref/preupdate_blobwrite.html>. The session extension takes the same slot.
  func onRowChange(_ report: ((borrowing PreupdateRow) -> Void)?) {
    rowChanged = report
    installRowHook()
  }

  /// Reports every row before it changes to a second receiver, or stops doing so.
  func onEveryRow(_ report: ((borrowing PreupdateRow) -> Void)?) {
    everyRow = report
    installRowHook()
  }

  private func installRowHook() {
    guard rowChanged != nil || everyRow != nil else {
      // SQLite checks for a hook when it compiles a statement. Without a hook, a DELETE of every
      // row becomes a truncation that later hooks do not receive. So there is always a hook.
      // https://sqlite.org/lang_delete.html#the_truncate_optimization
      sqlite3_preupdate_hook(database, { _, _, _, _, _, _, _ in }, nil)
      return
    }
    sqlite3_preupdate_hook(
      database,
      { context, database, operation, schema, table, oldRowID, newRowID in
        guard let database, let schema, let table else { return }
        let hooks = hooks(context)
        let row = PreupdateRow(
          database: database, operation: .init(code: operation), schema: schema, table: table,
          oldRowID: oldRowID, newRowID: newRowID)
        hooks.rowChanged?(row)
        hooks.everyRow?(row)
      }, context)
  }

  /// A program that SQLite is about to run.
  enum ProgramStart {
    /// The statement with that number, or a foreign key's action inside it. SQLite reports both in
    /// the same way. A statement keeps its number while it is cached.
    case statement(Int)
    /// A trigger's program.
    case trigger(String)
    /// A statement of a trigger's program.
    case step
  }

  /// Reports the start of each statement and each trigger. Inside a statement, SQLite reports a
  /// trigger by the comment `-- TRIGGER name`, and each of its steps by a comment with its text:
  /// <https://sqlite.org/c3ref/c_trace.html>.
  func onProgramStart(_ report: ((ProgramStart) -> Void)?) {
    programStarted = report
    installTrace()
  }

  /// Reports the text and the duration of each statement that ends, in milliseconds of SQLite's
  /// clock, or stops doing so.
  func onStatementEnd(
    _ report: ((_ sql: UnsafePointer<CChar>, _ duration: Duration) -> Void)?
  ) {
    statementEnded = report
    installTrace()
  }

  /// SQLite has one slot for all kinds of traces.
  private func installTrace() {
    let start = programStarted == nil ? 0 : SQLITE_TRACE_STMT
    let end = statementEnded == nil ? 0 : SQLITE_TRACE_PROFILE
    guard start | end != 0 else {
      sqlite3_trace_v2(database, 0, nil, nil)
      return
    }
    sqlite3_trace_v2(
      database, UInt32(start | end),
      { kind, context, statement, detail in
        hooks(context).note(kind, of: statement, detail)
        return 0
      }, context)
  }

  private func note(
    _ kind: UInt32, of statement: UnsafeMutableRawPointer?, _ detail: UnsafeMutableRawPointer?
  ) {
    guard kind == SQLITE_TRACE_PROFILE else {
      programStarted?(ProgramStart(statement: statement, text: detail))
      return
    }
    guard let statement, let detail, let sql = sqlite3_sql(OpaquePointer(statement)) else { return }
    statementEnded?(
      sql, .nanoseconds(detail.assumingMemoryBound(to: Int64.self).pointee))
  }

  /// Runs `body` and reports every source whose rows a statement compiled in it can read:
  /// <https://sqlite.org/c3ref/set_authorizer.html>. SQLite recompiles every statement of the
  /// connection afterwards.
  func noticingSources<Result>(
    in body: () throws -> Result, report: @escaping (RowSource) -> Void
  ) rethrows -> Result {
    sourceRead = report
    sqlite3_set_authorizer(
      database,
      { context, action, name, _, schema, _ in
        hooks(context).note(
          action, on: name.map { String(cString: $0) }, in: schema.map { String(cString: $0) })
        return SQLITE_OK
      }, context)
    defer {
      installBlindness()
      sourceRead = nil
    }
    return try body()
  }

  private func note(_ action: Int32, on name: String?, in database: String?) {
    guard action == SQLITE_READ, let name else { return }
    sourceRead?(RowSource(name: name, database: database))
  }

  /// Runs `body`. Statements compiled in it omit the queries of triggers whose names begin with
  /// `prefix`: these triggers fire, but query nothing.
  func leavingOutQueries<Result: ~Copyable, Failure: Error>(
    ofTriggersNamed prefix: String, in body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    leftOutPrefix = prefix
    // Installing an authorizer again would make SQLite compile the statements of `body` again.
    let isInstalled = isBlind != nil
    if !isInstalled { installLeavingOut() }
    defer {
      if !isInstalled { sqlite3_set_authorizer(database, nil, nil) }
      leftOutPrefix = nil
    }
    return try body()
  }

  /// Compiles the statements of this connection from now on as if the triggers for which `isBlind`
  /// is true read only NULLs and inserted nothing. So conditions that compare are not met in them,
  /// and SQLite does not open what they would read:
  /// <https://sqlite.org/c3ref/c_deny.html>.
  func blindTriggers(where isBlind: @escaping (String) -> Bool) {
    self.isBlind = isBlind
    installBlindness()
  }

  /// Sets the authorizer that stays while no other one is needed.
  private func installBlindness() {
    guard isBlind != nil else {
      sqlite3_set_authorizer(database, nil, nil)
      return
    }
    installLeavingOut()
  }

  private func installLeavingOut() {
    sqlite3_set_authorizer(
      database,
      { context, action, _, _, _, trigger in
        guard let trigger else { return SQLITE_OK }
        return hooks(context).leavesOut(action, of: trigger) ? SQLITE_IGNORE : SQLITE_OK
      }, context)
  }

  private func leavesOut(_ action: Int32, of trigger: UnsafePointer<CChar>) -> Bool {
    switch action {
    // SQLite compiles an ignored query to nothing, and a trigger step without a result is not an
    // error: https://sqlite.org/c3ref/set_authorizer.html
    case SQLITE_SELECT: leftOutPrefix.map(String(cString: trigger).hasPrefix) ?? false
    case SQLITE_READ, SQLITE_INSERT: isBlind?(String(cString: trigger)) ?? false
    default: false
    }
  }

  /// Runs `body`. Each statement that is compiled in it while `isRefused` returns true fails with
  /// SQLite's code for a missing authorization.
  func refusingStatements<Result>(
    when isRefused: @escaping () -> Bool, in body: () throws -> Result
  ) rethrows -> Result {
    self.isRefused = isRefused
    sqlite3_set_authorizer(
      database,
      { context, _, _, _, _, _ in hooks(context).isRefused?() == true ? SQLITE_DENY : SQLITE_OK },
      context)
    defer {
      installBlindness()
      self.isRefused = nil
    }
    return try body()
  }

  /// Runs `body`, which may set its own callback. The current callback is suspended, and is
  /// restored afterwards.
  func lent<Result>(to body: () throws -> Result) rethrows -> Result {
    let (row, program) = (rowChanged, programStarted)
    defer {
      onRowChange(row)
      onProgramStart(program)
    }
    return try body()
  }

  func removeAll() {
    isBlind = nil
    installBlindness()
    sqlite3_preupdate_hook(database, nil, nil)
    onProgramStart(nil)
    onStatementEnd(nil)
    sqlite3_wal_hook(database, nil, nil)
    sqlite3_busy_handler(database, nil, nil)
    sqlite3_progress_handler(database, 0, nil, nil)
  }

  /// Runs `body` without waiting for locks: a lock that another process holds causes an error at
  /// once.
  func withoutWaiting<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    mayWait = false
    defer { mayWait = true }
    return try body()
  }

  /// Runs `body` again while another connection blocks it, until the busy timeout. It is for
  /// operations that SQLite refuses without the busy handler, because waiting could cause a
  /// deadlock.
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

  /// Runs `body` with one busy timeout for all of its locks.
  ///
  /// Otherwise each statement that SQLite begins would wait for the full timeout.
  func waitingOnce<Result>(_ body: () throws -> Result) rethrows -> Result {
    busySince = nil
    waited = .zero
    waitsOnce = true
    defer { waitsOnce = false }
    return try body()
  }

  /// Sleeps a little longer each time, with jitter so that waiting processes do not retry in step.
  ///
  /// - Parameter attempt: The number of earlier refusals since the first try.
  /// - Returns: Whether to try again.
  func waitForLock(attempt: Int) -> Bool {
    let now = ContinuousClock.now
    if busySince == nil || attempt == 0 && !waitsOnce { busySince = now }
    waited = busySince.map { $0.duration(to: now) } ?? .zero
    guard mayWait, !isStopRequested, !(mayStop && interrupted.load(ordering: .relaxed)),
      waited < busyTimeout
    else { return false }
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
      self = .statement(Int(bitPattern: statement))
      return
    }
    let characters = UnsafePointer(text.assumingMemoryBound(to: CChar.self))
    // The statement's own text may start with a comment too, so this compares addresses, not
    // content.
    guard characters != sqlite3_sql(OpaquePointer(statement)) else {
      self = .statement(Int(bitPattern: statement))
      return
    }
    let comment = String(cString: characters)
    let mark = "-- TRIGGER "
    self = comment.hasPrefix(mark) ? .trigger(String(comment.dropFirst(mark.count))) : .step
  }
}
