import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Live queries over random transactions, each event compared with what SQL says before and after.
@Suite(.tags(.law)) struct LiveQueryTests {
  static let setup = """
    CREATE TABLE g(id INTEGER PRIMARY KEY, n TEXT);
    CREATE TABLE item(
      id INTEGER PRIMARY KEY, a, t TEXT, g INTEGER REFERENCES g ON DELETE CASCADE ON UPDATE CASCADE,
      u INTEGER UNIQUE);
    CREATE TRIGGER spread AFTER UPDATE OF n ON g BEGIN UPDATE item SET t = NEW.n WHERE g = NEW.id; END;
    INSERT INTO g VALUES (1, 'one'), (2, 'two'), (3, 'three');
    """

  /// One query, with the SQL that a person would write for it.
  struct Watched: Sendable {
    var sql: String
    var order: [QueryOrdering]
    var condition: Condition?
    var limit: Int?
    var offset = 0

    init(
      _ sql: String, _ order: [QueryOrdering], _ condition: Condition? = nil, limit: Int? = nil,
      offset: Int = 0
    ) {
      self.sql = sql
      self.order = order
      self.condition = condition
      self.limit = limit
      self.offset = offset
    }
  }

  static let queries: [Watched] = [
    Watched("ORDER BY a, id", [QueryOrdering(fieldIndex: 1)], nil),
    Watched(
      "ORDER BY t COLLATE NOCASE DESC NULLS LAST, a NULLS LAST, id",
      [
        QueryOrdering(fieldIndex: 2, direction: .descending, nulls: .last, collation: .nocase),
        QueryOrdering(fieldIndex: 1, nulls: .last),
      ], nil
    ),
    Watched(
      "WHERE a > 0 ORDER BY t COLLATE RTRIM, id",
      [QueryOrdering(fieldIndex: 2, collation: .rtrim)],
      .comparison(.field(1), .greater, .value(.integer(0)))
    ),
    Watched(
      "WHERE g IS NOT NULL AND (u > 10 OR t LIKE 'a%') ORDER BY g DESC NULLS FIRST, a DESC, id",
      [
        QueryOrdering(fieldIndex: 3, direction: .descending, nulls: .first),
        QueryOrdering(fieldIndex: 1, direction: .descending),
      ],
      .and([
        .isNotNull(.field(3)),
        .or([
          .comparison(.field(4), .greater, .value(.integer(10))), .like(.field(2), pattern: "a%"),
        ]),
      ])
    ),
    // Windows: at the start, in the middle, to the end, and of nothing.
    Watched("ORDER BY a, id LIMIT 3", [QueryOrdering(fieldIndex: 1)], limit: 3),
    Watched(
      "ORDER BY a DESC, id LIMIT 4 OFFSET 2",
      [QueryOrdering(fieldIndex: 1, direction: .descending)], limit: 4, offset: 2),
    Watched(
      "WHERE a > 0 ORDER BY t, id LIMIT -1 OFFSET 1", [QueryOrdering(fieldIndex: 2)],
      .comparison(.field(1), .greater, .value(.integer(0))), offset: 1),
    Watched("ORDER BY a, id LIMIT 0 OFFSET 1", [QueryOrdering(fieldIndex: 1)], limit: 0, offset: 1),
    // Found by a value that all their records have.
    Watched(
      "WHERE g = 2 ORDER BY a, id", [QueryOrdering(fieldIndex: 1)],
      .comparison(.field(3), .equal, .value(.integer(2)))),
    // Run again after each commit, with and without a window.
    Watched(
      "WHERE EXISTS (SELECT 1 FROM g WHERE g.id = item.g AND g.n <> 'b') ORDER BY a, id",
      [QueryOrdering(fieldIndex: 1)],
      .sql("EXISTS (SELECT 1 FROM g WHERE g.id = item.g AND g.n <> 'b')")),
    Watched(
      "WHERE length(t) > 1 ORDER BY t DESC, id LIMIT 3 OFFSET 1",
      [QueryOrdering(fieldIndex: 2, direction: .descending)], .sql("length(t) > 1"), limit: 3,
      offset: 1),
  ]

  /// One live query, a list kept by its events, and a slow reader of the same.
  final class Watch: Sendable {
    let live: LiveQuery<DynamicRecord>
    let sql: String
    let oracle: LiveQueryOracle
    let kept: Mutex<[QueryChanges<DynamicRecord>]> = Mutex([])
    let subscription: Mutex<ObservationToken?> = Mutex(nil)
    let slow: ChangeSequence<QueryChanges<DynamicRecord>>

    init(_ store: Store, _ schema: ModelSchema, _ number: Int) throws {
      let watched = LiveQueryTests.queries[number]
      sql = "SELECT id, a, t, g, u FROM item " + watched.sql
      let order = watched.order
      let query = StoreQuery<DynamicRecord>(
        schema, where: watched.condition, orderings: order, limit: watched.limit,
        offset: watched.offset)
      live = try store.liveQuery(query)
      oracle = LiveQueryOracle(
        schema: schema,
        terms: order.map { ordering in
          (
            field: ordering.fieldIndex,
            term: SortTerm(
              collation: ordering.effectiveCollation(in: schema),
              direction: ordering.direction == .ascending ? .ascending : .descending,
              nulls: ordering.effectiveNulls == .first ? .first : .last)
          )
        })
      slow = try live.changes(coalescing: .latest)
      let held = try live.observe { [weak self] event in self?.kept.withLock { $0.append(event) } }
      subscription.withLock { $0 = held }
    }
  }

  struct GivenUp: Error {}

  /// The count of random transactions: `MODELSTORE_LIVE_TRANSACTIONS`, or enough for every day.
  static var transactionCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_LIVE_TRANSACTIONS"].flatMap { Int($0) }
      ?? 20_000
  }

  /// Four seeds, starting with `MODELSTORE_SEED`.
  static var seeds: ClosedRange<UInt64> {
    let first = ProcessInfo.processInfo.environment["MODELSTORE_SEED"].flatMap { UInt64($0) } ?? 1
    return first...(first + 3)
  }

  @Test(
    "P1 P2 P3 P4 P7 P9 P13 P15 random transactions report exactly what SQL says", arguments: seeds)
  func randomTransactionsReportExactlyWhatSQLSays(seed: UInt64) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("random.db")
    try PlainDatabase(path).execute(Self.setup)
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.checkpointFrameCount = 50
    let store = try await Store(at: path, configuration: configuration)
    let schema = try await #require(try store.adopt(["g", "item"]).last)
    let database = try PlainDatabase(path)
    let watches = try Self.queries.indices.map { try Watch(store, schema, $0) }
    var readers = watches.map { $0.slow.makeAsyncIterator() }
    var results = try watches.map { try database.rows($0.sql) }
    var slowResults = results
    var random = RandomTransaction(seed: seed)

    for number in 0..<(Self.transactionCount / 4) {
      try Self.commit(&random, to: store)
      for (index, watch) in watches.enumerated() {
        let fresh = try database.rows(watch.sql)
        let events = watch.kept.withLock { kept in
          defer { kept = [] }
          return kept
        }
        if let objection = Self.objection(to: events, watch, from: results[index], to: fresh) {
          Issue.record("seed \(seed), transaction \(number), query \(index): \(objection)")
          return
        }
        #expect(watch.live.count == fresh.count)
        results[index] = fresh
        // Only a change that is still one makes an event, so this cannot wait for ever.
        guard random.chance(1, of: 9), slowResults[index] != fresh else { continue }
        let next = try await readers[index].next()
        let event = try #require(next)
        if let objection = watch.oracle.objection(to: event, from: slowResults[index], to: fresh) {
          Issue.record("seed \(seed), transaction \(number), slow query \(index): \(objection)")
          return
        }
        slowResults[index] = fresh
      }
    }
    for (index, watch) in watches.enumerated() {
      #expect(watch.live.keys(in: 0..<Int.max) == results[index].map { [$0[0]] })
    }
  }

  static func commit(_ random: inout RandomTransaction, to store: Store) throws {
    do {
      try store.write { tx in try random.run(in: tx) }
    } catch is GivenUp {}
    store.waitForDelivery()
  }

  private static func objection(
    to events: [QueryChanges<DynamicRecord>], _ watch: Watch, from old: [[SQLValue]],
    to new: [[SQLValue]]
  ) -> String? {
    guard let event = events.first else { return old == new ? nil : "no event" }
    guard events.count == 1 else { return "\(events.count) events for one commit" }
    guard old != new else { return "an event for nothing" }
    guard !event.isReset else { return "a reset" }
    return watch.oracle.objection(to: event, from: old, to: new)
  }

  /// Enough rows change that the result's tree is built again; the event is still exact.
  @Test func aLargeCommitIsReportedJustAsExactly() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("large.db")
    try PlainDatabase(path).execute(
      Self.setup
        + """
        WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
        INSERT INTO item SELECT i, i % 89 - 20, 't' || i % 7, NULL, NULL FROM n;
        """)
    let store = try Store(at: path)
    let schema = try #require(try store.adopt(["g", "item"]).last)
    let database = try PlainDatabase(path)
    let watches = try [0, 1, 2].map { try Watch(store, schema, $0) }
    var results = try watches.map { try database.rows($0.sql) }
    for statement in [
      "UPDATE item SET a = 60 - a", "UPDATE item SET t = t || a WHERE id % 5 < 4",
      "DELETE FROM item WHERE id % 6 > 0",
      "INSERT INTO item SELECT id + 9000, a, t, g, u FROM item",
    ] {
      try store.write { try $0.execute(SQLText(sql: statement)) }
      store.waitForDelivery()
      for (index, watch) in watches.enumerated() {
        let fresh = try database.rows(watch.sql)
        let events = watch.kept.withLock { kept in
          defer { kept = [] }
          return kept
        }
        let objection = Self.objection(to: events, watch, from: results[index], to: fresh)
        #expect(objection == nil, "query \(index) after \(statement)")
        results[index] = fresh
      }
    }
  }

  @Test func aSubscriberSeesNothingFromBefore() throws {
    let file = try DetectionFile(Self.setup)
    let schema = try #require(file.store.schema.models.first { $0.name == "g" })
    let live = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(schema, orderings: [QueryOrdering(fieldIndex: 1)]))
    let recorder = Recorder<Int>()
    try file.store.write { try $0.execute("INSERT INTO g VALUES (4, 'a')") }
    let subscription = try live.observe { recorder.add($0.newCount) }
    try file.store.write { try $0.execute("INSERT INTO g VALUES (5, 'b')") }
    file.store.waitForDelivery()
    #expect(recorder.events == [5])
    subscription.cancel()
    subscription.cancel()
    try file.store.write { try $0.execute("DELETE FROM g") }
    file.store.waitForDelivery()
    #expect(recorder.events == [5])
    #expect(live.count == 0)
  }

  @Test func writesOfAnotherConnectionArriveAsAReset() throws {
    let file = try DetectionFile(Self.setup)
    let schema = try #require(file.store.schema.models.first { $0.name == "g" })
    let live = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(schema, orderings: [QueryOrdering(fieldIndex: 1)]))
    let recorder = Recorder<String>()
    let subscription = try live.observe { event in
      recorder.add(
        "\(event.isReset) -\(event.deletions.map(\.index)) +\(event.insertions.map(\.index)) "
          + "\(event.moves.map { [$0.oldIndex, $0.newIndex] }) \(event.insertions.map(\.origin))")
    }
    try PlainDatabase(file.path).execute(
      """
      BEGIN; DELETE FROM g WHERE id = 1; UPDATE g SET n = 'zzz' WHERE id = 3;
      INSERT INTO g VALUES (9, 'a'); COMMIT
      """
    )
    try file.store.write { try $0.execute("UPDATE g SET n = 'b' WHERE id = 9") }
    file.store.waitForDelivery()
    try file.store.refresh()
    file.store.waitForDelivery()
    #expect(recorder.events == ["true -[0] +[0] [[1, 2]] [foreign]", "false -[] +[] [] []"])
    subscription.cancel()
  }
}
