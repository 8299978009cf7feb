/// The change of one field of one record by a commit.
public struct FieldEvent<Value: Sendable>: Sendable {
  /// The old value; nil when the record did not exist, and after a reset, when it is unknown.
  public let old: Value?
  /// The new value; nil when the record does not exist, and in the phase
  /// ``ObservationPhase/before``.
  public let new: Value?
  /// The origin of the latest change of the field.
  public let origin: Origin
  /// The cause of the change, if `origin` is a binding or a trigger; otherwise nil.
  public let cause: Cause?
  /// The store version since which `new` is valid. After a reset, `new` was read on delivery, so it
  /// may already belong to a later commit. You still receive that commit, with an old value that
  /// you never received as a new one.
  public let version: UInt64
  /// Whether the change is not known exactly. `new` was then read from the store and may equal the
  /// previous value. This happens when another connection wrote, when the schema changed, and when
  /// the observation began while the transaction was running.
  public let isReset: Bool
  /// Whether this is the change itself, or an additional event requested by ``ObservationOptions``.
  public let phase: ObservationPhase

  /// The event to deliver before the change.
  var prior: Self {
    Self(
      old: old, new: nil, origin: origin, cause: cause, version: version, isReset: isReset,
      phase: .before)
  }
}

extension FieldEvent where Value: ExpressibleByNilLiteral {
  /// The old value of an optional field: nil for NULL, and wherever ``old`` is nil. Use ``old`` to
  /// distinguish a NULL value from a missing record.
  public var oldValue: Value { old ?? nil }

  /// The new value of an optional field: nil for NULL, and wherever ``new`` is nil.
  ///
  /// ```swift
  /// print(change.newValue ?? "no name")
  /// ```
  public var newValue: Value { new ?? nil }
}

/// The change of one of several observed fields of one record.
public struct NamedFieldEvent<M: Model>: Sendable {
  /// The field. Compare it with a key path: `change.field == \Album.title`.
  public let field: any PartialKeyPath<M> & Sendable
  /// The field's name.
  public let name: String
  /// The field's values as SQLite values.
  public let change: FieldEvent<SQLValue>
}

/// The change of one record by a commit.
public struct RecordEvent<M: Model>: Sendable {
  /// The old record; nil when it did not exist, and after a reset.
  public let old: M?
  /// The new record; nil when it does not exist, and in the phase ``ObservationPhase/before``.
  public let new: M?
  /// The fields that differ, in field order. If you observe certain fields, only those. Empty for
  /// an insertion, a deletion and a reset.
  public let fields: [ChangedField]
  /// The origin of the change that inserted, deleted or first updated the record.
  public let origin: Origin
  /// The cause of the change, if `origin` is a binding or a trigger; otherwise nil.
  public let cause: Cause?
  public let version: UInt64
  public let isReset: Bool
  /// Whether this is the change itself, or an additional event requested by ``ObservationOptions``.
  public let phase: ObservationPhase

  /// The event to deliver before the change.
  var prior: Self {
    Self(
      old: old, new: nil, fields: fields, origin: origin, cause: cause, version: version,
      isReset: isReset, phase: .before)
  }
}

/// The changes of a model's records by one commit.
public struct ModelEvent<M: Model>: Sendable {
  /// In the order in which the transaction first touched the records.
  public let changes: [ModelChange<M>]
  public let version: UInt64
  /// Whether another connection wrote or the schema changed. `changes` may then be incomplete.
  public let isReset: Bool
}
