/// The status of a store's change journal.
public struct JournalStatus: Hashable, Sendable {
  /// How much of each model's changes is recorded, by the model's name. It contains recorded models
  /// only.
  public var details: [String: JournalDetail] = [:]
  /// The differences of the triggers of ``details``: triggers that are missing, changed, or older
  /// than the table or another of its triggers. The journal may miss changes of these models.
  /// ``ChangeJournal/enable(_:for:mode:)`` recreates the triggers.
  public var drift: [SchemaDrift] = []
  /// The positions from the oldest entry to the newest; nil if nothing has been recorded yet.
  public var positions: ClosedRange<JournalPosition>?
  /// The number of entries, counted as rows of the journal. A record with many fields takes several
  /// rows. The commit record of a transaction takes one.
  public var entryCount = 0
  /// The bytes that the entries take in the file. It is an estimate if SQLite was built without the
  /// module `dbstat`. The file does not shrink when entries are removed; later entries reuse the
  /// space.
  public var byteCount: Int64 = 0
  /// The consumers, by name.
  public var consumers: [ConsumerStatus] = []
  /// The time of the oldest kept transaction of a store, in microseconds since 1970-01-01 00:00:00
  /// UTC. It is nil if there is none. Changes of other programs have no time.
  package var oldestTime: Int64?
}

/// The status of a consumer of the change journal.
public struct ConsumerStatus: Hashable, Sendable {
  /// The name of the consumer.
  public var name: String
  /// The position of the last acknowledged entry, or the position at which it starts.
  public var position: JournalPosition
  /// The number of positions from here to the last change for a batch; 0 if there is no batch.
  public var lag: Int64
  /// The time of the last acknowledgement, in microseconds since 1970-01-01 00:00:00 UTC; nil if
  /// there is none yet.
  package var acknowledgementTime: Int64?

  /// - Parameter bounds: The first and last position of the journal; nil if it has no rows.
  init(
    name: String, cursor: JournalConsumers.Cursor, bounds: ClosedRange<Int64>?,
    on connection: Connection
  ) throws {
    self.name = name
    position = JournalPosition(rawValue: cursor.position)
    lag =
      try bounds.map { bounds in
        let start = cursor.start(in: bounds)
        return try Self.lastChange(behind: start, on: connection) - start
      } ?? 0
    acknowledgementTime = cursor.acknowledgedAt
  }

  /// Returns the last position after `start` that belongs to a batch; `start` if there is none.
  ///
  /// - Complexity: Reads backwards over transactions that recorded no changes.
  private static func lastChange(behind start: Int64, on connection: Connection) throws -> Int64 {
    try connection.firstRow(
      """
      SELECT position
      FROM _ms_journal
      WHERE position > \(start) AND position <= \(JournalReader.positionMax)
      AND (layout <> \(JournalLayout.journalNumber)
        OR CASE entry
          WHEN \(JournalMark.Kind.transaction.rawValue) THEN c0 < position
          WHEN \(JournalMark.Kind.started.rawValue) THEN c1 IS NOT 1
          ELSE 1
        END)
      ORDER BY position DESC
      LIMIT 1
      """
    ) { row in try row.integer(at: 0) } ?? start
  }
}

extension JournalStatus {
  /// - Parameter models: All models of the file.
  /// - Complexity: Reads every page of the journal if SQLite can count its bytes.
  init(reading connection: Connection, models: [ModelSchema]) throws {
    guard let layouts = try JournalLayouts(reading: connection) else { return }
    details = layouts.current.compactMapValues { layouts.all[$0]?.detail }
    drift = try CompiledJournal(layouts, of: models, in: Catalog(reading: connection))
      .knownDrift(on: connection)
    let bounds = try JournalReader.bounds(on: connection)
    consumers = try JournalConsumers(connection: connection).all()
      .map {
        try ConsumerStatus(name: $0.name, cursor: $0.cursor, bounds: bounds, on: connection)
      }
    entryCount =
      try bounds.map {
        Int(try JournalReader.rowCount(in: $0, on: connection))
      } ?? 0
    byteCount = try JournalSize.total(on: connection, in: bounds, rowCount: entryCount)
    guard let bounds else { return }
    positions =
      JournalPosition(rawValue: bounds.lowerBound)...JournalPosition(rawValue: bounds.upperBound)
    oldestTime = try connection.firstRow(
      """
      SELECT c2
      FROM _ms_journal
      WHERE \(JournalMark.isMark)
      AND c0 >= \(bounds.lowerBound)
      ORDER BY position
      LIMIT 1
      """
    ) { row in try row.integer(at: 0) }
  }
}
