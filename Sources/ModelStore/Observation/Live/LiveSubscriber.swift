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
    var members: [LiveSubscriber<Delta>] = []
    /// The number of each member.
    var numbers: [UInt64] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Mutex(State())
  private let readers: FileReaders?

  /// - Parameter readers: Counts the subscribers that read the file.
  init(readers: FileReaders? = nil) {
    self.readers = readers
  }

  deinit {
    state.withLock { state in
      for member in state.members { count(member, by: -1) }
    }
  }

  var isEmpty: Bool { state.withLock { $0.members.isEmpty } }

  /// Whether ``FileReaders`` counts the subscribers that read the file.
  var areCounted: Bool { readers != nil }

  /// The current subscribers. A result reads them under the same lock under which it updates its
  /// rows. A subscriber added later has read the updated rows and must not receive that update.
  var all: [LiveSubscriber<Delta>] { state.withLock { $0.members } }

  /// Whether a subscriber may read the file when it receives changes.
  var readFile: Bool { state.withLock { $0.members.contains { $0.readsFile } } }

  /// Passes a delta to all subscribers.
  func receive(_ delta: Delta) -> ChangeBroker.Outcome { all.receive(delta) }

  func wake(upTo version: UInt64) {
    for subscriber in all { subscriber.wake(version) }
  }

  fileprivate func add(_ subscriber: LiveSubscriber<Delta>) -> UInt64 {
    state.withLock { state in
      state.nextNumber += 1
      state.members.append(subscriber)
      state.numbers.append(state.nextNumber)
      count(subscriber, by: 1)
      return state.nextNumber
    }
  }

  /// - Returns: The removed subscriber. Release it outside any lock: its deinitialization may run
  ///   the caller's code.
  fileprivate func remove(_ number: UInt64) -> LiveSubscriber<Delta>? {
    state.withLock { state in
      guard let place = state.numbers.firstIndex(of: number) else { return nil }
      state.numbers.remove(at: place)
      let removed = state.members.remove(at: place)
      count(removed, by: -1)
      return removed
    }
  }

  private func count(_ subscriber: LiveSubscriber<Delta>, by step: Int) {
    if subscriber.readsFile { readers?.add(step) }
  }
}

extension Array {
  /// Passes a delta to each of these subscribers.
  func receive<Delta>(_ delta: Delta) -> ChangeBroker.Outcome
  where Element == LiveSubscriber<Delta> {
    var outcome: ChangeBroker.Outcome = []
    for subscriber in self { outcome.formUnion(subscriber.receive(delta)) }
    return outcome
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
