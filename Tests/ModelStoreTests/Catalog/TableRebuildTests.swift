import Testing

@testable import ModelStore

/// Rebuilding a table keeps everything that belongs to it. The tables have records, because an
/// empty file hides what a dropped table takes with it.
@Suite(.tags(.unit)) struct TableRebuildTests {
  /// A table of another program, with everything that a store does not declare.
  private static let script = """
    CREATE TABLE other (id INTEGER PRIMARY KEY, t INTEGER REFERENCES "the table" ON DELETE CASCADE);
    CREATE TABLE log (text TEXT);
    CREATE TABLE "the table" ( -- kept
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT COLLATE NOCASE /* a name */,
      twice AS (name || name) STORED,
      half AS (length(name) / 2),
      parent INTEGER REFERENCES "the table" (id) DEFERRABLE INITIALLY DEFERRED,
      state TEXT DEFAULT "open" CHECK (state <> "none"),
      UNIQUE (name, parent)
    );
    CREATE INDEX partial ON "the table" (parent) WHERE state = 'open';
    CREATE INDEX expression ON "the table" (lower(name) DESC);
    CREATE UNIQUE INDEX only ON "the table" (id, name);
    CREATE TRIGGER second AFTER INSERT ON "the table" BEGIN INSERT INTO log VALUES ('2'); END;
    CREATE TRIGGER first AFTER INSERT ON "the table" BEGIN INSERT INTO log VALUES ('1'); END;
    CREATE TRIGGER gone AFTER DELETE ON "the table" BEGIN INSERT INTO log VALUES ('gone'); END;
    CREATE TRIGGER elsewhere AFTER DELETE ON other
      BEGIN UPDATE "the table" SET state = 'closed' WHERE id = old.t; END;
    CREATE VIEW names AS SELECT id, name FROM "the table";
    CREATE TRIGGER named INSTEAD OF INSERT ON names
      BEGIN INSERT INTO "the table" (name) VALUES (new.name); END;
    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO "the table" (id, name, parent) SELECT i * 3, 'n' || i, NULL FROM n;
    UPDATE "the table" SET parent = 3 WHERE id > 200;
    INSERT INTO other SELECT id, id FROM "the table";
    DELETE FROM "the table" WHERE id = 300;
    DELETE FROM other WHERE t = 300;
    DELETE FROM log;
    ANALYZE;
    """

  /// The file of another program, which may write strings in double quotes.
  private static func file() throws -> SchemaTestFile {
    let file = try SchemaTestFile()
    try PlainDatabase(file.path).execute(script)
    return file
  }

  private func adopted(_ change: (inout ModelSchema) -> Void) throws -> ModelSchema {
    var model = ModelSchema(
      name: "T", table: "the table",
      fields: [
        FieldSchema(name: "id", type: .integer, declaredType: "INTEGER", isRowID: true),
        FieldSchema(
          name: "name", type: .text, declaredType: "TEXT", isOptional: true,
          collation: .nocase),
      ], key: ["id"], isAdopted: true)
    change(&model)
    return model
  }

  /// Rebuilds what `model` needs, in one transaction.
  @discardableResult
  private func rebuild(
    _ model: ModelSchema, in file: SchemaTestFile, chunkSize: Int = 7,
    onProgress: (Int, Int) throws -> Void = { _, _ in }
  ) throws -> MigrationPlan {
    let connection = try file.connect()
    return try connection.withForeignKeysOff {
      try connection.inTransaction {
        let draft = try MigrationPlanner(connection: connection).draft(for: [model])
        for revision in draft.rebuilds {
          try TableRebuild(revision: revision, connection: connection, chunkSize: chunkSize)
            .run(onProgress: onProgress)
        }
        try Reconciler(connection).apply(draft.objects)
        return draft.plan
      }
    }
  }

  private func lines(_ file: SchemaTestFile, _ sql: String) throws -> [[SQLValue]] {
    try PlainDatabase(file.path).rows(sql)
  }

  /// Everything but the text of the table: objects in their order for each table, rows with their
  /// rowids, the sequence and the statistics.
  private func content(_ file: SchemaTestFile) throws -> [[SQLValue]] {
    try lines(
      file,
      """
      SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name <> 'the table'
      ORDER BY tbl_name, type, rowid
      """)
      + lines(file, "SELECT rowid, * FROM \"the table\" ORDER BY id")
      + lines(file, "SELECT * FROM other ORDER BY id") + lines(file, "SELECT * FROM log")
      + lines(file, "SELECT * FROM sqlite_sequence ORDER BY name")
      + lines(file, "SELECT * FROM sqlite_stat1 ORDER BY tbl, idx")
  }

  @Test(arguments: [1, 7, 99, 100, 20_000])
  func everythingAroundTheTableStays(chunkSize: Int) throws {
    let file = try Self.file()
    let before = try content(file)
    var progress: [[Int]] = []
    let model = try adopted { $0.fields[1].isOptional = false }
    let plan = try rebuild(model, in: file, chunkSize: chunkSize) { progress.append([$0, $1]) }
    #expect(plan.steps.map(\.changes) == [["T.name NOT NULL"]])
    #expect(try content(file) == before)
    #expect(
      try lines(file, "SELECT sql FROM sqlite_schema WHERE name = 'the table'") == [
        [
          .text(
            """
            CREATE TABLE "the table" ( -- kept
              id INTEGER PRIMARY KEY AUTOINCREMENT,
              name TEXT NOT NULL COLLATE NOCASE /* a name */,
              twice AS (name || name) STORED,
              half AS (length(name) / 2),
              parent INTEGER REFERENCES "the table" (id) DEFERRABLE INITIALLY DEFERRED,
              state TEXT DEFAULT "open" CHECK (state <> "none"),
              UNIQUE (name, parent)
            )
            """)
        ]
      ])
    #expect(progress.first == [0, 99])
    #expect(progress.last == [99, 99])
    #expect(progress.count == 2 + 99 / chunkSize)
    #expect(try lines(file, "PRAGMA foreign_key_check") == [])
    #expect(try lines(file, "PRAGMA integrity_check") == [[.text("ok")]])
    // The highest key was 300, and its record is gone.
    let plain = try PlainDatabase(file.path)
    try plain.execute("INSERT INTO names (name) VALUES ('new')")
    #expect(try plain.rows("SELECT max(id) FROM \"the table\"") == [[.integer(301)]])
    #expect(try plain.rows("SELECT text FROM log") == [[.text("1")], [.text("2")]])
  }

  @Test func aTableWithoutRowIDAndStrictStaysSo() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE t (
        a TEXT COLLATE RTRIM, b ANY, c REAL, PRIMARY KEY (a, b)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO t VALUES ('x', 1, 1), ('x', '1', 1.5), ('y', x'00', 2);
      """)
    let model = ModelSchema(
      name: "t",
      fields: [
        FieldSchema(name: "a", type: .text, collation: .rtrim),
        FieldSchema(name: "b", type: .any), FieldSchema(name: "c", type: .real),
      ], key: ["a", "b"], isWithoutRowID: true)
    let before = try lines(file, "SELECT *, typeof(b) FROM t")
    let plan = try rebuild(model, in: file)
    #expect(plan.steps.map(\.changes) == [["t.c NOT NULL"]])
    #expect(try lines(file, "SELECT *, typeof(b) FROM t") == before)
    #expect(
      try lines(file, "SELECT sql FROM sqlite_schema WHERE name = 't'") == [
        [
          .text(
            """
            CREATE TABLE "t" (
              a TEXT COLLATE RTRIM, b ANY, c REAL NOT NULL, PRIMARY KEY (a, b)
            ) STRICT, WITHOUT ROWID
            """)
        ]
      ])
  }

  @Test func hiddenRowNumbersStay() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE t (k TEXT PRIMARY KEY NOT NULL, n INTEGER) STRICT;
      INSERT INTO t (rowid, k, n) VALUES (-9223372036854775808, 'a', 1), (5, 'b', 2),
        (9223372036854775807, 'c', 3);
      """)
    let model = ModelSchema(
      name: "t",
      fields: [FieldSchema(name: "k", type: .text), FieldSchema(name: "n", type: .integer)],
      key: ["k"])
    let before = try lines(file, "SELECT rowid, * FROM t ORDER BY rowid")
    try rebuild(model, in: file, chunkSize: 1)
    #expect(try lines(file, "SELECT rowid, * FROM t ORDER BY rowid") == before)
  }

  @Test func cancellingLeavesTheFileAsItWas() throws {
    struct Cancelled: Error {}
    let file = try Self.file()
    let before = try content(file)
    let model = try adopted { $0.fields[1].isOptional = false }
    #expect(throws: Cancelled.self) {
      try rebuild(model, in: file) { done, _ in if done > 50 { throw Cancelled() } }
    }
    #expect(try content(file) == before)
  }

  private static let optionalText = ModelSchema(
    name: "t",
    fields: [
      FieldSchema(name: "id", type: .integer, declaredType: "INTEGER", isRowID: true),
      FieldSchema(name: "a", type: .text, declaredType: "TEXT"),
    ], key: ["id"], isAdopted: true)

  @Test func aCheckThatNamesItsTableIsKept() throws {
    // The table has another name while records are copied.
    let file = try SchemaTestFile(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT CHECK (T . a <> '')); INSERT INTO t VALUES (1, 'a')"
    )
    #expect(try rebuild(Self.optionalText, in: file).isBlocked == false)
    let table = try #require(try file.catalog().table(named: "t"))
    #expect(table.checks.map(\.condition) == ["a <> ''"])
    #expect(table.columns.map(\.isNotNull) == [false, true])
    #expect(throws: SQLiteError.self) {
      try file.connect().execute("INSERT INTO t VALUES (2, '')")
    }
  }

  @Test func aTableThatCannotBeReadSafelyIsBlocked() throws {
    let file = try SchemaTestFile(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT CHECK (main.t.a <> '')); INSERT INTO t VALUES (1, 'a')"
    )
    let before = try file.catalog()
    #expect(try rebuild(Self.optionalText, in: file).isBlocked)
    #expect(try file.catalog() == before)
  }

  @Test func aConnectionThatStaysWithoutForeignKeysIsNotUsedAgain() throws {
    let connection = try Self.file().connect()
    try connection.withForeignKeysOff {}
    #expect(try connection.enforcesForeignKeys)
    // Inside a transaction the pragma does nothing.
    #expect(throws: ConnectionFailure.self) {
      try connection.withForeignKeysOff { try connection.execute("BEGIN") }
    }
  }

  @Test func aDifferenceInTheInventoryIsFound() throws {
    let file = try Self.file()
    let connection = try file.connect()
    let before = try SchemaInventory(reading: connection)
    #expect(
      try before.differences(from: SchemaInventory(reading: connection), except: "the table")
        == [])
    try connection.execute(
      """
      DROP TRIGGER gone;
      DROP INDEX partial;
      CREATE INDEX partial ON "the table" (parent);
      """)
    #expect(
      try before.differences(from: SchemaInventory(reading: connection), except: "the table")
        == ["the index partial", "the trigger gone"])
  }
}
