import Foundation
import Testing

@Suite struct DoctorTests {
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
      try problems(in: place).first
        == "integrity\tproblem\tThe table Track of the model Track does not exist.")
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
              error[unreadable]: Track.title: a stored value does not fit its type: \
              the text is not valid UTF-8.
                Track 3
              hint: storecli validate Track

              """), "\(words)")
    }
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
