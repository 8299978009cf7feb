import Testing

@testable import ModelStore

// Kinds of tables, columns and values.
extension DetectionMatrixTests {
  static let withoutRowID = """
    CREATE TABLE t(v, k TEXT, n INTEGER, PRIMARY KEY (k, n)) WITHOUT ROWID;
    INSERT INTO t VALUES ('x', 'a', 1), ('y', 'b', 2);
    """

  @Test func tableWithoutRowID() throws {
    let file = try DetectionFile(Self.withoutRowID)
    #expect(
      try file.changes(
        "UPDATE t SET v = 'z' WHERE k = 'a'", "DELETE FROM t WHERE k = 'b'",
        "INSERT INTO t VALUES ('n', 'c', 3)") == [
          "update t 'a'/1 (v: 'x' → 'z' user)", "delete t 'b'/2 ('y', 'b', 2) user",
          "insert t 'c'/3 ('n', 'c', 3) user",
        ])
  }

  @Test func changeOfAKeyWithoutRowID() throws {
    let file = try DetectionFile(Self.withoutRowID)
    #expect(
      try file.changes("UPDATE t SET n = 5 WHERE k = 'a'") == [
        "delete t 'a'/1 ('x', 'a', 1) user", "insert t 'a'/5 ('x', 'a', 5) user",
      ])
  }

  @Test func swapOfKeysWithoutRowID() throws {
    let file = try DetectionFile(Self.withoutRowID)
    #expect(
      try file.changes(
        "UPDATE t SET k = 'q' WHERE n = 1", "UPDATE t SET k = 'a', n = 1 WHERE n = 2",
        "UPDATE t SET k = 'b', n = 2 WHERE k = 'q'") == [
          "update t 'a'/1 (v: 'x' → 'y' user) recreated",
          "update t 'b'/2 (v: 'y' → 'x' user) recreated",
        ])
  }

  @Test func replaceWithoutRowID() throws {
    let file = try DetectionFile(Self.withoutRowID)
    #expect(
      try file.changes("REPLACE INTO t VALUES ('z', 'a', 1)") == [
        "update t 'a'/1 (v: 'x' → 'z' user) recreated"
      ])
  }

  @Test func deleteOfEveryRowWithoutRowID() throws {
    let file = try DetectionFile(Self.withoutRowID)
    #expect(
      try file.changes("DELETE FROM t") == [
        "delete t 'a'/1 ('x', 'a', 1) user", "delete t 'b'/2 ('y', 'b', 2) user",
      ])
  }

  // The hook shows 1 where the table holds 1.0: https://sqlite.org/datatype3.html#affinity
  @Test func realKeyWithoutRowIDGivenAsInteger() throws {
    let file = try DetectionFile(
      "CREATE TABLE t(k REAL PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO t VALUES (1, 'x');")
    #expect(
      try file.changes(
        "INSERT INTO t VALUES (2, 'y')", "UPDATE t SET v = 'z' WHERE k = 2",
        "UPDATE t SET v = 'w' WHERE k = 1", "DELETE FROM t WHERE k = 1",
        "INSERT INTO t VALUES (1, 'v')", "INSERT INTO t VALUES (3, 'y')",
        "UPDATE t SET k = 4 WHERE k = 3", "UPDATE t SET v = 'u' WHERE k = 4") == [
          "insert t 2.0 (2.0, 'z') user", "update t 1.0 (v: 'x' → 'v' user) recreated",
          "insert t 4.0 (4.0, 'u') user",
        ])
  }

  @Test func keyThatFoldsCaseWithoutRowID() throws {
    let file = try DetectionFile(
      "CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO t VALUES ('a', 1);"
    )
    #expect(
      try file.changes("REPLACE INTO t VALUES ('A', 1)") == [
        "delete t 'a' ('a', 1) user", "insert t 'A' ('A', 1) user",
      ])
    #expect(
      try file.changes("UPDATE t SET k = 'a'") == [
        "delete t 'A' ('A', 1) user", "insert t 'a' ('a', 1) user",
      ])
  }

  @Test func realColumnGivenAnInteger() throws {
    let file = try DetectionFile(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, r REAL); INSERT INTO t VALUES (1, 1);")
    #expect(
      try file.changes("UPDATE t SET r = 2 WHERE id = 1", "INSERT INTO t VALUES (2, 3)") == [
        "update t 1 (r: 1.0 → 2.0 user)", "insert t 2 (2, 3.0) user",
      ])
    #expect(try file.changes("UPDATE t SET r = 2 WHERE id = 1") == [])
    #expect(try file.changes("REPLACE INTO t VALUES (1, 2)") == [])
  }

  @Test func affinityDecidesWhatIsStored() throws {
    let file = try DetectionFile(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, n NUMERIC, s TEXT, i INT); INSERT INTO t VALUES (1, '5', 6, '7');"
    )
    #expect(try file.changes("UPDATE t SET n = 5.0, s = '6', i = 7.0") == [])
    #expect(
      try file.changes("UPDATE t SET n = '8', s = 9, i = '1e1'") == [
        "update t 1 (n: 5 → 8 user, s: '6' → '9' user, i: 7 → 10 user)"
      ])
  }

  @Test(arguments: ["DEFAULT 7", "NOT NULL DEFAULT 7"])
  func rowOlderThanAnAddedColumn(_ constraint: String) throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a);
      INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
      ALTER TABLE t ADD COLUMN c \(constraint);
      INSERT INTO t VALUES (4, 4, 4);
      """)
    #expect(
      try file.changes(
        "UPDATE t SET a = 9 WHERE id = 1", "DELETE FROM t WHERE id = 2",
        "UPDATE t SET c = 8 WHERE id = 3", "UPDATE t SET c = 5 WHERE id = 4") == [
          "update t 1 (a: 1 → 9 user)", "delete t 2 (2, 2, 7) user",
          "update t 3 (c: 7 → 8 user)", "update t 4 (c: 4 → 5 user)",
        ])
    #expect(try file.changes("UPDATE t SET c = 7 WHERE id = 3") == ["update t 3 (c: 8 → 7 user)"])
  }

  @Test func nullInAColumnWithADefault() throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a);
      INSERT INTO t VALUES (1, 1);
      ALTER TABLE t ADD COLUMN c DEFAULT 7;
      INSERT INTO t VALUES (2, 2, NULL);
      """)
    #expect(
      try file.changes("UPDATE t SET c = 1") == [
        "update t 1 (c: 7 → 1 user)", "update t 2 (c: NULL → 1 user)",
      ])
  }

  @Test func columnAddedByAnotherConnectionWhileTheStoreIsOpen() throws {
    let file = try DetectionFile(Self.plain)
    #expect(try file.changes("UPDATE t SET a = 5 WHERE id = 1") == ["update t 1 (a: 1 → 5 user)"])
    try PlainDatabase(file.path).execute("ALTER TABLE t ADD COLUMN c DEFAULT 7")
    #expect(try file.changes("UPDATE t SET a = 6 WHERE id = 1") == ["update t 1 (a: 5 → 6 user)"])
  }

  @Test func columnsDroppedAndTriggersAddedByAnotherConnection() throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(gone, id INTEGER PRIMARY KEY, a, b);
      INSERT INTO t VALUES (0, 1, 1, 1), (0, 2, 2, 2);
      CREATE TABLE s(id INTEGER PRIMARY KEY, n);
      """)
    let store = file.store
    try PlainDatabase(file.path).execute(
      """
      DROP TABLE s;
      CREATE TABLE s(n, id INTEGER PRIMARY KEY);
      CREATE TRIGGER late AFTER UPDATE OF a ON t BEGIN INSERT INTO s VALUES (NEW.a, NEW.id); END;
      """)
    #expect(
      try store.writeReturningChanges { try $0.execute("UPDATE t SET a = 6 WHERE id = 1") }
        .changes.changes.map(\.line) == [
          "update t 1 (a: 1 → 6 user)", "insert s 1 (1, 6) trigger:late",
        ])
    #expect(
      try store.writeReturningChanges { try $0.execute("DELETE FROM s") }
        .changes.changes.map(\.line) == ["delete s 1 (1, 6) user"])
  }

  enum Place: String, CaseIterable, CustomTestStringConvertible {
    case first, middle, last
    var testDescription: String { rawValue }

    func columns(_ generated: String) -> String {
      switch self {
      case .first: "\(generated), id INTEGER PRIMARY KEY, a, b"
      case .middle: "id INTEGER PRIMARY KEY, a, \(generated), b"
      case .last: "id INTEGER PRIMARY KEY, a, b, \(generated)"
      }
    }

    func row(_ id: Int, _ a: Int, _ g: Int, _ b: Int) -> String {
      switch self {
      case .first: "(\(g), \(id), \(a), \(b))"
      case .middle: "(\(id), \(a), \(g), \(b))"
      case .last: "(\(id), \(a), \(b), \(g))"
      }
    }

    func fields(_ a: String, _ g: String, _ b: String) -> String {
      let all =
        switch self {
        case .first: [g, a, b]
        case .middle: [a, g, b]
        case .last: [a, b, g]
        }
      return all.filter { !$0.isEmpty }.joined(separator: ", ")
    }
  }

  @Test(arguments: Place.allCases, ["VIRTUAL", "STORED"])
  func generatedColumn(_ place: Place, _ kind: String) throws {
    let columns = place.columns("g INTEGER AS (a * 10 + b) \(kind)")
    let file = try DetectionFile(
      "CREATE TABLE t(\(columns)); INSERT INTO t(id, a, b) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);")
    let updated = place.fields("a: 1 → 9 user", "g: 11 → 91 user", "")
    #expect(
      try file.changes(
        "UPDATE t SET a = 9 WHERE id = 1", "DELETE FROM t WHERE id = 2",
        "INSERT INTO t(id, a, b) VALUES (4, 4, 4)", "UPDATE t SET id = 8 WHERE id = 3") == [
          "update t 1 (\(updated))", "delete t 2 \(place.row(2, 2, 22, 2)) user",
          "insert t 4 \(place.row(4, 4, 44, 4)) user", "delete t 3 \(place.row(3, 3, 33, 3)) user",
          "insert t 8 \(place.row(8, 3, 33, 3)) user",
        ])
    #expect(
      try file.changes("UPDATE t SET a = 9 WHERE id = 1", "UPDATE t SET a = 4 WHERE id = 4") == [])
  }

  @Test(arguments: ["VIRTUAL", "STORED"])
  func generatedColumnBeforeTheKeyWithoutRowID(_ kind: String) throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(
        g INTEGER AS (a * 10) \(kind), a, k TEXT, h INTEGER AS (a * 2) \(kind), n INTEGER, b,
        PRIMARY KEY (n, k)) WITHOUT ROWID;
      INSERT INTO t(a, k, n, b) VALUES (1, 'p', 1, 'x'), (2, 'q', 2, 'y'), (3, 'r', 3, 'z');
      """)
    #expect(
      try file.changes(
        "UPDATE t SET b = 'w' WHERE n = 1", "UPDATE t SET a = 5 WHERE n = 1",
        "DELETE FROM t WHERE n = 2", "INSERT INTO t(a, k, n, b) VALUES (4, 's', 4, 'v')",
        "UPDATE t SET k = 'u' WHERE n = 3") == [
          "update t 1/'p' (g: 10 → 50 user, a: 1 → 5 user, h: 2 → 10 user, b: 'x' → 'w' user)",
          "delete t 2/'q' (20, 2, 'q', 4, 2, 'y') user",
          "insert t 4/'s' (40, 4, 's', 8, 4, 'v') user",
          "delete t 3/'r' (30, 3, 'r', 6, 3, 'z') user",
          "insert t 3/'u' (30, 3, 'u', 6, 3, 'z') user",
        ])
  }

  @Test func columnsNamedLikeTheRowNumber() throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(rowid TEXT PRIMARY KEY NOT NULL, oid, v);
      INSERT INTO t VALUES ('a', 1, 'x'), ('b', 2, 'y');
      """)
    #expect(
      try file.changes(
        "UPDATE t SET v = 'z' WHERE rowid = 'a'", "UPDATE t SET rowid = 'c' WHERE oid = 2")
        == [
          "update t 'a' (v: 'x' → 'z' user)", "delete t 'b' ('b', 2, 'y') user",
          "insert t 'c' ('c', 2, 'y') user",
        ])
  }

  @Test func namesThatNeedQuoting() throws {
    let file = try DetectionFile(
      """
      CREATE TABLE "odd ""table"" [x]; --"("a key" TEXT PRIMARY KEY NOT NULL, "select" INTEGER, "größe");
      INSERT INTO "odd ""table"" [x]; --" VALUES ('it''s', 1, 2);
      """)
    #expect(
      try file.changes(#"UPDATE "odd ""table"" [x]; --" SET "select" = 5, "größe" = 3"#) == [
        "update odd \"table\" [x]; -- 'it''s' (select: 1 → 5 user, größe: 2 → 3 user)"
      ])
  }

  @Test func namesInAnotherCase() throws {
    let file = try DetectionFile("CREATE TABLE Things(Id INTEGER PRIMARY KEY, Name);")
    #expect(
      try file.changes("insert into THINGS(ID, NAME) values (1, 'n')") == [
        "insert Things 1 (1, 'n') user"
      ])
  }

  @Test func blobsAndExtremeNumbers() throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, v);
      INSERT INTO t VALUES (1, x''), (2, 9007199254740993), (9223372036854775807, 0.0);
      """)
    #expect(
      try file.changes(
        "UPDATE t SET v = x'00ff' WHERE id = 1", "UPDATE t SET v = 9007199254740992 WHERE id = 2",
        "UPDATE t SET v = 9e999 WHERE id = 9223372036854775807",
        "INSERT INTO t VALUES (-9223372036854775808, -9223372036854775808)") == [
          "update t 1 (v: x'' → x'00ff' user)",
          "update t 2 (v: 9007199254740993 → 9007199254740992 user)",
          "update t 9223372036854775807 (v: 0.0 → 9e999 user)",
          "insert t -9223372036854775808 (-9223372036854775808, -9223372036854775808) user",
        ])
  }

  @Test func textWithNULAndEmptyText() throws {
    let file = try DetectionFile(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, ''), (2, 'a' || char(0) || 'b');"
    )
    #expect(
      try file.changes("UPDATE t SET v = NULL WHERE id = 1", "UPDATE t SET v = 'a' WHERE id = 2")
        == [
          "update t 1 (v: '' → NULL user)", "update t 2 (v: CAST(x'610062' AS TEXT) → 'a' user)",
        ])
  }

  @Test func integerAndRealOfOneValueDiffer() throws {
    let file = try DetectionFile(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 1);")
    #expect(try file.changes("UPDATE t SET v = 1.0") == ["update t 1 (v: 1 → 1.0 user)"])
  }

  @Test func keyThatIsNull() throws {
    let file = try DetectionFile("CREATE TABLE t(k TEXT PRIMARY KEY, v);")
    #expect(
      try file.uncheckedChanges("INSERT INTO t VALUES (NULL, 1)", "INSERT INTO t VALUES (NULL, 2)")
        == ["insert t NULL/1 (NULL, 1) user", "insert t NULL/2 (NULL, 2) user"])
    #expect(
      try file.uncheckedChanges("UPDATE t SET v = v + 10") == [
        "update t NULL/1 (v: 1 → 11 user)", "update t NULL/2 (v: 2 → 12 user)",
      ])
    #expect(
      try file.uncheckedChanges("UPDATE t SET k = 'a' WHERE v = 11", "DELETE FROM t WHERE v = 12")
        == [
          "delete t NULL/1 (NULL, 11) user", "insert t 'a' ('a', 11) user",
          "delete t NULL/2 (NULL, 12) user",
        ])
  }

  @Test func textThatIsNotUTF8IsRefused() throws {
    let file = try DetectionFile(Self.plain)
    let before = try file.contents()
    let error = failure {
      try file.store.writeReturningChanges {
        try $0.execute("UPDATE t SET b = CAST(x'ff' AS TEXT) WHERE id = 1")
      }
    }
    #expect(error?.code == .invalidValue)
    #expect(try file.contents() == before)
    try PlainDatabase(file.path).execute("UPDATE t SET b = CAST(x'ff' AS TEXT) WHERE id = 2")
    let second = failure {
      try file.store.writeReturningChanges { try $0.execute("DELETE FROM t WHERE id = 2") }
    }
    #expect(second?.code == .invalidValue)
  }

  @Test func aChangeOfTheSchemaReportsNoRows() throws {
    let file = try DetectionFile(Self.plain)
    let result = try file.store.writeReturningChanges { tx in
      try tx.execute("UPDATE t SET a = 9")
      try tx.execute("ALTER TABLE t DROP COLUMN b")
    }
    #expect(result.changes.changes == [])
    try file.store.write { tx in try tx.execute("ALTER TABLE t ADD COLUMN b DEFAULT 'again'") }
    #expect(
      try file.changes("UPDATE t SET b = 'z' WHERE id = 1") == [
        "update t 1 (b: 'again' → 'z' user)"
      ])
  }

  @Test func aRolledBackChangeOfTheSchemaStillReportsRows() throws {
    let file = try DetectionFile(Self.plain)
    #expect(
      try file.changes { tx in
        try tx.execute("UPDATE t SET a = 9 WHERE id = 1")
        try? tx.savepoint { tx in
          try tx.execute("CREATE TABLE other(x)")
          try tx.execute("DROP TABLE t")
          throw Undo()
        }
        try tx.execute("UPDATE t SET a = 8 WHERE id = 2")
      } == ["update t 1 (a: 1 → 9 user)", "update t 2 (a: 2 → 8 user)"])
  }
}

struct Undo: Error {}
