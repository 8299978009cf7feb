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
      throw Obstacle.disabled.error(schema, position)
    }
    if let obstacle = try obstacle(to: schema, history.layouts, on: access.connection) {
      throw obstacle.error(schema, position)
    }
    try check(position, in: history)
    let fold = try entries(of: schema, after: position, key: key, in: history)
    let found = try fold.changes { schema, key in try access.record(schema, key: key)?.values }
    guard found.untold.isEmpty else { throw Obstacle.missedChanges.error(schema, position) }
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
          wanted.map({ $0 == identity(changed: RecordKey(record.key)) }) ?? true
        else { break }
        guard layout.detail == .full else { throw Obstacle.hadKeysOnly.error(schema, position) }
        fold.add(record)
      case .transaction(let mark):
        guard mark.first > start else {
          throw StoreError(
            .misuse,
            "Position \(start) is in the middle of a transaction, which ends at \(entry.position).")
        }
      case .started(let layout), .began(let layout), .stopped(let layout):
        if layouts.all[layout]?.model == schema.name {
          throw Obstacle.wasDisabled.error(schema, position)
        }
      }
      return true
    }
    return fold
  }

  /// Returns why the journal does not record every change of the model in full now; nil if it does.
  private static func obstacle(
    to schema: ModelSchema, _ layouts: JournalLayouts, on connection: Connection
  ) throws -> Obstacle? {
    guard schema.kind == .table, let layout = layouts.layout(of: schema.name) else {
      return .disabled
    }
    guard layout.detail == .full else { return .keysOnly }
    let journal = CompiledJournal(layouts, of: [schema], in: try Catalog(reading: connection))
    guard journal.intactModels.contains(schema.name) else { return .drifted }
    return journal.exactModels.isEmpty ? .evictions : nil
  }

  /// Returns the past values of the only requested record. Its key may have had another spelling.
  ///
  /// - Parameter now: The current values.
  func image(now: [SQLValue]?) -> [SQLValue]? {
    changes.isEmpty ? now : changes.values.lazy.compactMap(\.old).first
  }
}

/// Why the change journal cannot give the records of a model as of a position.
private enum Obstacle {
  // Now, so for every position.
  case disabled, keysOnly, drifted, evictions
  // After the position, so a later one may be fine.
  case hadKeysOnly, wasDisabled, missedChanges

  func error(_ schema: ModelSchema, _ position: JournalPosition) -> StoreError {
    StoreError(
      .journalGap,
      "\(schema.name) cannot be read as of position \(position.rawValue): \(reason(schema.name)). \(remedy)",
      model: schema.name)
  }

  private func reason(_ model: String) -> String {
    switch self {
    case .disabled: "the change journal does not record \(model)"
    case .keysOnly: "the change journal records only the keys of \(model)"
    case .drifted: "triggers of the change journal on \(model) are missing, changed or too old"
    case .evictions:
      "\(model) has a unique index through which REPLACE may delete records that the change journal does not see"
    case .hadKeysOnly: "the change journal recorded only the keys of \(model) for a while after it"
    case .wasDisabled: "the change journal did not record \(model) for a while after it"
    case .missedChanges:
      "the change journal missed changes of \(model) after it, or has a text that is not UTF-8"
    }
  }

  private var remedy: String {
    switch self {
    case .disabled, .keysOnly:
      "Enable the change journal in full; then you can use positions from that moment on."
    case .drifted:
      "Enable the change journal again; then you can use positions from that moment on."
    case .evictions: "Past records of a model with such an index cannot be read."
    case .hadKeysOnly, .wasDisabled, .missedChanges: "Use a later position."
    }
  }
}
