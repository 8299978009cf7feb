internal import CSQLite
internal import Testing

@testable internal import ModelStore
@testable internal import SchemaCompiler

@Suite(.tags(.unit)) struct CatalogTests {
  @Test func everyPartOfATableIsRead() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE "an ""x"" order" (
        "a b" TEXT COLLATE NOCASE CONSTRAINT "a.check" CHECK (length("a b") > 1) NOT NULL,
        é INTEGER DEFAULT (1 + 1) /* , CHECK (no) */ CHECK( é > 0 ),
        "v" AS (é * 2), s TEXT AS ("a b" || 'x') STORED,
        p REFERENCES "par""ent" ("x y") ON DELETE CASCADE ON UPDATE SET NULL, q, r,
        PRIMARY KEY ("a b", é), UNIQUE (q, r),
        FOREIGN KEY (q, r) REFERENCES par (m, n)
        CONSTRAINT whole CHECK (q IS NOT r)
      ) WITHOUT ROWID;
      CREATE INDEX "i 1" ON "an ""x"" order" (q DESC, r COLLATE RTRIM);
      CREATE UNIQUE INDEX i2 ON "an ""x"" order" (p) WHERE p > 0 -- why
      ;
      CREATE INDEX i3 ON "an ""x"" order" (q + 1);
      CREATE UNIQUE INDEX i4 ON "an ""x"" order" (r) WHERE iif(q, 1, 0);
      CREATE TRIGGER "t ""1" AFTER INSERT ON "an ""x"" order" BEGIN SELECT 1; END;
      """)
    let table = try #require(try file.catalog().table(named: "AN \"X\" ORDER"))
    var expected = TableFacts(name: "an \"x\" order", kind: .table, isWithoutRowID: true)
    expected.columns = [
      ColumnFacts(
        name: "a b", declaredType: "TEXT", isNotNull: true, keyPosition: 1, collation: .nocase),
      ColumnFacts(
        name: "é", declaredType: "INTEGER", isNotNull: true, defaultSQL: "1 + 1", keyPosition: 2),
      ColumnFacts(name: "v", generated: .virtual),
      ColumnFacts(name: "s", declaredType: "TEXT", generated: .stored),
      ColumnFacts(name: "p"), ColumnFacts(name: "q"), ColumnFacts(name: "r"),
    ]
    func part(_ name: String?, _ collation: Collation = .binary) -> IndexFacts.Column {
      IndexFacts.Column(name: name, collation: collation)
    }
    let automatic = table.indexes.map(\.name).filter { $0.hasPrefix("sqlite_autoindex") }
    try #require(automatic.count == 2)
    let condition = try #require(
      IndexCondition(ofIndex: "CREATE INDEX i WHERE p > 0", on: expected))
    expected.indexes = [
      IndexFacts(
        name: automatic[0], isUnique: true, origin: .primaryKey,
        columns: [part("a b", .nocase), part("é")]),
      IndexFacts(
        name: automatic[1], isUnique: true, origin: .unique,
        columns: [part("q"), part("r")]),
      IndexFacts(
        name: "i 1", isUnique: false, origin: .created,
        columns: [
          IndexFacts.Column(name: "q", collation: .binary, isDescending: true), part("r", .rtrim),
        ]),
      IndexFacts(
        name: "i2", isUnique: true, rows: .meeting(condition), origin: .created,
        columns: [part("p")]),
      IndexFacts(name: "i3", isUnique: false, origin: .created, columns: [part(nil)]),
      IndexFacts(
        name: "i4", isUnique: true, rows: .unknown, origin: .created, columns: [part("r")]),
    ]
    expected.foreignKeys = [
      ForeignKeyFacts(
        table: "par\"ent", columns: ["p"], referencedColumns: ["x y"], onDelete: .cascade,
        onUpdate: .setNull),
      ForeignKeyFacts(
        table: "par", columns: ["q", "r"], referencedColumns: ["m", "n"], onDelete: .noAction,
        onUpdate: .noAction),
    ]
    expected.triggers = [
      TriggerFacts(
        name: "t \"1",
        sql: "CREATE TRIGGER \"t \"\"1\" AFTER INSERT ON \"an \"\"x\"\" order\" BEGIN SELECT 1; END"
      )
    ]
    expected.checks = [
      TableSQL.Check(name: "a.check", condition: "length(\"a b\") > 1", column: "a b"),
      TableSQL.Check(name: nil, condition: "é > 0", column: "é"),
      TableSQL.Check(name: "whole", condition: "q IS NOT r", column: nil),
    ]
    expected.sql = table.sql
    #expect(table == expected)
  }

  @Test func everyKindOfTableIsRecognised() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE strict (a INTEGER PRIMARY KEY AUTOINCREMENT, b ANY) STRICT;
      CREATE VIEW good AS SELECT a, b AS c FROM strict;
      CREATE VIEW bad AS SELECT x FROM missing;
      CREATE VIRTUAL TABLE f USING fts5(body);
      """)
    let told = try file.catalog().tables.map { table in
      let columns = table.columns.map(\.name).joined(separator: " ")
      return "\(table.name) \(table.kind) \(table.isStrict) (\(columns))"
        + (table.unreadableReason.map { " \($0)" } ?? "")
    }
    #expect(
      told == [
        "bad view false () no such table: main.missing", "f virtual false (body)",
        "f_config shadow false (k v)", "f_content shadow false (id c0)",
        "f_data shadow false (id block)", "f_docsize shadow false (id sz)",
        "f_idx shadow false (segid term pgno)", "good view false (a c)",
        "sqlite_sequence table false (name seq)", "strict table true (a b)",
      ])
  }

  @Test(arguments: [
    ("a INTEGER PRIMARY KEY", "a"), ("a INTEGER, PRIMARY KEY (a)", "a"),
    ("a INTEGER PRIMARY KEY DESC", nil), ("a INTEGER, PRIMARY KEY (a DESC)", "a"),
    ("a INT PRIMARY KEY", nil), ("a INTEGER, b, PRIMARY KEY (a, b)", nil), ("a INTEGER", nil),
    ("a \"integer\" PRIMARY KEY ASC, b UNIQUE", "a"),
  ])
  func rowidAliasesAreRecognisedAsInSQLite(columns: String, expected: String?) throws {
    let file = try SchemaTestFile("CREATE TABLE t (\(columns))")
    let found = try #require(try file.catalog().table(named: "t")).rowIDColumn?.name
    #expect(found == expected)
    // The row number reads back through its other name; an ordinary column stays as inserted.
    let connection = try file.connect()
    try connection.execute("INSERT INTO t (rowid, a) VALUES (7, 7); UPDATE t SET rowid = 8")
    #expect(try connection.lines("SELECT a FROM t") == [found == nil ? "7" : "8"])
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func namesThatNeedQuotingAreReadBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let file = try SchemaTestFile()
    let connection = try file.connect()
    var expected: [String: [String]] = [:]
    var folded: Set<String> = []
    for _ in 0..<60 {
      let table = random.name()
      let columns = (0..<3).map { _ in random.name() }
      guard folded.insert(table.asciiFolded).inserted,
        Set(columns.map(\.asciiFolded)).count == 3
      else { continue }
      let definitions = columns.map { SQLText.quoted($0) }
      try connection.execute(
        """
        CREATE TABLE \(SQLText.quoted(table)) (
          \(definitions[0]) INTEGER PRIMARY KEY, \(definitions[1]) TEXT COLLATE NOCASE UNIQUE,
          \(definitions[2]) CHECK (\(definitions[2]) <> ')'),
          FOREIGN KEY (\(definitions[2])) REFERENCES \(SQLText.quoted(table)) (\(definitions[1]))
        )
        """)
      expected[table] = columns
    }
    let catalog = try file.catalog()
    #expect(catalog.tables.count == expected.count, "seed \(seed)")
    for (name, columns) in expected {
      let table = try #require(catalog.table(named: name), "seed \(seed): \(name)")
      #expect(table.columns.map(\.name) == columns, "seed \(seed)")
      #expect(table.columns.map(\.collation) == [.binary, .nocase, .binary], "seed \(seed)")
      #expect(table.checks.map(\.column) == [columns[2]], "seed \(seed)")
      #expect(
        table.foreignKeys == [
          ForeignKeyFacts(
            table: name, columns: [columns[2]], referencedColumns: [columns[1]],
            onDelete: .noAction, onUpdate: .noAction)
        ], "seed \(seed)")
    }
  }

  @Test(arguments: [11, 12, 13] as [UInt64])
  func collationsMatchThoseOfSQLite(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "COLLATE NOCASE", "collate \"rtrim\"", "COLLATE BINARY", "NOT NULL", "UNIQUE",
      "CHECK (1 COLLATE NOCASE = 1)", "DEFAULT (1 COLLATE RTRIM)", "/* COLLATE NOCASE, */",
      "CONSTRAINT \"COLLATE\" CHECK (2)", "DEFAULT 'COLLATE NOCASE'", "-- COLLATE RTRIM\n",
      "REFERENCES t (a) ON DELETE CASCADE", "VARCHAR(3)",
    ]
    let file = try SchemaTestFile()
    let connection = try file.connect()
    for number in 0..<80 {
      let columns = (0..<4).map { column in
        let type = Bool.random(using: &random) ? "TEXT " : ""
        let chosen = (0..<Int.random(in: 0...4, using: &random)).map { _ in
          pieces[Int.random(in: 0..<pieces.count - 1, using: &random)]
        }
        return "c\(column) \(type)\(chosen.joined(separator: " "))"
      }
      try connection.execute("CREATE TABLE t\(number) (\(columns.joined(separator: ", ")))")
    }
    for table in try file.catalog().tables {
      for column in table.columns {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
          connection.handle, "main", table.name, column.name, nil, &collation, nil, nil, nil)
        try #require(code == SQLITE_OK)
        let name = try #require(collation.map { String(cString: $0) })
        #expect(column.collation == Collation(name: name), "seed \(seed): \(table.sql)")
      }
    }
  }

  @Test func namesOfChecksMatchSQLitesMessages() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE t (
        a CONSTRAINT n1 NOT NULL CHECK (a <> 1) CHECK(  a <> 2 /* two */ ),
        b CONSTRAINT [n 3] CHECK (b <> 3), CONSTRAINT 'n4' CHECK (b <> 4) CHECK (b <> 5),
        CHECK (b <> 6)
      )
      """)
    let checks = try #require(try file.catalog().table(named: "t")).checks
    let connection = try file.connect()
    let rows = ["(1, 0)", "(2, 0)", "(0, 3)", "(0, 4)", "(0, 5)", "(0, 6)"]
    for (check, row) in zip(checks, rows) {
      let error = #expect(throws: SQLiteError.self) {
        try connection.execute("INSERT INTO t VALUES \(row)")
      }
      #expect(error?.message == "CHECK constraint failed: \(check.name ?? check.condition)")
    }
    #expect(checks.count == 6)
  }

  @Test func theCatalogIsReadInsideATransactionToo() throws {
    let file = try SchemaTestFile("CREATE TABLE t (a)")
    let connection = try file.connect()
    try connection.execute("BEGIN IMMEDIATE; CREATE TABLE u (a)")
    #expect(try Catalog(reading: connection).tables.map(\.name) == ["t", "u"])
    #expect(connection.isInTransaction)
    try connection.execute("ROLLBACK")
    #expect(try Catalog(reading: connection).tables.map(\.name) == ["t"])
    #expect(!connection.isInTransaction)
  }
}
