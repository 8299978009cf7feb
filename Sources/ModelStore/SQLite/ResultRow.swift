/// One row of a raw SQL statement, copied from SQLite.
public struct ResultRow: Hashable, Sendable {
  /// The names of the columns as SQLite reports them.
  public let columns: [String]
  /// The values, in the order of the columns.
  public let values: [SQLValue]

  /// The value in the first column called `name`; nil if there is no such column.
  public subscript(name: String) -> SQLValue? {
    columns.firstIndex(of: name).map { values[$0] }
  }
}
