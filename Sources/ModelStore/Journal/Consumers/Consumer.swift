/// A durable reader of a store's change journal: a name in the file, and how far it has come.
///
/// It is given batches of transactions in the order of commits, whoever wrote them, and says when
/// it is done with one: it *acknowledges* it. Where it has come is in the file, so a program that
/// ended or crashed goes on with the first batch that it did not acknowledge. Until then that batch
/// comes again: at least once. A consumer that acknowledges in the transaction of its own work is
/// told everything exactly once; see ``WriteTransaction/acknowledge(_:)``.
///
/// Several processes may run a consumer of one name. Each is given what nobody has acknowledged
/// yet, so both may be given the same; what either acknowledges is behind them both.
///
/// A value that stands for the name; all calls may be made from any thread. It keeps the file
/// open until the store is closed. Its ``batches(of:)`` end when the store closes or is dropped.
public struct Consumer: Sendable {
  /// Its name in the file.
  public let name: String
  let lease: StoreLease

  /// Where a consumer begins.
  public enum Start: Hashable, Sendable {
    /// With the oldest entry of the journal. If older ones are gone, it is told so first.
    case start
    /// With what is entered from now on.
    case end
    /// Behind a position.
    case position(JournalPosition)
  }

  /// How far it has come.
  ///
  /// - Throws: ``StoreError`` with code `unknownConsumer` when it was dropped.
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

  /// How many positions of the journal it has before it: ``ConsumerStatus/lag``.
  package var lag: Int64 { get throws { try status().lag } }

  /// The next batch, on the calling thread: what follows the last position that was acknowledged.
  ///
  /// - Parameter limit: About how many entries to take at once, at least 1; see
  ///   ``ConsumerBatch/transactions``.
  /// - Returns: nil when there is nothing new.
  /// - Throws: ``StoreError`` with code `unknownConsumer` when it was dropped.
  /// - Complexity: O(limit), or the size of one transaction that is larger, and O(transactions that
  ///   changed nothing of which a journal is kept) since the last batch. When there are many of
  ///   these, a consumer is put behind them, which waits for this program's writes and the disk.
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
    return next.batch
  }

  /// All batches, as they come: waits for the next one without asking again and again.
  ///
  /// It ends when the task is cancelled, and when the store closes or is dropped. A batch is read
  /// when it is asked for, so a slow consumer costs no memory.
  ///
  /// - Parameter limit: As ``next(limit:)``.
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
        // Not with a reader's connection: who waits for the writer there keeps it from those whom
        // the writer may wait for.
        try await engine.maintenance.transactionOnQueue(.doesNotWait) { connection in
          try pass(through, from: cursor, on: connection)
        }
      } catch {
        reportPassing(error)
      }
    }
    return next.batch
  }

  /// What looking for a batch came to.
  private enum Finding {
    case batch(ConsumerBatch)
    /// Nothing that concerns the consumer, up to a position.
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

  /// Whether what does not concern the consumer is so much that it is put behind it: so it is not
  /// read again and again, and can be trimmed.
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

  /// The next look will do where somebody else writes, the task was cancelled or the store closed.
  private func reportPassing(_ error: any Error) {
    if error is CancellationError { return }
    let error = StoreError(reporting: error)
    if ![.busy, .cancelled, .misuse].contains(error.code) { lease.scope.report(error) }
  }

  private static let passedCountMin: Int64 = 1000

  /// What follows `position`: as many whole transactions as have `limit` rows together, or the next
  /// one. Transactions in which nothing was entered are left out: one is the consumer's own, which
  /// would otherwise be told of its own work for ever.
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
    // A transaction that ends behind `last` is in the next part, from its first row.
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
      "No consumer called \(name) reads the change journal of this file; it was dropped, or never made."
    )
  }
}

/// The batches of a ``Consumer``, as they come.
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

    /// The next batch, waited for; nil when the task was cancelled, or the store closed or dropped.
    ///
    /// - Throws: As ``Consumer/next(limit:)``.
    package mutating func next() async throws -> ConsumerBatch? {
      try await listener.first { try await consumer.nextOnQueue(limit: limit) }
    }
  }
}
