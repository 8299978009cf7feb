internal import Synchronization

/// Assigns values to a property of an object on the main actor. The key path is used there only.
///
/// Values are handed over from any thread. While the main actor is busy only the latest waits.
final class MainActorAssignment<Value: Sendable>: Sendable {
  private struct State {
    var waiting: Value?
    /// Whether a task is on its way that takes what waits.
    var isScheduled = false
    var hasEnded = false
  }

  // Never held while the property is set.
  private let state = Mutex(State())
  private let assign: @MainActor @Sendable (Value) -> Void

  /// - Parameter assign: Sets the property.
  init(_ assign: @escaping @MainActor @Sendable (Value) -> Void) {
    self.assign = assign
  }

  /// Has `value` assigned in a turn of the main actor, unless a later one comes first.
  func put(_ value: Value) {
    let (former, isFirst) = state.withLock { state in
      guard !state.hasEnded else { return (Value?.none, false) }
      defer {
        state.waiting = value
        state.isScheduled = true
      }
      return (state.waiting, !state.isScheduled)
    }
    // Released here, outside the lock: its end may run the caller's code.
    withExtendedLifetime(former) {}
    guard isFirst else { return }
    // A task of its own, which has nothing of the callback that began it.
    ChangeBroker.outsideDelivery {
      Task { @MainActor in self.take() }
    }
  }

  /// Assigns what waits, without waiting for its turn.
  @MainActor func take() {
    let value = state.withLock { state in
      state.isScheduled = false
      return state.waiting.take()
    }
    if let value { assign(value) }
  }

  /// Assigns nothing any more.
  func end() {
    let former = state.withLock { state in
      state.hasEnded = true
      return state.waiting.take()
    }
    withExtendedLifetime(former) {}
  }
}

/// A property of an object that belongs to the main actor. The object may go at any time.
@MainActor
final class MainActorProperty<Target: AnyObject, Value> {
  private weak var target: Target?
  private let path: ReferenceWritableKeyPath<Target, Value>

  init(_ target: Target, _ path: ReferenceWritableKeyPath<Target, Value>) {
    self.target = target
    self.path = path
  }

  /// Its value; nil when the object has gone.
  var value: Value? { target?[keyPath: path] }

  func set(_ value: Value) { target?[keyPath: path] = value }
}

extension ValueStream {
  /// Assigns each value to a property of an object of the main actor, such as a label's text, for
  /// as long as the object lives.
  ///
  /// ```swift
  /// let binding = try store.subject(\Album.title, of: 1).stream.bind(to: label, \.text)
  /// ```
  ///
  /// Each value is assigned in a turn of the main actor, in the order of commits. While the main
  /// actor is busy, only the latest value waits. The binding does not keep the object alive.
  ///
  /// - Returns: Keep it: dropping it ends the binding. After the main actor itself has cancelled
  ///   it, nothing is assigned any more.
  /// - Throws: ``StoreError`` when the field that the values come from cannot be observed.
  @MainActor
  public func bind<Target: AnyObject>(
    to target: Target, _ property: ReferenceWritableKeyPath<Target, Value>
  ) throws -> ObservationToken {
    let property = MainActorProperty(target, property)
    let assignment = MainActorAssignment<Value> { property.set($0) }
    let subscription = try subscribe { assignment.put($0) }
    return ObservationToken(subscription.outlet) {
      assignment.end()
      subscription.cancel()
    }
  }
}

extension ChangeSequence {
  /// Calls `body` on the main actor with each event, one after the other in commit order. Takes the
  /// place of a loop: a sequence has one reader.
  ///
  /// ```swift
  /// let subscription = try store.changes(of: .field(\Album.title, of: 1), coalescing: .latest)
  ///   .deliver(to: MainActor.shared) { [weak label] change in label?.text = change.new ?? "" }
  /// ```
  ///
  /// - Parameters:
  ///   - actor: The main actor.
  ///   - body: The next event waits until it has returned. An event that cannot be made goes to the
  ///     store's `onError`, and the next one comes.
  /// - Returns: Keep it: dropping it ends the observation. After the main actor itself has
  ///   cancelled it, `body` is not called again.
  public func deliver(
    to actor: MainActor, _ body: @escaping @MainActor @Sendable (Event) async -> Void
  ) -> ObservationToken {
    deliver(to: actor) { _, event in await body(event) }
  }
}
