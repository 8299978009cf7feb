/// Runs ALTER TABLE so that the rows store a new column's default, not only the schema.
///
/// SQLite does not change existing rows. They read as the default, but the preupdate hook reports
/// NULL as their old value. Rewriting the rows in the same transaction makes both agree. See
/// <https://sqlite.org/lang_altertable.html#altertabaddcol>.
enum AddedColumns {
  /// - Precondition: `connection` is in a write transaction.
  /// - Complexity: Linear in the table's rows when the statement adds a column with a default.
  static func run(_ statement: SQLText, on connection: Connection) throws {
    let names = alteredTable(statement.sql).map { [$0] }
    let before = try Catalog(reading: connection, only: names)
    try connection.run(statement)
    let after = try Catalog(reading: connection, only: names)
    for table in after.tables where table.kind == .table {
      guard let old = before.table(named: table.name) else { continue }
      let added = table.columns.first { column in
        column.defaultSQL != nil && column.generated == nil && old.column(named: column.name) == nil
      }
      if let added { try rewrite(table, touching: added, on: connection) }
    }
  }

  /// Returns the name of the table, which a statement that adds a column keeps.
  ///
  /// - Returns: nil if the statement names no table.
  private static func alteredTable(_ statement: String) -> String? {
    let source = SQLTokens(statement)
    let names = source.significant.dropFirst(2).map(source.name)
    return names.dropFirst().first == "." ? names.dropFirst(2).first : names.first
  }

  /// Rewrites every row without firing the table's triggers, because no value changes.
  private static func rewrite(
    _ table: TableFacts, touching column: ColumnFacts, on connection: Connection
  ) throws {
    for trigger in table.triggers {
      try connection.run("DROP TRIGGER \(identifier: trigger.name)")
    }
    try connection.run(
      """
      UPDATE \(identifier: table.name)
      SET \(identifier: column.name) = \(identifier: column.name)
      """)
    for trigger in table.triggers { try connection.run(SQLText(sql: trigger.sql)) }
  }
}
