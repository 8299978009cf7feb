/// What statements delete: a table, a column, or records of a table.
package enum SchemaLoss: Hashable, Sendable {
  case table(String)
  case column(String, of: String)
  /// By DELETE, so perhaps not all of them.
  case records(of: String)

  /// A full sentence.
  package var sentence: String {
    switch self {
    case .table(let table): "The table \(table) is deleted with its records."
    case .column(let column, let table): "The values of \(table).\(column) are deleted."
    case .records(let table): "Records of \(table) are deleted."
    }
  }

  /// Counts the records or values that go; nil if only running the statements says it.
  package var count: SQLText? {
    switch self {
    case .table(let table): "SELECT count(*) FROM main.\(identifier: table)"
    case .column(let column, let table):
      "SELECT count(\(identifier: column)) FROM main.\(identifier: table)"
    case .records: nil
    }
  }
}
