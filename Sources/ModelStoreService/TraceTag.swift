#if Service
  import ModelStore
  import Tracing

  /// The trace context of a write, as the tag of its commit record. So a process that reads the
  /// change journal can link its spans to those of the process that wrote.
  ///
  /// The text is `trace:` and pairs such as `traceparent=00-…`, separated by `;`. In a value, `;`
  /// is `%3B` and `%` is `%25`. Which pairs there are depends on the tracer:
  /// <https://www.w3.org/TR/trace-context/>.
  struct TraceTag {
    private static let prefix = "trace:"

    /// Returns the tag of a context; nil if the tracer injects nothing.
    static func text(of context: ServiceContext, by tracer: any Tracer) -> String? {
      var carrier: [String: String] = [:]
      tracer.inject(context, into: &carrier, using: PairInjector())
      return text(of: carrier)
    }

    static func text(of carrier: [String: String]) -> String? {
      guard !carrier.isEmpty else { return nil }
      return prefix
        + carrier.sorted { $0.key < $1.key }.map { "\($0.key)=\(escaped($0.value))" }
        .joined(separator: ";")
    }

    /// Returns the context of a tag; nil if the tag has none.
    static func context(of tag: String, by tracer: any Tracer) -> ServiceContext? {
      guard let carrier = carrier(of: tag) else { return nil }
      var context = ServiceContext.topLevel
      tracer.extract(carrier, into: &context, using: PairExtractor())
      return context.isEmpty ? nil : context
    }

    static func carrier(of tag: String) -> [String: String]? {
      guard tag.hasPrefix(prefix) else { return nil }
      var carrier: [String: String] = [:]
      for pair in tag.dropFirst(prefix.count).split(separator: ";") {
        let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
        if parts.count == 2 { carrier[parts[0]] = unescaped(parts[1]) }
      }
      return carrier
    }

    private static func escaped(_ value: String) -> String {
      value.replacing("%", with: "%25").replacing(";", with: "%3B")
    }

    private static func unescaped(_ value: String) -> String {
      value.replacing("%3B", with: ";").replacing("%25", with: "%")
    }

    private struct PairInjector: Injector {
      func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
        carrier[key] = value
      }
    }

    private struct PairExtractor: Extractor {
      func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }
  }
#endif
