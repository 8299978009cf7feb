/// A column of one row in SQL: of NEW, of OLD, of a table or of an alias.
struct RowColumn: Hashable, Sendable, CustomStringConvertible {
  /// As it stands in SQL.
  let row: String
  /// Not quoted.
  let column: String

  init(_ row: String, _ field: FieldSchema) {
    self.row = row
    column = field.column
  }

  /// The column as it stands in SQL.
  var sql: String { "\(row).\(SQLText.quoted(column))" }

  var description: String { sql }
}

extension ResolvedBinding.Link {
  /// True where `row` is the one record that the link names; no condition where it names none.
  func place(of row: String) -> [String] {
    place.map { "\(RowColumn(row, $0.field)) = \($0.literal)" }
  }
}

extension RowColumn {
  /// True where the two rows have the same values in `fields` and `others`, compared one by one
  /// with `comparison`. The collation of the left row's columns decides.
  static func matching(
    _ fields: [FieldSchema], of row: String, _ comparison: String, _ others: [FieldSchema],
    of other: String
  ) -> String {
    zip(fields, others)
      .map { "\(RowColumn(row, $0)) \(comparison) \(RowColumn(other, $1))" }
      .joined(separator: " AND ")
  }
}
