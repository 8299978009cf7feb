internal import Synchronization

/// A draft that is being edited, such as the fields of a form: an observable value in memory.
///
/// It belongs to no store and accepts any value. Use ``Gate``s to check whether it can be written.
/// Read and set its properties directly:
/// ```swift
/// let draft = LiveDraft(Track.Draft(title: "", milliseconds: 0))
/// draft.title = "So What"
/// ```
/// You can use it from any thread. Gates are notified of a change before the setter returns, with
/// one exception. If another change is being delivered at that moment, this change is delivered
/// right after it, by the thread that delivers that one.
@dynamicMemberLookup
public final class LiveDraft<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var revision: UInt64 = 0
    /// Each with the latest revision that it has seen.
    var observers: [(number: UInt64, seen: UInt64, tell: @Sendable (Value) -> Void)] = []
    var nextNumber: UInt64 = 0
  }

  // Never held while an observer or a property's code runs.
  private let state: Mutex<State>
  private let calls = OrderedCalls<Revision>()

  private typealias Revision = (number: UInt64, value: Value)

  /// Creates a draft with this value.
  public init(_ value: Value) {
    state = Mutex(State(value: value))
  }

  /// The current draft. Setting it changes all fields that differ at once.
  public var value: Value {
    get { state.withLock { $0.value } }
    set { change { $0 = newValue } }
  }

  /// Accesses one property of the draft. Access a property called `value` through ``value``.
  public subscript<Field>(
    dynamicMember path: any WritableKeyPath<Value, Field> & Sendable
  ) -> Field {
    get { value[keyPath: path] }
    set { change { $0[keyPath: path] = newValue } }
  }

  /// Runs `body` on a copy, and repeats if another change came between.
  private func change(_ body: (inout Value) -> Void) {
    while true {
      var (value, revision) = state.withLock { ($0.value, $0.revision) }
      body(&value)
      let replaced: Value? = state.withLock { state in
        guard state.revision == revision else { return nil }
        let replaced = state.value
        state.value = value
        state.revision += 1
        // Enqueued under the lock, so that changes are delivered in the order in which they were
        // made.
        calls.enqueue((state.revision, value))
        return replaced
      }
      // Released outside the lock: the value's deinitialization may run other code.
      if replaced != nil { return calls.run(tell) }
    }
  }

  private func tell(_ revision: Revision) {
    for observer in state.withLock({ $0.observers }) where observer.seen < revision.number {
      observer.tell(revision.value)
    }
  }

  /// Calls `tell` with the draft after each change.
  ///
  /// - Returns: The draft before the first call, and a closure that ends the calls.
  func observe(
    _ tell: @escaping @Sendable (Value) -> Void
  ) -> (value: Value, end: @Sendable () -> Void) {
    let (value, number) = state.withLock { state in
      state.nextNumber += 1
      state.observers.append((state.nextNumber, state.revision, tell))
      return (state.value, state.nextNumber)
    }
    return (
      value,
      { [weak self] in
        let removed = self?.state.withLock { state in
          let removed = state.observers.filter { $0.number == number }
          state.observers.removeAll { $0.number == number }
          return removed
        }
        // Released outside the lock: the observer's deinitialization may run other code.
        _ = removed
      }
    )
  }
}
