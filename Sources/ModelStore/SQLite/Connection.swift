internal import CSQLite
internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// One connection to a store's file, with the store's policy applied at once.
///
/// Not Sendable: the code that holds the lock around it (``Writer``, ``ReaderPool``) owns it. It is
/// not a pool and not a transaction: it runs single statements.
final class Connection {
  enum Role {
    /// Reads and writes.
    case writer
    /// Reads only, enforced by `query_only`. Shares the WAL with the writer.
    case reader
    /// Opens a file that must not be changed at all, not even its `-shm` file.
    case readOnlyFile
    /// Reads a file on a disk without space for a `-shm` file. It stores the WAL index in memory
    /// and locks other programs out of the file. <https://sqlite.org/vfs.html#standard_unix_vfses>
    case soleReader
    /// Copies WAL frames into the database, and nothing else.
    case checkpointer
    /// Writes what another member of a shared store committed: it runs no trigger and enforces no
    /// foreign key.
    case applier
    /// Writes a new file that no other program knows, or reads it. It takes no locks, because a
    /// network file system may have none, and does not wait for the disk.
    case copy
  }

  struct Policy: Sendable {
    var durability: StoreConfiguration.Durability
    var busyTimeout: Duration
    var cacheSize: Int
    var statementCacheCapacity: Int
    /// In bytes; limited by SQLite's own limit.
    var maxValueSize = Int.max
    var fileSystem: String?
    var functions: Set<SQLFunction> = []
    var stopRequest: StopRequest?
  }

  /// The statements of a model, in one version of the schema.
  struct LatestStatements {
    let model: ObjectIdentifier
    let schemaNumber: UInt64
    let statements: AnyObject
  }

  let handle: OpaquePointer
  /// The path of the file when the connection was opened.
  let path: String
  let role: Role
  let hooks: ConnectionHooks
  // The cache calls no code that could use it again, and the check takes a tenth of a short read.
  @exclusivity(unchecked) private var statements: StatementCache
  static var libraryVersion: String { String(cString: sqlite3_libversion()) }
  /// A statement of ``holdingSQL`` that has not reached its end.
  private var holder: OpaquePointer?
  /// Whether the file is known to have a write-ahead log, and so a lock for checkpoints.
  private(set) var hasLog = false
  private var holdsCheckpointLock = false
  /// The state before the running transaction for its link; nil if it writes no link.
  var logStart: LogStart?
  /// Whether the database is known to have a link to a log.
  var isLinked = false
  /// Whether this connection has compiled a text outside the cache that may have deferred foreign
  /// keys.
  private var mayDeferOutsideCache = false
  private let processID = getpid()
  /// The texts of the arguments of the running insertion.
  private(set) lazy var argumentRoom = ArgumentRoom()
  /// Where a decoder of rows waits for the next row.
  let rowCompanion = RowCompanion(isOfRun: false)
  /// The statements of the model that was used last, for a program that uses it again. It is only
  /// read and set as a whole, so accesses need no check.
  @exclusivity(unchecked) var latestStatements: LatestStatements?

