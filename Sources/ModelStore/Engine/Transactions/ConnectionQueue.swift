internal import Dispatch
internal import Synchronization

/// A resource with one connection, and the serial queue that owns it. Calls run in their order.
///
/// Synchronous callers run on their own thread, so a call costs no thread hop. Asynchronous callers
/// run on the queue's thread, so blocking C calls never occupy a thread of the cooperative pool.
final class ConnectionQueue<Resource>: @unchecked Sendable {
  // Guard: `resource` is used on `queue` only. `connection` is stored separately for `interrupt`,
  // the only call that SQLite allows on any thread: https://sqlite.org/c3ref/interrupt.html
  private var resource: Held?
  private let connection: Mutex<Interruptible>
  private let queue: DispatchQueue
  private let turn = QueueTurn()
  private let ticket = Atomic<UInt64>(0)
  private let process = OpeningProcess()
  /// The thread that runs a body now, or 0.
  private let owner = Atomic<UInt>(0)
  private let isClosed = Atomic<Bool>(false)

  /// Lends the resource in place, because a copy of a large one takes time.
  private struct Held {
    var resource: Resource

    mutating func use<Result>(_ body: (inout Resource) throws -> Result) rethrows -> Result {
      try body(&resource)
    }
  }

  private struct Interruptible: @unchecked Sendable {
    // Guard: while a body runs, other threads only call `interrupt` through it, under the mutex.
    // The body itself may use it for anything, in ``inside(_:)``.
    var connection: Connection?
    var running: UInt64?
    /// Whether an interruption may only stop the body between statements.
    var isGentle = false
    /// Whether the body is in a part that must not be interrupted.
    var isShielded = false
    /// Whether an interruption was requested during that part.
    var isDue = false

    mutating func begin(_ number: UInt64, gently isGentle: Bool = false) {
      running = number
      self.isGentle = isGentle
      // A synchronous body cannot be cancelled, so it may leave its shield behind.
      isShielded = false
      isDue = false
    }

    mutating func end() {
      running = nil
      isShielded = false
      isDue = false
      connection?.endInterruption()
    }

    mutating func interrupt() {
      if isShielded { isDue = true } else { interruptNow() }
    }

    mutating func unshield() {
      isShielded = false
      if isDue { interruptNow() }
      isDue = false
    }

    private func interruptNow() {
      if isGentle { connection?.requestEnd() } else { connection?.interrupt() }
    }
  }

  init(_ resource: Resource, connection: Connection, label: String) {
    self.resource = Held(resource: resource)
    self.connection = Mutex(Interruptible(connection: connection))
    queue = DispatchQueue(label: label, qos: .userInitiated)
    queue.setSpecific(key: queueInUse, value: turn)
  }

  /// Whether the calling code may not wait for this queue.
  ///
  /// This is so inside a body of the queue, even nested in bodies of other queues. It is also so on
  /// the queue's thread between two bodies.
  var isCurrent: Bool {
    if owner.load(ordering: .relaxed) == currentThread() { return true }
    var held = DispatchQueue.getSpecific(key: queueInUse)
    while let queue = held {
      if queue === turn { return true }
      held = queue.outer.withLock { $0 }
    }
    return false
  }

  /// Whether no body runs on the queue. A body that does not run on the calling thread may begin or
  /// end meanwhile.
  var isIdle: Bool { owner.load(ordering: .relaxed) == 0 }

  /// Runs `body` on the calling thread after all earlier bodies. If a task waits for it, cancelling
  /// the task stops it.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside another body of the same queue, which would
  ///   wait for itself, and after ``close()``.
  func sync<Result>(_ body: (inout Resource) throws -> Result) throws -> Result {
    // Checked before waiting: in a forked child, the queue's owner at the time of the fork never
    // leaves it.
    try process.check()
    guard !isCurrent else {
      throw StoreError(
        .misuse,
        "A transaction cannot begin inside another. Use the transaction that is passed to the closure."
      )
    }
    guard let call = StoppableCall.current else { return try takeTurn { try use(body) } }
    return try takeTurn {
      let wasShielded = call.isShielded
      defer { call.isShielded = wasShielded }
      return try use { resource in
        let held = connection.withLock { $0 }
        guard let connection = held.connection else { return try body(&resource) }
        return try connection.hooks.withStopRequest(call.request) { try body(&resource) }
      }
    }
  }

