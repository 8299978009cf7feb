import Testing

@testable import ModelStore

/// How live queries are kept, and that it makes no difference to what they tell.
@Suite struct LivePlanTests {
  private static let setup =
    LiveQueryTests.setup + """
      CREATE VIEW pair AS SELECT item.t AS t, g.n AS n FROM item JOIN g ON g.id = item.g;
      CREATE TABLE stranger(x);
      """

  private static func schema(_ name: String, in file: DetectionFile) throws -> ModelSchema {
    try #require(file.store.schema.models.first { $0.name == name })
  }

  @Test func thePlanSaysHowAndWhy() throws {
    let file = try DetectionFile(Self.setup)
    let item = try Self.schema("item", in: file)
    let pair = try Self.schema("pair", in: file)
    func plan(_ query: Query<Record>) throws -> String {
      try file.store.live(query).plan.description
    }
    #expect(try plan(Query(item)) == "incremental")
    #expect(try plan(Query(item, limit: 3)) == "incremental")
    #expect(
      try plan(Query(item, where: .sql("t = upper(t)")))
        == "run again after each commit that touches it, because only SQLite can evaluate its condition"
    )
    #expect(
      try plan(Query(pair))
        == "run again after each commit that touches it, because it reads a view")
  }

  @Test func aQueryThatReadsATableWithoutAModelIsRefused() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try PlainDatabase(path).execute(Self.setup)
    let store = try Store(at: path)
    let item = try #require(try store.adopt(["item"]).first)
    let error = failure {
      try store.live(Query<Record>(item, where: .sql("id IN (SELECT x FROM stranger)")))
    }
    #expect(error?.code == .invalidQuery)
    #expect(error?.message.contains("stranger") == true)
  }

  @Test func aViewTellsWhatTheTablesBehindItDo() throws {
    let file = try DetectionFile(Self.setup)
    let pair = try Self.schema("pair", in: file)
    let live = try file.store.live(Query<Record>(pair, orderings: [QueryOrdering(fieldIndex: 0)]))
    let told = Recorder<String>()
    let subscription = live.observe { event in
      func text(_ record: Record?) -> String {
        record.map { "\($0.values[0])/\($0.values[1])" } ?? "?"
      }
      told.add(
        "-\(event.deletions.map { "\($0.index) \(text($0.record))" })"
          + " +\(event.insertions.map { "\($0.index) \(text($0.record)) \($0.reason)" })")
    }
    func write(_ sql: String) throws {
      try file.store.write { try $0.execute(SQLText(sql: sql)) }
    }
    try write(
      "INSERT INTO item VALUES (1, 0, 'x', 1, NULL), (2, 0, 'x', 1, NULL), (3, 0, 'y', 2, NULL)")
    try write("UPDATE item SET a = 5")
    try write("DELETE FROM item WHERE id = 1")
    try PlainDatabase(file.path).execute("UPDATE item SET t = 'z' WHERE id = 3")
    try file.store.refresh()
    file.store.waitForDelivery()
    #expect(
      told.events == [
        #"-[] +["0 \'x\'/\'one\' record", "1 \'x\'/\'one\' record", "2 \'y\'/\'two\' record"]"#,
        #"-["1 \'x\'/\'one\'"] +[]"#, #"-["1 \'y\'/\'two\'"] +["1 \'z\'/\'two\' record"]"#,
      ])
    #expect(live.count == 2)
    subscription.cancel()
  }

  @Test func equalQueriesShareOneResult() throws {
    let file = try DetectionFile(Self.setup)
    let item = try Self.schema("item", in: file)
    let byA = [QueryOrdering(fieldIndex: 1)]
    let prepared = { try file.store.core.writer.sync { $0.connection.preparedCount } }
    let first = try file.store.live(Query<Record>(item, orderings: byA))
    let before = try prepared()
    let second = try file.store.live(
      Query<Record>(item, orderings: byA + [QueryOrdering(fieldIndex: 0, collation: .binary)]))
    let window = try file.store.live(Query<Record>(item, orderings: byA, limit: 2))
    #expect(try prepared() == before)
    try file.store.write {
      try $0.execute(
        "INSERT INTO item VALUES (1, 0, 'x', 1, NULL), (2, 1, 'y', 1, NULL), (3, 2, 'z', 1, NULL)")
    }
    #expect([first.count, second.count, window.count] == [3, 3, 2])
  }

  @Test func aSharedResultEndsWithItsLastUser() throws {
    let file = try DetectionFile(Self.setup)
    let item = try Self.schema("item", in: file)
    let live = try file.store.live(Query<Record>(item, limit: 2))
    var held: Subscription? = live.observe { _ in }
    #expect(file.store.core.broker.interests().keys.sorted() == ["item"])
    withExtendedLifetime(live) {}
    let watched = { file.store.core.broker.interests().keys.sorted() }
    do { _ = consume live }
    #expect(watched() == ["item"])
    withExtendedLifetime(held) {}
    held = nil
    #expect(watched() == [])
  }

  @Test func theInitialEventComesFirstAndNothingIsMissed() async throws {
    let file = try DetectionFile(Self.setup)
    let g = try Self.schema("g", in: file)
    let query = Query<Record>(g, orderings: [QueryOrdering(fieldIndex: 1)])
    for window in [nil, 2] as [Int?] {
      let live = try file.store.live(query.limit(window))
      let told = Recorder<String>()
      let line: @Sendable (QueryChanges<Record>) -> String = { event in
        "\(event.isInitial) \(event.oldCount) +\(event.insertions.map { "\($0.index) \($0.key)" })"
      }
      let subscription = try live.observeWithInitial { told.add(line($0)) }
      var changes = try live.changesWithInitial().makeAsyncIterator()
      try await file.store.write { try $0.execute("INSERT INTO g VALUES (9, 'a')") }
      file.store.waitForDelivery()
      let rest = window == nil ? ", \"2 [2]\"" : ""
      let expected = [
        "true 0 +[\"0 [1]\", \"1 [3]\"\(rest)]", "false \(window ?? 3) +[\"0 [9]\"]",
      ]
      #expect(told.events == expected)
      let asynchronous = [
        try await changes.next().map(line), try await changes.next().map(line),
      ]
      #expect(asynchronous == expected)
      subscription.cancel()
      try await file.store.write { try $0.execute("DELETE FROM g WHERE id = 9") }
      #expect(
        failure { try file.store.write { _ in _ = try live.observeWithInitial { _ in } } }?.code
          == .misuse)
    }
  }

  @Test func anInitialEventAfterAForeignCommitIsThePresentState() throws {
    let file = try DetectionFile(Self.setup)
    let g = try Self.schema("g", in: file)
    let live = try file.store.live(Query<Record>(g))
    try PlainDatabase(file.path).execute("DELETE FROM g WHERE id = 2")
    let told = Recorder<[[SQLValue]]>()
    let subscription = try live.observeWithInitial { told.add($0.new.map(\.self)) }
    file.store.waitForDelivery()
    #expect(told.events == [[[.integer(1)], [.integer(3)]]])
    subscription.cancel()
  }
}

