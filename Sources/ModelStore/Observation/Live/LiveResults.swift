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

/// The results that equal live queries or lists of a store share. Entries are weak references.
final class SharedResults<Key: Hashable & Sendable, Shared: AnyObject & Sendable>: Sendable {
  private struct Entry {
    weak var result: Shared?
  }

  private let entries = Mutex<[Key: Entry]>([:])

  /// Returns the existing result for `key`.
  func kept(_ key: Key) -> Shared? {
    entries.withLock { $0[key]?.result }
  }

  /// Returns the existing result for `key`, or the result of `make`. Called on the writer's queue.
  func result(for key: Key, _ make: () throws -> Shared) throws -> Shared {
    if let kept = kept(key) { return kept }
    let made = try make()
    entries.withLock { entries in
      if entries.count >= 2 * entries.lazy.filter({ $0.value.result != nil }).count + 16 {
        entries = entries.filter { $0.value.result != nil }
      }
      entries[key] = Entry(result: made)
    }
    return made
  }
}
