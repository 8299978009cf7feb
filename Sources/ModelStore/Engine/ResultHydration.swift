// Reading a live query's result while writes continue.
extension StoreEngine {
  /// Reads the result of `plan` at one commit, then applies later commits.
  ///
  /// Writers wait only while the reader moves to the latest commit, and while the last few commits
  /// are applied.
  func hydrate(_ plan: LiveBlueprint, by rule: LiveResult.Rule) throws -> any LiveSource {
    for _ in 0..<Self.attemptCount {
      if let source = try connections.hydration.sync({ try hydrated(plan, by: rule, on: $0) }) {
        return source
      }
    }
    // Others write what the journal does not record, or the schema changes. In this case the writes
    // of this store wait for the read.
    return try beside(plan) { writer in
      let rows = LiveRows(
        tree: try rule.tree(reading: try plan.placeText(rule), on: writer.connection),
        version: self.broker.version)
      return try self.part(plan.window, of: try self.follow(rows, plan, by: rule), plan)
    }
  }

  private static let attemptCount = 3
  /// The maximum number of attempts to start the reader at the writer's state.
  private static let entryCount = 32
  /// The maximum number of commits that are applied while writers wait.
  private static let lastCommitCount = 4

  /// Makes one attempt.
  ///
  /// - Returns: nil after a commit that cannot be applied.
  private func hydrated(
    _ plan: LiveBlueprint, by rule: LiveResult.Rule, on reader: Connection
  ) throws -> (any LiveSource)? {
    let hydration = Hydration(plan.interest, by: rule)
    guard let start = try entered(reader, plan, hydration) else { return nil }
    defer { start.end() }
    var rows = LiveRows(
      tree: try leaveRead(on: reader, plan) {
        try rule.tree(reading: try plan.placeText(rule), on: reader)
      }, version: start.version)
    while let count = hydration.advance(&rows) {
      guard count <= Self.lastCommitCount else { continue }
      return try beside(plan) { _ in
        guard hydration.advance(&rows) != nil else { return nil }
        rows.version = self.broker.version
        return try self.part(plan.window, of: try self.follow(rows, plan, by: rule), plan)
      }
    }
    return nil
  }

  /// Begins a transaction of `reader` in the state that observers have received. `hydration` then
  /// receives every later commit.
  ///
  /// - Returns: nil if others commit so fast that the two were never in the same state.
  private func entered(
    _ reader: Connection, _ plan: LiveBlueprint, _ hydration: Hydration
  ) throws -> (version: UInt64, end: @Sendable () -> Void)? {
    for _ in 0..<Self.entryCount {
      var end: (@Sendable () -> Void)?
      do {
        let version = try beside(plan) { writer -> UInt64? in
          guard try self.enterRead(on: reader, beside: writer) else { return nil }
          end = self.broker.add(hydration)
          return self.broker.version
        }
        if let version, let end { return (version, end) }
      } catch {
        end?()
        throw leftRead(on: reader, plan, after: error)
      }
    }
    return nil
  }

  /// Begins a transaction that sees the latest commit and no later one.
  ///
  /// SQLite takes the snapshot at the first read, not at BEGIN:
  /// <https://sqlite.org/lang_transaction.html>.
  ///
  /// - Returns: Whether it sees what `writer` sees, as far as the change journal shows. If not, the
  ///   transaction has ended.
  private func enterRead(on reader: Connection, beside writer: Writer) throws -> Bool {
    try reader.withStatement("BEGIN") { try $0.run() }
    do {
      guard writer.journal != nil else {
        try reader.withStatement("SELECT 1 FROM sqlite_schema LIMIT 1") { try $0.run() }
        return true
      }
      let isBeside =
        try JournalReader.bounds(on: reader) == JournalReader.bounds(on: writer.connection)
      if !isBeside { try reader.rollBack() }
      return isBeside
    } catch {
      throw reader.rollBack(after: error)
    }
  }

  /// Runs `body` and ends the transaction.
  private func leaveRead<Result>(
    on reader: Connection, _ plan: LiveBlueprint, _ body: () throws -> Result
  ) throws -> Result {
    do {
      let result = try body()
      try reader.withStatement("COMMIT") { try $0.run() }
      return result
    } catch {
      throw leftRead(on: reader, plan, after: error)
    }
  }

  /// Ends the transaction, if there is one, after a failure.
  ///
  /// - Returns: The error to throw.
  private func leftRead(
    on reader: Connection, _ plan: LiveBlueprint, after error: any Error
  ) -> any Error {
    let failure = reader.rollBack(after: error)
    return models.storeError(
      (failure as? ConnectionFailure)?.reason ?? failure, about: plan.base.schema)
  }
}

extension LiveBlueprint {
  /// Reads the places of the result's rows, in order.
  func placeText(_ rule: LiveResult.Rule) throws -> SQLText {
    try base.selectText(fields: rule.placeFields)
  }
}
