internal import Synchronization

/// A draft that is being edited, such as the fields of a form: a value with somewhere to look at it
/// from. It is in no store and refuses nothing; ``Gate``s say whether it is fit to be written.
///
/// Its properties are read and set through it:
/// ```swift
/// let draft = LiveDraft(Track.Draft(title: "", milliseconds: 0))
/// draft.title = "So What"
/// ```
/// It may be used from any thread. Gates hear of a change before the setter returns, except where
/// another change is being told at that moment, on another thread or by the caller's own observer;
/// then whoever tells that one tells this one next.
@dynamicMemberLookup
public final class LiveDraft<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var revision: UInt64 = 0
    /// Each with the revision that it has seen.
    var observers: [(number: UInt64, seen: UInt64, tell: @Sendable (Value) -> Void)] = []
    var nextNumber: UInt64 = 0
  }

  // Never held while an observer or a property's code runs.
  private let state: Mutex<State>
  private let calls = OrderedCalls<Revision>()

  private typealias Revision = (number: UInt64, value: Value)

  /// Begins with `value`.
  public init(_ value: Value) {
    state = Mutex(State(value: value))
  }

  /// The draft as it is now. Setting it changes all fields that differ at once.
  public var value: Value {
    get { state.withLock { $0.value } }
    set { change { $0 = newValue } }
  }

  /// One property of the draft. One called `value` is reached through ``value``.
  public subscript<Field>(
    dynamicMember path: any WritableKeyPath<Value, Field> & Sendable
  ) -> Field {
    get { value[keyPath: path] }
    set { change { $0[keyPath: path] = newValue } }
  }

  /// Runs `body` on a copy until no other change came between.
  private func change(_ body: (inout Value) -> Void) {
    while true {
      var (value, revision) = state.withLock { ($0.value, $0.revision) }
      body(&value)
      let replaced: Value? = state.withLock { state in
        guard state.revision == revision else { return nil }
        let replaced = state.value
        state.value = value
        state.revision += 1
        // Here, so that changes are told in the order in which they were made.
        calls.enqueue((state.revision, value))
        return replaced
      }
      // Released here, outside the lock: its end may run other code.
      if replaced != nil { return calls.run(tell) }
    }
  }

  private func tell(_ revision: Revision) {
    for observer in state.withLock({ $0.observers }) where observer.seen < revision.number {
      observer.tell(revision.value)
    }
  }

  /// Has `tell` called with the draft after each change.
  ///
  /// - Returns: The draft as it is before the first call, and what ends the calls.
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
        // Released here, outside the lock: its end may run other code.
        _ = removed
      }
    )
  }
}
