import Testing

@testable import ModelStore

/// What a requested stop ends on a connection, and what it leaves alone.
@Suite(.tags(.unit)) struct StopRequestTests {
  private static func connection(_ directory: TemporaryDirectory) throws -> Connection {
    var policy = Connection.Policy.scratch()
    policy.stopRequest = StopRequest { true }
    let path = try DatabaseFile(path: directory.file("stopped.store")).path
    let connection = try Connection(path: path, role: .writer, policy: policy)
    try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(x)")
    return connection
  }

  /// SQLite counts the steps of a cached statement over all its runs. BEGIN reached the limit of
  /// 1,000 steps in its run number 200, COMMIT in its run number 1,000.
  @Test("1,200 cached BEGIN and COMMIT run to their end although a stop is requested")
  func beginAndCommitAreNotStopped() throws {
    let directory = try TemporaryDirectory()
    let connection = try Self.connection(directory)
    let other = try PlainDatabase(connection.path)
    for number in 1...1_200 {
      let error = thrownError {
        try connection.beginWriting()
        try connection.execute("INSERT INTO t VALUES (\(number))")
        try connection.commit()
      }
      try #require(error == nil && !connection.isInTransaction, "pair \(number)")
    }
    #expect(
      try other.rows("SELECT count(*), max(x) FROM t") == [[.integer(1_200), .integer(1_200)]])
  }

  /// The control: the request is asked for on this connection.
  @Test("a long statement is stopped, and the transaction around it can be ended")
  func aLongStatementIsStopped() throws {
    let directory = try TemporaryDirectory()
    let connection = try Self.connection(directory)
    try connection.beginWriting()
    let error = thrownError {
      try connection.execute(
        """
        WITH RECURSIVE i(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM i WHERE n < 100000)
        INSERT INTO t SELECT n FROM i
        """)
    }
    #expect((error as? SQLiteError)?.code.primary == .interrupted)
    try connection.rollBack()
    #expect(!connection.isInTransaction)
    #expect(try PlainDatabase(connection.path).rows("SELECT count(*) FROM t") == [[.integer(0)]])
  }

  /// BEGIN and COMMIT inside took the protection away from what followed them.
  @Test func anInnerProtectionDoesNotEndTheOuterOne() throws {
    let directory = try TemporaryDirectory()
    let connection = try Self.connection(directory)
    try connection.hooks.withoutStopping {
      try connection.beginWriting()
      try connection.commit()
      try connection.execute(
        """
        WITH RECURSIVE i(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM i WHERE n < 100000)
        INSERT INTO t SELECT n FROM i
        """)
    }
    #expect(
      try PlainDatabase(connection.path).rows("SELECT count(*) FROM t") == [[.integer(100_000)]])
  }
}
