/// Something that a statement reads rows of, as SQLite's authorizer tells it.
struct RowSource: Hashable {
  let name: String
  /// Nil where none of its columns are read, and for what is in no database: a subquery's name.
  let database: String?
}

extension Connection {
  /// What a statement reads rows of: tables and views, those behind views included, table-valued
  /// functions, and names that the statement itself gives to subqueries. Runs nothing.
  func sources(of sql: String) throws -> Set<RowSource> {
    // The first use of a table-valued function declares it, which reads the schema's own table.
    _ = try Statement(sql, on: handle, persistent: false)
    var sources: Set<RowSource> = []
    try hooks.noticingSources {
      _ = try Statement(sql, on: handle, persistent: false)
    } report: {
      sources.insert($0)
    }
    return sources
  }

  /// Whether SQLite answers a query from an index and in the index's order, so that the first rows
  /// cost no more when there are many: <https://sqlite.org/eqp.html>.
  func isIndexed(_ text: SQLText) throws -> Bool {
    let steps = try rows(SQLText(sql: "EXPLAIN QUERY PLAN " + text.sql, arguments: text.arguments))
    {
      try $0.text(at: 3)
    }
    return steps.count == 1 && steps[0].hasPrefix("SEARCH ")
  }
}
