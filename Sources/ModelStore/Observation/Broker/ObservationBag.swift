internal import Synchronization

/// The observations of one owner, such as a view, a controller or a task.
///
/// Releasing the bag ends all of them. For a single observation a ``ObservationToken`` is enough.
///
/// The bag identifies an observation by what it observes and by a context, a string you choose.
/// Adding the same observation again does nothing, or replaces the callback. So you can add an
/// observation whenever you need it and remove it when you do not, without tracking it yourself.
///
/// A callback must not retain its own bag, or neither is ever released. Capture the bag weakly.
public final class ObservationBag: Sendable {
  /// What to do with an observation that is already in the bag.
  public enum Duplicate: Hashable, Sendable {
    /// Keep the existing callback; the new one is never called.
    case keep
    /// Replace the existing callback: from now on only the new one is called.
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
    /// By target. Observations of one target differ in store or context.
    var observers: [ObservedTarget: [Entry]] = [:]
    var held: [ObservationToken] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Creates an empty bag. ``Store/observe(_:in:context:options:coalescing:ifPresent:_:)`` adds to
  /// it.
  public init() {}

  deinit { removeAll() }

  /// The number of observations in the bag. An observation of several fields counts once per field.
  ///
  /// - Complexity: O(n) for n observations.
  public var count: Int {
    state.withLock { state in
      state.observers.values.reduce(state.held.count) { $0 + $1.count }
    }
  }

  /// The observed paths without duplicates, in the order in which they were first added. Held
  /// ``ObservationToken``s are not included.
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

  /// Retains `subscription` until the bag is released or emptied.
  public func hold(_ subscription: ObservationToken) {
    state.withLock { $0.held.append(subscription) }
  }

  /// Ends the observations of `observed` with any context, in every store. Does nothing if there
  /// are none.
  public func remove<Event>(_ observed: Observed<Event>) {
    end(observed.targets) { _ in true }
  }

  /// Ends the observations of `observed` that were added with this context, or without one for nil.
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

  /// Ends the observations of `targets`, or of all targets for nil, for which `isLeaving` returns
  /// true.
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
    // Outside the lock: releasing a callback's captures may end other observations.
    for entry in leaving { entry.observer.end() }
  }

  /// Removes an observer that has ended.
  func drop(_ observer: RecordObserver) {
    let target = observer.target
    let dropped = state.withLock { state -> [Entry]? in
      guard let entries = state.observers[target] else { return nil }
      let staying = entries.filter { $0.observer !== observer }
      state.observers[target] = staying.isEmpty ? nil : staying
      return entries
    }
    // Released outside the lock: the observer's deinitialization may run the caller's code.
    withExtendedLifetime(dropped) {}
  }

  /// Adds `observer`, unless the bag already has one with this identity.
  ///
  /// - Returns: The observer that the bag already has; nil if `observer` was added.
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
