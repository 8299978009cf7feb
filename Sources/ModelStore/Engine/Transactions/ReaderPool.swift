internal import Dispatch

/// The resource of a ``ConnectionQueue``: a connection, or a value that contains one.
protocol ConnectionOwner: SendableMetatype {
  var connection: Connection { get }
}

extension Connection: ConnectionOwner {
  var connection: Connection { self }
}

/// A connection that can read, for one body at a time: a ``ReaderLane``, or the writer's queue.
protocol ReadingQueue: AnyObject, Sendable {
  /// Whether the calling code may not wait for this queue. See ``ConnectionQueue/isCurrent``.
  var isCurrent: Bool { get }
  /// Runs `body` on the calling thread.
  func use(_ body: (Connection) throws -> Void) throws
  /// As ``use(_:)``, behind what waits for the queue's thread already and before what comes later.
  func useInOrder(_ body: (Connection) throws -> Void) throws
  /// Whether a body whose turn it is need not wait, because no write uses the connection.
  var onlyReads: Bool { get }
  /// Runs `body` on the queue's thread.
  func reading<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result
  /// Closes the queue. See ``ConnectionQueue/close(waiting:)``. A second call does nothing.
  func close(waiting isWaiting: Bool)
}

extension ConnectionQueue: ReadingQueue where Resource: ConnectionOwner {
  func use(_ body: (Connection) throws -> Void) throws {
    try sync { try body($0.connection) }
  }

  func useInOrder(_ body: (Connection) throws -> Void) throws { try use(body) }

  var onlyReads: Bool { false }

  func reading<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await self.async { try body($0.connection) }
  }
}

/// The connections that read, each with its own lane. They open on first use, up to a fixed number.
///
/// A thread that finds no free connection sleeps until one is free. A thread that runs may take
/// that connection first: if connections were handed from thread to thread in order, each read
/// would wait until the next thread wakes up, which takes longer than the read. Only a thread that
/// has waited for long is handed the next connection.
///
/// A task does not wait here. It reads on the thread of the connection with the fewest reads. Only
/// a short read of what is in memory runs on the task's own thread, which saves two thread changes.
final class ReaderPool: Sendable {
  private struct Slot {
    let queue: any ReadingQueue
    /// The number of reads that run on the connection or wait for it.
    var load = 0
  }

  /// A thread that sleeps because no connection is free.
  private final class Sleeper: Sendable {
    let semaphore = DispatchSemaphore(value: 0)
    let since = DispatchTime.now().uptimeNanoseconds

    var hasWaitedLong: Bool {
      DispatchTime.now().uptimeNanoseconds - since > ReaderPool.patience
    }
  }

  /// A thread's entry among the sleepers.
  private struct Entry {
    let sleeper: Sleeper
    /// The positions of the connections on which the thread runs a body. It cannot use them.
    let held: Set<Int>
    /// The position of a connection that was handed over.
    var place: Int?
    /// Whether the thread was woken to look for a free connection.
    var isAwake = false
  }

  private struct State {
    var slots: [Slot] = []
    /// In order of arrival.
    var sleepers: [Entry] = []
    var isClosed = false

    /// The position of the first connection without reads. Inside a write, the writer's is none.
    var free: Int? { slots.firstIndex { $0.load == 0 && !$0.queue.isCurrent } }

    /// Takes the first connection without reads; nil if there is none, or the pool is closed.
    mutating func takeIdle() -> Taken? { take(free) }

    /// Takes the first connection without reads that never writes; nil if there is none.
    mutating func takeIdleReader() -> Taken? {
      take(slots.firstIndex { $0.load == 0 && $0.queue.onlyReads && !$0.queue.isCurrent })
    }

    private mutating func take(_ place: Int?) -> Taken? {
      guard !isClosed, let place else { return nil }
      slots[place].load += 1
      return Taken(place: place, queue: slots[place].queue)
    }

    /// The position of the connection with the fewest reads. A read inside a read uses another
    /// connection: its own one waits for the outer read to end.
    var leastLoaded: Int? {
      slots.indices.filter { !slots[$0].queue.isCurrent }.min { slots[$0].load < slots[$1].load }
    }
  }

  /// How long a thread sleeps, in nanoseconds, before it goes ahead of threads that run. It is
  /// longer than a thread waits for a processor on a busy machine.
  private static let patience: UInt64 = 50_000_000

