internal import Testing

@testable internal import ModelStore
@testable internal import SchemaCompiler

@Suite(.tags(.unit)) struct SchemaSQLTests {
  @Test func aTableIsWrittenForPeopleToRead() {
    #expect(
      SchemaSQL(SchemaSamples.track).objects.map(\.sql) == [
        """
        CREATE TABLE "an ""x"" order" (
          "id" INTEGER PRIMARY KEY,
          "the title" TEXT NOT NULL DEFAULT 'it''s'
            CONSTRAINT "Track.title.length" CHECK (length("the title") BETWEEN 1 AND 200),
          "albumID" INTEGER REFERENCES "Album" ("id") ON DELETE CASCADE ON UPDATE SET NULL,
          "isLive" INTEGER NOT NULL DEFAULT 0
            CONSTRAINT "Track.isLive.boolean" CHECK ("isLive" IN (0, 1)),
          "added" REAL NOT NULL DEFAULT (unixepoch() - 978307200),
          "raw" ANY COLLATE "my order",
          UNIQUE ("the title", "albumID"),
          CONSTRAINT "Track.whole" CHECK (isLive OR raw IS NULL)
        ) STRICT
        """,
        """
        CREATE INDEX "Track by age"
        ON "an ""x"" order" ("added", "id")
        """,
        """
        CREATE INDEX "_ms_index_an ""x"" order.albumID"
        ON "an ""x"" order" ("albumID")
        """,
      ])
  }

  @Test func compositeKeysAndTablesWithoutRowIDAreWritten() {
    #expect(
      SchemaSQL(SchemaSamples.entry).objects.map(\.sql) == [
        """
        CREATE TABLE "Entry" (
          "list" TEXT NOT NULL REFERENCES "Playlist" ON DELETE RESTRICT,
          "track" INTEGER NOT NULL REFERENCES "an ""x"" order",
          "note" BLOB,
          PRIMARY KEY ("list", "track")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE INDEX "_ms_index_Entry.track"
        ON "Entry" ("track")
        """,
      ])
  }

  @Test func shortTablesAreWritten() {
    #expect(
      [SchemaSamples.playlist, SchemaSamples.album].flatMap { SchemaSQL($0).objects }.map(\.sql)
        == [
          """
          CREATE TABLE "Playlist" (
            "id" TEXT NOT NULL PRIMARY KEY
          ) STRICT
          """,
          """
          CREATE TABLE "Album" (
            "id" INTEGER PRIMARY KEY,
            "title" TEXT NOT NULL UNIQUE COLLATE NOCASE
          ) STRICT
          """,
        ])
  }

  @Test func aColumnIsAddedWithAllItsConstraints() {
    let field = FieldSchema(
      name: "stars", type: .integer, defaultSQL: "-1",
      rules: [RuleSchema(name: "Track.stars.range", message: "", condition: "\"stars\" < 6")])
    #expect(
      SchemaSQL(SchemaSamples.track).addColumn(field).sql == """
        ALTER TABLE "an ""x"" order"
        ADD COLUMN "stars" INTEGER NOT NULL DEFAULT -1
            CONSTRAINT "Track.stars.range" CHECK ("stars" < 6)
        """)
  }

  @Test(arguments: [
    ("1", true, true, false), ("-1.5e3", true, true, false), ("'a;b'", true, true, false),
    ("x'00'", true, true, false), ("null", true, true, true), ("TRUE", true, true, false),
    ("current_timestamp", true, false, false), ("1 + 1", false, false, false),
    ("- 'a'", false, false, false), ("-NULL", false, false, false), ("f()", false, false, false),
    ("(1)", false, false, false), ("", false, false, false),
  ])
  func theKindOfADefaultIsRecognised(
    sql: String, isLiteral: Bool, isConstant: Bool, isNull: Bool
  ) {
    let value = SQLDefault(sql)
    #expect(
      [value.isLiteral, value.isConstant, value.isNull] == [isLiteral, isConstant, isNull])
  }

  @Test func aCreatedTableMatchesItsModel() throws {
    let file = try SchemaTestFile()
    let connection = try file.connect()
    var models = SchemaSamples.all
    // SQLite refuses to create a table whose collation is not registered.
    models[1].fields[5].collation = .rtrim
    for model in models {
      for object in SchemaSQL(model).objects { try connection.execute(object.sql) }
    }
    #expect(SchemaDifference.differences(of: models, in: try file.catalog()) == [])
    try connection.execute(
      """
      INSERT INTO Album (title) VALUES ('Kind of Blue');
      INSERT INTO "an ""x"" order" (albumID) VALUES (1);
      """)
    #expect(
      try connection.lines(
        "SELECT id, \"the title\", isLive, typeof(added) FROM \(identifier: "an \"x\" order")")
        == ["1, 'it''s', 0, 'real'"])
    #expect(throws: SQLiteError.self) {
      try connection.execute("UPDATE \"an \"\"x\"\" order\" SET isLive = 2")
    }
  }
}
