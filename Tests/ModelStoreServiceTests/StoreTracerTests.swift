#if Service
  import InMemoryTracing
  import ModelStore
  import ServiceLifecycleTestKit
  import Synchronization
  import Testing
  import Tracing

  @testable import ModelStoreService

  @Suite(.tags(.unit)) struct StoreTracerTests {
    private let world: ServiceWorld
    private let tracer = InMemoryTracer()
    private let monitor: StoreTracer

    init() throws {
      world = try ServiceWorld(journal: true)
      monitor = StoreTracer(store: "notes", tracer: tracer)
      try world.store.addMonitor(monitor)
    }

    @Test func aWriteIsASpanInsideThatOfItsCaller() async throws {
      let parent = tracer.startSpan("request")
      try await ServiceContext.withValue(parent.context) {
        _ = try await world.store.write { tx in try tx.insert(Note(id: 1, text: "a")) }
      }
      parent.end()
      let spans = tracer.finishedSpans
      let write = try #require(spans.first { $0.operationName == "write notes" })
      #expect(write.parentSpanID == parent.spanID && write.kind == .client)
      #expect(write.attribute("db.system.name") == "sqlite")
      #expect(write.attribute("db.namespace") == "notes")
      #expect(write.attribute("modelstore.changed_rows") == 2)
      #expect(write.attribute("error.type") == nil)
      #expect(tracer.activeSpans.isEmpty)
    }

    @Test func aTracerThatIsReleasedEndsItsSpans() {
      let tracer = InMemoryTracer()
      do {
        let monitor = StoreTracer(store: "notes", tracer: tracer)
        monitor.receive(.writeQueued(1))
        #expect(tracer.activeSpans.count == 1)
      }
      #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.count == 1)
    }

    @Test func aRefusedWriteHasAnErrorAndASpanThatEnded() throws {
      #expect(throws: StoreError.self) { try world.insert(1, "") }
      let write = try #require(tracer.finishedSpans.first)
      #expect(write.attribute("error.type") == "rejected")
      #expect(write.status?.code == .error && write.errors.count == 1)
      #expect(tracer.activeSpans.isEmpty)
    }

    @Test func aReaderOfTheJournalLinksToTheWrite() throws {
      let consumer = try world.store.consumer("mirror")
      try world.insert(1)
      let write = try #require(tracer.finishedSpans.first)
      let batch = try #require(try consumer.next())
      let span = tracer.startSpan("index")
      monitor.addLinks(to: batch.transactions, in: span)
      span.end()
      let index = try #require(tracer.finishedSpans.last)
      #expect(index.links.map { $0.context.inMemorySpanContext?.spanID } == [write.spanID])
    }

    @Test func aSpanEndsWithTheStepsOfItsWrite() throws {
      try world.insert(1)
      let write = try #require(tracer.finishedSpans.first)
      let steps = WriteReport.Times.stepNames.map { "modelstore.\($0)_ms" }
      #expect(steps.allSatisfy { write.attribute($0) != nil })
      #expect(write.attribute("db.operation.name") == "write")
      #expect(write.attribute("modelstore.transaction") != nil)
      #expect(write.events.map(\.name) == ["turn"])
      #expect(write.attributes.count == steps.count + 5)
    }

    /// A tracer samples some requests. Its other spans are neither described nor left open, and
    /// their contexts are tags: another process may have recorded the parent.
    @Test func aSpanThatIsNotRecordedIsNotDescribedAndStillTags() async throws {
      let world = try ServiceWorld(journal: true)
      let tracer = UnsampledTracer()
      try world.store.addMonitor(StoreTracer(store: "notes", tracer: tracer))
      try world.insert(1)
      #expect(throws: StoreError.self) { try world.insert(2, "") }
      #expect(tracer.received.descriptionCount == 0)
      #expect(tracer.received.endCount == 2)
      let history = try await world.store.changeJournal.transactions(after: .start, limit: 10)
      #expect(
        history.compactMap(\.tag) == [
          "trace:baggage=a=1%3Bb=50%25;traceparent=\(UnsampledTracer.parent)"
        ])
    }

    /// The names and values that a tracer injects may contain the separators of the tag.
    @Test func aTagKeepsTheValuesOfATracer() throws {
      let carrier = ["baggage": "user=ada;ttl=1,x=50%3B", "traceparent": "00-4bf9-00f0-01"]
      let text = try #require(TraceTag.text(of: carrier))
      #expect(TraceTag.carrier(of: text) == carrier)
      #expect(TraceTag.text(of: [:]) == nil && TraceTag.carrier(of: "import") == nil)
    }

    @Test func aBatchOfAWorkerIsASpanWithLinksToItsWrites() async throws {
      try world.insert(1)
      try await world.store.write { tx in try tx.insert(Note(id: 2, text: "b")) }
      var options = StoreWorker.Options()
      options.start = .start
      options.tracer = monitor
      let parents = Mutex<[String?]>([])
      let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
      let worker = StoreWorker(
        "mirror", of: world.store, operations: [.insert], options: options
      ) { _ in
        parents.withLock { $0.append(ServiceContext.current?.inMemorySpanContext?.spanID) }
        continuation.yield()
      }
      try await testGracefulShutdown { trigger in
        async let running: Void = worker.run()
        var iterator = stream.makeAsyncIterator()
        for _ in 1...2 { await iterator.next() }
        trigger.triggerGracefulShutdown()
        try await running
      }
      let spans = tracer.finishedSpans
      let writes = spans.filter { $0.operationName == "write notes" }.map(\.spanID)
      let batches = spans.filter { $0.operationName == "process mirror" }
      #expect(batches.allSatisfy { $0.kind == .consumer })
      let links = batches.flatMap(\.links)
      #expect(links.compactMap { $0.context.inMemorySpanContext?.spanID } == writes)
      #expect(batches.first?.attribute("modelstore.consumer") == "mirror")
      // The closure runs inside the span.
      #expect(Set(parents.withLock { $0 }) == Set(batches.map(\.spanID)))
      #expect(tracer.activeSpans.isEmpty)
    }

    @Test func aTagOfTheProgramIsNoLink() throws {
      let consumer = try world.store.consumer("mirror")
      try world.store.write { tx in
        tx.sign(tag: "import")
        try tx.insert(Note(id: 1, text: "a"))
      }
      let batch = try #require(try consumer.next())
      let span = tracer.startSpan("index")
      monitor.addLinks(to: batch.transactions, in: span)
      #expect(span.links.isEmpty)
      span.end()
    }
  }

  extension FinishedInMemorySpan {
    fileprivate func attribute(_ name: String) -> SpanAttribute? {
      attributes[name]?.toSpanAttribute()
    }
  }
#endif
