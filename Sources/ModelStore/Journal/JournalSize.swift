/// How much of the file a change journal takes.
enum JournalSize {
  /// The bytes of the journal's pages where SQLite can tell, which reads them all; otherwise an
  /// estimate.
  ///
  /// - Parameter rowCount: How many rows there are in `bounds`.
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

  /// The product may be more than an Int64 holds.
  static func estimate(rowCount: Int, rowSize: Double) -> Int64 {
    let size = Double(rowCount) * rowSize
    return size < 0x1p63 ? Int64(size) : .max
  }

  /// About how many bytes a row takes, from rows that are evenly spread; at least 1.
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
  /// The bytes of a row beside its values: the record's header, the numbers before the values, and
  /// the row's share of its page.
  private static let overhead = 28.0
}
