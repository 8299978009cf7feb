internal import Synchronization

/// What a worker of one consumer needs of the store: its lease, its batches, and its dead letters.
/// `StoreWorker` of the product `ModelStoreService` uses it.
package struct WorkerDesk: Sendable {
  /// What a worker does next.
  package enum Work: Sendable {
    /// Dead letters that wait for a replay.
    case replays([DeadLetter])
    case batch(ConsumerBatch)
  }

  private let consumer: Consumer
  private let holder: String
  private let listener: JournalListeners.Listener

  /// - Parameter holder: Unique among the workers of all processes.
  package init(_ consumer: Consumer, holder: String) {
    self.consumer = consumer
    self.holder = holder
    listener = JournalListeners.Listener(consumer.lease)
  }

  private var engine: StoreEngine {
    get throws { try consumer.lease.held }
  }

  /// Creates the tables of workers in a file of an earlier version of the library.
  package func prepare() async throws {
    let engine = try engine
    try await engine.calls.run {
      let exist = try engine.connections.readers.sync { connection in
        try DeadLetters(connection: connection).exist
      }
      if !exist { try engine.catalog.changing { _ in } }
    }
  }

  /// Reports that changes are missing before or in the next batch.
  package func reportGap() {
    consumer.lease.scope.report(
      StoreError(
        .journalGap,
        "Changes before or in the next batch of the worker \(consumer.name) are missing in the change journal. Rebuild what it derives."
      ))
  }

  /// Takes or renews the lease, and reports the consumer's progress to monitors.
  ///
  /// - Returns: Whether this worker has it.
  package func takeLease(for duration: Duration) async throws -> Bool {
    let engine = try engine
    let isHeld = try await takeLease(for: duration, engine)
    if isHeld { await consumer.reportProgress(to: engine) }
    return isHeld
  }

  private func takeLease(for duration: Duration, _ engine: StoreEngine) async throws -> Bool {
    let (consumer, holder) = (consumer.name, holder)
    return try await engine.maintenance.transactionOnQueue(.waits) { connection in
      let now = WritingProgram.now
      return try WorkerLease(connection: connection, consumer: consumer, holder: holder)
        .take(until: now + Self.microseconds(duration), now: now)
    }
  }

  /// At most a century.
  private static func microseconds(_ duration: Duration) -> Int64 {
    Int64(min(duration / .microseconds(1), 3e15))
  }

  /// Ends the lease, so that another process can go on at once.
  package func endLease() async throws {
    let (consumer, holder) = (consumer.name, holder)
    try await engine.maintenance.transactionOnQueue(.waits) { connection in
      try WorkerLease(connection: connection, consumer: consumer, holder: holder).end()
    }
  }

  /// Returns what to do next, and waits until there is something.
  ///
  /// - Returns: nil if the task was cancelled, or if the store was closed.
  package func next(limit: Int) async throws -> Work? {
    try await listener.first {
      let name = consumer.name
      let replays = try await engine.connections.readers.async { connection in
        try DeadLetters(connection: connection).all(of: name, onlyReplays: true)
      }
      if !replays.isEmpty { return .replays(replays) }
      return try await consumer.nextOnQueue(limit: limit).map { .batch($0) }
    }
  }

  /// Stores a change that the worker gives up on, and reports it to monitors.
  ///
  /// - Throws: `CancellationError` if another worker has the lease now. It receives the change.
  package func bury(_ change: JournalChange, _ error: any Error, attemptCount: Int) async throws {
    let monitors = try engine.monitors
    let letter = DeadLetter(
      consumer: consumer.name, change: change, error: Self.text(of: error),
      attemptCount: attemptCount, failedAt: WritingProgram.now, isWaitingForReplay: false)
    try await changeLetters { letters in try letters.put(letter) }
    monitors.send(
      .deadLetter(
        consumer: consumer.name, model: change.model, position: change.position,
        attemptCount: attemptCount))
  }

  /// Removes a letter whose replay succeeded.
  ///
  /// - Throws: `CancellationError` if another worker has the lease now.
  package func remove(_ letter: DeadLetter) async throws {
    try await changeLetters { letters in
      _ = try letters.remove(letter.consumer, [letter.change.position])
    }
  }

  /// Runs `body` in a transaction in which the lease is held.
  private func changeLetters(
    _ body: @escaping @Sendable (DeadLetters) throws -> Void
  ) async throws {
    let (consumer, holder) = (consumer.name, holder)
    let isHeld = try await engine.maintenance.transactionOnQueue(.waits) { connection in
      let lease = WorkerLease(connection: connection, consumer: consumer, holder: holder)
      guard try lease.isHeld else { return false }
      try body(DeadLetters(connection: connection))
      return true
    }
    guard isHeld else { throw CancellationError() }
  }

  private static func text(of error: any Error) -> String {
    (error as? StoreError)?.message ?? String(describing: error)
  }
}
