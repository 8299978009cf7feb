import Dispatch
import ModelStore
import Synchronization

/// What callbacks report, handed over in order to a test that waits for it.
final class AwaitedEvents<Event: Sendable>: Sendable {
  struct Silence: Error {}

  private let waiting = Mutex<[Event]>([])
  private let arrived = DispatchSemaphore(value: 0)

  func add(_ event: Event) {
    waiting.withLock { $0.append(event) }
    arrived.signal()
  }

  /// The oldest event not yet taken that `accept` accepts; earlier events are dropped.
  ///
  /// - Throws: ``Silence`` when none comes.
  @discardableResult
  func next(where accept: (Event) -> Bool = { _ in true }) throws -> Event {
    while arrived.wait(timeout: .now() + .seconds(60)) == .success {
      let event = waiting.withLock { $0.removeFirst() }
      if accept(event) { return event }
    }
    throw Silence()
  }
}
