internal import Synchronization

/// The assignment of values to a property on the main actor. The key path is used only there.
///
/// Values can be put from any thread. While the main actor is busy, only the latest one waits.
final class MainActorAssignment<Value: Sendable>: Sendable {
  private struct State {
    var waiting: Value?
    /// Whether a task is scheduled that takes the waiting value.
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

  /// Schedules the assignment of `value` on the main actor, unless a later value replaces it first.
  func put(_ value: Value) {
    let (former, isFirst) = state.withLock { state in
      guard !state.hasEnded else { return (Value?.none, false) }
      defer {
        state.waiting = value
        state.isScheduled = true
      }
      return (state.waiting, !state.isScheduled)
    }
    // Released outside the lock: the value's deinitialization may run the caller's code.
    withExtendedLifetime(former) {}
    guard isFirst else { return }
    // A task that does not inherit the context of the callback.
    ChangeBroker.outsideDelivery {
      Task { @MainActor in self.take() }
    }
  }

  /// Assigns the waiting value at once.
  @MainActor func take() {
    let value = state.withLock { state in
      state.isScheduled = false
      return state.waiting.take()
    }
    if let value { assign(value) }
  }

  /// Stops assigning and drops the waiting value.
  func end() {
    let former = state.withLock { state in
      state.hasEnded = true
      return state.waiting.take()
    }
    withExtendedLifetime(former) {}
  }
}

/// A property of an object that belongs to the main actor. The object is referenced weakly.
@MainActor
final class MainActorProperty<Target: AnyObject, Value> {
  private weak var target: Target?
  private let path: ReferenceWritableKeyPath<Target, Value>

  init(_ target: Target, _ path: ReferenceWritableKeyPath<Target, Value>) {
    self.target = target
    self.path = path
  }

  /// The property's value; nil when the object is gone.
  var value: Value? { target?[keyPath: path] }

  func set(_ value: Value) { target?[keyPath: path] = value }
}

extension ValueStream {
  /// Assigns each value to a property of an object on the main actor, such as a label's text, for
  /// as long as the object lives.
  ///
  /// ```swift
  /// let binding = try store.subject(\Album.title, of: 1).stream.bind(to: label, \.text)
  /// ```
  ///
  /// Each value is assigned on the main actor, in commit order. While the main actor is busy, only
  /// the latest value waits. The binding does not retain the object.
  ///
  /// - Returns: A token to keep: releasing it ends the binding. After you cancel it on the main
  ///   actor, no further value is assigned.
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
  /// Calls `body` on the main actor with each event, one at a time in commit order. Use it instead
  /// of a loop: a sequence has only one reader.
  ///
  /// ```swift
  /// let subscription = try store.changes(of: .field(\Album.title, of: 1), coalescing: .latest)
  ///   .deliver(to: MainActor.shared) { [weak label] change in label?.text = change.new ?? "" }
  /// ```
  ///
  /// - Parameters:
  ///   - actor: The main actor.
  ///   - body: The next event waits until it has returned. If an event cannot be decoded, the
  ///     store's `onError` receives the error, and the next event follows.
  /// - Returns: A token to keep: releasing it ends the observation. After you cancel it on the main
  ///   actor, `body` is not called again.
  public func deliver(
    to actor: MainActor, _ body: @escaping @MainActor @Sendable (Event) async -> Void
  ) -> ObservationToken {
    deliver(to: actor) { _, event in await body(event) }
  }
}