  /// Runs `body` on the calling thread in the queue's turn, which remembers what queue the thread
  /// held.
  private func takeTurn<Result>(_ body: () throws -> Result) throws -> Result {
    let outer = DispatchQueue.getSpecific(key: queueInUse)
    var outcome: Swift.Result<Result, any Error>?
    // Without a result, because Dispatch's generic form costs more than the turn itself.
    queue.sync {
      turn.outer.withLock { $0 = outer }
      defer { turn.outer.withLock { $0 = nil } }
      outcome = Swift.Result { try body() }
    }
    guard let outcome else { preconditionFailure("Dispatch ran no body.") }
    return try outcome.get()
  }

  /// Returns a queue whose blocks wait for their turn like bodies, and may call ``inTurn(_:)``. It
  /// does not retain the resource.
  func makeTurnQueue(label: String) -> DispatchQueue {
    DispatchQueue(label: label, target: queue)
  }

  /// Runs `body` in a block of a queue that ``makeTurnQueue(label:)`` returned.
  ///
  /// - Throws: ``StoreError`` with code `misuse` after ``close(waiting:)``.
  func inTurn<Result>(_ body: (inout Resource) throws -> Result) throws -> Result {
    dispatchPrecondition(condition: .onQueue(queue))
    return try use(body)
  }

  /// Runs `body` on the queue's thread after all earlier bodies. Cancelling the task interrupts the
  /// running statement.
  ///
  /// - Throws: What `body` throws. `CancellationError` if the task was cancelled before `body`
  ///   began, or if that interrupted it.
  func async<Result: Sendable>(
    _ body: @escaping @Sendable (inout Resource) throws -> Result
  ) async throws -> Result {
    try process.check()
    let number = makeNumber()
    let isCancelled = Mutex(false)
    let waiting = Mutex<(@Sendable (inout Resource) throws -> Result)?>(body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [self] in
          continuation.resume(
            with: Swift.Result { try runOnce(waiting, as: number, unless: isCancelled) })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
      interrupt(number)
    }
  }

  /// Runs the waiting body, so that its task can interrupt it by `number`.
  private func runOnce<Result>(
    _ waiting: borrowing Mutex<(@Sendable (inout Resource) throws -> Result)?>, as number: UInt64,
    unless isCancelled: borrowing Mutex<Bool>
  ) throws -> Result {
    // Releases the body before the turn ends, while the caller still holds its captures. Releasing
    // the captures may close the store.
    guard let body = waiting.withLock({ $0.take() }) else {
      preconditionFailure("A body runs once.")
    }
    do {
      return try interruptible(number, gently: false) {
        guard !isCancelled.withLock({ $0 }) else { throw CancellationError() }
        return try use(body)
      }
    } catch let error as StoreError
      where [.cancelled, .busy].contains(error.code) && isCancelled.withLock({ $0 })
    {
      throw CancellationError()
    }
  }

  /// Protects the running body from cancellation, until ``unshield()`` or until the body ends.
  func shield() {
    connection.withLock { $0.isShielded = true }
    StoppableCall.current?.isShielded = true
  }

  /// Ends the protection. If the task was cancelled in the meantime, interrupts the body now.
  func unshield() {
    connection.withLock { $0.unshield() }
    StoppableCall.current?.isShielded = false
  }

