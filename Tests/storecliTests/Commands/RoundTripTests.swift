import Foundation
import ModelStore
import Testing

/// What an export writes, an import into an empty copy reads: afterwards the content hashes are
/// equal. Of the formats, plain, YAML, Markdown and tables are for people and are not imported.
@Suite(.tags(.process)) struct RoundTripTests {
  /// A database of another program, and what it has to offer.
  struct World: CustomTestStringConvertible {
    var name: String
    var schema: String
    var content: String
    /// CSV and TSV refuse values that they cannot distinguish, such as a number and a text in a
    /// column without a type.
    var formats = ["csv", "tsv", "json", "ndjson"]

    var testDescription: String { name }
  }

  static let worlds = [
    World(
      name: "self references",
      schema: """
        CREATE TABLE Employee(
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, boss INTEGER REFERENCES Employee(id));
        CREATE TABLE Node(
          a TEXT NOT NULL, b INTEGER NOT NULL, upA TEXT, upB INTEGER, PRIMARY KEY(a, b),
          FOREIGN KEY(upA, upB) REFERENCES Node(a, b)) WITHOUT ROWID;
        """,
      content: """
        PRAGMA foreign_keys = OFF;
        INSERT INTO Employee VALUES (1, 'a', 2), (2, 'b', NULL), (3, 'c', 3), (4, 'd', 5), (5, 'e', 4);
        INSERT INTO Node VALUES ('x', 1, 'y', 2), ('y', 2, 'x', 1), ('y', 3, NULL, NULL);
        """),
    World(
      name: "a circle of two tables",
      schema: """
        CREATE TABLE Band(
          id INTEGER PRIMARY KEY, leader INTEGER NOT NULL REFERENCES Singer ON DELETE CASCADE);
        CREATE TABLE Singer(id INTEGER PRIMARY KEY, band INTEGER NOT NULL REFERENCES Band);
        """,
      content: """
        PRAGMA foreign_keys = OFF;
        INSERT INTO Band VALUES (1, 10), (2, 20);
        INSERT INTO Singer VALUES (10, 1), (20, 2), (21, 2);
        """),
    World(
      name: "computed columns",
      schema: """
        CREATE TABLE Line(
          id INTEGER PRIMARY KEY, count INTEGER NOT NULL, price REAL,
          total REAL AS (count * price) STORED, label TEXT AS ('n' || id) VIRTUAL,
          half REAL AS (count / 2.0), missing TEXT AS (NULL));
        """,
      content:
        "INSERT INTO Line(id, count, price) VALUES (1, 2, 1.25), (2, 3, NULL), (3, 1, 1e300);"
    ),
    World(
      name: "awkward texts",
      schema: """
        CREATE TABLE Text(k TEXT PRIMARY KEY COLLATE NOCASE, v TEXT, w TEXT DEFAULT 'default');
        """,
      content: """
        INSERT INTO Text VALUES ('empty', '', NULL), ('none', NULL, ''), ('nul', 'a' || char(0) || 'b', '\\N'),
          ('lines', 'a' || char(10) || 'b' || char(13, 10) || 'c' || char(13), char(9) || '\\t'),
          ('quotes', '"a" ''b'', c', ' b '), ('', 'é', 'e\u{301}'), ('NULL', 'null', '\\'),
          ('mark', '\u{feff}x', '=1+1'), ('true', 'true', '1');
        """),
    World(
      name: "strict numbers and bytes",
      schema: """
        CREATE TABLE Strict(
          k INTEGER NOT NULL, m TEXT NOT NULL, i INT, r REAL, b BLOB, PRIMARY KEY(m, k))
          STRICT, WITHOUT ROWID;
        """,
      content: """
        INSERT INTO Strict VALUES
          (1, 'a', 9223372036854775807, 9e999, x''), (2, 'a', -9223372036854775808, -9e999, x'00ff'),
          (1, 'b', NULL, 0.1, NULL), (3, '', 0, 1e-300, zeroblob(300)), (4, '', 1, 2.0, x'41');
        """),
    World(
      name: "values of any class",
      schema: "CREATE TABLE Loose(k INTEGER PRIMARY KEY, v, w ANY);",
      content: """
        INSERT INTO Loose VALUES (1, 1, 1.0), (2, '1', x'31'), (3, 9e999, -9e999), (4, '', x''),
          (5, NULL, 'text'), (6, -0.0, 0);
        """, formats: ["json", "ndjson"]),
    World(
      name: "values that overrule the declaration",
      schema: """
        CREATE TABLE Overruled(
          id INTEGER PRIMARY KEY, loose BOOLEAN, small BOOLEAN, price NUMERIC, uid UUID, uids GUID,
          note JSON, notes JSONB, bits JSONB, moment DATE, day DATE, code VARBINARY(20),
          codes BINARY(4), flags BIT, hour TIME, bare);
        """,
      content: """
        INSERT INTO Overruled VALUES
          (1, 0, 0, 'abc', 5, 1.5, 'x', x'0c', x'0c', 'soon', 20240131, 'abcd', 1234, x'01', 1, 1),
          (2, 1, 1, 1.5, 'c0ffee00-0000-4000-8000-00000000000a', 2, '{"a": 1}',
            '{"$base64":"DA=="}', x'', 1600000000, 20240201, 'word', 5.5, x'b6bb9e', 'noon', 'a'),
          (3, 2, 2, 9223372036854775807, x'00', 3, 7, '{"$stored":1}', NULL, '2021-02-03', 1, x'00ff',
            NULL, NULL, 1.5, x'00'),
          (4, 'true', NULL, 'inf', 'abc', NULL, 'null', '[1]', NULL, 1.5, NULL, '', NULL, NULL,
            x'00', NULL),
          (5, 1.5, NULL, 9e999, '', NULL, 1.5, '"x"', NULL, x'01', NULL, 7, NULL, NULL, NULL, 2.5);
        """, formats: ["json", "ndjson"]),
    World(
      name: "blobs among JSON and texts among bytes",
      schema: """
        CREATE TABLE Mixed(id INTEGER PRIMARY KEY, d JSONB, n VARBINARY(20), b BYTEA);
        """,
      content: """
        INSERT INTO Mixed VALUES (1, x'0c', 'abcd', 'word'), (2, x'00', 'word', x'00');
        """, formats: ["json", "ndjson"]),
    World(
      name: "unique keys and a view",
      schema: """
        CREATE TABLE Coded(code TEXT NOT NULL UNIQUE, parent TEXT REFERENCES Coded(code));
        CREATE VIEW Codes AS SELECT code FROM Coded;
        """,
      content: """
        PRAGMA foreign_keys = OFF;
        INSERT INTO Coded VALUES ('b', 'z'), ('a', 'b'), ('z', NULL);
        """),
    World(
      name: "dates and UUIDs",
      schema: """
        CREATE TABLE Dated(
          id INTEGER PRIMARY KEY, fraction DATETIME, iso TIMESTAMP, day DATETIME, moment DATE,
          mixed TIMESTAMP WITH TIME ZONE, upper UUID, lower GUID, either UUID);
        """,
      content: """
        INSERT INTO Dated VALUES
          (1, '2021-02-03 04:05:06.120', '2021-02-03T04:05:06Z', '2021-02-03', '2021-02-03 04:05',
            '2021-02-03T04:05:06+02:00', 'C0FFEE00-0000-4000-8000-00000000000A',
            'c0ffee00-0000-4000-8000-00000000000a', 'C0ffee00-0000-4000-8000-00000000000A'),
          (2, '2021-02-03 04:05:06.000', '2021-02-03T00:00:00Z', '2021-02-04', '2021-02-03 00:00',
            '2021-02-03', 'C0FFEE00-0000-4000-8000-00000000000B',
            '00000000-0000-4000-8000-000000000000', 'c0ffee00-0000-4000-8000-00000000000b'),
          (3, NULL, NULL, NULL, NULL, '+012026-01-01', NULL, NULL, NULL);
        """),
  ]

  /// A column that was empty does not say in which unit it counts, so its numbers are refused until
  /// it is set.
  @Test(arguments: ["csv", "tsv", "json", "ndjson"])
  func datesAsNumbersComeBackOnceTheirUnitIsSet(format: String) throws {
    let place = try Workplace()
    let schema = "CREATE TABLE T(id INTEGER PRIMARY KEY, u TIMESTAMP, m DATETIME, j DATE);"
    try RawDatabase(place.path("full.db")).execute(
      schema + """
        INSERT INTO T VALUES
          (1, 1600000000, 1600000000250, 2459106.5), (2, 1600000000.25, -5, 2459107.123456789),
          (3, NULL, NULL, 2459108);
        """)
    try RawDatabase(place.path("empty.db")).execute(schema)
    for name in ["full.db", "empty.db"] {
      try #require(try place.run("adopt", "-d", name).code == 0)
    }
    try place.run("export", "T", "--to", "T.\(format)", "-d", "full.db")
    let refused = try place.run("import", "T.\(format)", "-d", "empty.db")
    #expect(refused.code == 4)
    #expect(
      refused.err.contains("adopt --type TABLE.u=date:unix, date:unixms or date:julian; got"),
      "\(refused.err)")
    let set = try place.run(
      "adopt", "-d", "empty.db", "--type", "T.u=date:unix", "--type", "T.m=date:unixms", "--type",
      "T.j=date:julian")
    #expect(set.code == 0, "\(set)")
    try expectRoundTrip(from: "full.db", to: "empty.db", in: place, format: format)
  }

  /// A cell has no type, so an empty copy reads it as the declaration says.
  @Test(arguments: [
    ("n VARBINARY(20)", "'abcd'", "cannot distinguish the text in n from a blob"),
    ("n BYTEA", "1234", "cannot distinguish the number in n from a blob"),
    (
      "n BOOLEAN", "'true'",
      "would bring back another value for the text in n, which does not fit the declared type BOOLEAN"
    ),
    ("n BIT", "x'b6bb9e'", "cannot distinguish the blob in n from text"),
  ])
  func valuesThatAnEmptyCopyWouldReadDifferentlyAreRefusedAsCSV(
    column: String, value: String, problem: String
  ) throws {
    let place = try Workplace()
    try RawDatabase(place.path("full.db")).execute(
      "CREATE TABLE T(id INTEGER PRIMARY KEY, \(column)); INSERT INTO T VALUES (1, \(value))")
    try #require(try place.run("adopt", "-d", "full.db").code == 0)
    for format in ["csv", "tsv"] {
      #expect(
        try place.run("export", "T", "-o", format, "--to", "T.\(format)", "-d", "full.db")
          == Outcome(
            code: 1, out: "",
            err: "error[output]: T 1: \(format) \(problem).\nhint: add -o ndjson\n"))
    }
  }

  /// What the copy refuses is not changed silently.
  @Test func aTextThatAnEmptyCopyRefusesIsExportedAsCSV() throws {
    let place = try Workplace()
    let schema = "CREATE TABLE T(id INTEGER PRIMARY KEY, n BOOLEAN);"
    try RawDatabase(place.path("full.db")).execute(
      schema + "INSERT INTO T VALUES (1, 1), (2, 'maybe')")
    try RawDatabase(place.path("empty.db")).execute(schema)
    for name in ["full.db", "empty.db"] {
      try #require(try place.run("adopt", "-d", name).code == 0)
    }
    #expect(try place.run("export", "T", "--to", "T.csv", "-d", "full.db").code == 0)
    #expect(
      try place.run("import", "T.csv", "-d", "empty.db")
        == Outcome(
          code: 4, out: "",
          err: """
            error[invalidValue]: T.csv: line 3: n takes true or false; got “maybe”.
              nothing was written
            hint: correct line 3, or add --on-error collect to import the others

            """))
    let skipped = try place.run("import", "T.csv", "-d", "empty.db", "--on-error", "skip", "-n")
    #expect(
      skipped.err.hasSuffix(
        """
          line 3: n takes true or false; got “maybe”.
        dry run: nothing was written

        """), "\(skipped)")
    try #require(try place.run("adopt", "--type", "T.n=any", "-d", "empty.db").code == 0)
    try expectRoundTrip(from: "full.db", to: "empty.db", in: place, format: "csv")
  }

  /// Exports every table of `full`, imports all into `empty`, and compares.
  private func expectRoundTrip(
    from full: String, to empty: String, in place: Workplace, format: String,
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let tables = try Store(at: place.path(full)).schema.models.filter { $0.kind == .table }
      .map(\.name)
    for table in tables {
      let exported = try place.run(
        "export", table, "--to", "\(table).\(format)", "-o", format, "-d", full)
      #expect(exported.code == 0, "\(exported)", sourceLocation: sourceLocation)
    }
    let files = tables.map { "\($0).\(format)" }
    let imported = try place.run(["import", "-d", empty, "--skip-code-validators"] + files)
    #expect(imported.code == 0, "\(imported)", sourceLocation: sourceLocation)
    let expected = try place.run("hash", "-d", full)
    #expect(expected.out.count == 65, "\(expected)", sourceLocation: sourceLocation)
    #expect(try place.run("hash", "-d", empty) == expected, sourceLocation: sourceLocation)
  }

  @Test(arguments: worlds)
  func anExportCanBeImportedIntoAnEmptyCopyOfItsTable(world: World) throws {
    let place = try Workplace()
    try RawDatabase(place.path("full.db")).execute(world.schema + world.content)
    try #require(try place.run("adopt", "-d", "full.db").code == 0)
    for format in world.formats {
      let empty = "empty-\(format).db"
      try RawDatabase(place.path(empty)).execute(world.schema)
      try #require(try place.run("adopt", "-d", empty).code == 0)
      try expectRoundTrip(from: "full.db", to: empty, in: place, format: format)
    }
  }

  @Test(arguments: ["csv", "tsv", "json", "ndjson"])
  func anExportCanBeImportedIntoDeclaredModels(format: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    try FileManager.default.copyItem(
      atPath: place.path("music.store"), toPath: place.path("empty.store"))
    for model in ["Track", "Album", "Artist"] {
      try place.run("delete", model, "--where", "id > 0", "--yes", "-q", "-d", "empty.store")
    }
    try expectRoundTrip(from: "music.store", to: "empty.store", in: place, format: format)
  }

  @Test func anExportCanBeImportedIntoAnAdoptedList() throws {
    let place = try Workplace()
    let schema = """
      CREATE TABLE Playlist(Id INTEGER PRIMARY KEY, Name TEXT);
      CREATE TABLE Track(Id INTEGER PRIMARY KEY, Name TEXT);
      CREATE TABLE Entry(
        EntryId INTEGER PRIMARY KEY, Owner INT NOT NULL REFERENCES Playlist,
        TrackId INT NOT NULL REFERENCES Track, Position INTEGER, Note TEXT);
      """
    for name in ["full.db", "empty.db"] {
      try RawDatabase(place.path(name)).execute(schema)
      let store = try Store(at: place.path(name))
      try store.adopt(["Playlist", "Track"])
      try store.adopt(
        ListSchema(
          name: "tracks", elementTable: "Track", slotTable: "Entry",
          columns: .init(owner: "Owner", element: "TrackId", position: "Position")),
        of: "Playlist")
    }
    try RawDatabase(place.path("full.db")).execute(
      """
      INSERT INTO Playlist VALUES (1, 'one');
      INSERT INTO Track VALUES (1, 'a'), (2, 'b');
      INSERT INTO Entry VALUES (9, 1, 2, 5, 'x'), (3, 1, 1, 7, NULL), (4, 1, 2, 9, '');
      """)
    try expectRoundTrip(from: "full.db", to: "empty.db", in: place, format: "ndjson")
  }

  @Test(.enabled(if: ChinookTests.isThere, "needs shared/data/chinook.sqlite beside the project"))
  func anExportOfChinookCanBeImportedAgain() throws {
    let place = try Workplace()
    try FileManager.default.copyItem(
      atPath: ChinookTests.sample.path, toPath: place.path("full.db"))
    chmod(place.path("full.db"), 0o644)
    try FileManager.default.copyItem(
      atPath: place.path("full.db"), toPath: place.path("empty.db"))
    let raw = try RawDatabase(place.path("empty.db"))
    let count = try raw.value("SELECT count(*) FROM sqlite_schema WHERE type = 'table'")
    for index in 0..<(try #require(Int(count))) {
      let table = try raw.value(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name LIMIT 1 OFFSET \(index)")
      try raw.execute("DELETE FROM \"\(table)\"")
    }
    for name in ["full.db", "empty.db"] {
      try #require(try place.run("adopt", "-d", name).code == 0)
    }
    try expectRoundTrip(from: "full.db", to: "empty.db", in: place, format: "ndjson")
  }
}
