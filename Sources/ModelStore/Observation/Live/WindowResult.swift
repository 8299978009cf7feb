internal import Synchronization

/// A window on another live result, which shifts as rows come and go before it. It stores no rows
/// of its own. A change costs O((k + s) log n) for k changed rows and s rows that crossed an edge.
final class WindowResult: LiveSource, LivePublisher {
  private struct State {
    /// The rows of the last published delta.
    var rows: LiveRows
    /// Whether publishing a later delta failed.
    var isStale = false
  }

  let subscribers = LiveSubscribers<QueryDelta>()
  private let base: any LiveSource
  private let state: Mutex<State>
  private let ending = Mutex<(@Sendable () -> Void)?>(nil)
  /// Reads the records with the given keys in the state that is being published; nil for missing
  /// ones.
  private let find: @Sendable ([[SQLValue]]) throws -> [[SQLValue]?]
  private let report: @Sendable (StoreError) -> Void

  /// - Precondition: Called on the committing thread, so that no commit comes between reading and
  ///   registering.
  init(
    _ window: QueryWindow, of base: any LiveSource,
    find: @escaping @Sendable ([[SQLValue]]) throws -> [[SQLValue]?],
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    self.base = base
    self.find = find
    self.report = report
    state = Mutex(State(rows: base.rows.showing(window)))
    let end = base.subscribe(
      LiveSubscriber(
        receive: { [weak self] delta in self?.note(delta) ?? [] },
        wake: { [weak self] in self?.wake(upTo: $0) }, readsFile: true))
    ending.withLock { $0 = end }
  }

  deinit {
    ending.withLock { $0 }?()
  }

  var plan: LivePlan { base.plan }

  var models: [String] { base.models }

  var rows: LiveRows { state.withLock { $0.rows } }

  /// Shows another part of the same result. This changes the window without a commit.
  ///
  /// - Throws: Any error from reading. The window then stays where it is.
  /// - Precondition: Called on the committing thread.
  func move(to window: QueryWindow) throws -> ChangeBroker.Outcome {
    let rows = base.rows
    return tell(
      try shown(
        of: QueryDelta(old: rows, new: rows.showing(window), touches: [], isReset: false)))
  }

  // Called on the committing thread

  private func note(_ delta: QueryDelta) -> ChangeBroker.Outcome {
    do {
      return tell(try shown(of: delta))
    } catch {
      state.withLock { $0.isStale = true }
      report(StoreError(reporting: error))
      return .failed
    }
  }

  /// Returns the part of the whole result's delta that concerns the window.
  private func shown(of delta: QueryDelta) throws -> QueryDelta {
    let (told, isStale) = state.withLock { ($0.rows, $0.isStale) }
    var delta = delta
    delta.versions = QueryDelta.Versions(
      old: isStale ? told : delta.old.showing(told.window),
      new: delta.new.showing(delta.new.window ?? told.window))
    return isStale || delta.isReset
      ? try reset(from: told, to: delta.new) : try delta.inWindow(finding: find)
  }

  private func tell(_ shown: QueryDelta) -> ChangeBroker.Outcome {
    let told = state.withLock { state in
      state.rows = shown.new
      state.isStale = false
      return shown.touches.isEmpty && !shown.isReset ? [] : subscribers.all
    }
    return told.receive(shown)
  }

  private func reset(from old: LiveRows, to new: LiveRows) throws -> QueryDelta {
    var keys: [[SQLValue]] = []
    new.forEach(in: 0..<new.count) { keys.append($0.key) }
    let images = try find(keys).map { image in
      guard let image else { throw StoreError.rowIsGone }
      return image
    }
    return QueryDelta(
      old: old, new: new, touches: QueryDelta.touches(from: old, to: new, images: images),
      isReset: true)
  }
}

extension StoreError {
  fileprivate static let rowIsGone = StoreError(
    .database,
    "A window did not find one of its rows. The window is read again.")
}

