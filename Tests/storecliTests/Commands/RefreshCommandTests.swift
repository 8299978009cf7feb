import Foundation
import Testing

/// Adopted tables that another program changes, as the command line shows them.
@Suite(.tags(.process)) struct RefreshCommandTests {
  private static let tables = """
    CREATE TABLE A (id INTEGER PRIMARY KEY, name TEXT, shout TEXT);
    CREATE TABLE B (id INTEGER PRIMARY KEY, a INTEGER REFERENCES A, aName TEXT);
    CREATE TABLE C (id INTEGER PRIMARY KEY, n TEXT);
    INSERT INTO A VALUES (1, 'one', NULL);
    INSERT INTO B VALUES (1, 1, NULL);
    INSERT INTO C VALUES (1, 'n');
    """

  private func adopted() throws -> (place: Workplace, raw: RawDatabase) {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("f.db"))
    try raw.execute("PRAGMA journal_mode = WAL; \(Self.tables)")
    place.environment["STORECLI_DB"] = place.path("f.db")
    try #require(try place.run("adopt").code == 0)
    return (place, raw)
  }

  @Test func aNewColumnBecomesAField() throws {
    let (place, raw) = try adopted()
    try raw.execute("ALTER TABLE A ADD COLUMN at DATETIME; UPDATE A SET at = '2024-01-02'")
    let doctor = try place.run("doctor", "-q")
    #expect(doctor.code == 2)
    #expect(
      doctor.out.contains(
        "models\tproblem\tA: The column at is new. (storecli adopt --refresh A)\n"), "\(doctor)")
    let sentence = "A.at (DATETIME): date YYYY-MM-DD, from 1 value\n"
    #expect(
      try place.run("adopt", "--refresh", "-n")
        == Outcome(
          code: 0, out: "A\trefreshed\tThe column at is new.\tat date YYYY-MM-DD\t\n",
          err: sentence + "1 model would be refreshed; dry run: nothing was written\n"))
    #expect(try place.run("doctor", "-q").code == 2)
    #expect(
      try place.run("adopt", "--refresh", "A", "-o", "ndjson", "--fields", "model,state,changes")
        == Outcome(
          code: 0,
          out: """
            {"model":"A","state":"refreshed","changes":[{"subject":"column","name":"at",\
            "reason":"unexpected","sentence":"The column at is new."}]}

            """, err: sentence + "1 model refreshed\n"))
    #expect(try place.run("doctor", "-q").code == 0)
    #expect(
      try place.run("adopt", "--refresh")
        == Outcome(code: 0, out: "", err: "the adopted models are as their tables\n"))
    #expect(try place.run("get", "A", "1", "--fields", "at").out == "2024-01-02\n")
  }

  /// The field may be the new column, so the refusal alone would lead nowhere.
  @Test func aRefusedInsertAlsoSaysThatTheTableHasChanged() throws {
    let (place, raw) = try adopted()
    try raw.execute("ALTER TABLE A ADD COLUMN extra TEXT")
    for words in [["insert", "A", "extra=x"], ["update", "A", "1", "extra=x", "-n"]] {
      #expect(
        try place.run(words)
          == Outcome(
            code: 64, out: "",
            err: """
              error[unknownField]: A has no field extra.
              hint: storecli models A
              warning[outdatedModel]: The table of an adopted model has changed. A: The column extra \
              is new. Refresh the model with Store.refreshAdopted or storecli adopt --refresh.
              hint: storecli adopt --refresh A

              """), "\(words)")
    }
    let written = try place.run("insert", "A", "name=x")
    #expect(written.err.split(separator: "\n").count { $0.hasPrefix("warning") } == 1, "\(written)")
  }

  @Test func objectsThatNeedAMissingColumnAreListedWithTheCommandThatDropsThem() throws {
    let (place, raw) = try adopted()
    try #require(
      try place.run("bindings", "add", "derive", "A.shout", "--as", "upper(name)", "--yes").code
        == 0)
    try raw.execute("ALTER TABLE A RENAME COLUMN name TO title")
    #expect(
      try place.run("adopt", "--refresh")
        == Outcome(
          code: 1, out: "",
          err: """
            error[unsupportedSchema]: A cannot be refreshed, because bindings or rules need what is gone; \
            nothing was changed.
              binding A.shout: The binding A.shout cannot be kept: SQLite says: no such column: \
            name. Check the names and the expression.
            hint: storecli bindings drop A.shout

            """))
    try #require(try place.run("bindings", "drop", "A.shout").code == 0)
    #expect(try place.run("adopt", "--refresh").code == 0)
    #expect(
      try place.run("bindings", "add", "derive", "A.shout", "--as", "upper(title)", "--yes").code
        == 0)
    #expect(try place.run("doctor", "-q").code == 0)
  }

  @Test func refreshTakesNoTypes() throws {
    let (place, _) = try adopted()
    #expect(try place.run("adopt", "--refresh", "--type", "A.name=json").code == 64)
    #expect(try place.run("adopt", "--refresh", "Nothing").code == 3)
  }

  /// Every command about another model works, and the command about the broken one says what helps.
  @Test(arguments: [
    ("ALTER TABLE A ADD COLUMN more TEXT", false),
    ("ALTER TABLE A RENAME COLUMN name TO title", true),
    ("DROP TABLE A; CREATE TABLE A (id INTEGER PRIMARY KEY)", true),
    ("DROP TABLE A; CREATE TABLE A (id INTEGER PRIMARY KEY, name BLOB, shout REAL)", false),
    ("ALTER TABLE A RENAME TO A2", true), ("DROP TABLE A", true),
    ("DROP TABLE A; CREATE VIEW A AS SELECT 1 AS id, 'x' AS name, 'y' AS shout", false),
  ])
  func oneBrokenModelBlocksNoOther(change: String, isUnreadable: Bool) throws {
    let (place, raw) = try adopted()
    try raw.execute("PRAGMA foreign_keys = OFF; \(change)")
    let models = try place.run("models", "-q")
    #expect(models.out.split(separator: "\n").count == 3, "\(models)")
    #expect(models.out.contains("C\t1\t2\tid\t0\t0\tadopted\n"), "\(models)")
    try place.write("{\"id\":2,\"n\":\"m\"}\n", to: "C.ndjson")
    for words in [
      ["query", "C"], ["get", "C", "1"], ["update", "C", "1", "n=x"], ["journal", "on"],
      ["import", "C.ndjson"], ["history"], ["history", "C"],
      ["bindings", "add", "derive", "C.n", "--as", "'c' || id", "--yes"],
    ] {
      let outcome = try place.run(words)
      #expect(outcome.code == 0, "\(words): \(outcome)")
      #expect(outcome.err.contains("storecli adopt --refresh"), "\(words): \(outcome)")
    }
    #expect(try place.run("doctor", "-q").code == 2)
    let query = try place.run("query", "A")
    #expect(query.code == (isUnreadable ? 1 : 0), "\(query)")
    if isUnreadable { #expect(query.err.hasPrefix("error[outdatedModel]: "), "\(query)") }
    #expect(query.err.contains("hint: storecli adopt --refresh"), "\(query)")
    #expect(try place.run("adopt", "--refresh").code == 0)
    let after = try place.run("query", "C", "-q")
    #expect(after == Outcome(code: 0, out: "1\tc1\n2\tc2\n", err: ""))
  }

  @Test func aWatchFollowsTheOtherModels() throws {
    let (place, raw) = try adopted()
    try raw.execute("PRAGMA foreign_keys = OFF; DROP TABLE A")
    let watch = try WatchProcess(place, ["C", "--ndjson", "--count", "1"])
    try raw.execute("INSERT INTO C VALUES (2, 'told')")
    let outcome = try watch.finish()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(outcome.out.contains("told"), "\(outcome)")
  }
}

