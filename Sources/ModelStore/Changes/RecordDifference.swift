/// How one record of a store differs from the record with the same key in another state.
public struct RecordDifference: Hashable, Sendable, Codable {
  /// The model's name.
  public let model: String
  /// The record's key values, in key order.
  public let key: [SQLValue]
  /// The values before, by field; nil if there was no record. If there is one before and after,
  /// only the fields that differ.
  public let old: [String: SQLValue]?
  /// The values after, by field; nil if there is no record.
  public let new: [String: SQLValue]?

  /// Creates a difference; pass the same fields in `old` and `new` if both exist.
  public init(
    model: String, key: [SQLValue], old: [String: SQLValue]?, new: [String: SQLValue]?
  ) {
    self.model = model
    self.key = key
    self.old = old
    self.new = new
  }

  /// What makes the one state from the other.
  public var operation: RecordChange.Operation {
    if old == nil { return .insert }
    return new == nil ? .delete : .update
  }
}

/// The differences between two stores, or between two states of one store, record by record.
public struct StoreDifference: Hashable, Sendable, Codable {
  /// The records that differ. Between two stores, they are ordered by model and key; each record
  /// occurs once, except one whose key changed only its storage class.
  public var records: [RecordDifference]

  /// Creates a difference from records.
  public init(records: [RecordDifference] = []) {
    self.records = records
  }

  /// Whether both states have the same records.
  public var isEmpty: Bool { records.isEmpty }
}
