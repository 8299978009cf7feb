/// A column of one row in SQL: of NEW, of OLD, of a table or of an alias.
package struct RowColumn: Hashable, Sendable, CustomStringConvertible {
  /// As it stands in SQL.
  package let row: String
  /// Not quoted.
  package let column: String

  package init(_ row: String, _ field: FieldSchema) {
    self.row = row
    column = field.column
  }

  /// The column as it stands in SQL.
  package var sql: String { "\(row).\(SQLText.quoted(column))" }

  package var description: String { sql }
}

extension ResolvedBinding.Link {
  /// True where `row` is the one record that the link names; no condition where it names none.
  package func place(of row: String) -> [String] {
    place.map { "\(RowColumn(row, $0.field)) = \($0.literal)" }
  }
}

extension RowColumn {
  /// True where the two rows have the same values in `fields` and `others`, compared one by one
  /// with `comparison`. The collation of the left row's columns decides.
  package static func matching(
    _ fields: [FieldSchema], of row: String, _ comparison: String, _ others: [FieldSchema],
    of other: String
  ) -> String {
    zip(fields, others)
      .map { "\(RowColumn(row, $0)) \(comparison) \(RowColumn(other, $1))" }
      .joined(separator: " AND ")
  }
}
