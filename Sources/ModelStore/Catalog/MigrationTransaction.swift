/// The transaction of a migration in Swift. It runs SQL on the tables as they are at that point.
///
/// It does not read or write models, because today's Swift types may not fit these tables.
public struct MigrationTransaction: ~Copyable {
  private let connection: Connection
  private let moves: TableMoves.Recorder
  private let place: String

  /// - Parameter place: How messages begin.
  init(_ place: String, _ moves: TableMoves.Recorder, on connection: Connection) {
    self.place = place
    self.moves = moves
    self.connection = connection
  }

  /// Runs any single SQL statement and ignores its rows. Interpolated values become arguments.
  ///
  /// - Throws: ``StoreError`` that names the migration. Its code is `migrationConflict` for a
  ///   statement that a migration may not run, such as COMMIT.
  public borrowing func execute(_ sql: SQLText) throws {
    try checkIsOpen()
    try MigrationScript.check(sql.sql, at: place)
    try MigrationScript.run(sql, at: place, moves, on: connection)
  }

  /// Runs any single SQL statement and returns its rows. All of them are kept in memory.
  ///
  /// - Throws: As ``execute(_:)``.
  public borrowing func rows(_ sql: SQLText) throws -> [ResultRow] {
    try checkIsOpen()
    try MigrationScript.check(sql.sql, at: place)
    guard !MigrationScript.isAlteration(sql.sql) else {
      try MigrationScript.run(sql, at: place, moves, on: connection)
      return []
    }
    return try MigrationScript.explaining(place) {
      try connection.withStatement(sql.sql) { statement in
        try statement.bind(sql)
        var rows: [ResultRow] = []
        // In its first step, SQLite may compile the statement again, with other columns.
        var columns: [String]?
        try statement.forEachRow { row in
          let names = columns ?? statement.columnNames
          columns = names
          rows.append(ResultRow(columns: names, values: try row.values()))
        }
        return rows
      }
    }
  }

  /// - Throws: ``StoreError`` with code `rejected` when SQLite has rolled the transaction back.
  borrowing func checkIsOpen() throws(StoreError) {
    guard !connection.isInTransaction else { return }
    throw StoreError(
      .rejected,
      "\(place): its transaction was already rolled back by an earlier failure. Nothing of the migration was kept."
    )
  }
}
