/// A table, view or other source whose rows a statement reads, as SQLite's authorizer reports it.
struct RowSource: Hashable {
  let name: String
  /// Nil if none of its columns are read, and for a source without a database: a subquery's name.
  let database: String?
}

extension Connection {
  /// Returns the sources whose rows a statement reads: tables and views, the tables behind views,
  /// table-valued functions, and the statement's own names of subqueries. It runs nothing.
  func sources(of sql: String) throws -> Set<RowSource> {
    noteDeferral(in: sql)
    // The first use of a table-valued function declares it, which reads the schema table itself.
    _ = try Statement(sql, on: handle, persistent: false)
    var sources: Set<RowSource> = []
    try hooks.noticingSources {
      _ = try Statement(sql, on: handle, persistent: false)
    } report: {
      sources.insert($0)
    }
    return sources
  }

  /// Returns the steps of SQLite's plan for a statement, one line each. Values of arguments are
  /// unknown, so the plan is that for any values: <https://sqlite.org/eqp.html>.
  func planSteps(of sql: String) throws -> [String] {
    // Not kept in the cache: it is read once.
    let statement = try Statement("EXPLAIN QUERY PLAN " + sql, on: handle, persistent: false)
    var steps: [String] = []
    try statement.forEachRow { row in steps.append(try row.text(at: 3)) }
    return steps
  }

  /// Whether SQLite answers a query from an index and in the index's order. The first rows then
  /// cost no more if there are many rows: <https://sqlite.org/eqp.html>.
  func isIndexed(_ text: SQLText) throws -> Bool {
    let steps = try rows(SQLText(sql: "EXPLAIN QUERY PLAN " + text.sql, arguments: text.arguments))
    {
      try $0.text(at: 3)
    }
    return steps.count == 1 && steps[0].hasPrefix("SEARCH ")
  }
}
