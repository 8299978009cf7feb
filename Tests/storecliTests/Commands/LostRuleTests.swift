import Testing

/// A rule whose triggers another program dropped or edited is not enforced, and every command
/// reports it.
@Suite(.tags(.process)) struct LostRuleTests {
  private func place() throws -> (place: Workplace, raw: RawDatabase) {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("rules", "add", "Track", "--check", "seconds <> 13")
    return (place, try RawDatabase(place.path("music.store")))
  }

  private static let lost = """
    DROP TRIGGER "_ms_rule_Track.check_insert"; DROP TRIGGER "_ms_rule_Track.check_update";
    """

  @Test func aLostTriggerIsFoundAndRestored() throws {
    let (place, raw) = try place()
    #expect(try place.run("doctor", "-q").code == 0)
    try raw.execute(Self.lost)
    let names = "_ms_rule_Track.check_insert, _ms_rule_Track.check_update"
    let doctor = try place.run("doctor", "-q")
    #expect(doctor.code == 2)
    #expect(
      doctor.out.contains(
        "rules\tproblem\tTrack.check: missing or changed in the file: \(names) "
          + "(storecli rules rebuild)\n"), "\(doctor)")
    #expect(
      try place.run("rules", "list", "Track", "--fields", "rule,place", "-q").out == """
        Track.title.required\ttable
        Track.title.length\ttable
        Track.seconds.required\ttable
        Track.seconds.range\ttable
        Track.albumID.required\ttable
        Track.albumID.reference\ttable
        Track.check\tdamaged

        """)
    #expect(
      try place.run("rules", "rebuild", "-n")
        == Outcome(
          code: 0, out: "",
          err: "Track.check: \(names) would be recreated\ndry run: nothing was changed\n"))
    #expect(try place.run("doctor", "-q").code == 2)
    // Meanwhile a record came to break it; it stays, as with --keep-violations.
    #expect(try place.run("update", "Track", "1", "seconds=13").code == 0)
    #expect(
      try place.run("rules", "rebuild")
        == Outcome(code: 0, out: "", err: "Track.check: \(names) recreated\n1 rule repaired\n"))
    #expect(try place.run("update", "Track", "2", "seconds=13").code == 4)
    #expect(
      try place.run("rules", "list", "Track", "--fields", "place", "-q").out
        == String(repeating: "table\n", count: 6) + "added\n")
    #expect(
      try place.run("rules", "rebuild")
        == Outcome(code: 0, out: "", err: "0 rules repaired\n"))
  }

  @Test func anEditedTriggerAndOneOfNoRuleAreFound() throws {
    let (place, raw) = try place()
    try raw.execute(
      """
      DROP TRIGGER "_ms_rule_Track.check_insert";
      CREATE TRIGGER "_ms_rule_Track.check_insert" AFTER INSERT ON Track BEGIN SELECT 1; END;
      CREATE TRIGGER "_ms_rule_Track.gone_update" AFTER UPDATE ON Track
      BEGIN SELECT RAISE(ABORT, 'gone'); END;
      """)
    let doctor = try place.run("doctor", "-q")
    #expect(
      doctor.out.contains(
        "Track.check: missing or changed in the file: _ms_rule_Track.check_insert "))
    #expect(
      doctor.out.contains("Track.gone: missing or changed in the file: _ms_rule_Track.gone_update ")
    )
    #expect(try place.run("rules", "rebuild").code == 0)
    #expect(try place.run("doctor", "-q").code == 0)
    #expect(try place.run("update", "Track", "2", "seconds=14").code == 0)
  }

  @Test func aLostUniqueIndexComesBackWhenNoRecordsBreakIt() throws {
    let place = try Workplace()
    place.environment["STORECLI_DB"] = place.path("t.db")
    let raw = try RawDatabase(place.path("t.db"))
    try raw.execute(
      "CREATE TABLE T (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO T VALUES (7, 1), (9, 2)")
    try place.run("adopt")
    try #require(try place.run("rules", "add", "T", "--unique", "n").code == 0)
    try raw.execute("DROP INDEX \"_ms_rule_T.n.unique\"; UPDATE T SET n = 3")
    for words in [["rules", "rebuild", "-n"], ["rules", "rebuild"]] {
      let refused = try place.run(words)
      #expect(
        refused
          == Outcome(
            code: 4, out: "",
            err: """
              error[rejected]: The rule T.n.unique was not recreated: 2 records break it \
              already. A unique rule cannot keep them. Give them other values first; nothing \
              was changed.
                T 7.n  must be unique  (rule T.n.unique)
                T 9.n  must be unique  (rule T.n.unique)
              hint: storecli get T 7

              """))
    }
    try raw.execute("UPDATE T SET n = 4 WHERE id = 7")
    #expect(try place.run("rules", "rebuild").code == 0)
    #expect(try place.run("update", "T", "7", "n=3").code == 4)
  }

  @Test func aRuleIsNotRestoredOnAChangedTable() throws {
    let (place, raw) = try place()
    try raw.execute(Self.lost + "ALTER TABLE Track RENAME COLUMN seconds TO length")
    let refused = try place.run("rules", "rebuild")
    #expect(refused.code == 1)
    #expect(
      refused.err.hasPrefix(
        "error[schemaMismatch]: Rules cannot be installed while a table differs from its model"),
      "\(refused)")
    #expect(
      try raw.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%Track.check%'") == "0")
  }
}
