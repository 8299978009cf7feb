internal import Synchronization

/// The events of one commit that a sequence's reader has not yet received.
final class WaitingEvents<Event: Sendable>: Sendable {
  private let events = Mutex(WaitingLine<Event>())

  func put(_ events: [Event]) {
    self.events.withLock { $0.append(contentsOf: events) }
  }

  func next() -> Event? { events.withLock { $0.popFirst() } }
}
