import Testing

@testable import ModelStore

/// Columns that SQLite's preupdate hook misreads, because their place in the table is another one
/// than in the stored row. The model leaves out the other columns, so that the hook is asked.
@Suite(.tags(.unit)) struct MisreadColumnTests {
  private static let large: Int64 = 9_007_199_254_740_993

  private struct World {
    let database: ScratchDatabase
    let before: Connection
    let schema: ModelSchema

    init(_ table: String, row: String) throws {
      database = try ScratchDatabase(
        "\(table); INSERT INTO Line (id, a, r, n) VALUES \(row)")
      before = try Connection(path: database.path, role: .reader, policy: .scratch())
      let isWithoutRowID = table.hasSuffix("WITHOUT ROWID")
      schema = ModelSchema(
        name: "Line",
        fields: ["id", "a", "n"].map { name in
          FieldSchema(name: name, type: .integer, isRowID: name == "id" && !isWithoutRowID)
        }, key: ["id"], isWithoutRowID: isWithoutRowID)
    }

    /// The old and new values of each record that a transaction changes.
    func changes(_ statements: SQLText...) throws -> Set<[[SQLValue]?]> {
      let connection = database.connection
      let facts = try CaptureFacts(reading: connection)
      let session = CaptureSession(plan: try #require(facts.plan(ofAll: [schema])))
      var changes: [RecordChange] = []
      try connection.inTransaction {
        session.start(on: connection)
        defer { session.stop(on: connection) }
        for statement in statements { try connection.run(statement) }
        changes = try session.netChanges(on: connection) { read in try read(before) }
      }
      return Set(changes.map { [$0.old, $0.new] })
    }
  }

  private static func values(_ numbers: Int64...) -> [SQLValue] { numbers.map(SQLValue.integer) }

  /// In SQLite 3.40, the hook reports `a` as the row number (first), `n` as a real (first and
  /// second), and the key as a real (third).
  @Test(arguments: [
    """
    CREATE TABLE Line (
      v AS (id * 2), id INTEGER NOT NULL PRIMARY KEY, a INTEGER NOT NULL, r REAL,
      n INTEGER NOT NULL)
    """,
    """
    CREATE TABLE Line (
      id INTEGER NOT NULL PRIMARY KEY, v AS (id * 2), r REAL, n INTEGER NOT NULL,
      a INTEGER NOT NULL)
    """,
    """
    CREATE TABLE Line (
      r REAL, a INTEGER NOT NULL, n INTEGER NOT NULL, id INTEGER NOT NULL PRIMARY KEY)
    WITHOUT ROWID
    """,
  ]) func oldAndNewValuesAreExact(table: String) throws {
    let world = try World(table, row: "(1, 10, 1, 7), (2, 20, 2, 8)")
    #expect(
      try world.changes("UPDATE Line SET a = 11 WHERE id = 1") == [
        [Self.values(1, 10, 7), Self.values(1, 11, 7)]
      ])
    #expect(
      try world.changes("UPDATE Line SET n = \(Self.large) WHERE id = 1") == [
        [Self.values(1, 11, 7), Self.values(1, 11, Self.large)]
      ])
    #expect(
      try world.changes(
        "UPDATE Line SET n = 9, r = 3 WHERE id = 1", "UPDATE Line SET id = 3 WHERE id = 2",
        "INSERT INTO Line (id, a, r, n) VALUES (4, 40, 4, 4)",
        "UPDATE Line SET a = 41 WHERE id = 4") == [
          [Self.values(1, 11, Self.large), Self.values(1, 11, 9)],
          [Self.values(2, 20, 8), nil], [nil, Self.values(3, 20, 8)],
          [nil, Self.values(4, 41, 4)],
        ])
    #expect(
      try world.changes("DELETE FROM Line WHERE id > 1") == [
        [Self.values(3, 20, 8), nil], [Self.values(4, 41, 4), nil],
      ])
  }

  /// The hook reports this key as a real, which is that of several integers.
  @Test func aKeyThatTheHookDoesNotDistinguishFailsTheWrite() throws {
    let world = try World(
      """
      CREATE TABLE Line (
        r REAL, a INTEGER NOT NULL, n INTEGER NOT NULL, id INTEGER NOT NULL PRIMARY KEY)
      WITHOUT ROWID
      """, row: "(\(Self.large), 1, 1, 1)")
    let error = #expect(throws: StoreError.self) { try world.changes("DELETE FROM Line") }
    #expect(error?.code == .invalidValue)
  }
}
