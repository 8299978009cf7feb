#if Service
  import ModelStore
  import ModelStoreService
  import ServiceLifecycleTestKit
  import Synchronization
  import Testing

  @Suite(.tags(.unit), .timeLimit(.minutes(10))) struct StoreWorkerTests {
    /// What a worker has processed, and a way to wait for it.
    private final class Processed: Sendable {
      private let state = Mutex<[String]>([])
      private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

      var all: [String] { state.withLock { $0 } }

      func add(_ line: String) {
        state.withLock { $0.append(line) }
        continuation.yield()
      }

      /// Waits until there are that many.
      func wait(for count: Int) async {
        guard all.count < count else { return }
        for await _ in stream where all.count >= count { return }
      }
    }

    private struct Failure: Error {}

    private let world: ServiceWorld
    private let processed = Processed()

    init() throws {
      world = try ServiceWorld(journal: true)
    }

    private static var options: StoreWorker.Options {
      var options = StoreWorker.Options()
      options.start = .start
      options.pause = .milliseconds(1)
      options.attemptCount = 3
      return options
    }

    private static func line(_ change: JournalChange) -> String {
      "\(change.operation) \(change.key)"
    }

    /// Runs a worker until `body` returns, then shuts it down gracefully.
    private func working(
      _ worker: StoreWorker, until body: @escaping @Sendable () async throws -> Void
    ) async throws {
      try await testGracefulShutdown { trigger in
        async let running: Void = worker.run()
        try await body()
        trigger.triggerGracefulShutdown()
        try await running
      }
    }

    private func worker(
      operations: Set<RecordChange.Operation> = [.insert, .update, .delete],
      failing: @escaping @Sendable (JournalChange) -> Bool = { _ in false }
    ) -> StoreWorker {
      StoreWorker(
        "mirror", of: world.store, operations: operations, options: Self.options
      ) { [processed] change in
        if failing(change) {
          processed.add("failed \(Self.line(change))")
          throw Failure()
        }
        processed.add(Self.line(change))
      }
    }

    @Test func changesOfARecordComeInTheirOrder() async throws {
      try world.insert(1)
      try await world.store.write { tx in
        try tx.set(\Note.text, to: "b", for: 1)
        try tx.set(\Note.text, to: "c", for: 1)
        try tx.delete(Note.self, 1)
      }
      let processed = processed
      try await working(worker()) { await processed.wait(for: 4) }
      #expect(
        processed.all == [
          "insert [1]", "update [1]", "update [1]", "delete [1]",
        ])
      #expect(try await world.store.consumer("mirror").status().lag == 0)
    }

    @Test func otherOperationsAreSkippedAndAcknowledged() async throws {
      try world.insert(1)
      try world.insert(2)
      try await world.store.write { tx in try tx.delete(Note.self, 1) }
      let processed = processed
      try await working(worker(operations: [.delete])) { await processed.wait(for: 1) }
      #expect(processed.all == ["delete [1]"])
      #expect(try await world.store.consumer("mirror").status().lag == 0)
    }

    @Test func aChangeThatAlwaysFailsEndsAmongTheDeadLettersAndBlocksNoOtherRecord() async throws {
      try world.insert(1)
      try world.insert(2)
      try world.insert(3)
      let processed = processed
      let failing = worker { change in change.key == [.integer(2)] }
      try await working(failing) { await processed.wait(for: 5) }
      #expect(
        processed.all.sorted() == [
          "failed insert [2]", "failed insert [2]", "failed insert [2]", "insert [1]", "insert [3]",
        ])
      let letters = try await world.store.deadLetters(of: "mirror")
      #expect(letters.map(\.change.key) == [[.integer(2)]])
      #expect(letters.map(\.attemptCount) == [3])
      #expect(letters.map(\.error) == ["Failure()"])
      #expect(letters.first?.change.fields.map(\.new) == [.text("a")])
    }

    @Test func aReplayThatSucceedsRemovesTheLetter() async throws {
      try world.insert(2)
      let processed = processed
      let isSound = Mutex(false)
      let options = Self.options
      let fragile = StoreWorker("mirror", of: world.store, options: options) { change in
        guard isSound.withLock({ $0 }) else {
          processed.add("failed")
          throw Failure()
        }
        processed.add(Self.line(change))
      }
      let store = world.store
      try await working(fragile) {
        await processed.wait(for: 3)
        while try await store.deadLetters().isEmpty { await Task.yield() }
        isSound.withLock { $0 = true }
        let count = try await store.replayDeadLetters(of: "mirror")
        #expect(count == 1)
        await processed.wait(for: 4)
      }
      #expect(processed.all.last == "insert [2]")
      #expect(try await world.store.deadLetters() == [])
    }

    @Test func ofTwoWorkersOfOneNameOneWorks() async throws {
      let second = try await Store(at: world.store.path, models: Note.self)
      let processed = processed
      let other = StoreWorker("mirror", of: second, options: Self.options) { change in
        processed.add("second \(Self.line(change))")
      }
      let first = worker()
      let world = world
      try await working(first) {
        try await world.store.write { tx in try tx.insert(Note(id: 1, text: "a")) }
        await processed.wait(for: 1)
        // The first one has the lease, so the second one waits until it is cancelled.
        let waiting = Task { try await other.run() }
        try await world.store.write { tx in try tx.insert(Note(id: 2, text: "a")) }
        await processed.wait(for: 2)
        waiting.cancel()
        try await waiting.value
      }
      #expect(processed.all == ["insert [1]", "insert [2]"])
      try await working(other) {
        try await world.store.write { tx in try tx.insert(Note(id: 3, text: "a")) }
        await processed.wait(for: 3)
      }
      #expect(processed.all.last == "second insert [3]")
    }

    @Test func aCancelledBatchIsReceivedAgain() async throws {
      try world.insert(1)
      let processed = processed
      let stuck = StoreWorker("mirror", of: world.store, options: Self.options) { _ in
        processed.add("begun")
        // It ends only when the task is cancelled.
        for await _ in AsyncStream.makeStream(of: Void.self).stream {}
        try Task.checkCancellation()
      }
      let running = Task { try await stuck.run() }
      await processed.wait(for: 1)
      running.cancel()
      try await running.value
      #expect(try await world.store.deadLetters() == [])
      try await working(worker()) { await processed.wait(for: 2) }
      #expect(processed.all == ["begun", "insert [1]"])
    }

    @Test func deadLettersCanBeDropped() async throws {
      try world.insert(1)
      let processed = processed
      try await working(worker { _ in true }) { await processed.wait(for: 3) }
      #expect(try await world.store.dropDeadLetters(of: "other") == 0)
      #expect(try await world.store.dropDeadLetters(of: "mirror") == 1)
      #expect(try await world.store.deadLetters() == [])
    }
  }
#endif
