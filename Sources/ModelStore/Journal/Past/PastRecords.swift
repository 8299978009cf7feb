/// The records of one model at a position of the change journal, if they are different now.
struct PastRecords {
  /// The change of each such record since then, by key: its values then (`old`) and now (`new`).
  let changes: [[SQLValue]: RecordChange]

  /// Reads the past records from the change journal.
  ///
  /// - Parameters:
  ///   - key: The only requested record; nil for all.
  ///   - access: Inside a transaction.
  /// - Throws: ``StoreError`` with code `journalTrimmed` if the journal does not reach back that
  ///   far; `journalGap` if it lacks changes of the model since then; `misuse` for a position
  ///   inside a transaction, or inside an entry of another program.
  static func read(
    _ schema: ModelSchema, at position: JournalPosition, key: [SQLValue]? = nil,
    in access: _TransactionAccess
  ) throws -> PastRecords {
    guard let history = try JournalHistory(reading: access.connection) else {
      throw gap(schema, "is not enabled")
    }
    if let obstacle = try obstacle(to: schema, history.layouts, on: access.connection) {
      throw gap(schema, obstacle)
    }
    try check(position, in: history)
    let fold = try entries(of: schema, after: position, key: key, in: history)
    let found = try fold.changes { schema, key in try access.record(schema, key: key)?.values }
    guard found.untold.isEmpty else {
      throw gap(schema, "has missed changes, or holds a text that is not UTF-8")
    }
    return PastRecords(
      changes: Dictionary(found.changes.map { ($0.key, $0) }) { _, latest in latest })
  }

  private static func check(_ position: JournalPosition, in history: JournalHistory) throws {
    let start = position.rawValue
    try history.checkReaches(back: start)
    guard start <= history.bounds.upperBound else {
      throw StoreError(
        .misuse,
        "The change journal ends at position \(history.bounds.upperBound); there is no \(start) yet."
      )
    }
    let end = try history.ending(of: start)
    guard start == end else {
      throw StoreError(
        .misuse, "Position \(start) is in the middle of a record's entry, which ends at \(end).")
    }
  }

  private static func entries(
    of schema: ModelSchema, after position: JournalPosition, key: [SQLValue]?,
    in history: JournalHistory
  ) throws -> JournalFold {
    let start = position.rawValue
    let identity = KeyIdentity(schema)
    let wanted = key.map { identity(given: $0) }
    let layouts = history.layouts
    var fold = JournalFold(layouts: layouts, schemas: [schema])
    try history.reader.forEachEntry(after: start) { entry in
      switch entry.content {
      case .record(let record):
        guard let layout = layouts.all[record.layout], layout.model == schema.name,
          wanted.map({ $0 == identity(stored: record.key) }) ?? true
        else { break }
        guard layout.detail == .full else { throw gap(schema, "recorded keys only") }
        fold.add(record)
      case .transaction(let mark):
        guard mark.first > start else {
          throw StoreError(
            .misuse,
            "Position \(start) is in the middle of a transaction, which ends at \(entry.position).")
        }
      case .started(let layout), .stopped(let layout):
        if layouts.all[layout]?.model == schema.name {
          throw gap(schema, "was disabled for a while")
        }
      }
      return true
    }
    return fold
  }

  /// Returns the reason why not every change of the model is recorded in full now; nil if every
  /// change is.
  private static func obstacle(
    to schema: ModelSchema, _ layouts: JournalLayouts, on connection: Connection
  ) throws -> String? {
    guard schema.kind == .table, let layout = layouts.layout(of: schema.name) else {
      return "is not enabled"
    }
    guard layout.detail == .full else { return "records keys only" }
    let journal = CompiledJournal(layouts, of: [schema], in: try Catalog(reading: connection))
    guard journal.intactModels.contains(schema.name) else {
      return
        "has triggers that are missing, changed or older than the table or another trigger of it; enable it again to recreate them"
    }
    return journal.exactModels.isEmpty
      ? "cannot record every record that REPLACE evicts through the table's unique indexes" : nil
  }

  private static func gap(_ schema: ModelSchema, _ reason: String) -> StoreError {
    StoreError(
      .journalGap,
      "The past records of \(schema.name) cannot be read: its change journal \(reason). Choose a position after which its changes were recorded in full.",
      model: schema.name)
  }

  /// Returns the past values of the only requested record. Its key may have had another spelling.
  ///
  /// - Parameter now: The current values.
  func image(now: [SQLValue]?) -> [SQLValue]? {
    changes.isEmpty ? now : changes.values.lazy.compactMap(\.old).first
  }
}
