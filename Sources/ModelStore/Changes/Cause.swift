/// The change that started the cascade in which a binding or trigger changed something. It was made
/// directly by a statement of the transaction.
///
/// If one binding followed several changes in a row, the cause is the first of them.
public struct Cause: Hashable, Sendable {
  /// What the statement did to the record.
  public let operation: RecordChange.Operation
  public let model: String
  /// The record's key values, in key order. For a deleted record, its last values.
  public let key: [SQLValue]
  /// For an update, the fields that the statement set, in field order, even if they were changed
  /// again later; otherwise empty.
  public let fields: [String]
}

extension Cause: CustomStringConvertible {
  /// `update Artist 1 (name)`, without keys that a person could not distinguish from words.
  public var description: String {
    let record = "\(operation.rawValue) \(model) \(key.map(\.description).joined(separator: ", "))"
    return fields.isEmpty ? record : "\(record) (\(fields.joined(separator: ", ")))"
  }
}

/// The origin of a change, and its cause.
struct Provenance: Hashable, Sendable {
  let origin: Origin
  let cause: Cause?

  init(_ origin: Origin, cause: Cause? = nil) {
    self.origin = origin
    self.cause = cause
  }
}