  /// Runs `body` on the connection, for code that a body of this queue calls without passing the
  /// resource.
  ///
  /// - Throws: What `body` throws.
  /// - Precondition: The call is inside a body of this queue.
  func inside<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    precondition(isCurrent, "Only a body of the queue may use its connection.")
    let held = connection.withLock { $0 }
    guard let connection = held.connection else { throw Self.closed }
    return try body(connection)
  }

  private func use<Result>(_ body: (inout Resource) throws -> Result) throws -> Result {
    // Sets the owner first, then checks whether the queue is open; `close` uses the opposite order.
    // So either a body does not begin, or `close` sees that it has begun.
    owner.store(currentThread(), ordering: .sequentiallyConsistent)
    defer { owner.store(0, ordering: .relaxed) }
    guard !isClosed.load(ordering: .sequentiallyConsistent) else { throw Self.closed }
    defer { if isClosed.load(ordering: .relaxed) { letGo() } }
    do {
      guard let result = try resource?.use(body) else { throw Self.closed }
      return result
    } catch {
      let reason = (error as? ConnectionFailure)?.reason ?? error
      guard let error = (reason as? SQLiteError).map({ StoreError($0) }) ?? reason as? StoreError
      else { throw reason }
      throw error.naming(connection.withLock { $0.connection?.path })
    }
  }

  private static var closed: StoreError { StoreError(.misuse, "The store is closed.") }

  /// Releases the resource when the running body has ended, which closes the connection. Waiting
  /// bodies fail.
  ///
  /// - Parameter isWaiting: Whether to wait for the release. It never waits inside a body of any
  ///   queue, because the running body may be waiting for the caller.
  func close(waiting isWaiting: Bool) {
    guard process.isCurrent else { return }
    isClosed.store(true, ordering: .sequentiallyConsistent)
    if !isCurrent, isWaiting || owner.load(ordering: .sequentiallyConsistent) == 0 {
      let outer = DispatchQueue.getSpecific(key: queueInUse)
      queue.sync {
        turn.outer.withLock { $0 = outer }
        letGo()
        turn.outer.withLock { $0 = nil }
      }
    } else {
      queue.async { [self] in letGo() }
    }
  }

  /// Releases the resource. Must not run during a body, which uses the connection until it ends.
  private func letGo() {
    // The last reference closes the connection. That is too slow to do under the mutex.
    let held = connection.withLock { state in
      defer { state.connection = nil }
      return state
    }
    withExtendedLifetime(held) { resource = nil }
  }
}

// Calls that wait in a line of their own and share turns; see ``WriteLine``.
extension ConnectionQueue {
  /// Returns a number by which a body can be interrupted.
  func makeNumber() -> UInt64 { ticket.add(1, ordering: .relaxed).newValue }

  /// Runs `block` on the queue's thread after all earlier bodies. It may call ``inTurn(_:)``.
  func enqueue(_ block: @escaping @Sendable () -> Void) {
    queue.async(execute: block)
  }

  /// - Throws: ``StoreError`` with code `forked` in a child of the process that opened the store.
  func checkProcess() throws { try process.check() }

  /// Whether waiting bodies will fail, because the queue was closed.
  var isClosing: Bool { isClosed.load(ordering: .sequentiallyConsistent) }

  /// Interrupts the body with that number if it is running.
  func interrupt(_ number: UInt64) {
    connection.withLock { state in
      if state.running == number { state.interrupt() }
    }
  }

  /// Runs `body`, which ``interrupt(_:)`` stops by `number`.
  ///
  /// - Parameter isGentle: Whether to stop it only where SQLite does not roll the transaction back.
  func interruptible<Result>(
    _ number: UInt64, gently isGentle: Bool, _ body: () throws -> Result
  ) rethrows -> Result {
    connection.withLock { $0.begin(number, gently: isGentle) }
    defer { connection.withLock { $0.end() } }
    return try heedingInterruption(body)
  }

  /// Runs `body`, in which an interruption also stops a statement that began just after it. SQLite
  /// itself forgets an interruption while no statement runs.
  private func heedingInterruption<Result>(_ body: () throws -> Result) rethrows -> Result {
    let held = connection.withLock { $0 }
    guard let connection = held.connection else { return try body() }
    return try connection.hooks.stopping(body) { [self] in
      let state = self.connection.withLock { (isShielded: $0.isShielded, isGentle: $0.isGentle) }
      return !state.isShielded && !(state.isGentle && connection.isChanging)
    }
  }
}

/// The queue on which code runs. A thread that waits for a queue runs on it, and still holds the
/// queues that it held before.
private final class QueueTurn: Sendable {
  /// The queue that the calling thread held before it waited for this one.
  let outer = Mutex<QueueTurn?>(nil)
}

/// The innermost turn of a ``ConnectionQueue`` on which the calling code runs, if any.
private let queueInUse = DispatchSpecificKey<QueueTurn>()
