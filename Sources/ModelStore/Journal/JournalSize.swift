/// The size of a change journal in its file.
enum JournalSize {
  /// Returns the bytes of the journal's pages if SQLite can count them, which reads all of them;
  /// otherwise an estimate.
  ///
  /// - Parameter rowCount: The number of rows in `bounds`.
  static func total(
    on connection: Connection, in bounds: ClosedRange<Int64>?, rowCount: Int
  ) throws -> Int64 {
    let isMeasurable = try connection.firstRow(
      "SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'"
    ) { row in try row.integer(at: 0) }
    if isMeasurable != nil {
      // https://sqlite.org/dbstat.html
      return try connection.firstRow(
        "SELECT sum(pgsize) FROM dbstat WHERE name = '_ms_journal' AND aggregate = 1"
      ) { row in row.isNull(at: 0) ? 0 : try row.integer(at: 0) } ?? 0
    }
    return try bounds.map { bounds in
      estimate(rowCount: rowCount, rowSize: try ofRow(on: connection, in: bounds))
    } ?? 0
  }

  /// Computed with saturation, because the product may overflow Int64.
  static func estimate(rowCount: Int, rowSize: Double) -> Int64 {
    let size = Double(rowCount) * rowSize
    return size < 0x1p63 ? Int64(size) : .max
  }

  /// Returns the approximate number of bytes per row, from evenly spread rows; at least 1.
  static func ofRow(on connection: Connection, in bounds: ClosedRange<Int64>) throws -> Double {
    let stride = max(1, bounds.upperBound - bounds.lowerBound) / sampleCount + 1
    let values = (0..<JournalLayout.columnCount)
      .map { "ifnull(length(CAST(c\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    let text: SQLText = """
      WITH RECURSIVE place (position) AS (
        VALUES (\(bounds.lowerBound))
        UNION ALL
        SELECT position + \(stride) FROM place WHERE position + \(stride) <= \(bounds.upperBound)
      )
      SELECT avg(\(SQLText(sql: values))) FROM _ms_journal JOIN place USING (position)
      """
    let mean = try connection.firstRow(text) { row in row.isNull(at: 0) ? 0 : try row.real(at: 0) }
    return (mean ?? 0) + overhead
  }

  private static let sampleCount: Int64 = 128
  /// The bytes of a row without its values: the record's header, the numbers before the values, and
  /// the row's share of its page.
  private static let overhead = 28.0
}