/// Undoing adoption from the command line.
@Suite(.tags(.process)) struct LeaveCommandTests {
  private static let chinook = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }.appending(path: "shared/data/chinook.sqlite")

  private func place(_ script: String) throws -> (place: Workplace, raw: RawDatabase) {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("f.db"))
    try raw.execute("PRAGMA journal_mode = WAL; \(script)")
    place.environment["STORECLI_DB"] = place.path("f.db")
    try #require(try place.run("adopt").code == 0)
    return (place, raw)
  }

  @Test func aModelLeavesWithItsRules() throws {
    let (place, raw) = try place(
      "CREATE TABLE A (id INTEGER PRIMARY KEY, n); CREATE TABLE B (id INTEGER PRIMARY KEY)")
    try #require(try place.run("rules", "add", "A", "--required", "n").code == 0)
    #expect(
      try place.run("leave", "A", "-n")
        == Outcome(
          code: 0, out: "model\tA\t\nrule\tA.n.required\tIt is about A.\n",
          err: "1 model would leave; dry run: nothing was written\n"))
    #expect(
      try place.run("leave", "A")
        == Outcome(
          code: 0, out: "model\tA\t\nrule\tA.n.required\tIt is about A.\n", err: "1 model left\n"))
    #expect(
      try place.run("leave")
        == Outcome(
          code: 0, out: "model\tB\t\n",
          err: """
            1 model left, and the store's own tables
            the file keeps its write-ahead log; sqlite3 \(place.path("f.db")) \
            'PRAGMA journal_mode = DELETE' takes that back

            """))
    #expect(try raw.value("SELECT group_concat(name) FROM sqlite_schema") == "A,B")
    #expect(
      try place.run("leave") == Outcome(code: 0, out: "", err: "no model was adopted\n"))
  }

  @Test func droppingObjectsRequiresForce() throws {
    let (place, raw) = try place(
      "CREATE TABLE A (id INTEGER PRIMARY KEY, n); INSERT INTO A VALUES (1, 1)")
    try #require(try place.run("journal", "on").code == 0)
    try #require(try place.run("update", "A", "1", "n=2").code == 0)
    #expect(
      try place.run("leave")
        == Outcome(
          code: 4, out: "",
          err: """
            error[conflict]: Nothing was changed: more would be lost than the models.
              journal: 1 entry
            hint: storecli leave --force

            """))
    #expect(try place.run("leave", "--force").code == 0)
    #expect(try raw.value("SELECT group_concat(name) FROM sqlite_schema") == "A")
  }

  @Test(
    .enabled("needs shared/data/chinook.sqlite beside the project") {
      FileManager.default.fileExists(atPath: chinook.path())
    })
  func refreshingChinookChangesNothing() throws {
    let place = try Workplace()
    try FileManager.default.copyItem(at: Self.chinook, to: place.url("c.db"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: place.path("c.db"))
    place.environment["STORECLI_DB"] = place.path("c.db")
    let schema = """
      SELECT group_concat(type || name || tbl_name || coalesce(sql, ''), x'0a')
      FROM (SELECT * FROM sqlite_schema ORDER BY rowid)
      """
    let before = try RawDatabase(place.path("c.db")).value(schema)
    for words in [
      ["adopt"], ["journal", "on"],
      [
        "bindings", "add", "copy", "Track.Composer", "--from", "Album.Title", "--through",
        "AlbumId",
        "--yes",
      ],
      ["rules", "add", "Genre", "--unique", "Name"], ["leave", "--force"],
    ] {
      let outcome = try place.run(words)
      #expect(outcome.code == 0, "\(words): \(outcome)")
    }
    #expect(try RawDatabase(place.path("c.db")).value(schema) == before)
    #expect(try place.run("doctor", "-q").code == 0)
  }
}
