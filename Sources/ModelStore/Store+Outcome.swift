// Transactions whose end a program did not see.
extension ChangeJournal {
  /// Finds out whether a transaction committed when your program did not see its end: the store
  /// threw `outcomeUnknown`, or the process died.
  ///
  /// If the file does not contain the transaction, and nothing was recorded after its place, one
  /// empty transaction is committed in that place. Otherwise a commit that was written to the log
  /// but not finished could reappear when the log is recovered. So
  /// ``TransactionOutcome/notCommitted`` is final.
  ///
  /// - Parameter id: ``WriteTransaction/id``, or ``StoreError/transaction``. A transaction without
  ///   changes leaves no trace and counts as not committed.
  /// - Throws: ``StoreError`` with code `outcomeUnknown` while the store that met the failure is
  ///   open: close it and open it again first. `busy` when another process writes for longer than
  ///   the busy timeout.
  /// - Complexity: Reads the entries of one transaction.
  public func outcome(of id: TransactionID) throws -> TransactionOutcome {
    if let outcome = try reading({ try $0.outcome(of: id) }) ?? .unknown { return outcome }
    guard try engine.configuration.access != .readOnly else { return .unknown }
    // While this process holds the writer's lock, no other program is in the middle of a
    // transaction.
    return try engine.write { tx in
      guard let history = try JournalHistory(reading: tx.access.connection) else { return .unknown }
      if let outcome = try history.outcome(of: id) { return outcome }
      guard !history.layouts.current.isEmpty else { return .unknown }
      tx.access.notes.isSignedAnyway = true
      return .notCommitted
    }
  }
}

extension JournalHistory {
  /// - Returns: nil when no transaction has taken the place yet.
  fileprivate func outcome(of id: TransactionID) throws -> TransactionOutcome? {
    if try mark(of: id) != nil { return .committed }
    guard let first = id.first, first >= bounds.lowerBound else { return .unknown }
    return first <= bounds.upperBound ? .notCommitted : nil
  }
}