@Suite struct WindowTests {
  private struct World {
    let file: DetectionFile
    let schema: ModelSchema
    let live: LiveQuery<Record>
    let told = Recorder<String>()
    let subscription: Subscription

    init(limit: Int?, offset: Int, rows: Int) throws {
      file = try DetectionFile("CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER)")
      schema = try #require(file.store.schema.models.first { $0.name == "t" })
      let base = rows
      try file.store.write { tx in
        for id in 0..<base { try tx.execute("INSERT INTO t VALUES (\(id), \(id * 10))") }
      }
      live = try file.store.live(
        Query<Record>(
          schema, orderings: [QueryOrdering(fieldIndex: 1)], limit: limit, offset: offset))
      subscription = live.observe { [told] event in
        told.add(
          "v\(event.newVersion - event.oldVersion)"
            + " -\(event.deletions.map { "\($0.index):\($0.key[0]) \($0.reason)" })"
            + " +\(event.insertions.map { "\($0.index):\($0.key[0]) \($0.reason)" })"
            + " at \(event.new.precedingCount) of \(event.new.totalCount)")
      }
    }

    func write(_ sql: String) throws { try file.store.write { try $0.execute(SQLText(sql: sql)) } }

    func events() -> [String] {
      file.store.waitForDelivery()
      return told.taken()
    }
  }

