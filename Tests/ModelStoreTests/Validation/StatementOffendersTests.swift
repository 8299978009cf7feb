import Testing

@testable import ModelStore

/// Running a refused statement once more without CHECKs, to find all records that break them.
@Suite struct StatementOffendersTests {
  private static let bad: SQLText = "UPDATE Booking SET price = -1"

  @Test func nothingIsRunOnceMoreWhileAnotherStatementRuns() throws {
    let hotel = try Hotel()
    try hotel.store.write { tx in
      let alone = failure { try tx.execute(Self.bad) }
      #expect(alone?.violationCount == 3)
      try tx.forEach(Room.where { $0.id == 1 }) { _ in
        let within = failure { try tx.execute(Self.bad) }
        #expect(within?.violationCount == 1)
        #expect(within?.violations.map(\.rule) == ["Booking.price.range"])
      }
      #expect(failure { try tx.execute(Self.bad) }?.violationCount == 3)
    }
  }

  private static func table() throws -> Connection {
    let connection = try Connection(
      path: ":memory:", role: .writer, policy: StoreConfiguration().connectionPolicy)
    try connection.execute("CREATE TABLE t (n INTEGER CHECK (n > 0)); INSERT INTO t VALUES (1)")
    return connection
  }

  @Test func anInterruptLeavesChecksOnAndNothingBehind() throws {
    let connection = try Self.table()
    let bad: SQLText = "UPDATE t SET n = -1"
    try connection.execute("BEGIN")
    for _ in 1...100 {
      connection.interrupt()
      let count = try connection.rollingBack {
        connection.interrupt()
        try connection.runIgnoringChecks(bad)
        return connection.changeCount
      }
      #expect(count == 1)
      #expect(throws: SQLiteError.self) { try connection.run(bad) }
      #expect(try connection.rows("SELECT n FROM t") { try $0.integer(at: 0) } == [1])
    }
    try connection.rollBack()
  }

  @Test func whatCannotBeCompiledLeavesChecksOn() throws {
    let connection = try Self.table()
    #expect(throws: SQLiteError.self) {
      try connection.runIgnoringChecks("UPDATE nowhere SET n = 1")
    }
    #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (-1)") }
  }

  @Test func whatMayEndTheTransactionIsNotRunOnceMore() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("u.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE u (
        id INTEGER PRIMARY KEY, u INTEGER UNIQUE ON CONFLICT ROLLBACK, n INTEGER CHECK (n > 0));
      INSERT INTO u VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1);
      """)
    let store = try Store(at: path)
    try store.adopt()
    try store.write { tx in
      try tx.execute("INSERT INTO u VALUES (4, 4, 4)")
      #expect(failure { try tx.execute("UPDATE u SET n = n - 1, u = 9") }?.code == .rejected)
    }
    #expect(
      try PlainDatabase(path).rows("SELECT id FROM u WHERE n > 3") == [[.integer(4)]])
  }
}
