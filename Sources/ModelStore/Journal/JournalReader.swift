/// Reads a file's change journal on one connection. What it says holds within one transaction.
struct JournalReader {
  let connection: Connection
  let layouts: JournalLayouts

  /// The highest position that can be read. Positions ascend by one, so a row beyond it was written
  /// by hand, or follows one that was. Behind the highest rowid of all, SQLite would assign rowids
  /// at random: https://sqlite.org/autoinc.html
  static let positionMax: Int64 = 1 << 62

  /// Rows beyond it go with every trimming, so that at least ``trimmingMargin`` more can be read.
  static let trimmingPositionMax = positionMax - trimmingMargin
  /// What trimming keeps when it removes such rows. Below ``trimmingPositionMax`` by the margin, so
  /// that what is entered next is not beyond it again.
  static let keptPositionMax = trimmingPositionMax - trimmingMargin
  /// More rows than a file has between two trimmings.
  private static let trimmingMargin: Int64 = 1 << 32

  /// Where the journal's rows begin and end; nil when it has none. Rows outside of 1...`limit` do
  /// not count.
  ///
  /// - Throws: ``StoreError`` with code `corrupt` when the rows are not in order.
  static func bounds(
    on connection: Connection, upTo limit: Int64 = positionMax
  ) throws -> ClosedRange<Int64>? {
    // Two seeks; min() and max() in one SELECT would read everything:
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

  /// The bounds that SQLite found from both ends; nil where it found no row from either.
  ///
  /// A damaged page can lead to a row that was not asked for, or past all rows.
  ///
  /// - Throws: ``StoreError`` with code `corrupt` when no journal in order has these ends.
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

  /// That SQLite returned a row where rows in order cannot have it: a page of the file is damaged.
  static func disordered(_ position: Int64) -> StoreError {
    StoreError(
      .corrupt,
      "The rows of the change journal are not in order at position \(position), so a page of the file is damaged. Copy the file before you change anything; storecli doctor shows what else is damaged."
    )
  }

  /// How many rows there are in `bounds`.
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

  /// The position behind which the newest `count` rows of `bounds` are; one before all of them when
  /// there are no more.
  ///
  /// - Complexity: O(log rows) where positions have no gaps, as stores write them; otherwise
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

  /// Whether rows stand at places that are evenly spread over `positions`: at all of them, where
  /// they are few. A shorter gap between two places is not found.
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
    guard found > start, found <= end else { throw disordered(found) }
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

  /// That a row is beyond ``positionMax``, so that the order of the rows after it can be lost.
  static func unreachable(_ position: Int64) -> StoreError {
    StoreError(
      .journalGap,
      "The change journal has a row at position \(position), which is beyond every position that can be read, so the order of later changes is lost. Trim the journal to remove that row and what follows it; the models' records are not affected."
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
  ///   writes, and `corrupt` when the rows are not in order; ``ColumnError`` for a value that
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
        // A damaged page can hold rows in any order.
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
