#if Service
  import ModelStore
  import ModelStoreService
  import ServiceLifecycleTestKit
  import Synchronization
  import Testing

  @Suite(.tags(.unit), .timeLimit(.minutes(30))) struct StoreWorkerTests {
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
      leaseDuration: Duration = options.leaseDuration,
      failing: @escaping @Sendable (JournalChange) -> Bool = { _ in false }
    ) -> StoreWorker {
      var options = Self.options
      options.leaseDuration = leaseDuration
      return StoreWorker(
        "mirror", of: world.store, operations: operations, options: options
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
      // A lease that a slow machine renews in time.
      var options = Self.options
      options.leaseDuration = .seconds(3600)
      let other = StoreWorker("mirror", of: second, options: options) { change in
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

    @Test func theLeaseOfAProcessThatEndedIsTakenOver() async throws {
      try world.insert(1)
      let consumer = try await world.store.consumer("mirror", startingAt: .start)
      let dead = WorkerDesk(consumer, holder: "dead")
      try await dead.prepare()
      #expect(try await dead.takeLease(for: .milliseconds(20)))
      let processed = processed
      try await working(worker(leaseDuration: .milliseconds(30))) { await processed.wait(for: 1) }
      #expect(processed.all == ["insert [1]"])
    }

    @Test func aWorkerRenewsItsLeaseWhileItsClosureRuns() async throws {
      try world.insert(1)
      let (processed, store) = (processed, world.store)
      let (end, ending) = AsyncStream.makeStream(of: Void.self)
      var options = Self.options
      options.leaseDuration = .milliseconds(30)
      let worker = StoreWorker("mirror", of: store, options: options) { _ in
        processed.add("begun")
        for await _ in end { return }
      }
      @Sendable func since() async throws -> [[SQLValue]] {
        try await store.read { tx in try tx.rows("SELECT since FROM _ms_workers").map(\.values) }
      }
      try await working(worker) {
        await processed.wait(for: 1)
        let start = try await since()
        while try await since() == start { await Task.yield() }
        ending.yield()
      }
      // It ended in order, so no process has to wait.
      #expect(try await since() == [])
    }

    @Test func aLostLeaseCancelsTheBatchAndItComesAgain() async throws {
      try world.insert(1)
      let (processed, world) = (processed, world)
      let isFirst = Atomic(true)
      var options = Self.options
      options.leaseDuration = .milliseconds(30)
      let worker = StoreWorker("mirror", of: world.store, options: options) { change in
        guard isFirst.exchange(false, ordering: .relaxed) else {
          return processed.add(Self.line(change))
        }
        // Another process believes that this one has ended.
        try world.execute("UPDATE _ms_workers SET holder = 'other', until = since + 3600000000")
        processed.add("begun")
        // It ends only when the renewal finds the lease lost.
        for await _ in AsyncStream.makeStream(of: Void.self).stream {}
        processed.add("cancelled \(Task.isCancelled)")
        throw Failure()
      }
      try await working(worker) {
        await processed.wait(for: 2)
        #expect(try await world.store.deadLetters() == [])
        #expect(try await world.store.consumer("mirror").status().lag > 0)
        try world.execute("DELETE FROM _ms_workers")
        await processed.wait(for: 3)
      }
      #expect(processed.all == ["begun", "cancelled true", "insert [1]"])
    }

    @Test func theTablesOfWorkersAreAddedToAnOlderFile() async throws {
      try world.insert(1)
      try world.execute(
        """
        DROP TABLE _ms_workers;
        DROP TABLE _ms_dead_letters;
        DELETE FROM _ms_migrations WHERE scope = 'store' AND version = 8
        """)
      #expect(try await world.store.deadLetters() == [])
      #expect(try await world.store.replayDeadLetters(of: "mirror") == 0)
      let processed = processed
      try await working(worker { _ in true }) { await processed.wait(for: 3) }
      #expect(try await world.store.deadLetters().map(\.change.key) == [[.integer(1)]])
    }

    @Test func aShutdownDoesNotWaitForAPauseAndTheBatchComesAgain() async throws {
      try world.insert(1)
      let processed = processed
      var options = Self.options
      options.pause = .seconds(86_400)
      options.pauseMax = .seconds(86_400)
      let failing = StoreWorker("mirror", of: world.store, options: options) { _ in
        processed.add("failed")
        throw Failure()
      }
      try await working(failing) { await processed.wait(for: 1) }
      #expect(try await world.store.deadLetters() == [])
      try await working(worker()) { await processed.wait(for: 2) }
      #expect(processed.all == ["failed", "insert [1]"])
    }

    /// The first change of record 1 always fails; its later ones do not.
    @Test func laterChangesOfARecordWaitForItsAttempts() async throws {
      try world.insert(1)
      try await world.store.write { tx in try tx.set(\Note.text, to: "b", for: 1) }
      let processed = processed
      let failing = worker { change in change.operation == .insert }
      try await working(failing) { await processed.wait(for: 4) }
      #expect(
        processed.all
          == Array(repeating: "failed insert [1]", count: 3) + ["update [1]"])
      #expect(try await world.store.deadLetters().map(\.change.operation) == [.insert])
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
