/// The change of one record of a Swift model.
public struct ModelChange<M: Model>: Sendable {
  /// The same change without the Swift type: key, changed fields, and values as SQLite stores them.
  public let change: RecordChange
  /// The record before; nil for an insertion.
  public let old: M?
  /// The record after; nil for a deletion.
  public let new: M?

  init(_ change: RecordChange) throws {
    self.change = change
    do {
      old = try change.old.map { try M(row: RowView(image: $0)) }
      new = try change.new.map { try M(row: RowView(image: $0)) }
    } catch let error as ColumnError {
      throw StoreError(error, reading: M.schema)
    }
  }

  /// Whether the record was inserted, updated or deleted.
  public var operation: RecordChange.Operation { change.operation }

  /// The origin of the insertion, the deletion or the first update of the record.
  public var origin: Origin { change.origin }

  /// The change that led to this one, if ``origin`` is a binding or a trigger; otherwise nil.
  public var cause: Cause? { change.cause }

  /// Whether the field at `path` differs; true for every field of an insertion or deletion.
  public func changed(_ path: any PartialKeyPath<M> & Sendable) -> Bool {
    guard let index = M.definition.fieldIndex(of: path) else { return false }
    return change.operation != .update
      || change.fields.contains { $0.name == M.schema.fields[index].name }
  }
}
