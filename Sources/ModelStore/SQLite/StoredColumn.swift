internal import CSQLite

/// A column that SQLite stores, and its numbers in the preupdate hook.
struct StoredColumn: Hashable, Sendable {
  /// The index among all columns of the table.
  let position: Int
  /// The index among the stored columns: all columns except virtual generated ones.
  let storedPosition: Int
  /// Whether the column converts integers to reals.
  let isReal: Bool
  /// Whether its table has no rowid.
  let isWithoutRowID: Bool

  /// The rowid of a table that has no column for it.
  static let rowID = StoredColumn(
    position: -1, storedPosition: -1, isReal: false, isWithoutRowID: false)

  var isRowID: Bool { position < 0 }

  /// Returns the hook's number for the column.
  ///
  /// In tables without rowid, SQLite counts all columns, except in the new row of an UPDATE. In
  /// other tables it counts stored columns, or all columns in later versions.
  ///
  /// - Parameter inUpdatedRow: Whether the number is for the new row of an UPDATE.
  func index(inUpdatedRow: Bool) -> Int32 {
    if position == storedPosition { return Int32(position) }
    let countsAll = isWithoutRowID && !inUpdatedRow ? true : Self.hookCountsAllColumns
    return Int32(countsAll ? position : storedPosition)
  }

  /// Returns the value that the table will store. The hook reports whole reals as integers.
  func stored(_ value: SQLValue) -> SQLValue {
    guard isReal, case .integer(let integer) = value else { return value }
    return .real(Double(integer))
  }

  /// Whether the hook counts virtual columns of a table with rowid. SQLite does not document this
  /// and has changed it, so the store tests it with a table in memory.
  private static let hookCountsAllColumns: Bool = {
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    var found: Int32 = 0
    let script = """
      CREATE TABLE probe(v AS (1) VIRTUAL, a);
      INSERT INTO probe(a) VALUES (7);
      """
    let code = withUnsafeMutablePointer(to: &found) { found in
      let code = sqlite3_open_v2(
        ":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, nil)
      guard code == SQLITE_OK, let database else { return code }
      ConnectionSafety.apply(to: database)
      sqlite3_preupdate_hook(
        database,
        { context, database, _, _, _, _, _ in
          var value: OpaquePointer?
          if sqlite3_preupdate_new(database, 1, &value) == SQLITE_OK {
            context?.assumingMemoryBound(to: Int32.self).pointee = sqlite3_value_int(value)
          }
        }, found)
      return sqlite3_exec(database, script, nil, nil, nil)
    }
    precondition(code == SQLITE_OK, "SQLite cannot open a database in memory (\(code)).")
    return found == 7
  }()
}
