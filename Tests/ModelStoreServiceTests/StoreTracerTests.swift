#if Service
  import InMemoryTracing
  import ModelStore
  import ModelStoreService
  import Testing
  import Tracing

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
