internal import Synchronization

/// A subscriber of a live result or list.
struct LiveSubscriber<Delta: Sendable>: Sendable {
  /// Receives the changes of a commit, on the committing thread.
  let receive: @Sendable (Delta) -> ChangeBroker.Outcome
  /// Delivers the received changes, except events that contain only commits after the given
  /// version. Called on the delivery queue.
  let wake: @Sendable (UInt64) -> Void
  /// Whether `receive` may read the file.
  var readsFile = false
}

/// The subscribers of one live result or list, in the order of registration.
final class LiveSubscribers<Delta: Sendable>: Sendable {
  private struct State {
    var members: [(number: UInt64, subscriber: LiveSubscriber<Delta>)] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  var isEmpty: Bool { state.withLock { $0.members.isEmpty } }

  /// The current subscribers. A result reads them under the same lock under which it updates its
  /// rows. A subscriber added later has read the updated rows and must not receive that update.
  var all: [LiveSubscriber<Delta>] { state.withLock { $0.members.map(\.subscriber) } }

  /// Whether a subscriber may read the file when it receives changes.
  var readFile: Bool { state.withLock { $0.members.contains { $0.subscriber.readsFile } } }

  /// Passes a delta to all subscribers.
  func receive(_ delta: Delta) -> ChangeBroker.Outcome { all.receive(delta) }

  func wake(upTo version: UInt64) {
    for subscriber in all { subscriber.wake(version) }
  }

  fileprivate func add(_ subscriber: LiveSubscriber<Delta>) -> UInt64 {
    state.withLock { state in
      state.nextNumber += 1
      state.members.append((state.nextNumber, subscriber))
      return state.nextNumber
    }
  }

  /// - Returns: The removed subscriber. Release it outside any lock: its deinitialization may run
  ///   the caller's code.
  fileprivate func remove(_ number: UInt64) -> LiveSubscriber<Delta>? {
    state.withLock { state in
      guard let place = state.members.firstIndex(where: { $0.number == number }) else { return nil }
      return state.members.remove(at: place).subscriber
    }
  }
}

extension Array {
  /// Passes a delta to each of these subscribers.
  func receive<Delta>(_ delta: Delta) -> ChangeBroker.Outcome
  where Element == LiveSubscriber<Delta> {
    reduce(into: []) { $0.formUnion($1.receive(delta)) }
  }
}

/// A live result or list that has subscribers.
protocol LivePublisher: AnyObject, Sendable {
  associatedtype Delta: Sendable
  var subscribers: LiveSubscribers<Delta> { get }
}

extension LivePublisher {
  /// Adds a subscriber for later changes.
  ///
  /// - Returns: A closure that removes the subscriber. It retains the publisher.
  func subscribe(_ subscriber: LiveSubscriber<Delta>) -> @Sendable () -> Void {
    let number = subscribers.add(subscriber)
    return { [self] in
      let removed = subscribers.remove(number)
      withExtendedLifetime(removed) {}
    }
  }

  /// Calls subscribers that have waiting events of commits up to `version`. Called on the delivery
  /// queue.
  func wake(upTo version: UInt64) { subscribers.wake(upTo: version) }
}

extension LivePublisher where Self: ChangeBroker.Observer {
  func deliver(upTo version: UInt64) { wake(upTo: version) }
}
