/// What a ``Consumer`` is given at once: transactions of the change journal that follow each other.
public struct ConsumerBatch: Sendable {
  /// Why what was told to a consumer so far and what it is told now do not join.
  public enum Reset: Hashable, Sendable {
    /// Entries that it had not acknowledged were removed from the journal: by trimming, or by hand,
    /// where the journal ends before the position that it had acknowledged.
    case trimmed
    /// Changes of these models may be missing before or inside the batch, in name order: their
    /// journal was turned on or off, or their tables were altered.
    case gap(models: [String])
  }

  let consumer: Consumer
  private let cursor: JournalConsumers.Cursor
  /// The transactions in the order of commits, without those that changed nothing of which a
  /// journal is kept.
  ///
  /// Together they have at most as many positions as were asked for, or there is one that alone has
  /// more. A store's transaction is never split. What other programs did cannot be told apart by
  /// commits, so where there is more of it than fits, it goes on in the next batch.
  public let transactions: [JournalTransaction]
  /// The last position that acknowledging the batch puts behind the consumer.
  public let end: JournalPosition
  /// That the transactions do not tell everything since the last acknowledged batch; nil when they
  /// do. What is derived from records is then to be made anew from the records themselves, as of
  /// now or later. Transactions that follow may tell what is in there already.
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

  /// Says that the consumer is done with the batch and with everything before it, in a transaction
  /// of its own. To be called after the work that the batch asks for: what was done before a crash
  /// that came in between is asked for again.
  ///
  /// A batch that was acknowledged before, by this process or another, is no error. Nor is one that
  /// was read before the consumer was reset: then it stays where it was put. Waits for the disk on
  /// the calling thread.
  ///
  /// - Throws: ``StoreError`` with code `unknownConsumer` when it was dropped, `busy`, `readOnly`;
  ///   `misuse` inside a transaction, where ``WriteTransaction/acknowledge(_:)`` does it.
  public func acknowledge() throws {
    try acknowledge(through: end)
  }

  /// Acknowledges the transactions of the batch up to `position`, and everything before them, in a
  /// transaction of its own. The rest of the batch comes again. Call it when the work for a batch
  /// ends early: for example, with the upper bound of the last transaction that was processed.
  ///
  /// - Parameter position: A position inside a store's transaction acknowledges what is before that
  ///   transaction; one behind ``end`` acknowledges the whole batch.
  /// - Throws: As ``acknowledge()``.
  public func acknowledge(through position: JournalPosition) throws {
    let place = place(reachedBy: position).rawValue
    try consumer.lease.held.maintenance.transaction { connection in
      let consumers = JournalConsumers(connection: connection)
      func moves(from start: ClosedRange<Int64>?) throws -> Bool {
        try consumers.acknowledge(
          consumer.name, through: place, from: start, epoch: cursor.epoch,
          time: WritingProgram.now)
      }
      // Back only from the very place beyond the journal's end from where the batch was read.
      if cursor.position > end.rawValue, try moves(from: places) { return }
      if try !moves(from: nil) { _ = try Consumer.cursor(of: consumer.name, on: connection) }
    }
  }

  /// The last place up to `position` that splits no transaction of a store.
  private func place(reachedBy position: JournalPosition) -> JournalPosition {
    let split = transactions.first { transaction in
      !transaction.isForeign && transaction.positions.contains(position)
        && transaction.positions.upperBound != position
    }
    guard let split else { return min(position, end) }
    return JournalPosition(rawValue: split.positions.lowerBound.rawValue - 1)
  }

  /// Where the consumer may stand for the batch to be what comes next: where it stood when the
  /// batch was read, or behind what came after that and did not concern it.
  private var places: ClosedRange<Int64> {
    guard reset != .trimmed, let first = transactions.first else {
      return cursor.position...cursor.position
    }
    return cursor.position...max(cursor.position, first.positions.lowerBound.rawValue - 1)
  }

  /// Moves the cursor from where it stood when the batch was read.
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
      "The consumer \(consumer.name) was at position \(cursor.position) when the batch was read and is at \(now.position) now: somebody else has acknowledged or reset it. Nothing of this transaction was kept; take the next batch."
    )
  }
}

extension WriteTransaction {
  /// Says that a consumer is done with `batch`, as a part of this transaction: its work and the
  /// acknowledgement are kept together or not at all, so each change is worked in exactly once.
  ///
  /// The consumer must stand where it stood when the batch was read. Let the error through: then
  /// the work is rolled back too, which somebody else has done already.
  ///
  /// The journal says nothing of a transaction that does nothing else. A consumer that writes to
  /// models of which a journal is kept is told of what it wrote; it can tell it by a tag
  /// (``WriteTransaction/sign(author:tag:)``).
  ///
  /// - Throws: ``StoreError`` with code `conflict` when the consumer was moved since, by another
  ///   process, a reset or this batch itself; `unknownConsumer` when it was dropped; `misuse` for a
  ///   batch of another file.
  public borrowing func acknowledge(_ batch: ConsumerBatch) throws {
    let connection = access.connection
    let count = connection.totalChangeCount
    try batch.acknowledge(on: connection)
    access.notes.unsignedChangeCount += connection.totalChangeCount - count
  }
}
