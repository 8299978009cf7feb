import Foundation
import Testing

@Suite struct HistoryCommandTests {
  private func journaled() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    let on = try place.run("journal", "on")
    try #require(on.code == 0, "\(on)")
    return place
  }

  private func title(of key: String, _ place: Workplace) throws -> String {
    try place.run("get", "Track", key, "--fields", "title", "-q").out
  }

  @Test func theNewestChangeComesFirst() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    try place.run("update", "Track", "1", "title=Two")
    try place.run("update", "Track", "2", "title=Other")
    let history = try place.run("history", "Track", "1", "--ndjson", "-q")
    #expect(history.code == 0, "\(history)")
    let lines = try history.out.split(separator: "\n").map { try lineOf($0) }
    #expect(lines.map { $0["op"] } == ["update", "update"])
    #expect(try #require(lines[0]["changes"]).contains("Two"))
    let year = Calendar(identifier: .iso8601).component(.year, from: Date())
    #expect(try #require(lines[0]["time"]).hasPrefix("\(year)-"))
    #expect(try place.run("history", "--since", "\(year + 1)-12-31", "-q").out == "")
    #expect(try place.run("history", "--limit", "1", "-q").out.contains("Other"))
    #expect(try place.run("history", "Track", "--field", "seconds", "-q").out == "")
    #expect(try place.run("history", "--since", "1h", "-q").out.split(separator: "\n").count == 3)
    let txn = try #require(lines[1]["txn"])
    #expect(try place.run("history", "--txn", txn, "-q").out.contains("One"))
    #expect(try place.run("history", "--txn", "?").code == 64)
    #expect(try place.run("history", "Trak").code == 3)
  }

  @Test func undoAndRedoGoBackAndForth() throws {
    let place = try journaled()
    let before = try title(of: "1", place)
    try place.run("update", "Track", "1", "title=One")
    try place.run("update", "Track", "1", "title=Two")
    #expect(try place.run("undo", "-n").code == 0)
    #expect(try title(of: "1", place) == "Two\n")
    let undone = try place.run("undo", "2")
    #expect(undone.code == 0, "\(undone)")
    #expect(try title(of: "1", place) == before)
    #expect(try place.run("redo").code == 0)
    #expect(try title(of: "1", place) == "One\n")
    #expect(try place.run("redo").code == 0)
    #expect(try title(of: "1", place) == "Two\n")
    #expect(try place.run("redo").code == 3)
    #expect(try place.run("undo", "0").code == 64)
    #expect(try place.run("undo", "2", "-n").code == 64)
  }

  @Test func aConflictIsRefusedWithItsRecord() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    let line = try place.run("history", "Track", "1", "--ndjson", "-q").out
    let txn = try #require(try lineOf(line.dropLast())["txn"])
    try place.run("update", "Track", "1", "title=Two")
    let refused = try place.run("revert", txn)
    #expect(refused.code == 4, "\(refused)")
    #expect(refused.err.contains("Track 1"))
    #expect(try title(of: "1", place) == "Two\n")
    #expect(try place.run("undo").code == 0)
    let reverted = try place.run("revert", txn)
    #expect(reverted.code == 0, "\(reverted)")
    #expect(try place.run("revert", "zzz").code == 3)
  }

  @Test func aRecordIsShownAsItWas() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    let then = try #require(
      try place.run("history", "--limit", "1", "-q", "-o", "plain", "--fields", "seq").out
        .split(separator: "\n").first)
    try place.run("update", "Track", "1", "title=Two")
    let shown = try place.run("get", "Track", "1", "--at", "\(then)", "--fields", "title", "-q")
    #expect(shown == Outcome(code: 0, out: "One\n", err: ""))
  }

  @Test func nothingIsTakenBackWithoutAJournal() throws {
    let place = try Workplace()
    try place.makeMusic()
    let refused = try place.run("undo")
    #expect(refused.code == 1)
    #expect(refused.err.contains("storecli journal on"))
    #expect(try place.run("history").err.contains("the journal is off"))
  }

  @Test func whatDoesNotExistIsNotAnEmptyHistory() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    #expect(try place.run("history", "--txn", "zzz").code == 3)
    let future = try place.run("history", "--since", "2990-01-01")
    #expect(future.code == 64 && future.err.contains("is in the future"), "\(future)")
    let beyond = try place.run("history", "--since", "100000")
    #expect(beyond.code == 64 && beyond.err.contains("The journal ends at seq"), "\(beyond)")
    let field = try place.run("history", "--field", "titel")
    #expect(field.code == 64 && field.err.contains("did you mean title?"), "\(field)")
  }

  @Test func oneProgramsChangesAreChosen() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=Mine")
    try RawDatabase(place.path("music.store"))
      .execute("UPDATE Track SET title = 'Theirs' WHERE id = 1")
    let mine = try place.run("history", "--actor", "storecli", "-q").out
    let theirs = try place.run("history", "--actor", "foreign", "-q").out
    #expect(mine.contains("Mine") && !mine.contains("Theirs"), "\(mine)")
    #expect(theirs.contains("\"Theirs\"") && theirs.split(separator: "\n").count == 1, "\(theirs)")
  }

  @Test func aConflictTellsItsRemedy() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    try RawDatabase(place.path("music.store"))
      .execute("UPDATE Track SET title = 'Theirs' WHERE id = 1")
    let refused = try place.run("undo")
    #expect(refused.code == 4)
    #expect(refused.err.contains("Take back first what came later"), "\(refused)")
    #expect(refused.err.contains("hint: storecli history Track 1\n"))
    #expect(!refused.err.contains("rule unchanged"))
  }

  @Test func aChangeSaysHowToTakeItBack() throws {
    let place = try journaled()
    let changed = try place.run("update", "Track", "1", "title=One")
    #expect(changed.err.contains("undo with storecli undo"), "\(changed)")
    #expect(try !place.run("update", "Track", "1", "title=Two", "-n").err.contains("storecli undo"))
  }

  @Test func timesHaveSixDigits() throws {
    let place = try journaled()
    for number in 1...5 { try place.run("update", "Track", "1", "seconds=\(100 + number)") }
    let lines = try place.run("history", "--ndjson", "-q").out.split(separator: "\n")
    let raw = try RawDatabase(place.path("music.store"))
    let last = Int64(try raw.value("SELECT c2 FROM _ms_journal ORDER BY position DESC LIMIT 1"))
    let times = try lines.map { try lineOf($0)["time"] ?? "" }
    #expect(times.allSatisfy { $0.count == 27 }, "\(times)")
    let digits = String(format: "%06d", try #require(last) % 1_000_000)
    #expect(times.first?.hasSuffix(".\(digits)Z") == true, "\(times)")
  }
  @Test func whatABindingDidIsToldAsItsOwn() throws {
    let place = try journaled()
    #expect(try place.run("update", "Artist", "1", "name=Someone").code == 0)
    func origin(_ model: String) throws -> String? {
      let line = try place.run("history", model, "--limit", "1", "--ndjson", "-q").out
      return try lineOf(line.dropLast())["origin"]
    }
    #expect(try origin("Album") == "binding:Album.artistName")
    #expect(try origin("Artist") == "cli")
    let shown = try place.run("history", "Album", "--limit", "1", "-q").out
    #expect(shown.contains("\"Someone\"  (binding Album.artistName)"), "\(shown)")
    let watched = try place.run("watch", "Album", "--since", "0", "--count", "1", "-q").out
    #expect(watched.contains("\"origin\":\"binding:Album.artistName\""), "\(watched)")
  }
}
