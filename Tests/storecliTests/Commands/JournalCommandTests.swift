import Foundation
import Testing

@Suite(.tags(.process)) struct JournalCommandTests {
  @Test func theJournalIsTurnedOnAndOff() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("journal", "status").err.contains("the journal is off"))
    #expect(try place.run("journal", "on", "-n").code == 0)
    #expect(try place.run("journal", "status", "-q").out == "")
    #expect(try place.run("journal", "on", "Trak").code == 3)
    let on = try place.run("journal", "on", "Track")
    #expect(on.code == 0, "\(on)")
    #expect(on.err.contains("the journal is on for Track"))
    #expect(try place.run("journal", "on", "Artist", "--keys").code == 0)
    #expect(try place.run("journal", "status", "-q").out == "Artist\tkeys\nTrack\tfull\n")
    #expect(try place.run("journal", "off", "Artist").code == 0)
    #expect(try place.run("journal", "status", "-q").out == "Track\tfull\n")
    let object = try lineOf(try place.run("journal", "status", "--json").out.dropLast())
    #expect(
      Set(object.keys) == [
        "models", "damaged", "first", "last", "entries", "bytes", "oldest", "consumers",
      ])
  }

  @Test func theOldestEntriesAreTrimmed() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    for number in 1...3 { try place.run("update", "Track", "1", "seconds=\(100 + number)") }
    #expect(try place.run("journal", "trim").code == 64)
    #expect(try place.run("journal", "trim", "--keep-age", "soon").code == 64)
    let kept = try place.run("journal", "trim", "--keep-age", "1d")
    #expect(kept.err.contains("0 entries removed"), "\(kept)")
    let preview = try place.run("journal", "trim", "--keep", "1", "-n")
    // The beginning of the journal is a gap.
    #expect(try place.run("history", "-q").out.split(separator: "\n").count == 4)
    let trimmed = try place.run("journal", "trim", "--keep", "1", "--busy-timeout", "1")
    #expect(trimmed.code == 0, "\(trimmed)")
    let told = trimmed.err.replacingOccurrences(of: " removed", with: " would be removed")
    #expect(preview == Outcome(code: 0, out: "", err: "dry run: " + told))
    #expect(try place.run("history", "-q").out.split(separator: "\n").count == 1)
  }

  @Test func entriesAreCountedHoweverFarApartTheyAre() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    for number in 1...3 { try place.run("update", "Track", "1", "seconds=\(100 + number)") }
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute(
      "UPDATE _ms_journal SET position = \(Int64(1 << 61)) "
        + "WHERE position = (SELECT max(position) FROM _ms_journal)")
    let status = try place.run("journal", "status")
    #expect(status.err.contains("positions 1 to \(Int64(1 << 61)): 7 entries, "), "\(status)")
    let trimmed = try place.run("journal", "trim", "--keep", "100")
    #expect(trimmed.err.hasPrefix("0 entries removed"), "\(trimmed)")
  }

  @Test(arguments: [Int64(1 << 62) - 1, Int64(1 << 62), Int64(1 << 62) + 1])
  func trimmingEndsAndMakesTheJournalReadable(position: Int64) throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute(
      "INSERT INTO _ms_journal (position, layout, entry, c0) VALUES (\(position), 0, 2, 1)")
    try place.run("update", "Track", "1", "seconds=100")
    #expect(try place.run("history").err.hasPrefix("error[journalGap]: "))
    let trimmed = try place.run("journal", "trim", "--keep", "100")
    #expect(trimmed.code == 0, "\(trimmed)")
    for number in 1...2 {
      try place.run("update", "Track", "1", "seconds=\(100 + number)")
      let history = try place.run("history", "Track", "1", "--ndjson")
      #expect(history.code == 0, "\(history)")
      #expect(try told(history.out).count == number, "\(history)")
    }
  }

  @Test func aConsumerIsMovedAndDropped() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    try place.run("update", "Track", "1", "seconds=100")
    let made = try place.runProcess("watch", "--consumer", "reader", "--timeout", "0s")
    #expect(made.code == 0, "\(made)")
    #expect(
      try place.run("consumers", "list", "-q", "--fields", "consumer,lag").out == "reader\t0\n")
    #expect(try place.run("consumers", "reset", "reader", "--to", "soon").code == 64)
    #expect(try place.run("consumers", "reset", "reder").code == 3)
    let beyond = try place.run("consumers", "reset", "reader", "--to", "999999")
    #expect(beyond.code == 64 && beyond.err.contains("The journal ends at position"), "\(beyond)")
    #expect(try place.run("consumers", "reset", "reader", "-n").code == 0)
    let moved = try place.run("consumers", "reset", "reader")
    #expect(moved.err.contains("reader continues after position 0"), "\(moved)")
    let held = try place.run("journal", "trim", "--keep", "1")
    #expect(held.err.contains("more is kept for the consumer reader"), "\(held)")
    #expect(try place.run("consumers", "drop", "reader").code == 0)
    #expect(try place.run("consumers", "list", "-q").out == "")
  }

  @Test func turningOffAndTrimmingLeaveAForeignDatabaseUnchanged() throws {
    let place = try Workplace()
    do {
      try RawDatabase(place.path("plain.db")).execute("CREATE TABLE T (id INTEGER PRIMARY KEY)")
    }
    place.environment["STORECLI_DB"] = place.path("plain.db")
    let before = try Data(contentsOf: place.url("plain.db"))
    for words in [["off"], ["trim", "--keep", "0"]] {
      let outcome = try place.run(["journal"] + words)
      #expect(outcome.code == 0, "\(outcome)")
      #expect(try Data(contentsOf: place.url("plain.db")) == before, "\(words)")
    }
  }

  @Test func modelsThatTheJournalCannotRecordAreNamed() throws {
    let place = try Workplace()
    try RawDatabase(place.path("t.db")).execute(
      "CREATE TABLE new (id INTEGER PRIMARY KEY); CREATE TABLE T (id INTEGER PRIMARY KEY)")
    place.environment["STORECLI_DB"] = place.path("t.db")
    try #require(try place.run("adopt").code == 0)
    for words in [["-n"], []] {
      let outcome = try place.run(["journal", "on"] + words)
      #expect(outcome.code == 0, "\(outcome)")
      #expect(
        outcome.err.hasSuffix(
          "left out: new, because triggers cannot refer to a table called new\n"), "\(outcome)")
    }
    #expect(try place.run("journal", "status", "-q").out == "T\tfull\n")
  }

  @Test func aJournalOfANewerLibraryDoesNotBlockReaders() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    let shown = try place.run("get", "Track", "1")
    try RawDatabase(place.path("music.store"))
      .execute("UPDATE _ms_journal_layouts SET format = 99")
    #expect(try place.run("get", "Track", "1") == shown)
    for words in [["history"], ["journal"], ["watch"], ["update", "Track", "1", "seconds=5"]] {
      let outcome = try place.run(words)
      #expect(outcome.code == 6, "\(outcome)")
      #expect(outcome.err.hasPrefix("error[newerFormat]: "), "\(outcome)")
    }
  }

  /// A dry run says and exits as the real one does, and leaves everything as it is.
  @Test func turningTheJournalOnAndOffHasADryRun() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("t.db"))
    try raw.execute(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, n INT);
      CREATE TABLE new(id INTEGER PRIMARY KEY);
      """)
    place.environment["STORECLI_DB"] = place.path("t.db")
    let early = try place.run("journal", "on", "-n")
    #expect(early.code == 0, "\(early)")
    #expect(try raw.value("PRAGMA journal_mode") == "delete")
    try place.run("adopt", "t", "new")
    let schema = "SELECT group_concat(name || sql) FROM (SELECT * FROM sqlite_schema ORDER BY name)"
    let before = try raw.value(schema)
    // Triggers cannot speak of a table of that name.
    let refused = try place.run("journal", "on", "new", "-n")
    #expect(refused.code == 1, "\(refused)")
    #expect(try place.run("journal", "on", "new") == refused)
    let dry = try place.run("journal", "on", "-n")
    let told =
      "for all models, with old and new values\n"
      + "left out: new, because triggers cannot refer to a table called new\n"
    #expect(
      dry == Outcome(code: 0, out: "", err: "dry run: the journal would be turned on \(told)"))
    #expect(try raw.value(schema) == before)
    let on = try place.run("journal", "on")
    #expect(on == Outcome(code: 0, out: "", err: "the journal is on \(told)"))
    let entered = try raw.value(schema)
    #expect(try place.run("journal", "off", "t", "-n").code == 0)
    #expect(try raw.value(schema) == entered)
    #expect(try raw.value("SELECT count(*) FROM _ms_journal WHERE layout <> 0") == "0")
  }
}
