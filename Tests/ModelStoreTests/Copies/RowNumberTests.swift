import Testing

@testable import ModelStore

/// Compacting never changes a row number on which something in the file depends.
@Suite(.tags(.unit)) struct RowNumberTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sql: String
  }

  /// In each file, the table `note` has rows 1 to 5 without INTEGER PRIMARY KEY.
  private static func database(_ sql: String) throws -> (TemporaryDirectory, String) {
    let directory = try TemporaryDirectory()
    let path = directory.file("notes.db")
    let database = try PlainDatabase(path)
    try database.execute("CREATE TABLE note(body TEXT, oid TEXT, place INTEGER)")
    try database.execute(sql)
    for number in 1...5 {
      try database.execute("INSERT INTO note(body) VALUES ('text \(number)')")
    }
    return (directory, path)
  }

  private static func numbers(_ path: String) throws -> [[SQLValue]] {
    try PlainDatabase(path).rows("SELECT rowid, body FROM note ORDER BY 1")
  }

  static let used = [
    Case(
      testDescription: "a full-text table that a trigger fills",
      sql: """
        CREATE VIRTUAL TABLE search USING fts5(body);
        CREATE TRIGGER fill AFTER INSERT ON note
        BEGIN INSERT INTO search(rowid, body) VALUES (new.rowid, new.body); END
        """),
    Case(
      testDescription: "a full-text table without content",
      sql: "CREATE VIRTUAL TABLE search USING fts5(body, content = '')"),
    Case(
      testDescription: "a trigger of another table",
      sql: """
        CREATE TABLE mark(id INTEGER PRIMARY KEY, note INTEGER);
        CREATE TRIGGER marked AFTER INSERT ON mark
        BEGIN UPDATE mark SET note = (SELECT max("_rowid_") FROM [Note]); END
        """),
    Case(
      testDescription: "a view", sql: "CREATE VIEW numbered AS SELECT note.RowID AS id FROM note"),
    Case(
      testDescription: "a condition of the table",
      sql: "DROP TABLE note; CREATE TABLE note(body TEXT, CHECK (rowid < 1000))"),
    Case(
      testDescription: "a trigger that keeps the number in a field",
      sql: """
        CREATE TRIGGER kept AFTER INSERT ON note
        BEGIN UPDATE note SET place = new.rowid WHERE rowid = new.rowid; END
        """),
    Case(
      testDescription: "a trigger that marks the row with its number",
      sql: """
        CREATE TRIGGER marked AFTER INSERT ON note
        BEGIN UPDATE note SET place = (rowid = new.rowid) WHERE place = new.rowid; END
        """),
    Case(
      testDescription: "a trigger that looks its number up in another table",
      sql: """
        CREATE TABLE twin(body TEXT);
        CREATE TRIGGER looked AFTER INSERT ON note
        BEGIN
          DELETE FROM note WHERE body IN (SELECT body FROM twin WHERE rowid = new.rowid);
        END
        """),
    Case(
      testDescription: "a trigger that compares numbers of two tables",
      sql: """
        CREATE TABLE twin(body TEXT);
        CREATE TRIGGER twins AFTER UPDATE ON note
        BEGIN UPDATE twin SET body = new.body WHERE rowid = new.rowid; END
        """),
  ]

  @Test(arguments: used) func usedNumbersDoNotChange(_ used: Case) throws {
    let (directory, path) = try Self.database(used.sql)
    let store = try Store(at: path)
    // Without gaps the numbers stay the same.
    let all = try Self.numbers(path)
    try store.compact()
    #expect(try Self.numbers(path) == all)
    try PlainDatabase(path).execute("DELETE FROM note WHERE rowid = 2")
    let before = try Self.numbers(path)
    let error = failure { try store.compact() }
    #expect(error?.code == .conflict && error?.message.contains("note") == true, "\(error as Any)")
    #expect(try Self.numbers(path) == before)
    withExtendedLifetime(directory) {}
  }

  static let unused = [
    Case(testDescription: "nothing", sql: ""),
    Case(
      testDescription: "a trigger that only finds its own row",
      sql: """
        CREATE TRIGGER touched AFTER UPDATE OF body ON note
        BEGIN UPDATE note SET place = 1 WHERE rowid = NEW.rowid AND OLD._rowid_ = _rowid_; END
        """),
    Case(
      testDescription: "a column that is called as the number",
      sql: "CREATE VIEW named AS SELECT oid FROM note"),
    Case(
      testDescription: "the number of another table",
      sql: """
        CREATE TABLE mark(id INTEGER PRIMARY KEY, note INTEGER);
        CREATE TRIGGER copied AFTER INSERT ON mark
        BEGIN INSERT INTO note(body) VALUES (new.rowid); END
        """),
    Case(
      testDescription: "a full-text table with its own content",
      sql: "CREATE VIRTUAL TABLE search USING fts5(body)"),
  ]

  @Test(arguments: unused) func unusedNumbersDoNotPreventCompacting(_ unused: Case) throws {
    let (directory, path) = try Self.database(unused.sql)
    try PlainDatabase(path).execute("DELETE FROM note WHERE rowid = 2")
    let store = try Store(at: path)
    try store.compact()
    #expect(
      try PlainDatabase(path).rows("SELECT body FROM note ORDER BY rowid")
        == [1, 3, 4, 5].map { [.text("text \($0)")] })
    #expect(try store.checkIntegrity() == [])
    withExtendedLifetime(directory) {}
  }

  /// As another program's commit between the check of the numbers and VACUUM.
  @Test func vacuumIsRefusedAfterACommitOfAnotherConnection() throws {
    let (directory, path) = try Self.database(Self.used[0].sql)
    let policy = StoreConfiguration().connectionPolicy
    let worker = try Connection(path: path, role: .writer, policy: policy)
    try worker.enterWAL()
    func version() throws -> Int64? {
      try worker.inOneState {
        _ = try worker.schemaVersion()
        return worker.contentVersion
      }
    }
    let checked = try version()
    try PlainDatabase(path).execute("DELETE FROM note WHERE rowid = 2")
    let before = try Self.numbers(path)
    #expect(throws: SQLiteError.self) { try worker.vacuum(content: checked) }
    #expect(try Self.numbers(path) == before)
    #expect(!worker.isInTransaction)
    try worker.vacuum(content: try version())
    #expect(try Self.numbers(path) != before)
    withExtendedLifetime(directory) {}
  }

  /// SQLite reads such a text in a file, and refuses it in a new statement.
  @Test func aTextInDoubleQuotesIsKept() throws {
    let (directory, path) = try Self.database(
      """
      CREATE TABLE choice(answer TEXT CHECK (answer IN ("yes", "no")));
      CREATE INDEX answered ON choice(answer) WHERE answer <> "no";
      INSERT INTO choice VALUES ('yes')
      """)
    let store = try Store(at: path)
    try store.compact()
    let plain = try PlainDatabase(path)
    #expect(try plain.rows("SELECT answer FROM choice") == [[.text("yes")]])
    #expect(throws: PlainDatabase.Failure.self) {
      try plain.execute("INSERT INTO choice VALUES ('maybe')")
    }
    withExtendedLifetime(directory) {}
  }
}
