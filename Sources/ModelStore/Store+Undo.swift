/// A transaction that took back what others did.
public struct Reversal: Hashable, Sendable {
  /// What was taken back; nil for a range of the journal.
  public let reverted: TransactionID?
  /// The transaction that did it, which can be taken back in its turn.
  public let transaction: TransactionID
  /// What it changed, bound fields included.
  public let changes: ChangeSet
}

/// What taking back several transactions would do, one after the other.
package struct ReversalPreview: Hashable, Sendable {
  /// What would be taken back, in that order: fewer than asked for where there are no more.
  package let reverted: [TransactionID]
  /// What all of it comes to, record by record, bound fields included.
  package let changes: ChangeSet
}

// Taking back, with the change journal.
extension Store {
  /// Takes back what one transaction did to models with a full journal, as one new transaction
  /// through rules, bindings and validators.
  ///
  /// Records and fields that it left alone stay as they are now. What it changed must still be as
  /// it left it, but for bound fields, which follow. Nothing else may change along, except what
  /// bindings and triggers do.
  ///
  /// - Parameters:
  ///   - author: Who takes it back; the new transaction is signed so.
  ///   - mode: ``WriteMode/preview`` rolls it back again and tells what would be done or why it
  ///     would be refused, and nothing is announced.
  /// - Returns: What was done; nil when there was nothing to take back.
  /// - Throws: ``StoreError`` with code `conflict` and every such record as a violation, `rejected`
  ///   when a rule refuses, `unknownTransaction`, `journalTrimmed` when it is not kept any more,
  ///   `journalGap` when the journal does not tell all of it, or has only keys of one of its
  ///   models, or is not on in full for each of them now. Then nothing was changed.
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

  /// Takes back everything that was done behind `start` and not behind `end`, by other programs
  /// too, as one new transaction. As ``revert(_:by:mode:)``, for whole transactions. Unlike
  /// those that are taken back one by one, they do not count as undone for ``undo(by:mode:)``.
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

  /// Takes back this program's newest transaction that is not taken back yet and did not itself
  /// take back another, in any process. As ``revert(_:by:mode:)``.
  ///
  /// - Parameters:
  ///   - author: Only transactions that ``WriteTransaction/sign(author:tag:)`` signed so; nil for
  ///     everybody's.
  ///   - mode: As for ``revert(_:by:mode:)``.
  /// - Returns: nil when there is none.
  /// - Throws: As ``revert(_:by:mode:)``; `journalGap` also when the journal is off.
  /// - Complexity: Also reads back from the end of the journal to that transaction.
  @discardableResult
  public func undo(by author: String? = nil, mode: WriteMode = .commit) throws -> Reversal? {
    try reverting(by: author, mode: mode) {
      try $0.newestDone(of: WritingProgram(), author)
    }
  }

  /// Takes back this program's newest ``undo(by:mode:)`` that is not taken back yet, so that
  /// what was undone holds again. A new change ends that: what was undone before it is not done
  /// again. ``revert(_:by:mode:)`` of the undo does it all the same.
  ///
  /// - Parameters:
  ///   - author: Only what was undone by this author, and only changes of this author end it; nil
  ///     for everybody's.
  ///   - mode: As for ``revert(_:by:mode:)``.
  /// - Returns: nil when there is none.
  /// - Throws: As ``revert(_:by:mode:)``; `journalGap` also when the journal is off.
  /// - Complexity: Also reads back from the end of the journal to that undo.
  @discardableResult
  public func redo(by author: String? = nil, mode: WriteMode = .commit) throws -> Reversal? {
    try reverting(by: author, mode: mode) {
      try $0.newestUndone(of: WritingProgram(), author)
    }
  }

