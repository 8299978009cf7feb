import Foundation
import Testing

@Suite(.tags(.process)) struct WatchTests {
  /// Without gaps.
  private func lines(_ outcome: Outcome) throws -> [[String: String]] {
    try outcome.out.split(separator: "\n").map { try lineOf($0) }.filter { $0["op"] != "gap" }
  }

  @Test func changesOfEveryProgramAreReported() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("journal", "on").code == 0)
    let watch = try WatchProcess(place, ["Track", "--count", "2", "--timeout", "250s"])
    try place.runProcess("update", "Track", "1", "title=First")
    try RawDatabase(place.path("music.store"))
      .execute("UPDATE Track SET title = 'Second' WHERE id = 2")
    let outcome = try watch.finish()
    #expect(outcome.code == 0, "\(outcome)")
    let told = try lines(outcome)
    #expect(told.map { $0["op"] } == ["update", "update"])
    #expect(told.map { $0["id"] } == ["1", "2"])
    #expect(told.map { $0["origin"] } == ["cli", "foreign"])
  }

  @Test func withoutAJournalWatchFollowsTheResult() throws {
    let place = try Workplace()
    try place.makeMusic()
    let watch = try WatchProcess(
      place, ["Track", "title == 'Mine'", "--count", "2", "--timeout", "250s"])
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute("UPDATE Track SET title = 'Mine' WHERE id = 3")
    let entered = try lineOf(try watch.nextLine())
    #expect(entered["op"] == "insert")
    try raw.execute("UPDATE Track SET title = 'Yours' WHERE id = 3")
    let outcome = try watch.finish()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try lines(outcome).map { $0["op"] } == ["delete"])
  }

  @Test func earlierChangesAreReadFirst() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    for number in 1...3 { try place.run("update", "Track", "1", "seconds=\(100 + number)") }
    let all = try place.runProcess(
      "watch", "Track", "--since", "0", "--count", "3", "--timeout", "250s")
    #expect(all.code == 0, "\(all)")
    let positions = try lines(all).compactMap { $0["position"] }
    #expect(positions.count == 3)
    let rest = try place.runProcess(
      "watch", "--since", positions[1], "--count", "1", "--timeout", "250s")
    #expect(try lines(rest).map { $0["position"] } == [positions[2]])
  }

  @Test func aConsumerContinuesWhereItStopped() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    for number in 1...3 { try place.run("update", "Track", "1", "seconds=\(100 + number)") }
    var positions: [String?] = []
    for _ in 1...3 {
      let one = try place.runProcess(
        "watch", "--consumer", "tests", "--since", "0", "--count", "1", "--timeout", "250s")
      #expect(one.code == 0, "\(one)")
      positions += try lines(one).map { $0["position"] }
    }
    #expect(positions.count == 3)
    #expect(Set(positions).count == 3)
    #expect(
      try place.run("consumers", "list", "-q", "--fields", "consumer,lag").out == "tests\t0\n")
  }

  @Test func existingRecordsCanComeFirst() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Artist")
    let count = try place.run("query", "Artist", "--count").out
    let number = try #require(Int(count.filter(\.isNumber)))
    for words in [["Artist"], ["Artist", "id > 0"]] {
      let outcome = try place.runProcess(
        ["watch"] + words + ["--snapshot", "--count", "\(number)", "--timeout", "250s"])
      #expect(outcome.code == 0, "\(outcome)")
      #expect(try lines(outcome).allSatisfy { $0["op"] == "snapshot" })
    }
  }

  @Test func watchEndsAtItsTimeout() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.runProcess("watch", "Track", "--timeout", "0s").code == 0)
    #expect(try place.runProcess("watch", "Track", "--timeout", "0s", "--count", "1").code == 1)
  }

  @Test func controlCEndsWatchWithItsExitCode() throws {
    let place = try Workplace()
    try place.makeMusic()
    let watch = try WatchProcess(place, ["Track"])
    watch.interrupt()
    #expect(try watch.finish().code == 130)
  }

  @Test func readingEarlierChangesNeedsAJournal() throws {
    let place = try Workplace()
    try place.makeMusic()
    let refused = try place.runProcess("watch", "Track", "--since", "10m")
    #expect(refused.code == 1)
    #expect(refused.err.contains("storecli journal on Track"))
    #expect(try place.runProcess("watch", "Track", "--json").code == 64)
    #expect(try place.runProcess("watch", "Trac").code == 3)
  }

  @Test func aConsumerReceivesWholeTransactions() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    try place.run("update", "Track", "--where", "id <= 5", "seconds=77", "--yes")
    try place.run("update", "Track", "1", "seconds=78")
    var counts: [Int] = []
    for _ in 1...2 {
      let one = try place.runProcess(
        "watch", "--consumer", "tests", "--since", "0", "--count", "2", "--timeout", "0s")
      counts.append(try lines(one).count)
    }
    #expect(counts == [5, 1])
  }

  @Test func earlierForeignChangesHaveNoTime() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on", "Track")
    try RawDatabase(place.path("music.store"))
      .execute("UPDATE Track SET seconds = 5 WHERE id = 2")
    let past = try place.runProcess(
      "watch", "Track", "--since", "0", "--timeout", "0s", "-o", "plain")
    #expect(past.out.contains("\n--:--:--.--- ~ Track 2"), "\(past)")
  }

  @Test func anEmptiedJournalIsReportedAsAGap() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on")
    let watch = try WatchProcess(place, ["Track", "--count", "1", "--timeout", "250s"])
    try RawDatabase(place.path("music.store")).execute(
      "BEGIN; DELETE FROM _ms_journal; UPDATE Track SET seconds = 5 WHERE id = 2; COMMIT")
    let outcome = try watch.finish()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try lines(outcome).map { $0["id"] } == ["2"])
    #expect(outcome.err.contains("gap: another program emptied the journal"), "\(outcome)")
  }

  /// Its positions are used again, and changes at positions that the reader has passed are reported
  /// too.
  @Test func anEmptiedJournalIsReportedAsAGapEvenAfterItHasGrownAgain() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on")
    let raw = try RawDatabase(place.path("music.store"))
    let watch = try WatchProcess(place, ["Track", "--count", "41", "--timeout", "250s"])
    try raw.execute("UPDATE Track SET seconds = 5 WHERE id = 50")
    #expect(try lineOf(try watch.nextLine())["id"] == "50")
    try raw.execute(
      "BEGIN; DELETE FROM _ms_journal; UPDATE Track SET seconds = 6 WHERE id <= 40; COMMIT")
    let outcome = try watch.finish()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try lines(outcome).map { $0["id"] } == (1...40).map { "\($0)" })
    #expect(outcome.err.contains("gap: another program emptied the journal"), "\(outcome)")
  }

  /// Positions are used again, so the former ones end earlier.
  @Test func changesRecordedAfterTheJournalWasEmptiedAreReportedAtOnce() throws {
    for words in [[], ["--consumer", "tests"]] {
      let place = try Workplace()
      try place.makeMusic()
      try place.run("journal", "on")
      let raw = try RawDatabase(place.path("music.store"))
      try raw.execute("UPDATE Track SET seconds = 4 WHERE id <= 40")
      let watch = try WatchProcess(
        place, ["Track", "--count", "2", "--timeout", "250s", "-o", "plain"] + words)
      try raw.execute(
        "BEGIN; DELETE FROM _ms_journal; UPDATE Track SET seconds = 5 WHERE id = 2; COMMIT")
      #expect(try watch.nextLine().contains("~ Track 2"))
      try raw.execute("UPDATE Track SET seconds = 5 WHERE id = 3")
      let outcome = try watch.finish()
      #expect(outcome.code == 0, "\(outcome)")
      #expect(outcome.out.contains("~ Track 3"), "\(outcome)")
      #expect(!outcome.out.hasPrefix("--:--:--"), "\(outcome)")
    }
  }

  @Test func aConsumerBeyondTheEndOfAnEmptiedJournalContinuesStepByStep() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on")
    try place.runProcess("watch", "--consumer", "tests", "--timeout", "0s")
    try RawDatabase(place.path("music.store")).execute(
      "BEGIN; DELETE FROM _ms_journal; UPDATE Track SET seconds = 5 WHERE id IN (2, 3); COMMIT")
    var told: [String?] = []
    for number in 1...2 {
      let outcome = try place.runProcess(
        "watch", "Track", "--consumer", "tests", "--count", "1", "--timeout", "10s")
      #expect(outcome.code == 0, "\(outcome)")
      #expect(outcome.err.contains("are trimmed") == (number == 1), "\(outcome)")
      told += try lines(outcome).map { $0["id"] }
    }
    #expect(told == ["2", "3"])
  }

  @Test func gapsOfOtherModelsAreNotReported() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on")
    for verb in ["off", "on"] { try place.run("journal", verb, "Artist") }
    let mine = try place.runProcess(
      "watch", "Track", "--consumer", "tests", "--since", "1", "--timeout", "0s")
    #expect(!mine.err.contains("Artist"), "\(mine)")
    let theirs = try place.runProcess("watch", "Artist", "--since", "1", "--timeout", "0s")
    #expect(theirs.err.contains("changes of Artist may be missing"), "\(theirs)")
  }

  /// A record of many fields takes several rows of the journal, which may lie on both sides of the
  /// end of what is read at once.
  @Test func aRecordSplitAcrossTwoPagesIsReportedOnce() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("wide.db"))
    let fields = (1...15).map { "f\($0)" }.joined(separator: ", ")
    try raw.execute("CREATE TABLE Wide (id INTEGER PRIMARY KEY, \(fields))")
    place.environment["STORECLI_DB"] = place.path("wide.db")
    for words in [["adopt"], ["journal", "on"]] { try #require(try place.run(words).code == 0) }
    try raw.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO Wide (id, f1, f15) SELECT i, i, i FROM n
      """)
    let outcome = try place.runProcess(
      "watch", "Wide", "--since", "0", "--timeout", "0s", "--ndjson", "-q")
    #expect(outcome.code == 0)
    #expect(try lines(outcome).map { $0["id"] } == (1...5000).map { "\($0)" })
  }

  @Test func damagedTriggersAreAGap() throws {
    for words in [[], ["--consumer", "tests"]] {
      let place = try Workplace()
      try place.makeMusic()
      try place.run("journal", "on")
      let raw = try RawDatabase(place.path("music.store"))
      let watch = try WatchProcess(place, ["Track", "--timeout", "250s"] + words)
      let gap =
        "gap: Track: triggers of the journal are missing, changed or older than the table, so "
        + "changes may be missing (storecli journal on Track)\n"
      try raw.execute("DROP TRIGGER _ms_journal_Track_update")
      try watch.hear(gap)
      watch.interrupt()
      #expect(try watch.finish().code == 130)
      for verb in [["watch", "--timeout", "0s"] + words, ["history"], ["history", "Track"]] {
        let late = try place.runProcess(verb)
        #expect(late.err.contains(gap), "\(late)")
      }
      #expect(try !place.runProcess("history", "Album").err.contains("triggers"))
      try place.runProcess("journal", "on", "Track")
      let mended = try place.runProcess("watch", "--timeout", "0s")
      #expect(!mended.err.contains("triggers"), "\(mended)")
    }
  }

  @Test func aGapHasAPositionAndASide() throws {
    let place = try Workplace()
    try place.makeMusic()
    let raw = try RawDatabase(place.path("music.store"))
    var ends: [String] = []
    for (number, verb) in ["on", "off", "on"].enumerated() {
      try place.run("journal", verb, "Track")
      ends.append(try raw.value("SELECT max(position) FROM _ms_journal"))
      try raw.execute("UPDATE Track SET seconds = 500 + \(number) WHERE id = 1")
    }
    let gaps = [
      "from position \(ends[1]) on", "before position \(ends[2])",
    ].map {
      "gap: changes of Track may be missing \($0)"
    }
    #expect(ends[0] == "1")
    let begin = "the journal of Track begins here; earlier changes were not recorded"
    for words in [["history"], ["watch", "--since", "0", "--timeout", "0s"]] {
      let outcome = try place.runProcess(words)
      let told = outcome.err.split(separator: "\n").map(String.init)
        .filter { $0.hasPrefix("gap") || $0 == begin }
      let all = [begin] + gaps
      #expect(told == (words[0] == "history" ? all.reversed() : all), "\(outcome)")
    }
  }

  @Test func anInfiniteNumberDoesNotStopReaders() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("r.db"))
    try raw.execute("CREATE TABLE R (id INTEGER PRIMARY KEY, x REAL)")
    place.environment["STORECLI_DB"] = place.path("r.db")
    for words in [["adopt"], ["journal", "on"]] {
      try #require(try place.runProcess(words).code == 0)
    }
    try raw.execute("INSERT INTO R VALUES (1, 0.5), (2, 9e999), (3, -9e999)")
    let consumer = [
      "watch", "R", "--consumer", "tests", "--since", "0", "--timeout", "0s", "--ndjson",
    ]
    let values = ["0.5", "9e999", "-9e999"]
    for words in [consumer, ["history", "--ndjson"]] {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 0, "\(outcome)")
      for value in values {
        #expect(outcome.out.contains("\"x\":{\"new\":\(value)}"), "\(outcome)")
      }
    }
    #expect(try place.run(consumer).out == "")
  }
}
