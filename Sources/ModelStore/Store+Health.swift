// The state of a store, for readiness probes.
extension Store {
  /// Returns what a readiness probe asks. It changes nothing. While a write runs, it does not wait
  /// for it, and counts the store as writable.
  ///
  /// ```swift
  /// let health = try store.health()
  /// let isReady = health.isWritable && health.consumerLags.values.allSatisfy { $0 < 10_000 }
  /// ```
  ///
  /// For a member of a shared store, it asks the ledger. If the ledger cannot be reached, that may
  /// take as long as the ledger waits for an answer.
  ///
  /// - Throws: ``StoreError`` if the file cannot be read.
  /// - Complexity: About five small statements for each table of the models.
  public func health() throws -> StoreHealth {
    let engine = try open
    let member = try engine.memberHealth()
    let lags = try consumers().map { ($0.name, $0.lag) }
    return StoreHealth(
      obstacle: try writeObstacle(of: engine) ?? member?.obstacle,
      oldestRead: engine.monitors.oldestRead,
      logByteCount: try engine.file.logByteCount(), freeByteCount: engine.file.freeByteCount,
      consumerLags: Dictionary(lags, uniquingKeysWith: max),
      drift: try schemaDrift().map(\.owner.name), member: member,
      sqliteVersion: Self.sqliteVersion, sqliteBugs: LibraryVersion.current.bugs)
  }

  /// Returns what a readiness probe asks, as the synchronous form does.
  public func health() async throws -> StoreHealth {
    try await open.readCalls.run { [self] in try health() }
  }

  /// Returns the file's part in a shared store, which ``health()`` returns as well; nil if the file
  /// is not a member of one. It asks the ledger.
  ///
  /// - Throws: ``StoreError`` if the file cannot be read.
  public func memberHealth() throws -> MemberHealth? { try open.memberHealth() }

  /// Returns the file's part in a shared store, as the synchronous form does.
  public func memberHealth() async throws -> MemberHealth? {
    try await open.readCalls.run { [self] in try memberHealth() }
  }

  /// Why no write may begin; nil if one may.
  private func writeObstacle(of engine: StoreEngine) throws -> String? {
    do {
      try lease.checkAcceptsWrites()
      try engine.configuration.checkWritable()
      try engine.file.checkPresence()
      // A write that runs has passed the check.
      guard engine.connections.writer.isIdle else { return nil }
      try engine.connections.writer.sync { writer in try writer.checkReady() }
      return nil
    } catch let problem as DatabaseFile.Problem {
      return problem.storeError.message
    } catch let error as StoreError {
      return error.message
    }
  }
}
