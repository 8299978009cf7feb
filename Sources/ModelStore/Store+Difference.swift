// Comparing stores record by record, and applying the differences.
extension Store {
  /// Returns what has to change in this store so that it has the records of `other`.
  ///
  /// ```swift
  /// let difference = try store.difference(to: other)
  /// try store.apply(difference)
  /// // Now both have the same content hash.
  /// ```
  ///
  /// It compares all models except views, each store in one state. The order of the fields and the
  /// history of the files make no difference.
  ///
  /// - Throws: ``StoreError`` with code `schemaMismatch` if a model has other fields or another key
  ///   in the other store, or exists in one of them only and has records.
  /// - Complexity: Reads all records of both stores in the order of their keys. The memory depends
  ///   on the differences only; see ``forEachDifference(to:_:)``.
  public func difference(to other: Store) throws -> StoreDifference {
    var difference = StoreDifference()
    try forEachDifference(to: other) { difference.records.append($0) }
    return difference
  }

  /// Returns what has to change in this store so that it has the records of `other`.
  public func difference(to other: Store) async throws -> StoreDifference {
    try await open.calls.run { [self] in try difference(to: other) }
  }

  /// Calls `body` with each record of ``difference(to:)``, ordered by model and key. It needs
  /// memory for one record only.
  public func forEachDifference(
    to other: Store, _ body: (RecordDifference) throws -> Void
  ) throws {
    let engine = try other.open
    try read { before in
      try engine.read { after in
        try StoreComparison(left: before.access, right: after.access).forEach(body)
      }
    }
  }

  /// Calls `body`, on a thread of the store, with each record of ``difference(to:)``.
  public func forEachDifference(
    to other: Store, _ body: @escaping @Sendable (RecordDifference) throws -> Void
  ) async throws {
    try await open.calls.run { [self] in try forEachDifference(to: other, body) }
  }

  /// Returns the net changes between two positions of the change journal, ordered by the first
  /// change of each record.
  ///
  /// - Parameters:
  ///   - start: The earlier position, at the end of a transaction.
  ///   - end: The later position; nil for now.
  /// - Throws: ``StoreError`` with code `journalTrimmed` if the journal does not reach back that
  ///   far; `journalGap` if it is off, or does not have all changes in full.
  /// - Complexity: Reads the entries between the positions, and holds them in memory.
  public func difference(
    from start: JournalPosition, to end: JournalPosition? = nil
  ) throws -> StoreDifference {
    try read { reads in
      let access = reads.access
      guard let history = try recordedHistory(access.connection) else { return StoreDifference() }
      try history.checkReaches(back: start.rawValue)
      var entries: [JournalEntry] = []
      try history.forEach(after: start.rawValue, through: end?.rawValue ?? .max) {
        entries += $0.entries
        return true
      }
      var reversion = try emptyReversion(history.layouts, access)
      try reversion.collect(entries)
      return reversion.difference
    }
  }

  /// Returns the net changes between two positions of the change journal.
  public func difference(
    from start: JournalPosition, to end: JournalPosition? = nil
  ) async throws -> StoreDifference {
    try await open.readCalls.run { [self] in try difference(from: start, to: end) }
  }

  /// Applies a difference as one transaction, through rules, bindings and validators.
  ///
  /// Each record must be as the difference says: a record to update or delete exists with the old
  /// values, one to insert does not exist. Bound fields are not compared and not written, because
  /// they follow their sources. Nothing else may change as a side effect, except through bindings
  /// and triggers.
  ///
  /// - Parameters:
  ///   - author: The author of the transaction in the change journal.
  ///   - mode: ``WriteMode/preview`` rolls back again.
  /// - Returns: The changes of the transaction, bound fields included.
  /// - Throws: ``StoreError`` with code `conflict` and every record that is not as the difference
  ///   says; `rejected` when a rule refuses the result; `unknownModel`, `unknownField`. Then nothing
  ///   was changed.
  @discardableResult
  public func apply(
    _ difference: StoreDifference, by author: String? = nil, mode: WriteMode = .commit
  ) throws -> ChangeSet {
    func body(_ tx: borrowing WriteTransaction) throws {
      var reversion = try emptyReversion(JournalLayouts(), tx.access)
      try reversion.add(difference)
      if author != nil { tx.access.notes.signature = TransactionSignature(author: author) }
      tx.access.notes.review = try reversion.reach(in: tx)
    }
    return try mode == .preview ? preview(body).changes : writeReturningChanges(body).changes
  }

  /// Applies a difference as one transaction, through rules, bindings and validators.
  @discardableResult
  public func apply(
    _ difference: StoreDifference, by author: String? = nil, mode: WriteMode = .commit
  ) async throws -> ChangeSet {
    try await open.calls.run { [self] in try apply(difference, by: author, mode: mode) }
  }
}
