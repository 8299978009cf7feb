/// A change that a worker could not process, and gave up on so that it could go on with others.
///
/// `StoreWorker` of the product `ModelStoreService` makes dead letters. They stay in the file until
/// you replay or drop them, also after the journal was trimmed.
public struct DeadLetter: Hashable, Sendable {
  /// The name of the worker's consumer.
  public let consumer: String
  /// The change as the worker received it.
  public let change: JournalChange
  /// The error of the last attempt, as text. The worker's code made it, so it may contain values.
  public let error: String
  /// The number of attempts.
  public let attemptCount: Int
  /// When the worker gave up, in microseconds since 1970-01-01 00:00:00 UTC.
  package let failedAt: Int64
  /// Whether the worker was asked to try again; see ``Store/replayDeadLetters(of:at:)``.
  public let isWaitingForReplay: Bool
}

/// The dead letters that are stored in a file. Valid within one transaction.
struct DeadLetters {
  let connection: Connection

  private static let table = "_ms_dead_letters"

  /// Whether the file has the table. It is missing in a file that no store of this version has
  /// written to.
  var exist: Bool {
    get throws {
      try connection.firstRow("SELECT 1 FROM sqlite_schema WHERE name = \(Self.table)") { _ in true
      }
        ?? false
    }
  }

  /// Returns the letters in the order of consumers and positions.
  ///
  /// - Parameter onlyReplays: Whether to return only those that wait for a replay.
  func all(of consumer: String?, onlyReplays: Bool = false) throws -> [DeadLetter] {
    guard try exist else { return [] }
    return try connection.rows(
      """
      SELECT consumer, position, letter, error, attempts, failed_at, replays
      FROM _ms_dead_letters
      WHERE (\(consumer) IS NULL OR consumer = \(consumer)) AND replays >= \(onlyReplays ? 1 : 0)
      ORDER BY consumer, position
      """
    ) { row in
      DeadLetter(
        consumer: try row.text(at: 0),
        change: try LetterText(try row.text(at: 2)).change(at: try row.integer(at: 1)),
        error: try row.text(at: 3), attemptCount: Int(try row.integer(at: 4)),
        failedAt: try row.integer(at: 5), isWaitingForReplay: try row.integer(at: 6) == 1)
    }
  }

  /// Adds a letter, or replaces that of the same change.
  func put(_ letter: DeadLetter) throws {
    try connection.run(
      """
      INSERT INTO _ms_dead_letters
        (consumer, position, letter, error, attempts, failed_at, replays)
      VALUES (
        \(letter.consumer), \(letter.change.position.rawValue),
        \(try LetterText(letter.change).text), \(letter.error), \(Int64(letter.attemptCount)),
        \(letter.failedAt), 0
      )
      ON CONFLICT (consumer, position) DO UPDATE
      SET error = excluded.error, letter = excluded.letter,
        attempts = excluded.attempts + iif(letter = excluded.letter, attempts, 0),
        failed_at = excluded.failed_at, replays = 0
      """)
  }

  /// Asks the worker to try letters again.
  ///
  /// - Parameter positions: nil for all.
  /// - Returns: The number of letters.
  func replay(_ consumer: String, _ positions: [JournalPosition]?) throws -> Int {
    try forEach(positions) { position in
      try connection.run(
        """
        UPDATE _ms_dead_letters SET replays = 1
        WHERE consumer = \(consumer) AND (\(position) IS NULL OR position = \(position))
        """)
    }
  }

  /// Removes letters.
  ///
  /// - Parameter positions: nil for all.
  /// - Returns: The number of letters.
  func remove(_ consumer: String, _ positions: [JournalPosition]?) throws -> Int {
    try forEach(positions) { position in
      try connection.run(
        """
        DELETE FROM _ms_dead_letters
        WHERE consumer = \(consumer) AND (\(position) IS NULL OR position = \(position))
        """)
    }
  }

  /// Runs `body` for each position, or once for all.
  private func forEach(
    _ positions: [JournalPosition]?, _ body: (Int64?) throws -> Void
  ) throws -> Int {
    guard try exist else { return 0 }
    var count = 0
    for position in positions.map({ $0.map { Optional($0.rawValue) } }) ?? [nil] {
      try body(position)
      count += connection.changeCount
    }
    return count
  }
}
