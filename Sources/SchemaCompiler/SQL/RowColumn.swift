/// A column of one row in SQL: of NEW, of OLD, of a table or of an alias.
package struct RowColumn: Hashable, Sendable, CustomStringConvertible {
  /// The name of the row in SQL.
  package let row: String
  /// The name of the column, not quoted.
  package let column: String

  package init(_ row: String, _ field: FieldSchema) {
    self.row = row
    column = field.column
  }

  /// The column in SQL.
  package var sql: String { "\(row).\(SQLText.quoted(column))" }

  package var description: String { sql }
}

extension ResolvedBinding.Link {
  /// Returns conditions that are true if `row` is the one record that the link names. Empty if the
  /// link names no single record.
  package func place(of row: String) -> [String] {
    place.map { "\(RowColumn(row, $0.field)) = \($0.literal)" }
  }
}

extension RowColumn {
  /// Returns a condition that is true if the two rows have the same values in `fields` and
  /// `others`, compared one by one with `comparison`. The collation of the left row's columns
  /// decides.
  package static func matching(
    _ fields: [FieldSchema], of row: String, _ comparison: String, _ others: [FieldSchema],
    of other: String
  ) -> String {
    zip(fields, others)
      .map { "\(RowColumn(row, $0)) \(comparison) \(RowColumn(other, $1))" }
      .joined(separator: " AND ")
  }
}
