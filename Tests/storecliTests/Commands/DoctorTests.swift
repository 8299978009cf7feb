import Foundation
import ModelStore
import Testing

@testable import StoreCommand

@Suite(.tags(.process)) struct DoctorTests {
  /// The problems that `doctor` finds, and that it says so by its exit status.
  private func problems(in place: Workplace, _ words: String...) throws -> [String] {
    let outcome = try place.run(["doctor", "-q"] + words)
    let lines = outcome.out.split(separator: "\n").map(String.init)
    let problems = lines.filter { $0.contains("\tproblem\t") }
    #expect(outcome.code == (problems.isEmpty ? 0 : 2) && outcome.err.isEmpty, "\(outcome)")
    return problems
  }

  @Test func aLostBindingTriggerIsAProblem() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try problems(in: place) == [])
    let raw = try RawDatabase(place.path("music.store"))
    let trigger = try raw.value(
      "SELECT name FROM sqlite_schema WHERE name LIKE '\\_ms\\_binding%source\\_update' ESCAPE '\\'"
    )
    try raw.execute("DROP TRIGGER \"\(trigger)\"")
    #expect(
      try problems(in: place)
        == [
          "bindings\tproblem\tAlbum.artistName: missing or changed trigger \(trigger) (storecli bindings rebuild)"
        ])
    try raw.execute("UPDATE Artist SET name = 'Nobody' WHERE id = 1")
    #expect(
      try problems(in: place).last
        == "bindings\tproblem\tAlbum.artistName: 3 records differ from the source (storecli bindings rebuild)"
    )
  }

  @Test func theVersionOfSQLiteIsNamedWithItsBug() throws {
    let place = try Workplace()
    try place.makeMusic()
    let lines = try place.run("doctor", "-q").out.split(separator: "\n")
    let version = try RawDatabase(place.path("music.store")).value("SELECT sqlite_version()")
    let hasBug = LibraryVersion(version).hasWALResetBug
    let line = try #require(lines.first { $0.hasPrefix("sqlite\t") })
    #expect(line.hasPrefix("sqlite\t\(hasBug ? "note" : "ok")\tversion \(version)"))
    #expect(line.contains("WAL-reset bug") == hasBug)
  }

  /// The versions of <https://sqlite.org/wal.html#walresetbug>.
  @Test func theVersionsWithTheWALResetBugAreKnown() {
    let affected = [
      "3.37.0", "3.44.0", "3.44.5", "3.45.1", "3.46.1", "3.49.2", "3.50.0", "3.50.6", "3.51.0",
      "3.51.2",
    ]
    let fixed = ["3.44.6", "3.50.7", "3.51.3", "3.51.10", "3.52.0", "4.0.0"]
    #expect((affected + fixed).filter { LibraryVersion($0).hasWALResetBug } == affected)
  }

  /// `doctor` uses the words of the command that reads the journal.
  @Test(
    arguments: [
      "INSERT INTO _ms_journal (position, layout, entry) VALUES (4611686018427387905, 0, 2)",
      "INSERT INTO _ms_journal (layout, entry) VALUES (99, 1)",
    ])
  func aJournalThatCannotBeReadIsAProblem(statement: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on")
    #expect(try problems(in: place) == [])
    try RawDatabase(place.path("music.store")).execute(statement)
    let refused = try place.run("history").err
    let line = try #require(refused.split(separator: "\n").first)
    let words = line.dropFirst("error[journalGap]: ".count)
    #expect(try problems(in: place) == ["journal\tproblem\t\(words)"])
  }

  @Test func aLostJournalTriggerIsAProblem() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    #expect(try problems(in: place) == [])
    #expect(
      try place.run("doctor", "-q").out.contains("journal\tok\tall triggers are in place\n"))
    try RawDatabase(place.path("music.store")).execute("DROP TRIGGER _ms_journal_Track_update")
    let sentence =
      "Track: triggers of the journal are missing, changed or older than the table, so changes may "
      + "be missing (storecli journal on Track)"
    #expect(try problems(in: place) == ["journal\tproblem\t\(sentence)"])
    #expect(try place.run("journal", "status").err.contains(sentence))
    #expect(try place.run("journal", "on", "Track").code == 0)
    #expect(try problems(in: place) == [])
  }

  @Test func aMissingTableIsAProblem() throws {
    let place = try Workplace()
    try place.makeMusic()
    try RawDatabase(place.path("music.store")).execute(
      "PRAGMA foreign_keys = OFF; DROP TABLE Track")
    #expect(
      try problems(in: place) == [
        "models\tproblem\tTrack: The table Track of the model Track does not exist.",
        "rules\tproblem\tTrack: SQLite refused the statement: no such table: Track.",
      ])
  }

  @Test func textThatIsNotUTF8IsAProblemAndNamesItsRecord() throws {
    let place = try Workplace()
    try place.makeMusic()
    try RawDatabase(place.path("music.store")).execute(
      "UPDATE Track SET title = CAST(x'41ff' AS TEXT) WHERE id = 3")
    #expect(
      try problems(in: place)
        == ["rules\tproblem\tTrack.title must be valid UTF-8: 1 record (3)"])
    for words in [
      ["query", "Track"], ["get", "Track", "3"], ["export", "Track", "--to", "x.csv"],
    ] {
      let outcome = try place.run(words)
      #expect(
        Outcome(code: outcome.code, out: "", err: outcome.err)
          == Outcome(
            code: 1, out: "",
            err: """
              error[unreadable]: Track[3].title: a stored value does not fit its type: \
              the text is not valid UTF-8.
                Track 3
              hint: storecli validate Track

              """), "\(words)")
    }
  }

  /// A thousand rows with one fault are one finding that names the first.
  @Test(arguments: [(1, "1"), (5, "1, 2, 3, 4, 5"), (7, "1, 2, 3, 4, 5, …")])
  func equalFindingsAreGroupedWithTheirCountAndFirstKeys(count: Int, keys: String) throws {
    let place = try Workplace()
    try RawDatabase(place.path("a.db")).execute(
      """
      PRAGMA foreign_keys = OFF;
      CREATE TABLE P (id INTEGER PRIMARY KEY);
      CREATE TABLE C (id INTEGER PRIMARY KEY, p INTEGER REFERENCES P, a INTEGER);
      CREATE INDEX i ON C(a) WHERE a > 0;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO C SELECT i, 99, 0 FROM n;
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON C(a) WHERE a >= 0' WHERE name = 'i';
      """)
    let found = try problems(in: place, "-d", "a.db").filter { $0.hasPrefix("integrity\t") }
    let missing =
      count == 1
      ? "row 1 missing from index i" : "\(count) rows missing from index i (\(keys))"
    let dangling =
      count == 1
      ? "1 row of C refers to a missing row of P: 1."
      : "\(count) rows of C refer to missing rows of P: \(keys)."
    #expect(
      found.filter { !$0.contains("wrong # of entries") }
        == [missing, dangling].map { "integrity\tproblem\t\($0)" }, "\(found)")
  }

  @Test func damagedPagesAreProblems() throws {
    let place = try Workplace()
    try place.makeMusic()
    let whole = try Data(contentsOf: place.url("music.store"))
    try whole.prefix(whole.count / 2 + 100).write(to: place.url("half.store"))
    #expect(try problems(in: place, "-d", "half.store").count == 1)
    var spoilt = whole
    let page = 4096 * 8
    spoilt.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xA5, count: 4096))
    try spoilt.write(to: place.url("spoilt.store"))
    #expect(try !problems(in: place, "-d", "spoilt.store").isEmpty)
  }
}
