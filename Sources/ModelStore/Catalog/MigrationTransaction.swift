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

  /// Runs any single SQL statement and returns its rows. All of them are kept in memory; for many
  /// rows use ``forEachRow(_:_:)`` or ``forEachBatch(of:columns:size:progress:_:)``.
  ///
  /// - Throws: As ``execute(_:)``.
  public borrowing func rows(_ sql: SQLText) throws -> [ResultRow] {
    var rows: [ResultRow] = []
    try forEachRow(sql) { rows.append($0) }
    return rows
  }

  /// Calls `body` with each row of a statement, in the statement's order. One row at a time is in
  /// memory.
  ///
  /// `body` may write into other tables than those that the statement reads. To change the rows
  /// that you read, use ``forEachBatch(of:columns:size:progress:_:)``.
  ///
  /// - Throws: As ``execute(_:)``; what `body` throws.
  public borrowing func forEachRow(
    _ sql: SQLText, _ body: (ResultRow) throws -> Void
  ) throws {
    try checkIsOpen()
    try MigrationScript.check(sql.sql, at: place)
    guard !MigrationScript.isAlteration(sql.sql) else {
      return try MigrationScript.run(sql, at: place, moves, on: connection)
    }
    try MigrationScript.explaining(place) {
      try connection.withStatement(sql.sql) { statement in
        try statement.bind(sql)
        // In its first step, SQLite may compile the statement again, with other columns.
        var columns: [String]?
        try statement.forEachRow { row in
          let names = columns ?? statement.columnNames
          columns = names
          try body(ResultRow(columns: names, values: try row.values()))
        }
      }
    }
    moves.note(sql.sql)
  }

  /// Calls `body` with the rows of a table, in the order of its key and in batches. One batch at a
  /// time is in memory, and `body` may change its rows.
  ///
  /// ```swift
  /// try tx.forEachBatch(of: "Member", columns: ["id", "name"]) { rows in
  ///   for row in rows { … }
  /// }
  /// ```
  /// Rows that are inserted meanwhile behind the last key are not visited. `body` must not change
  /// keys. If you cancel the task that opens the store, the iteration stops before the next batch,
  /// and the migration is rolled back.
  ///
  /// - Parameters:
  ///   - columns: The columns to read. `"rowid"` is the row number of a table that has one.
  ///   - size: The most rows of a batch, at least 1.
  ///   - progress: Called before the first batch and after each, with the number of visited rows
  ///     and of all rows. If it throws, the iteration stops.
  /// - Throws: ``StoreError`` that names the migration; with code `cancelled` if the task was
  ///   cancelled. What `body` or `progress` throws.
  public borrowing func forEachBatch(
    of table: String, columns: [String], size: Int = 1000,
    progress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in },
    _ body: (_ rows: [ResultRow]) throws -> Void
  ) throws {
    precondition(size > 0, "A batch has at least one row.")
    try checkIsOpen()
    let batches = try MigrationScript.explaining(place) {
      try RowBatches(of: table, columns: columns, on: connection)
    }
    guard let batches else {
      throw StoreError(
        .migrationConflict,
        "\(place): there is no table \(table), or its rows have no order. The migration was rolled back."
      )
    }
    var done = 0
    try progress(done, batches.count)
    var last: [SQLValue]?
    while true {
      try checkIsNotCancelled()
      let batch = try MigrationScript.explaining(place) {
        try batches.rows(after: last, atMost: size, on: connection)
      }
      guard let end = batch.lastKey else { return }
      last = end
      try body(batch.rows)
      try checkIsOpen()
      done += batch.rows.count
      try progress(done, batches.count)
    }
  }

  private borrowing func checkIsNotCancelled() throws(StoreError) {
    guard connection.hooks.isStopRequested || Task.isCancelled else { return }
    throw StoreError(.cancelled, "\(place) was cancelled. The migration was rolled back.")
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
