import Testing

@testable import ModelStore

/// What a transaction's statements do to rows, and what the store says of it. Each test is one
/// kind of statement; each transaction is also compared with the tables themselves.
@Suite(.tags(.law)) struct DetectionMatrixTests {
  static let plain = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
    INSERT INTO t VALUES (1, 1, 'x'), (2, 2, 'y'), (3, 3, 'z');
    """

  static let unique = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b);
    INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'y'), (3, 30, 'z');
    """

  @Test func insert() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("INSERT INTO t VALUES (4, 4.5, NULL)") == ["insert t 4 (4, 4.5, NULL) user"])
  }

  @Test func insertWithoutTheKey() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("INSERT INTO t(a) VALUES (7)") == ["insert t 4 (4, 7, NULL) user"])
  }

  @Test func updateListsTheFieldsThatDiffer() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("UPDATE t SET a = 9, b = 'x' WHERE id = 1") == ["update t 1 (a: 1 → 9 user)"]
    )
  }

  @Test func delete() throws {
    let file = try DetectionFile(Self.plain)
    #expect(try file.changes("DELETE FROM t WHERE id = 2") == ["delete t 2 (2, 2, 'y') user"])
  }

  @Test func updateOfManyRows() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("UPDATE t SET a = a * 10 WHERE id > 1") == [
        "update t 2 (a: 2 → 20 user)", "update t 3 (a: 3 → 30 user)",
      ])
  }

  @Test func updateFromAnotherTable() throws {
    let file = try DetectionFile(
      Self.plain + "CREATE TABLE s(k INTEGER PRIMARY KEY, v); INSERT INTO s VALUES (1, 5), (3, 6);")
    #expect(
      try file.changes("UPDATE t SET a = s.v FROM s WHERE s.k = t.id") == [
        "update t 1 (a: 1 → 5 user)", "update t 3 (a: 3 → 6 user)",
      ])
  }

  @Test func insertFromSelect() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("INSERT INTO t SELECT id + 10, a, b FROM t WHERE id < 3") == [
        "insert t 11 (11, 1, 'x') user", "insert t 12 (12, 2, 'y') user",
      ])
  }

  @Test func deleteOfEveryRow() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("DELETE FROM t") == [
        "delete t 1 (1, 1, 'x') user", "delete t 2 (2, 2, 'y') user", "delete t 3 (3, 3, 'z') user",
      ])
  }

  // SQLite compiles a DELETE of every row to a truncation unless a hook is installed at that time.
  @Test func deleteOfEveryRowByAStatementPreparedBeforeAnyObserver() throws {
    let file = try DetectionFile(Self.plain)
    try file.store.write { tx in try tx.execute("DELETE FROM t") }
    #expect(
      try file.changes("INSERT INTO t VALUES (1, 1, 1)") == ["insert t 1 (1, 1, 1) user"])
    #expect(try file.changes("DELETE FROM t") == ["delete t 1 (1, 1, 1) user"])
  }

  @Test func deleteOfEveryRowInATriggerPreparedBeforeAnyObserver() throws {
    let file = try DetectionFile(
      Self.plain + """
        CREATE TABLE log(id INTEGER PRIMARY KEY, n);
        CREATE TRIGGER wipe AFTER UPDATE ON t BEGIN DELETE FROM log; END;
        """)
    try file.store.write { tx in
      try tx.execute("UPDATE t SET a = a + 1 WHERE id = 1")
      try tx.execute("INSERT INTO log VALUES (1, 1)")
    }
    #expect(
      try file.changes("UPDATE t SET a = a + 1 WHERE id = 1") == [
        "update t 1 (a: 2 → 3 user)", "delete log 1 (1, 1) trigger:wipe",
      ])
  }

  @Test func updateToTheSameValuesIsNothing() throws {
    let file = try DetectionFile(Self.plain)
    #expect(try file.changes("UPDATE t SET a = a, b = b") == [])
  }

  @Test func setAndSetBackIsNothing() throws {
    let file = try DetectionFile(Self.plain)
    #expect(try file.changes("UPDATE t SET a = 5", "UPDATE t SET a = id") == [])
  }

  @Test func insertAndDeleteIsNothing() throws {
    let file = try DetectionFile(Self.plain)
    #expect(try file.changes("INSERT INTO t VALUES (9, 9, 9)", "DELETE FROM t WHERE id = 9") == [])
  }

  @Test func insertAndUpdateIsAnInsert() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("INSERT INTO t VALUES (9, 9, 9)", "UPDATE t SET a = 8 WHERE id = 9") == [
        "insert t 9 (9, 8, 9) user"
      ])
  }

  @Test func updateAndDeleteIsADeleteOfTheOldRow() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("UPDATE t SET a = 8 WHERE id = 2", "DELETE FROM t WHERE id = 2") == [
        "delete t 2 (2, 2, 'y') user"
      ])
  }

  @Test func deleteAndInsertOfOneKeyIsAnUpdate() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (2, 7, 'y')") == [
        "update t 2 (a: 2 → 7 user) recreated"
      ])
  }

  @Test func deleteAndInsertOfTheSameContentIsNothing() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (2, 2, 'y')") == [])
  }

  // REPLACE, IGNORE, FAIL, ABORT, UPSERT

  @Test func replaceOfTheKey() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changes("REPLACE INTO t VALUES (1, 11, 'x')") == [
        "update t 1 (a: 10 → 11 user) recreated"
      ])
  }

  @Test func replaceReportsTheRowItEvicts() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changes("REPLACE INTO t VALUES (4, 20, 'new')") == [
        "delete t 2 (2, 20, 'y') user", "insert t 4 (4, 20, 'new') user",
      ])
  }

  @Test func replaceOfTheKeyThatEvictsAnotherRowToo() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try Set(file.changes("REPLACE INTO t VALUES (1, 20, 'new')")) == [
        "update t 1 (a: 10 → 20 user, b: 'x' → 'new' user) recreated",
        "delete t 2 (2, 20, 'y') user",
      ])
  }

  @Test func updateOrReplaceEvicts() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try Set(file.changes("UPDATE OR REPLACE t SET a = 30 WHERE id = 1")) == [
        "update t 1 (a: 10 → 30 user)", "delete t 3 (3, 30, 'z') user",
      ])
  }

  @Test func updateOrReplaceOfTheKeyEvicts() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try Set(file.changes("UPDATE OR REPLACE t SET id = 3 WHERE id = 1")) == [
        "delete t 1 (1, 10, 'x') user",
        "update t 3 (a: 30 → 10 user, b: 'z' → 'x' user) recreated",
      ])
  }

  @Test func insertOrIgnoreSkipsConflictingRows() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changes("INSERT OR IGNORE INTO t VALUES (1, 99, 'q'), (4, 20, 'q'), (5, 50, 'q')")
        == ["insert t 5 (5, 50, 'q') user"])
  }

  @Test func failKeepsTheEarlierRows() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changesAroundFailure(
        of: "INSERT OR FAIL INTO t VALUES (4, 40, 'p'), (5, 20, 'q'), (6, 60, 'r')")
        == ["insert t 4 (4, 40, 'p') user"])
  }

  @Test func updateOrFailKeepsTheEarlierRows() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changesAroundFailure(of: "UPDATE OR FAIL t SET a = a + 10 WHERE id > 1 OR id = 1")
        == [])
    #expect(
      try file.changesAroundFailure(
        of: "UPDATE OR FAIL t SET a = CASE id WHEN 1 THEN 11 ELSE 30 END WHERE id < 3")
        == ["update t 1 (a: 10 → 11 user)"])
  }

  @Test func abortRollsTheWholeStatementBack() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changesAroundFailure(
        of: "INSERT INTO t VALUES (4, 40, 'p'), (5, 20, 'q')",
        after: "UPDATE t SET b = 'first' WHERE id = 1",
        then: ["UPDATE t SET b = 'last' WHERE id = 2"]) == [
          "update t 1 (b: 'x' → 'first' user)", "update t 2 (b: 'y' → 'last' user)",
        ])
  }

  @Test func abortOfAnUpdateRollsEveryRowBack() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changesAroundFailure(
        of: "UPDATE t SET a = CASE id WHEN 3 THEN 21 ELSE a + 1 END",
        then: ["UPDATE t SET b = 'last' WHERE id = 3"]) == ["update t 3 (b: 'z' → 'last' user)"])
  }

  @Test func rollbackConflictEndsTheTransaction() throws {
    let file = try DetectionFile(Self.unique)
    let before = try file.contents()
    failure {
      try file.store.writeReturningChanges { tx in
        try tx.execute("UPDATE t SET b = 'first' WHERE id = 1")
        failure {
          try tx.execute("INSERT OR ROLLBACK INTO t VALUES (4, 20, 'q')")
        }
        failure { try tx.execute("UPDATE t SET b = 'outside'") }
      }
    }
    #expect(try file.contents() == before)
  }

  @Test func upsertThatInserts() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changes(
        "INSERT INTO t VALUES (4, 40, 'q') ON CONFLICT (id) DO UPDATE SET b = 'up'")
        == ["insert t 4 (4, 40, 'q') user"])
  }

  @Test func upsertThatUpdates() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changes(
        "INSERT INTO t VALUES (4, 20, 'q') ON CONFLICT (a) DO UPDATE SET b = excluded.b || 'up'")
        == ["update t 2 (b: 'y' → 'qup' user)"])
  }

  @Test func upsertThatDoesNothing() throws {
    let file = try DetectionFile(Self.unique)
    #expect(
      try file.changes("INSERT INTO t VALUES (1, 1, 'q') ON CONFLICT DO NOTHING") == [])
  }

  // Keys

  @Test func changeOfAnIntegerKey() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("UPDATE t SET id = 9 WHERE id = 2") == [
        "delete t 2 (2, 2, 'y') user", "insert t 9 (9, 2, 'y') user",
      ])
  }

  @Test func changeOfAKeyAndBackIsNothing() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("UPDATE t SET id = 9 WHERE id = 2", "UPDATE t SET id = 2 WHERE id = 9") == []
    )
  }

  @Test func swapOfTwoKeys() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes(
        "UPDATE t SET id = 9 WHERE id = 1", "UPDATE t SET id = 1 WHERE id = 2",
        "UPDATE t SET id = 2 WHERE id = 9") == [
          "update t 1 (a: 1 → 2 user, b: 'x' → 'y' user) recreated",
          "update t 2 (a: 2 → 1 user, b: 'y' → 'x' user) recreated",
        ])
  }

  @Test func shiftOfEveryKey() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes("UPDATE t SET id = -id - 1", "UPDATE t SET id = -id") == [
        "delete t 1 (1, 1, 'x') user",
        "update t 2 (a: 2 → 1 user, b: 'y' → 'x' user) recreated",
        "update t 3 (a: 3 → 2 user, b: 'z' → 'y' user) recreated",
        "insert t 4 (4, 3, 'z') user",
      ])
  }

  static let composite = """
    CREATE TABLE t(a TEXT NOT NULL, b INTEGER NOT NULL, v, PRIMARY KEY (a, b));
    INSERT INTO t VALUES ('p', 1, 'x'), ('p', 2, 'y');
    """

  @Test func changeOfACompositeKey() throws {
    let file = try DetectionFile(Self.composite)
    #expect(
      try file.changes("UPDATE t SET b = 7 WHERE b = 1") == [
        "delete t 'p'/1 ('p', 1, 'x') user", "insert t 'p'/7 ('p', 7, 'x') user",
      ])
  }

  @Test func swapOfCompositeKeys() throws {
    let file = try DetectionFile(Self.composite)
    #expect(
      try file.changes(
        "UPDATE t SET a = 'q' WHERE b = 1", "UPDATE t SET b = 1 WHERE a = 'p'",
        "UPDATE t SET a = 'p', b = 2 WHERE a = 'q'") == [
          "update t 'p'/1 (v: 'x' → 'y' user) recreated",
          "update t 'p'/2 (v: 'y' → 'x' user) recreated",
        ])
  }

  @Test func changeOfTheHiddenRowNumberIsNothing() throws {
    let file = try DetectionFile(Self.composite)
    #expect(try file.changes("UPDATE t SET rowid = 50 WHERE b = 1") == [])
  }
}
