/// Reads a file's change journal on one connection. Valid within one transaction.
struct JournalReader {
  let connection: Connection
  let layouts: JournalLayouts

  /// The highest position that can be read. Positions increase by one, so a higher row was written
  /// by hand, or follows such a row. After the highest possible rowid, SQLite would choose rowids
  /// at random: https://sqlite.org/autoinc.html
  static let positionMax: Int64 = 1 << 62

  /// Every trimming removes rows beyond it, so at least ``trimmingMargin`` more rows can be read.
  static let trimmingPositionMax = positionMax - trimmingMargin
  /// The highest position that trimming keeps when it removes such rows. The margin ensures that
  /// the next entries are not beyond ``trimmingPositionMax`` again.
  static let keptPositionMax = trimmingPositionMax - trimmingMargin
  /// More rows than a file writes between two trimmings.
  private static let trimmingMargin: Int64 = 1 << 32

  /// Returns the first and last position of the journal's rows; nil if it has none. Rows outside of
  /// 1...`limit` do not count.
  ///
  /// - Throws: ``StoreError`` with code `corrupt` if the rows are not in order.
  static func bounds(
    on connection: Connection, upTo limit: Int64 = positionMax
  ) throws -> ClosedRange<Int64>? {
    // Two seeks. With min() and max() in one SELECT, SQLite would read everything:
    // https://sqlite.org/optoverview.html#the_min_max_optimization
    try connection.firstRow(
      """
      SELECT
        (SELECT min(position) FROM _ms_journal WHERE position BETWEEN 1 AND \(limit)),
        (SELECT max(position) FROM _ms_journal WHERE position BETWEEN 1 AND \(limit))
      """
    ) { row in
      try bounds(
        first: row.isNull(at: 0) ? nil : try row.integer(at: 0),
        last: row.isNull(at: 1) ? nil : try row.integer(at: 1), upTo: limit)
    } ?? nil
  }

  /// Returns the bounds that SQLite found from both ends; nil if it found no row from either end.
  ///
  /// A damaged page can lead to a row outside of the requested range, or past all rows.
  ///
  /// - Throws: ``StoreError`` with code `corrupt` if an intact journal cannot have these ends.
  static func bounds(
    first: Int64?, last: Int64?, upTo limit: Int64 = positionMax
  ) throws(StoreError) -> ClosedRange<Int64>? {
    switch (first, last) {
    case (nil, nil): return nil
    case (let end?, nil), (nil, let end?): throw disordered(end)
    case (let first?, let last?):
      guard first >= 1 else { throw disordered(first) }
      guard last >= first, last <= limit else { throw disordered(last) }
      return first...last
    }
  }

  /// Returns the error for a row at an impossible position: a page of the file is damaged.
  static func disordered(_ position: Int64) -> StoreError {
    StoreError(
      .corrupt,
      "The rows of the change journal are not in order at position \(position), so a page of the file is damaged. Copy the file before you change anything; storecli doctor shows what else is damaged."
    )
  }

  /// Returns the number of rows in `bounds`.
  ///
  /// - Complexity: O(rows in `bounds`).
  static func rowCount(in bounds: ClosedRange<Int64>, on connection: Connection) throws -> Int64 {
    try connection.firstRow(
      """
      SELECT count(*)
      FROM _ms_journal
      WHERE position BETWEEN \(bounds.lowerBound) AND \(bounds.upperBound)
      """
    ) { row in try row.integer(at: 0) } ?? 0
  }

  /// Returns the position before the newest `count` rows of `bounds`. If there are no more rows
  /// than that, it returns the position before all of them.
  ///
  /// - Complexity: O(log rows) if positions have no gaps, as stores write them; otherwise
  ///   O(`count`).
  static func place(
    beforeNewest count: Int64, in bounds: ClosedRange<Int64>, on connection: Connection
  ) throws -> Int64 {
    let near = bounds.upperBound - max(0, count)
    guard near >= bounds.lowerBound else { return bounds.lowerBound - 1 }
    if near == bounds.upperBound { return near }
    if try isWithoutGaps(near + 1...bounds.upperBound, on: connection) { return near }
    let found = try connection.firstRow(
      """
      SELECT position
      FROM _ms_journal
      WHERE position BETWEEN \(bounds.lowerBound) AND \(bounds.upperBound)
      ORDER BY position DESC
      LIMIT 1 OFFSET \(count)
      """
    ) { row in try row.integer(at: 0) }
    guard let found else { return bounds.lowerBound - 1 }
    guard bounds.contains(found) else { throw disordered(found) }
    return found
  }

