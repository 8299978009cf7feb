internal import Synchronization

/// The monitors of the stores on one file.
///
/// Without a monitor, ``isActive`` is all that an operation reads.
final class Monitors: Sendable {
  /// A monitor that was added. An object, because sending an event then copies no existential.
  private final class Entry: Sendable {
    /// The number of the lease that it ends with.
    let lease: UInt64
    let slow: Duration?
    let monitor: any StoreMonitor

    init(_ monitor: any StoreMonitor, of lease: UInt64) {
      self.lease = lease
      self.monitor = monitor
      slow = monitor.slowStatementDuration
    }
  }

  private struct State {
    var entries: [Entry] = []
    var slowDuration: Duration?
  }

  private let active = Atomic(false)
  /// Whether reads are tracked although no monitor listens.
  private let isTracking = Atomic(false)
  private let openReads = Mutex<[UInt64: ContinuousClock.Instant]>([:])
  private let readNumbers = Atomic<UInt64>(0)
  private let writeNumbers = Atomic<UInt64>(0)
  // Never held while a monitor is called.
  private let state = Mutex(State())

  /// Whether any monitor listens.
  var isActive: Bool { active.load(ordering: .relaxed) }

  /// The duration from which statements are reported; nil for none.
  var slowStatementDuration: Duration? {
    isActive ? state.withLock { $0.slowDuration } : nil
  }

  /// Adds a monitor, which ends with the lease of that number.
  func add(_ monitor: any StoreMonitor, of lease: UInt64) {
    let entry = Entry(monitor, of: lease)
    state.withLock { state in
      state.entries.append(entry)
      if let slow = entry.slow { state.slowDuration = min(slow, state.slowDuration ?? slow) }
      active.store(true, ordering: .relaxed)
    }
  }

  /// Removes the monitors of a lease.
  func remove(of lease: UInt64) {
    let removed = state.withLock { state in
      let removed = state.entries.filter { $0.lease == lease }
      state.entries.removeAll { $0.lease == lease }
      state.slowDuration = state.entries.compactMap(\.slow).min()
      active.store(!state.entries.isEmpty, ordering: .relaxed)
      return removed
    }
    // Released outside the lock: its deinitialization may run the caller's code.
    withExtendedLifetime(removed) {}
  }

  /// Sends an event, which is made only if a monitor listens.
  func send(_ event: @autoclosure () -> StoreEvent) {
    guard isActive else { return }
    let event = event()
    for entry in state.withLock({ $0.entries }) { entry.monitor.receive(event) }
  }

  /// The tag that a monitor has for a write; the first one counts.
  func tag(ofWrite number: UInt64) -> String? {
    for entry in state.withLock({ $0.entries }) {
      if let tag = entry.monitor.tag(ofWrite: number) { return tag }
    }
    return nil
  }

  /// Begins to time a write, on the thread and in the task of its caller.
  ///
  /// - Returns: nil while no monitor listens.
  func timeWrite() -> WriteTimer? {
    guard isActive else { return nil }
    let timer = WriteTimer(
      number: writeNumbers.add(1, ordering: .relaxed).newValue, monitors: self)
    send(.writeQueued(timer.number))
    return timer
  }

  // Reads

  /// Begins to time a read.
  ///
  /// - Returns: nil while no monitor listens and no one has asked for ``oldestRead``.
  func timeRead() -> ReadTimer? {
    isActive || isTracking.load(ordering: .relaxed) ? ReadTimer(monitors: self) : nil
  }

  /// How long the oldest running read has run; nil if none runs.
  ///
  /// Reads count from the first call on, and from the first monitor on. So they cost nothing in
  /// programs that do not ask.
  var oldestRead: Duration? {
    isTracking.store(true, ordering: .relaxed)
    return openReads.withLock { $0.values.min() }.map { $0.duration(to: .now) }
  }

  func nextReadNumber() -> UInt64 { readNumbers.add(1, ordering: .relaxed).newValue }

  /// Runs `body` as the read with this number, which counts as running since `start`.
  func tracking<Result>(
    _ number: UInt64, since start: ContinuousClock.Instant, _ body: () throws -> Result
  ) rethrows -> Result {
    openReads.withLock { $0[number] = start }
    defer { openReads.withLock { _ = $0.removeValue(forKey: number) } }
    return try body()
  }
}