extension QueryDelta {
  /// Returns the part of this delta inside the windows of both versions, with the rows that crossed
  /// their edges.
  ///
  /// Untouched rows keep their order. If they are numbered among themselves, the rows shown before
  /// and after are two ranges of numbers. The rows that crossed an edge are in one range but not in
  /// the other.
  ///
  /// - Parameter find: Reads records by key.
  /// - Complexity: O((touched rows + rows that crossed an edge) log n).
  fileprivate func inWindow(
    finding find: ([[SQLValue]]) throws -> [[SQLValue]?]
  ) throws -> QueryDelta {
    let oldRanks = touches.map { touch in touch.old.map { old.rank(of: $0.entry) } }
    let newRanks = touches.map { touch in touch.new.map { new.rank(of: $0.entry) } }
    var shown = self
    shown.touches = []
    for (index, touch) in touches.enumerated() {
      var touch = touch
      if let rank = oldRanks[index], !old.shown.contains(rank) { touch.old = nil }
      if let rank = newRanks[index], !new.shown.contains(rank) { touch.new = nil }
      if touch.old != nil || touch.new != nil { shown.touches.append(touch) }
    }
    let before = UntouchedRanks(touched: oldRanks.compactMap(\.self))
    let after = UntouchedRanks(touched: newRanks.compactMap(\.self))
    let shownBefore = before.numbers(in: old.shown)
    let shownAfter = after.numbers(in: new.shown)
    let left = shownBefore.subtracting(shownAfter).flatMap { before.ranks(of: $0) }
      .map { old.entry(atRank: $0) }
    let entered = shownAfter.subtracting(shownBefore).flatMap { after.ranks(of: $0) }
      .map { new.entry(atRank: $0) }
    let images = try find((left + entered).map(\.key))
    for (index, entry) in (left + entered).enumerated() {
      guard let image = images[index] else { throw StoreError.rowIsGone }
      let side = Side(entry: entry, image: image)
      let leaves = index < left.count
      shown.touches.append(
        Touch(
          key: entry.key, old: leaves ? side : nil, new: leaves ? nil : side, origin: .user,
          fields: [], isRecreated: false, before: .admitted, after: .admitted))
    }
    return shown
  }
}

/// The ranks of the untouched rows of a result, numbered from 0.
private struct UntouchedRanks {
  /// Ascending.
  let touched: [Int]

  init(touched: [Int]) {
    self.touched = touched.sorted()
  }

  /// Returns the numbers of the untouched ranks in `ranks`.
  func numbers(in ranks: Range<Int>) -> Range<Int> {
    number(ofFirstFrom: ranks.lowerBound)..<number(ofFirstFrom: ranks.upperBound)
  }

  private func number(ofFirstFrom rank: Int) -> Int {
    var low = 0
    var high = touched.count
    while low < high {
      let middle = (low + high) / 2
      if touched[middle] < rank { low = middle + 1 } else { high = middle }
    }
    return rank - low
  }

  /// Returns the ranks that have the given numbers.
  func ranks(of numbers: Range<Int>) -> [Int] {
    guard !numbers.isEmpty else { return [] }
    var rank = numbers.lowerBound
    var next = 0
    while next < touched.count, touched[next] <= rank {
      rank += 1
      next += 1
    }
    var ranks: [Int] = []
    while ranks.count < numbers.count {
      if next < touched.count, touched[next] == rank {
        next += 1
      } else {
        ranks.append(rank)
      }
      rank += 1
    }
    return ranks
  }
}

extension Range where Bound == Int {
  /// Returns the parts of this range that are not in `other`, ascending and not empty.
  fileprivate func subtracting(_ other: Range<Int>) -> [Range<Int>] {
    guard overlaps(other) else { return isEmpty ? [] : [self] }
    return [
      lowerBound..<Swift.max(lowerBound, other.lowerBound),
      Swift.min(upperBound, other.upperBound)..<upperBound,
    ].filter { !$0.isEmpty }
  }
}