  /// What so many calls of ``undo(by:mode:)`` would do.
  ///
  /// They are made in one transaction, which is rolled back. So each is refused where it would be,
  /// but for what is judged at the end of a transaction: validators in Swift, deferred references
  /// and what may not change along are held against what all of them come to.
  ///
  /// - Returns: nil when there is nothing to undo.
  /// - Throws: As ``undo(by:mode:)``, for whichever would be refused.
  package func previewUndo(_ count: Int, by author: String? = nil) throws -> ReversalPreview? {
    try previewing(count) { try $0.newestDone(of: WritingProgram(), author, except: $1) }
  }

  /// What so many calls of ``redo(by:mode:)`` would do. As ``previewUndo(_:by:)``.
  ///
  /// - Returns: nil when there is nothing to redo.
  package func previewRedo(_ count: Int, by author: String? = nil) throws -> ReversalPreview? {
    try previewing(count) { try $0.newestUndone(of: WritingProgram(), author, except: $1) }
  }

  /// - Parameter next: Finds out what to take back next, given what was before.
  private func previewing(
    _ count: Int, _ next: (JournalHistory, Set<TransactionID>) throws -> [LoggedTransaction]
  ) throws -> ReversalPreview? {
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
      return reverted
    }
    return reverted.isEmpty ? nil : ReversalPreview(reverted: reverted, changes: changes)
  }

  /// Returns the journal, or nil when it is on and nothing has been recorded yet.
  ///
  /// - Throws: ``StoreError`` with code `journalGap` when the journal is off: then nothing can be
  ///   taken back, which is not the same as nothing to take back.
  private func recordedHistory(_ connection: Connection) throws -> JournalHistory? {
    guard try JournalLayouts(reading: connection)?.current.isEmpty == false else {
      throw StoreError(
        .journalGap,
        "Nothing can be undone, redone or reverted: the change journal is off. Turn it on with changeJournal.enable(); changes from then on can be undone."
      )
    }
    return try JournalHistory(reading: connection)
  }

  /// - Throws: ``StoreError`` with code `journalGap` when the journal does not tell all of it.
  private func reversion(
    of found: [LoggedTransaction], _ history: JournalHistory, _ access: _TransactionAccess
  ) throws -> Reversion {
    var reversion = Reversion(
      layouts: history.layouts, models: access.models.schema,
      bindings: try CatalogEntries.bindings.read(on: access.connection),
      catalog: try Catalog(reading: access.connection), refusals: engine.configuration.refusals)
    try reversion.add(found.flatMap(\.entries))
    return reversion
  }

  /// - Parameter transactions: Finds out what to take back, oldest first.
  private func reverting(
    by author: String?, asRange: Bool = false, mode: WriteMode = .commit,
    _ transactions: (JournalHistory) throws -> [LoggedTransaction]
  ) throws -> Reversal? {
    func body(_ tx: borrowing WriteTransaction) throws -> (TransactionID?, TransactionID)? {
      let access = tx.access
      guard let history = try recordedHistory(access.connection) else { return nil }
      let found = try transactions(history)
      let reversion = try reversion(of: found, history, access)
      guard !found.isEmpty else { return nil }
      access.notes.signature = TransactionSignature(author: author)
      let mark = asRange ? nil : found.first?.mark
      access.notes.reversal = mark.map { JournalMark.Reversal(of: $0) }
      // What comes to nothing is taken back too, or it would be found again.
      access.notes.isSignedAnyway = mark != nil
      guard mark != nil || !reversion.isEmpty else { return nil }
      access.notes.review = try reversion.apply(in: tx)
      return (mark?.id, tx.id)
    }
    let (done, changes) = try mode == .preview ? preview(body) : writeReturningChanges(body)
    return done.map { Reversal(reverted: $0.0, transaction: $0.1, changes: changes) }
  }
}

extension JournalHistory {
  /// The newest transaction of a program that took nothing back and holds; empty when there is
  /// none.
  ///
  /// - Parameter taken: Those that do not hold any more, although no mark says so.
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

  /// The newest undo of a program that was not taken back; empty when there is none, or a newer
  /// transaction of the program that took nothing back.
  ///
  /// - Parameter taken: Those that were taken back, although no mark says so.
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
