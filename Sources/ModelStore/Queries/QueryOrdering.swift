/// One step of a query's order: a field, its direction, the position of NULL and the collation.
package struct QueryOrdering: Hashable, Sendable {
  /// The direction of the order.
  package enum Direction: Hashable, Sendable {
    case ascending, descending
  }

  /// The position of records without a value.
  package enum NullPlacement: Hashable, Sendable {
    case first, last
  }

  /// The field's position in ``ModelSchema/fields``.
  package var fieldIndex: Int
  /// Whether small values come first, or large ones.
  package var direction: Direction
  /// nil for SQLite's default: NULL is smaller than everything, so first when ascending.
  package var nulls: NullPlacement?
  /// nil for the collation that the field was declared with.
  package var collation: Collation?

  /// Creates one step of an order. By default NULL goes where SQLite puts it, and text is compared
  /// by the field's collation.
  package init(
    fieldIndex: Int, direction: Direction = .ascending, nulls: NullPlacement? = nil,
    collation: Collation? = nil
  ) {
    self.fieldIndex = fieldIndex
    self.direction = direction
    self.nulls = nulls
    self.collation = collation
  }

  /// The position of NULL, with the default resolved.
  package var effectiveNulls: NullPlacement {
    nulls ?? (direction == .ascending ? .first : .last)
  }

  /// Returns the collation, with the default resolved.
  package func effectiveCollation(in schema: ModelSchema) -> Collation {
    collation ?? schema.fields[fieldIndex].collation
  }

  /// Returns the term of an ORDER BY clause. It names only what differs from SQLite's default for
  /// the column.
  func sql(schema: ModelSchema) -> String {
    let field = schema.fields[fieldIndex]
    var term = SQLText.quoted(field.column)
    if let collation, collation != field.collation {
      term += " COLLATE \(SQLText.quoted(collation.name))"
    }
    if direction == .descending { term += " DESC" }
    let standard: NullPlacement = direction == .ascending ? .first : .last
    if let nulls, nulls != standard { term += nulls == .first ? " NULLS FIRST" : " NULLS LAST" }
    return term
  }
}
