internal import Synchronization

/// A live result and its registration, which ends with it: what live queries hold and share.
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

  func subscribe(_ subscriber: LiveSubscriber) -> @Sendable () -> Void {
    result.subscribe(subscriber)
  }

  func wake(upTo version: UInt64) { result.wake(upTo: version) }
}

/// The live results of a store that equal queries share, for as long as somebody holds them.
final class LiveResults: Sendable {
  private struct Entry {
    weak var result: RegisteredResult?
  }

  private let entries = Mutex<[Query<Record>: Entry]>([:])

  /// The result of `query`, if it is kept already.
  func kept(_ query: Query<Record>) -> RegisteredResult? {
    entries.withLock { $0[query]?.result }
  }

  /// The result of `query` that is kept already, or the one that `make` makes. On the writer's
  /// queue.
  func result(
    for query: Query<Record>, _ make: () throws -> RegisteredResult
  ) throws -> RegisteredResult {
    if let kept = kept(query) { return kept }
    let made = try make()
    entries.withLock { entries in
      if entries.count >= 2 * entries.lazy.filter({ $0.value.result != nil }).count + 16 {
        entries = entries.filter { $0.value.result != nil }
      }
      entries[query] = Entry(result: made)
    }
    return made
  }
}