  /// Opens `path`, which must exist. ``DatabaseFile`` creates files safely.
  init(path: String, role: Role, policy: Policy) throws(SQLiteError) {
    var opened: OpaquePointer?
    let access = role == .readOnlyFile ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    // NOMUTEX: the owner's lock already serialises every call. NOFOLLOW: another user's symbolic
    // link must not redirect the store.
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let fileSystem =
      switch role {
      case .soleReader: "unix-excl"
      case .copy: "unix-none"
      default: policy.fileSystem
      }
    let code = sqlite3_open_v2(path, &opened, flags, fileSystem)
    guard code == SQLITE_OK, let opened else {
      let error = SQLiteError(code: code, database: opened)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    self.path = path
    self.role = role
    readsWithoutWaiting = CachedFileReads.canLimit(opened)
    hooks = ConnectionHooks(
      database: opened, busyTimeout: policy.busyTimeout, stopRequest: policy.stopRequest)
    statements = StatementCache(capacity: policy.statementCacheCapacity)
    try apply(policy)
    try register(policy.functions)
    hooks.countWALFrames()
  }

  deinit {
    // A forked child must not even close a connection of its parent:
    // https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork_
    guard getpid() == processID else { return }
    hooks.removeAll()
    releaseState()
    statements.removeAll()
    // close_v2 never fails: a live statement keeps the connection open until it ends.
    sqlite3_close_v2(handle)
  }

  private func apply(_ policy: Policy) throws(SQLiteError) {
    ConnectionSafety.apply(to: handle, maxValueSize: policy.maxValueSize)
    try execute(
      """
      PRAGMA mmap_size = 0;
      PRAGMA cell_size_check = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA recursive_triggers = ON;
      PRAGMA cache_size = -\(policy.cacheSize / 1024);
      PRAGMA secure_delete = OFF;
      """)
    switch role {
    case .writer, .checkpointer, .applier:
      // An automatic checkpoint may trigger the WAL-reset bug. The store's own checkpoints hold the
      // write lock.
      // https://sqlite.org/wal.html#walresetbug
      try execute(
        """
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = \(Self.walSizeKept);
        PRAGMA synchronous = \(policy.durability.pragma);
        """)
      guard role == .applier else { return }
      ConnectionSafety.set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, on: handle)
      ConnectionSafety.set(SQLITE_DBCONFIG_ENABLE_FKEY, 0, on: handle)
    case .reader:
      try execute("PRAGMA wal_autocheckpoint = 0; PRAGMA query_only = ON;")
    case .readOnlyFile:
      try execute("PRAGMA query_only = ON;")
    case .soleReader:
      ConnectionSafety.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, on: handle)
      try execute("PRAGMA wal_autocheckpoint = 0; PRAGMA query_only = ON;")
    case .copy:
      try execute(
        """
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA journal_mode = MEMORY;
        PRAGMA synchronous = OFF;
        """)
    }
  }

  private func register(_ functions: Set<SQLFunction>) throws(SQLiteError) {
    for function in functions {
      if let problem = function.problem { throw SQLiteError(code: .misuse, message: problem) }
      // Rules and other programs that use a built-in name expect the built-in function.
      if try hasBuiltInFunction(function.name) {
        throw SQLiteError(
          code: .misuse,
          message: "\(function.name) is a function of SQLite. Choose another name.")
      }
      try function.register(on: handle)
    }
  }

  private func hasBuiltInFunction(_ name: String) throws(SQLiteError) -> Bool {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    let sql = """
      SELECT 1 FROM pragma_function_list WHERE builtin AND lower(name) = lower('\(name)')
      """
    let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK else { throw SQLiteError(code: code, database: handle, sql: sql) }
    return sqlite3_step(statement) == SQLITE_ROW
  }

  /// The size of the WAL file that stays allocated after a burst of writes, in bytes. It does not
  /// limit the file while it is in use.
  private static let walSizeKept = 16 * 1024 * 1024

  /// Runs every statement of `script`, without arguments and without reading rows.
  func execute(_ script: String) throws(SQLiteError) {
    noteDeferral(in: script)
    // SQLite would run the text before the NUL and ignore the rest.
    guard !script.utf8.contains(0) else {
      throw SQLiteError(code: .misuse, message: "The SQL contains a NUL character", sql: script)
    }
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    guard code == SQLITE_OK else {
      Statement.countFailure()
      throw SQLiteError(code: code, database: handle, sql: script)
    }
  }

  /// Whether foreign keys may be checked at COMMIT only, because of a text that this connection has
  /// compiled: <https://sqlite.org/pragma.html#pragma_defer_foreign_keys>.
  var mayDefer: Bool { mayDeferOutsideCache || statements.mayDefer }

  /// Call it before `sql` is compiled outside the cache.
  func noteDeferral(in sql: String) {
    if Self.mayDefer(sql) { mayDeferOutsideCache = true }
  }

  /// Runs one statement to its end.
  func run(_ text: SQLText) throws {
    try withStatement(text.sql) { statement in
      try statement.bind(text)
      try statement.run()
    }
  }

  /// Returns the rows of one statement, decoded by `body`, in the statement's order.
  func rows<Row>(_ text: SQLText, _ body: (borrowing RowView) throws -> Row) throws -> [Row] {
    try withStatement(text.sql) { statement in
      try statement.bind(text)
      var rows: [Row] = []
      try statement.forEachRow { row in rows.append(try body(row)) }
      return rows
    }
  }

  /// Calls `body` with the rows of one statement, in the statement's order. It is for many rows.
  @inline(__always)
  func forEachRow(_ text: SQLText, _ body: (borrowing RowView) throws -> Void) throws {
    try withStatement(text.sql) { statement in
      try statement.bind(text)
      try statement.forEachRowOfRun(body)
    }
  }

  /// Returns the first row of one statement; nil if it has none.
  func firstRow<Row>(_ text: SQLText, _ body: (borrowing RowView) throws -> Row) throws -> Row? {
    try withStatement(text.sql) { statement in
      try statement.bind(text)
      guard try statement.step() else { return nil }
      return try body(RowView(statement: statement.handle))
    }
  }

  /// Lends a prepared statement for `sql`, which is cached afterwards.
  func withStatement<Result>(
    _ sql: String, _ body: (borrowing Statement) throws -> Result
  ) throws -> Result {
    let statement = try statements.take(sql, on: handle)
    do {
      let result = try body(statement)
      statements.put(statement, for: sql)
      return result
    } catch {
      statements.put(statement, for: sql)
      throw error
    }
  }

  /// Runs a statement that begins or ends a transaction.
  func run(_ fixed: StatementCache.Fixed) throws(SQLiteError) {
    let statement = try statements.handle(of: fixed, on: handle)
    let code = sqlite3_step(statement)
    defer { sqlite3_reset(statement) }
    guard code == SQLITE_DONE else {
      throw SQLiteError(code: code, database: handle, sql: fixed.sql)
    }
  }

  /// Whether ``withoutWaiting(_:)`` can keep its promise, as far as it is known.
  private var readsWithoutWaiting: Bool

  /// Runs `body`, which reads by one statement, without waiting for a lock or for the disk. It may
  /// read a fixed number of bytes, and run a fixed number of steps of SQLite's virtual machine.
  /// After a fixed time it begins no further row.
  ///
  /// - Throws: What `body` throws; ``SQLiteError`` of any kind where the statement would have to
  ///   wait or takes longer. No transaction is then open.
  func withoutWaiting<Result>(_ body: () throws -> Result) throws -> Result {
    guard readsWithoutWaiting else {
      throw SQLiteError(code: .misuse, message: "Reading this file may wait for the disk.")
    }
    var allowance = CachedFileReads.Allowance(
      byteCount: Self.bytesWithoutWaiting, deadline: .now() + Self.timeWithoutWaiting)
    defer { readsWithoutWaiting = allowance.isSupported }
    return try CachedFileReads.limited(to: &allowance) {
      try hooks.limited(toSteps: Self.stepsWithoutWaiting) { try hooks.withoutWaiting(body) }
    }
  }

  /// About 150 rows of five columns, which take 50 µs: as long as two thread changes.
  private static let stepsWithoutWaiting: Int32 = 1000
  /// Copying them takes about 50 µs.
  private static let bytesWithoutWaiting = 512 * 1024
  /// For rows whose decoding takes longer than SQLite does.
  private static let timeWithoutWaiting = DispatchTimeInterval.microseconds(100)

  /// Finalizes all cached statements. Needed before the file can be detached or replaced.
  func forgetStatements() {
    statements.removeAll()
  }

  var preparedCount: Int { statements.preparedCount }

  /// The number of statements that began so far, without scripts.
  var statementCount: Int { statements.takenCount }

  var idleStatementCount: Int { statements.idleCount }

  /// Whether a transaction is open, as SQLite itself reports it. A trigger's RAISE(ROLLBACK) or a
  /// full disk may end a transaction.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Whether the open transaction holds the write lock: <https://sqlite.org/c3ref/txn_state.html>.
  var isWriting: Bool { sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE }

  /// Converts the file to a write-ahead log permanently. Processes that do so at the same time
  /// block each other only briefly.
  ///
  /// - Returns: The journal mode of the file now. It is `wal` unless the location does not allow
  ///   it.
  @discardableResult
  func enterWAL() throws -> String? {
    let mode = try hooks.retryingWhileBusy {
      try firstRow("PRAGMA journal_mode = WAL") { row in try row.text(at: 0) }
    }
    hasLog = mode == "wal"
    return mode
  }

  /// Reads whether the file has a write-ahead log, for a connection that does not convert it.
  func noteLog() throws {
    hasLog = try journalMode() == "wal"
  }

  /// Begins a write transaction. If it may restart the log, blocks every checkpoint of the file
  /// until it ends.
  ///
  /// The first frame of a transaction restarts the log if all frames were already copied when the
  /// transaction began to read. In SQLite before 3.51.3, a checkpoint that began earlier then
  /// stores a wrong length, and commits are lost. Any other program may run such a checkpoint:
  /// <https://sqlite.org/wal.html#walresetbug>. If a frame is not copied now, one was not copied
  /// then, because no transaction has ended since. Then SQLite only appends, whatever a checkpoint
  /// does in the meantime, and two system calls are saved.
  ///
  /// - Throws: ``SQLiteError`` with code busy if a writer or a checkpoint of another connection
  ///   keeps its lock longer than the busy timeout.
  func beginWriting() throws {
    do {
      try beginWritingOnce()
    } catch var error as SQLiteError where error.code.primary == .busy {
      error.wait = hooks.waited
      throw error
    }
  }

  private func beginWritingOnce() throws {
    logStart = nil
    try hooks.waitingOnce {
      var attempt = 0
      while true {
        try hooks.withoutStopping { try run(.begin) }
        guard hasLog else { return }
        guard csqlite_log_is_copied(handle) != 0 else {
          return try noteLogStart(mayBeginLog: false)
        }
        let code = csqlite_checkpoint_lock(handle, 1)
        if code == SQLITE_OK {
          holdsCheckpointLock = true
          return try noteLogStart(mayBeginLog: csqlite_log_is_copied(handle) == 1)
        }
        // A checkpoint that waits for the write lock would wait for this transaction. So this
        // throws, and lets it run.
        let error = SQLiteError(
          code: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
        try rollBack()
        guard code == SQLITE_BUSY, hooks.waitForLock(attempt: attempt) else { throw error }
        attempt += 1
      }
    }
  }

  /// Allows other programs' checkpoints again, if no transaction is open.
  private func releaseCheckpointLock() {
    guard holdsCheckpointLock, !isInTransaction else { return }
    holdsCheckpointLock = false
    // A failure has no effect: closing the last descriptor also releases every lock.
    _ = csqlite_checkpoint_lock(handle, 0)
  }

  /// Commits the transaction.
  ///
  /// - Throws: ``SQLiteError``; for a failed write, with the reason from the operating system.
  func commit() throws {
    defer { releaseCheckpointLock() }
    do {
      try hooks.withoutStopping { try run(.commit) }
    } catch var error as SQLiteError {
      if error.code == .ioWrite { error.systemErrno = logErrno }
      throw error
    }
  }

  /// The system's error number of the log's latest failure; 0 without a log.
  var logErrno: Int32 { csqlite_log_errno(handle) }

  /// Rolls the transaction back. Does nothing if SQLite has already ended it.
  ///
  /// A cancelled task's interrupt may stop the ROLLBACK itself. It must then run again, or the
  /// connection would keep the write lock.
  func rollBack() throws(SQLiteError) {
    defer { releaseCheckpointLock() }
    while isInTransaction {
      let code = hooks.withoutStopping { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      guard code == SQLITE_OK || code == SQLITE_INTERRUPT else {
        throw SQLiteError(code: code, database: handle, sql: "ROLLBACK")
      }
    }
  }

  /// Runs `body`, which commits and then reads. Its reads see the state of its own commit, even if
  /// other connections commit in the meantime.
  ///
  /// A COMMIT during a running statement ends only the write. The connection continues to read the
  /// state that it has just committed. <https://sqlite.org/lang_transaction.html>
  ///
  /// - Parameter isHeld: Whether to hold the state at all.
  /// - Precondition: A transaction is open.
  func withHeldState<Result>(_ isHeld: Bool = true, _ body: () throws -> Result) throws -> Result {
    guard isHeld else { return try body() }
    try holdState()
    defer { releaseState() }
    return try body()
  }

  private func holdState() throws {
    precondition(isInTransaction && holder == nil, "One state is held, inside a transaction.")
    let statement = try statements.take(Self.holdingSQL, on: handle)
    do {
      _ = try statement.step()
    } catch {
      statements.put(statement, for: Self.holdingSQL)
      throw error
    }
    holder = statement.release()
  }

  /// Ends the held state, so that commits of other connections become visible.
  private func releaseState() {
    guard let held = holder else { return }
    holder = nil
    statements.put(Statement(adopting: held), for: Self.holdingSQL)
  }

  private static let holdingSQL = "SELECT 1 FROM sqlite_schema"

  /// Whether the file could only be opened for reading, even if writing was requested.
  var isFileReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  /// The largest text, blob or row, in bytes, that SQLite reads or writes on this connection.
  var maxValueSize: Int { Int(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)) }

  /// The most arguments of a statement.
  var argumentCountMax: Int { Int(sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)) }

  /// Returns the journal mode of the file.
  func journalMode() throws -> String? {
    try firstRow("PRAGMA journal_mode") { row in try row.text(at: 0) }
  }

  var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// The number of rows that the latest INSERT, UPDATE or DELETE changed directly, without
  /// cascades.
  var changeCount: Int { Int(sqlite3_changes64(handle)) }

  /// Whether a deferred foreign key is broken now, so that COMMIT would fail:
  /// <https://sqlite.org/c3ref/c_dbstatus_options.html>.
  var hasUnresolvedReferences: Bool {
    var current: Int32 = 0
    var highest: Int32 = 0
    let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
    precondition(code == SQLITE_OK, "SQLite does not count deferred foreign keys.")
    return current != 0
  }

  /// Returns a number that changes when another connection changes the file:
  /// <https://sqlite.org/pragma.html#pragma_data_version>.
  func dataVersion() throws -> Int64 {
    try firstRow("PRAGMA data_version") { row in try row.integer(at: 0) } ?? 0
  }

  /// A number that changes with every change of the file, including this connection's own; nil if
  /// unknown. It costs no statement. It includes what others changed before the connection last
  /// began to read.
  var contentVersion: Int64? {
    let version = csqlite_data_version(handle)
    return version < 0 ? nil : version
  }

  /// Whether the running transaction blocks the checkpoints of every program.
  var blocksCheckpoints: Bool { holdsCheckpointLock }

  /// Returns a number that changes when any connection changes the schema.
  func schemaVersion() throws -> Int64 {
    try firstRow("PRAGMA schema_version") { row in try row.integer(at: 0) } ?? 0
  }

  /// Copies as much as possible from the WAL into the database, without waiting.
  ///
  /// - Precondition: Another connection of this store holds the write lock; see ``Checkpointer``.
  func checkpointPassively() throws(SQLiteError) {
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    guard code == SQLITE_OK || code == SQLITE_BUSY else {
      throw SQLiteError(code: code, database: handle)
    }
  }

  /// Stops the running statement at its next step. This call alone is safe on any thread.
  func interrupt() {
    hooks.interrupted.store(true, ordering: .relaxed)
    sqlite3_interrupt(handle)
  }

  /// Requests the end of the running body between two statements, without stopping a statement.
  /// This call is safe on any thread.
  func requestEnd() { hooks.interrupted.store(true, ordering: .relaxed) }

  /// Whether ``interrupt()`` was called. SQLite itself forgets the call if no statement runs at
  /// that time.
  var isInterrupted: Bool { hooks.interrupted.load(ordering: .relaxed) }

  func endInterruption() {
    hooks.interrupted.store(false, ordering: .relaxed)
  }

  /// The number of rows that this connection has changed since it was opened, including cascades
  /// and triggers.
  var totalChangeCount: Int64 { sqlite3_total_changes64(handle) }
}
