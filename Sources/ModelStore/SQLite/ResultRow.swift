/// One row of a raw SQL statement, owned.
public struct ResultRow: Hashable, Sendable {
  /// As SQLite names them.
  public let columns: [String]
  /// The values, in the order of the columns.
  public let values: [SQLValue]

  /// The value in the first column called `name`; nil when there is none.
  public subscript(name: String) -> SQLValue? {
    columns.firstIndex(of: name).map { values[$0] }
  }
}
