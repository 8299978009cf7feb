import CSQLite

/// Writes values that no store writes into the store's own tables: the pages stay sound, the rows
/// of the change journal and of the catalog do not.
struct HostileRows {
  let path: String

  private static let tables = [
    "_ms_journal", "_ms_journal", "_ms_journal", "_ms_journal_layouts", "_ms_journal_consumers",
    "_ms_models", "_ms_bindings",
  ]

  private static let values = [
    "9223372036854775807", "-9223372036854775808", "4611686018427387904", "1099511627776", "-1",
    "0", "1", "2", "7", "1e300", "'9'", "''", "x'0001'", "CAST(x'ff' AS TEXT)", "NULL", "'{}'",
    "'[]'",
  ]

  struct Failure: Error {
    let message: String
  }

  /// Changes one to four values, each of a row at random. A value that a table refuses is left out.
  func write(using generator: inout SeededGenerator) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(path, &opened) == SQLITE_OK, let database = opened else {
      throw Failure(message: "cannot open \(path)")
    }
    defer { sqlite3_close(database) }
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let table = Self.tables[Int.random(in: Self.tables.indices, using: &generator)]
      let columns = try rows("SELECT name FROM pragma_table_info('\(table)')", on: database)
      let keys = try rows(
        "SELECT name FROM pragma_table_info('\(table)') WHERE pk = 1", on: database)
      let count = try rows("SELECT count(*) FROM \(table)", on: database).first.flatMap { Int($0) }
      guard let count, count > 0, let key = keys.first else { continue }
      let column = columns[Int.random(in: columns.indices, using: &generator)]
      let value = Self.values[Int.random(in: Self.values.indices, using: &generator)]
      let place = Int.random(in: 0..<count, using: &generator)
      sqlite3_exec(
        database,
        """
        UPDATE OR IGNORE \(table) SET \(column) = \(value)
        WHERE \(key) = (SELECT \(key) FROM \(table) ORDER BY \(key) LIMIT 1 OFFSET \(place))
        """, nil, nil, nil)
    }
  }

  /// The first column of each row as text.
  private func rows(_ sql: String, on database: OpaquePointer) throws -> [String] {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
      throw Failure(message: String(cString: sqlite3_errmsg(database)))
    }
    var texts: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      if let text = sqlite3_column_text(statement, 0) { texts.append(String(cString: text)) }
    }
    return texts
  }
}
