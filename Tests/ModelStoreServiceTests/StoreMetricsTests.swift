#if Service
  import Dispatch
  import Metrics
  import MetricsTestKit
  import ModelStore
  import ModelStoreService
  import Testing

  @Suite(.tags(.unit)) struct StoreMetricsTests {
    private let world: ServiceWorld
    private let metrics = TestMetrics()

    init() throws {
      world = try ServiceWorld(journal: true)
      try world.store.addMonitor(
        StoreMetrics(store: "notes", factory: metrics, slowStatementDuration: nil))
    }

    private func count(_ name: String, _ dimensions: (String, String)...) throws -> Int64 {
      try metrics.expectCounter("modelstore_\(name)", [("store", "notes")] + dimensions).totalValue
    }

    @Test func writesAreCountedByTheirOutcome() throws {
      try world.insert(1)
      try world.insert(2)
      #expect(throws: StoreError.self) { try world.insert(3, "") }
      #expect(try count("writes", ("outcome", "committed")) == 2)
      #expect(try count("writes", ("outcome", "refused")) == 1)
      #expect(try count("writes", ("outcome", "rolled_back")) == 0)
      // Each insertion also adds its row of the change journal.
      #expect(try count("changed_rows") == 4)
    }

    /// Yields for each write that waits for its turn.
    private struct QueueMonitor: StoreMonitor {
      let continuation: AsyncStream<Void>.Continuation

      func receive(_ event: StoreEvent) {
        if case .writeQueued = event { continuation.yield() }
      }
    }

    @Test func writesThatShareACommitAreCountedOnce() async throws {
      let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
      try world.store.addMonitor(QueueMonitor(continuation: continuation))
      let gate = DispatchSemaphore(value: 0)
      let store = world.store
      // The first write holds the writer until all others wait behind it.
      let first = Task { try await store.writeAlone { _ in gate.wait() } }
      var queued = stream.makeAsyncIterator()
      await queued.next()
      let others = (1...5).map { id in
        Task {
          try await store.write { tx in _ = try tx.insert(Note(id: Int64(id), text: "a")) }
        }
      }
      for _ in others { await queued.next() }
      gate.signal()
      try await first.value
      for other in others { try await other.value }
      #expect(try count("writes", ("outcome", "committed")) == 6)
      #expect(try count("changed_rows") == 10)
      let sharing = try metrics.expectRecorder("modelstore_commit_sharing", [("store", "notes")])
      #expect(sharing.values.count == 6 && sharing.values.contains { $0 > 1 })
    }

    @Test func theStepsOfCommittedWritesAreTimed() throws {
      try world.insert(1)
      #expect(throws: StoreError.self) { try world.insert(3, "") }
      let body = try metrics.expectTimer(
        "modelstore_write_step_duration", [("store", "notes"), ("step", "body")])
      #expect(body.values.count == 1 && body.values.allSatisfy { $0 > 0 })
      let total = try metrics.expectTimer("modelstore_write_duration", [("store", "notes")])
      #expect(total.values.count == 2)
    }

    @Test func readsCheckpointsAndConsumersAreMeasured() throws {
      let consumer = try world.store.consumer("mirror")
      try world.insert(1)
      _ = try world.store.fetch(Note.all)
      try world.store.checkpoint()
      let batch = try #require(try consumer.next())
      try batch.acknowledge()
      let reads = try metrics.expectTimer("modelstore_read_duration", [("store", "notes")])
      #expect(!reads.values.isEmpty)
      let pages = try metrics.expectGauge("modelstore_log_pages", [("store", "notes")])
      #expect((pages.lastValue ?? 0) > 0)
      let lag = try metrics.expectGauge(
        "modelstore_consumer_lag", [("store", "notes"), ("consumer", "mirror")])
      #expect(lag.values.count == 2 && lag.lastValue == 0)
    }
  }
#endif
