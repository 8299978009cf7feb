internal import Synchronization

/// The resource of a ``ConnectionQueue``: a connection, or a value that contains one.
protocol ConnectionOwner: SendableMetatype {
  var connection: Connection { get }
}

extension Connection: ConnectionOwner {
  var connection: Connection { self }
}

/// A queue whose connection can read.
protocol ReadingQueue: Sendable {
  /// Whether the calling code may not wait for this queue. See ``ConnectionQueue/isCurrent``.
  var isCurrent: Bool { get }
  /// Runs `body` on the calling thread.
  func reading<Result>(_ body: (Connection) throws -> Result) throws -> Result
  /// Runs `body` on the queue's thread.
  func reading<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result
  /// Closes the queue. See ``ConnectionQueue/close(waiting:)``. A second call does nothing.
  func close(waiting isWaiting: Bool)
}

extension ConnectionQueue: ReadingQueue where Resource: ConnectionOwner {
  func reading<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try sync { try body($0.connection) }
  }

  func reading<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await self.async { try body($0.connection) }
  }
}

/// The connections that read, each with its own queue.
///
/// A read goes to the queue with the fewest waiting reads. Connections open on first use, up to a
/// fixed number.
final class ReaderPool: Sendable {
  private struct Slot {
    let queue: any ReadingQueue
    var load = 0
  }

  private struct State {
    var slots: [Slot] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let countMax: Int
  private let open: @Sendable () throws -> Connection
  private let process = OpeningProcess()

  /// Creates a pool.
  ///
  /// - Parameter first: An existing queue, which also reads when it is otherwise idle.
  init(
    countMax: Int, first: (any ReadingQueue)? = nil,
    open: @escaping @Sendable () throws -> Connection
  ) {
    precondition(countMax >= 1, "A store reads through at least one connection.")
    self.countMax = countMax + (first == nil ? 0 : 1)
    self.open = open
    if let first { state.withLock { $0.slots = [Slot(queue: first)] } }
  }

  /// Runs `body` on one connection.
  func sync<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let (place, queue) = try take()
    defer { give(place) }
    return try queue.reading(body)
  }

  func async<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let (place, queue) = try take()
    defer { give(place) }
    return try await queue.reading(body)
  }

  private func take() throws -> (place: Int, queue: any ReadingQueue) {
    try process.check()
    return try state.withLock { state in
      guard !state.isClosed else { throw StoreError(.misuse, "The store is closed.") }
      // A read inside a read uses another connection: its own one waits for the outer read to end.
      let usable = state.slots.indices.filter { !state.slots[$0].queue.isCurrent }
      let least = usable.min { state.slots[$0].load < state.slots[$1].load }
      let place: Int
      if let least, state.slots[least].load == 0 || state.slots.count == countMax {
        place = least
      } else if state.slots.count < countMax {
        let connection = try open()
        state.slots.append(
          Slot(
            queue: ConnectionQueue(
              connection, connection: connection, label: "modelstore.reader")))
        place = state.slots.count - 1
      } else {
        throw StoreError(
          .misuse,
          "A read began inside a read, and no other reader is free. Use the transaction that is passed to the closure."
        )
      }
      state.slots[place].load += 1
      return (place, state.slots[place].queue)
    }
  }

  private func give(_ place: Int) {
    state.withLock { $0.slots[place].load -= 1 }
  }

  /// Whether the calling code runs inside a body on one of the connections.
  var isCurrent: Bool { state.withLock { $0.slots.contains { $0.queue.isCurrent } } }

  /// Closes every connection when the body that runs on it has ended.
  ///
  /// - Parameter isWaiting: Whether to wait for that.
  func close(waiting isWaiting: Bool) {
    guard process.isCurrent else { return }
    let slots = state.withLock { state in
      state.isClosed = true
      return state.slots
    }
    for slot in slots { slot.queue.close(waiting: isWaiting) }
  }
}
