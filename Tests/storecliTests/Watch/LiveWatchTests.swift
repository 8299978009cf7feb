import ArgumentParser
import Foundation
import ModelStore
import RecordFormats
import Synchronization
import Testing

@testable import StoreCommand

/// Following a result when all changes since the last report wait to be reported.
@Suite(.tags(.process)) struct LiveWatchTests {
  private let place: Workplace
  private let store: Store

  init() throws {
    place = try Workplace()
    try RawDatabase(place.path("t.db")).execute(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, n INT NOT NULL);
      WITH RECURSIVE i(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM i WHERE id < 3000)
      INSERT INTO t SELECT id, 0 FROM i;
      """)
    store = try Store(at: place.path("t.db"))
    try store.adopt(["t"])
  }

  /// What `watch t --coalesce --sort` reports at once for transactions that were delivered one by
  /// one.
  private func tellAtOnce(
    sort: String, snapshot: Bool = false, _ transactions: [SQLText]
  ) throws -> (out: String, err: String) {
    let (out, err) = (Collected(), Collected())
    let terminal = Terminal(
      isInteractive: false, width: nil, palette: Palette(isColoured: false))
    let console = Console(
      data: out.sink, dataTerminal: terminal, talk: err.sink, talkTerminal: terminal)
    let command = try #require(try StoreCLI.parseAsRoot(["watch", "t"]) as? any LeafCommand)
    let context = CommandContext(command, console: console)
    var output = try WatchOutput(context, countMax: nil, splitsParts: true, handler: nil)
    let query = try PredicateText(schema: try store.schema.model(named: "t"))
      .query(where: nil, sort: sort)
    let watch = LiveWatch(
      of: store, try Bell(), isCoalescing: true, fields: nil, includesIndices: true)
    let waking = try watch.follow(
      [query], snapshot: snapshot, until: .now, to: &output
    ) { _ in
      for sql in transactions {
        try store.write { try $0.execute(sql) }
        store.waitForDelivery()
      }
    }
    #expect(waking == .timedOut)
    return (out.text, err.text)
  }

  /// `from to` of each line.
  private func indices(_ lines: String) throws -> [String] {
    try lines.split(separator: "\n").map { line in
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let index = try #require(object["index"] as? [String: Any])
      return ["from", "to"].map { (index[$0] as? Int).map { "\($0)" } ?? "-" }
        .joined(separator: " ")
    }
  }

  /// The steps of all lines.
  private func steps(_ lines: String) throws -> Set<String?> {
    Set(try lines.split(separator: "\n").map { try lineOf($0)["step"] })
  }

  @Test func noUpdateIsLostHoweverManyWait() throws {
    let outcome = try tellAtOnce(
      sort: "id",
      [
        "UPDATE t SET n = 1 WHERE id = 1", "UPDATE t SET n = 1 WHERE id = 2",
        "UPDATE t SET n = 1 WHERE id BETWEEN 10 AND 1100",
        "UPDATE t SET n = 1 WHERE id BETWEEN 1101 AND 1800",
      ])
    let ids = [1, 2] + Array(10...1800)
    #expect(try told(outcome.out) == ids.map { "~ \($0) n 0 -> 1" })
    #expect(try indices(outcome.out) == ids.map { "\($0 - 1) \($0 - 1)" })
    // Folded, they are as of the last one.
    #expect(try steps(outcome.out) == ["4"])
    #expect(outcome.err == "")
  }

  @Test func waitingEventsAreCoalescedWithTheIndicesAtBothEnds() throws {
    let outcome = try tellAtOnce(
      sort: "-id",
      [
        "INSERT INTO t VALUES (5000, 0)", "DELETE FROM t WHERE id = 5000",
        "INSERT INTO t VALUES (6000, 0)", "UPDATE t SET n = 1 WHERE id = 3000",
        "INSERT INTO t VALUES (6001, 0)", "DELETE FROM t WHERE id = 2999",
      ])
    #expect(try told(outcome.out) == ["+ 6000", "~ 3000 n 0 -> 1", "+ 6001", "- 2999"])
    #expect(try indices(outcome.out) == ["- 1", "0 2", "- 0", "1 -"])
    #expect(outcome.err == "")
  }

  @Test func anEventThatIsNotPrintedStillShiftsTheIndicesOfOthers() throws {
    let schema = try store.schema.model(named: "t")
    let events = Mutex<[QueryChanges<DynamicRecord>]>([])
    let subscription = try store.liveQuery(
      PredicateText(schema: schema).query(where: nil, sort: "-id")
    ).observe { event in events.withLock { $0.append(event) } }
    try store.write { try $0.execute("UPDATE t SET n = 1 WHERE id = 3000") }
    try store.write { try $0.execute("INSERT INTO t VALUES (6000, 0)") }
    store.waitForDelivery()
    subscription.cancel()
    let (update, insertion) = try events.withLock { events in
      try #require(events.count == 2)
      return (events[0], events[1])
    }
    let line = WatchedChange(
      change: ChangeLine(
        operation: .update, model: "t", key: [.integer(3000)],
        fields: [.init(name: "n", old: .integer(0), new: .integer(1))], origin: .user,
        schema: schema),
      place: WatchedChange.Place(old: 0, new: 0))
    var waiting = WaitingChanges()
    waiting.add([line], of: update)
    waiting.add([], of: insertion)
    #expect(waiting.net.map { [$0.place?.old, $0.place?.new] } == [[0, 1]])
  }

  @Test func theSnapshotShowsRecordsAsTheyAreWhenItIsPrinted() throws {
    try store.write { try $0.execute("DELETE FROM t WHERE id NOT IN (7, 8)") }
    let outcome = try tellAtOnce(
      sort: "-id", snapshot: true,
      ["UPDATE t SET n = 5 WHERE id = 7", "INSERT INTO t VALUES (9, 0)"])
    #expect(try told(outcome.out) == ["snapshot 8", "snapshot 7", "+ 9"])
    #expect(outcome.out.contains("\"n\":{\"new\":5}"), "\(outcome)")
    #expect(try indices(outcome.out) == ["- 1", "- 2", "- 0"])
    #expect(try steps(outcome.out) == ["3"])
  }
}
