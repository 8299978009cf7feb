/// Returns a value of the right type for each property, so that a type goes on to the next one.
struct SampleDecoder: Decoder {
  var names: [String] = []
  /// Notes the keys of the record itself; nil within its values.
  var asked: AskedKeys?
  var samples = ColumnSamples()
  /// Which samples to return; nil for the usual ones, and nil for optional values.
  var trial: Trial?
  var depth = 0

  /// A decoding with one of two samples for each value.
  struct Trial {
    /// The fields with the second one.
    var seconds: Set<String> = []
    /// Whether the values within a value are the second ones.
    var isSecond = false
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    asked?.note(type)
    return KeyedDecodingContainer(SampleContainer<Key>(decoder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { SampleValues(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { SampleValues(decoder: self) }

  /// Returns a sample for the value under `key`.
  func sample<Value: Decodable>(_ type: Value.Type, forKey key: some CodingKey) throws -> Value {
    guard let asked else { return try sample(type) }
    let isSecond = trial?.seconds.contains(key.stringValue) ?? false
    let value = try sample(type, isSecond: isSecond)
    try asked.note(value, under: key)
    return value
  }

  func sample<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try sample(type, isSecond: trial?.isSecond ?? false)
  }

  private func sample<Value: Decodable>(_ type: Value.Type, isSecond: Bool) throws -> Value {
    if trial == nil {
      if let value = samples.usual(type) { return value }
      return try nested(type)
    }
    let pair = try samples.pair(type) { second in try nested(type, Trial(isSecond: second)) }
    return isSecond ? pair.second : pair.first
  }

  private func nested<Value: Decodable>(_ type: Value.Type, _ trial: Trial? = nil) throws -> Value {
    guard depth < 16 else { throw NoSample() }
    return try Value(from: SampleDecoder(samples: samples, trial: trial, depth: depth + 1))
  }
}

/// No value of a type could be made.
private struct NoSample: Error {}

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
    return try decoder.sample(type, forKey: key)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    decoder.asked?.note(key, type)
    return decoder.trial == nil ? nil : try decoder.sample(type, forKey: key)
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
