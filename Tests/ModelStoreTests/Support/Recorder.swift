import Synchronization

/// Collects what callbacks report, in order.
final class Recorder<Event: Sendable>: Sendable {
  private let recorded = Mutex<[Event]>([])

  var events: [Event] { recorded.withLock { $0 } }

  func add(_ event: Event) {
    recorded.withLock { $0.append(event) }
  }
}