  private let state = BargingMutex(State())
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
    var result: Result?
    try use { result = try body($0) }
    guard let result else { preconditionFailure("A body returns a result or throws.") }
    return result
  }

  /// Runs `body` on one connection. It is not generic: in the library, code for any type of result
  /// takes as many instructions as the rest of a short read.
  func use(_ body: (Connection) throws -> Void) throws {
    let taken = try take()
    defer { give(taken.place) }
    if taken.isHandedOver {
      // Tasks may wait for the connection without a break.
      try taken.queue.useInOrder(body)
    } else {
      try taken.queue.use(body)
    }
  }

  /// Runs `body` on the calling thread if it need not wait: a connection is idle, what SQLite reads
  /// is in memory, and no lock is held elsewhere.
  ///
  /// The time is limited, too, so that a task may call it. Two thread changes take about as long as
  /// the limit, so a longer read loses at most as much as a shorter one wins.
  ///
  /// - Precondition: The files have write-ahead logs: SQLite then waits for no other connection.
  /// - Returns: nil if `body` did not run to its end. Then run it by ``async(_:)``, which also
  ///   finds out why. It may have read something, so it must be harmless to run it again.
  func atOnce<Result>(_ body: (Connection) throws -> Result) -> Result? {
    guard process.isCurrent,
      let taken = state.withLockUnchecked({ state in state.takeIdleReader() })
    else { return nil }
    defer { give(taken.place) }
    var result: Result?
    do {
      try taken.queue.use { connection in
        result = try connection.withoutWaiting { try body(connection) }
      }
    } catch {
      // The read on the reader's thread throws what is wrong.
      return nil
    }
    return result
  }

  func async<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let taken = try takeForTask()
    defer { give(taken.place) }
    return try await taken.queue.reading(body)
  }

  private struct Taken {
    let place: Int
    let queue: any ReadingQueue
    var isHandedOver = false
  }

  /// Takes a connection for the calling thread, which waits for it.
  private func take() throws -> Taken {
    try process.check()
    if let taken = state.withLockUnchecked({ state in state.takeIdle() }) { return taken }
    if let taken = try state.withLock({ state in try takeFree(&state) }) { return taken }
    let sleeper = Sleeper()
    while true {
      let taken = try state.withLock { state in try takeFree(&state, for: sleeper) }
      if let taken { return taken }
      sleeper.semaphore.wait()
    }
  }

  /// - Parameter sleeper: The thread's entry among the sleepers, if it is to wait.
  /// - Returns: nil if no connection is free.
  private func takeFree(_ state: inout State, for sleeper: Sleeper? = nil) throws -> Taken? {
    let entry = sleeper.flatMap { sleeper in
      state.sleepers.firstIndex { $0.sleeper === sleeper }
    }
    do {
      guard !state.isClosed else { throw StoreError(.misuse, "The store is closed.") }
      let handed = entry.flatMap { state.sleepers[$0].place }
      guard let place = try handed ?? freePlace(&state) else {
        if let entry {
          state.sleepers[entry].isAwake = false
        } else if let sleeper {
          let held = state.slots.indices.filter { state.slots[$0].queue.isCurrent }
          state.sleepers.append(Entry(sleeper: sleeper, held: Set(held)))
        }
        return nil
      }
      if handed == nil { state.slots[place].load += 1 }
      if let entry { state.sleepers.remove(at: entry) }
      return Taken(
        place: place, queue: state.slots[place].queue, isHandedOver: handed != nil)
    } catch {
      if let entry { state.sleepers.remove(at: entry) }
      throw error
    }
  }

  /// Returns the position of a connection without reads, which may be opened for that.
  private func freePlace(_ state: inout State) throws -> Int? {
    if let free = state.free { return free }
    guard state.slots.count == countMax else {
      let connection = try open()
      state.slots.append(Slot(queue: ReaderLane(connection)))
      return state.slots.count - 1
    }
    if state.slots.allSatisfy(\.queue.isCurrent) { throw Self.noOtherReader }
    return nil
  }

  private static var noOtherReader: StoreError {
    StoreError(
      .misuse,
      "A read began inside a read, and no other reader is free. Use the transaction that is passed to the closure."
    )
  }

  private func takeForTask() throws -> Taken {
    try process.check()
    return try state.withLock { state in
      guard !state.isClosed else { throw StoreError(.misuse, "The store is closed.") }
      guard let place = try freePlace(&state) ?? state.leastLoaded else {
        throw Self.noOtherReader
      }
      state.slots[place].load += 1
      return Taken(place: place, queue: state.slots[place].queue)
    }
  }

  private func give(_ place: Int) {
    let woken: [Sleeper] = state.withLockUnchecked { state in
      guard !state.sleepers.isEmpty else {
        state.slots[place].load -= 1
        return []
      }
      let next = state.sleepers.firstIndex { $0.place == nil && !$0.held.contains(place) }
      // Tasks may keep a connection busy without a break, so this does not wait for a free one.
      if let next, state.sleepers[next].sleeper.hasWaitedLong, !state.isClosed {
        state.sleepers[next].place = place
        // A thread that was woken for another connection leaves that to the next one.
        return [state.sleepers[next].sleeper] + Self.wake(&state)
      }
      state.slots[place].load -= 1
      return Self.wake(&state)
    }
    for sleeper in woken { sleeper.semaphore.signal() }
  }

  /// Marks a sleeping thread as awake, if there is a free connection for it.
  private static func wake(_ state: inout State) -> [Sleeper] {
    guard !state.sleepers.isEmpty else { return [] }
    let free = Set(state.slots.indices.filter { state.slots[$0].load == 0 })
    let wakingCount = state.sleepers.count { $0.isAwake && $0.place == nil }
    let asleep = state.sleepers.firstIndex { entry in
      !entry.isAwake && entry.place == nil && !free.isSubset(of: entry.held)
    }
    guard wakingCount < free.count, let asleep else { return [] }
    state.sleepers[asleep].isAwake = true
    return [state.sleepers[asleep].sleeper]
  }

  /// Whether the calling code runs inside a body on one of the connections.
  var isCurrent: Bool { state.withLock { $0.slots.contains { $0.queue.isCurrent } } }

  /// Closes every connection when the body that runs on it has ended.
  ///
  /// - Parameter isWaiting: Whether to wait for that.
  func close(waiting isWaiting: Bool) {
    guard process.isCurrent else { return }
    let (slots, sleepers) = state.withLock { state in
      state.isClosed = true
      return (state.slots, state.sleepers.map(\.sleeper))
    }
    for sleeper in sleepers { sleeper.semaphore.signal() }
    for slot in slots { slot.queue.close(waiting: isWaiting) }
  }
}
