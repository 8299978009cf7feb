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
}
