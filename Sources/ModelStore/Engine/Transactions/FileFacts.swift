internal import Synchronization

/// The contents of the file, read on first use. Most transactions need none of it, and reading
/// takes about five statements per table.
final class FileFacts: Sendable {
  private struct State {
    var catalog: Catalog?
    var captured: CaptureFacts?
    var raisers: [RaisingTrigger]?
  }

  private let state = Mutex(State())
  private let reader: ReaderPool?
  /// Facts of another schema version are not stored: a transaction that changed the schema may roll
  /// back.
  let schemaVersion: Int64

  /// Creates the facts of one schema version.
  ///
  /// - Parameters:
  ///   - reader: Reads the file for callers without their own connection; nil for an empty file.
  ///   - schemaVersion: The schema version of these facts.
  init(reader: ReaderPool?, schemaVersion: Int64 = 0) {
    self.reader = reader
    self.schemaVersion = schemaVersion
    if reader == nil { state.withLock { $0.catalog = Catalog(schemaVersion: 0, tables: []) } }
  }

  /// Returns the catalog of the file.
  ///
  /// If another connection reads it, it may already be the catalog of a later schema. The next
  /// write then reads everything again.
  ///
  /// - Parameter connection: Reads the catalog on first use; nil means a separate connection.
  func catalog(on connection: Connection? = nil) throws -> Catalog {
    if let known = state.withLock({ $0.catalog }) { return known }
    let read: Catalog
    if let connection {
      read = try Catalog(reading: connection)
    } else {
      read =
        try reader?.sync { try Catalog(reading: $0) } ?? Catalog(schemaVersion: 0, tables: [])
    }
    guard read.schemaVersion == schemaVersion else { return read }
    return state.withLock { state in
      if let known = state.catalog { return known }
      state.catalog = read
      return read
    }
  }

  /// Returns the facts that capturing needs.
  func captured(on connection: Connection) throws -> CaptureFacts {
    if let known = state.withLock({ $0.captured }) { return known }
    let made: CaptureFacts
    do {
      made = try CaptureFacts(reading: connection)
    } catch let error as SQLiteError where error.code.primary == .error {
      made = CaptureFacts(Self.writing(try catalog(on: connection)))
    }
    guard try connection.schemaVersion() == schemaVersion else { return made }
    state.withLock { $0.captured = made }
    return made
  }

  /// Returns the triggers that may refuse a write and are not the store's own.
  func raisers(on connection: Connection? = nil) throws -> [RaisingTrigger] {
    if let known = state.withLock({ $0.raisers }) { return known }
    let catalog = try catalog(on: connection)
    let made = Self.writing(catalog).flatMap { table, triggers in
      triggers.filter { SQLTokens($0.sql).raises || SQLTokens($0.sql).rollsBack }.map {
        RaisingTrigger(name: $0.name, table: table.name, sql: $0.sql)
      }
    }
    guard catalog.schemaVersion == schemaVersion else { return made }
    state.withLock { $0.raisers = made }
    return made
  }

  /// Returns whether a refused statement may end the whole transaction, by a trigger or by a
  /// table's conflict clause.
  func mayRollBack(on connection: Connection) throws -> Bool {
    try raisers(on: connection).contains { $0.endsTransactions }
      || catalog(on: connection).tables.contains { SQLTokens($0.sql).rollsBack }
  }

  /// Returns the tables, with those of their triggers that may write a model's records.
  private static func writing(
    _ catalog: Catalog
  ) -> [(table: TableFacts, triggers: [TriggerFacts])] {
    catalog.tables.map { table in (table, table.triggers.filter { mayWrite($0.name) }) }
  }

  /// Returns whether the trigger called `name` may write a model's records. The triggers of rules
  /// and of the journal never do.
  static func mayWrite(_ name: String) -> Bool {
    !RuleObjects.isName(name) && !name.hasPrefix(SchemaObject.Owner.journalPrefix)
  }

  /// Returns the triggers that may write a model's records, by table, in the order of their
  /// creation.
  static func writingTriggers(on connection: Connection) throws -> [TriggerFacts] {
    try connection.rows(
      """
      SELECT name, sql
      FROM sqlite_schema
      WHERE type = 'trigger' AND name NOT GLOB \(Self.journalPattern)
      ORDER BY tbl_name, rowid
      """
    ) { row in TriggerFacts(name: try row.text(at: 0), sql: try row.text(at: 1)) }
    .filter { mayWrite($0.name) }
  }

  /// SQLite compares names with it before it reads the triggers' texts, which are most of a schema.
  fileprivate static let journalPattern = SchemaObject.Owner.journalPrefix + "*"
}

/// What the writing of a record may meet in its table. Names have ASCII letters in lower case.
struct WritingObstacles: Sendable {
  /// The tables whose triggers may change a record as it is written.
  private(set) var rewriting: Set<String> = []
  /// The tables in which a refused insertion may have changed something before it was refused, or
  /// may not be undone: with triggers besides the journal's, or with a conflict clause.
  private(set) var halting: Set<String> = []

  /// Creates the value for a file without tables.
  init() {}

  /// Uses one statement, independent of the file's size.
  init(reading connection: Connection) throws {
    try connection.forEachRow(
      """
      SELECT tbl_name, CASE type WHEN 'trigger' THEN name END
      FROM sqlite_schema
      WHERE type = 'trigger' AND name NOT GLOB \(FileFacts.journalPattern)
        OR type = 'table' AND sql LIKE '%conflict%'
      """
    ) { row in
      let table = try row.text(at: 0).asciiFolded
      halting.insert(table)
      if !row.isNull(at: 1), FileFacts.mayWrite(try row.text(at: 1)) { rewriting.insert(table) }
    }
  }
}
