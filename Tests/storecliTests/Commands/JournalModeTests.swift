import Testing

/// What happens to a file of another program that has a rollback journal.
@Suite(.tags(.process)) struct JournalModeTests {
  private func plain(in place: Workplace) throws {
    try RawDatabase(place.path("plain.db")).execute(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x')")
    place.environment["STORECLI_DB"] = place.path("plain.db")
  }

  private func mode(in place: Workplace) throws -> String {
    try RawDatabase(place.path("plain.db")).value("PRAGMA journal_mode")
  }

  @Test(arguments: [[], ["--yes"]])
  func adoptSaysThatItChangesTheJournal(words: [String]) throws {
    let place = try Workplace()
    try plain(in: place)
    let outcome = try place.run(["adopt"] + words)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      outcome.err.hasSuffix(
        "the file had a rollback journal and has a write-ahead log now; sqlite3 "
          + "\(place.path("plain.db")) 'PRAGMA journal_mode = DELETE' takes that back\n"),
      "\(outcome)")
    #expect(try mode(in: place) == "wal")
  }

  @Test func adoptCanLeaveTheJournalAsItIs() throws {
    let place = try Workplace()
    try plain(in: place)
    let outcome = try place.run("adopt", "--keep-journal-mode")
    #expect(
      outcome == Outcome(code: 0, out: "t\t2\tid\t\t\n", err: "1 table adopted\n"), "\(outcome)")
    let refused = try place.run("adopt", "--keep-journal-mode", "--yes")
    #expect(refused.code == 64, "\(refused)")
  }

  @Test func onlyAdoptChangesTheJournalMode() throws {
    let place = try Workplace()
    try plain(in: place)
    try #require(try place.run("adopt", "--keep-journal-mode").code == 0)
    for words in [
      ["insert", "t", "a=y"], ["update", "t", "1", "a=z"], ["journal", "on"],
      ["update", "t", "1", "a=w"], ["undo"], ["delete", "t", "2"],
      ["rules", "add", "t", "--required", "a"], ["watch", "--consumer", "s", "--timeout", "0s"],
    ] {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 0, "\(words) \(outcome)")
      #expect(try mode(in: place) == "delete", "\(words)")
    }
    #expect(try place.run("query", "t", "-q").out == "1\tz\n")
    let watched = try place.runProcess("watch", "t", "--timeout", "0s")
    #expect(
      watched.err.hasPrefix(
        "the file has a rollback journal: changes of other programs are seen up to a second late\n"),
      "\(watched)")
  }
}
