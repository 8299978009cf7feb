import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct StatementTests {
  @Test(arguments: [
    ("", "The text holds no SQL statement."),
    ("  -- nothing\n ", "The text holds no SQL statement."),
    ("SELECT 1; SELECT 2", "The text holds more than one SQL statement."),
    ("SELECT 1\0; DROP TABLE t", "The text holds more than one SQL statement."),
    ("SELECT 1; -- one\n SELECT 2", "The text holds more than one SQL statement."),
    ("SELECT 1; /* one */ SELECT 2", "The text holds more than one SQL statement."),
  ])
  func onlyOneStatementIsAccepted(sql: String, message: String) throws {
    let scratch = try ScratchDatabase()
    let error = thrownError { try scratch.connection.run(SQLText(sql: sql)) } as? SQLiteError
    #expect(error?.message == message)
    #expect(error?.code == .misuse)
  }

  @Test func aTrailingSemicolonIsNotASecondStatement() throws {
    let scratch = try ScratchDatabase()
    #expect(
      try scratch.connection.firstRow(SQLText(sql: "SELECT 7 ; \n")) { try $0.integer(at: 0) } == 7)
  }

  @Test(arguments: ["SELECT 7 -- seven", "SELECT 7; -- seven", "SELECT 7; /* seven */ -- 7\n ;"])
  func aTrailingCommentIsNotASecondStatement(sql: String) throws {
    let scratch = try ScratchDatabase()
    #expect(try scratch.connection.firstRow(SQLText(sql: sql)) { try $0.integer(at: 0) } == 7)
  }

  @Test func textsThatDifferInBytesAreDifferentStatements() throws {
    let scratch = try ScratchDatabase()
    let texts = ["SELECT hex('\u{E9}')", "SELECT hex('e\u{301}')"].map { SQLText(sql: $0) }
    #expect(texts[0].sql == texts[1].sql)
    #expect(texts[0] != texts[1])
    #expect(
      try (texts + texts).map { text in
        try scratch.connection.firstRow(text) { try $0.text(at: 0) }
      } == ["C3A9", "65CC81", "C3A9", "65CC81"])
  }

  @Test func aScriptWithNULIsRefusedAsAWhole() throws {
    let scratch = try ScratchDatabase()
    let error = thrownError {
      try scratch.connection.execute("CREATE TABLE a(x);\0CREATE TABLE b(x)")
    }
    #expect((error as? SQLiteError)?.code == .misuse)
    #expect(
      try scratch.connection.rows("SELECT name FROM sqlite_schema") { try $0.text(at: 0) } == [])
  }

  @Test(arguments: [[], [.integer(1)], [.integer(1), .null, .null]] as [[SQLValue]])
  func theNumberOfArgumentsMustMatch(arguments: [SQLValue]) throws {
    let scratch = try ScratchDatabase()
    let text = SQLText(sql: "SELECT ?, ?", arguments: arguments)
    let error = thrownError { try scratch.connection.run(text) } as? SQLiteError
    #expect(error?.message == "The statement takes 2 arguments; got \(arguments.count).")
  }

  @Test func aFailedStepLeavesTheStatementReadyForUse() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(x UNIQUE)")
    let insert = "INSERT INTO t VALUES (?)"
    try scratch.connection.run(SQLText(sql: insert, arguments: [.integer(1)]))
    let prepared = scratch.connection.preparedCount
    let error = thrownError {
      try scratch.connection.run(SQLText(sql: insert, arguments: [.integer(1)]))
    }
    #expect((error as? SQLiteError)?.code == .constraintUnique)
    try scratch.connection.run(SQLText(sql: insert, arguments: [.integer(2)]))
    #expect(scratch.connection.preparedCount == prepared)
    #expect(
      try scratch.connection.rows("SELECT x FROM t ORDER BY x") { try $0.integer(at: 0) } == [1, 2])
  }

  @Test func aStatementUsedInsideItselfIsPreparedTwice() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)")
    let sql: SQLText = "SELECT x FROM t ORDER BY x"
    let before = scratch.connection.preparedCount
    let pairs = try scratch.connection.rows(sql) { outer in
      let number = try outer.integer(at: 0)
      return try scratch.connection.rows(sql) { inner in number * 10 + (try inner.integer(at: 0)) }
    }
    #expect(pairs == [[11, 12, 13], [21, 22, 23], [31, 32, 33]])
    #expect(scratch.connection.preparedCount == before + 2)
    _ = try scratch.connection.rows(sql) { try $0.integer(at: 0) }
    #expect(scratch.connection.preparedCount == before + 2)
  }

  /// The cache compares where texts are in memory first. Few bytes are in the text itself.
  @Test(arguments: [("SELECT 1", "SELECT 2"), ("SELECT 1234567890", "SELECT 1234567891")])
  func equalTextsShareAStatementAndOthersDoNot(_ first: String, _ second: String) throws {
    let scratch = try ScratchDatabase()
    func number(_ sql: String) throws -> String {
      try scratch.connection.withStatement(sql) { statement in
        _ = try statement.step()
        return "SELECT \(try RowView(statement: statement.handle).integer(at: 0))"
      }
    }
    let before = scratch.connection.preparedCount
    for _ in 0..<3 {
      for sql in [first, second] {
        #expect(try number(sql) == sql)
        #expect(try number(String(sql.reversed().reversed())) == sql)
      }
    }
    #expect(scratch.connection.preparedCount == before + 2)
  }

  @Test func theCacheIsBoundedAndKeepsTheLatestStatements() throws {
    let scratch = try ScratchDatabase(cacheCapacity: 4)
    func run(_ number: Int) throws { try scratch.connection.run(SQLText(sql: "SELECT \(number)")) }
    for number in 0..<100 { try run(number) }
    let before = scratch.connection.preparedCount
    for number in 96..<100 { try run(number) }
    #expect(scratch.connection.preparedCount == before)
    try run(0)
    #expect(scratch.connection.preparedCount == before + 1)
    #expect(scratch.connection.idleStatementCount <= 4)
  }

  @Test func bindingsDoNotOutliveTheirUse() throws {
    let scratch = try ScratchDatabase()
    let sql = "SELECT ?"
    try scratch.connection.run(SQLText(sql: sql, arguments: [.text("kept?")]))
    let value = try scratch.connection.withStatement(sql) { statement in
      _ = try statement.step()
      return try RowView(statement: statement.handle).value(at: 0)
    }
    #expect(value == .null)
  }

  @Test func anEndedTransactionIsSeenAsSQLiteSeesIt() throws {
    let scratch = try ScratchDatabase(
      """
      CREATE TABLE t(x);
      CREATE TRIGGER stop BEFORE INSERT ON t WHEN NEW.x = 0 BEGIN SELECT RAISE(ROLLBACK, 'no'); END
      """)
    try scratch.connection.execute("BEGIN IMMEDIATE")
    #expect(scratch.connection.isInTransaction)
    #expect(thrownError { try scratch.connection.run("INSERT INTO t VALUES (0)") } != nil)
    #expect(!scratch.connection.isInTransaction)
    try scratch.connection.rollBack()
  }
}
