// Asynchronous forms of calls that read the change journal and revert transactions.
//
// Parameters, results and errors are those of the synchronous forms. If you cancel the task, they
// throw `CancellationError`, and nothing was changed.
extension Store {
  /// Reverts the changes of one transaction, as one new transaction.
  @discardableResult
  public func revert(
    _ id: TransactionID, by author: String? = nil, mode: WriteMode = .commit
  ) async throws -> Reversal? {
    try await open.calls.run { [self] in try revert(id, by: author, mode: mode) }
  }

  /// Reverts everything that was done after `start` up to `end`, as one new transaction.
  @discardableResult
  public func revert(
    after start: JournalPosition, through end: JournalPosition? = nil, by author: String? = nil
  ) async throws -> Reversal? {
    try await open.calls.run { [self] in try revert(after: start, through: end, by: author) }
  }

  /// Reverts this program's newest transaction that is not reverted yet.
  @discardableResult
  public func undo(by author: String? = nil, mode: WriteMode = .commit) async throws -> Reversal? {
    try await open.calls.run { [self] in try undo(by: author, mode: mode) }
  }

  /// Reverts this program's newest ``undo(by:mode:)``.
  @discardableResult
  public func redo(by author: String? = nil, mode: WriteMode = .commit) async throws -> Reversal? {
    try await open.calls.run { [self] in try redo(by: author, mode: mode) }
  }

  /// Returns the records that `query` selected as of `position`, in its order.
  public func fetch<Element>(
    _ query: StoreQuery<Element>, at position: JournalPosition
  ) async throws -> [Element] {
    try await open.readCalls.run { [self] in try fetch(query, at: position) }
  }

  /// Returns the record with that key as of `position`, or nil if it did not exist.
  public func find<M: Model>(
    _ model: M.Type, _ key: M.Key, at position: JournalPosition
  ) async throws -> M? {
    try await open.readCalls.run { [self] in try find(model, key, at: position) }
  }

  /// Returns the record of `schema` with that key as of `position`, or nil if it did not exist.
  public func find(
    _ schema: ModelSchema, key: [SQLValue], at position: JournalPosition
  ) async throws -> DynamicRecord? {
    try await open.readCalls.run { [self] in try find(schema, key: key, at: position) }
  }

  /// Returns how the result of `query` changed between two positions.
  public func difference<Element>(
    of query: StoreQuery<Element>, from start: JournalPosition, to end: JournalPosition? = nil
  ) async throws -> QueryChanges<Element> {
    try await open.readCalls.run { [self] in try difference(of: query, from: start, to: end) }
  }
}

// Consumers.
extension Store {
  /// Returns the consumer called `name`, and creates it if it does not exist.
  public func consumer(
    _ name: String, startingAt start: Consumer.Start = .end
  ) async throws -> Consumer {
    try await open.calls.run { [self] in try consumer(name, startingAt: start) }
  }

  /// Returns the position of each consumer of the file, by name.
  public func consumers() async throws -> [ConsumerStatus] {
    try await open.readCalls.run { [self] in try consumers() }
  }

  /// Moves a consumer to another position, forwards or backwards.
  public func resetConsumer(_ name: String, to start: Consumer.Start) async throws {
    try await open.calls.run { [self] in try resetConsumer(name, to: start) }
  }

  /// Deletes a consumer.
  public func dropConsumer(_ name: String) async throws {
    try await open.calls.run { [self] in try dropConsumer(name) }
  }
}

extension Consumer {
  /// Returns the position of the consumer and its distance to the end of the journal.
  public func status() async throws -> ConsumerStatus {
    try await lease.held.readCalls.run { [self] in try status() }
  }

  /// Returns the next batch, or nil if there is nothing new. To wait for the next one, loop over
  /// ``batches(of:)``.
  public func next(limit: Int = 500) async throws -> ConsumerBatch? {
    try await nextOnQueue(limit: limit)
  }
}

extension ConsumerBatch {
  /// Acknowledges the batch and everything before it, in its own transaction.
  public func acknowledge() async throws {
    try await acknowledge(through: end)
  }

  /// Acknowledges the transactions of the batch up to `position`, and everything before them, in
  /// its own transaction.
  public func acknowledge(through position: JournalPosition) async throws {
    try await consumer.lease.held.calls.run { [self] in try acknowledge(through: position) }
  }
}

extension ChangeJournal {
  /// Records the changes that any writer makes to models from now on.
  public func enable(
    _ detail: JournalDetail = .full, for models: [String]? = nil, mode: WriteMode = .commit
  ) async throws {
    try await engine.calls.run { [self] in try enable(detail, for: models, mode: mode) }
  }

  /// Stops recording the changes of models.
  public func disable(for models: [String]? = nil, mode: WriteMode = .commit) async throws {
    try await engine.calls.run { [self] in try disable(for: models, mode: mode) }
  }

  /// Returns the position of the newest entry; ``JournalPosition/start`` if there is none.
  public func position() async throws -> JournalPosition {
    try await engine.readCalls.run { [self] in try position() }
  }

  /// Returns why the changes of some models cannot be recorded, by the model's name.
  public func refusals() async throws -> [String: String] {
    try await engine.readCalls.run { [self] in try refusals() }
  }

  /// Returns what is recorded, how much is kept, and which consumers read it.
  public func status() async throws -> JournalStatus {
    try await engine.readCalls.run { [self] in try status() }
  }

  /// Removes the oldest entries that `retention` does not keep. If you cancel the task, entries
  /// that are already removed stay removed.
  @discardableResult
  public func trim(
    _ retention: JournalRetention, mode: WriteMode = .commit
  ) async throws -> JournalTrimming {
    try await engine.calls.run { [self] in try trim(retention, mode: mode) }
  }

  /// Returns the transactions that ended after `start` up to `end`, oldest first.
  public func transactions(
    after start: JournalPosition? = nil, through end: JournalPosition? = nil,
    matching filter: JournalFilter = JournalFilter(), limit: Int? = nil
  ) async throws -> [JournalTransaction] {
    try await engine.readCalls.run { [self] in
      try transactions(after: start, through: end, matching: filter, limit: limit)
    }
  }

  /// Returns the transactions that ended before `position`, newest first.
  public func newestTransactions(
    before position: JournalPosition? = nil, matching filter: JournalFilter = JournalFilter(),
    limit: Int? = nil
  ) async throws -> [JournalTransaction] {
    try await engine.readCalls.run { [self] in
      try newestTransactions(before: position, matching: filter, limit: limit)
    }
  }

  /// Finds out whether a transaction committed when your program did not see its end.
  public func outcome(of id: TransactionID) async throws -> TransactionOutcome {
    try await engine.calls.run { [self] in try outcome(of: id) }
  }
}
