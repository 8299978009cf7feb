extension Adoption {
  /// Returns the tables and views of the file in name order, without those of the store and of
  /// SQLite.
  ///
  /// - Complexity: Searches key columns that accept NULL for a NULL; otherwise it reads no rows.
  func tables(on connection: Connection) throws -> [AdoptableTable] {
    try catalog.tables.map { table in
      let reading = TableReading(table: table, catalog: catalog)
      if let reason = reading.refusal { return reading.refused(reason) }
      let warnings = try warnings(about: table, on: connection)
      guard table.kind == .table else { return reading.view(notes: warnings) }
      let nullableKey = reading.nullableKey
      let holdsNull =
        try !nullableKey.isEmpty && table.missingCollations.isEmpty
        && hasNull(nullableKey, in: table, on: connection)
      return reading.table(nullableKey: nullableKey, holdsNull: holdsNull, warnings: warnings)
    }
  }

  /// Returns what only the program that created the table can do with it, one sentence each.
  private func warnings(about table: TableFacts, on connection: Connection) throws -> [String] {
    let reading = try table.missingForReading(on: connection)
    let writing = try table.missingForWriting(on: connection).filter { !reading.contains($0) }
    return reading.map { missing in
      """
      \(StoreError.sentence(table.name, needs: [missing])) Reading and writing its records fails \
      where SQLite needs it. Use the program that created the table.
      """
    }
      + writing.map { missing in
        """
        Writing \(StoreError.sentence(table.name, needs: [missing])) Its records can be read here; \
        write them with the program that created the table.
        """
      }
  }

  private func hasNull(
    _ columns: [String], in table: TableFacts, on connection: Connection
  ) throws -> Bool {
    let condition = columns.map { "\(SQLText.quoted($0)) IS NULL" }.joined(separator: " OR ")
    let found = try connection.firstRow(
      "SELECT 1 FROM \(identifier: table.name) WHERE \(SQLText(sql: condition)) LIMIT 1"
    ) { row in try row.integer(at: 0) }
    return found != nil
  }
}
