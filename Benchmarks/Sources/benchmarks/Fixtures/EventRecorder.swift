import Dispatch
import Synchronization

/// Takes the time of a commit and of the event it causes, on whatever threads they happen.
///
/// The thread that writes then waits here; its waking up is not part of the latency.
final class EventRecorder<Value: Sendable>: Sendable {
  /// An event, and how long after the commit it came.
  struct Event: Sendable {
    let nanoseconds: UInt64
    /// When it came, by ``Stopwatch/now``.
    let time: UInt64
    let value: Value
  }

  private struct State {
    var committedAt: UInt64 = 0
    var events: [Result<Event, any Error>] = []
  }

  private let state = Mutex(State())
  private let arrived = DispatchSemaphore(value: 0)

  /// Notes that COMMIT has just returned.
  func committed() {
    let now = Stopwatch.now
    state.withLock { $0.committedAt = now }
  }

  /// Notes that the subscriber has just been handed `value`.
  func received(_ value: Value) {
    let now = Stopwatch.now
    state.withLock { state in
      // An initial value has no commit; an event can even be seen before COMMIT's caller runs on.
      let elapsed = now > state.committedAt ? now - state.committedAt : 0
      state.events.append(.success(Event(nanoseconds: elapsed, time: now, value: value)))
    }
    arrived.signal()
  }

  func failed(_ error: any Error) {
    state.withLock { $0.events.append(.failure(error)) }
    arrived.signal()
  }

  /// Waits for the first event not yet taken that satisfies `accept`, dropping those before it.
  ///
  /// - Throws: What the subscription failed with, or ``BenchmarkFailure`` after 60 s of silence.
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
