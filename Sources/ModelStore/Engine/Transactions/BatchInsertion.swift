/// How the records of one model can be inserted many at a time: several rows in one INSERT.
///
/// SQLite handles the rows of a statement one after the other, with their triggers. So the file,
/// the captured changes and the change journal are the same as after single statements. The cases
/// in which they might differ are found here, and have no batches.
struct BatchInsertion: Sendable {
  /// Where the row number of an inserted record comes from.
  enum RowNumber: Hashable, Sendable {
    /// The field at this index. If it is NULL, SQLite assigns one more than the greatest number,
    /// unless `isAssignedByCounter`: a table with AUTOINCREMENT also counts deleted rows.
    case field(Int, isAssignedByCounter: Bool)
    /// SQLite assigns it, in a column of this name that is not a field.
    case hidden(String)
    /// The table has none.
    case none
  }

  /// The INSERT with arguments for all writable fields of each row, row by row.
  let text: String
  let rowNumber: RowNumber
  /// Whether the result is only certain if references are checked at the end of the transaction.
  ///
  /// SQLite checks the references of a statement at its end, by counting. So a row could refer to a
  /// later row of its own table, or to one that a binding changes for a later row. And a row to
  /// which an orphan refers already would hide the broken reference of another row.
  let needsDeferredReferences: Bool

  /// The number of rows of the statement. Counted in instructions, 64 rows take 0.65 times as long
  /// as 64 statements.
  static let rowCount = 64

  /// The most bytes that SQLite copies for the arguments of one statement. Larger records are
  /// inserted one by one, so that memory does not grow with the number of rows.
  static let maxByteCount = 1 << 20

  /// Returns nil if records must be inserted one by one:
  ///
  /// - A conflict clause in the table's definition may keep or evict rows when a row is refused.
  /// - A trigger that the store did not create may end or skip a part of the statement.
  ///
  /// - Parameter connection: The writing connection, with the schema for which `sql` was made.
  init?(_ sql: RecordSQL, on connection: Connection) throws {
    let schema = sql.schema
    guard schema.kind == .table,
      sql.writableFields.count <= connection.argumentCountMax / Self.rowCount,
      let table = try Self.table(schema.table, on: connection)
    else { return nil }
    let tokens = SQLTokens(table.sql)
    func names(_ keyword: String) -> Bool {
      tokens.tokens.contains { tokens.isKeyword($0, keyword) }
    }
    guard !names("CONFLICT") else { return nil }
    let triggers = try Self.triggers(of: schema.table, on: connection).filter(FileFacts.mayWrite)
    guard triggers.allSatisfy({ $0.hasPrefix(BindingTriggers.namePrefix) }) else { return nil }
    if let index = schema.rowIDFieldIndex {
      rowNumber = .field(index, isAssignedByCounter: names("AUTOINCREMENT"))
    } else if table.isWithoutRowID {
      rowNumber = .none
    } else {
      guard !names("AUTOINCREMENT"), let name = table.rowIDName else { return nil }
      rowNumber = .hidden(name)
    }
    text = sql.insert(fields: sql.writableFields, rowCount: Self.rowCount)
    needsDeferredReferences =
      try !triggers.isEmpty || Self.isBetweenReferences(schema.table, on: connection)
  }

  private struct Table {
    let sql: String
    let isWithoutRowID: Bool
    /// nil if columns use all names of the row number.
    let rowIDName: String?
  }

  private static func table(_ name: String, on connection: Connection) throws -> Table? {
    let found = try connection.firstRow(
      """
      SELECT s.sql, l.wr
      FROM sqlite_schema AS s, pragma_table_list AS l
      WHERE s.type = 'table' AND s.name = l.name AND l.schema = 'main' AND l.type = 'table'
        AND s.name = \(name) COLLATE NOCASE
      """
    ) { row in (sql: try row.text(at: 0), isWithoutRowID: try row.integer(at: 1) != 0) }
    guard let found else { return nil }
    let columns = try connection.rows(
      "SELECT name FROM pragma_table_xinfo WHERE arg = \(name) AND schema = 'main'"
    ) { try $0.text(at: 0) }
    return Table(
      sql: found.sql, isWithoutRowID: found.isWithoutRowID,
      rowIDName: TableFacts.rowIDName(besides: columns))
  }

  /// Whether the table has references, and tables refer to it, among them perhaps itself.
  private static func isBetweenReferences(
    _ name: String, on connection: Connection
  ) throws -> Bool {
    try connection.firstRow(
      """
      SELECT 1
      FROM pragma_foreign_key_list
      WHERE arg = \(name) AND schema = 'main'
        AND EXISTS (
          SELECT 1
          FROM sqlite_schema AS child, pragma_foreign_key_list AS reference
          WHERE child.type = 'table' AND reference.arg = child.name
            AND reference.schema = 'main' AND reference."table" = \(name) COLLATE NOCASE
        )
      """
    ) { try $0.integer(at: 0) } != nil
  }

  private static func triggers(of name: String, on connection: Connection) throws -> [String] {
    try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(name) COLLATE NOCASE"
    ) { try $0.text(at: 0) }
  }
}

extension RecordSQL {
  /// Returns the statement that inserts several records with values for `fields`. The arguments of
  /// a record follow those of the record before it.
  func insert(fields: [Int], rowCount: Int) -> String {
    let columns = SQLText.quotedList(fields.map { schema.fields[$0].column })
    let row = "(\(fields.map { _ in "?" }.joined(separator: ", ")))"
    let rows = Array(repeating: row, count: rowCount).joined(separator: ", ")
    return "INSERT INTO \(SQLText.quoted(schema.table)) (\(columns)) VALUES \(rows)"
  }
}
