internal import RawSQLite

/// A `sqlite3*` with as little around it as Swift allows. Hot loops call the C functions on
/// ``handle`` and on ``RawStatement/handle`` directly.
final class RawConnection {
  let handle: OpaquePointer

  init(path: String, synchronous: DurabilityPolicy.Synchronous) throws {
    // Only one thread uses the connection, so its mutex is left out, which is the fastest way.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw BenchmarkFailure("Cannot open \(path): SQLite code \(code).")
    }
    handle = opened
    // As the other contenders do: a reader may have to wait a moment for the end of a commit.
    sqlite3_busy_timeout(handle, 60_000)
    for statement in DurabilityPolicy(synchronous: synchronous).statements {
      try execute(statement)
    }
  }

  /// Adopts an open connection.
  private init(handle: OpaquePointer) {
    self.handle = handle
  }

  /// Opens a file with SQLite's defaults, to check what a program left there.
  static func opened(asFound path: String) throws -> RawConnection {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw BenchmarkFailure("Cannot open \(path): SQLite code \(code).")
    }
    return RawConnection(handle: opened)
  }

  deinit {
    sqlite3_close_v2(handle)
  }

  func execute(_ sql: String) throws {
    try check(sqlite3_exec(handle, sql, nil, nil, nil))
  }

  func prepare(_ sql: String) throws -> RawStatement {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    try check(sqlite3_prepare_v3(handle, sql, -1, flags, &prepared, nil))
    guard let prepared else { throw BenchmarkFailure("No statement in: \(sql)") }
    return RawStatement(handle: prepared)
  }

  /// Steps a statement that returns no rows, and resets it.
  @inline(__always)
  func run(_ statement: RawStatement) throws {
    let code = sqlite3_step(statement.handle)
    guard code == SQLITE_DONE else { throw failure(code) }
    sqlite3_reset(statement.handle)
  }

  @inline(__always)
  func check(_ code: Int32, is expected: Int32 = SQLITE_OK) throws {
    guard code == expected else { throw failure(code) }
  }

  func failure(_ code: Int32) -> BenchmarkFailure {
    BenchmarkFailure("SQLite code \(code): \(String(cString: sqlite3_errmsg(handle)))")
  }

  func integer(_ sql: String) throws -> Int64 {
    let statement = try prepare(sql)
    try check(sqlite3_step(statement.handle), is: SQLITE_ROW)
    return sqlite3_column_int64(statement.handle, 0)
  }

  /// Returns the first column of the first row of `sql`.
  func text(_ sql: String) throws -> String {
    let statement = try prepare(sql)
    try check(sqlite3_step(statement.handle), is: SQLITE_ROW)
    return statement.text(0)
  }

  /// Returns a number that changes when a row of `sql`, which has one column of text, does.
  func textDigest(_ sql: String) throws -> Int64 {
    try prepare(sql).all(self) { $0.text(0) }.reduce(17) { sum, row in
      row.utf8.reduce(sum &* 31) { $0 &* 31 &+ Int64($1) }
    }
  }

  /// Returns the settings of ``DurabilityPolicy`` as read back from this connection.
  func policy() throws -> [String: String] {
    var values: [String: String] = [:]
    for (name, _) in DurabilityPolicy(synchronous: .full).pragmas {
      let statement = try prepare("PRAGMA \(name)")
      try check(sqlite3_step(statement.handle), is: SQLITE_ROW)
      values[name] = statement.text(0)
    }
    return values
  }

  /// Empties the WAL, so that no run pays for the pages of the previous run.
  func checkpoint() throws {
    try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
  }

  /// Inserts `tracks` in one transaction.
  func insert(_ tracks: [Track]) throws {
    try execute("BEGIN IMMEDIATE")
    let insert = try prepare(Track.insert)
    for track in tracks {
      sqlite3_bind_int64(insert.handle, 1, track.id)
      sqlite3_bind_int64(insert.handle, 3, track.milliseconds)
      sqlite3_bind_double(insert.handle, 4, track.rating)
      try insert.lend(track.title, at: 2) { try run(insert) }
    }
    try execute("COMMIT")
  }

  /// Creates a file with `tracks` in it for a contender to open.
  static func createTracks(_ tracks: [Track], at path: String) throws {
    let connection = try RawConnection(path: path, synchronous: .normal)
    try connection.execute(Track.createTable)
    try connection.insert(tracks)
    try connection.checkpoint()
  }

  /// Creates a file with `count` records of ten integers in it for a contender to open.
  static func createItems(_ count: Int, at path: String) throws {
    let connection = try RawConnection(path: path, synchronous: .normal)
    try connection.execute(TenIntegers.createTable)
    try connection.execute("BEGIN IMMEDIATE")
    let insert = try connection.prepare(TenIntegers.insert)
    for index in 1...count {
      for (column, value) in TenIntegers.values(at: index).enumerated() {
        sqlite3_bind_int64(insert.handle, Int32(column + 1), value)
      }
      try connection.run(insert)
    }
    try connection.execute("COMMIT")
    try connection.checkpoint()
  }
}
