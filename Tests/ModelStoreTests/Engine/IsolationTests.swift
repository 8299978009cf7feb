import Synchronization
import Testing

@testable import ModelStore

/// Isolation and waiting: nesting, snapshots, many tasks, cancellation.
@Suite(.tags(.unit)) struct IsolationTests {
  private static func store(_ directory: TemporaryDirectory) throws -> Store {
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "a")) }
    return store
  }

  @Test func aWriteInsideAWriteIsMisuse() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    try store.write { tx in
      #expect(failure { try store.write { _ in } }?.code == .misuse)
      #expect(failure { try store.preview { _ in } }?.code == .misuse)
      #expect(failure { try store.checkpoint() }?.code == .misuse)
      try tx.set(\Artist.name, to: "b", for: 1)
    }
    #expect(try store.find(Artist.self, 1)?.name == "b")
  }

  @Test func aWriteInsideAReadInsideAWriteIsMisuse() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    try store.write { _ in
      try store.read { _ in
        #expect(failure { try store.write { _ in } }?.code == .misuse)
      }
    }
  }

  @Test func nestedReadsUseSeparateConnectionsUntilThePoolIsEmpty() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    func nest(_ depth: Int) throws -> Int {
      do {
        return try store.read { tx in
          #expect(try tx.count(Artist.all) == 1)
          return try nest(depth + 1)
        }
      } catch let error as StoreError {
        #expect(error.code == .misuse)
        return depth
      }
    }
    #expect(try nest(0) == StoreConfiguration().maxReaderCount)
    #expect(try nest(0) == StoreConfiguration().maxReaderCount)
  }

  @Test func aReadInsideAWriteSeesTheStateBefore() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    try store.write { tx in
      try tx.set(\Artist.name, to: "b", for: 1)
      #expect(try store.read { try $0.find(Artist.self, 1)?.name } == "a")
      // What is not asked for inside the transaction would silently be what was before it.
      #expect(failure { try store.find(Artist.self, 1) }?.code == .misuse)
      #expect(failure { try store.fetch(Artist.all) }?.code == .misuse)
      #expect(try tx.find(Artist.self, 1)?.name == "b")
    }
    #expect(try store.find(Artist.self, 1)?.name == "b")
  }

  @Test func aReadTransactionSeesOneState() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    try store.read { tx in
      #expect(try tx.find(Artist.self, 1)?.name == "a")
      try store.write { writing in
        try writing.set(\Artist.name, to: "b", for: 1)
        _ = try writing.insert(Artist(id: 2, name: "c"))
      }
      #expect(try tx.fetch(Artist.all) == [Artist(id: 1, name: "a")])
      #expect(try store.find(Artist.self, 1)?.name == "b")
    }
    #expect(try store.fetch(Artist.all).count == 2)
  }

  @Test func aReadTransactionCannotWrite() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    try store.read { tx in
      for sql in [
        "DELETE FROM Artist", "INSERT INTO Artist VALUES (2, 'x') RETURNING id", "COMMIT",
      ] {
        #expect(failure { try tx.rows(SQLText(sql: sql)) }?.code == .misuse)
      }
    }
    #expect(try store.fetch(Artist.all).count == 1)
  }

  @Test func manyTasksWriteOneAfterTheOther() async throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    let store = try await Store(
      at: directory.file("n.store"), models: Artist.self, configuration: configuration)
    try await store.write { tx in _ = try tx.insert(Artist(id: 1, name: "0")) }
    let versions = Recorder<UInt64>()
    let subscription = try store.observe(Artist.self, of: 1) { versions.add($0.version) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          for _ in 0..<10 {
            try await store.write { tx in
              let artist = try tx.find(Artist.self, 1)
              let count = Int(artist?.name ?? "") ?? 0
              try tx.set(\Artist.name, to: "\(count + 1)", for: 1)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    await store.waitForDelivery()
    #expect(try await store.read { tx in try tx.find(Artist.self, 1)?.name } == "200")
    #expect(versions.events == versions.events.sorted())
    #expect(versions.events.count == 200)
    subscription.cancel()
  }

  @Test func cancellingATaskBetweenTwoStatementsRollsBack() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let recorder = Recorder<String>()
    let subscription = try store.observe(Artist.self) { _ in recorder.add("told") }
    let reached = AsyncStream.makeStream(of: Void.self)
    let mayGoOn = DispatchGate()
    let task = Task {
      try await store.write { tx in
        try tx.set(\Artist.name, to: "b", for: 1)
        reached.continuation.yield()
        mayGoOn.wait()
      }
    }
    for await _ in reached.stream { break }
    task.cancel()
    mayGoOn.open()
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(try await store.read { tx in try tx.find(Artist.self, 1)?.name } == "a")
    try await store.write { tx in try tx.set(\Artist.name, to: "c", for: 1) }
    await store.waitForDelivery()
    #expect(recorder.events == ["told"])
    subscription.cancel()
  }

  @Test func cancellingATaskInterruptsItsStatement() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let reached = DispatchGate()
    let task = Task {
      try await store.write { tx in
        try tx.set(\Artist.name, to: "b", for: 1)
        reached.open()
        // It never ends, however late this task is cancelled.
        _ = try tx.value(
          Int64.self,
          "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
      }
    }
    reached.cancelsWhenOpen(task)
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(try await store.read { tx in try tx.fetch(Artist.all) } == [Artist(id: 1, name: "a")])
  }

  @Test func aTaskCancelledBeforeItsTurnDoesNotRun() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.write { tx in try tx.set(\Artist.name, to: "b", for: 1) }
    }
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(try await store.read { tx in try tx.find(Artist.self, 1)?.name } == "a")
  }

  @Test func aWriteThatClosesTheStoreIsTheLast() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    try store.write { tx in
      store.close()
      try tx.set(\Artist.name, to: "last", for: 1)
    }
    #expect(failure { try store.write { _ in } }?.code == .misuse)
    let again = try Store(at: directory.file("a.store"), models: Artist.self)
    #expect(try again.find(Artist.self, 1)?.name == "last")
  }

  @Test func theLastWriteBeforeClosingIsDelivered() throws {
    let directory = try TemporaryDirectory()
    let errors = Recorder<StoreError>()
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self, onError: { errors.add($0) })
    // Only SQLite can evaluate it, so the commit runs it again.
    let live = try store.liveQuery(Artist.all.filter(.sql("length(name) > 0")))
    try store.write { tx in
      store.close()
      try tx.insert(Artist(id: 1, name: "a"))
    }
    #expect(live.count == 1)
    #expect(errors.events == [])
  }

  @Test func aClosedStoreRefusesCalls() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    store.close()
    store.close()
    #expect(failure { try store.write { _ in } }?.code == .misuse)
    #expect(failure { try store.fetch(Artist.all) }?.code == .misuse)
    let again = try Store(at: directory.file("a.store"), models: Artist.self)
    #expect(try again.fetch(Artist.all).count == 1)
  }
}
