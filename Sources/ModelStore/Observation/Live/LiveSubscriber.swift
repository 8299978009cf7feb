/// One who hears of a live result or list.
struct LiveSubscriber<Delta: Sendable>: Sendable {
  /// Takes what a commit did; on the committing thread.
  let receive: @Sendable (Delta) -> ChangeBroker.Outcome
  /// Hands on what was received, but for what tells only of commits after the given version; on the
  /// delivery queue.
  let wake: @Sendable (UInt64) -> Void
}

/// The subscribers of one live result or list, in the order in which they came.
struct LiveSubscribers<Delta: Sendable>: Sendable {
  private var members: [(number: UInt64, subscriber: LiveSubscriber<Delta>)] = []
  private var nextNumber: UInt64 = 0

  var all: [LiveSubscriber<Delta>] { members.map(\.subscriber) }

  mutating func add(_ subscriber: LiveSubscriber<Delta>) -> UInt64 {
    nextNumber += 1
    members.append((nextNumber, subscriber))
    return nextNumber
  }

  /// - Returns: Who was removed, to be released where no lock is held: its end may run the caller's
  ///   code.
  mutating func remove(_ number: UInt64) -> LiveSubscriber<Delta>? {
    guard let place = members.firstIndex(where: { $0.number == number }) else { return nil }
    return members.remove(at: place).subscriber
  }
}

extension Array {
  /// Hands a delta to everyone.
  func receive<Delta>(_ delta: Delta) -> ChangeBroker.Outcome
  where Element == LiveSubscriber<Delta> {
    reduce(into: []) { $0.formUnion($1.receive(delta)) }
  }
}
