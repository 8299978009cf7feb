/// Reads a file's change journal on one connection. What it says holds within one transaction.
struct JournalReader {
  let connection: Connection
  let layouts: JournalLayouts

  /// The highest position that a store writes to. Positions ascend by one, so a row beyond it was
  /// written by hand. Behind the highest rowid of all, SQLite would assign rowids at random:
  /// https://sqlite.org/autoinc.html
  static let positionMax: Int64 = 1 << 62

  /// Where the journal's rows begin and end; nil when it has none. Rows outside of
  /// 1...``positionMax`` do not count.
  static func bounds(on connection: Connection) throws -> ClosedRange<Int64>? {
    // Two seeks; min() and max() in one SELECT would read everything:
    // https://sqlite.org/optoverview.html#the_min_max_optimization
    try connection.firstRow(
      """
      SELECT
        (SELECT min(position) FROM _ms_journal WHERE position >= 1),
        (SELECT max(position) FROM _ms_journal WHERE position <= \(positionMax))
      """
    ) { row in
      guard !row.isNull(at: 0), !row.isNull(at: 1) else { return nil }
      let (first, last) = (try row.integer(at: 0), try row.integer(at: 1))
      // A damaged page can lead to a row that was not asked for.
      guard first >= 1 else { throw JournalAssembly.damaged(first) }
      guard last <= positionMax else { throw unreachable(last) }
      return first <= last ? first...last : nil
    } ?? nil
  }

  /// The position of the row that is the `count`th behind `start`, or `end` when there are fewer
  /// rows up to there.
  ///
  /// Pages of the journal are counted in rows: positions may have gaps of any size.
  ///
  /// - Complexity: O(`count`).
  static func place(
    ofRow count: Int64, behind start: Int64, upTo end: Int64, on connection: Connection
  ) throws -> Int64 {
    let (near, isTooLarge) = start.addingReportingOverflow(count)
    if isTooLarge || near >= end { return end }
    let found = try connection.firstRow(
      """
      SELECT position
      FROM _ms_journal
      WHERE position > \(start) AND position <= \(end)
      ORDER BY position
      LIMIT 1 OFFSET \(count - 1)
      """
    ) { row in try row.integer(at: 0) }
    guard let found else { return end }
    guard found > start, found <= end else { throw JournalAssembly.damaged(found) }
    return found
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
  ///
  /// - Throws: ``StoreError`` with code `journalGap` when it is beyond ``positionMax``.
  static func end(on connection: Connection) throws -> Int64? {
    guard try JournalLayouts(reading: connection) != nil else { return nil }
    let end = try newest(on: connection) ?? 0
    guard end <= positionMax else { throw unreachable(end) }
    return max(0, end)
  }

  /// The position that the next row gets; nil behind a row that no store writes.
  ///
  /// - Precondition: The file has a journal.
  static func next(on connection: Connection) throws -> Int64? {
    let newest = try newest(on: connection) ?? 0
    return (0..<positionMax).contains(newest) ? newest + 1 : nil
  }

  /// That a row is beyond ``positionMax``, so that the order of the rows after it is lost.
  static func unreachable(_ position: Int64) -> StoreError {
    StoreError(
      .journalGap,
      "The change journal has a row at position \(position), which is beyond every position that a store writes, so the order of later changes is lost. Trim the journal to remove that row; the models' records are not affected."
    )
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
      var last = start
      while try statement.step() {
        let row = try JournalRow(RowView(statement: statement.handle))
        // A damaged page can hold rows in any order.
        guard row.position > last, row.position <= end else {
          throw JournalAssembly.damaged(row.position)
        }
        last = row.position
        for entry in try assembly.take(row) where try !body(entry) { return }
      }
      for entry in assembly.finish() where try !body(entry) { return }
    }
  }
}
