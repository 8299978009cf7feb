extension Catalog {
  /// Reads the main schema from one snapshot.
  ///
  /// - Throws: ``SQLiteError``; ``ColumnError`` if a name in the file is not UTF-8;
  ///   ``ConnectionFailure`` if the snapshot could not be released.
  /// - Parameter names: The tables and views to read; nil for all.
  /// - Complexity: About five small statements for each table, and three for all.
  init(reading connection: Connection, only names: [String]? = nil) throws {
    let wanted = names.map { Set($0.map { ExactText($0.asciiFolded) }) }
    self = try connection.inOneState { try Self.read(connection, wanted) }
  }

  private static func read(
    _ connection: Connection, _ wanted: Set<ExactText>?
  ) throws -> Catalog {
    let version = try connection.schemaVersion()
    let listed = try connection.rows(
      """
      SELECT l.name, l.type, l.wr, l.strict, coalesce(s.sql, '')
      FROM pragma_table_list AS l
      JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
      WHERE l.schema = 'main'
      """
    ) { row in
      TableFacts(
        name: try row.text(at: 0), kind: TableFacts.Kind(rawValue: try row.text(at: 1)) ?? .virtual,
        isWithoutRowID: try row.integer(at: 2) != 0, isStrict: try row.integer(at: 3) != 0,
        sql: try row.text(at: 4))
    }
    let triggers = try self.triggers(connection)
    let partialIndexes = try self.partialIndexes(connection)
    return Catalog(
      schemaVersion: version,
      tables: try listed.compactMap { table in
        if let wanted, !wanted.contains(ExactText(table.name.asciiFolded)) { return nil }
        var table = table
        table.triggers = triggers[ExactText(table.name.asciiFolded)] ?? []
        try table.readDetails(connection, partialIndexes: partialIndexes)
        return table
      })
  }

  /// Returns the triggers by the folded name of their table, in the order of creation.
  private static func triggers(_ connection: Connection) throws -> [ExactText: [TriggerFacts]] {
    let rows = try connection.rows(
      """
      SELECT tbl_name, name, sql
      FROM sqlite_schema
      WHERE type = 'trigger'
      ORDER BY rowid
      """
    ) { row in
      (
        table: ExactText(try row.text(at: 0).asciiFolded),
        trigger: TriggerFacts(name: try row.text(at: 1), sql: try row.text(at: 2))
      )
    }
    return Dictionary(grouping: rows, by: \.table).mapValues { $0.map(\.trigger) }
  }

  /// Returns the texts of all partial indexes, and possibly of other indexes, by name. It reads all
  /// tables at once, because `sqlite_schema` can only be scanned.
  private static func partialIndexes(_ connection: Connection) throws -> [ExactText: String] {
    let rows = try connection.rows(
      """
      SELECT name, sql
      FROM sqlite_schema
      WHERE type = 'index' AND instr(upper(sql), 'WHERE') > 0
      """
    ) { row in (ExactText(try row.text(at: 0)), try row.text(at: 1)) }
    return Dictionary(rows) { first, _ in first }
  }
}
