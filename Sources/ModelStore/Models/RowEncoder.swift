/// Encodes an `Encodable` record as the arguments of one statement, by the names of its fields.
/// Values are written as ``ColumnValue``, never by their own `Encodable`.
final class RowEncoder: Encoder {
  private var writer: ArgumentWriter
  private let plan: CodingPlan
  /// The column that is probably written next.
  private var next = 0
  /// A record may keep its encoder; the statement is gone then.
  private var isOpen = true

  init(writer: consuming ArgumentWriter, plan: CodingPlan) {
    // A statement keeps the arguments of its last run, and `encode(to:)` leaves out what is nil.
    for column in plan.names.indices { writer.setNull(at: column) }
    self.writer = writer
    self.plan = plan
  }

  func end(_ arguments: inout ArgumentWriter) {
    isOpen = false
    arguments.takeFailure(of: writer)
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(ArgumentContainer<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusedEncoder(error: plan.unkeyed()) }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    RefusedEncoder(error: plan.unkeyed())
  }

  /// Writes a value of a type that is known here.
  @inline(__always)
  func setColumn(_ value: some ColumnValue, _ key: some CodingKey) throws {
    try value.encode(to: &writer, at: try column(key))
  }

  /// Writes a value of the type that the column was declared with, or of any other column value.
  func set<Value: Encodable>(_ value: Value, _ key: some CodingKey) throws {
    let column = try column(key)
    func write<Stored: ColumnValue>(_ stored: Stored.Type) throws {
      guard let value = value as? Stored else { throw plan.unstorable(Value.self, at: column) }
      try value.encode(to: &writer, at: column)
    }
    if plan.declares(Value.self, at: column) { return try write(plan.types[column]) }
    guard let stored = Value.self as? any ColumnValue.Type else {
      throw plan.unstorable(Value.self, at: column)
    }
    try write(stored)
  }

  func setNull(_ key: some CodingKey) throws {
    writer.setNull(at: try column(key))
  }

  @inline(__always)
  private func column(_ key: some CodingKey) throws(StoreError) -> Int {
    guard isOpen else {
      throw StoreError(.misuse, "An encoder of a record was used after the record was written.")
    }
    let column = try plan.column(key.stringValue, guess: next)
    next = column + 1
    return column
  }

  func unkeyed() -> StoreError { plan.unkeyed() }
}

/// The only container of a record's arguments.
private struct ArgumentContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: RowEncoder

  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { try encoder.setNull(key) }
  func encode(_ value: Bool, forKey key: Key) throws { try encoder.setColumn(value, key) }
  func encode(_ value: Int, forKey key: Key) throws { try encoder.setColumn(value, key) }
  func encode(_ value: Int64, forKey key: Key) throws { try encoder.setColumn(value, key) }
  func encode(_ value: Double, forKey key: Key) throws { try encoder.setColumn(value, key) }
  func encode(_ value: String, forKey key: Key) throws { try encoder.setColumn(value, key) }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoder.set(value, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    RefusedEncoder(error: encoder.unkeyed()).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    RefusedEncoder(error: encoder.unkeyed())
  }

  func superEncoder() -> any Encoder { RefusedEncoder(error: encoder.unkeyed()) }
  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

/// Refuses nested values, for which a row has no place. Asking for a container cannot throw, so
/// encoding into it throws.
private struct RefusedEncoder: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
  let error: StoreError

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var count: Int { 0 }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Container<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() throws { throw error }
  func encode<Value: Encodable>(_ value: Value) throws { throw error }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { self }

  private struct Container<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RefusedEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw encoder.error }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw encoder.error }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      encoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
  }
}
