import CSQLite
import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct DerivedBindingTests {
  private static let track = ModelSchema(
    name: "Track",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "title", type: .text),
      FieldSchema(name: "seconds", type: .integer, isOptional: true),
      FieldSchema(name: "minutes", type: .integer, isOptional: true, generated: .virtual),
      FieldSchema(name: "slug", type: .text, defaultSQL: "''"),
      FieldSchema(name: "label", type: .text, isOptional: true, collation: .nocase),
      FieldSchema(name: "ratio", type: .real, isOptional: true),
    ], key: ["id"])

  private static let tables = """
    CREATE TABLE Track (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, seconds INTEGER, minutes INTEGER AS (seconds / 60),
      slug TEXT NOT NULL DEFAULT '', label TEXT COLLATE NOCASE, ratio REAL
    ) STRICT;
    INSERT INTO Track (id, title, seconds) VALUES (1, 'So What', 545), (2, 'Blue', NULL);
    """

  private static func derive(_ field: String, _ sql: String) -> BindingSchema {
    BindingSchema(target: .init(model: "Track", field: field), formula: .derive(sql: sql))
  }

  private static let bindings = [
    // Declared against the order in which values flow.
    derive("label", #"slug || coalesce(' ' || "minutes", '')"#),
    derive("slug", "lower(replace(title, ' ', '-'))"),
    derive("ratio", "seconds / 60.0"),
  ]

  private static let oracle = """
    SELECT count(*) FROM Track
    WHERE hex(slug) <> hex(lower(replace(title, ' ', '-')))
      OR hex(label) IS NOT hex(lower(replace(title, ' ', '-')) || iif(seconds IS NULL, '', ' ' || (seconds / 60)))
      OR ratio IS NOT seconds / 60.0
    """

  /// `IS TRUE` asks whether something is true, so 9 would pass for it.
  @Test func aDerivedTruthValueHasOneForm() throws {
    let fixture = try BindingFixture(Self.tables)
    try fixture.install([Self.derive("seconds", "TRUE")], in: [Self.track])
    try fixture.connection.execute("UPDATE Track SET seconds = 9 WHERE id = 1")
    #expect(try fixture.rows("SELECT seconds FROM Track") == ["1", "1"])
  }

  private static let paths = [
    "INSERT INTO Track (title, slug, label, ratio) VALUES ('New One', 'junk', 'junk', 7)",
    "INSERT INTO Track (title, seconds) SELECT title || ' again', 61 FROM Track",
    "INSERT OR IGNORE INTO Track (id, title) VALUES (1, 'Other'), (9, 'Nine A')",
    "REPLACE INTO Track (id, title, seconds) VALUES (1, 'Other', 5)",
    "INSERT INTO Track (id, title) VALUES (1, 'Up Sert') ON CONFLICT DO UPDATE SET title = excluded.title",
    "INSERT INTO Track (id, title) VALUES (1, 'Up Sert') ON CONFLICT DO UPDATE SET label = 'junk'",
    "UPDATE Track SET title = 'New Title' WHERE id = 1",
    "UPDATE Track SET title = upper(title)",
    "UPDATE Track SET seconds = 3600",
    "UPDATE Track SET seconds = NULL, title = 'x'",
    "UPDATE Track SET slug = 'junk', label = 'junk', ratio = 0",
    "UPDATE Track SET label = upper(label)",
    "UPDATE OR REPLACE Track SET id = 2 WHERE id = 1",
    "UPDATE Track SET rowid = 12 WHERE id = 1",
    "DELETE FROM Track WHERE id = 1",
  ]

  @Test func everyPathOfTheLibraryKeepsTargetsInSync() throws {
    let fixture = try BindingFixture(Self.tables)
    #expect(
      try fixture.install(Self.bindings, in: [Self.track]) == [
        .init(binding: "Track.slug", recordCount: 2), .init(binding: "Track.label", recordCount: 2),
        .init(binding: "Track.ratio", recordCount: 1),
      ])
    for path in Self.paths {
      try fixture.connection.execute("BEGIN; \(path)")
      #expect(try fixture.rows(Self.oracle) == ["0"], "\(path)")
      try fixture.connection.execute("ROLLBACK")
    }
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func everyPathOfTheShellKeepsTargetsInSync() throws {
    let fixture = try BindingFixture(Self.tables)
    try fixture.install(Self.bindings, in: [Self.track])
    let script = Self.paths.map { "BEGIN; \($0); \(Self.oracle); ROLLBACK;" }
    #expect(
      try fixture.shell(script.joined(separator: "\n"))
        == .init(output: Self.paths.map { _ in "0" }, errors: []))
  }

  /// `REAL` cannot hold every integer; a silent loss would make the field and its formula differ
  /// for good.
  @Test func valueThatTheColumnCannotHoldIsRefused() throws {
    let fixture = try BindingFixture(Self.tables)
    try fixture.install([Self.derive("ratio", "seconds")], in: [Self.track])
    try fixture.connection.execute("UPDATE Track SET seconds = 9007199254740992 WHERE id = 1")
    #expect(try fixture.rows("SELECT ratio = 9007199254740992 FROM Track WHERE id = 1") == ["1"])
    let failure = try #require(
      try fixture.failure(of: "UPDATE Track SET seconds = 9007199254740993 WHERE id = 1"))
    #expect(failure.code == .constraintTrigger)
    #expect(try fixture.rows("SELECT seconds FROM Track WHERE id = 1") == ["9007199254740992"])
  }

  /// Both a bound source and what is copied from it are written by one statement, in an order that
  /// SQLite does not define.
  @Test(.enabled(if: Shell.isInstalled, Shell.reason), arguments: [false, true])
  func chainOfBindingsHoldsWhicheverTriggerRunsFirst(isReversed: Bool) throws {
    let fixture = try BindingFixture(
      """
      CREATE TABLE Artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL, sortName TEXT);
      CREATE TABLE Album (id INTEGER PRIMARY KEY, artistID INTEGER, artist TEXT, shelf TEXT);
      """)
    let artist = ModelSchema(
      name: "Artist",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "name", type: .text),
        FieldSchema(name: "sortName", type: .text, isOptional: true),
      ], key: ["id"])
    let album = ModelSchema(
      name: "Album",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "artistID", type: .integer, isOptional: true),
        FieldSchema(name: "artist", type: .text, isOptional: true),
        FieldSchema(name: "shelf", type: .text, isOptional: true),
      ], key: ["id"])
    let bindings = [
      BindingSchema(
        target: .init(model: "Artist", field: "sortName"), formula: .derive(sql: "upper(name)")),
      BindingSchema(
        target: .init(model: "Album", field: "artist"),
        formula: .copy(source: .init(model: "Artist", field: "sortName"), through: "artistID")),
      BindingSchema(
        target: .init(model: "Album", field: "shelf"), formula: .derive(sql: "substr(artist, 1, 1)")
      ),
    ]
    // SQLite fires triggers in an order that follows their creation, so create them both ways
    // round.
    for binding in isReversed ? bindings.reversed() : bindings {
      let needed = bindings.filter { $0 == binding }
      try fixture.install(needed, in: [artist, album])
    }
    let script = """
      INSERT INTO Artist VALUES (1, 'Ann', 'junk'), (2, 'Bob', NULL);
      INSERT INTO Album VALUES (1, 1, 'junk', 'junk'), (2, 2, NULL, NULL), (3, NULL, 'junk', 'junk');
      UPDATE Artist SET sortName = 'junk' WHERE id = 1;
      UPDATE Artist SET name = 'Cid', sortName = 'junk' WHERE id = 2;
      UPDATE Album SET artist = 'junk', shelf = 'junk', artistID = 2 WHERE id = 3;
      REPLACE INTO Artist VALUES (1, 'Dee', 'junk');
      """
    let expected = ["1|1|'DEE'|'D'", "2|2|'CID'|'C'", "3|2|'CID'|'C'"]
    try fixture.connection.execute(script)
    #expect(try fixture.rows("SELECT * FROM Album") == expected)
    try fixture.connection.execute("DELETE FROM Album; DELETE FROM Artist")
    #expect(try fixture.shell(script) == .init(output: [], errors: []))
    #expect(try fixture.rows("SELECT * FROM Album") == expected)
  }

  @Test(arguments: [
    ("nosuch + 1", "no such column: nosuch"), ("(SELECT 1)", "subqueries prohibited"),
    ("random()", "non-deterministic functions prohibited"), ("count(title)", "misuse of aggregate"),
    ("NEW.title", "no such column: NEW.title"), ("rowid", "no such column: rowid"),
    ("nosuch(title)", "no such function: nosuch"), ("title title", "syntax error"),
    ("title, title", "near \",\": syntax error"),
    (
      "shout(title)",
      "other writers do not have the function shout. Use functions built into SQLite."
    ),
  ])
  func anExpressionThatATriggerCannotContainIsRefused(sql: String, reason: String) throws {
    let fixture = try BindingFixture(Self.tables)
    let created = sqlite3_create_function_v2(
      fixture.connection.handle, "shout", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      nil, { context, _, _ in sqlite3_result_int(context, 1) }, nil, nil, nil)
    try #require(created == SQLITE_OK)
    let before = try fixture.rows("SELECT * FROM Track")
    let error = #expect(throws: StoreError.self) {
      try fixture.install([Self.derive("label", sql)], in: [Self.track])
    }
    #expect(error?.code == .unsupportedSchema)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("The binding Track.label cannot be kept: "))
    #expect(message.contains(reason), "\(message)")
    #expect(try fixture.rows("SELECT * FROM Track") == before)
    #expect(try InstalledObjects.ofBindings(in: fixture.connection).objects == [])
  }

  @Test(arguments: [
    ("", "the expression is empty. Write one SQL expression over columns of Track."),
    (
      "lower(title",
      "the expression leaves a parenthesis open. Write one SQL expression over columns of Track."
    ),
    (
      "1) + (1)) --",
      "the expression closes a parenthesis that it did not open. Write one SQL expression over columns of Track."
    ),
    (
      "title -- x",
      "the expression holds a comment. Write one SQL expression over columns of Track."
    ),
    (
      "1; DROP TABLE Track",
      "the expression holds a semicolon. Write one SQL expression over columns of Track."
    ),
    ("?1", "the expression holds a parameter. Write one SQL expression over columns of Track."),
    (
      "'open", "the expression leaves a quote open. Write one SQL expression over columns of Track."
    ),
    (
      "date('NOW')",
      "date('NOW') has another value at another time or place. Derive from columns alone."
    ),
    (
      "datetime(seconds, 'unixepoch', 'localtime')",
      "datetime('localtime') has another value at another time or place. Derive from columns alone."
    ),
    ("date()", "date() has another value at another time or place. Derive from columns alone."),
    (
      "current_timestamp",
      "current_timestamp has another value at another time or place. Derive from columns alone."
    ),
    (
      "title COLLATE icu",
      "other writers do not have the collation icu. Use BINARY, NOCASE or RTRIM."
    ),
    (
      "lower(\"LABEL\")",
      "Track.label would be derived from itself. To enforce a format, add a rule."
    ),
  ])
  func anExpressionIsRefusedBeforeSQLiteCompilesIt(sql: String, reason: String) {
    let error = #expect(throws: StoreError.self) {
      try ResolvedBinding(Self.derive("label", sql), in: [Self.track])
    }
    #expect(error?.message == "The binding Track.label cannot be kept: \(reason)")
  }

  @Test func namesInLiteralsAndCallsAreNotDependencies() throws {
    let binding = try ResolvedBinding(
      Self.derive("label", #"title || 'seconds' || x'00' || 1.5e+3 || [slug] || ratio(1)"#),
      in: [Self.track])
    guard case .derive(_, let dependencies) = binding.formula else {
      Issue.record("\(binding.formula)")
      return
    }
    #expect(dependencies.map(\.name) == ["title", "slug"])
  }
}
