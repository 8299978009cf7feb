#if Service
  import Instrumentation
  import Synchronization
  import Tracing

  /// A tracer that records no span and propagates the contexts. It counts what its spans receive.
  struct UnsampledTracer: Tracer {
    /// What the spans have received.
    final class Received: Sendable {
      private let state = Mutex((descriptions: 0, ends: 0))

      /// The number of attributes, events, links, errors and states that were set.
      var descriptionCount: Int { state.withLock { $0.descriptions } }
      var endCount: Int { state.withLock { $0.ends } }

      func noteDescription() { state.withLock { $0.descriptions += 1 } }
      func noteEnd() { state.withLock { $0.ends += 1 } }
    }

    struct Unrecorded: Tracing.Span {
      let context: ServiceContext
      let received: Received
      var isRecording: Bool { false }
      var operationName: String {
        get { "" }
        nonmutating set { received.noteDescription() }
      }
      var attributes: SpanAttributes {
        get { [:] }
        nonmutating set { received.noteDescription() }
      }

      func setStatus(_ status: SpanStatus) { received.noteDescription() }
      func addEvent(_ event: SpanEvent) { received.noteDescription() }
      func addLink(_ link: SpanLink) { received.noteDescription() }
      func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
      ) { received.noteDescription() }
      func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        received.noteEnd()
      }
    }

    private enum ParentKey: ServiceContextKey {
      typealias Value = String
    }

    static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

    let received = Received()

    func startSpan<Instant: TracerInstant>(
      _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
      at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> Unrecorded {
      var context = context()
      context[ParentKey.self] = Self.parent
      return Unrecorded(context: context, received: received)
    }

    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
      guard let parent = context[ParentKey.self] else { return }
      // The latest value of a name counts.
      injector.inject("00", forKey: "traceparent", into: &carrier)
      injector.inject("a=1;b=50%", forKey: "baggage", into: &carrier)
      injector.inject(parent, forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
      _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
      context[ParentKey.self] = extractor.extract(key: "traceparent", from: carrier)
    }
  }
#endif
