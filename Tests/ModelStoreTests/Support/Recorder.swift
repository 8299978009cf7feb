import ModelStore
import Synchronization

/// Collects what callbacks report, in order.
final class Recorder<Event: Sendable>: Sendable {
  private let recorded = Mutex<[Event]>([])

  var events: [Event] { recorded.withLock { $0 } }

  func add(_ event: Event) {
    recorded.withLock { $0.append(event) }
  }

  /// The events so far, which are forgotten.
  func taken() -> [Event] {
    recorded.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
