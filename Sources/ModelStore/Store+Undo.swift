/// A transaction that reverted the changes of others.
public struct Reversal: Hashable, Sendable {
  /// The reverted transaction; nil for a range of the journal.
  public let reverted: TransactionID?
  /// The transaction that reverted it. You can revert it in turn.
  public let transaction: TransactionID
  /// The changes that it made, bound fields included.
  public let changes: ChangeSet
  /// The rules that only warn and that the reverted records break now.
  package let warned: WarnedRecords
}

/// The result of reverting several transactions, one after the other, without committing.
package struct ReversalPreview: Hashable, Sendable {
  /// The transactions that would be reverted, in that order. Fewer than requested if no more exist.
  package let reverted: [TransactionID]
  /// The net change of all of them, record by record, bound fields included.
  package let changes: ChangeSet
  /// The rules that only warn and that the reverted records would break.
  package let warned: WarnedRecords
}

// Reverting transactions with the change journal.
extension Store {
  /// Reverts the changes of one transaction to models with a full journal, as one new transaction
  /// that runs rules, bindings and validators.
  ///
  /// Records and fields that the transaction left unchanged stay as they are now. Records and
  /// fields that it changed must still have its values, except for bound fields, which are updated.
  /// Nothing else may change as a side effect, except through bindings and triggers.
  ///
  /// - Parameters:
  ///   - author: The author of the new transaction.
  ///   - mode: ``WriteMode/preview`` rolls back again, and returns what would be done or throws why
  ///     it would be refused. Observers are not notified.
  /// - Returns: What was done; nil when there was nothing to revert.
  /// - Throws: ``StoreError`` with code `conflict` and every conflicting record as a violation,
  ///   `rejected` when a rule refuses the change, `unknownTransaction`, `journalTrimmed` when the
  ///   transaction has been trimmed, `journalGap` when the journal has only part of it, or has only
  ///   keys of one of its models, or is not on in full for each of them now. Then nothing was
  ///   changed.
  /// - Complexity: Reads the transaction's entries and the records that they name.
  @discardableResult
  public func revert(
    _ id: TransactionID, by author: String? = nil, mode: WriteMode = .commit
  ) throws -> Reversal? {
    try reverting(by: author, mode: mode) { history in
      guard let found = try history.transaction(id) else {
        if let first = id.first { try history.checkReaches(back: first - 1) }
        throw StoreError(
          .unknownTransaction, "The change journal has no transaction \(id); nothing was changed.")
      }
      return [found]
    }
  }

  /// Reverts everything that was done after `start` and not after `end`, by other programs too, as
  /// one new transaction. As ``revert(_:by:mode:)``, for whole transactions. The reverted
  /// transactions do not count as undone for ``undo(by:mode:)``.
  ///
  /// - Parameter end: nil for up to now.
  @discardableResult
  public func revert(
    after start: JournalPosition, through end: JournalPosition? = nil, by author: String? = nil
  ) throws -> Reversal? {
    try reverting(by: author, asRange: true) { history in
      try history.checkReaches(back: start.rawValue)
      var all: [LoggedTransaction] = []
      try history.forEach(after: start.rawValue, through: end?.rawValue ?? .max) {
        all.append($0)
        return true
      }
      return all
    }
  }

  /// Reverts this program's newest transaction that is neither reverted nor itself a reversal, in
  /// any process. As ``revert(_:by:mode:)``.
  ///
  /// - Parameters:
  ///   - author: Only transactions that ``WriteTransaction/sign(author:tag:)`` gave this author;
  ///     nil for all authors.
  ///   - mode: As for ``revert(_:by:mode:)``.
  /// - Returns: nil when there is nothing to undo.
  /// - Throws: As ``revert(_:by:mode:)``; `journalGap` also when the journal is off.
  /// - Complexity: Also reads back from the end of the journal to that transaction.
  @discardableResult
  public func undo(by author: String? = nil, mode: WriteMode = .commit) throws -> Reversal? {
    try reverting(by: author, mode: mode) {
      try $0.newestDone(of: WritingProgram(), author)
    }
  }

