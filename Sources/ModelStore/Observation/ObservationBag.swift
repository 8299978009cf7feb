internal import Synchronization

/// The observations of one observer: a view, a controller, a task. Dropping it ends them all. For a
/// single observation a ``Subscription`` is enough.
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
    let store: ObjectIdentifier
    let path: ObservedPath
    let context: String?
  }

  private struct State {
    var observers: [Identity: (number: UInt64, observer: RecordObserver)] = [:]
    var held: [Subscription] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  /// An empty bag; ``Store/observe(_:in:context:options:backlog:ifPresent:_:)`` fills it.
  public init() {}

  deinit { removeAll() }

  /// How many observations the bag has; those of several fields count once for each field.
  public var count: Int { state.withLock { $0.observers.count + $0.held.count } }

  /// What is observed, each once, in the order in which it was first added. Not what is held as a
  /// ``Subscription``.
  ///
  /// - Complexity: O(n log n) for n observations.
  public var observed: [ObservedPath] {
    let paths = state.withLock { state in
      state.observers.sorted { $0.value.number < $1.value.number }.map(\.key.path)
    }
    var seen: Set<ObservedPath> = []
    return paths.filter { seen.insert($0).inserted }
  }

  /// Keeps `subscription` until the bag ends.
  public func hold(_ subscription: Subscription) {
    state.withLock { $0.held.append(subscription) }
  }

  /// Ends the observations of that, whatever their context, in every store. Does nothing where
  /// there is none.
  public func remove<Event>(_ observed: Observed<Event>) {
    let paths = Set(observed.paths)
    end { paths.contains($0.path) }
  }

  /// Ends the observations of that which were added with that context, nil for none.
  public func remove<Event>(_ observed: Observed<Event>, context: String?) {
    let paths = Set(observed.paths)
    end { paths.contains($0.path) && $0.context == context }
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

  /// Ends the observations that `isLeaving` says.
  func end(where isLeaving: (Identity) -> Bool) {
    let leaving = state.withLock { state in
      let leaving = state.observers.filter { isLeaving($0.key) }
      for identity in leaving.keys { state.observers[identity] = nil }
      return leaving.values.sorted { $0.number < $1.number }
    }
    // Outside the lock: what a callback holds may end others.
    for (_, observer) in leaving { observer.end() }
  }

  /// Puts `observer` in, unless there is one with that identity.
  ///
  /// - Returns: The one that is there already.
  func add(_ observer: RecordObserver, as identity: Identity) -> RecordObserver? {
    state.withLock { state in
      if let present = state.observers[identity] { return present.observer }
      state.nextNumber += 1
      state.observers[identity] = (state.nextNumber, observer)
      return nil
    }
  }
}
