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
      var pairs: [Pair] = []
      tracer.inject(context, into: &pairs, using: PairInjector())
      return text(of: pairs)
    }

    static func text(of carrier: [String: String]) -> String? {
      text(of: carrier.map { $0 })
    }

    /// A tracer injects one to three pairs, so an array takes less time than a dictionary.
    private typealias Pair = (key: String, value: String)

    private static func text(of pairs: [Pair]) -> String? {
      guard !pairs.isEmpty else { return nil }
      var text = prefix
      // The common case, a `traceparent`, is longer than what Swift keeps without an allocation.
      text.reserveCapacity(128)
      var separator = ""
      for (key, value) in pairs.count == 1 ? pairs : pairs.sorted(by: { $0.key < $1.key }) {
        text += separator
        text += key
        text += "="
        text += escaped(value)
        separator = ";"
      }
      return text
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
      guard contains(value, UInt8(ascii: "%")) || contains(value, UInt8(ascii: ";")) else {
        return value
      }
      return value.replacing("%", with: "%25").replacing(";", with: "%3B")
    }

    private static func unescaped(_ value: String) -> String {
      guard contains(value, UInt8(ascii: "%")) else { return value }
      return value.replacing("%3B", with: ";").replacing("%25", with: "%")
    }

    /// Searches the bytes in place, which is faster than the `utf8` view.
    private static func contains(_ text: String, _ byte: UInt8) -> Bool {
      var text = text
      return text.withUTF8 { $0.contains(byte) }
    }

    private struct PairInjector: Injector {
      func inject(_ value: String, forKey key: String, into pairs: inout [Pair]) {
        // The latest value of a key counts.
        if let index = pairs.firstIndex(where: { $0.key == key }) { pairs.remove(at: index) }
        pairs.append((key, value))
      }
    }

    private struct PairExtractor: Extractor {
      func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }
  }
#endif
