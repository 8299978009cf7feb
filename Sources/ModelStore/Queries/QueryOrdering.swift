/// One step of a query's order: a field, its direction, where NULL goes and how text compares.
package struct QueryOrdering: Hashable, Sendable {
  /// Which end of the order comes first.
  package enum Direction: Hashable, Sendable {
    case ascending, descending
  }

  /// Where records without a value stand.
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

  /// One step of an order; NULL goes where SQLite puts it, and text compares as the field declares,
  /// unless said otherwise.
  package init(
    fieldIndex: Int, direction: Direction = .ascending, nulls: NullPlacement? = nil,
    collation: Collation? = nil
  ) {
    self.fieldIndex = fieldIndex
    self.direction = direction
    self.nulls = nulls
    self.collation = collation
  }

  /// Where NULL goes, the default spelled out.
  package var effectiveNulls: NullPlacement {
    nulls ?? (direction == .ascending ? .first : .last)
  }

  /// How text compares, the default spelled out.
  package func effectiveCollation(in schema: ModelSchema) -> Collation {
    collation ?? schema.fields[fieldIndex].collation
  }

  /// The term of an ORDER BY clause. Says only what is not SQLite's default for the column.
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
