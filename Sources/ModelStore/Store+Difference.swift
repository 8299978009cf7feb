// Comparing stores record by record, and applying the differences.
extension Store {
  /// Returns what has to change in this store so that it has the records of `other`.
  ///
  /// ```swift
  /// let differences = try store.difference(to: other)
  /// try store.apply(differences)
  /// // Now both have the same content hash.
  /// ```
  ///
  /// It compares all models except views, each store in one state. The order of the fields and the
  /// history of the files make no difference.
  ///
  /// - Returns: The records that differ, ordered by model and key. A key that has only another
  ///   storage class, such as 1 and 1.0, is a deletion and an insertion.
  /// - Throws: ``StoreError`` with code `schemaMismatch` and every model that has other fields or
  ///   another key in the other store, or exists in one of them only and has records.
  /// - Complexity: Reads all records of both stores in the order of their keys. The memory depends
  ///   on the differences only; see ``forEachDifference(to:_:)``.
  public func difference(to other: Store) throws -> [RecordDifference] {
    var differences: [RecordDifference] = []
    try forEachDifference(to: other) { differences.append($0) }
    return differences
  }

  /// Returns what has to change in this store so that it has the records of `other`.
  public func difference(to other: Store) async throws -> [RecordDifference] {
    try await open.calls.run { [self] in try difference(to: other) }
  }

  /// Calls `body` with each record of ``difference(to:)``, ordered by model and key. Nothing is
  /// kept, so the memory does not depend on the size of the stores. If a key in an adopted table
  /// has another collation than BINARY, its rows are sorted in memory.
  public func forEachDifference(
    to other: Store, _ body: (RecordDifference) throws -> Void
  ) throws {
    let (own, others) = (try open, try other.open)
    guard own !== others else { return }
    // Readers are taken in one order, so that two comparisons cannot wait for each other.
    if own.file.path < others.file.path {
      try own.read { before in
        try others.read { after in try compare(before, with: other, after, body) }
      }
    } else {
      try others.read { after in
        try own.read { before in try compare(before, with: other, after, body) }
      }
    }
  }

  private func compare(
    _ before: borrowing ReadTransaction, with other: Store, _ after: borrowing ReadTransaction,
    _ body: (RecordDifference) throws -> Void
  ) throws {
    try StoreComparison(
      left: .init(name: path, access: before.access),
      right: .init(name: other.path, access: after.access)
    ).forEach(body)
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
  ///   far; `journalGap` if it is off, or does not have all changes in full; `misuse` for a
  ///   position in the future.
  /// - Complexity: Reads the entries between the positions, and holds them in memory.
  public func difference(
    from start: JournalPosition, to end: JournalPosition? = nil
  ) throws -> [RecordDifference] {
    try read { reads in
      let access = reads.access
      let history = try recordedHistory(access.connection)
      let newest = try JournalReader.end(on: access.connection) ?? 0
      if let last = [start, end ?? start].map(\.rawValue).max(), last > newest {
        throw StoreError(
          .misuse,
          "The change journal ends at position \(newest); there is no \(last) yet. After a backup was restored, positions after its own are used again."
        )
      }
      guard let history else { return [] }
      try history.checkReaches(back: start.rawValue)
      var entries: [JournalEntry] = []
      try history.forEach(after: start.rawValue, through: end?.rawValue ?? .max) {
        entries += $0.entries
        return true
      }
      var reversion = try emptyReversion(history.layouts, access)
      try reversion.collect(entries)
      return reversion.differences
    }
  }

  /// Returns the net changes between two positions of the change journal.
  public func difference(
    from start: JournalPosition, to end: JournalPosition? = nil
  ) async throws -> [RecordDifference] {
    try await open.readCalls.run { [self] in try difference(from: start, to: end) }
  }

  /// Applies differences as one transaction, through rules, bindings and validators.
  ///
  /// Each record must be as its difference says: a record to update or delete exists with the old
  /// values, one to insert does not exist. Bound fields are not compared and not written, because
  /// they follow their sources. An update of bound fields alone is left out, also if the record is
  /// gone. Nothing else may change as a side effect, except through bindings
  /// and triggers.
  ///
  /// - Parameters:
  ///   - author: The author of the transaction in the change journal.
  ///   - mode: ``WriteMode/preview`` rolls back again.
  /// - Returns: The changes of the transaction, bound fields included.
  /// - Throws: ``StoreError`` with code `conflict` and every record that is not as its difference
  ///   says; `rejected` if a rule refuses the result; `unknownModel`, `unknownField`. Then nothing
  ///   was changed.
  @discardableResult
  public func apply(
    _ differences: [RecordDifference], by author: String? = nil, mode: WriteMode = .commit
  ) throws -> ChangeSet {
    func body(_ tx: borrowing WriteTransaction) throws {
      let access = tx.access
      var reversion = try emptyReversion(JournalLayouts(), access)
      try reversion.add(differences)
      if author != nil { access.notes.signature = TransactionSignature(author: author) }
      access.notes.review = try reversion.reach(in: tx)
    }
    return try mode == .preview ? preview(body).changes : writeReturningChanges(body).changes
  }

  /// Applies differences as one transaction, through rules, bindings and validators.
  @discardableResult
  public func apply(
    _ differences: [RecordDifference], by author: String? = nil, mode: WriteMode = .commit
  ) async throws -> ChangeSet {
    try await open.calls.run { [self] in try apply(differences, by: author, mode: mode) }
  }
}
