/// What one commit did, record by record: old and new, with everything that cancelled out left out.
///
/// Each record occurs at most once. Changes are ordered by their first touch within the
/// transaction. A value equal before and after is no change, whatever happened in between.
public struct ChangeSet: Hashable, Sendable {
  /// The store's count of commits when this one was published; 0 for one that was never committed.
  public let version: UInt64
  /// The records that differ, by first touch within the transaction.
  public let changes: [RecordChange]

  /// A change set made by hand, for tests and for code that hands changes on.
  package init(version: UInt64, changes: [RecordChange]) {
    self.version = version
    self.changes = changes
  }

  /// Whether nothing differs.
  public var isEmpty: Bool { changes.isEmpty }
}

/// What happened to one record between two versions of the store.
public struct RecordChange: Hashable, Sendable {
  /// Whether a record came, changed or went.
  public enum Operation: String, Hashable, Sendable {
    case insert, update, delete
  }

  /// The model's name.
  public var model: String { content.model }
  /// The record's key values, in key order. A change of key is a deletion and an insertion.
  public var key: [SQLValue] { content.key }
  /// The record before, in field order; nil for an insertion.
  public var old: [SQLValue]? { content.old }
  /// The record after, in field order; nil for a deletion.
  public var new: [SQLValue]? { content.new }
  /// For an update, the fields whose value differs, in field order; otherwise empty.
  public var fields: [ChangedField] { content.fields }
  /// Who inserted, deleted or first updated the record.
  public var origin: Origin { content.origin }
  /// What the change answers, where `origin` is a binding or a trigger; otherwise nil.
  public var cause: Cause? { content.cause }
  /// Whether the record was deleted and inserted again in between; then it is an update.
  public var isRecreated: Bool { content.isRecreated }

  /// Shared by copies, of which each observer concerned gets one: it counts one reference, not ten.
  private let content: Content

  private final class Content: Sendable {
    let model: String
    let key: [SQLValue]
    let old: [SQLValue]?
    let new: [SQLValue]?
    let fields: [ChangedField]
    let origin: Origin
    let cause: Cause?
    let isRecreated: Bool

    init(
      model: String, key: [SQLValue], old: [SQLValue]?, new: [SQLValue]?, fields: [ChangedField],
      origin: Origin, cause: Cause?, isRecreated: Bool
    ) {
      self.model = model
      self.key = key
      self.old = old
      self.new = new
      self.fields = fields
      self.origin = origin
      self.cause = cause
      self.isRecreated = isRecreated
    }
  }

  init(
    model: String, key: [SQLValue], old: [SQLValue]?, new: [SQLValue]?,
    fields: [ChangedField] = [], origin: Origin, cause: Cause? = nil, isRecreated: Bool = false
  ) {
    content = Content(
      model: model, key: key, old: old, new: new, fields: fields, origin: origin, cause: cause,
      isRecreated: isRecreated)
  }

  public static func == (left: RecordChange, right: RecordChange) -> Bool {
    let (left, right) = (left.content, right.content)
    return left === right
      || left.model == right.model && left.key == right.key && left.old == right.old
        && left.new == right.new && left.fields == right.fields && left.origin == right.origin
        && left.cause == right.cause && left.isRecreated == right.isRecreated
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(model)
    hasher.combine(key)
    hasher.combine(old)
    hasher.combine(new)
  }

  /// Which of the three: an insertion has no old record, a deletion no new one.
  public var operation: Operation {
    if old == nil { return .insert }
    return new == nil ? .delete : .update
  }
}

/// One field's value before and after, in an update.
public struct ChangedField: Hashable, Sendable {
  /// The field's name.
  public let name: String
  /// The value before.
  public let old: SQLValue
  /// The value after.
  public let new: SQLValue
  /// Who set the field last.
  public let origin: Origin
  /// What the change answers, where `origin` is a binding or a trigger; otherwise nil.
  public let cause: Cause?

  init(name: String, old: SQLValue, new: SQLValue, origin: Origin, cause: Cause? = nil) {
    self.name = name
    self.old = old
    self.new = new
    self.origin = origin
    self.cause = cause
  }
}

/// Which record was changed.
struct ChangedRecord: Hashable, Sendable {
  let model: String
  let key: [SQLValue]
}

extension RecordChange {
  /// Both changes of one record as one, or nil when they cancel out. The key is the later one's: it
  /// may be another that names the same record.
  func followed(
    by later: RecordChange, fields compared: [(index: Int, name: String)]
  ) -> RecordChange? {
    guard let old, let new = later.new else {
      guard self.old != nil || later.new != nil else { return nil }
      return RecordChange(
        model: model, key: later.key, old: self.old, new: later.new, fields: [],
        origin: self.old == nil ? origin : later.origin,
        cause: self.old == nil ? cause : later.cause, isRecreated: false)
    }
    // The parts list no fields where the record was gone in between, so the records are compared.
    let fields = compared.filter { old[$0.index] != new[$0.index] }.map { field in
      let standing =
        later.provenance(ofField: field.name)
        ?? self.provenance(ofField: field.name)
        ?? Provenance(later.origin, cause: later.cause)
      return ChangedField(
        name: field.name, old: old[field.index], new: new[field.index],
        origin: standing.origin, cause: standing.cause)
    }
    guard !fields.isEmpty else { return nil }
    return RecordChange(
      model: model, key: later.key, old: old, new: new, fields: fields, origin: origin,
      cause: cause, isRecreated: isRecreated || later.isRecreated || self.new == nil)
  }

  private func provenance(ofField name: String) -> Provenance? {
    fields.first { $0.name == name }.map { Provenance($0.origin, cause: $0.cause) }
  }
}
