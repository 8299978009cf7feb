@testable import ModelStore

extension Mailbox {
  /// A mailbox of no store.
  convenience init(backlog: Backlog) {
    self.init(nil, backlog: backlog)
  }

  /// The oldest event, as its callback would be called with it.
  func take() -> Event? {
    let taken = Recorder<Event>()
    whenReady { taken.add($0) }
    deliver(upTo: .max)
    return taken.events.first
  }
}
