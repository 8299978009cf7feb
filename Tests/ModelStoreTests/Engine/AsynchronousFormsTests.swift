import Synchronization
import Testing

@testable import ModelStore

/// Asynchronous forms of blocking calls: they return what the synchronous forms return, and block
/// no thread that runs tasks.
@Suite(.tags(.unit)) struct AsynchronousFormsTests {
  private static func store(_ directory: TemporaryDirectory) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self, Album.self,
      configuration: configuration)
    try store.write { tx in
      _ = try tx.insert(Artist(id: 1, name: "a"))
      _ = try tx.insert(Artist(id: 2, name: "b"))
    }
    return store
  }

  /// What synchronous forms return now.
  private struct Answers: Equatable {
    var records: [Artist]
    var record: Artist?
    var count: Int
    var hash: ContentHash
    var position: JournalPosition
    var transactions: [JournalTransaction]
    var drift: [SchemaDrift]
    var consumers: [ConsumerStatus]
    var past: [Artist]

    init(of store: Store, at position: JournalPosition) throws {
      records = try store.fetch(Artist.all)
      record = try store.find(Artist.self, 2)
      count = try store.count(Artist.where { $0.id > 1 })
      hash = try store.contentHash()
      self.position = try store.changeJournal.position()
      transactions = try store.changeJournal.transactions()
      drift = try store.schemaDrift()
      consumers = try store.consumers()
      past = try store.fetch(Artist.all, at: position)
    }

    init(asynchronouslyOf store: Store, at position: JournalPosition) async throws {
      records = try await store.fetch(Artist.all)
      record = try await store.find(Artist.self, 2)
      count = try await store.count(Artist.where { $0.id > 1 })
      hash = try await store.contentHash()
      self.position = try await store.changeJournal.position()
      transactions = try await store.changeJournal.transactions()
      drift = try await store.schemaDrift()
      consumers = try await store.consumers()
      past = try await store.fetch(Artist.all, at: position)
    }
  }

  @Test func bothFormsReturnTheSame() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let consumer = try await store.consumer("c", startingAt: .start)
    let position = try await store.changeJournal.position()
    try await store.write { tx in try tx.set(\Artist.name, to: "c", for: 2) }
    let batch = try #require(try await consumer.next())
    try await batch.acknowledge()
    func answers() throws -> Answers { try Answers(of: store, at: position) }
    #expect(try await Answers(asynchronouslyOf: store, at: position) == answers())
    let status = try await consumer.status()
    #expect(status.lag == 0)
    #expect(try await consumer.next()?.transactions.count == nil)
  }

  @Test func takingBackAndDoingAgainChangesTheRecord() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    try await store.write { tx in try tx.set(\Artist.name, to: "c", for: 2) }
    var names: [String?] = []
    func note() async throws { names.append(try await store.find(Artist.self, 2)?.name) }
    let would = try await store.undo(mode: .preview)
    try await note()
    let undone = try await store.undo()
    try await note()
    try await store.redo()
    try await note()
    #expect(would?.changes.changes.count == 1)
    #expect(undone?.reverted != nil)
    #expect(names == ["c", "b", "c"])
  }

  @Test func aStoreOpensAndClosesInATask() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let store = try await Store(at: path, models: Artist.self)
    try await store.write { tx in _ = try tx.insert(Artist(id: 1, name: "a")) }
    await store.close()
    await #expect(throws: StoreError.self) { try await store.fetch(Artist.all) }
    let again = try await Store(at: path, models: Artist.self)
    #expect(try await again.fetch(Artist.all).map(\.name) == ["a"])
  }

  @Test func aLiveQueryOpensAndReportsInATask() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let live = try await store.liveQuery(Artist.all.order { $0.name })
    var events = try await live.changes(options: .initial).makeAsyncIterator()
    var rows: [Artist] = []
    try #require(try await events.next()).apply(to: &rows)
    #expect(rows.map(\.name) == ["a", "b"])
    try await store.write { tx in try tx.set(\Artist.name, to: "0", for: 2) }
    try #require(try await events.next()).apply(to: &rows)
    #expect(rows.map(\.name) == ["0", "a"])
    let told = Recorder<String>()
    let token = try await store.observe(.field(\Artist.name, of: 1), options: .initial) {
      told.add($0.new ?? "")
    }
    await store.waitForDelivery()
    #expect(told.events == ["a"])
    token.cancel()
  }

  /// If a call blocked a thread that runs tasks, none would be left for the task that opens the
  /// gate.
  @Test(.timeLimit(.minutes(30))) func waitingCallsLeaveThreadsToOtherTasks() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let holds = AsyncStream.makeStream(of: Void.self)
    let gate = DispatchGate()
    let writer = Task {
      try await store.write { _ in
        holds.continuation.finish()
        gate.wait()
      }
    }
    for await _ in holds.stream {}
    let count = 64
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      let begun = AsyncStream.makeStream(of: Void.self)
      for number in 0..<count {
        group.addTask {
          begun.continuation.yield()
          switch number % 6 {
          case 0: _ = try await store.liveQuery(Artist.where { $0.id > Int64(number) })
          case 1: _ = try await store.undo(by: "nobody")
          case 2: _ = try await store.consumer("c\(number)")
          case 3: try await store.refresh()
          case 4: _ = try await store.liveRecord(Artist.self, 1)
          default: _ = try await store.writeReturningChanges { tx in try tx.count(Artist.all) }
          }
          return 1
        }
      }
      do {
        defer { gate.open() }
        var waiting = 0
        for await _ in begun.stream {
          waiting += 1
          if waiting == count { break }
        }
        // Reads do not wait for the writer.
        let found = try await store.fetch(Artist.all).count
        #expect(found == 2)
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == count)
    try await writer.value
  }
}

