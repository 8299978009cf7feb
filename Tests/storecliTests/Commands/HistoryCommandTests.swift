import Foundation
import Testing

@Suite(.tags(.process)) struct HistoryCommandTests {
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
    #expect(lines.map { $0["op"] } == ["update", "update", "gap"])
    #expect(try #require(lines[0]["changes"]).contains("Two"))
    let year = Calendar(identifier: .iso8601).component(.year, from: Date())
    #expect(try #require(lines[0]["time"]).hasPrefix("\(year)-"))
    #expect(try place.run("history", "--since", "\(year + 1)-12-31", "-q").out == "")
    #expect(try place.run("history", "--limit", "1", "-q").out.contains("Other"))
    let untouched = try place.run("history", "Track", "--field", "seconds", "--ndjson", "-q").out
    #expect(try lineOf(untouched.dropLast())["op"] == "gap", "\(untouched)")
    // Three changes, and the beginning of the journal.
    #expect(try place.run("history", "--since", "1h", "-q").out.split(separator: "\n").count == 4)
    let txn = try #require(lines[1]["txn"])
    #expect(try place.run("history", "--txn", txn, "-q").out.contains("One"))
    #expect(try place.run("history", "--txn", "?").code == 64)
    #expect(try place.run("history", "Trak").code == 3)
  }

  /// The journal records no causes. The present bindings explain a change, or nothing does.
  @Test func aChangeOfADroppedBindingIsNoLongerAttributedToIt() throws {
    let place = try journaled()
    try place.run("update", "Artist", "1", "name=Bells")
    func origins() throws -> Set<String> {
      let history = try place.run("history", "Album", "--ndjson", "-q", "--since", "1h").out
      return Set(history.matches(of: /"origin":"([^"]*)"/).map { String($0.output.1) })
    }
    #expect(try origins() == ["binding:Album.artistName"])
    let sentence = "history shows its changes as those of the programs that caused them"
    let dropped = try place.run("bindings", "drop", "Album.artistName")
    #expect(dropped.code == 0 && dropped.err.contains(sentence), "\(dropped)")
    let after = try origins()
    #expect(after.count == 1 && !after.contains("binding:Album.artistName"), "\(after)")
    let help = try place.run("history", "--help").out.replacing("\n", with: " ")
    #expect(help.contains("The journal records no causes."))
  }

  @Test func undoAndRedoAreInverses() throws {
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
  }

  @Test func aDryRunShowsSeveralSteps() throws {
    let place = try journaled()
    func titles() throws -> [String] {
      try ["1", "2"].map { String(try title(of: $0, place).dropLast()) }
    }
    func tried(_ verb: String, _ count: Int) throws -> (told: Set<String>, outcome: Outcome) {
      let outcome = try place.run(verb, "\(count)", "-n", "--ndjson")
      return (Set(try told(outcome.out)), outcome)
    }
    let before = try titles()
    try place.run("update", "Track", "1", "title=One")
    try place.run("update", "Track", "1", "title=Two")
    try place.run("update", "Track", "2", "title=Other")
    let lines: Set = ["~ 1 title Two -> \(before[0])", "~ 2 title Other -> \(before[1])"]
    for count in [3, 9] {
      let undo = try tried("undo", count)
      #expect(undo.outcome.code == 0 && undo.told == lines, "\(undo)")
      #expect(undo.outcome.err.contains("dry run: nothing was written\n"), "\(undo)")
      #expect(undo.outcome.err.hasSuffix("3 transactions would be taken back\n"), "\(undo)")
    }
    #expect(try titles() == ["Two", "Other"])
    // What comes before a step that is refused would be done.
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute("UPDATE Track SET title = 'Theirs' WHERE id = 1")
    let refused = try tried("undo", 3)
    #expect(refused.outcome.code == 4, "\(refused)")
    #expect(refused.told == ["~ 2 title Other -> \(before[1])"])
    #expect(refused.outcome.err.contains("1 transaction would be taken back\n"), "\(refused)")
    #expect(refused.outcome.err.contains("conflict"), "\(refused)")
    try raw.execute("UPDATE Track SET title = 'Two' WHERE id = 1")
    #expect(try place.run("undo", "3").code == 0)
    #expect(try titles() == before)
    #expect(try place.run("undo", "2", "-n").code == 3)
    let redo = try tried("redo", 3)
    #expect(redo.outcome.code == 0, "\(redo)")
    #expect(
      redo.told == ["~ 1 title \(before[0]) -> Two", "~ 2 title \(before[1]) -> Other"])
    #expect(try titles() == before)
    #expect(try place.run("redo", "3").code == 0)
    #expect(try titles() == ["Two", "Other"])
  }

  @Test func aConflictIsRefusedWithItsRecord() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    let lines = try place.run("history", "Track", "1", "--ndjson", "-q").out
    let txn = try #require(try lineOf(lines.prefix { $0 != "\n" })["txn"])
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
      try place.run("history", "--limit", "1", "-q", "-o", "plain", "--fields", "position").out
        .split(separator: "\n").first)
    try place.run("update", "Track", "1", "title=Two")
    let shown = try place.run("get", "Track", "1", "--at", "\(then)", "--fields", "title", "-q")
    #expect(shown == Outcome(code: 0, out: "One\n", err: ""))
  }

  @Test func aRecordOfManyFieldsIsShownAsAfterItsEntry() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("wide.db"))
    let columns = (1...16).map { "f\($0)" }.joined(separator: ", ")
    try raw.execute("CREATE TABLE Wide (id INTEGER PRIMARY KEY, \(columns))")
    place.environment["STORECLI_DB"] = place.path("wide.db")
    try #require(try place.run("adopt").code == 0)
    try #require(try place.run("journal", "on").code == 0)
    try raw.execute("INSERT INTO Wide (id, f1) VALUES (1, 'a'); UPDATE Wide SET f1 = 'b'")
    // The record came with the rows 2 and 3.
    let shown = try (1...4).map {
      try place.run("get", "Wide", "1", "--at", "\($0)", "--fields", "f1", "-q")
    }
    #expect(shown.map(\.out) == ["", "a\n", "a\n", "b\n"])
    #expect(shown.map(\.code) == [3, 0, 0, 0])
  }

  @Test func anUnreadableJournalRowIsReportedWithItsRemedy() throws {
    let place = try journaled()
    try RawDatabase(place.path("music.store"))
      .execute("INSERT INTO _ms_journal (layout, entry) VALUES (99, 1)")
    let refused = try place.run("history")
    #expect(refused.code == 1, "\(refused)")
    #expect(refused.err.hasPrefix("error[journalGap]: "), "\(refused)")
    #expect(refused.err.contains("storecli journal status"), "\(refused)")
    #expect(try place.run("journal", "status").code == 0)
  }

  @Test func withoutAJournalNothingCanBeUndone() throws {
    let place = try Workplace()
    try place.makeMusic()
    let refused = try place.run("undo")
    #expect(refused.code == 1)
    #expect(refused.err.contains("storecli journal on"))
    #expect(try place.run("history").err.contains("the journal is off"))
  }

  @Test func theHistoryOfSomethingUnknownIsAnError() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    #expect(try place.run("history", "--txn", "zzz").code == 3)
    let future = try place.run("history", "--since", "2990-01-01")
    #expect(future.code == 64 && future.err.contains("is in the future"), "\(future)")
    let beyond = try place.run("history", "--since", "100000")
    #expect(beyond.code == 64 && beyond.err.contains("The journal ends at position"), "\(beyond)")
    let field = try place.run("history", "--field", "titel")
    #expect(field.code == 64 && field.err.contains("did you mean title?"), "\(field)")
  }

  @Test func changesOfOneProgramCanBeSelected() throws {
    let place = try journaled()
    try place.runProcess("update", "Track", "1", "title=Mine")
    try RawDatabase(place.path("music.store"))
      .execute("UPDATE Track SET title = 'Theirs' WHERE id = 1")
    let mine = try place.run("history", "--actor", "storecli", "-q").out
    let theirs = try place.run("history", "--actor", "foreign", "-q").out
    #expect(mine.contains("Mine") && !mine.contains("Theirs"), "\(mine)")
    // The change, and the beginning of the journal.
    #expect(theirs.contains("\"Theirs\"") && theirs.split(separator: "\n").count == 2, "\(theirs)")
  }

  @Test func aConflictNamesItsRemedy() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    try RawDatabase(place.path("music.store"))
      .execute("UPDATE Track SET title = 'Theirs' WHERE id = 1")
    let refused = try place.run("undo")
    #expect(refused.code == 4)
    #expect(refused.err.contains("Undo the later changes first"), "\(refused)")
    #expect(refused.err.contains("hint: storecli history Track 1\n"))
    #expect(!refused.err.contains("rule unchanged"))
  }

  @Test func aReportedChangeNamesTheCommandThatUndoesIt() throws {
    let place = try journaled()
    let changed = try place.run("update", "Track", "1", "title=One")
    #expect(changed.err.contains("undo with storecli undo"), "\(changed)")
    #expect(try !place.run("update", "Track", "1", "title=Two", "-n").err.contains("storecli undo"))
  }

  /// References reach tables that are not models, whose changes the journal does not record.
  @Test func noUndoIsOfferedForChangesThatTheJournalDoesNotHold() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("t.db"))
    try raw.execute(
      """
      CREATE TABLE P(id INTEGER PRIMARY KEY, code TEXT UNIQUE, note TEXT);
      CREATE TABLE C(id INTEGER PRIMARY KEY, p INT REFERENCES p ON DELETE CASCADE);
      CREATE TABLE D(id INTEGER PRIMARY KEY, code TEXT REFERENCES P(CODE) ON UPDATE SET NULL);
      CREATE TABLE E(id INTEGER PRIMARY KEY, p INT REFERENCES P ON UPDATE CASCADE);
      INSERT INTO P VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'x');
      INSERT INTO C VALUES (11, 1), (12, 2);
      INSERT INTO D VALUES (21, 'c');
      """)
    place.environment["STORECLI_DB"] = place.path("t.db")
    func run(_ words: String...) throws -> String {
      let outcome = try place.run(words)
      try #require(outcome.code == 0, "\(outcome)")
      return outcome.err
    }
    _ = try run("adopt", "P")
    _ = try run("journal", "on")
    let hint = "undo with storecli undo"
    #expect(try run("insert", "P", "code=d").contains(hint))
    #expect(try run("update", "P", "3", "note=y").contains(hint))
    #expect(try !run("update", "P", "3", "code=cc").contains(hint))
    #expect(try run("undo").contains("not brought back: cascaded changes in D, which the journal"))
    #expect(try !run("delete", "P", "1").contains(hint))
    #expect(try run("undo").contains("not brought back: cascaded changes in C, which"))
    #expect(try raw.value("SELECT group_concat(id) FROM C") == "12")
    #expect(try !run("update", "P", "1", "id=5").contains(hint))
    _ = try run("adopt", "C", "D")
    _ = try run("journal", "on")
    #expect(try run("delete", "P", "2").contains(hint))
    #expect(try !run("undo").contains("not brought back"))
    #expect(try raw.value("SELECT group_concat(id) FROM C") == "12")
    #expect(try run("update", "P", "3", "code=cc").contains(hint))
  }

  @Test func timesHaveSixDigits() throws {
    let place = try journaled()
    for number in 1...5 { try place.run("update", "Track", "1", "seconds=\(100 + number)") }
    let lines = try place.run("history", "--ndjson", "-q").out.split(separator: "\n")
      .filter { !$0.contains("\"op\":\"gap\"") }
    let raw = try RawDatabase(place.path("music.store"))
    let last = Int64(try raw.value("SELECT c2 FROM _ms_journal ORDER BY position DESC LIMIT 1"))
    let times = try lines.map { try lineOf($0)["time"] ?? "" }
    #expect(times.allSatisfy { $0.count == 27 }, "\(times)")
    let digits = String(format: "%06d", try #require(last) % 1_000_000)
    #expect(times.first?.hasSuffix(".\(digits)Z") == true, "\(times)")
  }

  @Test func aWriteAfterATriggerWasDroppedCanBeUndone() throws {
    let place = try journaled()
    let before = try title(of: "1", place)
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute("DROP TRIGGER _ms_journal_Track_update")
    let dry = try place.run("update", "Track", "1", "title=One", "-n")
    #expect(dry.code == 0, "\(dry)")
    // Reading alone repairs nothing.
    let count = "SELECT count(*) FROM sqlite_schema WHERE name = '_ms_journal_Track_update'"
    #expect(try raw.value(count) == "0")
    let changed = try place.run("update", "Track", "1", "title=One")
    #expect(changed.err.contains("undo with storecli undo"), "\(changed)")
    #expect(try raw.value(count) == "1")
    let undone = try place.run("undo")
    #expect(undone.code == 0, "\(undone)")
    #expect(try title(of: "1", place) == before)
  }

  @Test func changesMadeByABindingAreAttributedToIt() throws {
    let place = try journaled()
    #expect(try place.runProcess("update", "Artist", "1", "name=Someone").code == 0)
    func origin(_ model: String) throws -> String? {
      let lines = try place.run("history", model, "--limit", "1", "--ndjson", "-q").out
      return try lineOf(lines.prefix { $0 != "\n" })["origin"]
    }
    #expect(try origin("Album") == "binding:Album.artistName")
    #expect(try origin("Artist") == "cli")
    let shown = try place.run("history", "Album", "--limit", "1", "-q").out
    #expect(shown.contains("\"Someone\"  (binding Album.artistName)"), "\(shown)")
    let watched = try place.runProcess("watch", "Album", "--since", "0", "--count", "1", "-q").out
    #expect(watched.contains("\"origin\":\"binding:Album.artistName\""), "\(watched)")
  }

  @Test func aDiffPrintsEachValueOnItsOwnLine() throws {
    let place = try journaled()
    let before = try title(of: "1", place).dropLast()
    try place.run("update", "Track", "1", "title=One")
    let shown = try place.run("history", "Track", "1", "--diff", "-q")
    let lines = shown.out.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(shown.code == 0 && lines[0].hasPrefix("position "), "\(shown)")
    #expect(
      lines.dropFirst().prefix(4)
        == ["~ Track 1", "- title: \"\(before)\"", "+ title: \"One\"", ""], "\(shown)")
    #expect(
      lines.dropFirst(5).map {
        $0 == "the journal of Track begins here; earlier changes were not recorded"
      }
        == [true, false], "\(shown)")
    for words in [["--ndjson"], ["--fields", "position"]] {
      #expect(try place.run(["history", "--diff"] + words).code == 64)
    }
  }

  @Test func missingStepsAreReported() throws {
    let place = try journaled()
    try place.run("update", "Track", "1", "title=One")
    let undone = try place.run("undo", "3")
    #expect(undone.code == 0, "\(undone)")
    #expect(
      undone.err.hasSuffix("only 1 of 3: there is nothing more to take back\n"), "\(undone)")
    let redone = try place.run("redo")
    #expect(redone.code == 0 && !redone.err.contains("only"), "\(redone)")
  }

  @Test func trimmedHistoryIsReported() throws {
    let place = try journaled()
    for number in 1...3 { try place.run("update", "Track", "1", "seconds=\(100 + number)") }
    let lines = try place.run("history", "--ndjson", "-q").out.split(separator: "\n")
    let oldest = try #require(lines.last { !$0.contains("\"op\":\"gap\"") })
    let txn = try #require(try lineOf(oldest)["txn"])
    let whole = try place.run("history", "--since", "1")
    #expect(whole.code == 0 && !whole.err.contains("trimmed"), "\(whole)")
    try place.run("journal", "trim", "--keep", "1")
    let raw = try RawDatabase(place.path("music.store"))
    let end = try raw.value("SELECT min(position) - 1 FROM _ms_journal")
    let rest = try place.run("history", "--since", "1")
    #expect(
      rest.err.contains("gap: the entries from position 1 to \(end) are trimmed\n"), "\(rest)")
    #expect(try !place.run("history", "--since", end).err.contains("trimmed"))
    let reverted = try place.run("revert", txn)
    let sought = try place.run("history", "--txn", txn)
    #expect(sought == reverted)
    #expect(sought.code == 1 && sought.err.hasPrefix("error[journalTrimmed]: "), "\(sought)")
  }
}
