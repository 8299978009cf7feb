// Reading as of a position of the change journal. The current state is reverted entry by entry.
extension Store {
  /// Returns the records that `query` selected as of `position`, in its order. The result is exact,
  /// or the call throws.
  ///
  /// - Parameter position: A position between two transactions, as the journal returns them. For
  ///   tables that other programs write to, any position after one of their entries.
  /// - Throws: ``StoreError`` with code `journalTrimmed` when the journal does not reach back that
  ///   far; `journalGap` when it was off for the model at some time since, or keeps only keys of
  ///   it; `invalidQuery` for a view and for a condition or order that only SQLite can evaluate;
  ///   `misuse` for a position inside a transaction or an entry, or in the future.
  /// - Complexity: Reads the entries since `position`, one record for each record that they name,
  ///   and the current result of the query, of which a limit needs only a part.
  public func fetch<Element>(
    _ query: StoreQuery<Element>, at position: JournalPosition
  ) throws -> [Element] {
    let schema = query.schema
    let images = try open.atOneState { access in
      try PastResult(query).images(
        try PastRecords.read(schema, at: position, in: access), reading: access)
    }
    do {
      return try images.map { try Element(row: RowView(image: $0), schema: schema) }
    } catch let error as ColumnError {
      throw StoreError(error, reading: schema)
    }
  }

  /// Returns the record with that key as of `position`, or nil if it did not exist. Errors as for
  /// ``fetch(_:at:)``.
  ///
  /// - Complexity: Reads the entries since `position`.
  public func find<M: Model>(
    _ model: M.Type, _ key: M.Key, at position: JournalPosition
  ) throws -> M? {
    let schema = try open.models.statements(for: model).schema
    let record = try find(schema, key: try WriteTransaction.values(key), at: position)
    do {
      return try record.map { try M(row: RowView(image: $0.values)) }
    } catch let error as ColumnError {
      throw StoreError(error, reading: schema, key: record?.key)
    }
  }

  /// Returns the record of `schema` with that key as of `position`, or nil if it did not exist.
  /// Errors as for ``fetch(_:at:)``.
  public func find(
    _ schema: ModelSchema, key: [SQLValue], at position: JournalPosition
  ) throws -> DynamicRecord? {
    try open.atOneState { access in
      let now = try access.record(schema, key: key)
      let past = try PastRecords.read(schema, at: position, key: key, in: access)
      return past.image(now: now?.values).map { DynamicRecord(schema: schema, values: $0) }
    }
  }

  /// Returns how the result of `query` changed between two positions: from the older result as of
  /// `start` to the newer as of `end`. Errors as for ``fetch(_:at:)``.
  ///
  /// The versions in the answer are the positions. Every origin is `foreign`, because the journal
  /// does not record which statement changed a value.
  ///
  /// - Parameter end: nil for now.
  /// - Complexity: As ``fetch(_:at:)`` twice.
  public func difference<Element>(
    of query: StoreQuery<Element>, from start: JournalPosition, to end: JournalPosition? = nil
  ) throws -> QueryChanges<Element> {
    let delta = try open.atOneState { access in
      let newest = try JournalReader.bounds(on: access.connection)?.upperBound
      let end = end ?? JournalPosition(rawValue: newest ?? 0)
      let old = try PastRecords.read(query.schema, at: start, in: access)
      let new = try PastRecords.read(query.schema, at: end, in: access)
      return try PastResult(query).delta(
        from: old, UInt64(start.rawValue), to: new, UInt64(end.rawValue), reading: access)
    }
    return try QueryChanges(delta, schema: query.schema)
  }
}

extension StoreEngine {
  /// Runs `body` in a read transaction.
  fileprivate func atOneState<Result>(_ body: (_TransactionAccess) throws -> Result) throws
    -> Result
  {
    try connections.readers.sync { connection in
      try self.read(connection) { tx in try body(tx.access) }
    }
  }
}

/// A query whose past result is computed here.
private struct PastResult {
  let query: StoreQuery<DynamicRecord>
  let window: QueryWindow?
  let rule: LiveResult.Rule

  /// - Throws: ``StoreError`` with code `invalidQuery` when only SQLite can evaluate it.
  init<Element>(_ query: StoreQuery<Element>) throws {
    let blueprint = try LiveBlueprint(query)
    switch blueprint.rule {
    case .success(let rule): self.rule = rule
    case .failure(let requery):
      throw StoreError(
        .invalidQuery,
        "The past result of this query of \(query.schema.name) cannot be computed: \(requery.reason).",
        model: query.schema.name)
    }
    self.query = blueprint.base
    window = blueprint.window
  }

  /// Returns the past result, in order.
  func images(_ past: PastRecords, reading access: _TransactionAccess) throws -> [[SQLValue]] {
    var query = query
    if let limit = window?.limit {
      // The unchanged records of the past result are among this many records of the current result.
      let (end, first) = limit.addingReportingOverflow(window?.offset ?? 0)
      let (count, second) = end.addingReportingOverflow(past.changes.count)
      if !first, !second { query.limit = count }
    }
    let now: [DynamicRecord] = try access.records(try query.selectText(), of: query.schema)
    var rows = now.filter { past.changes[$0.key] == nil }
      .map { (entry: rule.entry($0.values), image: $0.values) }
    let others = past.changes.values.compactMap(\.old).filter { rule.admits?($0) ?? true }
    if !others.isEmpty {
      rows += others.map { (entry: rule.entry($0), image: $0) }
      rows.sort { $0.entry < $1.entry }
    }
    let shown = window?.range(in: rows.count) ?? 0..<rows.count
    return rows[shown].map(\.image)
  }

  func delta(
    from old: PastRecords, _ oldVersion: UInt64, to new: PastRecords, _ newVersion: UInt64,
    reading access: _TransactionAccess
  ) throws -> QueryDelta {
    let result = FetchedResult.Rule(
      schema: query.schema, terms: rule.terms, isWindow: window != nil)
    let before = result.list(try images(old, reading: access), in: window)
    let after = result.list(try images(new, reading: access), in: window)
    return QueryDelta(
      old: LiveRows(list: before, version: oldVersion),
      new: LiveRows(list: after, version: newVersion),
      touches: result.touches(
        from: before, to: after,
        changes: FewByKey(Self.changes(from: old, to: new)), origin: .foreign),
      isReset: false)
  }

  /// Returns the changes between the positions of records that changed after either position.
  private static func changes(
    from old: PastRecords, to new: PastRecords
  ) -> [[SQLValue]: RecordChange] {
    var changes = old.changes
    for (key, change) in new.changes {
      let before = old.changes[key].map(\.old) ?? change.new
      changes[key] = RecordChange(
        model: change.model, key: key, old: before, new: change.old, fields: [], origin: .foreign,
        isRecreated: false, changed: .all)
    }
    return changes
  }
}
