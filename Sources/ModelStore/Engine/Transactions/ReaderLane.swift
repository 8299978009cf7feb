internal import Dispatch
internal import Synchronization

/// A reading connection, and the turn that a body takes on it.
///
/// A synchronous body runs on the calling thread. Its turn is a lock, which costs a fraction of a
/// turn on a dispatch queue. An asynchronous body runs on the lane's own thread, so that reading
/// never occupies a thread of the cooperative pool for long.
final class ReaderLane: Sendable {
  /// The connection, until the lane is closed. The body that has the turn holds the lock.
  private let turn: BargingMutex<Connection?>
  /// The path of the file, for errors.
  private let path: String
  /// The thread that has the turn, or 0.
  private let owner = Atomic<UInt>(0)
  /// The lane's thread while it works for a task, also before and after its turn; otherwise 0.
  private let worker = Atomic<UInt>(0)
  private let isClosed = Atomic(false)
  private let queue = DispatchQueue(label: "modelstore.reader", qos: .userInitiated)

  init(_ connection: sending Connection) {
    path = connection.path
    turn = BargingMutex(connection)
  }
}

extension ReaderLane: ReadingQueue {
  var isCurrent: Bool {
    let thread = currentThread()
    return owner.load(ordering: .relaxed) == thread || worker.load(ordering: .relaxed) == thread
  }

  var onlyReads: Bool { true }

  /// Runs `body` on the calling thread when the lane is free. If a task waits for it, cancelling
  /// the task stops it.
  ///
  /// - Precondition: The call is not inside a body of the lane, and in the process that opened it.
  func use(_ body: (Connection) throws -> Void) throws {
    guard let call = StoppableCall.current else { return try takeTurn(body) }
    let wasShielded = call.isShielded
    defer { call.isShielded = wasShielded }
    try takeTurn { connection in
      try connection.hooks.withStopRequest(call.request) { try body(connection) }
    }
  }

  func useInOrder(_ body: (Connection) throws -> Void) throws {
    try queue.sync { try use(body) }
  }

  func reading<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let call = StoppableCall()
    let waiting = Mutex<(@Sendable (Connection) throws -> Result)?>(body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [self] in
          worker.store(currentThread(), ordering: .relaxed)
          let result = Swift.Result { try runOnce(waiting, as: call) }
          worker.store(0, ordering: .relaxed)
          continuation.resume(with: result)
        }
      }
    } onCancel: {
      call.cancel()
    }
  }

  /// Runs the waiting body as `call`, which its task can cancel.
  private func runOnce<Result>(
    _ waiting: borrowing Mutex<(@Sendable (Connection) throws -> Result)?>, as call: StoppableCall
  ) throws -> Result {
    // Releases the body here, while the caller still holds its captures. Releasing the captures may
    // close the store.
    guard let body = waiting.withLock({ $0.take() }) else {
      preconditionFailure("A body runs once.")
    }
    var result: Result?
    do {
      try call.run {
        try use { connection in
          guard !call.isCancelled else { throw CancellationError() }
          result = try body(connection)
        }
      }
    } catch let error as StoreError
      where [.cancelled, .busy].contains(error.code) && call.isCancelled
    {
      throw CancellationError()
    }
    guard let result else { preconditionFailure("A body returns a result or throws.") }
    return result
  }

  private func takeTurn(_ body: (Connection) throws -> Void) throws {
    var failure: (any Error)?
    turn.withLockUnchecked { connection in
      do { try run(body, on: connection) } catch { failure = error }
      // A body that closed the lane finds the file closed as soon as it has ended.
      if isClosed.load(ordering: .sequentiallyConsistent) { connection = nil }
    }
    guard let failure else { return }
    let reason = (failure as? ConnectionFailure)?.reason ?? failure
    guard let error = (reason as? SQLiteError).map({ StoreError($0) }) ?? reason as? StoreError
    else { throw reason }
    throw error.naming(path)
  }

  private func run(_ body: (Connection) throws -> Void, on connection: Connection?) throws {
    // Sets the owner first, then checks whether the lane is open; `close` uses the opposite order.
    // So either a body does not begin, or `close` sees that it has begun.
    owner.store(currentThread(), ordering: .sequentiallyConsistent)
    defer { owner.store(0, ordering: .relaxed) }
    guard !isClosed.load(ordering: .sequentiallyConsistent), let connection else {
      throw StoreError(.misuse, "The store is closed.")
    }
    try body(connection)
  }

  func close(waiting isWaiting: Bool) {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    if !isCurrent, isWaiting || owner.load(ordering: .sequentiallyConsistent) == 0 {
      letGo()
    } else {
      // The body that runs now may be waiting for the caller.
      queue.async { [self] in letGo() }
    }
  }

  /// Releases the connection in a turn of its own, because a body uses the connection until it
  /// ends. The last reference closes it.
  private func letGo() {
    turn.withLockUnchecked { $0 = nil }
  }
}
