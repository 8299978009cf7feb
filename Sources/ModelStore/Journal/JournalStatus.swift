/// How a store's change journal stands.
public struct JournalStatus: Hashable, Sendable {
  /// How much is entered of each model's changes, by the model's name; without those of which
  /// nothing is.
  public var details: [String: JournalDetail] = [:]
  /// The models of ``details`` whose triggers are missing, changed, or older than the table or
  /// another trigger of it, in name order: the journal may miss changes of theirs.
  /// ``ChangeJournal/enable(_:for:mode:)`` creates the triggers again.
  public var drift: [SchemaDrift] = []
  /// From the oldest entry to the newest; nil when nothing has been entered yet.
  public var positions: ClosedRange<JournalPosition>?
  /// How many entries there are, counted as rows of the journal: a record of many fields takes
  /// several, what a store says of its transaction takes one.
  public var entryCount = 0
  /// How many bytes of the file the entries take: those of their pages, or an estimate where
  /// SQLite was built without what counts them. The file does not shrink when entries are removed;
  /// what comes next takes their place.
  public var byteCount: Int64 = 0
  /// The durable readers, by name.
  public var consumers: [ConsumerStatus] = []
  /// When the oldest transaction of a store was written that is kept, in microseconds since
  /// 1970-01-01 00:00:00 UTC; nil when there is none. Other programs' changes have no time.
  package var oldestTime: Int64?
}

/// How far a durable reader of the change journal has come.
public struct ConsumerStatus: Hashable, Sendable {
  /// The name under which it reads.
  public var name: String
  /// Of the last entry that it has acknowledged, or where it begins.
  public var position: JournalPosition
  /// How many positions of the journal it has before it, up to the last change that a batch would
  /// hold; 0 when there is no batch to take.
  public var lag: Int64
  /// When it acknowledged last, in microseconds since 1970-01-01 00:00:00 UTC; nil when it has not
  /// yet.
  package var acknowledgementTime: Int64?

  /// - Parameter bounds: Where the journal begins and ends; nil when it has no rows.
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

  /// The last position behind `start` that a batch would hold; `start` when there is none.
  ///
  /// - Complexity: Reads back over transactions that changed nothing of which a journal is kept.
  private static func lastChange(behind start: Int64, on connection: Connection) throws -> Int64 {
    try connection.firstRow(
      """
      SELECT position
      FROM _ms_journal
      WHERE position > \(start) AND position <= \(JournalReader.positionMax)
      AND (layout <> \(JournalLayout.journalNumber)
        OR entry <> \(JournalMark.Kind.transaction.rawValue)
        OR c0 < position)
      ORDER BY position DESC
      LIMIT 1
      """
    ) { row in try row.integer(at: 0) } ?? start
  }
}

extension JournalStatus {
  /// - Parameter models: All models of the file.
  /// - Complexity: Reads every page of the journal, where SQLite can count its bytes.
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
