/// A batch of transactions from the change journal, for one ``Consumer``.
public struct ConsumerBatch: Sendable {
  /// Why changes are missing between the last acknowledged batch and this batch.
  public enum Reset: Hashable, Sendable {
    /// Entries that the consumer had not acknowledged were removed from the journal. They were
    /// trimmed, or another program deleted rows by hand.
    case trimmed
    /// Changes of these models may be missing before or inside the batch, in name order. Their
    /// journal was enabled or disabled, or their tables were altered.
    case gap(models: [String])
  }

  let consumer: Consumer
  private let cursor: JournalConsumers.Cursor
  /// The transactions in the order of commits, without those that recorded no changes.
  ///
  /// Together they have at most as many positions as you asked for, unless a single transaction has
  /// more. A store's transaction is never split. Commits of other programs cannot be distinguished,
  /// so a long run of their changes continues in the next batch.
  public let transactions: [JournalTransaction]
  /// The position of the consumer after you acknowledge the batch.
  public let end: JournalPosition
  /// Why changes since the last acknowledged batch are missing; nil if the batch is complete.
  ///
  /// If it is set, rebuild your derived data from the records as they are now. Then process the
  /// batch. Its transactions may contain changes that the rebuilt data already includes.
  public let reset: Reset?

  init(
    consumer: Consumer, transactions: [JournalTransaction], end: JournalPosition,
    cursor: JournalConsumers.Cursor, isTrimmed: Bool
  ) {
    self.consumer = consumer
    self.transactions = transactions
    self.end = end
    self.cursor = cursor
    let gaps = Set(transactions.flatMap(\.gaps))
    reset = isTrimmed ? .trimmed : gaps.isEmpty ? nil : .gap(models: gaps.sorted())
  }

  /// All changes of the transactions, in their order.
  public var changes: [JournalChange] { transactions.flatMap(\.changes) }

  /// Acknowledges the batch and everything before it, in its own transaction. Call it after you
  /// have processed the batch. If the program crashes in between, it receives the batch again.
  ///
  /// You may acknowledge a batch twice, also from another process. If the consumer was moved by
  /// hand since the batch was read, the call has no effect. The call waits for the disk on the
  /// calling thread.
  ///
  /// - Throws: ``StoreError`` with code `unknownConsumer` if it was dropped; `busy`; `readOnly`;
  ///   `misuse` inside a transaction, where you call ``WriteTransaction/acknowledge(_:)`` instead.
  public func acknowledge() throws {
    try acknowledge(through: end)
  }

  /// Acknowledges the transactions of the batch up to `position` and everything before them, in its
  /// own transaction. You receive the rest of the batch again.
  ///
  /// Call it if you stop in the middle of a batch. For example, pass the upper bound of the last
  /// transaction that you processed.
  ///
  /// - Parameter position: A position inside a store's transaction acknowledges only what is before
  ///   that transaction. A position after ``end`` acknowledges the whole batch.
  /// - Throws: See ``acknowledge()``.
  public func acknowledge(through position: JournalPosition) throws {
    let place = place(reachedBy: position).rawValue
    try consumer.lease.held.maintenance.transaction { connection in
      let consumers = JournalConsumers(connection: connection)
      func moves(from start: ClosedRange<Int64>?) throws -> Bool {
        try consumers.acknowledge(
          consumer.name, through: place, from: start, epoch: cursor.epoch,
          time: WritingProgram.now)
      }
      // Moves back only from a cursor beyond the journal's end, and only if the batch was read from
      // there.
      if cursor.position > end.rawValue, try moves(from: places) { return }
      if try !moves(from: nil) { _ = try Consumer.cursor(of: consumer.name, on: connection) }
    }
    consumer.reportProgress(
      acknowledged: JournalPosition(rawValue: place), to: consumer.lease.engine)
  }

  /// The position of the consumer when the batch was read.
  var start: JournalPosition { JournalPosition(rawValue: cursor.position) }

  /// The last position up to `position` that does not split a store's transaction.
  private func place(reachedBy position: JournalPosition) -> JournalPosition {
    let split = transactions.first { transaction in
      !transaction.isForeign && transaction.positions.contains(position)
        && transaction.positions.upperBound != position
    }
    guard let split else { return min(position, end) }
    return JournalPosition(rawValue: split.positions.lowerBound.rawValue - 1)
  }

  /// The positions of the cursor from which the batch comes next: its position when the batch was
  /// read, or after later rows that do not concern the consumer.
  private var places: ClosedRange<Int64> {
    guard reset != .trimmed, let first = transactions.first else {
      return cursor.position...cursor.position
    }
    return cursor.position...max(cursor.position, first.positions.lowerBound.rawValue - 1)
  }

  /// Moves the cursor from the position at which the batch was read.
  ///
  /// - Precondition: A write transaction is open on the store's connection.
  fileprivate func acknowledge(on connection: Connection) throws {
    guard connection.path.isExactly(consumer.lease.engine.file.path) else {
      throw StoreError(
        .misuse, "A batch of the consumer \(consumer.name) of another file cannot be acknowledged.")
    }
    let hasMoved = try JournalConsumers(connection: connection).acknowledge(
      consumer.name, through: end.rawValue, from: places, epoch: cursor.epoch,
      time: WritingProgram.now)
    guard !hasMoved else { return }
    let now = try Consumer.cursor(of: consumer.name, on: connection)
    throw StoreError(
      .conflict,
      "The consumer \(consumer.name) was at position \(cursor.position) when the batch was read and is at \(now.position) now: another caller has acknowledged it or moved the consumer. This transaction was rolled back. Take the next batch."
    )
  }
}

extension WriteTransaction {
  /// Acknowledges `batch` as a part of this transaction. The transaction keeps your work and the
  /// acknowledgement together, or neither, so you process each change exactly once.
  ///
  /// The consumer must still be where the batch was read. Rethrow the error if it is not: then your
  /// work is rolled back, because another process has already done it.
  ///
  /// The journal records nothing for a transaction that does nothing else. If you write to recorded
  /// models, the consumer also receives your own changes. Set a tag to recognise them
  /// (``WriteTransaction/sign(author:tag:)``).
  ///
  /// - Throws: ``StoreError`` with code `conflict` if the consumer was moved in the meantime, by
  ///   another process, a reset or an earlier acknowledgement of this batch; `unknownConsumer` if
  ///   it was dropped; `misuse` for a batch of another file.
  public borrowing func acknowledge(_ batch: ConsumerBatch) throws {
    let connection = access.connection
    let count = connection.totalChangeCount
    try batch.acknowledge(on: connection)
    access.notes.unsignedChangeCount += connection.totalChangeCount - count
  }
}