  /// Reverts this program's newest ``undo(by:mode:)`` that is not yet redone, so that the undone
  /// change takes effect again. After a new change, earlier undos can no longer be redone.
  /// ``revert(_:by:mode:)`` of the undo still works.
  ///
  /// - Parameters:
  ///   - author: Only undos by this author are redone, and only changes by this author prevent it;
  ///     nil for all authors.
  ///   - mode: As for ``revert(_:by:mode:)``.
  /// - Returns: nil when there is nothing to redo.
  /// - Throws: As ``revert(_:by:mode:)``; `journalGap` also when the journal is off.
  /// - Complexity: Also reads back from the end of the journal to that undo.
  @discardableResult
  public func redo(by author: String? = nil, mode: WriteMode = .commit) throws -> Reversal? {
    try reverting(by: author, mode: mode) {
      try $0.newestUndone(of: WritingProgram(), author)
    }
  }

  /// Returns what `count` calls of ``undo(by:mode:)`` would do.
  ///
  /// All of them run in one transaction, which is rolled back. Each is refused where the real call
  /// would be, with one exception. Checks at the end of a transaction see only the net result of
  /// all calls: validators in Swift, deferred references, and the check for side effects.
  ///
  /// - Returns: nil when there is nothing to undo.
  /// - Throws: As ``undo(by:mode:)``, for the first call that would be refused.
  package func previewUndo(_ count: Int, by author: String? = nil) throws -> ReversalPreview? {
    try previewing(count) { try $0.newestDone(of: WritingProgram(), author, except: $1) }
  }

  /// Returns what `count` calls of ``redo(by:mode:)`` would do. As ``previewUndo(_:by:)``.
  ///
  /// - Returns: nil when there is nothing to redo.
  package func previewRedo(_ count: Int, by author: String? = nil) throws -> ReversalPreview? {
    try previewing(count) { try $0.newestUndone(of: WritingProgram(), author, except: $1) }
  }

  /// - Parameter next: Returns the next transaction to revert, given the previous ones.
  private func previewing(
    _ count: Int, _ next: (JournalHistory, Set<TransactionID>) throws -> [LoggedTransaction]
  ) throws -> ReversalPreview? {
    var warned = WarnedRecords()
    let (reverted, changes) = try preview { tx in
      var reverted: [TransactionID] = []
      var reversions: [Reversion] = []
      guard let history = try recordedHistory(tx.access.connection) else { return reverted }
      while reverted.count < count {
        let found = try next(history, Set(reverted))
        let reversion = try reversion(of: found, history, tx.access)
        guard let id = found.first?.mark?.id else { break }
        _ = try reversion.apply(in: tx)
        reverted.append(id)
        reversions.append(reversion)
      }
      tx.access.notes.review = { [reversions] in try Reversion.judge($0, of: reversions) }
      tx.reviewWarnings { warned = $0 }
      return reverted
    }
    guard !reverted.isEmpty else { return nil }
    return ReversalPreview(reverted: reverted, changes: changes, warned: warned)
  }

  /// Returns the journal, or nil when it is on and nothing has been recorded yet.
  ///
  /// - Throws: ``StoreError`` with code `journalGap` when the journal is off. Then nothing can be
  ///   reverted, which differs from having nothing to revert.
  func recordedHistory(_ connection: Connection) throws -> JournalHistory? {
    guard try JournalLayouts(reading: connection)?.current.isEmpty == false else {
      throw StoreError(
        .journalGap,
        "Nothing can be undone, redone or reverted: the change journal is off. Turn it on with changeJournal.enable(); changes from then on can be undone."
      )
    }
    return try JournalHistory(reading: connection)
  }

