internal import Testing

@testable internal import ModelStore

/// Models with everything that a declaration can say.
enum SchemaSamples {
  static let album = ModelSchema(
    name: "Album",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "title", type: .text, isUnique: true, collation: .nocase),
    ], key: ["id"])

  static let track = ModelSchema(
    name: "Track", table: "order \"x\"",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(
        name: "title", column: "the title", type: .text, defaultSQL: "'it''s'",
        rules: [
          RuleSchema(
            name: "Track.title.length", message: "must have 1 to 200 characters",
            condition: "length(\"the title\") BETWEEN 1 AND 200")
        ]),
      FieldSchema(
        name: "albumID", type: .integer, isOptional: true,
        reference: ReferenceSchema(table: "Album", column: "id", onDelete: .cascade, onUpdate: .setNull)),
      FieldSchema(name: "isLive", type: .boolean, defaultSQL: "0"),
      FieldSchema(name: "added", type: .date, defaultSQL: "unixepoch() - 978307200"),
      FieldSchema(name: "raw", type: .any, isOptional: true, collation: .custom("my order")),
    ],
    key: ["id"], uniques: [["title", "albumID"]],
    indexes: [IndexSchema(name: "Track by age", fields: ["added", "id"])],
    rules: [RuleSchema(name: "Track.whole", message: "", condition: "isLive OR raw IS NULL")])

  static let entry = ModelSchema(
    name: "Entry",
    fields: [
      FieldSchema(
        name: "list", type: .uuid, reference: ReferenceSchema(table: "Playlist", onDelete: .restrict)),
      FieldSchema(name: "track", type: .integer, reference: ReferenceSchema(table: "order \"x\"")),
      FieldSchema(name: "note", type: .blob, isOptional: true),
    ], key: ["list", "track"], isWithoutRowID: true)

  static let playlist = ModelSchema(
    name: "Playlist", fields: [FieldSchema(name: "id", type: .uuid)], key: ["id"])

  static let all = [album, track, entry, playlist]
}

@Suite struct SchemaSQLTests {
  @Test func aTableIsWrittenForPeopleToRead() {
    #expect(
      SchemaSQL(SchemaSamples.track).statements.map(\.sql) == [
        """
        CREATE TABLE "order ""x""" (
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
        ON "order ""x""" ("added", "id")
        """,
        """
        CREATE INDEX "_ms_index_order ""x"".albumID"
        ON "order ""x""" ("albumID")
        """,
      ])
  }

  @Test func compositeKeysAndTablesWithoutRowIDAreWritten() {
    #expect(
      SchemaSQL(SchemaSamples.entry).statements.map(\.sql) == [
        """
        CREATE TABLE "Entry" (
          "list" TEXT NOT NULL REFERENCES "Playlist" ON DELETE RESTRICT,
          "track" INTEGER NOT NULL REFERENCES "order ""x""",
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
      [SchemaSamples.playlist, SchemaSamples.album].flatMap { SchemaSQL($0).statements }.map(\.sql)
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
        ALTER TABLE "order ""x"""
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
  func defaultsAreKnownForWhatTheyAre(
    sql: String, isLiteral: Bool, isConstant: Bool, isNull: Bool
  ) {
    let value = SQLDefault(sql)
    #expect(
      [value.isLiteral, value.isConstant, value.isNull] == [isLiteral, isConstant, isNull])
  }

  @Test func whatWasCreatedDiffersInNothing() throws {
    let file = try SchemaTestFile()
    let connection = try file.connect()
    var models = SchemaSamples.all
    // SQLite refuses to create a table whose collation nobody registered.
    models[1].fields[5].collation = .rtrim
    for model in models {
      for statement in SchemaSQL(model).statements { try connection.run(statement) }
    }
    #expect(SchemaDifference.differences(of: models, in: try file.catalog()) == [])
    try connection.execute(
      """
      INSERT INTO Album (title) VALUES ('Kind of Blue');
      INSERT INTO "order ""x""" (albumID) VALUES (1);
      """)
    #expect(
      try connection.lines("SELECT id, \"the title\", isLive, typeof(added) FROM \(identifier: "order \"x\"")")
        == ["1, 'it''s', 0, 'real'"])
    #expect(throws: SQLiteError.self) { try connection.execute("UPDATE \"order \"\"x\"\"\" SET isLive = 2") }
  }
}

@Suite struct SchemaValidationTests {
  @Test func soundModelsHaveNoProblems() {
    #expect(SchemaValidation(SchemaSamples.all).problems == [])
  }

  @Test func everyProblemIsNamed() {
    func model(_ name: String, _ change: (inout ModelSchema) -> Void) -> ModelSchema {
      var model = ModelSchema(
        name: name, fields: [FieldSchema(name: "id", type: .integer, isRowID: true)], key: ["id"])
      change(&model)
      return model
    }
    let models = [
      model("A") { $0.fields.append(FieldSchema(name: "ID", column: "Id", type: .text)) },
      model("A") { $0.table = "a" },
      model("B") { $0.table = "_MS_models" },
      model("C") { $0.key = [] },
      model("D") { $0.key = ["id", "id", "x"] },
      model("E") { $0.fields[0].isOptional = true },
      model("F") { $0.uniques = [[], ["y"]] },
      model("G") { $0.indexes = [IndexSchema(name: "sqlite_i", fields: ["z"])] },
      model("H") { $0.fields[0].defaultSQL = "1; DROP TABLE H" },
      model("I") { $0.rules = [RuleSchema(name: "r", message: "", condition: "1) --")] },
      model("J") { $0.rules = [RuleSchema(name: "r", message: "", condition: "1")] },
      model("K") { $0.fields[0].generated = .stored },
      model("L") { $0.fields.append(FieldSchema(name: "id", column: "", type: .text)) },
    ]
    #expect(
      SchemaValidation(models).problems == [
        "A.ID: another field is kept in the column Id already.",
        "Two models are called A.",
        "A: another model is kept in the table a already.",
        "B: table names must not begin with sqlite_ or _ms_; _MS_models does.",
        "C has no key.",
        "D: a field is in the key twice.",
        "D: the key names x, which is no field.",
        "E.id is in the key, so it must not be optional.",
        "F: a unique set names no field.",
        "F: a unique set names y, which is no field.",
        "G: an index may not be called sqlite_i.",
        "G: the index sqlite_i names z, which is no field.",
        "H.id: the default is not one SQL expression.",
        "I: the rule r is not one SQL expression without comments.",
        "J: the rule name r is used twice.",
        "K.id is computed by SQLite, which only an adopted table can declare.",
        "L: a field's name is empty or has a NUL in it.",
        "L.id is declared twice.",
      ])
  }
}