  @Test func rowsThatSlideOverAnEdgeSaySo() throws {
    let world = try World(limit: 2, offset: 1, rows: 5)
    try world.write("INSERT INTO t VALUES (9, 5)")
    try world.write("DELETE FROM t WHERE id = 9")
    try world.write("UPDATE t SET k = 99 WHERE id = 0")
    try world.write("INSERT INTO t VALUES (8, 1000)")
    #expect(
      world.events() == [
        "v1 -[\"1:2 slid\"] +[\"0:9 record\"] at 1 of 6",
        "v1 -[\"0:9 record\"] +[\"1:2 slid\"] at 1 of 5",
        "v1 -[\"0:1 slid\"] +[\"1:3 slid\"] at 1 of 5",
      ])
    withExtendedLifetime(world.subscription) {}
  }

  @Test func movingTheWindowIsAChangeWithoutACommit() throws {
    let world = try World(limit: 2, offset: 1, rows: 5)
    try world.live.moveWindow(offset: 2, limit: 3)
    try world.live.moveWindow(offset: 2, limit: 3)
    try world.live.moveWindow(offset: 9, limit: 3)
    try world.live.moveWindow(offset: 4, limit: nil)
    #expect(
      world.events() == [
        "v0 -[\"0:1 slid\"] +[\"1:3 slid\", \"2:4 slid\"] at 2 of 5",
        "v0 -[\"0:2 slid\", \"1:3 slid\", \"2:4 slid\"] +[] at 5 of 5",
        "v0 -[] +[\"0:4 slid\"] at 4 of 5",
      ])
    #expect(world.live.window?.offset == 4)
    #expect(world.live.keys(in: 0..<9) == [[.integer(4)]])
    let whole = try world.file.store.live(Query<Record>(world.schema))
    #expect(failure { try whole.moveWindow(offset: 0, limit: 1) }?.code == .invalidQuery)
    withExtendedLifetime(world.subscription) {}
  }

  @Test(arguments: 1...8)
  func randomWindowsOverRandomStatesTellWhatSlicesDo(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = try World(limit: 3, offset: 2, rows: 8)
    world.subscription.cancel()
    let oracle = LiveQueryOracle(schema: world.schema, terms: [(field: 1, term: SortTerm())])
    let events = Recorder<QueryChanges<Record>>()
    let subscription = world.live.observe { events.add($0) }
    let plain = try PlainDatabase(world.file.path)
    var window = (offset: 2, limit: 3 as Int?)
    func shown() throws -> [[SQLValue]] {
      try plain.rows(
        "SELECT id, k FROM t ORDER BY k, id LIMIT \(window.limit ?? -1) OFFSET \(window.offset)")
    }
    var before = try shown()
    for step in 0..<300 {
      if Int.random(in: 0..<5, using: &random) == 0 {
        window.offset = Int.random(in: 0...10, using: &random)
        window.limit = [nil, 0, 1, 3, 6].randomElement(using: &random) ?? nil
        try world.live.moveWindow(offset: window.offset, limit: window.limit)
      } else {
        try world.file.store.write { tx in
          for _ in 0..<Int.random(in: 1...5, using: &random) {
            let id = Int.random(in: 0..<12, using: &random)
            let k = Int.random(in: 0..<6, using: &random) * 10
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try tx.execute("DELETE FROM t WHERE id = \(id)")
            case 1: try tx.execute("INSERT OR REPLACE INTO t VALUES (\(id), \(k))")
            default: try tx.execute("UPDATE t SET k = \(k) WHERE id = \(id)")
            }
          }
        }
      }
      world.file.store.waitForDelivery()
      let after = try shown()
      let told = events.taken()
      guard told.count == (before == after ? 0 : 1) else {
        Issue.record("seed \(seed), step \(step): \(told.count) events")
        return
      }
      if let objection = told.first.flatMap({ oracle.objection(to: $0, from: before, to: after) }) {
        Issue.record("seed \(seed), step \(step): \(objection)")
        return
      }
      before = after
    }
    subscription.cancel()
  }
}
