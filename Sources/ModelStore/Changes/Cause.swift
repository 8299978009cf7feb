/// The change that set off the wave in which a binding or a trigger changed something: what a
/// statement of the transaction did itself.
///
/// Of several changes that one and the same binding followed, one after the other, it is the first.
public struct Cause: Hashable, Sendable {
  /// What the statement did to the record.
  public let operation: RecordChange.Operation
  public let model: String
  /// The record's key values, in key order: those it has now, or had when it was deleted.
  public let key: [SQLValue]
  /// For an update, the fields that were given other values, in field order, whatever became of
  /// them later; otherwise empty.
  public let fields: [String]
}

extension Cause: CustomStringConvertible {
  /// `update Artist 1 (name)`, without keys that a person could not tell apart from words.
  public var description: String {
    let record = "\(operation.rawValue) \(model) \(key.map(\.description).joined(separator: ", "))"
    return fields.isEmpty ? record : "\(record) (\(fields.joined(separator: ", ")))"
  }
}

/// Who made a change, and what the change answers.
struct Provenance: Hashable, Sendable {
  let origin: Origin
  let cause: Cause?

  init(_ origin: Origin, cause: Cause? = nil) {
    self.origin = origin
    self.cause = cause
  }
}
