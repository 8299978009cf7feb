/// The net changes of one commit, record by record, with old and new values.
///
/// Each record occurs at most once. Changes are ordered by their first touch within the
/// transaction. If a value is equal before and after, it is not a change, whatever happened in
/// between.
public struct ChangeSet: Hashable, Sendable {
  /// The number of commits of the store when this one was published; 0 if it was never committed.
  public let version: UInt64
  /// The changed records, ordered by first touch within the transaction.
  public let changes: [RecordChange]

  /// Creates a change set by hand, for tests and for code that passes changes on.
  package init(version: UInt64, changes: [RecordChange]) {
    self.version = version
    self.changes = changes
  }

  /// Whether there is no change.
  public var isEmpty: Bool { changes.isEmpty }
}

/// The change of one record between two versions of the store.
public struct RecordChange: Hashable, Sendable {
  /// Whether a record was inserted, updated or deleted.
  public enum Operation: String, Hashable, Sendable, Codable {
    case insert, update, delete
  }

  /// The model's name.
  public var model: String { content.model }
  /// The record's key values, in key order. A change of key is a deletion and an insertion.
  public var key: [SQLValue] { recordKey.values }
  /// The record before, in field order; nil for an insertion.
  public var old: [SQLValue]? { content.old }
  /// The record after, in field order; nil for a deletion.
  public var new: [SQLValue]? { content.new }
  /// For an update, the fields whose value differs, in field order; otherwise empty.
  public var fields: [ChangedField] { content.fields }
  /// The origin of the insertion, the deletion or the first update of the record.
  public var origin: Origin { content.origin }
  /// The change that led to this one, if `origin` is a binding or a trigger; otherwise nil.
  public var cause: Cause? { content.cause }
  /// Whether the record was deleted and inserted again, which counts as an update.
  public var isRecreated: Bool { content.isRecreated }
  /// The record's key, without an array.
  var recordKey: RecordKey { content.key }
  /// The fields that differ, for routing.
  var changed: FieldMask { content.changed }

  /// Shared by copies, because each observer gets its own copy. A copy then retains one reference
  /// instead of ten.
  private let content: Content

  private final class Content: Sendable {
    let derivations = Derivations()
    let model: String
    let key: RecordKey
    let old: [SQLValue]?
    let new: [SQLValue]?
    let fields: [ChangedField]
    let origin: Origin
    let cause: Cause?
    let isRecreated: Bool
    /// Made once, because each observer compares it with the fields that it reads.
    let changed: FieldMask

    init(
      model: String, key: RecordKey, old: [SQLValue]?, new: [SQLValue]?, fields: [ChangedField],
      origin: Origin, cause: Cause?, isRecreated: Bool, changed: FieldMask
    ) {
      self.model = model
      self.key = key
      self.old = old
      self.new = new
      self.fields = fields
      self.origin = origin
      self.cause = cause
      self.isRecreated = isRecreated
      self.changed = changed
    }
  }

  /// - Parameter changed: The fields in which `old` and `new` differ, or more; nil to compare them.
  ///   Only the search for observers asks for them.
  init(
    model: String, key: RecordKey, old: [SQLValue]?, new: [SQLValue]?,
    fields: [ChangedField] = [], origin: Origin, cause: Cause? = nil, isRecreated: Bool = false,
    changed: FieldMask? = nil
  ) {
    content = Content(
      model: model, key: key, old: old, new: new, fields: fields, origin: origin, cause: cause,
      isRecreated: isRecreated, changed: changed ?? FieldMask(from: old, to: new))
  }

  /// Creates a change as the other initializer does, with the key's values in key order.
  init(
    model: String, key: [SQLValue], old: [SQLValue]?, new: [SQLValue]?,
    fields: [ChangedField] = [], origin: Origin, cause: Cause? = nil, isRecreated: Bool = false,
    changed: FieldMask? = nil
  ) {
    self.init(
      model: model, key: RecordKey(key), old: old, new: new, fields: fields, origin: origin,
      cause: cause, isRecreated: isRecreated, changed: changed)
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
    hasher.combine(recordKey)
    hasher.combine(old)
    hasher.combine(new)
  }

  /// Returns what observers derive from this change and share. The first caller makes it.
  func derived<Value: AnyObject & Sendable>(
    where fits: (Value) -> Bool, making make: () -> Value
  ) -> Value {
    content.derivations.value(where: fits, making: make)
  }

  /// The kind of change. An insertion has no old record, a deletion no new one.
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
  /// The origin of the field's last change.
  public let origin: Origin
  /// The change that led to this one, if `origin` is a binding or a trigger; otherwise nil.
  public let cause: Cause?

  init(name: String, old: SQLValue, new: SQLValue, origin: Origin, cause: Cause? = nil) {
    self.name = name
    self.old = old
    self.new = new
    self.origin = origin
    self.cause = cause
  }
}

/// The identity of a changed record.
struct ChangedRecord: Hashable, Sendable {
  let model: String
  let key: RecordKey
}

extension RecordChange {
  /// Returns both changes of one record as one, or nil when they cancel out. The key is that of the
  /// later change, which may be another key for the same record.
  func followed(
    by later: RecordChange, fields compared: [(index: Int, name: String)]
  ) -> RecordChange? {
    guard let old, let new = later.new else {
      guard self.old != nil || later.new != nil else { return nil }
      return RecordChange(
        model: model, key: later.recordKey, old: self.old, new: later.new, fields: [],
        origin: self.old == nil ? origin : later.origin,
        cause: self.old == nil ? cause : later.cause, isRecreated: false, changed: .all)
    }
    // If the record was deleted in between, its changes list no fields, so the records are
    // compared.
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
    // No observer is found by the fields of such a change, so they are not compared again.
    return RecordChange(
      model: model, key: later.recordKey, old: old, new: new, fields: fields, origin: origin,
      cause: cause, isRecreated: isRecreated || later.isRecreated || self.new == nil,
      changed: .all)
  }

  private func provenance(ofField name: String) -> Provenance? {
    fields.first { $0.name == name }.map { Provenance($0.origin, cause: $0.cause) }
  }
}
