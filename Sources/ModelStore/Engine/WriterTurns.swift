/// Steps 1, 12 and 13 of a write: a turn of the writer in the order of calls, the delivery on the
/// broker's queue, and the wait for observers that asked for it.
struct WriterTurns: Sendable {
  let writer: ConnectionQueue<Writer>
  let broker: ChangeBroker

  /// Runs `body` on the calling thread.
  func take<Result>(_ body: (inout Writer) throws -> Result) throws -> Result {
    let (result, awaited) = try writer.sync { writer in
      try countingAwaited { try body(&writer) }
    }
    broker.settle(awaited)
    return result
  }

  /// Runs `body` on the writer's thread. Cancelling the task interrupts it.
  func takeOnQueue<Result: Sendable>(
    _ body: @escaping @Sendable (inout Writer) throws -> Result
  ) async throws -> Result {
    let wave = Wave.current
    let (result, awaited) = try await writer.async { [self] writer in
      try countingAwaited { try Wave.$current.withValue(wave) { try body(&writer) } }
    }
    await broker.settle(awaited)
    return result
  }

  /// Returns also the number of the delivery to wait for after the writer is free; 0 for none.
  private func countingAwaited<Result>(
    _ body: () throws -> Result
  ) rethrows -> (result: Result, awaited: UInt64) {
    let before = broker.awaitedCount
    let result = try body()
    let count = broker.awaitedCount
    return (result, count > before ? count : 0)
  }
}
