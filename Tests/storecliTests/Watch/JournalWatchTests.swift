import ArgumentParser
import Foundation
import ModelStore
import RecordFormats
import Testing

@testable import StoreCommand

/// Following the journal when many changes wait to be reported.
@Suite(.tags(.process)) struct JournalWatchTests {
  private let place: Workplace
  private let raw: RawDatabase
  private let store: Store
  private let out = Collected()

  init() throws {
    place = try Workplace()
    raw = try RawDatabase(place.path("t.db"))
    try raw.execute(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, n INT NOT NULL);
      WITH RECURSIVE i(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM i WHERE id < 200)
      INSERT INTO t SELECT id, 0 FROM i;
      """)
    store = try Store(at: place.path("t.db"))
    try store.adopt(["t"])
    try store.changeJournal.enable()
  }

  private func context() throws -> CommandContext {
    let terminal = Terminal(
      isInteractive: false, width: nil, palette: Palette(isColoured: false))
    let command = try #require(try StoreCLI.parseAsRoot(["watch", "t"]) as? any LeafCommand)
    return CommandContext(
      command,
      console: Console(
        data: out.sink, dataTerminal: terminal, talk: Collected().sink, talkTerminal: terminal))
  }

  /// Changes of other programs are not signed, so each change is reported by itself.
  @Test func changesReadTogetherAreWrittenTogether() throws {
    let start = try store.changeJournal.position()
    try raw.execute("UPDATE t SET n = id")
    let context = try context()
    var output = try WatchOutput(context, countMax: nil, splitsParts: true, handler: nil)
    var watch = JournalWatch(
      store: store, past: try store.changeJournal.position(),
      selection: WatchSelection(models: nil, filter: nil, fields: nil, isCoalescing: false),
      bell: try Bell(), deadline: .now, drains: true, context: context)
    let waking = try watch.follow(after: start, to: &output)
    #expect(waking == .timedOut)
    #expect(try told(out.text) == (1...200).map { "~ \($0) n 0 -> \($0)" })
    #expect(out.drainCount == 1)
  }

  @Test func timesAreWrittenDigitByDigit() {
    let times: [(Int64, String)] = [
      (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
      (1_790_000_000_012_345, "2026-09-21T14:13:20.012345Z"),
      (253_402_300_800_000_000, "10000-01-01T00:00:00.000000Z"),
      (-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z"),
      (-62_167_219_200_000_001, "00-1-12-31T23:59:59.999999Z"),
    ]
    for (time, text) in times { #expect(TimeText.iso(time) == text) }
    // Another program may have written any number.
    #expect(TimeText.iso(.min) == "-290308-12-21T19:59:05.224192Z")
    #expect(TimeText.iso(.max) == "294247-01-10T04:00:54.775807Z")
    #expect(TimeText.ago(.min, now: 0) == "106751991 d ago")
    #expect(TimeText.ago(.min, now: .max) == "106751991 d ago")
    #expect(TimeText.ago(.max, now: -2) == "now")
  }
}
