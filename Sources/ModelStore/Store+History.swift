// The past transactions in the change journal.
extension ChangeJournal {
  /// Returns the transactions that ended after `start` and not after `end`, oldest first. A
  /// transaction that began before `start` is returned whole.
  ///
  /// - Parameters:
  ///   - start: nil to begin with the oldest kept transaction.
  ///   - end: nil to end with the newest transaction.
  ///   - filter: Which transactions to return, and which of their changes.
  ///   - limit: The maximum number of transactions; nil for all.
  /// - Throws: ``StoreError`` with code `journalTrimmed` when some transactions after `start`, or
  ///   the transaction with the requested id, have been trimmed.
  /// - Complexity: Reads the entries after `start` until there are enough; for a transaction by its
  ///   id only that transaction.
  public func transactions(
    after start: JournalPosition? = nil, through end: JournalPosition? = nil,
    matching filter: JournalFilter = JournalFilter(), limit: Int? = nil
  ) throws -> [JournalTransaction] {
    try reading { history in
      let start = start?.rawValue ?? history.bounds.lowerBound - 1
      let end = end?.rawValue ?? .max
      try history.checkReaches(back: start)
      var collected = Collected(
        filter, limit, history.layouts, try engine.models.followedBindings)
      guard collected.takesMore else { return [] }
      if let id = filter.transaction {
        let found = try history.transaction(id)
        if found == nil, let first = id.first { try history.checkReaches(back: first - 1) }
        if let found, found.positions.upperBound > start, found.positions.upperBound <= end,
          filter.admits(found.mark)
        {
          _ = collected.take(found)
        }
      } else {
        try history.forEach(after: start, through: end, where: filter.admits) {
          collected.take($0)
        }
      }
      return collected.transactions
    } ?? []
  }

  /// Returns the transactions that ended before `position`, newest first, as far back as the
  /// journal is kept.
  ///
  /// - Parameters:
  ///   - position: nil to begin with the newest transaction.
  ///   - filter: Which transactions to return, and which of their changes.
  ///   - limit: The maximum number of transactions; nil for all.
  /// - Complexity: Reads back from the end until there are enough.
  public func newestTransactions(
    before position: JournalPosition? = nil, matching filter: JournalFilter = JournalFilter(),
    limit: Int? = nil
  ) throws -> [JournalTransaction] {
    try reading { history in
      var collected = Collected(
        filter, limit, history.layouts, try engine.models.followedBindings)
      guard collected.takesMore else { return [] }
      try history.forEachNewestFirst(
        before: position?.rawValue ?? .max, where: filter.admits
      ) { collected.take($0) }
      return collected.transactions
    } ?? []
  }

  /// Reads every entry, to check that all can be read.
  ///
  /// - Throws: ``StoreError``, as reading them all would.
  /// - Complexity: O(entries) in time, O(1) in memory.
  package func check() throws {
    _ = try reading { history in try history.check() }
  }

  /// The transactions collected so far, and the filter for them.
  private struct Collected {
    let filter: JournalFilter
    let limit: Int
    let layouts: JournalLayouts
    let bindings: FollowedBindings
    private(set) var transactions: [JournalTransaction] = []

    init(
      _ filter: JournalFilter, _ limit: Int?, _ layouts: JournalLayouts,
      _ bindings: FollowedBindings
    ) {
      self.filter = filter
      self.limit = limit ?? .max
      self.layouts = layouts
      self.bindings = bindings
    }

    var takesMore: Bool { transactions.count < limit }

    /// - Returns: Whether more transactions are needed.
    mutating func take(_ logged: LoggedTransaction) -> Bool {
      let transaction = JournalTransaction(
        logged, layouts: layouts, filter: filter, bindings: bindings)
      if !filter.selectsChanges || !transaction.changes.isEmpty || !transaction.gaps.isEmpty {
        transactions.append(transaction)
      }
      return takesMore
    }
  }

  /// Runs `body` on one state of the journal.
  ///
  /// - Returns: nil when nothing was ever recorded.
  func reading<Result>(_ body: (JournalHistory) throws -> Result) throws -> Result? {
    try engine.connections.readers.sync { connection in
      try engine.read(connection) { tx in
        try JournalHistory(reading: tx.access.connection).map(body)
      }
    }
  }
}
