/// A named cursor into a store's change journal, stored in the file.
///
/// Use a consumer to process every change of a file in order. For example, update a search index or
/// send changes to a server. It returns batches of transactions in the order of commits, from every
/// writer of the file. When you have processed a batch, *acknowledge* it. The file stores the
/// cursor, so a program that ended or crashed continues with the first batch that it did not
/// acknowledge.
///
/// You receive each batch at least once. If you acknowledge it in the transaction of your own work,
/// you receive each change exactly once; see ``WriteTransaction/acknowledge(_:)``.
///
/// Several processes may use the same consumer. Both may then receive the same batch, until one of
/// them acknowledges it.
///
/// The value contains only the name and the store. You can call it from any thread. It keeps the
/// file open until the store is closed. Its ``batches(of:)`` end when the store is closed or
/// released.
public struct Consumer: Sendable {
  /// The name in the file.
  public let name: String
  let lease: StoreLease

  /// The position at which a consumer starts.
  public enum Start: Hashable, Sendable {
    /// At the oldest entry of the journal. If older entries were trimmed, or the journal was turned
    /// on after the models were declared, ``ConsumerBatch/reset`` of the first batch is set.
    case start
    /// At the end: the consumer receives only later changes.
    case end
    /// After a position.
    case position(JournalPosition)
  }

  /// Returns the position of the consumer and its distance to the end of the journal.
  ///
  /// - Throws: ``StoreError`` with code `unknownConsumer` if it was dropped.
  public func status() throws -> ConsumerStatus {
    let engine = try lease.held
    return try engine.connections.readers.sync { connection in
      try engine.read(connection) { tx in
        let connection = tx.access.connection
        let cursor = try Self.cursor(of: name, on: connection)
        return try ConsumerStatus(
          name: name, cursor: cursor, bounds: JournalReader.bounds(on: connection),
          on: connection)
      }
    }
  }

  /// The number of journal positions that it has not acknowledged: ``ConsumerStatus/lag``.
  package var lag: Int64 { get throws { try status().lag } }

  /// Returns the next batch after the last acknowledged position, on the calling thread.
  ///
  /// - Parameter limit: About how many entries a batch contains, at least 1; see
  ///   ``ConsumerBatch/transactions``.
  /// - Returns: nil if there is nothing new.
  /// - Throws: ``StoreError`` with code `unknownConsumer` if it was dropped.
  /// - Complexity: O(limit), or the size of one transaction that is larger. It also reads the
  ///   transactions since the last batch that recorded no changes. If there are many of these, the
  ///   store moves the cursor past them in a write transaction. That waits for this program's
  ///   writes and for the disk.
  public func next(limit: Int = 500) throws -> ConsumerBatch? {
    let engine = try lease.held
    let next = try engine.connections.readers.sync { connection in
      try find(limit: limit, on: connection)
    }
    if case .nothing(let through, let cursor) = next, !engine.connections.writer.isCurrent,
      isWorthPassing(through, from: cursor)
    {
      do {
        try engine.maintenance.transaction(.doesNotWait) { connection in
          try pass(through, from: cursor, on: connection)
        }
      } catch {
        reportPassing(error)
      }
    }
    report(next, to: engine)
    return next.batch
  }

  /// Returns all batches as they arrive. It waits for new entries without polling.
  ///
  /// The sequence ends when the task is cancelled, and when the store is closed or released. It
  /// reads a batch only when you ask for it, so a slow consumer costs no memory.
  ///
  /// - Parameter limit: See ``next(limit:)``.
  public func batches(of limit: Int = 500)
    -> some AsyncSequence<ConsumerBatch, any Error> & Sendable
  {
    ConsumerBatches(consumer: self, limit: limit)
  }

  func nextOnQueue(limit: Int) async throws -> ConsumerBatch? {
    let engine = try lease.held
    let next = try await engine.connections.readers.async { connection in
      try find(limit: limit, on: connection)
    }
    if case .nothing(let through, let cursor) = next, isWorthPassing(through, from: cursor) {
      do {
        // Not on a reader's connection: waiting there for the writer could block readers for which
        // the writer waits.
        try await engine.maintenance.transactionOnQueue(.doesNotWait) { connection in
          try pass(through, from: cursor, on: connection)
        }
      } catch {
        reportPassing(error)
      }
    }
    report(next, to: engine)
    return next.batch
  }

  /// Reports the consumer's progress to monitors.
  private func report(_ finding: Finding, to engine: StoreEngine) {
    guard engine.monitors.isActive else { return }
    switch finding {
    case .batch(let batch): reportProgress(acknowledged: batch.start, to: engine)
    case .nothing(let end, _):
      engine.monitors.send(
        .consumer(
          ConsumerReport(name: name, acknowledged: JournalPosition(rawValue: end), lag: 0)))
    }
  }

  /// Reports a position that was acknowledged, with its distance to the end of the journal.
  func reportProgress(acknowledged position: JournalPosition, to engine: StoreEngine) {
    guard engine.monitors.isActive else { return }
    do {
      let end = try engine.connections.facts.sync { connection in
        try JournalReader.newest(on: connection)
      }
      engine.monitors.send(
        .consumer(
          ConsumerReport(
            name: name, acknowledged: position, lag: max(0, (end ?? 0) - position.rawValue))))
    } catch {
      lease.scope.report(StoreError(reporting: error))
    }
  }

