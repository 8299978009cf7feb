import Foundation
import Testing

/// A dry run prints and exits like the real run, and reports unreadable values that it would
/// overwrite.
@Suite(.tags(.process)) struct DryRunTests {
  private func music() throws -> (place: Workplace, raw: RawDatabase) {
    let place = try Workplace()
    try place.makeMusic()
    return (place, try RawDatabase(place.path("music.store")))
  }

  private func bindingTrigger(_ raw: RawDatabase) throws -> String {
    try raw.value(
      "SELECT name FROM sqlite_schema WHERE name LIKE '\\_ms\\_binding%source\\_update' ESCAPE '\\'"
    )
  }

  @Test func aRebuildThatARuleRefusesFailsInADryRunToo() throws {
    let (place, raw) = try music()
    try raw.execute("DROP TRIGGER \"\(try bindingTrigger(raw))\"")
    try raw.execute("UPDATE Artist SET name = 'Nobody' WHERE id = 1")
    try place.run("rules", "add", "Album", "--check", "artistName <> 'Nobody'")
    for ending in [["-n"], []] {
      let outcome = try place.run(["bindings", "rebuild", "--skip-code-validators"] + ending)
      #expect(outcome.code == 4)
      #expect(outcome.err.contains("Album.check"), "\(outcome)")
    }
  }

  @Test func recreatingALostTriggerIsReported() throws {
    let (place, raw) = try music()
    let trigger = try bindingTrigger(raw)
    try raw.execute("DROP TRIGGER \"\(trigger)\"")
    #expect(
      try place.run("bindings", "rebuild", "-n")
        == Outcome(
          code: 0, out: "",
          err: "Album.artistName: \(trigger) would be recreated\ndry run: nothing was changed\n"))
    // No record differs, so none is written and no rule in Swift is left out.
    #expect(
      try place.run("bindings", "rebuild")
        == Outcome(
          code: 0, out: "",
          err: "Album.artistName: \(trigger) recreated\n1 binding in place\n"))
    #expect(try place.run("bindings", "check").code == 0)
  }

  @Test func aRebuildOfAModelWithRulesInSwiftAsks() throws {
    let (place, raw) = try music()
    try raw.execute("DROP TRIGGER \"\(try bindingTrigger(raw))\"")
    try raw.execute("UPDATE Artist SET name = 'Nobody' WHERE id = 1")
    for ending in [["-n"], []] {
      let outcome = try place.run(["bindings", "rebuild"] + ending)
      #expect(outcome.code == 4)
      #expect(
        outcome.err.hasPrefix(
          "error[codeValidators]: Album has validators in Swift that only its own program can run"),
        "\(outcome)")
    }
    #expect(try raw.value("SELECT count(*) FROM Album WHERE artistName = 'Nobody'") == "0")
    #expect(try place.run("bindings", "rebuild", "--skip-code-validators").code == 0)
    #expect(try raw.value("SELECT count(*) FROM Album WHERE artistName = 'Nobody'") == "3")
  }

  @Test func aDryRunRefusesToDropARuleOfATableDefinition() throws {
    let (place, _) = try music()
    for ending in [["-n"], []] {
      let outcome = try place.run(["rules", "drop", "Track.title.length"] + ending)
      #expect(outcome.code == 1)
      #expect(outcome.err.hasPrefix("error[unsupportedSchema]: The rule Track.title.length is in"))
    }
  }

  @Test func theSameTableNamedTwiceIsOne() throws {
    let place = try Workplace()
    try RawDatabase(place.path("t.db")).execute("CREATE TABLE T (id INTEGER PRIMARY KEY)")
    for ending in [["-n"], []] {
      let outcome = try place.run(["adopt", "T", "T", "-d", "t.db"] + ending)
      #expect(outcome.code == 0 && outcome.err.contains("1 table "), "\(outcome)")
    }
  }

  @Test func overwritingAnUnreadableValueIsReported() throws {
    let (place, raw) = try music()
    let spoil = "UPDATE Track SET title = CAST(x'41ff' AS TEXT) WHERE id = 3"
    let change =
      #"{"op":"update","model":"Track","id":3,"changes":{"title":{"new":"ok"}},"origin":"user"}"#
    let talk = "the old values cannot be read, so they are not shown\n"
    for (format, data) in [
      ("--json", "[\n\(change)\n]\n"), ("--ndjson", change + "\n"),
      ("--output=plain", "~ Track 3  title: \"ok\"\n"),
    ] {
      try raw.execute(spoil)
      #expect(
        try place.run("update", "Track", "3", "title=ok", format, "-n")
          == Outcome(code: 0, out: data, err: talk + "dry run: nothing was written\n"))
      #expect(try raw.value("SELECT hex(title) FROM Track WHERE id = 3") == "41FF")
      #expect(
        try place.run("update", "Track", "3", "title=ok", format)
          == Outcome(code: 0, out: data, err: talk))
      #expect(try raw.value("SELECT title FROM Track WHERE id = 3") == "ok")
    }
  }
}
