internal import Synchronization

/// The line of asynchronous writes that wait for the writer. Writes that wait at the same time
/// share one transaction and one COMMIT; see ``SharedCommit``.
///
/// A write that finds no other write waiting runs alone, exactly as ``WriteCycle`` describes.
final class WriteLine: Sendable {
  private struct State {
    var waiting = WaitingLine<WaitingWrite>()
    /// The turns that are queued and have not begun.
    var turnCount = 0
    /// Whether each write has a transaction of its own, until one of them succeeds.
    var isCautious = false
    var durationMax = WriteLine.durationMax
    var transactionCount = 0

    /// Whether the queued turns may be too few for the waiting writes. If so, counts another turn,
    /// which the caller queues.
    mutating func needsTurn() -> Bool {
      guard waiting.count > turnCount * WriteLine.countMax else { return false }
      turnCount += 1
      return true
    }
  }

  /// The most writes that share a COMMIT.
  static let countMax = 64

  /// No further write joins a transaction that has run for this long. So a write waits for few long
  /// bodies, and the saved COMMIT is still worth more than the wait.
  static let durationMax = Duration.milliseconds(5)

  private let state = Mutex(State())
  private let turns: WriterTurns

  init(turns: WriterTurns) {
    self.turns = turns
  }

  private var writer: ConnectionQueue<Writer> { turns.writer }

  /// Runs `body` as one write, after the asynchronous writes that wait already. It waits as every
  /// write does for its commit and its delivery.
  ///
  /// - Throws: What a write of its own would throw; ``StoreError`` with code `busy` if another
  ///   write of the same transaction made SQLite roll it back. `CancellationError` if the task was
  ///   cancelled in time.
  func write<Result: Sendable>(
    on engine: StoreEngine,
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> Result {
    try writer.checkProcess()
    let result = Mutex<Result?>(nil)
    let write = WaitingWrite(writer.makeNumber(), on: engine) { tx in
      let value = try body(tx)
      result.withLock { $0 = value }
    }
    let awaited = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        write.suspend(continuation)
        let needsTurn = state.withLock { state in
          state.waiting.append(write)
          return state.needsTurn()
        }
        if needsTurn { enqueueTurn() }
      }
    } onCancel: {
      write.cancel()
      writer.interrupt(write.number)
    }
    await turns.broker.settle(awaited)
    guard let value = result.withLock({ $0.take() }) else {
      preconditionFailure("A write that succeeded has a result.")
    }
    return value
  }

  private func enqueueTurn() {
    writer.enqueue { [self] in takeTurn() }
  }

  /// Runs what waits: the first write alone, or as many as may share a COMMIT. If it leaves writes,
  /// queues another turn for them.
  private func takeTurn() {
    let (first, isAlone) = state.withLock { state in
      state.turnCount -= 1
      let first = state.waiting.popFirst()
      if first != nil { state.transactionCount += 1 }
      return (first, state.isCautious || state.waiting.isEmpty)
    }
    guard let first else { return }
    defer {
      if state.withLock({ $0.needsTurn() }) { enqueueTurn() }
    }
    let ended = isAlone ? [runAlone(first)] : runShared(first)
    // The bodies and the engine were released by now, while each caller still holds its own.
    for (write, outcome) in ended { write.resume(with: outcome) }
  }

  private func runAlone(_ write: WaitingWrite) -> SharedCommit.Ended {
    let outcome = Swift.Result<UInt64, any Error> {
      guard let work = write.takeWork() else { preconditionFailure("A write runs once.") }
      return try writer.interruptible(write.number, gently: false) {
        try write.checkNotCancelled()
        return try writer.inTurn { try runAlone(work, of: write, on: &$0) }
      }
    }
    if case .success = outcome { state.withLock { $0.isCautious = false } }
    return (write, write.seen(outcome))
  }

  private func runAlone(
    _ work: WaitingWrite.Work, of write: WaitingWrite, on writer: inout Writer
  ) throws -> UInt64 {
    try turns.countingAwaited {
      try Wave.running(in: write.wave) {
        let cycle = WriteCycle(engine: work.engine, timer: write.timer)
        _ = try cycle.run(on: &writer, work.body)
      }
    }.awaited
  }

  private func runShared(_ first: WaitingWrite) -> [SharedCommit.Ended] {
    do {
      guard let engine = first.engine else { preconditionFailure("A write runs once.") }
      var commit = SharedCommit(engine: engine, line: self)
      try writer.inTurn { writer in commit.run(from: first, on: &writer) }
      if commit.hasFailed { state.withLock { $0.isCautious = true } }
      return commit.ended
    } catch {
      return [(first, .failure(error))]
    }
  }

  /// Takes the next write into a transaction that began at `start` and has `count` writes.
  ///
  /// - Returns: nil if none is waiting, or if the transaction should end now.
  func next(after count: Int, since start: ContinuousClock.Instant) -> WaitingWrite? {
    guard count < Self.countMax, !writer.isClosing else { return nil }
    let elapsed = start.duration(to: .now)
    return state.withLock { state in
      elapsed < state.durationMax ? state.waiting.popFirst() : nil
    }
  }

  /// The number of waiting writes.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// The number of transactions so far, shared or not, for tests.
  var transactionCount: Int { state.withLock { $0.transactionCount } }

  /// Sets how long a transaction accepts further writes, for tests whose bodies take long.
  func setDurationMax(_ duration: Duration) { state.withLock { $0.durationMax = duration } }
}

/// A write that a task waits for.
final class WaitingWrite: Sendable {
  /// What the write holds until it has run. It is released before the task resumes, which holds the
  /// same until then: the last reference may close the store.
  struct Work: Sendable {
    let engine: StoreEngine
    let body: @Sendable (borrowing WriteTransaction) throws -> Void
  }

  /// The number by which it can be interrupted.
  let number: UInt64
  /// The chain of writes that it belongs to.
  let wave = Wave.current
  /// Times the write; nil while no monitor listens.
  let timer: WriteTimer?
  private let work: Mutex<Work?>
  private let task = Mutex<CheckedContinuation<UInt64, any Error>?>(nil)
  private let cancelled = Atomic(false)

  init(
    _ number: UInt64, on engine: StoreEngine,
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void
  ) {
    self.number = number
    timer = engine.monitors.timeWrite()
    work = Mutex(Work(engine: engine, body: body))
  }

  var engine: StoreEngine? { work.withLock { $0?.engine } }

  func takeWork() -> Work? { work.withLock { $0.take() } }

  func suspend(_ continuation: CheckedContinuation<UInt64, any Error>) {
    task.withLock { $0 = continuation }
  }

  /// - Parameter outcome: The number of the delivery to wait for, or the error.
  func resume(with outcome: Result<UInt64, any Error>) {
    _ = takeWork()
    if case .failure(let error) = outcome { timer?.end(with: error) } else { timer?.end(with: nil) }
    task.withLock { $0.take() }?.resume(with: outcome)
  }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  func checkNotCancelled() throws {
    if cancelled.load(ordering: .relaxed) { throw CancellationError() }
  }

  /// Returns the outcome as the task sees it: an interruption is a `CancellationError` to a task
  /// that was cancelled.
  func seen(_ outcome: Result<UInt64, any Error>) -> Result<UInt64, any Error> {
    guard case .failure(let error as StoreError) = outcome,
      [.cancelled, .busy].contains(error.code), cancelled.load(ordering: .relaxed)
    else { return outcome }
    return .failure(CancellationError())
  }
}
