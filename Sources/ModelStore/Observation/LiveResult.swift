internal import Synchronization

/// The rows of one live query, kept in order as commits arrive, and the mailboxes of its
/// subscribers.
///
/// Holds places and keys, not records: O(log n) for each changed row, whatever the result's size.
final class LiveResult: ChangeBroker.Observer {
  /// How a row of the model becomes a row of the result.
  struct Rule: Sendable {
    let schema: ModelSchema
    /// Whether a record belongs to the result; nil admits all.
    let admits: (@Sendable ([SQLValue]) -> Bool)?
    let terms: [(field: Int, term: SortTerm)]

    func entry(_ image: [SQLValue]) -> LiveRows.Entry {
      let key = schema.keyIndices.map { image[$0] }
      let place = SortKey(
        values: terms.map { image[$0.field] }, terms: terms.map(\.term), key: key)
      return LiveRows.Entry(place: place, key: key)
    }

    func side(_ image: [SQLValue]?) -> QueryDelta.Side? {
      guard let image, admits?(image) ?? true else { return nil }
      return QueryDelta.Side(entry: entry(image), image: image)
    }
  }

  private struct State {
    var rows: LiveRows
    var subscribers: [(number: UInt64, mailbox: Mailbox<QueryDelta>, wake: @Sendable () -> Void)] =
      []
    var nextNumber: UInt64 = 0
  }

  let rule: Rule
  let interest: ChangeBroker.Interest
  private let state: Mutex<State>
  /// Reads the result anew: all admitted records in order, as of the latest commit.
  private let reload: @Sendable () throws -> [[SQLValue]]
  private let report: @Sendable (StoreError) -> Void

  /// - Parameters:
  ///   - images: The records of the result, in order, as of `version`.
  ///   - report: Told when the result cannot be kept any more.
  init(
    rule: Rule, images: [[SQLValue]], version: UInt64,
    reload: @escaping @Sendable () throws -> [[SQLValue]],
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    self.rule = rule
    self.reload = reload
    self.report = report
    interest = ChangeBroker.Interest(model: rule.schema.name, record: nil, fields: nil)
    state = Mutex(
      State(
        rows: LiveRows(
          tree: RankedTree(sorted: images.lazy.map { rule.entry($0) }), version: version)))
  }

  var rows: LiveRows { state.withLock { $0.rows } }

  // Committing thread

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    if commit.isReset { return noteReset(version: commit.changes.version) }
    let touches = commit.changes.changes.compactMap(touch)
    let outcome: ChangeBroker.Outcome? = state.withLock { state in
      let old = state.rows
      guard state.rows.advance(to: commit.changes.version, touches) else { return nil }
      guard !touches.isEmpty else { return .nothingToDeliver }
      return Self.post(
        QueryDelta(old: old, new: state.rows, touches: touches, isReset: false), in: state)
    }
    if let outcome { return outcome }
    report(
      StoreError(
        .database,
        "A live query of \(rule.schema.name) did not hold a record that changed in it; it was read anew.",
        model: rule.schema.name))
    return noteReset(version: commit.changes.version)
  }

  private func touch(_ change: RecordChange) -> QueryDelta.Touch? {
    let old = rule.side(change.old)
    let new = rule.side(change.new)
    guard old != nil || new != nil else { return nil }
    return QueryDelta.Touch(
      key: change.key, old: old, new: new, origin: change.origin, fields: change.fields,
      isRecreated: change.isRecreated, existedBefore: change.old != nil,
      existsAfter: change.new != nil)
  }

  private func noteReset(version: UInt64) -> ChangeBroker.Outcome {
    let images: [[SQLValue]]
    do {
      images = try reload()
    } catch {
      report(StoreError(reporting: error))
      return .failed
    }
    return state.withLock { state in
      let old = state.rows
      let entries = images.map { rule.entry($0) }
      state.rows = LiveRows(tree: RankedTree(sorted: entries), version: version)
      let touches = Self.touches(from: old.tree, to: zip(entries, images))
      return Self.post(
        QueryDelta(old: old, new: state.rows, touches: touches, isReset: true), in: state)
    }
  }

  /// The rows that entered, left or changed their place, found by walking both results.
  private static func touches(
    from old: RankedTree<LiveRows.Entry>, to new: some Sequence<(LiveRows.Entry, [SQLValue])>
  ) -> [QueryDelta.Touch] {
    var left: [[SQLValue]: LiveRows.Entry] = [:]
    var touches: [QueryDelta.Touch] = []
    for entry in old { left[entry.key] = entry }
    for (entry, image) in new {
      let before = left.removeValue(forKey: entry.key)
      if let before, before == entry { continue }
      touches.append(
        QueryDelta.Touch(
          key: entry.key, old: before.map { QueryDelta.Side(entry: $0, image: nil) },
          new: QueryDelta.Side(entry: entry, image: image), origin: .foreign, fields: [],
          isRecreated: false, existedBefore: before != nil, existsAfter: true))
    }
    for entry in left.values.sorted() {
      touches.append(
        QueryDelta.Touch(
          key: entry.key, old: QueryDelta.Side(entry: entry, image: nil), new: nil,
          origin: .foreign, fields: [], isRecreated: false, existedBefore: true,
          existsAfter: false))
    }
    return touches
  }

  private static func post(_ delta: QueryDelta, in state: State) -> ChangeBroker.Outcome {
    for subscriber in state.subscribers { subscriber.mailbox.put(delta) }
    return state.subscribers.isEmpty ? .nothingToDeliver : .ready
  }

  // Delivery queue

  func deliver() {
    let wakes = state.withLock { state in state.subscribers.map(\.wake) }
    for wake in wakes { wake() }
  }

  // Subscribers

  /// Adds a mailbox for what happens from now on.
  ///
  /// - Parameter wake: Called on the delivery queue after each commit that put something in.
  /// - Returns: What removes it.
  func subscribe(
    _ mailbox: Mailbox<QueryDelta>, wake: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.nextNumber += 1
      state.subscribers.append((state.nextNumber, mailbox, wake))
      return state.nextNumber
    }
    return { [self] in
      let left = state.withLock { state in
        let left = state.subscribers.filter { $0.number == number }
        state.subscribers.removeAll { $0.number == number }
        return left.map(\.wake)
      }
      mailbox.close()
      // Released here, outside the lock: what the callback holds may end other subscriptions.
      withExtendedLifetime(left) {}
    }
  }
}
