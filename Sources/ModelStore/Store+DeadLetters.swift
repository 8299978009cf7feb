// Changes that workers gave up on.
extension Store {
  /// Returns the dead letters of a consumer's worker, in the order of positions.
  ///
  /// - Parameter consumer: With nil, those of all consumers, in the order of their names.
  /// - Throws: ``StoreError`` with code `corrupt` if a letter cannot be read.
  public func deadLetters(of consumer: String? = nil) throws -> [DeadLetter] {
    try read { reads in
      try DeadLetters(connection: reads.access.connection).all(of: consumer)
    }
  }

  /// Asks the worker of a consumer to process dead letters again. It does so before its next batch,
  /// in any process. A letter that succeeds is removed; one that fails again stays.
  ///
  /// - Parameter positions: The positions of their changes. With nil, all of the consumer.
  /// - Returns: The number of letters; 0 if there is none at these positions.
  @discardableResult
  public func replayDeadLetters(
    of consumer: String, at positions: [JournalPosition]? = nil
  ) throws -> Int {
    let engine = try open
    let count = try engine.maintenance.transaction { connection in
      try DeadLetters(connection: connection).replay(consumer, positions)
    }
    engine.journalListeners.ring()
    return count
  }

  /// Removes dead letters. Their changes stay in the journal.
  ///
  /// - Parameter positions: The positions of their changes. With nil, all of the consumer.
  /// - Returns: The number of letters; 0 if there is none at these positions.
  @discardableResult
  public func dropDeadLetters(
    of consumer: String, at positions: [JournalPosition]? = nil
  ) throws -> Int {
    try open.maintenance.transaction { connection in
      try DeadLetters(connection: connection).remove(consumer, positions)
    }
  }

  /// Returns the dead letters, as the synchronous form does.
  public func deadLetters(of consumer: String? = nil) async throws -> [DeadLetter] {
    try await open.readCalls.run { [self] in try deadLetters(of: consumer) }
  }

  /// Asks the worker to process dead letters again, as the synchronous form does.
  @discardableResult
  public func replayDeadLetters(
    of consumer: String, at positions: [JournalPosition]? = nil
  ) async throws -> Int {
    try await open.calls.run { [self] in try replayDeadLetters(of: consumer, at: positions) }
  }

  /// Removes dead letters, as the synchronous form does.
  @discardableResult
  public func dropDeadLetters(
    of consumer: String, at positions: [JournalPosition]? = nil
  ) async throws -> Int {
    try await open.calls.run { [self] in try dropDeadLetters(of: consumer, at: positions) }
  }
}
