internal import Synchronization

/// A live result and its registration, which live queries share. Releasing it ends the
/// registration.
final class RegisteredResult: LiveSource {
  private let result: any LiveSource
  private let end: @Sendable () -> Void

  init(_ result: any LiveSource, end: @escaping @Sendable () -> Void) {
    self.result = result
    self.end = end
  }

  deinit { end() }

  var plan: LivePlan { result.plan }
  var models: [String] { result.models }
  var rows: LiveRows { result.rows }
  var images: [[SQLValue]]? { result.images }
  var keepsOnlyItsWindow: Bool { result.keepsOnlyItsWindow }

  func move(to window: QueryWindow) throws -> ChangeBroker.Outcome {
    try result.move(to: window)
  }

  func subscribe(_ subscriber: LiveSubscriber<QueryDelta>) -> @Sendable () -> Void {
    result.subscribe(subscriber)
  }

  func wake(upTo version: UInt64) { result.wake(upTo: version) }
}

/// A live list and its registration. Releasing it ends the registration.
final class RegisteredList: Sendable {
  let result: ListResult
  private let end: @Sendable () -> Void

  init(_ result: ListResult, end: @escaping @Sendable () -> Void) {
    self.result = result
    self.end = end
  }

  deinit { end() }
}

/// The objects that equal live queries or lists share: their results in a store, their orders in
/// the process. Entries are weak references.
final class SharedResults<Key: Hashable & Sendable, Shared: AnyObject & Sendable>: Sendable {
  private struct Entry {
    weak var result: Shared?
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// The number of entries at which those of released results are removed: at least twice as many
    /// as remained the last time, so that an added entry costs the same however many there are.
    var sweepCount = 16
  }

  private let state = Mutex(State())

  /// The number of entries, some of which may be of released results.
  var count: Int { state.withLock { $0.entries.count } }

  /// Returns the existing result for `key`.
  func kept(_ key: Key) -> Shared? {
    state.withLock { $0.entries[key]?.result }
  }

  /// Returns the existing result for `key`, or the result of `make`. Called on the writer's queue.
  func result(for key: Key, _ make: () throws -> Shared) throws -> Shared {
    if let kept = kept(key) { return kept }
    let made = try make()
    keep(made, for: key)
    return made
  }

  /// Shares `made` from now on, instead of an earlier result.
  func keep(_ made: Shared, for key: Key) {
    state.withLock { state in
      if state.entries.count >= state.sweepCount {
        state.entries = state.entries.filter { $0.value.result != nil }
        state.sweepCount = 2 * state.entries.count + 16
      }
      state.entries[key] = Entry(result: made)
    }
  }
}
