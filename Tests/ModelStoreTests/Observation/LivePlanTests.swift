import Testing

@testable import ModelStore

/// How live queries are kept up to date, which makes no difference to what they report.
@Suite(.tags(.unit)) struct LivePlanTests {
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
    func plan(_ query: StoreQuery<DynamicRecord>) throws -> String {
      try file.store.liveQuery(query).plan.description
    }
    #expect(try plan(StoreQuery(item)) == "incremental")
    #expect(try plan(StoreQuery(item, limit: 3)) == "incremental")
    #expect(
      try plan(StoreQuery(item, where: .sql("t = upper(t)")))
        == "re-executed after each commit that touches it, because only SQLite can evaluate its condition"
    )
    #expect(
      try plan(StoreQuery(pair))
        == "re-executed after each commit that touches it, because it reads a view")
  }

  @Test func aQueryThatReadsATableWithoutAModelIsRefused() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try PlainDatabase(path).execute(Self.setup)
    let store = try Store(at: path)
    let item = try #require(try store.adopt(["item"]).first)
    let error = failure {
      try store.liveQuery(
        StoreQuery<DynamicRecord>(item, where: .sql("id IN (SELECT x FROM stranger)")))
    }
    #expect(error?.code == .invalidQuery)
    #expect(error?.message.contains("stranger") == true)
  }

  @Test func aViewReportsChangesOfItsTables() throws {
    let file = try DetectionFile(Self.setup)
    let pair = try Self.schema("pair", in: file)
    let live = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(pair, orderings: [QueryOrdering(fieldIndex: 0)]))
    let told = Recorder<String>()
    let subscription = try live.observe { event in
      func text(_ record: DynamicRecord?) -> String {
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

  /// 'b' and 'B' are one place under NOCASE, so such a row does not move.
  @Test(arguments: [nil, Condition.sql("length(t) > 0")])
  func bothPlansReportTheSameMoves(condition: Condition?) throws {
    let file = try DetectionFile(Self.setup)
    let item = try Self.schema("item", in: file)
    let order = [QueryOrdering(fieldIndex: 2, collation: .nocase)]
    try file.store.write {
      try $0.execute("INSERT INTO item VALUES (1, 0, 'a', 1, NULL), (2, 0, 'b', 1, NULL)")
    }
    let live = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(item, where: condition, orderings: order))
    #expect((live.plan == .incremental) == (condition == nil))
    let told = Recorder<[[Int]]>()
    let subscription = try live.observe { told.add($0.moves.map { [$0.oldIndex, $0.newIndex] }) }
    try file.store.write {
      try $0.execute("UPDATE item SET t = CASE id WHEN 1 THEN 'c' ELSE 'B' END")
    }
    file.store.waitForDelivery()
    #expect(told.events == [[[0, 1]]])
    subscription.cancel()
  }

  @Test func equalQueriesShareOneResult() throws {
    let file = try DetectionFile(Self.setup)
    let item = try Self.schema("item", in: file)
    let byA = [QueryOrdering(fieldIndex: 1)]
    let prepared = { try file.store.engine.connections.writer.sync { $0.connection.preparedCount } }
    let first = try file.store.liveQuery(StoreQuery<DynamicRecord>(item, orderings: byA))
    let before = try prepared()
    let second = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(
        item, orderings: byA + [QueryOrdering(fieldIndex: 0, collation: .binary)]))
    let window = try file.store.liveQuery(StoreQuery<DynamicRecord>(item, orderings: byA, limit: 2))
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
    let live = try file.store.liveQuery(StoreQuery<DynamicRecord>(item, limit: 2))
    var held: ObservationToken? = try live.observe { _ in }
    #expect(file.store.engine.broker.interests().keys.sorted() == ["item"])
    withExtendedLifetime(live) {}
    let watched = { file.store.engine.broker.interests().keys.sorted() }
    do { _ = consume live }
    #expect(watched() == ["item"])
    withExtendedLifetime(held) {}
    held = nil
    #expect(watched() == [])
  }

  @Test func theInitialEventComesFirstAndNothingIsMissed() async throws {
    let file = try DetectionFile(Self.setup)
    let g = try Self.schema("g", in: file)
    let query = StoreQuery<DynamicRecord>(g, orderings: [QueryOrdering(fieldIndex: 1)])
    for window in [nil, 2] as [Int?] {
      let live = try await file.store.liveQuery(query.limit(window))
      let told = Recorder<String>()
      let line: @Sendable (QueryChanges<DynamicRecord>) -> String = { event in
        "\(event.isInitial) \(event.oldCount) +\(event.insertions.map { "\($0.index) \($0.key)" })"
      }
      let subscription = try await live.observe(options: .initial) { told.add(line($0)) }
      var changes = try await live.changes(options: .initial).makeAsyncIterator()
      try await file.store.write { try $0.execute("INSERT INTO g VALUES (9, 'a')") }
      await file.store.waitForDelivery()
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
        failure { try file.store.write { _ in _ = try live.observe(options: .initial) { _ in } } }?
          .code
          == .misuse)
    }
  }

  @Test func anInitialEventAfterAForeignCommitIsThePresentState() throws {
    let file = try DetectionFile(Self.setup)
    let g = try Self.schema("g", in: file)
    let live = try file.store.liveQuery(StoreQuery<DynamicRecord>(g))
    try PlainDatabase(file.path).execute("DELETE FROM g WHERE id = 2")
    let told = Recorder<[[SQLValue]]>()
    let subscription = try live.observe(options: .initial) { told.add($0.new.map(\.self)) }
    file.store.waitForDelivery()
    #expect(told.events == [[[.integer(1)], [.integer(3)]]])
    subscription.cancel()
  }

  @Test func expressionsOverTheRecordNeedNoTable() throws {
    let file = try DetectionFile(Self.setup)
    let item = try Self.schema("item", in: file)
    let each = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(
        item, where: .sql("EXISTS (SELECT 1 FROM json_each(json_array(t)) WHERE value = 'x')")))
    let named = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(
        item, where: .sql("g IN (WITH own(n) AS (SELECT id FROM g) SELECT n FROM own)")))
    let counted = try file.store.liveQuery(
      StoreQuery<DynamicRecord>(
        item,
        where: .sql("(WITH own AS (SELECT id FROM g) SELECT count(*) FROM own) = 3")))
    let before = [each.count, named.count, counted.count]
    try file.store.write { try $0.execute("INSERT INTO item(id, t, g) VALUES (901, 'x', 1)") }
    #expect([each.count, named.count, counted.count] == before.map { $0 + 1 })
    try file.store.write { try $0.execute("DELETE FROM g WHERE id = 3") }
    #expect([each.count, named.count, counted.count] == [before[0] + 1, before[1] + 1, 0])
  }

  @Test func aTableOfWhichNoColumnIsReadIsObservedOrRefusedToo() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try PlainDatabase(path).execute(Self.setup)
    let store = try Store(at: path)
    let models = try store.adopt(["item", "g"])
    let error = failure {
      try store.liveQuery(
        StoreQuery<DynamicRecord>(models[0], where: .sql("EXISTS (SELECT 1 FROM stranger)")))
    }
    #expect(error?.code == .invalidQuery)
    let live = try store.liveQuery(
      StoreQuery<DynamicRecord>(models[0], where: .sql("NOT EXISTS (SELECT 1 FROM g)")))
    try store.write { tx in
      try tx.execute("DELETE FROM item")
      try tx.execute("DELETE FROM g")
      try tx.execute("INSERT INTO item(id, t) VALUES (901, 'x')")
    }
    #expect(live.count == 1)
    try store.write { tx in try tx.execute("INSERT INTO g(id) VALUES (5)") }
    #expect(live.count == 0)
  }

  @Test func queriesOfSQLitesOwnTablesAreRefused() throws {
    let file = try DetectionFile(Self.setup)
    let item = try Self.schema("item", in: file)
    let error = failure {
      try file.store.liveQuery(
        StoreQuery<DynamicRecord>(
          item, where: .sql("id IN (SELECT cid FROM pragma_table_info('item'))")))
    }
    #expect(
      error?.message
        == "A live query of item cannot be kept up to date: it reads pragma_table_info, which belongs to SQLite and is not a table of the file. Fetch the query when needed."
    )
  }
}
