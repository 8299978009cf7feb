import Testing

@testable import ModelStore

/// Adopted tables whose keys hold NULLs, which SQLite allows and other programs write.
@Suite(.tags(.unit)) struct KeylessRecordsTests {
  private struct World {
    let directory: TemporaryDirectory
    let store: Store
    let schema: ModelSchema
    let failures: Recorder<String>

    init(_ table: String) throws {
      let failures = Recorder<String>()
      self.failures = failures
      directory = try TemporaryDirectory()
      let path = directory.file("k.store")
      try PlainDatabase(path).execute(
        "PRAGMA journal_mode = WAL; \(table); INSERT INTO k VALUES ('a', 1), ('b', 2)")
      store = try Store(at: path, onError: { failures.add($0.message) })
      schema = try #require(try store.adopt().first)
    }
  }

  @Test(arguments: [
    "CREATE TABLE k (name TEXT PRIMARY KEY, v)",
    "CREATE TABLE k (name TEXT, v, PRIMARY KEY (name, v))",
  ])
  func recordsWithoutAKeyAreLeftOutOfLiveResults(table: String) throws {
    let world = try World(table)
    let all = StoreQuery<DynamicRecord>(world.schema)
    let queries = [
      try world.store.liveQuery(all), try world.store.liveQuery(all.limit(10)),
      try world.store.liveQuery(all.filter(.sql("v > 0"))),
    ]
    let told = Recorder<String>()
    let subscriptions = try queries.map { query in
      try query.observe(options: .initial) { told.add("\($0.isReset) \($0.newCount)") }
    }
    world.store.waitForDelivery()
    #expect(told.taken() == ["false 2", "false 2", "false 2"])
    try PlainDatabase(world.store.path).execute(
      "INSERT INTO k VALUES (NULL, 1), (NULL, 1), (NULL, 2), ('c', 3)")
    try world.store.write { tx in try tx.execute("INSERT INTO k VALUES ('d', 4)") }
    try world.store.write { tx in
      try tx.execute("INSERT INTO k VALUES (NULL, 9), (NULL, 9)")
      try tx.execute("UPDATE k SET v = 8 WHERE name IS NULL")
    }
    world.store.waitForDelivery()
    #expect(queries.map(\.count) == [4, 4, 4])
    let more = [try world.store.liveQuery(all), try world.store.liveQuery(all.limit(3, offset: 1))]
    #expect(more.map(\.count) == [4, 3])
    let again = try more[0].observe(options: .initial) { told.add("again \($0.newCount)") }
    world.store.waitForDelivery()
    #expect(told.events.last == "again 4")
    #expect(world.failures.events == [])
    for subscription in subscriptions + [again] { subscription.cancel() }
  }

  /// Regression: the program ended when a commit had such a record and another one was observed.
  @Test(arguments: [
    ("CREATE TABLE k (name TEXT PRIMARY KEY, v)", [SQLValue.text("a")]),
    ("CREATE TABLE k (name TEXT, v, PRIMARY KEY (name, v))", [.text("a"), .integer(1)]),
    ("CREATE TABLE k (name TEXT PRIMARY KEY, v)", [.null]),
  ])
  func recordsWithoutAKeyConcernNoObserverOfARecord(table: String, key: [SQLValue]) throws {
    let world = try World(table)
    let told = Recorder<String>()
    let observer = RecordObserver(
      ObservedFields(world.schema, fields: nil, counted: nil), of: key, coalescing: .latest)
    observer.whenReady { part in
      told.add(part.commit.changes.map { "\($0.operation) \($0.key)" }.joined(separator: ", "))
    }
    observer.enter(world.store.engine.broker)
    try world.store.write { tx in
      try tx.execute("INSERT INTO k VALUES (NULL, 9), (NULL, 9)")
      try tx.execute("UPDATE k SET v = 8 WHERE name IS NULL")
    }
    try world.store.write { tx in
      try tx.execute("DELETE FROM k WHERE name IS NULL")
      try tx.execute("DELETE FROM k WHERE name = 'a'")
    }
    world.store.waitForDelivery()
    #expect(told.events == (key == [.null] ? [] : ["delete \(key)"]))
    #expect(world.failures.events == [])
    observer.end()
  }

  @Test func recordsOutOfOrderAreRefusedByTheTree() {
    let rule = LiveResult.Rule(
      schema: ModelSchema(
        name: "t", fields: [FieldSchema(name: "id", type: .integer)], key: ["id"]),
      admits: nil, terms: [])
    for images: [[SQLValue]] in [[[.integer(1)], [.integer(1)]], [[.integer(2)], [.integer(1)]]] {
      #expect(failure { try rule.tree(images) }?.code == .corrupt)
    }
    #expect(RankedTree(checking: [1, 2, 2]) == nil)
    #expect(RankedTree(checking: Array(0..<1_000) + [999]) == nil)
    #expect(RankedTree(checking: 0..<1_000)?.count == 1_000)
  }
}
