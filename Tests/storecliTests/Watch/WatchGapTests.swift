import Foundation
import Testing

/// Gaps are part of the stream for programs, also in quiet mode.
@Suite(.tags(.process)) struct WatchGapTests {
  /// A journal that was off while track 1 changed, and the position before.
  private static func interrupted() throws -> (world: WatchWorld, off: String, on: String) {
    let world = try WatchWorld()
    try world.set("seconds = 1", of: 1)
    try world.place.run("journal", "off", "Track")
    let off = try world.position()
    try world.set("seconds = 2", of: 1)
    try world.place.run("journal", "on", "Track")
    let on = try world.position()
    try world.set("seconds = 3", of: 1)
    return (world, off, on)
  }

  private static let words = "changes of Track may be missing"

  private static func gap(_ reason: String, _ side: String, position: String, _ message: String)
    -> String
  {
    "{\"position\":\(position),\"op\":\"gap\",\"side\":\"\(side)\",\"reason\":\"\(reason)\",\"after\":null,"
      + "\"models\":[\"Track\"],\"message\":\"\(message)\"}"
  }

  @Test func gapsArePrintedBetweenTheChangesAlsoInQuietMode() throws {
    let (world, off, on) = try Self.interrupted()
    let outcome = try world.watch("Track", "--ndjson", "-q")
    #expect(outcome.code == 0 && outcome.err == "", "\(outcome)")
    let lines = outcome.out.split(separator: "\n").map(String.init)
    #expect(
      lines[1...2] == [
        Self.gap("stopped", "after", position: off, "\(Self.words) from position \(off) on"),
        Self.gap("started", "before", position: on, "\(Self.words) before position \(on)"),
      ])
    #expect(try told(outcome.out).map { String($0.suffix(1)) } == ["1", "3"])
    let plain = try world.watch("Track", "-o", "plain", "-q")
    #expect(plain.err == "", "\(plain)")
    #expect(plain.out.contains("\ngap: \(Self.words) from position \(off) on\ngap: "), "\(plain)")
  }

  @Test func aHistoryHasGapsInEveryFormat() throws {
    let (world, off, on) = try Self.interrupted()
    let lines = try world.place.run("history", "Track", "--ndjson", "-q").out
      .split(separator: "\n").map(String.init)
    #expect(
      lines[1...2] == [
        Self.gap("started", "before", position: on, "\(Self.words) before position \(on)"),
        Self.gap("stopped", "after", position: off, "\(Self.words) from position \(off) on"),
      ])
    for format in ["json", "csv", "tsv", "yaml", "md", "plain", "table"] {
      let outcome = try world.place.run("history", "Track", "-q", "-o", format)
      #expect(outcome.code == 0 && outcome.out.contains("\(Self.words) from position \(off) on"))
    }
    #expect(try world.place.run("history", "Track", "--fail-on-gap", "-q").code == 2)
    #expect(try world.place.run("history", "Track", "--fail-on-gap", "--since", on).code == 0)
    #expect(
      try world.place.run("history", "Track", "--fail-on-gap", "--limit", "1").code == 0)
  }

  @Test("history and watch print the start of the journal as the same record, also with -q")
  func theBeginningIsAGapForHistoryAndWatch() throws {
    let world = try WatchWorld(journal: ["on", "Track"])
    try world.set("seconds = 1", of: 1)
    let gap = Self.gap("started", "before", position: "1", "\(Self.words) before position 1")
    for words in [["history", "Track"], ["watch", "Track", "--since", "0", "--timeout", "0s"]] {
      let outcome = try world.place.runProcess(words + ["--ndjson", "-q"])
      #expect(outcome.code == 0 && outcome.err == "", "\(outcome)")
      #expect(
        outcome.out.split(separator: "\n").filter { $0.contains("\"op\":\"gap\"") } == [gap[...]],
        "\(outcome)")
      #expect(try world.place.runProcess(words + ["--fail-on-gap", "-q"]).code == 2)
    }
    #expect(try world.place.runProcess("history", "--since", "1", "--fail-on-gap").code == 0)
  }

  @Test func aPersonReadsWhereTheJournalBeginsAndWhereItWasRepaired() throws {
    let world = try WatchWorld(journal: ["on", "Track"])
    try world.set("seconds = 6", of: 1)
    try world.raw.execute(
      "DROP TRIGGER _ms_journal_Track_update; UPDATE Track SET seconds = 7 WHERE id = 1")
    try world.place.run("journal", "on", "Track")
    let shown = try world.place.run("history", "Track", "-o", "table", "-q").out
      .split(separator: "\n").filter { !$0.hasPrefix("POSITION") }
    #expect(shown.count == 3, "\(shown)")
    #expect(shown.first?.contains("gap: \(Self.words) before position 3") == true, "\(shown)")
    #expect(
      shown.last?.contains("the journal of Track begins here; earlier changes were not recorded")
        == true, "\(shown)")
  }

  @Test func aGapEndsTheStreamWhenRequested() throws {
    let (world, _, on) = try Self.interrupted()
    let outcome = try world.watch("Track", "--fail-on-gap")
    #expect(outcome.code == 2, "\(outcome)")
    #expect(outcome.out.split(separator: "\n").count == 2, "\(outcome)")
    #expect(try world.watch("Track", "--fail-on-gap", from: on).code == 0)
    // A consumer stays before the gap, and what came before it is done with.
    for counts in [1, 0] {
      let consumer = try world.watch("Track", "--consumer", "work", "--fail-on-gap")
      #expect(consumer.code == 2, "\(consumer)")
      #expect(try told(consumer.out).count == counts, "\(consumer)")
    }
    let rest = try world.watch("Track", "--consumer", "work")
    #expect(try told(rest.out).map { String($0.suffix(1)) } == ["3"], "\(rest)")
    #expect(try world.watch("Track", "--consumer", "work", "--fail-on-gap").code == 0)
  }

  @Test func aCommandLearnsOfAGapFromItsInputAndItsEnvironment() throws {
    let (world, off, _) = try Self.interrupted()
    for words in [[], ["--consumer", "work"]] {
      let outcome = try world.place.runProcess(
        ["watch", "Track", "--since", world.start, "--timeout", "0s", "-q", "--exec"]
          + ["echo \"[$STORECLI_GAP]\"; cat > input; grep -c '\"op\":\"gap\"' input; true"] + words)
      #expect(outcome.code == 0, "\(outcome)")
      let lines = outcome.out.split(separator: "\n").map(String.init)
      #expect(
        lines.map { $0.hasPrefix("[changes") || $0 == "1" } == [
          false, false, true, true, true, true, false, false,
        ])
      #expect(lines[2] == "[\(Self.words) from position \(off) on]", "\(outcome)")
    }
  }

  @Test func trimmedEntriesAreAGapForConsumers() throws {
    let world = try WatchWorld()
    _ = try world.watch("Track", "--consumer", "work")
    for number in 1...3 { try world.place.run("update", "Track", "1", "seconds=\(number)") }
    try world.place.run("journal", "trim", "--keep", "1", "--ignore-consumers")
    let outcome = try world.watch("Track", "--consumer", "work", "-q")
    #expect(outcome.out.hasPrefix("{\"position\":"), "\(outcome)")
    #expect(outcome.out.contains("\"reason\":\"trimmed\",\"after\":\(world.start)"), "\(outcome)")
  }

  @Test("a consumer behind the trimmed part reports the gap until a run may skip it")
  func trimmedEntriesStopAConsumerThatFailsOnGaps() throws {
    let world = try WatchWorld()
    _ = try world.watch("Track", "--consumer", "work")
    for number in 1...3 { try world.place.run("update", "Track", "1", "seconds=\(number)") }
    try world.place.run("journal", "trim", "--keep", "1", "--ignore-consumers")
    for _ in 1...2 {
      let stopped = try world.watch("Track", "--consumer", "work", "--fail-on-gap", "-q")
      #expect(stopped.code == 2, "\(stopped)")
      #expect(stopped.out.contains("\"reason\":\"trimmed\""), "\(stopped)")
    }
    let passed = try world.watch("Track", "--consumer", "work", "-q")
    #expect(passed.code == 0 && passed.out.contains("\"reason\":\"trimmed\""), "\(passed)")
    let rest = try world.watch("Track", "--consumer", "work", "--fail-on-gap", "-q")
    #expect(rest.code == 0 && rest.out == "", "\(rest)")
  }

  /// A newer program changes the file while the consumer waits, so the store cannot follow exactly.
  @Test("a consumer prints a report of the store immediately, not when the command ends")
  func aConsumerReportsAtOnce() throws {
    let world = try WatchWorld()
    let watch = try WatchProcess(world.place, ["Track", "--consumer", "work"])
    try world.raw.execute(
      """
      BEGIN;
      UPDATE _ms_bindings SET definition = json_set(definition, '$.later', 1);
      CREATE TABLE Later (id INTEGER PRIMARY KEY);
      COMMIT
      """)
    try watch.hear("ModelStore: newerFormat: ")
    watch.interrupt()
    _ = try watch.finish()
  }

  /// One row of another program at a great position.
  @Test(arguments: [Int64(1 << 60), .max])
  func aPositionFarAheadIsNotCountedUpTo(position: Int64) throws {
    let world = try WatchWorld()
    try world.set("seconds = 1", of: 1)
    let newest = try world.position()
    try world.raw.execute(
      "UPDATE _ms_journal SET position = \(position) WHERE position = \(newest)")
    let code: Int32 = position == .max ? 1 : 0
    for words in [["watch", "--since", "0", "--timeout", "0s"], ["history"]] + [
      ["watch", "--consumer", "work", "--since", "0", "--timeout", "0s"]
    ] {
      let outcome = try world.place.runProcess(words)
      #expect(outcome.code == code, "\(outcome)")
      #expect(outcome.err.contains("error[journalGap]") == (code == 1), "\(outcome)")
    }
    if code == 1 {
      #expect(try world.place.runProcess("journal", "trim", "--keep", "1000").code == 0)
      #expect(try world.place.runProcess("history").code == 0)
    }
  }

  @Test func theErrorForSeveralConflictsCountsThem() throws {
    let world = try WatchWorld()
    try world.place.run("update", "Track", "--where", "id <= 3", "seconds=7", "--yes")
    try world.raw.execute("UPDATE Track SET seconds = 8")
    let outcome = try world.place.run("undo")
    #expect(outcome.code == 4, "\(outcome)")
    #expect(
      outcome.err.hasPrefix(
        "error[conflict]: Nothing was changed: it conflicts with later changes of 3 records.\n"),
      "\(outcome)")
    #expect(outcome.err.contains("hint: storecli history Track 1"), "\(outcome)")
  }
}
