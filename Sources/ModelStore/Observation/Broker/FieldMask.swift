/// A set of fields of one model in one word. Fields from index 63 on share the last bit. So it may
/// report an overlap where there is none, but never misses one.
struct FieldMask: Sendable {
  private var bits: UInt64

  /// No field, which only a union that begins with it contains.
  static var none: FieldMask { FieldMask(bits: 0) }

  private init(bits: UInt64) { self.bits = bits }

  /// - Parameter fields: nil for all. An empty set also means all: an observer that reads no field
  ///   observes whether records exist.
  init(_ fields: Set<Int>?) {
    guard let fields, !fields.isEmpty else {
      bits = .max
      return
    }
    bits = fields.reduce(0) { $0 | Self.bit($1) }
  }

  /// The fields that an update changed. All fields for inserts and deletes, and for an update in
  /// which no captured field differs.
  init(changedIn change: RecordChange) {
    guard let old = change.old, let new = change.new else {
      bits = .max
      return
    }
    var bits: UInt64 = 0
    for index in old.indices where old[index] != new[index] { bits |= Self.bit(index) }
    self.bits = bits == 0 ? .max : bits
  }

  /// The captured fields that one step changes. All fields for an insertion, a deletion and a
  /// change of the key, which is both.
  init(changedBy row: borrowing PreupdateRow, of table: TrackedTable) throws(ColumnError) {
    guard row.operation == .update else {
      bits = .max
      return
    }
    var bits: UInt64 = 0
    for field in table.fields {
      guard let column = table.storedColumns[field] else { continue }
      if row.changes(at: column) { bits |= Self.bit(field) }
    }
    // The hook reports a default that the row does not store as NULL.
    for field in table.fieldsWithDefault where bits & Self.bit(field) == 0 {
      guard let column = table.storedColumns[field] else { continue }
      if try row.old(at: column).isNull { bits |= Self.bit(field) }
    }
    let hasNewKey =
      row.oldRowID != row.newRowID || table.key.contains { bits & Self.bit($0) != 0 }
    self.bits = hasNewKey ? .max : bits
  }

  func contains(_ field: Int) -> Bool { bits & Self.bit(field) != 0 }

  var isAll: Bool { bits == .max }

  var isEmpty: Bool { bits == 0 }

  mutating func formUnion(_ other: FieldMask) { bits |= other.bits }

  private static func bit(_ field: Int) -> UInt64 { 1 << UInt64(min(field, 63)) }

  func overlaps(_ other: FieldMask) -> Bool { bits & other.bits != 0 }
}
