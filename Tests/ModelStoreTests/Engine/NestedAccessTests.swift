import Dispatch
import Testing

@testable import ModelStore

/// Transactions begun, and stores closed, while others run.
@Suite(.tags(.unit)) struct NestedAccessTests {
  @Test func aWriteInsideTheOnlyReadCanRefetchLiveQueries() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    var configuration = StoreConfiguration()
    configuration.maxReaderCount = 1
    let reports = Recorder<StoreError>()
    let store = try Store(at: path, models: Artist.self, configuration: configuration) {
      reports.add($0)
    }
    let live = try store.liveQuery(Artist.all)
    try PlainDatabase(path).execute("INSERT INTO Artist VALUES (1, 'foreign')")
    let count = try store.read { reads in
      try store.write { tx in try tx.insert(Artist(id: 2, name: "own")) }
      return try reads.count(Artist.all)
    }
    // What a read sees is fixed by its first statement, which came after both commits.
    #expect(count == 2)
    #expect(live.count == 2)
    #expect(reports.events.map(\.message) == [])
  }

  @Test func twoReadersMayCloseTheStoreAtOnce() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    let bothRead = [DispatchGate(), DispatchGate()]
    let ended = DispatchGate()
    let seen = Recorder<Int>()
    for place in 0...1 {
      DispatchQueue.global().async {
        do {
          try store.read { reads in
            seen.add(try reads.count(Artist.all))
            bothRead[place].open()
            bothRead[1 - place].wait()
            store.close()
          }
        } catch {
          Issue.record(error)
        }
        ended.open()
      }
    }
    ended.wait()
    ended.wait()
    #expect(seen.events == [1, 1])
    #expect(failure { try store.read { _ in } }?.code == .misuse)
    #expect(failure { try store.write { _ in } }?.code == .misuse)
  }
}

/// Runs code when it is released.
private final class AtRelease: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  deinit { body() }
}

/// Code that runs on a connection's thread behind a body, because the thread releases what the body
/// captured.
extension NestedAccessTests {
  /// Runs `body` on the thread of the writer of `store`, when a block there is released.
  private func whenReleased(
    byTheWriterOf store: Store, _ body: @escaping @Sendable () -> Void
  ) {
    let hasLeft = DispatchGate()
    let released = DispatchGate()
    let turns = store.engine.connections.writer.makeTurnQueue(label: "test")
    do {
      let last = AtRelease {
        body()
        released.open()
      }
      turns.async { withExtendedLifetime(last) { hasLeft.wait() } }
    }
    hasLeft.open()
    released.wait()
  }

  @Test func objectsCapturedByABodyMayCloseTheStore() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    whenReleased(byTheWriterOf: store) { store.close() }
    #expect(failure { try store.write { _ in } }?.code == .misuse)
    let again = try Store(at: directory.file("a.store"), models: Artist.self)
    #expect(try again.read { try $0.count(Artist.all) } == 0)
  }

  @Test func objectsCapturedByABodyMayReadButNotWrite() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    let refused = Recorder<StoreError.Code?>()
    let counted = Recorder<Result<Int, any Error>>()
    whenReleased(byTheWriterOf: store) {
      refused.add(failure { try store.write { _ in } }?.code)
      counted.add(Result { try store.read { try $0.count(Artist.all) } })
    }
    #expect(refused.events == [.misuse])
    #expect(try counted.events.map { try $0.get() } == [0])
  }

  @Test func aCallbackInsideAReadMayCloseTheStoreButNotWrite() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    let refused = Recorder<StoreError.Code?>()
    let counted = Recorder<Result<Int, any Error>>()
    whenReleased(byTheWriterOf: store) {
      counted.add(
        Result {
          try store.read { reads in
            refused.add(failure { try store.write { _ in } }?.code)
            store.close()
            return try reads.count(Artist.all)
          }
        })
    }
    #expect(refused.events == [.misuse])
    #expect(try counted.events.map { try $0.get() } == [0])
    #expect(failure { try store.read { _ in } }?.code == .misuse)
  }

  @Test func aConsumerMayBeReleasedLastByTheReaderThatItUsed() async throws {
    for round in 1...200 {
      let directory = try TemporaryDirectory()
      var store: Store? = try await Store(at: directory.file("a.store"), models: Artist.self)
      try await store?.changeJournal.enable(for: ["Artist"])
      var consumer = try await store?.consumer("last")
      #expect(try await consumer?.nextOnQueue(limit: 1) == nil, "round \(round)")
      store = nil
      consumer = nil
    }
  }
}

extension NestedAccessTests {
  @Test func rowsHaveTheColumnsOfTheSchemaTheyWereReadFrom() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("columns.store"))
    let select: SQLText = "SELECT * FROM t"
    let found = try store.write { tx in
      try tx.execute("CREATE TABLE t (a)")
      try tx.execute("INSERT INTO t VALUES (1)")
      let before = try tx.rows(select)
      try tx.execute("ALTER TABLE t ADD COLUMN b DEFAULT 2")
      return [try tx.columnNames(of: select), before[0].columns, try tx.rows(select)[0].columns]
    }
    #expect(found == [["a", "b"], ["a"], ["a", "b"]])
    try store.write { tx in try tx.execute("ALTER TABLE t ADD COLUMN c DEFAULT 3") }
    let row = try store.read { tx in try tx.rows(select)[0] }
    #expect(row["c"] == .integer(3))
  }

  @Test("a report between transactions on the writer's thread fetches and reads from the store")
  func aReportBetweenTransactionsFetches() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let opened = Recorder<Store>()
    let found = Recorder<String>()
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self, configuration: configuration
    ) { report in
      do {
        for store in opened.events {
          let isWriter = store.engine.connections.writer.isCurrent
          let all = try store.fetch(Artist.all).map(\.name)
          let one = try store.find(Artist.self, 1)?.name
          let count = try store.read { reads in try reads.count(Artist.all) }
          found.add("\(report.code) \(isWriter) \(all) \(one ?? "none") \(count)")
        }
      } catch {
        found.add("\(error)")
      }
    }
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    opened.add(store)
    // The next write repairs the journal first, and reports that.
    try PlainDatabase(store.path).execute("DROP TRIGGER _ms_journal_Artist_update")
    try store.write { tx in try tx.insert(Artist(id: 2, name: "b")) }
    #expect(found.events == ["journalGap true [\"a\"] a 1"])
    // The report holds the store.
    _ = opened.taken()
  }

  @Test("a callback fetches and reads from the store, while its own write or preview may not")
  func aCallbackFetches() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    let found = Recorder<String>()
    let subscription = try store.observe(Artist.self) { [weak store] _ in
      do {
        let all = try store?.fetch(Artist.all).map(\.id)
        let one = try store?.find(Artist.self, 1)?.name
        let count = try store?.read { reads in try reads.count(Artist.all) }
        found.add("\(all ?? []) \(one ?? "none") \(count ?? 0)")
      } catch {
        found.add("\(error)")
      }
    }
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "a"))
      #expect(failure { try store.fetch(Artist.all) }?.code == .misuse)
      #expect(failure { try store.find(Artist.self, 1) }?.code == .misuse)
      #expect(try store.read { reads in try reads.count(Artist.all) } == 0)
    }
    store.waitForDelivery()
    _ = try store.preview { tx in
      try tx.delete(Artist.all)
      #expect(failure { try store.fetch(Artist.all) }?.code == .misuse)
      #expect(failure { try store.find(Artist.self, 1) }?.code == .misuse)
    }
    store.waitForDelivery()
    #expect(found.events == ["[1] a 1"])
    subscription.cancel()
  }
}
