// Reading a live query's result while others write.
extension StoreCore {
  /// Reads the result of `plan` as of one commit, then takes over what later commits did.
  ///
  /// Writers wait only while the reader takes its place behind the latest commit, and while the
  /// last few commits are taken over.
  func hydrate(_ plan: LiveBlueprint, by rule: LiveResult.Rule) throws -> any LiveSource {
    for _ in 0..<Self.attemptCount {
      if let source = try hydrationReader.sync({ try hydrated(plan, by: rule, on: $0) }) {
        return source
      }
    }
    // Other processes write all the time, or the schema changes: then nobody may write meanwhile.
    return try beside(plan) { connection in
      let rows = LiveRows(
        tree: try rule.tree(reading: try plan.placeText(rule), on: connection),
        version: self.broker.version)
      return try self.part(plan.window, of: try self.follow(rows, plan, by: rule), plan)
    }
  }

  private static let attemptCount = 3
  /// So few commits are taken over while writers wait.
  private static let lastCommitCount = 4

  /// - Returns: nil when a commit came that cannot be taken over.
  private func hydrated(
    _ plan: LiveBlueprint, by rule: LiveResult.Rule, on reader: Connection
  ) throws -> (any LiveSource)? {
    let hydration = Hydration(plan.interest, by: rule)
    let start = try beside(plan) { _ in
      try self.enterRead(on: reader)
      return (version: self.broker.version, end: self.broker.add(hydration))
    }
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

  /// Begins a transaction that sees the latest commit and no later one. SQLite takes the snapshot
  /// at the first read, not at BEGIN: <https://sqlite.org/lang_transaction.html>.
  private func enterRead(on reader: Connection) throws {
    try reader.withStatement("BEGIN") { try $0.run() }
    do {
      try reader.withStatement("SELECT 1 FROM sqlite_schema LIMIT 1") { try $0.run() }
      try journalSight.note(on: reader)
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
      let failure = reader.rollBack(after: error)
      throw models.storeError(
        (failure as? ConnectionFailure)?.reason ?? failure, about: plan.base.schema)
    }
  }
}

extension LiveBlueprint {
  /// Reads the places of the result's rows, in order.
  fileprivate func placeText(_ rule: LiveResult.Rule) throws -> SQLText {
    try base.selectText(fields: rule.placeFields)
  }
}
