/// Reads a file's change journal on one connection. What it says holds within one transaction.
struct JournalReader {
  let connection: Connection
  let layouts: JournalLayouts

  /// Where the journal's rows begin and end; nil when it has none.
  static func bounds(on connection: Connection) throws -> ClosedRange<Int64>? {
    // Two seeks; min() and max() in one SELECT would read everything:
    // https://sqlite.org/optoverview.html#the_min_max_optimization
    try connection.firstRow(
      """
      SELECT (SELECT min(position) FROM _ms_journal), (SELECT max(position) FROM _ms_journal)
      """
    ) { row in
      row.isNull(at: 0) ? nil : try row.integer(at: 0)...row.integer(at: 1)
    } ?? nil
  }

  /// The position of the journal's newest row, by one seek; nil when it has none.
  ///
  /// - Precondition: The file has a journal.
  static func newest(on connection: Connection) throws -> Int64? {
    try connection.firstRow("SELECT max(position) FROM _ms_journal") { row in
      row.isNull(at: 0) ? nil : try row.integer(at: 0)
    } ?? nil
  }

  /// The position of the journal's newest row, 0 when it has none; nil when the file has no
  /// journal.
  static func end(on connection: Connection) throws -> Int64? {
    guard try JournalLayouts(reading: connection) != nil else { return nil }
    return try newest(on: connection) ?? 0
  }

  /// The values of the row at `position`, its layout and its entry before them.
  ///
  /// - Precondition: The file has a journal.
  static func row(at position: Int64, on connection: Connection) throws -> [SQLValue]? {
    let columns = SQLText(sql: JournalRow.columns)
    return try connection.firstRow(
      "SELECT \(columns) FROM _ms_journal WHERE position = \(position)"
    ) { row in
      let row = try JournalRow(row)
      return [.integer(row.layout), .integer(row.entry)] + row.values
    }
  }

  /// Calls `body` with each entry whose rows lie behind `start` and not behind `end`, in order,
  /// until it returns false.
  ///
  /// - Throws: What `body` throws; ``StoreError`` with code `journalGap` for a row that no store
  ///   writes; ``ColumnError`` for a value that cannot be read.
  func forEachEntry(
    after start: Int64, through end: Int64 = .max, _ body: (JournalEntry) throws -> Bool
  ) throws {
    var assembly = JournalAssembly(layouts: layouts.all)
    let text: SQLText = """
      SELECT \(SQLText(sql: JournalRow.columns))
      FROM _ms_journal
      WHERE position > \(start) AND position <= \(end)
      ORDER BY position
      """
    try connection.withStatement(text.sql) { statement in
      try statement.bind(text.arguments)
      while try statement.step() {
        let row = try JournalRow(RowView(statement: statement.handle))
        for entry in try assembly.take(row) where try !body(entry) { return }
      }
      for entry in assembly.finish() where try !body(entry) { return }
    }
  }
}
