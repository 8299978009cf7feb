internal import Synchronization

/// The rows of a live query, kept in order as commits arrive.
///
/// It holds places and keys, not records. Each changed row costs O(log n), whatever the result's
/// size.
final class LiveResult: ChangeBroker.Observer, LiveSource, LivePublisher {
  let rule: Rule
  let interests: [ChangeBroker.Interest]
  let subscribers: LiveSubscribers<QueryDelta>
  private let state: Mutex<LiveRows>
  /// Reads the result again: all admitted records in order, as of the latest commit.
  private let reload: @Sendable () throws -> [[SQLValue]]
  private let report: @Sendable (StoreError) -> Void

  /// - Parameters:
  ///   - interest: The changes that can affect the result.
  ///   - rows: The result as of the latest commit.
  ///   - readers: Counts the subscribers that read the file.
  ///   - report: Receives the error when the result had to be read again, or could not be.
  init(
    rule: Rule, interest: ChangeBroker.Interest, rows: LiveRows,
    reload: @escaping @Sendable () throws -> [[SQLValue]], readers: FileReaders? = nil,
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    subscribers = LiveSubscribers(readers: readers)
    self.rule = rule
    self.reload = reload
    self.report = report
    interests = [interest]
    state = Mutex(rows)
  }

  var plan: LivePlan { .incremental }

  var models: [String] { interests.map(\.model) }

  var rows: LiveRows { state.withLock { $0 } }

  /// A window reads the rows that enter it.
  var readsFile: Bool { subscribers.readFile }

  var mayReadFile: Bool { !subscribers.areCounted }

  var extendsCascade: Bool { true }

  // Called on the committing thread

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    if commit.isReset { return noteReset(version: commit.version) }
    var touches = rule.touches(commit.part)
    let moved: (delta: QueryDelta, subscribers: [LiveSubscriber<QueryDelta>])? = state.withLock {
      rows in
      // The commits before this one did not concern these rows.
      rows.version = commit.version - 1
      let old = rows
      guard rows.advance(to: commit.version, &touches) else { return nil }
      return (
        QueryDelta(old: old, new: rows, touches: touches, isReset: false),
        touches.isEmpty ? [] : subscribers.all
      )
    }
    if let moved { return moved.subscribers.receive(moved.delta) }
    report(
      StoreError(
        .database,
        "A live query of \(rule.schema.name) was out of date when a record of it changed; it was read again.",
        model: rule.schema.name))
    return noteReset(version: commit.version)
  }

  private func noteReset(version: UInt64) -> ChangeBroker.Outcome {
    let images: [[SQLValue]]
    let tree: PlaceTree
    do {
      images = try reload()
      tree = try rule.tree(images)
    } catch {
      report(StoreError(reporting: error))
      return .failed
    }
    let new = LiveRows(tree: tree, version: version)
    let moved = state.withLock { rows in
      defer { rows = new }
      return (old: rows, subscribers: subscribers.all)
    }
    guard !moved.subscribers.isEmpty else { return [] }
    let touches = QueryDelta.touches(from: moved.old, to: new, images: images)
    return moved.subscribers.receive(
      QueryDelta(old: moved.old, new: new, touches: touches, isReset: true))
  }
}

extension QueryDelta {
  /// Returns every row of two results. The commits in between are unknown, so both results are
  /// compared in full, and a row of both may differ or not.
  ///
  /// - Parameter images: The records of the newer result, in order.
  static func touches(
    from old: LiveRows, to new: LiveRows, images: [[SQLValue]]
  ) -> [Touch] {
    var left: [[SQLValue]: LiveRows.Entry] = [:]
    var touches: [Touch] = []
    old.forEach(in: 0..<old.count) { left[$0.key] = $0 }
    var next = images.makeIterator()
    new.forEach(in: 0..<new.count) { entry in
      let image = next.next()
      let before = left.removeValue(forKey: entry.key)
      touches.append(
        Touch(
          key: entry.key, old: before.map { Side(entry: $0, image: nil) },
          new: Side(entry: entry, image: image), origin: .foreign, fields: [],
          isRecreated: false, before: before == nil ? .absent : .admitted, after: .admitted))
    }
    for entry in left.values.sorted() {
      touches.append(
        Touch(
          key: entry.key, old: Side(entry: entry, image: nil), new: nil, origin: .foreign,
          fields: [], isRecreated: false, before: .admitted, after: .absent))
    }
    return touches
  }
}
