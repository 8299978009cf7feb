/// Finds values of types that are known only by their conformances.
final class ColumnSamples {
  /// Up to three different samples of each type, found once: a type may have to parse all of them.
  private var known: [ObjectIdentifier: [Any]] = [:]

  /// Returns a value of a few usual ones; nil if the type accepts none of them.
  func usual<Value>(_ type: Value.Type) -> Value? { all(type).first }

  /// Returns two values, which differ if the type has such samples. The usual one is returned last,
  /// because types more often refuse it, for example the empty text.
  ///
  /// - Parameter nested: Decodes the value from samples; for types that accept no usual one.
  func pair<Value>(
    _ type: Value.Type, nested: (_ isSecond: Bool) throws -> Value
  ) throws -> (first: Value, second: Value) {
    let samples = all(type)
    if samples.count > 1 { return (samples[samples.count - 2], samples[samples.count - 1]) }
    do {
      return (try nested(false), try nested(true))
    } catch {
      guard let sample = samples.first else { throw error }
      return (sample, sample)
    }
  }

  private func all<Value>(_ type: Value.Type) -> [Value] {
    let id = ObjectIdentifier(type)
    if let found = known[id] as? [Value] { return found }
    var found: [Value] = []
    if let stored = type as? any ColumnValue.Type { found = stored.samples as? [Value] ?? [] }
    if found.isEmpty, let cases = type as? any CaseIterable.Type {
      found = cases.samples as? [Value] ?? []
    }
    known[id] = found
    return found
  }
}

extension ColumnValue {
  /// Up to three values of the type; none if it accepts none of the usual ones. For example, an
  /// enum does not accept the empty text.
  fileprivate static var samples: [Self] {
    let texts =
      switch fieldType {
      case .uuid: (0..<3).map { "00000000-0000-0000-0000-00000000000\($0)" }
      case .url: ["about:blank", "about:a", "about:b"]
      case .decimal: ["0", "1", "2"]
      case .json: jsonSamples
      default: ["", "0", "1"]
      }
    let candidates: [SQLValue] =
      switch fieldType {
      case .integer, .boolean, .any: (0..<4).map { .integer($0) }
      case .real, .date: [.real(0), .real(1), .real(2)]
      case .blob: [.blob([]), .blob([1]), .blob([2])]
      case .text, .uuid, .url, .decimal, .json: texts.map { .text($0) }
      }
    var samples: [Self] = []
    var values: [SQLValue] = []
    for candidate in candidates where samples.count < 3 {
      do {
        let sample = try Self(sqlValue: candidate)
        let value = try sample.sqlValue()
        guard !values.contains(value) else { continue }
        samples.append(sample)
        values.append(value)
      } catch {
        // The next candidate may be a value of the type.
      }
    }
    return samples
  }
}

/// Three of each kind, where there are as many.
private let jsonSamples = [
  "{}", "[]", "0", "false", "\"\"", "1", "2", "true", "\"a\"", "\"b\"", "[1]", "[2]", "[true]",
  "[\"a\"]", "[\"b\"]", "{\"a\":1}", "{\"a\":2}", "{\"a\":\"b\"}", "{\"a\":\"c\"}",
]

extension CaseIterable {
  fileprivate static var samples: [Self] { Array(allCases.prefix(3)) }
}
