internal import Synchronization

/// A blocking call that a task waits for. When the task is cancelled, the call's statements stop as
/// by a ``StopRequest``.
final class StoppableCall: Sendable {
  @TaskLocal private static var inherited: StoppableCall?

  /// The call that this thread makes now; nil if no task waits for it. A task that the call's code
  /// starts inherits the value, but runs on another thread and is not part of the call.
  static var current: StoppableCall? {
    // Without any call there is no need for the task-local value, which takes longer to read.
    guard runningCount.load(ordering: .relaxed) > 0 else { return nil }
    guard let call = inherited, call.thread.load(ordering: .relaxed) == currentThread() else {
      return nil
    }
    return call
  }

  /// The number of calls that run now, in the whole process. A thread sees at least its own.
  private static let runningCount = Atomic(0)

  private let cancelled = Atomic(false)
  private let shielded = Atomic(false)
  private let thread = Atomic<UInt>(0)

  /// Whether the task was cancelled.
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// Whether the call is at something that must come to its end. Only the call's thread sets it.
  var isShielded: Bool {
    get { shielded.load(ordering: .relaxed) }
    set { shielded.store(newValue, ordering: .relaxed) }
  }

  /// Whether statements stop now. Any thread may ask.
  var request: StopRequest { StopRequest { [self] in isCancelled && !isShielded } }

  /// Runs `body` as this call, on the thread that makes it.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    Self.runningCount.add(1, ordering: .relaxed)
    thread.store(currentThread(), ordering: .relaxed)
    defer {
      thread.store(0, ordering: .relaxed)
      Self.runningCount.subtract(1, ordering: .relaxed)
    }
    return try Self.$inherited.withValue(self, operation: body)
  }

  /// Runs `body` to its end although the task of the current call may be cancelled.
  @discardableResult
  static func shielding<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let call = current else { return try body() }
    let before = call.isShielded
    call.isShielded = true
    defer { call.isShielded = before }
    return try body()
  }
}
