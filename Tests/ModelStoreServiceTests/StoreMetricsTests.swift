#if Service
  import Dispatch
  import Metrics
  import MetricsTestKit
  import ModelStoreService
  import Synchronization
  import Testing

  @testable import ModelStore

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
      // A slow machine writes no less together.
      store.engine.line.setDurationMax(.seconds(600))
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
      // The event comes before the write waits.
      while store.engine.line.waitingCount < others.count { await Task.yield() }
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
      let queue = try metrics.expectTimer("modelstore_read_queue_duration", [("store", "notes")])
      #expect(queue.values.count == reads.values.count)
      let checkpoints = try metrics.expectTimer(
        "modelstore_checkpoint_duration", [("store", "notes")])
      #expect(checkpoints.values.count == 1)
    }

    @Test func eachStepHasItsOwnTime() throws {
      var times = WriteReport.Times()
      for (index, step) in WriteReport.Times.Step.allCases.enumerated() {
        times[step] = Int64(index + 1)
      }
      times.totalNanoseconds = 21
      #expect(times.steps.map(\.duration) == (1...6).map { .nanoseconds($0) })
      #expect(
        [times.queue, times.begin, times.body, times.validation, times.commit, times.publishing]
          == times.steps.map(\.duration))
      #expect(times.total == .nanoseconds(21))
      #expect(times.steps.map(\.name) == WriteReport.Times.stepNames)
      let monitor = StoreMetrics(store: "other", factory: metrics)
      monitor.receive(
        .writeEnded(
          WriteReport(
            number: 1, outcome: .committed, times: times, changedRowCount: 3, sharingCount: 2,
            transaction: nil)))
      let recorded = try times.steps.map { step in
        try metrics.expectTimer(
          "modelstore_write_step_duration", [("store", "other"), ("step", step.name)]
        ).values
      }
      #expect(recorded == (1...6).map { [$0] })
      let total = try metrics.expectTimer("modelstore_write_duration", [("store", "other")])
      #expect(total.values == [21])
    }

    @Test func eventsWithoutAWriteAreCounted() throws {
      let monitor = StoreMetrics(store: "notes", factory: metrics)
      for isExact in [true, false, false] {
        monitor.receive(
          .foreignCommit(
            ForeignCommitReport(changeCount: 1, isExact: isExact, duration: .zero)))
      }
      monitor.receive(.resync)
      monitor.receive(.backlog(eventCount: 128))
      monitor.receive(.slowStatement(StatementReport(sql: "SELECT 1", duration: .zero, plan: [])))
      monitor.receive(.failure(StoreError(.busy, "Busy.")))
      monitor.receive(.failure(StoreError(.busy, "Busy.")))
      #expect(try count("foreign_commits", ("exact", "true")) == 1)
      #expect(try count("foreign_commits", ("exact", "false")) == 2)
      #expect(try count("resyncs") == 1)
      #expect(try count("slow_statements") == 1)
      #expect(try count("failures", ("code", "busy")) == 2)
      let backlog = try metrics.expectGauge("modelstore_backlog_events", [("store", "notes")])
      #expect(backlog.values == [128])
    }

    @Test func writesThatEndBadlyAreCountedApart() throws {
      struct Refusal: Error {}
      #expect(throws: Refusal.self) { try world.store.write { _ in throw Refusal() } }
      let monitor = StoreMetrics(store: "notes", factory: metrics)
      monitor.receive(
        .writeEnded(
          WriteReport(
            number: 1, outcome: .unknown(StoreError(.outcomeUnknown, "?")), times: .init(),
            changedRowCount: 0, sharingCount: 0, transaction: nil)))
      #expect(try count("writes", ("outcome", "rolled_back")) == 1)
      #expect(try count("writes", ("outcome", "unknown")) == 1)
      #expect(try count("writes", ("outcome", "committed")) == 0)
    }

    @Test func deadLettersAreCountedByTheirConsumer() async throws {
      try world.insert(1)
      let desk = WorkerDesk(
        try await world.store.consumer("mirror", startingAt: .start), holder: "a")
      try await desk.prepare()
      #expect(try await desk.takeLease(for: .seconds(3600)))
      guard case .batch(let batch)? = try await desk.next(limit: 10) else {
        Issue.record("There is no batch.")
        return
      }
      for change in batch.changes {
        try await desk.bury(change, StoreError(.misuse, "No."), attemptCount: 1)
      }
      #expect(try count("dead_letters", ("consumer", "mirror")) == 1)
    }

    /// Counts the metrics that it makes.
    private final class CountingFactory: MetricsFactory {
      private let metrics = TestMetrics()
      private let made = Atomic(0)

      var count: Int { made.load(ordering: .relaxed) }

      private func noteOne() { made.add(1, ordering: .relaxed) }

      func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        noteOne()
        return metrics.makeCounter(label: label, dimensions: dimensions)
      }

      func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
      ) -> any RecorderHandler {
        noteOne()
        return metrics.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
      }

      func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        noteOne()
        return metrics.makeTimer(label: label, dimensions: dimensions)
      }

      func destroyCounter(_ handler: any CounterHandler) {}
      func destroyRecorder(_ handler: any RecorderHandler) {}
      func destroyTimer(_ handler: any TimerHandler) {}
    }

    @Test func eachMetricIsMadeOnce() throws {
      let factory = CountingFactory()
      let monitor = StoreMetrics(store: "notes", factory: factory)
      try world.store.addMonitor(monitor)
      let consumer = try world.store.consumer("mirror")
      func work(_ id: Int64) throws {
        try world.insert(id)
        _ = try consumer.next()
        monitor.receive(.failure(StoreError(.busy, "Busy.")))
      }
      try work(1)
      let count = factory.count
      try work(2)
      #expect(factory.count == count)
    }
  }
#endif
