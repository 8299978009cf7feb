import Tracing

/// A tracer that samples nothing and propagates the context, as a service in production does for
/// most requests.
struct UnsampledTracer: Tracer {
  private enum ParentKey: ServiceContextKey {
    typealias Value = String
  }

  struct Unrecorded: Tracing.Span {
    let context: ServiceContext
    var isRecording: Bool { false }
    var operationName: String {
      get { "" }
      nonmutating set {}
    }
    var attributes: SpanAttributes {
      get { [:] }
      nonmutating set {}
    }

    func setStatus(_ status: SpanStatus) {}
    func addEvent(_ event: SpanEvent) {}
    func addLink(_ link: SpanLink) {}
    func recordError<Instant: TracerInstant>(
      _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}
    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {}
  }

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> Unrecorded {
    var context = context()
    // As long as every `traceparent` is: https://www.w3.org/TR/trace-context/
    context[ParentKey.self] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
    return Unrecorded(context: context)
  }

  func forceFlush() {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let parent = context[ParentKey.self] else { return }
    injector.inject(parent, forKey: "traceparent", into: &carrier)
  }

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    context[ParentKey.self] = extractor.extract(key: "traceparent", from: carrier)
  }
}