  /// Reports the stored position, with its distance to the end of the journal.
  ///
  /// It reports nothing if the task was cancelled, or if the consumer was dropped, because the next
  /// batch throws then.
  func reportProgress(to engine: StoreEngine) async {
    guard engine.monitors.isActive else { return }
    do {
      let report = try await engine.connections.readers.async { [name] connection in
        let position = try Self.cursor(of: name, on: connection).position
        let end = try JournalReader.newest(on: connection) ?? 0
        return ConsumerReport(
          name: name, acknowledged: JournalPosition(rawValue: position),
          lag: max(0, end - max(0, position)))
      }
      engine.monitors.send(.consumer(report))
    } catch {
      if (error as? StoreError)?.code != .unknownConsumer { reportPassing(error) }
    }
  }

  /// The result of searching for a batch.
  private enum Finding {
    case batch(ConsumerBatch)
    /// Nothing for the consumer, up to a position.
    case nothing(through: Int64, JournalConsumers.Cursor)

    var batch: ConsumerBatch? { if case .batch(let batch) = self { batch } else { nil } }
  }

  private func find(limit: Int, on connection: Connection) throws -> Finding {
    precondition(limit >= 1, "A batch has at least one entry.")
    let engine = lease.engine
    return try engine.read(connection) { tx in
      let connection = tx.access.connection
      let cursor = try Self.cursor(of: name, on: connection)
      guard let history = try JournalHistory(reading: connection) else {
        guard cursor.isLost(in: nil) else { return .nothing(through: cursor.position, cursor) }
        return .batch(
          ConsumerBatch(
            consumer: self, transactions: [], end: .start, cursor: cursor, isTrimmed: true))
      }
      let isTrimmed = cursor.isLost(in: history.bounds)
      var position = cursor.start(in: history.bounds)
      while position < history.bounds.upperBound {
        let part = try Self.part(
          of: history, after: position, limit: Int64(limit),
          bindings: engine.models.followedBindings)
        position = part.end
        if part.transactions.isEmpty, !isTrimmed { continue }
        return .batch(
          ConsumerBatch(
            consumer: self, transactions: part.transactions,
            end: JournalPosition(rawValue: position), cursor: cursor, isTrimmed: isTrimmed))
      }
      return .nothing(through: position, cursor)
    }
  }

  /// Whether the consumer should move past rows that do not concern it. Then they are not read
  /// again, and can be trimmed.
  private func isWorthPassing(_ position: Int64, from cursor: JournalConsumers.Cursor) -> Bool {
    let (count, isTooLarge) = position.subtractingReportingOverflow(cursor.position)
    return (isTooLarge || count >= Self.passedCountMin)
      && lease.engine.configuration.access != .readOnly
  }

  private func pass(
    _ position: Int64, from cursor: JournalConsumers.Cursor, on connection: Connection
  ) throws {
    _ = try JournalConsumers(connection: connection).acknowledge(
      name, through: position, from: cursor.position...cursor.position, epoch: cursor.epoch,
      time: nil)
  }

  /// Reports the error, unless the next poll can try again: another connection writes, the task was
  /// cancelled, or the store is closed.
  private func reportPassing(_ error: any Error) {
    if error is CancellationError { return }
    let error = StoreError(reporting: error)
    if ![.busy, .cancelled, .misuse].contains(error.code) { lease.scope.report(error) }
  }

  private static let passedCountMin: Int64 = 1000

  /// Returns what follows `position`: as many whole transactions as have `limit` rows together, or
  /// one larger transaction.
  ///
  /// It skips transactions that recorded nothing. Otherwise a consumer would receive its own
  /// acknowledgements forever.
  private static func part(
    of history: JournalHistory, after position: Int64, limit: Int64, bindings: FollowedBindings
  ) throws -> (transactions: [JournalTransaction], end: Int64) {
    var transactions: [JournalTransaction] = []
    var end = position
    func read(through last: Int64) throws {
      try history.forEach(after: position, through: last) { logged in
        end = logged.positions.upperBound
        let transaction = JournalTransaction(
          logged, layouts: history.layouts, filter: JournalFilter(), bindings: bindings)
        if !transaction.changes.isEmpty || !transaction.gaps.isEmpty {
          transactions.append(transaction)
        }
        return true
      }
    }
    func place(ofRow count: Int64) throws -> Int64 {
      try JournalReader.place(
        ofRow: count, behind: position, upTo: history.bounds.upperBound,
        on: history.reader.connection)
    }
    let last = try place(ofRow: limit)
    try read(through: last)
    if end == position, let next = try history.nextMark(after: last) {
      try read(through: next.position)
    }
    // A transaction that ends after `last` is in the next part, from its first row.
    return (transactions, end > position ? end : try place(ofRow: 1))
  }

  static func cursor(
    of name: String, on connection: Connection
  ) throws -> JournalConsumers.Cursor {
    guard try JournalLayouts(reading: connection) != nil,
      let cursor = try JournalConsumers(connection: connection).cursor(of: name)
    else { throw unknown(name) }
    return cursor
  }

  static func unknown(_ name: String) -> StoreError {
    StoreError(
      .unknownConsumer,
      "This file has no consumer called \(name): it was dropped or never created. Create it first."
    )
  }
}

/// The batches of a ``Consumer``, as they arrive.
package struct ConsumerBatches: AsyncSequence, Sendable {
  package typealias Element = ConsumerBatch

  let consumer: Consumer
  let limit: Int

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      consumer: consumer, limit: limit,
      listener: JournalListeners.Listener(consumer.lease))
  }

  /// Waits for one batch at a time.
  package struct AsyncIterator: AsyncIteratorProtocol {
    let consumer: Consumer
    let limit: Int
    let listener: JournalListeners.Listener

    /// Returns the next batch, or waits for it. It returns nil if the task was cancelled, or the
    /// store closed or released.
    ///
    /// - Throws: As ``Consumer/next(limit:)``.
    package mutating func next() async throws -> ConsumerBatch? {
      try await listener.first { try await consumer.nextOnQueue(limit: limit) }
    }
  }
}
