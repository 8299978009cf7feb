/// Decodes a `Decodable` type from one row, by the names of its columns. Values are read as
/// ``ColumnValue``, never by their own `Decodable`.
///
/// It is used again for the next row, because making it and its container takes longer than reading
/// a short row. If the type has kept one of them, both stay closed, and the next row gets others.
final class RowDecoder: Decoder {
  private let values: RowValues
  private var container: KeptContainer?

  private init(row: borrowing RowView, plan: CodingPlan) {
    values = RowValues(row: row.shared(), plan: plan)
  }

  /// Returns a decoder of the current row: the decoder that `row` has kept, if it is for the same
  /// statement and plan, otherwise a new one.
  static func taken(from row: borrowing RowView, for plan: CodingPlan) -> RowDecoder {
    guard let companion = row.companion, let kept = companion.decoder as? RowDecoder,
      kept.values.plan === plan, row.isOfSameStatement(as: kept.values.row)
    else { return RowDecoder(row: row, plan: plan) }
    companion.decoder = nil
    kept.values.begin()
    return kept
  }

  /// Ends the reading of the current row. The decoder is kept for the next row, unless the type has
  /// kept the decoder or its container.
  static func end(_ decoder: inout RowDecoder, of row: borrowing RowView) {
    decoder.values.end()
    guard let companion = row.companion, isKnownUniquelyReferenced(&decoder),
      decoder.container?.isUnshared ?? true
    else { return }
    companion.decoder = decoder
  }

  /// The value in the first column. Every statement that has rows has one.
  func firstColumn<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try values.value(type, at: 0)
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    if let container, let kept = container.value(keyedBy: type) { return kept }
    let made = KeyedDecodingContainer(RowContainer<Key>(row: values))
    container = KeptContainer(made)
    return made
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw values.unkeyed() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw values.unkeyed() }
}

/// A container of any type of key.
private final class KeptContainer {
  private let key: ObjectIdentifier
  private let place: UnsafeMutableRawPointer
  private let free: (UnsafeMutableRawPointer) -> Void
  private let isOneReference: Bool

  init<Key: CodingKey>(_ container: KeyedDecodingContainer<Key>) {
    let place = UnsafeMutablePointer<KeyedDecodingContainer<Key>>.allocate(capacity: 1)
    place.initialize(to: container)
    self.place = UnsafeMutableRawPointer(place)
    key = ObjectIdentifier(Key.self)
    isOneReference =
      MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size
    free = { place in
      let place = place.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self)
      place.deinitialize(count: 1)
      place.deallocate()
    }
  }

  deinit { free(place) }

  /// The container, if its keys have this type.
  @inline(__always)
  func value<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key>? {
    guard ObjectIdentifier(type) == key else { return nil }
    return place.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self).pointee
  }

  /// Whether there is no other copy of the container.
  ///
  /// A container is a reference to an object that the standard library shares between copies. If it
  /// should ever be more than that, it counts as copied, and is not used again.
  var isUnshared: Bool {
    guard isOneReference else { return false }
    return place.withMemoryRebound(to: AnyObject.self, capacity: 1) {
      isKnownUniquelyReferenced(&$0.pointee)
    }
  }
}

/// The values of a statement's current row, for a decoder and its container.
private final class RowValues {
  let row: RowView
  let plan: CodingPlan
  /// The column that the type probably asks for next.
  private var next = 0
  /// A type may keep its decoder; the row is gone then.
  private var isOpen = true

  init(row: consuming RowView, plan: CodingPlan) {
    self.row = row
    self.plan = plan
  }

  func begin() {
    next = 0
    isOpen = true
  }

  func end() { isOpen = false }

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

  func value<Value: Decodable>(_ type: Value.Type, at column: Int) throws -> Value {
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
  let row: RowValues

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.names.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { row.has(key) }
  func decodeNil(forKey key: Key) throws -> Bool { try row.isNull(key) }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try row.known(key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try row.known(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try row.known(key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try row.known(key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try row.known(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try row.value(type, key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try row.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try row.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try row.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try row.knownIfPresent(key)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try row.knownIfPresent(key)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try row.valueIfPresent(type, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    throw row.unkeyed()
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw row.unkeyed()
  }

  func superDecoder() throws -> any Decoder { throw row.unkeyed() }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw row.unkeyed() }
}