  /// - Throws: ``StoreError`` with code `journalGap` when the journal has only part of it.
  private func reversion(
    of found: [LoggedTransaction], _ history: JournalHistory, _ access: _TransactionAccess
  ) throws -> Reversion {
    var reversion = try emptyReversion(history.layouts, access)
    try reversion.add(found.flatMap(\.entries))
    return reversion
  }

  /// A reversion without entries, for the models in effect.
  func emptyReversion(
    _ layouts: JournalLayouts, _ access: _TransactionAccess
  ) throws -> Reversion {
    Reversion(
      layouts: layouts, models: access.models.schema,
      bindings: try CatalogEntries.bindings.read(on: access.connection),
      catalog: try Catalog(reading: access.connection), refusals: engine.configuration.refusals)
  }

  /// - Parameter transactions: Returns the transactions to revert, oldest first.
  private func reverting(
    by author: String?, asRange: Bool = false, mode: WriteMode = .commit,
    _ transactions: (JournalHistory) throws -> [LoggedTransaction]
  ) throws -> Reversal? {
    var warned = WarnedRecords()
    func body(_ tx: borrowing WriteTransaction) throws -> (TransactionID?, TransactionID)? {
      let access = tx.access
      guard let history = try recordedHistory(access.connection) else { return nil }
      let found = try transactions(history)
      let reversion = try reversion(of: found, history, access)
      guard !found.isEmpty else { return nil }
      access.notes.signature = TransactionSignature(author: author)
      let mark = asRange ? nil : found.first?.mark
      access.notes.reversal = mark.map { JournalMark.Reversal(of: $0) }
      // A transaction without a net change is also recorded as reverted, or it would be found
      // again.
      access.notes.isSignedAnyway = mark != nil
      guard mark != nil || !reversion.isEmpty else { return nil }
      access.notes.review = try reversion.apply(in: tx)
      tx.reviewWarnings { warned = $0 }
      return (mark?.id, tx.id)
    }
    let (done, changes) = try mode == .preview ? preview(body) : writeReturningChanges(body)
    return done.map {
      Reversal(reverted: $0.0, transaction: $0.1, changes: changes, warned: warned)
    }
  }
}

extension JournalHistory {
  /// Returns the program's newest transaction that is not a reversal and is in effect; empty when
  /// there is none.
  ///
  /// - Parameter taken: Transactions that are no longer in effect, although no commit record says
  ///   so.
  fileprivate func newestDone(
    of program: WritingProgram, _ author: String?, except taken: Set<TransactionID> = []
  ) throws -> [LoggedTransaction] {
    var undone = Dictionary(uniqueKeysWithValues: taken.map { ($0, true) })
    let done = try newestMark(of: program.name, author) { mark in
      guard let origin = mark.origin else { return mark.isOwn && undone[mark.id] != true }
      // The newest of a chain decides.
      if undone[origin] == nil { undone[origin] = mark.isUndo }
      return false
    }
    return try whole(done)
  }

  /// Returns the program's newest undo that was not redone; empty when there is none, or when a
  /// newer transaction of the program is not a reversal.
  ///
  /// - Parameter taken: Transactions that were reverted, although no commit record says so.
  fileprivate func newestUndone(
    of program: WritingProgram, _ author: String?, except taken: Set<TransactionID> = []
  ) throws -> [LoggedTransaction] {
    var seen: Set<TransactionID> = []
    let newest = try newestMark(of: program.name, author) { mark in
      guard let origin = mark.origin else { return mark.isOwn }
      return seen.insert(origin).inserted && mark.isUndo && mark.isOwn && !taken.contains(mark.id)
    }
    return try whole(newest.flatMap { $0.origin == nil ? nil : $0 })
  }

  private func whole(_ mark: MarkOutline?) throws -> [LoggedTransaction] {
    try mark.flatMap { try transaction($0.id) }.map { [$0] } ?? []
  }
}
