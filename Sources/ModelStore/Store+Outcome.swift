// Transactions whose end a program did not see.
extension ChangeJournal {
  /// Finds out what became of a transaction that a program did not see ending: the store threw
  /// `outcomeUnknown`, or the process died.
  ///
  /// Where the file does not hold it and nothing was entered behind its place, one empty
  /// transaction is committed there: a commit whose log was written but never taken note of could
  /// otherwise appear when the log is recovered. So ``TransactionOutcome/notCommitted`` stays true.
  ///
  /// - Parameter id: ``WriteTransaction/id``, or ``StoreError/transaction``. A transaction that
  ///   changed nothing leaves no trace and counts as not committed.
  /// - Throws: ``StoreError`` with code `outcomeUnknown` while the store that met the failure is
  ///   open: open it anew first. `busy` when another process is writing for longer than the busy
  ///   timeout.
  /// - Complexity: Reads the entries of one transaction.
  public func outcome(of id: TransactionID) throws -> TransactionOutcome {
    if let outcome = try reading({ try $0.outcome(of: id) }) ?? .unknown { return outcome }
    guard try engine.configuration.access != .readOnly else { return .unknown }
    // While the writer's lock is held nobody else is in the middle of a transaction.
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
  /// - Returns: nil when nobody has taken the transaction's place yet.
  fileprivate func outcome(of id: TransactionID) throws -> TransactionOutcome? {
    if try mark(of: id) != nil { return .committed }
    guard let first = id.first, first >= bounds.lowerBound else { return .unknown }
    return first <= bounds.upperBound ? .notCommitted : nil
  }
}
