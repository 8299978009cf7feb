import Dispatch
import Synchronization

/// Measures the time between a commit and the event that it causes, on any threads.
///
/// The writing thread waits here for the event. The time until that thread wakes up is not part of
/// the latency.
final class EventRecorder<Value: Sendable>: Sendable {
  /// An event, and the time since its commit.
  struct Event: Sendable {
    let nanoseconds: UInt64
    /// The time of the event, by ``Stopwatch/now``.
    let time: UInt64
    let value: Value
  }

  private struct State {
    var committedAt: UInt64 = 0
    var events: [Result<Event, any Error>] = []
  }

  private let state = Mutex(State())
  private let arrived = DispatchSemaphore(value: 0)

  /// Records that COMMIT has just returned.
  func committed() {
    let now = Stopwatch.now
    state.withLock { $0.committedAt = now }
  }

  /// Records that the subscriber has just received `value`.
  func received(_ value: Value) {
    let now = Stopwatch.now
    state.withLock { state in
      // An initial value has no commit. An event can also arrive before the caller of COMMIT
      // continues.
      let elapsed = now > state.committedAt ? now - state.committedAt : 0
      state.events.append(.success(Event(nanoseconds: elapsed, time: now, value: value)))
    }
    arrived.signal()
  }

  func failed(_ error: any Error) {
    state.withLock { $0.events.append(.failure(error)) }
    arrived.signal()
  }

  /// Waits for the first new event that satisfies `accept`, and drops the events before it.
  ///
  /// - Throws: The error of the subscription, or ``BenchmarkFailure`` after 60 s without events.
  func next(where accept: (Value) -> Bool) throws -> Event {
    while true {
      guard arrived.wait(timeout: .now() + .seconds(60)) == .success else {
        throw BenchmarkFailure("No event with the expected result came within 60 s.")
      }
      let event = try state.withLock { try $0.events.removeFirst().get() }
      if accept(event.value) { return event }
    }
  }
}
