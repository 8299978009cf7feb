/// One field of one record before and after a commit.
public struct FieldEvent<Value: Sendable>: Sendable {
  /// The value before; nil when the record did not exist, and after a reset, when it is not known.
  public let old: Value?
  /// The value after; nil when the record does not exist, and in the phase
  /// ``ObservationPhase/before``.
  public let new: Value?
  /// Who set the field last.
  public let origin: Origin
  /// What the change answers, where `origin` is a binding or a trigger; otherwise nil.
  public let cause: Cause?
  /// The store's version from which on `new` holds. After a reset `new` was read when it was told,
  /// so it may be of a later commit already; that is told all the same, with an old value that
  /// nobody was told of.
  public let version: UInt64
  /// Whether the change could not be followed: another connection wrote, the schema changed, or the
  /// observation began while the transaction was running. `new` was read anew and may equal what it
  /// was.
  public let isReset: Bool
  /// Whether this is the change itself, or what ``ObservationOptions`` asked for besides.
  public let phase: ObservationPhase

  /// What is told before the change, on request.
  var prior: Self {
    Self(
      old: old, new: nil, origin: origin, cause: cause, version: version, isReset: isReset,
      phase: .before)
  }
}

extension FieldEvent where Value: ExpressibleByNilLiteral {
  /// The value before, of an optional field: nil for NULL, and wherever ``old`` is nil. Use ``old``
  /// to tell a record without a value from no record.
  public var oldValue: Value { old ?? nil }

  /// The value after, of an optional field: nil for NULL, and wherever ``new`` is nil.
  ///
  /// ```swift
  /// print(change.newValue ?? "no name")
  /// ```
  public var newValue: Value { new ?? nil }
}

/// One of several observed fields of one record, before and after a commit.
public struct NamedFieldEvent<M: Model>: Sendable {
  /// Which field; compare it with a key path: `change.field == \Album.title`.
  public let field: any PartialKeyPath<M> & Sendable
  /// The field's name.
  public let name: String
  /// Its values as SQLite has them.
  public let change: FieldEvent<SQLValue>
}

/// One record before and after a commit.
public struct RecordEvent<M: Model>: Sendable {
  /// The record before; nil when it did not exist, and after a reset.
  public let old: M?
  /// The record after; nil when it does not exist, and in the phase ``ObservationPhase/before``.
  public let new: M?
  /// The fields that differ, in field order; of those that were asked for, if any were. Empty for
  /// an insertion, a deletion and a reset.
  public let fields: [ChangedField]
  /// Who inserted, deleted or first updated the record.
  public let origin: Origin
  /// What the change answers, where `origin` is a binding or a trigger; otherwise nil.
  public let cause: Cause?
  public let version: UInt64
  public let isReset: Bool
  /// Whether this is the change itself, or what ``ObservationOptions`` asked for besides.
  public let phase: ObservationPhase

  /// What is told before the change, on request.
  var prior: Self {
    Self(
      old: old, new: nil, fields: fields, origin: origin, cause: cause, version: version,
      isReset: isReset, phase: .before)
  }
}

/// What one commit did to the records of a model.
public struct ModelEvent<M: Model>: Sendable {
  /// By first touch within the transaction.
  public let changes: [ModelChange<M>]
  public let version: UInt64
  /// Whether another connection wrote or the schema changed, so that more may have changed than is
  /// listed. The event cannot say what: read what you derive from the model again.
  ///
  /// To keep copies of records, observe a ``LiveQuery`` instead. Its events can always be applied.
  public let isReset: Bool
}
