extension Connection {
  /// The names of the tables and views that a statement reads, those behind views included. Runs
  /// nothing.
  func tablesRead(by sql: String) throws -> Set<String> {
    var tables: Set<String> = []
    try hooks.noticingTables {
      _ = try Statement(sql, on: handle, persistent: false)
    } report: {
      tables.insert($0)
    }
    return tables
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
