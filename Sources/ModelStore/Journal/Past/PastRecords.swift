/// What the records of one model were as of a position of the change journal, as far as they are
/// something else now.
struct PastRecords {
  /// Of each such record what it was (`old`) and what it is (`new`), by key.
  let changes: [[SQLValue]: RecordChange]

  /// Reads them in the change journal.
  ///
  /// - Parameters:
  ///   - key: The only record that is asked for; nil for all.
  ///   - access: Inside a transaction.
  /// - Throws: ``StoreError`` with code `journalTrimmed` when the journal does not reach back so
  ///   far, `journalGap` when it does not tell all changes of the model since, `misuse` for a
  ///   position that is not between two transactions or, where other programs wrote, entries.
  static func read(
    _ schema: ModelSchema, at position: JournalPosition, key: [SQLValue]? = nil,
    in access: _TransactionAccess
  ) throws -> PastRecords {
    guard let history = try JournalHistory(reading: access.connection) else {
      throw gap(schema, "is not on")
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
        guard layout.detail == .full else { throw gap(schema, "was entered by its keys only") }
        fold.add(record)
      case .transaction(let mark):
        guard mark.first > start else {
          throw StoreError(
            .misuse,
            "Position \(start) is in the middle of a transaction, which ends at \(entry.position).")
        }
      case .started(let layout), .stopped(let layout):
        if layouts.all[layout]?.model == schema.name { throw gap(schema, "was off for a while") }
      }
      return true
    }
    return fold
  }

  /// Why not every change of the model is entered in full now; nil when it is.
  private static func obstacle(
    to schema: ModelSchema, _ layouts: JournalLayouts, on connection: Connection
  ) throws -> String? {
    guard schema.kind == .table, let layout = layouts.layout(of: schema.name) else {
      return "is not on"
    }
    guard layout.detail == .full else { return "keeps only its keys" }
    let journal = CompiledJournal(layouts, of: [schema], in: try Catalog(reading: connection))
    guard journal.intactModels.contains(schema.name) else {
      return
        "has triggers that are missing, changed or older than the table or another trigger of it; turning it on again makes them anew"
    }
    return journal.exactModels.isEmpty
      ? "cannot foresee all that REPLACE evicts by the table's unique indexes" : nil
  }

  private static func gap(_ schema: ModelSchema, _ reason: String) -> StoreError {
    StoreError(
      .journalGap,
      "What \(schema.name) was then cannot be told: its change journal \(reason). Ask for a time since which it was on in full.",
      model: schema.name)
  }

  /// What the only record asked for was, which may have had its key in another spelling.
  ///
  /// - Parameter now: What it is.
  func image(now: [SQLValue]?) -> [SQLValue]? {
    changes.isEmpty ? now : changes.values.lazy.compactMap(\.old).first
  }
}
