internal import Dispatch
internal import Synchronization

/// Delivers each commit once, in commit order, to those it concerns. Not the one who finds out
/// what changed: change sets come in complete.
///
/// Routing runs on the committing thread while it still owns the writer, so commits arrive in
/// order. Callbacks run on the broker's own serial queue: commit by commit and, within one commit,
/// in the order of registration. A callback may write, observe and cancel.
final class ChangeBroker: Sendable {
  /// Someone who wants to know about commits. Called on the committing thread.
  protocol Observer: AnyObject, Sendable {
    var interest: Interest { get }
    /// - Returns: Whether there is something to deliver now.
    func note(_ commit: Commit) -> Bool
    /// Hands what was noted to the caller; on the delivery queue.
    func deliver()
  }

  /// Which records of which model an observer wants to know about.
  struct Interest: Hashable, Sendable {
    var model: String
    /// One record, or all of the model.
    var key: [SQLValue]?
    /// The fields whose values it reads; nil for all.
    var fields: Set<Int>?
  }

  /// What reaches an observer of one commit.
  struct Commit: Sendable {
    /// The changes of the observer's model, or of its one record.
    var changes: ChangeSet
    /// Whether more changed than the change set can tell: another connection wrote, the schema
    /// changed, or the observer came when the transaction was already running.
    var isReset: Bool
  }

  private struct State {
    var observers: [UInt64: any Observer] = [:]
    /// Observers of whole models, ascending.
    var ofModel: [String: [UInt64]] = [:]
    /// Observers of single records, ascending.
    var ofRecord: [String: [[SQLValue]: [UInt64]]] = [:]
    var nextNumber: UInt64 = 0
    var version: UInt64 = 0
    var generation: UInt64 = 0
  }

  // Never held while a subscriber's code runs.
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "modelstore.delivery", qos: .userInitiated)

  /// The number of the latest commit that was published.
  var version: UInt64 { state.withLock { $0.version } }

  /// A number that moves whenever somebody comes or goes.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// The number of the latest observer: those with a higher one come later.
  var latestObserver: UInt64 { state.withLock { $0.nextNumber } }

  /// For each observed model, the fields to read; nil for all.
  func interests() -> [String: Set<Int>?] {
    state.withLock { state in
      var interests: [String: Set<Int>?] = [:]
      for observer in state.observers.values {
        let interest = observer.interest
        guard let known = interests[interest.model] else {
          interests[interest.model] = .some(interest.fields)
          continue
        }
        interests[interest.model] = .some(
          known.flatMap { known in interest.fields.map { known.union($0) } })
      }
      return interests
    }
  }

  /// Takes up `observer` and starts it while no commit can come between.
  ///
  /// - Returns: What ends it.
  func add(_ observer: some Observer) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.nextNumber += 1
      state.generation += 1
      let number = state.nextNumber
      let interest = observer.interest
      state.observers[number] = observer
      if let key = interest.key {
        state.ofRecord[interest.model, default: [:]][key, default: []].append(number)
      } else {
        state.ofModel[interest.model, default: []].append(number)
      }
      return number
    }
    return { [weak self] in self?.remove(number) }
  }

  private func remove(_ number: UInt64) {
    let removed: (any Observer)? = state.withLock { state in
      guard let observer = state.observers.removeValue(forKey: number) else { return nil }
      state.generation += 1
      let interest = observer.interest
      if let key = interest.key {
        state.ofRecord[interest.model]?[key]?.removeAll { $0 == number }
        if state.ofRecord[interest.model]?[key]?.isEmpty == true {
          state.ofRecord[interest.model]?[key] = nil
        }
      } else {
        state.ofModel[interest.model]?.removeAll { $0 == number }
      }
      return observer
    }
    // Released here, outside the lock: its end may run the caller's code.
    _ = removed
  }

  /// Announces a commit.
  ///
  /// - Parameters:
  ///   - changes: Everything that changed in observed models.
  ///   - isReset: Whether observers cannot rely on `changes` alone.
  ///   - knownObserver: The latest observer whose interest the changes cover. One that came later,
  ///     while the transaction ran, is told to look anew.
  /// - Returns: The commit as it was published.
  /// - Complexity: O(changes + observers concerned); O(all observers) for a reset.
  @discardableResult
  func publish(
    _ changes: [RecordChange], isReset: Bool = false, knownObserver: UInt64 = .max
  ) -> ChangeSet {
    let (published, concerned) = state.withLock { state in
      state.version += 1
      let published = ChangeSet(version: state.version, changes: changes)
      guard !state.observers.isEmpty else {
        return (published, [] as [(observer: any Observer, commit: Commit)])
      }
      let lastSafe = isReset ? 0 : knownObserver
      return (published, Self.route(published, resettingAfter: lastSafe, in: state))
    }
    let ready = concerned.filter { $0.observer.note($0.commit) }.map(\.observer)
    if !ready.isEmpty {
      queue.async { for observer in ready { observer.deliver() } }
    }
    return published
  }

  private static func route(
    _ published: ChangeSet, resettingAfter lastSafe: UInt64, in state: State
  ) -> [(observer: any Observer, commit: Commit)] {
    var parts: [UInt64: [RecordChange]] = [:]
    if lastSafe < state.nextNumber {
      for number in state.observers.keys where number > lastSafe { parts[number] = [] }
    }
    // Who is reset gets no changes: they may lack fields that nobody had asked for.
    for change in published.changes {
      for number in state.ofModel[change.model] ?? [] where number <= lastSafe {
        parts[number, default: []].append(change)
      }
      for number in state.ofRecord[change.model]?[change.key] ?? [] where number <= lastSafe {
        parts[number, default: []].append(change)
      }
    }
    return parts.sorted { $0.key < $1.key }.compactMap { number, changes in
      state.observers[number].map { observer in
        (
          observer,
          Commit(
            changes: ChangeSet(version: published.version, changes: changes),
            isReset: number > lastSafe)
        )
      }
    }
  }

  /// Waits until everything published so far has been delivered. Not for use inside a callback.
  func drain() {
    queue.sync {}
  }
}
