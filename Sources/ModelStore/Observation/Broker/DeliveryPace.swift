internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Keeps the thread of the delivery queue awake between commits that follow each other closely.
///
/// To wake a thread can take the committing thread as long as the rest of its commit. So after a
/// turn that came soon after the turn before, the thread waits a moment for the next one. Without
/// such a pair of turns, or after a moment without a turn, it sleeps at once.
final class DeliveryPace: Sendable {
  /// On a single processor, the committing thread could not run meanwhile.
  private static let isUseful = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

  /// How long the thread stays awake, in nanoseconds.
  private let moment: UInt64
  private let queued = Atomic<UInt64>(0)
  private let hurryCount = Atomic(0)
  // Used on the delivery queue only.
  private let begun = Atomic<UInt64>(0)
  /// When the latest turn ended.
  private let end = Atomic<UInt64>(0)

  /// - Parameter moment: How long the thread stays awake, in nanoseconds. A commit without a sync
  ///   takes less than the default.
  init(moment: UInt64 = 50_000) {
    self.moment = moment
  }

  /// The number of turns that were put on the delivery queue so far.
  var queuedCount: UInt64 { queued.load(ordering: .sequentiallyConsistent) }

  /// Counts a turn. Call it after the turn was put on the queue.
  func noteQueued() { queued.add(1, ordering: .sequentiallyConsistent) }

  /// Runs `body` as a turn, on the delivery queue.
  func turn(_ body: () -> Void) {
    let begun = begun.add(1, ordering: .relaxed).newValue
    let pause = Self.now &- end.load(ordering: .relaxed)
    body()
    let end = Self.now
    self.end.store(end, ordering: .relaxed)
    guard pause < moment, Self.isUseful else { return }
    while queuedCount <= begun, hurryCount.load(ordering: .relaxed) == 0,
      Self.now &- end < moment
    {
      sched_yield()
    }
  }

  /// Runs `body`, which waits for the delivery queue.
  func hurrying(_ body: () -> Void) {
    beginHurry()
    body()
    endHurry()
  }

  /// From now on, no turn waits for another, until ``endHurry()``.
  func beginHurry() { hurryCount.add(1, ordering: .relaxed) }

  func endHurry() { hurryCount.subtract(1, ordering: .relaxed) }

  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
