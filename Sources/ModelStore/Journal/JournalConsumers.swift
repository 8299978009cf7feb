/// The consumers that are stored in a file. Valid within one transaction.
struct JournalConsumers {
  let connection: Connection

  /// The cursor of a consumer.
  struct Cursor: Hashable, Sendable {
    /// The last acknowledged row.
    let position: Int64
    /// Changes whenever the consumer is created or moved by hand.
    let epoch: Int64
    /// Microseconds since 1970-01-01 00:00:00 UTC; nil if nothing was acknowledged yet.
    let acknowledgedAt: Int64?

    /// Whether entries that were not acknowledged are missing. The journal was trimmed past the
    /// cursor, or it ends before the cursor because another program deleted its rows.
    ///
    /// - Parameter bounds: The first and last position of the journal; nil if it has no rows.
    func isLost(in bounds: ClosedRange<Int64>?) -> Bool {
      position < (bounds?.lowerBound ?? 1) - 1 || position > (bounds?.upperBound ?? 0)
    }

    /// The row after which the consumer continues.
    func start(in bounds: ClosedRange<Int64>) -> Int64 {
      isLost(in: bounds) ? bounds.lowerBound - 1 : position
    }
  }

  /// - Returns: nil if there is no consumer of that name.
  func cursor(of name: String) throws -> Cursor? {
    try connection.firstRow(
      """
      SELECT position, epoch, acknowledged_at
      FROM _ms_journal_consumers
      WHERE name = \(name)
      """
    ) { row in try Self.cursor(row, at: 0) }
  }

  /// Returns all consumers, ordered by name.
  func all() throws -> [(name: String, cursor: Cursor)] {
    try connection.rows(
      """
      SELECT name, position, epoch, acknowledged_at
      FROM _ms_journal_consumers
      ORDER BY name
      """
    ) { row in (try row.text(at: 0), try Self.cursor(row, at: 1)) }
  }

  /// Returns the consumer that is the furthest behind; nil if there is none.
  func slowest() throws -> (name: String, position: Int64)? {
    try connection.firstRow(
      "SELECT name, position FROM _ms_journal_consumers ORDER BY position, name LIMIT 1"
    ) { row in (try row.text(at: 0), try row.integer(at: 1)) }
  }

  private static func cursor(_ row: borrowing RowView, at column: Int) throws -> Cursor {
    Cursor(
      position: try row.integer(at: column), epoch: try row.integer(at: column + 1),
      acknowledgedAt: row.isNull(at: column + 2) ? nil : try row.integer(at: column + 2))
  }

  /// Moves a consumer to `position`, or creates it.
  ///
  /// - Parameter time: Microseconds since 1970-01-01 00:00:00 UTC.
  func put(_ name: String, at position: Int64, time: Int64) throws {
    try connection.run(
      """
      INSERT INTO _ms_journal_consumers (name, position, epoch, acknowledged_at)
      VALUES (\(name), \(position), \(time), NULL)
      ON CONFLICT (name) DO UPDATE
      SET position = excluded.position, epoch = max(epoch + 1, excluded.epoch)
      """)
  }

  /// - Returns: Whether a consumer of that name existed.
  func remove(_ name: String) throws -> Bool {
    try connection.run("DELETE FROM _ms_journal_consumers WHERE name = \(name)")
    return connection.changeCount > 0
  }

  /// Moves a consumer to `position`.
  ///
  /// - Parameters:
  ///   - start: The positions where it must be; nil for any position before `position`.
  ///   - epoch: The epoch of the cursor when the acknowledged batch was read.
  ///   - time: The time of the acknowledgement; nil if the store itself moves the cursor.
  /// - Returns: Whether it moved.
  func acknowledge(
    _ name: String, through position: Int64, from start: ClosedRange<Int64>?, epoch: Int64,
    time: Int64?
  ) throws -> Bool {
    let place: SQLText =
      if let start {
        "position BETWEEN \(start.lowerBound) AND \(start.upperBound)"
      } else {
        "position < \(position)"
      }
    try connection.run(
      """
      UPDATE _ms_journal_consumers
      SET
        position = \(position),
        acknowledged_at = ifnull(\(time.map { .integer($0) } ?? SQLValue.null), acknowledged_at)
      WHERE name = \(name)
      AND epoch = \(epoch)
      AND \(place)
      """)
    return connection.changeCount > 0
  }
}
