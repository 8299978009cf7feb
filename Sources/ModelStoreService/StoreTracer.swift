#if Service
  public import ModelStore
  import Synchronization
  public import Tracing

  /// Makes a span of swift-distributed-tracing for each write of a store, inside the span of its
  /// caller. Pass it to a worker, too, for a span of each batch: ``StoreWorker/Options/tracer``.
  ///
  /// ```swift
  /// try store.addMonitor(StoreTracer(store: "notes"))
  /// ```
  ///
  /// The attributes follow OpenTelemetry's conventions for databases: `db.system.name`,
  /// `db.namespace`, `db.operation.name`, and `error.type` if the write failed. Those that begin
  /// with `modelstore.` are the number of changed rows, the id in the change journal, the number of
  /// writes that shared the COMMIT, and the milliseconds of each step.
  ///
  /// If the change journal is on, the context of the span is also the tag of the commit record,
  /// unless the write has set a tag. Other processes link to it: ``addLinks(to:in:)``.
  ///
  /// Reads have no spans: most take a few microseconds, less than a span.
  public final class StoreTracer: StoreMonitor {
    private let tracer: any Tracer
    private let store: String
    /// The name of the span of a write.
    private let name: String
    /// The attributes with which the span of a write begins, with room for those at its end.
    private let attributes: SpanAttributes
    private let spans = Mutex<[UInt64: any Span]>([:])

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - store: The value of the attribute `db.namespace`.
    ///   - tracer: By default, the one that the program has bootstrapped.
    public init(store: String, tracer: any Tracer = InstrumentationSystem.tracer) {
      self.store = store
      self.tracer = tracer
      name = "write \(store)"
      var attributes = [String: SpanAttribute](minimumCapacity: 16)
      attributes.merge(Self.attributes(of: store, operation: "write")) { $1 }
      self.attributes = SpanAttributes(attributes)
    }

    deinit {
      for span in spans.withLock({ $0.values.map { $0 } }) { span.end() }
    }

    public func receive(_ event: StoreEvent) {
      switch event {
      case .writeQueued(let number): begin(number)
      case .writeBegan(let number):
        if let span = spans.withLock({ $0[number] }), span.isRecording { span.addEvent("turn") }
      case .writeEnded(let report): end(report)
      default: break
      }
    }

    public func tag(ofWrite write: UInt64) -> String? {
      guard let span = spans.withLock({ $0[write] }) else { return nil }
      return TraceTag.text(of: span.context, by: tracer)
    }

    /// Adds links to a span: one to each write in `transactions` that a tracer tagged, also in
    /// another process.
    ///
    /// ```swift
    /// for try await batch in consumer.batches() {
    ///   try await withSpan("index notes") { span in
    ///     tracer.addLinks(to: batch.transactions, in: span)
    ///     …
    ///   }
    /// }
    /// ```
    public func addLinks(to transactions: [JournalTransaction], in span: any Span) {
      for transaction in transactions {
        guard let tag = transaction.tag,
          let context = TraceTag.context(of: tag, by: tracer)
        else { continue }
        span.addLink(SpanLink(context: context, attributes: [:]))
      }
    }

    /// Runs `body`, which processes changes of a consumer's batch, in a span that is linked to the
    /// spans of the writes.
    ///
    /// - Parameters:
    ///   - transactions: The transactions of the batch that have such changes.
    ///   - changeCount: The number of these changes.
    func spanOfBatch<Result>(
      _ consumer: String, _ transactions: [JournalTransaction], changeCount: Int,
      _ body: () async throws -> Result
    ) async throws -> Result {
      try await tracer.withAnySpan("process \(consumer)", ofKind: .consumer) { span in
        if span.isRecording {
          span.updateAttributes { attributes in
            attributes.merge(SpanAttributes(Self.attributes(of: store, operation: "process")))
            attributes["db.operation.batch.size"] = changeCount
            attributes["modelstore.consumer"] = consumer
          }
          addLinks(to: transactions, in: span)
        }
        return try await body()
      }
    }

    private static func attributes(
      of store: String, operation: String
    ) -> [String: SpanAttribute] {
      [
        "db.system.name": "sqlite", "db.namespace": .string(store),
        "db.operation.name": .string(operation),
      ]
    }

    /// A span that is not recorded is kept, too: its context is the tag of the commit record.
    private func begin(_ number: UInt64) {
      let span = tracer.startAnySpan(name, ofKind: .client)
      if span.isRecording {
        span.updateAttributes { attributes in
          // A tracer may begin with attributes of its own.
          if attributes.isEmpty {
            attributes = self.attributes
          } else {
            attributes.merge(self.attributes)
          }
        }
      }
      spans.withLock { $0[number] = span }
    }

    private func end(_ report: WriteReport) {
      guard let span = spans.withLock({ $0.removeValue(forKey: report.number) }) else { return }
      if span.isRecording { describe(report, in: span) }
      span.end()
    }

    private func describe(_ report: WriteReport, in span: any Span) {
      span.updateAttributes { attributes in
        attributes.set("modelstore.changed_rows", value: report.changedRowCount.toSpanAttribute())
        if let transaction = report.transaction {
          attributes.set("modelstore.transaction", value: .string(transaction.description))
        }
        if report.sharingCount > 1 {
          attributes.set("modelstore.sharing", value: report.sharingCount.toSpanAttribute())
        }
        for (step, name) in Self.stepAttributes {
          attributes.set(name, value: .double(Double(report.times[step]) / 1e6))
        }
      }
      switch report.outcome {
      case .committed: break
      case .refused(let error), .unknown(let error): fail(span, error, error.code.rawValue)
      case .rolledBack(let error):
        let known = error as? StoreError
        fail(span, known, known?.code.rawValue ?? "\(type(of: error))")
      }
    }

    private static let stepAttributes = WriteReport.Times.Step.allCases.map { step in
      (step: step, name: "modelstore.\(step.rawValue)_ms")
    }

    /// - Parameter error: The error of the store; nil for one of the program, which may contain
    ///   values of records.
    private func fail(_ span: any Span, _ error: StoreError?, _ type: String) {
      span.attributes["error.type"] = type
      if let error { span.recordError(error) }
      span.setStatus(SpanStatus(code: .error, message: type))
    }
  }
#endif
