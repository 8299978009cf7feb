import Foundation
import Testing

/// A binding that would write records is previewed: by a dry run, and where values would be lost.
@Suite(.tags(.process)) struct AddingBindingsTests {
  /// The store of the demonstration without its binding.
  private func music() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    let dropped = try place.run("bindings", "drop", "Album.artistName")
    try #require(dropped.code == 0, "\(dropped)")
    return place
  }

  private let shouting = [
    "bindings", "add", "derive", "Album.artistName", "--as", "upper(title)",
    "--skip-code-validators",
  ]
  private let formula = "Album.artistName: Album.artistName = upper(title)"

  @Test func aDryRunReportsHowManyRecordsWouldChange() throws {
    let place = try music()
    let before = try place.run("query", "Album", "-q").out
    #expect(
      try place.run(shouting + ["-n"])
        == Outcome(
          code: 0, out: "",
          err: "would be added \(formula)\n120 records would be updated\n"
            + "dry run: nothing was added\n"))
    #expect(try place.run("bindings", "list", "-q").out == "")
    #expect(try place.run("query", "Album", "-q").out == before)
    #expect(
      try place.run(shouting + ["--yes"])
        == Outcome(code: 0, out: "", err: "added \(formula)\n120 records updated\n"))
    #expect(try place.run("bindings", "check").code == 0)
  }

  @Test func existingValuesAreNotReplacedWithoutConfirmation() throws {
    let place = try music()
    let before = try place.run("query", "Album", "-q").out
    let refused = try place.run(shouting)
    #expect(
      refused
        == Outcome(
          code: 64, out: "",
          err: "error[usage]: Update 120 existing records? "
            + "The command runs without a terminal, so it cannot ask: add --yes, or -n to see what would change.\n"
        ))
    #expect(try place.run("bindings", "list", "-q").out == "")
    #expect(try place.run("query", "Album", "-q").out == before)
  }

  @Test func noConfirmationIsNeededIfNothingIsLost() throws {
    let place = try music()
    try RawDatabase(place.path("music.store")).execute("UPDATE Album SET artistName = NULL")
    let added = try place.run(shouting)
    #expect(added == Outcome(code: 0, out: "", err: "added \(formula)\n120 records updated\n"))
  }

  @Test func aDryRunReportsTheSameErrorsAsTheRealRun() throws {
    let place = try music()
    try place.run("rules", "add", "Album", "--check", "artistName <> 'x'")
    let skipping = ["--skip-code-validators"]
    for ending in [["-n"], ["--yes"]] {
      let unknown = try place.run(
        ["bindings", "add", "derive", "Album.artistName", "--as", "nosuch(title)"] + skipping
          + ending)
      #expect(unknown.code == 64 && unknown.err.contains("nosuch"), "\(unknown)")
      let broken = try place.run(
        ["bindings", "add", "derive", "Album.artistName", "--as", "'x'"] + skipping + ending)
      #expect(broken.code == 4, "\(broken)")
    }
    #expect(try place.run(shouting + ["--yes"]).code == 0)
    for ending in [["-n"], ["--yes"]] {
      let circle = try place.run(
        ["bindings", "add", "derive", "Album.title", "--as", "artistName"] + skipping + ending)
      #expect(circle.code == 64 && circle.err.contains("form a cycle"), "\(circle)")
      let second = try place.run(
        ["bindings", "add", "derive", "Album.artistName", "--as", "title", "--name", "b"] + skipping
          + ending)
      #expect(second.code == 64 && second.err.contains("has two bindings"), "\(second)")
    }
    #expect(try place.run("bindings", "list", "-q").out.contains("upper(title)"))
  }

  @Test func modelsThatFollowAreWrittenToo() throws {
    let place = try Workplace()
    try place.makeMusic()
    // The name of an artist is written on albums, which have a rule in Swift.
    let words = ["bindings", "add", "derive", "Artist.name", "--as", "'artist ' || id"]
    for ending in [["-n"], ["--yes"]] {
      let refused = try place.run(words + ending)
      #expect(
        refused.code == 4 && refused.err.contains("Album has validators in Swift"), "\(refused)")
    }
    let added = try place.run(words + ["--yes", "--skip-code-validators"])
    #expect(added.code == 0, "\(added)")
    #expect(
      try place.run("query", "Album", "artistName == 'artist 1'", "--count", "-q").out == "3\n")
  }

  @Test func theBindingThatReplacesADroppedOneIsReported() throws {
    let place = try music()
    let adding = [
      "bindings", "add", "derive", "Album.artistName", "--skip-code-validators", "--yes",
    ]
    for words in [
      ["--as", "upper(title)", "--when", "id <= 7", "--priority", "2", "--name", "high"],
      ["--as", "lower(title)", "--when", "id > 0", "--priority", "1", "--name", "low"],
    ] {
      let added = try place.run(adding + words)
      #expect(added.code == 0, "\(added)")
    }
    let unchecked = try place.run("bindings", "drop", "high")
    #expect(unchecked.code == 4 && unchecked.err.contains("Album has validators in Swift"))
    let dropping = ["bindings", "drop", "high", "--skip-code-validators"]
    #expect(
      try place.run(dropping + ["-n"]).err == """
        would be dropped high
        7 records would be updated by the next binding of Album.artistName
        dry run: nothing was dropped

        """)
    let dropped = try place.run(dropping)
    #expect(
      dropped.err == """
        dropped high
        7 records updated by the next binding of Album.artistName

        """)
    #expect(try place.run("bindings", "check").code == 0)
  }

  @Test func changesOfANewBindingAreSignedByThisProgramAndCanBeUndone() throws {
    let place = try music()
    let before = try place.run("query", "Album", "-q").out
    try place.run("journal", "on")
    #expect(try place.runProcess(shouting + ["--yes"]).code == 0)
    let history = try place.run("history", "Album", "--limit", "1").out
    #expect(history.contains("storecli["), "\(history)")
    try place.runProcess("bindings", "drop", "Album.artistName")
    let undone = try place.runProcess("undo", "--skip-code-validators", "-q")
    #expect(undone.code == 0, "\(undone)")
    #expect(try place.run("query", "Album", "-q").out == before)
  }
}
