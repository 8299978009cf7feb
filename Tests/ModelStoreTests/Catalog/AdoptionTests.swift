internal import Foundation
internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct AdoptionTests {
  private func adopt(_ script: String) throws -> [AdoptableTable] {
    let file = try SchemaTestFile(script)
    let connection = try file.connect()
    return try Adoption(catalog: Catalog(reading: connection)).tables(on: connection)
  }

  private func field(
    _ name: String, _ type: FieldType = .any, _ declaredType: String? = nil,
    optional: Bool = true
  ) -> FieldSchema {
    FieldSchema(name: name, type: type, declaredType: declaredType, isOptional: optional)
  }

  @Test func everyPartOfATableIsRead() throws {
    var id = field("id", .integer, "INTEGER", optional: false)
    id.isRowID = true
    var name = field("the \"big\" name", .text, "NVARCHAR(20)", optional: false)
    name.isUnique = true
    name.collation = .nocase
    name.defaultSQL = "'x'"
    name.rules = [
      RuleSchema(name: "t \"1.check1", message: "must satisfy 1", condition: "1"),
      RuleSchema(name: "n2", message: "must satisfy id > 0", condition: "id > 0"),
    ]
    var parent = field("parent", .integer, "INT")
    parent.reference = ReferenceSchema(table: "t \"1", onDelete: .setNull, onUpdate: .cascade)
    var twice = field("twice", .any, nil)
    twice.generated = .virtual
    var kept = field("kept", .real, "REAL")
    kept.generated = .stored
    let expected = ModelSchema(
      name: "t \"1",
      fields: [
        id, name, parent, field("price", .any, "DECIMAL(10,2)"), field("at", .any, "DATETIME"),
        field("yes", .any, "BOOLEAN"), field("ratio", .real, "DOUBLE"), field("raw", .any, "BLOB"),
        field("free"), twice, kept,
      ],
      key: ["id"], uniques: [["parent", "price"]],
      indexes: [
        IndexSchema(name: "i", fields: ["at", "the \"big\" name"]),
        IndexSchema(name: "u", fields: ["free"], isUnique: true),
      ],
      rules: [
        RuleSchema(name: "t \"1.check2", message: "must satisfy ratio < 9", condition: "ratio < 9")
      ], isAdopted: true)
    let found = try adopt(
      """
      CREATE TABLE "t ""1" (
        id INTEGER PRIMARY KEY, "the ""big"" name" NVARCHAR(20) NOT NULL UNIQUE COLLATE NOCASE
          DEFAULT 'x' CHECK (1) CONSTRAINT n2 CHECK (id > 0),
        parent INT REFERENCES "t ""1" ON DELETE SET NULL ON UPDATE CASCADE,
        price DECIMAL(10,2), at DATETIME, yes BOOLEAN, ratio DOUBLE, raw BLOB, free,
        twice AS (id * 2), kept REAL AS (id / 2.0) STORED,
        UNIQUE (PARENT, price), CHECK (ratio < 9)
      );
      CREATE INDEX i ON "t ""1" (AT, "the ""big"" name");
      CREATE UNIQUE INDEX u ON "t ""1" (free);
      """)
    #expect(found == [AdoptableTable(name: "t \"1", result: .model(expected))])
  }

  @Test func strictTypesAreUsedAsDeclared() throws {
    let found = try adopt(
      "CREATE TABLE t (a TEXT PRIMARY KEY, b INT, c REAL, d BLOB, e ANY) STRICT, WITHOUT ROWID")
    let expected = ModelSchema(
      name: "t",
      fields: [
        field("a", .text, "TEXT", optional: false), field("b", .integer, "INT"),
        field("c", .real, "REAL"), field("d", .blob, "BLOB"), field("e", .any, "ANY"),
      ], key: ["a"], isWithoutRowID: true, isAdopted: true)
    #expect(found == [AdoptableTable(name: "t", result: .model(expected))])
  }

  @Test(arguments: [
    ("t (a, b, PRIMARY KEY (b, a))", "", ["b", "a"]),
    ("t (a TEXT PRIMARY KEY)", "", ["a"]),
    ("t (a INT NOT NULL, b NOT NULL, UNIQUE (a, b))", "", ["a", "b"]),
    ("t (a NOT NULL, b NOT NULL, c NOT NULL UNIQUE, UNIQUE (a, b))", "", ["c"]),
    ("t (a, b NOT NULL UNIQUE, PRIMARY KEY (a))", "INSERT INTO t VALUES (NULL, 1)", ["b"]),
    ("t (a COLLATE NOCASE NOT NULL, b PRIMARY KEY NOT NULL)", "", ["b"]),
    ("t (a NOT NULL); CREATE UNIQUE INDEX i ON t (A COLLATE NOCASE)", "", ["a"]),
  ])
  func thePrimaryKeyOfATableIsFound(table: String, rows: String, expected: [String]) throws {
    let found = try adopt("CREATE TABLE \(table); \(rows)")
    let schema = try #require(found.first?.schema)
    #expect(schema.key == expected)
    #expect(schema.fields.filter { expected.contains($0.name) }.allSatisfy { !$0.isOptional })
    #expect(schema.fields.filter(\.isRowID) == [])
    #expect(
      schema.indexes.count + schema.uniques.count + schema.fields.filter(\.isUnique).count <= 1)
  }

  @Test(arguments: [
    (
      "CREATE TABLE t (a, b UNIQUE)",
      """
      t has no primary key, and no UNIQUE constraint over columns that are NOT NULL. Add a unique \
      index over such columns, then adopt the table.
      """
    ),
    (
      "CREATE TABLE t (a NOT NULL); CREATE UNIQUE INDEX i ON t (a) WHERE a > 1",
      """
      t has no primary key, and no UNIQUE constraint over columns that are NOT NULL. Add a unique \
      index over such columns, then adopt the table.
      """
    ),
    (
      "CREATE TABLE t (a, b, PRIMARY KEY (a, b)); INSERT INTO t VALUES (1, NULL)",
      """
      The primary key column (a, b) of t holds NULL, so some rows have no key. Give them one, then \
      adopt the table.
      """
    ),
    (
      "CREATE TABLE t (a TEXT COLLATE NOCASE NOT NULL, PRIMARY KEY (a COLLATE BINARY))",
      """
      The primary key of t compares by another collation than its columns, so it does not \
      distinguish the records.
      """
    ),
    ("CREATE VIEW t AS SELECT * FROM gone", "SQLite cannot read t: no such table: main.gone."),
    (
      "CREATE TABLE t (\"\" INTEGER PRIMARY KEY)",
      "t has an empty name or a column with one; rename it."
    ),
    ("CREATE TABLE _ms_t (a INTEGER PRIMARY KEY)", "_ms_t is one of the store's own tables."),
  ])
  func aTableThatCannotBecomeAModelHasAReason(script: String, reason: String) throws {
    #expect(try adopt(script).map(\.reason) == [reason])
  }

  @Test func tablesOfSQLiteAndOfModulesAreNamed() throws {
    let found = try adopt(
      "CREATE TABLE s (a INTEGER PRIMARY KEY AUTOINCREMENT); CREATE VIRTUAL TABLE f USING fts5(b)")
    #expect(
      found.map { "\($0.name): \($0.reason ?? "a model")" } == [
        "f: f is a virtual table: its changes cannot be observed.",
        "f_config: f_config is the storage of a virtual table, and only the virtual table may write it.",
        "f_content: f_content is the storage of a virtual table, and only the virtual table may write it.",
        "f_data: f_data is the storage of a virtual table, and only the virtual table may write it.",
        "f_docsize: f_docsize is the storage of a virtual table, and only the virtual table may write it.",
        "f_idx: f_idx is the storage of a virtual table, and only the virtual table may write it.",
        "s: a model",
        "sqlite_sequence: sqlite_sequence is one of SQLite's own tables.",
      ])
  }

  @Test func viewsAreReadOnlyModels() throws {
    let found = try adopt(
      """
      CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR(5) NOT NULL);
      CREATE VIEW v AS SELECT a, b AS "b b", a + 1 AS c FROM t;
      """)
    let expected = ModelSchema(
      name: "v", kind: .view,
      fields: [field("a", .integer, "INTEGER"), field("b b", .text, "VARCHAR(5)"), field("c")],
      key: [], isAdopted: true)
    #expect(found.last == AdoptableTable(name: "v", result: .model(expected)))
  }

  @Test func partsOfATableThatTheModelLacksAreReported() throws {
    let found = try adopt(
      """
      CREATE TABLE t (a, b, PRIMARY KEY (a, b), FOREIGN KEY (b, a) REFERENCES t (a, b));
      CREATE INDEX half ON t (a) WHERE b; CREATE INDEX sum ON t (a + b);
      """)
    #expect(
      found.map(\.notes) == [
        [
          """
          The key column (a, b) of t accepts NULL. No row has NULL there now. A row in which \
          another program stores NULL would have no key.
          """,
          """
          The foreign key (b, a) of t to t has several columns; SQLite enforces it, but the model \
          does not contain it.
          """,
          "The index half of t covers only some rows; SQLite uses it, but the model does not contain it.",
          "The index sum of t covers an expression; SQLite uses it, but the model does not contain it.",
        ]
      ])
  }

  @Test(arguments: [21, 22] as [UInt64])
  func adoptedModelsDifferInNothingFromTheirTables(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let types = [
      "", "INTEGER", "TEXT", "VARCHAR(3)", "DECIMAL", "DATETIME", "BLOB", "REAL", "BOOL",
    ]
    let constraints = [
      "NOT NULL", "UNIQUE", "DEFAULT 5", "DEFAULT (1 + 2)", "COLLATE NOCASE", "CHECK (1)",
      "CONSTRAINT named CHECK (2)", "REFERENCES p ON DELETE CASCADE", "PRIMARY KEY",
    ]
    let file = try SchemaTestFile("CREATE TABLE p (a INTEGER PRIMARY KEY)")
    let connection = try file.connect()
    for number in 0..<150 {
      var hasKey = false
      let columns = (0..<3).map { column in
        let chosen = constraints.filter { constraint in
          guard Int.random(in: 0..<3, using: &random) == 0 else { return false }
          guard constraint == "PRIMARY KEY" else { return true }
          defer { hasKey = true }
          return !hasKey
        }
        return "c\(column) \(types[Int.random(in: 0..<types.count, using: &random)]) "
          + chosen.joined(separator: " ")
      }
      let options = hasKey && Bool.random(using: &random) ? "WITHOUT ROWID" : ""
      try connection.execute(
        "CREATE TABLE t\(number) (\(columns.joined(separator: ", "))) \(options)")
    }
    let catalog = try Catalog(reading: connection)
    let models = try Adoption(catalog: catalog).tables(on: connection).compactMap(\.schema)
    #expect(models.count > 50, "seed \(seed)")
    #expect(
      SchemaDifference.differences(of: models, in: catalog).map(\.sentence) == [], "seed \(seed)")
    #expect(SchemaValidation(models).problems == [], "seed \(seed)")
  }

  private static let chinook: URL = {
    var url = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { url.deleteLastPathComponent() }
    return url.appendingPathComponent("shared/data/chinook.sqlite")
  }()

  @Test(
    .enabled(
      if: FileManager.default.fileExists(atPath: chinook.path),
      "needs shared/data/chinook.sqlite beside the project"))
  func everyTableOfChinookBecomesAModel() throws {
    let file = try SchemaTestFile()
    try FileManager.default.removeItem(atPath: file.path)
    try FileManager.default.copyItem(atPath: Self.chinook.path, toPath: file.path)
    let connection = try file.connect()
    let catalog = try Catalog(reading: connection)
    let found = try Adoption(catalog: catalog).tables(on: connection)
    #expect(
      found.map { "\($0.name) (\($0.schema?.key.joined(separator: ", ") ?? "-"))" } == [
        "Album (AlbumId)", "Artist (ArtistId)", "Customer (CustomerId)", "Employee (EmployeeId)",
        "Genre (GenreId)", "Invoice (InvoiceId)", "InvoiceLine (InvoiceLineId)",
        "MediaType (MediaTypeId)", "Playlist (PlaylistId)", "PlaylistTrack (PlaylistId, TrackId)",
        "Track (TrackId)",
      ])
    #expect(found.flatMap(\.notes) == [])
    let models = found.compactMap(\.schema)
    #expect(SchemaDifference.differences(of: models, in: catalog) == [])
    let track = try #require(models.last)
    #expect(
      track.fields.map {
        "\($0.name) \($0.type) \($0.declaredType ?? "") \($0.isOptional) \($0.reference?.table ?? "")"
      }
        == [
          "TrackId integer INTEGER false ", "Name text NVARCHAR(200) false ",
          "AlbumId integer INTEGER true Album", "MediaTypeId integer INTEGER false MediaType",
          "GenreId integer INTEGER true Genre", "Composer text NVARCHAR(220) true ",
          "Milliseconds integer INTEGER false ", "Bytes integer INTEGER true ",
          "UnitPrice any NUMERIC(10,2) false ",
        ])
    #expect(track.rowIDFieldIndex == 0)
    let entry = try #require(models.first { $0.name == "PlaylistTrack" })
    #expect(entry.rowIDFieldIndex == nil)
  }
}
