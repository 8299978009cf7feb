internal import Dispatch
internal import Synchronization

/// A connection and the serial queue that owns it: first come, first served.
///
/// Synchronous callers run on their own thread, so that a call costs no thread hop; asynchronous
/// ones run on the queue's, so that blocking C never holds a thread of the cooperative pool.
final class ConnectionQueue: @unchecked Sendable {
  // Guard: `connection` is touched on `queue` only, except for `interrupt`, which SQLite allows anywhere.
  private let connection: Connection
  private let queue: DispatchQueue
  private let running = Mutex<UInt64?>(nil)
  private let ticket = Atomic<UInt64>(0)
  private static let marker = DispatchSpecificKey<ObjectIdentifier>()

  init(_ connection: sending Connection, label: String) {
    self.connection = connection
    queue = DispatchQueue(label: label, qos: .userInitiated)
    queue.setSpecific(key: Self.marker, value: ObjectIdentifier(self))
  }

  /// Runs `body` on the calling thread when everyone before it is done.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside another body of the same queue, which
  ///   would otherwise wait for itself.
  func sync<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    guard DispatchQueue.getSpecific(key: Self.marker) != ObjectIdentifier(self) else {
      throw StoreError(
        .misuse, "A transaction cannot begin inside another; use the one that was given to the closure.")
    }
    return try queue.sync { try body(connection) }
  }

  /// Runs `body` on the queue's thread when everyone before it is done. Cancelling the task
  /// interrupts the running statement.
  func async<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let number = ticket.add(1, ordering: .relaxed).newValue
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [self] in
          continuation.resume(with: Swift.Result { try run(number, body) })
        }
      }
    } onCancel: {
      running.withLock { running in
        if running == number { connection.interrupt() }
      }
    }
  }

  private func run<Result>(
    _ number: UInt64, _ body: (Connection) throws -> Result
  ) throws -> Result {
    try Task.checkCancellation()
    running.withLock { $0 = number }
    defer { running.withLock { $0 = nil } }
    return try body(connection)
  }
}
