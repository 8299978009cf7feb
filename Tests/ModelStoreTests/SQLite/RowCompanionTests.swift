import Testing

@testable import ModelStore

/// Rows whose cells are found by their distance equal rows whose cells are asked for one by one.
@Suite(.tags(.unit)) struct RowCompanionTests {
  private let scratch: ScratchDatabase

  init() throws {
    scratch = try ScratchDatabase(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT, c REAL, d BLOB);
      INSERT INTO t VALUES (1, 7, 'seven', 7.5, x'07'), (2, NULL, '', -0.0, x''),
        (3, 'text', 'a longer text than the others', 1e300, zeroblob(40)), (4, 2.5, NULL, NULL, NULL);
      CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
      INSERT INTO w VALUES ('one', 1), ('two', 'zwei');
      """)
  }

  /// Each has rows that SQLite makes in another way: from a table, an index, constants, a sorter, a
  /// queue, or parts with registers of their own.
  @Test(arguments: [
    "SELECT * FROM t", "SELECT d, c, b, a, id FROM t", "SELECT id FROM t",
    "SELECT * FROM t ORDER BY b DESC", "SELECT a, count(*), max(c) FROM t GROUP BY a",
    "SELECT * FROM w", "SELECT v, k, k || v FROM w",
    "SELECT 1, 'x', 2.5 UNION ALL SELECT id, b, c FROM t UNION ALL SELECT v, k, NULL FROM w",
    "SELECT id, b FROM t UNION SELECT v, k FROM w ORDER BY 2",
    "SELECT id, b FROM t EXCEPT SELECT 1, 'seven'",
    "WITH RECURSIVE n(i, s) AS (SELECT 1, 'a' UNION ALL SELECT i + 1, s || 'b' FROM n WHERE i < 9) "
      + "SELECT i, s, i * 1.5 FROM n",
    "VALUES (1, 'a'), (2, 'b'), ('c', NULL)",
    "SELECT t.id, w.k, t.d, w.v FROM t LEFT JOIN w ON w.v = t.id",
    "INSERT INTO t(a, b) VALUES (1, 'x'), (2, 'y') RETURNING id, b, a, c",
  ])
  func everyRowIsTheSame(sql: String) throws {
    func rows(inARun: Bool) throws -> [[SQLValue]] {
      try scratch.connection.execute("SAVEPOINT s")
      var rows: [[SQLValue]] = []
      try scratch.connection.withStatement(sql) { statement in
        if inARun {
          try statement.forEachRowOfRun { row in rows.append(try row.values()) }
        } else {
          try statement.forEachRow { row in rows.append(try row.values()) }
        }
      }
      try scratch.connection.execute("ROLLBACK TO s; RELEASE s")
      return rows
    }
    let apart = try rows(inARun: false)
    #expect(apart.count > 1)
    #expect(try rows(inARun: true) == apart)
  }

  @Test func aColumnThatARowLacksIsNull() throws {
    try scratch.connection.withStatement("SELECT id, b FROM t") { statement in
      try statement.forEachRowOfRun { row in
        let areNull = [row.isNull(at: 2), row.isNull(at: -1)]
        #expect(areNull == [true, true])
      }
    }
  }
}
