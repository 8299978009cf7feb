/// Reads the rows of a table in the order of its key, some at a time.
struct RowBatches {
  struct Batch {
    let rows: [ResultRow]
    /// The key of the last row; nil for an empty batch.
    let lastKey: [SQLValue]?
  }

  /// The number of rows at the beginning.
  let count: Int
  private let table: String
  private let columns: [String]
  private let key: [String]
  /// The greatest key at the beginning; nil for an empty table.
  private let end: [SQLValue]?

  /// - Returns: nil if there is no such table, or no key by which its rows can be ordered.
  init?(of table: String, columns: [String], on connection: Connection) throws {
    let catalog = try Catalog(reading: connection, only: [table])
    guard let facts = catalog.table(named: table), facts.kind == .table else { return nil }
    let rowID = facts.rowIDColumn?.name ?? facts.hiddenRowIDName
    // Only tables without rowids have keys without NULLs for certain.
    key = facts.isWithoutRowID ? facts.primaryKey.map(\.name) : rowID.map { [$0] } ?? []
    guard !key.isEmpty else { return nil }
    self.table = facts.name
    self.columns = columns
    let list = key.map(SQLText.quoted)
    let source = "main.\(SQLText.quoted(facts.name))"
    count =
      try connection.firstRow(SQLText(sql: "SELECT count(*) FROM \(source)")) { row in
        Int(try row.integer(at: 0))
      } ?? 0
    end = try connection.firstRow(
      SQLText(
        sql: """
          SELECT \(list.joined(separator: ", "))
          FROM \(source)
          ORDER BY \(list.map { "\($0) DESC" }.joined(separator: ", "))
          LIMIT 1
          """)
    ) { row in try row.values() }
  }

  /// Returns the next rows.
  ///
  /// - Parameter last: The last key of the batch before; nil for the first batch.
  func rows(
    after last: [SQLValue]?, atMost size: Int, on connection: Connection
  ) throws -> Batch {
    guard let end else { return Batch(rows: [], lastKey: nil) }
    let keys = SQLText.quotedList(key)
    let places = key.map { _ in "?" }.joined(separator: ", ")
    let start = last == nil ? "" : "(\(keys)) > (\(places)) AND "
    let text = SQLText(
      sql: """
        SELECT \(SQLText.quotedList(key + columns))
        FROM main.\(SQLText.quoted(table))
        WHERE \(start)(\(keys)) <= (\(places))
        ORDER BY \(keys)
        LIMIT \(size)
        """, arguments: (last ?? []) + end)
    var lastKey: [SQLValue]?
    let rows = try connection.rows(text) { row in
      let values = try row.values()
      lastKey = Array(values.prefix(key.count))
      return ResultRow(columns: columns, values: Array(values.dropFirst(key.count)))
    }
    return Batch(rows: rows, lastKey: lastKey)
  }
}
