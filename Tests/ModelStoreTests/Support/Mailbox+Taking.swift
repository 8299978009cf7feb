@testable import ModelStore

extension Mailbox {
  /// A mailbox of no store.
  convenience init(coalescing: CoalescingPolicy) {
    self.init(nil, coalescing: coalescing)
  }

  /// The oldest event, as its callback would be called with it.
  func take() -> Event? {
    let taken = Recorder<Event>()
    whenReady { taken.add($0) }
    deliver(upTo: .max)
    return taken.events.first
  }
}
