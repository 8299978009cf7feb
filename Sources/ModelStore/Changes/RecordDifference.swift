/// How one record of a store differs from the record with the same key in another state. Lists of
/// differences are `Codable`, so you can store them or send them.
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

extension SQLValue {
  /// Whether both are the same content: also the same zero. 0.0 and -0.0 are equal numbers.
  func isExactly(_ other: SQLValue) -> Bool {
    guard case .real(let own) = self, case .real(let others) = other else { return self == other }
    return own.bitPattern == others.bitPattern
  }
}
