import Synchronization
import Testing

@testable import ModelStore

/// Windows on sorted results: over a tree, and over an index with their own rows only.
@Suite(.tags(.unit)) struct WindowTests {
  private struct World {
    let file: DetectionFile
    let schema: ModelSchema
    let live: LiveQuery<DynamicRecord>
    let told = Recorder<String>()
    let subscription: ObservationToken

    init(limit: Int?, offset: Int, rows: Int, isIndexed: Bool = false) throws {
      file = try DetectionFile(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER NOT NULL, n INTEGER);"
          + (isIndexed ? "CREATE INDEX i ON t(k);" : ""))
      schema = try #require(file.store.schema.models.first { $0.name == "t" })
      let base = rows
      try file.store.write { tx in
        for id in 0..<base { try tx.execute("INSERT INTO t(id, k) VALUES (\(id), \(id * 10))") }
      }
      live = try file.store.liveQuery(
        StoreQuery<DynamicRecord>(
          schema, orderings: [QueryOrdering(fieldIndex: 1)], limit: limit, offset: offset))
      subscription = try live.observe { [told] event in
        told.add(
          "v\(event.newVersion - event.oldVersion)"
            + " -\(event.deletions.map { "\($0.index):\($0.key[0]) \($0.reason)" })"
            + " +\(event.insertions.map { "\($0.index):\($0.key[0]) \($0.reason)" })"
            + " at \(event.new.precedingCount) of \(event.new.totalCount ?? -1)")
      }
    }

    func write(_ sql: String) throws { try file.store.write { try $0.execute(SQLText(sql: sql)) } }

    func events() -> [String] {
      file.store.waitForDelivery()
      return told.taken()
    }
  }

  @Test func aWindowOverAnIndexKeepsItsOwnRowsOnly() throws {
    let world = try World(limit: 2, offset: 1, rows: 5, isIndexed: true)
    try world.write("INSERT INTO t(id, k) VALUES (9, 5)")
    try world.write("DELETE FROM t WHERE id = 9")
    try world.write("UPDATE t SET k = 99 WHERE id = 0")
    try world.write("INSERT INTO t(id, k) VALUES (8, 1000)")
    try world.live.moveWindow(offset: 0, limit: 1)
    try world.write("DELETE FROM t")
    try world.write("INSERT INTO t(id, k) VALUES (1, 1)")
    #expect(
      world.events() == [
        "v1 -[\"1:2 slid\"] +[\"0:9 record\"] at 1 of -1",
        "v1 -[\"0:9 record\"] +[\"1:2 slid\"] at 1 of -1",
        "v1 -[\"0:1 slid\"] +[\"1:3 slid\"] at 1 of -1",
        "v0 -[\"0:2 slid\", \"1:3 slid\"] +[\"0:1 slid\"] at 0 of -1",
        "v1 -[\"0:1 record\"] +[] at 0 of -1", "v1 -[] +[\"0:1 record\"] at 0 of -1",
      ])
    #expect(world.live.plan == .incremental)
    withExtendedLifetime(world.subscription) {}
  }

  /// Its own rows would be those of the whole table, compared and copied at each commit.
  @Test func aWindowThatGrowsBeyondItsLimitSwitchesToATree() throws {
    let world = try World(limit: 2, offset: 1, rows: 5, isIndexed: true)
    #expect(world.live.source.images?.count == 2)
    try world.live.moveWindow(offset: 1, limit: nil)
    #expect(world.live.source.images == nil)
    try world.write("INSERT INTO t(id, k) VALUES (9, 5)")
    try world.write("DELETE FROM t WHERE id = 0")
    try world.live.moveWindow(offset: 0, limit: 2)
    try world.write("DELETE FROM t WHERE id = 9")
    #expect(
      world.events() == [
        "v0 -[] +[\"2:3 slid\", \"3:4 slid\"] at 1 of 5",
        "v1 -[] +[\"0:9 record\"] at 1 of 6", "v1 -[\"0:9 slid\"] +[] at 1 of 5",
        "v0 -[\"1:2 slid\", \"2:3 slid\", \"3:4 slid\"] +[\"0:9 slid\"] at 0 of 5",
        "v1 -[\"0:9 record\"] +[\"1:2 slid\"] at 0 of 4",
      ])
    #expect(world.live.keys(in: 0..<9) == [[.integer(1)], [.integer(2)]])
    #expect(world.live.plan == .incremental)
  }

  @Test func aWindowLargerThanItsLimitStartsOnATree() throws {
    let world = try World(limit: 4097, offset: 0, rows: 3, isIndexed: true)
    #expect(world.live.source.images == nil)
    let small = try World(limit: 4096, offset: 0, rows: 3, isIndexed: true)
    #expect(small.live.source.images?.count == 3)
  }

  /// The group was there before the tree, and waits for what its members say of a commit.
  @Test func aGroupReceivesOneBatchPerCommitAfterAWindowSwitchedToATree() throws {
    let world = try World(limit: 2, offset: 0, rows: 3, isIndexed: true)
    let whole = try world.file.store.liveQuery(StoreQuery<DynamicRecord>(world.schema))
    let batches = Recorder<[Int?]>()
    let group = try world.file.store.observe(world.live, whole) { shown, all in
      batches.add([shown?.insertions.count, all?.insertions.count])
    }
    try world.live.moveWindow(offset: 0, limit: nil)
    try world.write("INSERT INTO t(id, k) VALUES (9, 5)")
    try world.write("INSERT INTO t(id, k) VALUES (8, 6)")
    world.file.store.waitForDelivery()
    #expect(batches.events == [[1, nil], [1, 1], [1, 1]])
    group.cancel()
  }

  @Test func aWindowKeepsItsPlaceIfTheNewOneCannotBeRead() throws {
    struct Unreadable: Error {}
    let schema = ModelSchema(
      name: "t", fields: [FieldSchema(name: "id", type: .integer)], key: ["id"])
    let failures = Recorder<String>()
    let base = LiveResult(
      rule: LiveResult.Rule(schema: schema, admits: nil, terms: []),
      interest: ChangeBroker.Interest(model: "t"),
      images: (0..<9).map { [.integer($0)] }, reload: { [] }, report: { _ in })
    let isUnreadable = Mutex(true)
    let window = WindowResult(
      QueryWindow(offset: 0, limit: 2), of: base,
      find: { keys in
        if isUnreadable.withLock({ $0 }) { throw Unreadable() }
        return keys
      }, report: { failures.add($0.code.rawValue) })
    let mailbox = Mailbox<QueryDelta>(coalescing: .every)
    let end = window.subscribe(into: mailbox)
    #expect(throws: Unreadable.self) { try window.move(to: QueryWindow(offset: 4, limit: 2)) }
    #expect(window.rows.window == QueryWindow(offset: 0, limit: 2))
    #expect(failures.events == [])
    isUnreadable.withLock { $0 = false }
    #expect(try window.move(to: QueryWindow(offset: 1, limit: 2)) == .ready)
    let event = try #require(
      mailbox.take().map { try QueryChanges<DynamicRecord>($0, schema: schema) })
    #expect(event.isReset == false)
    #expect(event.deletions.map(\.key) == [[.integer(0)]])
    #expect(event.insertions.map(\.key) == [[.integer(2)]])
    end()
  }

  /// Windows that keep their own rows once compared places of two encodings: in descending order
  /// and under a collation they showed rows that were not in them.
  @Test(arguments: 1...6)
  func windowsOverAnyIndexShowWhatSQLSays(seed: UInt64) throws {
    let file = try DetectionFile(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER NOT NULL, s TEXT NOT NULL);
      CREATE INDEX t_k ON t(k);
      CREATE INDEX t_s ON t(s COLLATE NOCASE);
      """)
    let schema = try #require(file.store.schema.models.first { $0.name == "t" })
    let orders: [[QueryOrdering]] = [
      [QueryOrdering(fieldIndex: 1)],
      [QueryOrdering(fieldIndex: 0, direction: .descending)],
      [QueryOrdering(fieldIndex: 2, collation: .nocase)],
      [
        QueryOrdering(fieldIndex: 1, direction: .descending),
        QueryOrdering(fieldIndex: 0, direction: .descending),
      ],
    ]
    var random = SeededGenerator(seed: seed)
    let letters = ["a", "A", "b", "B", "aa", "Ab", "c"]
    func row(_ id: Int) -> SQLText {
      let k = Int.random(in: 0..<12, using: &random)
      let letter = letters.randomElement(using: &random) ?? ""
      return "INSERT OR REPLACE INTO t VALUES (\(id), \(k), \(letter))"
    }
    try file.store.write { tx in for id in 1...20 { try tx.execute(row(id)) } }
    let queries = orders.map {
      StoreQuery<DynamicRecord>(schema, orderings: $0, limit: 5, offset: 6)
    }
    let lives = try queries.map { try file.store.liveQuery($0) }
    let lists = lives.map { _ in Recorder<QueryChanges<DynamicRecord>>() }
    let held = try zip(lives, lists).map { live, list in
      try live.observe(options: .initial) { list.add($0) }
    }
    for step in 0..<120 {
      try file.store.write { tx in
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let id = Int.random(in: 1...30, using: &random)
          if Int.random(in: 0..<3, using: &random) == 0 {
            try tx.execute("DELETE FROM t WHERE id = \(id)")
          } else {
            try tx.execute(row(id))
          }
        }
      }
      for (number, (live, query)) in zip(lives, queries).enumerated() {
        let expected = try file.store.fetch(query).map { [$0.values[0]] }
        #expect(
          live.keys(in: 0..<Int.max) == expected, "seed \(seed), step \(step), order \(number)")
      }
    }
    file.store.waitForDelivery()
    for (number, query) in queries.enumerated() {
      var list: [DynamicRecord] = []
      for event in lists[number].events { event.apply(to: &list) }
      #expect(list == (try file.store.fetch(query)), "seed \(seed), order \(number)")
    }
    withExtendedLifetime(held) {}
  }

  @Test func rowsThatSlideOverAnEdgeAreMarkedAsSlid() throws {
    let world = try World(limit: 2, offset: 1, rows: 5)
    try world.write("INSERT INTO t(id, k) VALUES (9, 5)")
    try world.write("DELETE FROM t WHERE id = 9")
    try world.write("UPDATE t SET k = 99 WHERE id = 0")
    try world.write("INSERT INTO t(id, k) VALUES (8, 1000)")
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
    let whole = try world.file.store.liveQuery(StoreQuery<DynamicRecord>(world.schema))
    #expect(failure { try whole.moveWindow(offset: 0, limit: 1) }?.code == .invalidQuery)
    withExtendedLifetime(world.subscription) {}
  }

  @Test(arguments: 1...16)
  func randomWindowsOverRandomStatesReportWhatSlicesShow(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = try World(limit: 3, offset: 2, rows: 8, isIndexed: seed % 2 == 0)
    world.subscription.cancel()
    let oracle = LiveQueryOracle(schema: world.schema, terms: [(field: 1, term: SortTerm())])
    let events = Recorder<QueryChanges<DynamicRecord>>()
    let subscription = try world.live.observe { events.add($0) }
    let plain = try PlainDatabase(world.file.path)
    var window = (offset: 2, limit: 3 as Int?)
    // Without a limit a window that keeps its own rows goes over to a tree, and stays with it.
    let limits: [Int?] = seed % 4 == 0 ? [0, 1, 3, 6] : [nil, 0, 1, 3, 6]
    func shown() throws -> [[SQLValue]] {
      try plain.rows(
        "SELECT id, k, n FROM t ORDER BY k, id LIMIT \(window.limit ?? -1) OFFSET \(window.offset)")
    }
    var before = try shown()
    for step in 0..<300 {
      if Int.random(in: 0..<5, using: &random) == 0 {
        window.offset = Int.random(in: 0...10, using: &random)
        window.limit = limits.randomElement(using: &random) ?? nil
        try world.live.moveWindow(offset: window.offset, limit: window.limit)
      } else {
        try world.file.store.write { tx in
          for _ in 0..<Int.random(in: 1...5, using: &random) {
            let id = Int.random(in: 0..<12, using: &random)
            let k = Int.random(in: 0..<6, using: &random) * 10
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try tx.execute("DELETE FROM t WHERE id = \(id)")
            case 1: try tx.execute("INSERT OR REPLACE INTO t(id, k) VALUES (\(id), \(k))")
            case 2: try tx.execute("UPDATE t SET n = \(k) WHERE id = \(id)")
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
