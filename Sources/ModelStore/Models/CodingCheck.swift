extension CodableModel {
  /// Compares the coding keys with the definition's fields before any record is read.
  ///
  /// The type decodes itself from sample values. The check notes the keys that it asks for.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema`; the message lists all differences.
  static func checkCoding() throws(StoreError) {
    let plan = definition.coding
    guard plan === definition.coding else {
      throw StoreError(
        .unsupportedSchema,
        "\(schema.name): declare the definition as a static let. Now each use creates another one.",
        model: schema.name)
    }
    let asked = AskedKeys()
    do {
      _ = try Self(from: SampleDecoder(names: plan.names, asked: asked))
    } catch {
      // A type may refuse a sample. The keys up to there are known; a later one that is wrong
      // throws when a record is read or written.
    }
    let problems = asked.problems(in: plan)
    guard let first = problems.first else { return }
    throw StoreError(
      .unsupportedSchema,
      "\(schema.name) and its coding keys differ: \(problems.map(\.text).joined(separator: "; ")).",
      model: schema.name, field: first.field)
  }
}

/// The keys that a type asked its decoder for.
private final class AskedKeys {
  /// Each once. A type may ask whether there is a value before it decodes it.
  private var keys: [(name: String, type: Any.Type?)] = []
  /// One for each type of coding keys: whether it has a key with this name.
  private var hasKey: [(String) -> Bool] = []

  func note<Key: CodingKey>(_ type: Key.Type) {
    hasKey.append { Key(stringValue: $0) != nil }
  }

  func note(_ key: some CodingKey, _ type: Any.Type? = nil) {
    if let index = keys.firstIndex(where: { $0.name == key.stringValue }) {
      keys[index].type = keys[index].type ?? type
    } else {
      keys.append((key.stringValue, type))
    }
  }

  func problems(in plan: CodingPlan) -> [(field: String, text: String)] {
    guard !hasKey.isEmpty else { return [(plan.names[0], "the type does not decode by keys")] }
    var problems: [(field: String, text: String)] = []
    for (name, type) in keys {
      let isStorable = type.map { $0 is any ColumnValue.Type } ?? true
      let remedy = isStorable ? "" : "; a column holds its value only as JSON"
      if !plan.has(name) {
        problems.append((name, "the key \(name) is not among the fields\(remedy)"))
      } else if !isStorable {
        problems.append((name, "the value of \(name) is not a column value\(remedy)"))
      }
    }
    for name in plan.names where !hasKey.contains(where: { $0(name) }) {
      problems.append((name, "the field \(name) is not among the keys"))
    }
    return problems
  }
}

/// Returns a value of the right type for each property, so that a type goes on to the next one.
private struct SampleDecoder: Decoder {
  var names: [String] = []
  /// Notes the keys of the record itself; nil within its values.
  var asked: AskedKeys?
  var depth = 0

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    asked?.note(type)
    return KeyedDecodingContainer(SampleContainer<Key>(decoder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { SampleValues(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { SampleValues(decoder: self) }

  func sample<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let stored = type as? any ColumnValue.Type, let value = stored.sample as? Value {
      return value
    }
    if let cases = type as? any CaseIterable.Type, let value = cases.sample as? Value {
      return value
    }
    guard depth < 16 else { throw NoSample() }
    return try Value(from: SampleDecoder(depth: depth + 1))
  }
}

/// No value of a type could be made.
private struct NoSample: Error {}

extension ColumnValue {
  /// A value of the type; nil if the type accepts none of a few usual ones. For example, an enum
  /// does not accept the empty text.
  fileprivate static var sample: Self? {
    let texts =
      switch fieldType {
      case .uuid: ["00000000-0000-0000-0000-000000000000"]
      case .url: ["about:blank"]
      case .decimal: ["0"]
      case .json: ["{}", "[]", "0", "false", "\"\""]
      default: [""]
      }
    let candidates: [SQLValue] =
      switch fieldType {
      case .integer, .boolean: [.integer(0), .integer(1)]
      case .real, .date: [.real(0)]
      case .blob: [.blob([])]
      case .any: [.integer(0)]
      case .text, .uuid, .url, .decimal, .json: texts.map { .text($0) }
      }
    for candidate in candidates {
      do {
        return try Self(sqlValue: candidate)
      } catch {
        // The next candidate may be a value of the type.
      }
    }
    return nil
  }
}

extension CaseIterable {
  fileprivate static var sample: Self? { allCases.first }
}

private struct SampleContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: SampleDecoder

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { decoder.names.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool {
    decoder.asked?.note(key)
    return true
  }

  func decodeNil(forKey key: Key) -> Bool {
    decoder.asked?.note(key)
    return false
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    decoder.asked?.note(key, type)
    return try decoder.sample(type)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? {
    decoder.asked?.note(key, type)
    return nil
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    decoder.asked?.note(key, [String: Any].self)
    throw NoSample()
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    decoder.asked?.note(key, [Any].self)
    throw NoSample()
  }

  func superDecoder() throws -> any Decoder { throw NoSample() }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw NoSample() }
}

/// A single value, or an empty array.
private struct SampleValues: UnkeyedDecodingContainer, SingleValueDecodingContainer {
  let decoder: SampleDecoder

  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  func decodeNil() -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.sample(type) }

  func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    throw NoSample()
  }

  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoSample() }
  func superDecoder() throws -> any Decoder { throw NoSample() }
}