/// What becomes of an asynchronous call whose task is cancelled.
@Suite(.tags(.unit)) struct CancelledCallTests {
  private static let endless = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
    """

  private static func store(_ directory: TemporaryDirectory) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self, configuration: configuration)
    try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "a")) }
    return store
  }

  private static let calls: [String: @Sendable (Store) async throws -> Void] = [
    "fetch": { _ = try await $0.fetch(Artist.all) },
    "find": { _ = try await $0.find(Artist.self, 1) },
    "undo": { _ = try await $0.undo() },
    "liveQuery": { _ = try await $0.liveQuery(Artist.all) },
    "consumer": { _ = try await $0.consumer("c") },
    "write": { try await $0.write { tx in try tx.set(\Artist.name, to: "b", for: 1) } },
    "delete": { _ = try await $0.write { tx in try tx.delete(Artist.self, 1) } },
  ]

  @Test(arguments: calls.keys.sorted())
  func aCallOfACancelledTaskDoesNothing(name: String) async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let call = try #require(Self.calls[name])
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await call(store)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store.fetch(Artist.all).map(\.name) == ["a"])
    #expect(try await store.consumers() == [])
  }

  @Test func aRunningStatementStops() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let reached = DispatchGate()
    let task = Task {
      // A preview runs on a thread for blocking calls.
      _ = try await store.preview { tx in
        try tx.set(\Artist.name, to: "b", for: 1)
        reached.open()
        _ = try tx.value(Int64.self, SQLText(stringLiteral: Self.endless))
      }
    }
    reached.cancelsWhenOpen(task)
    await #expect(throws: CancellationError.self) { try await task.value }
    try await store.write { tx in try tx.set(\Artist.name, to: "c", for: 1) }
    #expect(try await store.fetch(Artist.all).map(\.name) == ["c"])
  }

  @Test func aLoopWithoutStatementsStopsWhereItAsks() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let reached = DispatchGate()
    let task = Task {
      _ = try await store.preview { tx in
        reached.open()
        while true { try tx.checkCancellation() }
      }
    }
    reached.cancelsWhenOpen(task)
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func anInterruptionEndsTheWaitForALock() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let queue = store.engine.connections.writer
    let waits = try queue.sync { _ in
      try queue.inside { connection in
        let before = connection.hooks.waitForLock(attempt: 0)
        connection.interrupt()
        defer { connection.endInterruption() }
        let interrupted = connection.hooks.waitForLock(attempt: 1)
        let shielded = connection.hooks.withoutStopping { connection.hooks.waitForLock(attempt: 1) }
        return [before, interrupted, shielded]
      }
    }
    #expect(waits == [true, false, true])
  }

  @Test func whatMustComeToItsEndIsNotStopped() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let queue = store.engine.connections.writer
    let call = StoppableCall()
    call.cancel()
    func count(to limit: Int64) throws -> Int64 {
      try queue.inside { connection in
        try connection.rows(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(limit)) SELECT count(*) FROM n"
        ) { row in try row.integer(at: 0) }[0]
      }
    }
    try call.run {
      #expect(failure { try queue.sync { _ in try count(to: 100_000) } }?.code == .cancelled)
      let counted = try queue.sync { _ in
        queue.shield()
        defer { queue.unshield() }
        return try count(to: 100_000)
      }
      #expect(counted == 100_000)
      #expect(failure { try queue.sync { _ in try count(to: 100_000) } }?.code == .cancelled)
    }
    // Without a call nothing stops.
    #expect(try queue.sync { _ in try count(to: 100_000) } == 100_000)
  }

  @Test func batchesEndWithTheirTask() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let consumer = try await store.consumer("c", startingAt: .start)
    let first = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      var count = 0
      for try await batch in consumer.batches() {
        count += 1
        try await batch.acknowledge()
        first.continuation.finish()
      }
      return count
    }
    for await _ in first.stream {}
    task.cancel()
    let count = try await task.value
    #expect(count == 1)
  }
}
