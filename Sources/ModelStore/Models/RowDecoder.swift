/// Decodes a `Decodable` type from one row, by the names of its columns. Values are read as
/// ``ColumnValue``, never by their own `Decodable`.
final class RowDecoder: Decoder {
  private let row: RowView
  private let plan: CodingPlan
  /// The column that the type probably asks for next.
  private var next = 0
  /// A type may keep its decoder; the row is gone then.
  private var isOpen = true

  init(row: consuming RowView, plan: CodingPlan) {
    self.row = row
    self.plan = plan
  }

  func end() { isOpen = false }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw plan.unkeyed() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw plan.unkeyed() }

  var names: [String] { plan.names.filter { !$0.isEmpty } }

  func has(_ key: some CodingKey) -> Bool { plan.has(key.stringValue) }

  func isNull(_ key: some CodingKey) throws -> Bool {
    row.isNull(at: try column(key))
  }

  /// The value for `key` as a type that is known here.
  @inline(__always)
  func known<Value: ColumnValue>(_ key: some CodingKey) throws -> Value {
    try Value(row: row, column: try nextColumn(key))
  }

  /// The value for `key`; nil for NULL.
  @inline(__always)
  func knownIfPresent<Value: ColumnValue>(_ key: some CodingKey) throws -> Value? {
    try Value?(row: row, column: try nextColumn(key))
  }

  /// The value for `key` as a type that the column was declared with, or any other column value.
  func value<Value: Decodable>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
    try value(type, at: nextColumn(key))
  }

  func valueIfPresent<Value: Decodable>(_ type: Value.Type, _ key: some CodingKey) throws -> Value?
  {
    let column = try nextColumn(key)
    return row.isNull(at: column) ? nil : try value(type, at: column)
  }

  /// The value in the first column. Every statement that has rows has one.
  func firstColumn<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try value(type, at: 0)
  }

  private func value<Value: Decodable>(_ type: Value.Type, at column: Int) throws -> Value {
    func read<Stored: ColumnValue>(_ stored: Stored.Type) throws -> Value {
      guard let value = try Stored(row: row, column: column) as? Value else {
        throw plan.unstorable(type, at: column)
      }
      return value
    }
    if plan.declares(type, at: column) { return try read(plan.types[column]) }
    guard let stored = type as? any ColumnValue.Type else {
      throw plan.unstorable(type, at: column)
    }
    return try read(stored)
  }

  @inline(__always)
  private func nextColumn(_ key: some CodingKey) throws(StoreError) -> Int {
    let column = try column(key)
    next = column + 1
    return column
  }

  @inline(__always)
  private func column(_ key: some CodingKey) throws(StoreError) -> Int {
    guard isOpen else {
      throw StoreError(.misuse, "A decoder of a row was used after its row was read.")
    }
    return try plan.column(key.stringValue, guess: next)
  }

  func unkeyed() -> StoreError { plan.unkeyed() }
}

/// The only container of a row. Properties of the most frequent types are read without a look at
/// the type of their column.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: RowDecoder

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { decoder.names.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { decoder.has(key) }
  func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(key) }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.known(key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.known(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.known(key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.known(key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.known(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder.value(type, key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decoder.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try decoder.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try decoder.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try decoder.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decoder.knownIfPresent(key)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try decoder.valueIfPresent(type, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    throw decoder.unkeyed()
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw decoder.unkeyed()
  }

  func superDecoder() throws -> any Decoder { throw decoder.unkeyed() }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.unkeyed() }
}