  /// Whether there are rows at positions that are evenly spread over `positions`, or at all of them
  /// if they are few. The check does not find a shorter gap between two of these positions.
  private static func isWithoutGaps(
    _ positions: ClosedRange<Int64>, on connection: Connection
  ) throws -> Bool {
    let (first, last) = (positions.lowerBound, positions.upperBound)
    let stride = (last - first) / sampleCount + 1
    return try connection.firstRow(
      """
      WITH RECURSIVE place (number) AS (
        VALUES (\(first))
        UNION ALL
        SELECT number + \(stride) FROM place WHERE number + \(stride) <= \(last)
      )
      SELECT 1
      FROM place
      WHERE NOT EXISTS (SELECT 1 FROM _ms_journal WHERE position = number)
      LIMIT 1
      """
    ) { row in try row.integer(at: 0) } == nil
  }

  private static let sampleCount: Int64 = 256

  /// Returns the position of the `count`th row after `start`, or `end` if there are fewer rows up
  /// to `end`.
  ///
  /// Pages of the journal are counted in rows, because positions may have gaps of any size.
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
    guard found > start, found <= end else { throw disordered(found) }
    return found
  }

  /// Returns the position of the journal's newest row, by one seek; nil if it has none.
  ///
  /// - Precondition: The file has a journal.
  static func newest(on connection: Connection) throws -> Int64? {
    try connection.firstRow("SELECT max(position) FROM _ms_journal") { row in
      row.isNull(at: 0) ? nil : try row.integer(at: 0)
    } ?? nil
  }

  /// Returns the position of the journal's newest row, 0 if it has none; nil if the file has no
  /// journal.
  ///
  /// - Throws: ``StoreError`` with code `journalGap` if the position is beyond ``positionMax``.
  static func end(on connection: Connection) throws -> Int64? {
    guard try JournalLayouts(reading: connection) != nil else { return nil }
    let end = try newest(on: connection) ?? 0
    guard end <= positionMax else { throw unreachable(end) }
    return max(0, end)
  }

  /// Returns the position of the next row; nil after a row that a store cannot write.
  ///
  /// - Precondition: The file has a journal.
  static func next(on connection: Connection) throws -> Int64? {
    let newest = try newest(on: connection) ?? 0
    return (0..<positionMax).contains(newest) ? newest + 1 : nil
  }

  /// Returns the error for a row beyond ``positionMax``. The order of later rows may be lost.
  static func unreachable(_ position: Int64) -> StoreError {
    StoreError(
      .journalGap,
      "The change journal has a row at position \(position), beyond the highest position that can be read, so the order of later changes is lost. Trim the journal to remove that row and all later rows; the models' records are not affected."
    )
  }

  /// Returns the values of the row at `position`, with its layout and its entry code first.
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

  /// Calls `body` with each entry whose rows are after `start` and at or before `end`, in order,
  /// until `body` returns false.
  ///
  /// - Throws: The error of `body`; ``StoreError`` with code `journalGap` for a row that a store
  ///   cannot write, and `corrupt` if the rows are not in order; ``ColumnError`` for a value that
  ///   cannot be read.
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
      try statement.bind(text)
      var last = start
      while try statement.step() {
        let row = try JournalRow(RowView(statement: statement.handle))
        // A damaged page can contain rows in any order.
        guard row.position > last, row.position <= end else {
          throw Self.disordered(row.position)
        }
        last = row.position
        for entry in try assembly.take(row) where try !body(entry) { return }
      }
      for entry in assembly.finish() where try !body(entry) { return }
    }
  }
}
