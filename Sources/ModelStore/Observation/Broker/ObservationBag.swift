internal import Synchronization

/// The observations of one observer: a view, a controller, a task. Dropping it ends them all. For a
/// single observation a ``ObservationToken`` is enough.
///
/// An observation in a bag is known by what it observes and by a context, a text of the caller's
/// choice: adding the same again does nothing, or puts the new callback in the place of the old
/// one. So an observer may ask for an observation whenever it needs it, and take it back whenever
/// it does not, without keeping account of either.
///
/// A callback must not hold its own bag, or neither ever ends; capture it weakly.
public final class ObservationBag: Sendable {
  /// What becomes of an observation that is in the bag already.
  public enum Duplicate: Hashable, Sendable {
    /// It stays as it is; the new callback is never called.
    case keep
    /// The new callback takes its place: from now on only the new one is called.
    case replace
  }

  struct Identity: Hashable, Sendable {
    /// The number of the store's scope.
    let store: UInt64
    let target: ObservedTarget
    let context: String?
  }

  private struct Entry {
    let identity: Identity
    let number: UInt64
    let observer: RecordObserver
  }

  private struct State {
    /// By target: what has one target differs in store or context.
    var observers: [ObservedTarget: [Entry]] = [:]
    var held: [ObservationToken] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  /// An empty bag; ``Store/observe(_:in:context:options:coalescing:ifPresent:_:)`` fills it.
  public init() {}

  deinit { removeAll() }

  /// How many observations the bag has; those of several fields count once for each field.
  ///
  /// - Complexity: O(n) for n observations.
  public var count: Int {
    state.withLock { state in
      state.observers.values.reduce(state.held.count) { $0 + $1.count }
    }
  }

  /// What is observed, each once, in the order in which it was first added. Not what is held as a
  /// ``ObservationToken``.
  ///
  /// - Complexity: O(n log n) for n observations.
  package var observed: [ObservedPath] {
    let paths = state.withLock { state in
      state.observers.values.joined().sorted { $0.number < $1.number }
        .map(\.identity.target.path)
    }
    var seen: Set<ObservedPath> = []
    return paths.filter { seen.insert($0).inserted }
  }

  /// Keeps `subscription` until the bag ends.
  public func hold(_ subscription: ObservationToken) {
    state.withLock { $0.held.append(subscription) }
  }

  /// Ends the observations of that, whatever their context, in every store. Does nothing where
  /// there is none.
  public func remove<Event>(_ observed: Observed<Event>) {
    end(observed.targets) { _ in true }
  }

  /// Ends the observations of that which were added with that context, nil for none.
  public func remove<Event>(_ observed: Observed<Event>, context: String?) {
    end(observed.targets) { $0.context == context }
  }

  /// Ends every observation. The bag can be used again.
  public func removeAll() {
    let held = state.withLock { state in
      let held = state.held
      state.held = []
      return held
    }
    for subscription in held { subscription.cancel() }
    end { _ in true }
  }

  /// Ends the observations that `isLeaving` says, of `targets`, or of all of them.
  func end(_ targets: Set<ObservedTarget>? = nil, where isLeaving: (Identity) -> Bool) {
    let leaving = state.withLock { state in
      var leaving: [Entry] = []
      for target in targets ?? Set(state.observers.keys) {
        guard let entries = state.observers[target] else { continue }
        leaving += entries.filter { isLeaving($0.identity) }
        let staying = entries.filter { !isLeaving($0.identity) }
        state.observers[target] = staying.isEmpty ? nil : staying
      }
      return leaving.sorted { $0.number < $1.number }
    }
    // Outside the lock: what a callback holds may end others.
    for entry in leaving { entry.observer.end() }
  }

  /// Forgets an observer that has ended.
  func drop(_ observer: RecordObserver) {
    let target = observer.target
    let dropped = state.withLock { state -> [Entry]? in
      guard let entries = state.observers[target] else { return nil }
      let staying = entries.filter { $0.observer !== observer }
      state.observers[target] = staying.isEmpty ? nil : staying
      return entries
    }
    // Released here, outside the lock: its end may run the caller's code.
    withExtendedLifetime(dropped) {}
  }

  /// Puts `observer` in, unless there is one with that identity.
  ///
  /// - Returns: The one that is there already.
  func add(_ observer: RecordObserver, as identity: Identity) -> RecordObserver? {
    state.withLock { state in
      let entries = state.observers[identity.target] ?? []
      if let present = entries.first(where: { $0.identity == identity }) {
        return present.observer
      }
      state.nextNumber += 1
      state.observers[identity.target, default: []].append(
        Entry(identity: identity, number: state.nextNumber, observer: observer))
      return nil
    }
  }
}
