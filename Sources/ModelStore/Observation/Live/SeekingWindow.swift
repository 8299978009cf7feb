/// A window that stores only its own rows. Rows that enter over an edge are sought from the row at
/// that edge. It needs O(window) memory, whatever the result's size.
///
/// Rows inserted or deleted before the window's first row shift the window by their number. So its
/// place is known without counting.
struct SeekingWindow: Sendable {
  let rule: LiveResult.Rule
  /// Reads all records of the window, in the state that is being published.
  let readAll: @Sendable (QueryWindow) throws -> [[SQLValue]]
  /// Reads up to the given number of records on one side of a row, nearest first, in the same
  /// state.
  let seek:
    @Sendable (StoreQuery<DynamicRecord>.SeekSide, _ row: [SQLValue], Int) throws -> [[SQLValue]]
  /// Makes a tree of all rows and the window on it, for a window that is too large to store its own
  /// rows. The tree is not registered: its owner passes commits to it.
  let onTree: @Sendable (QueryWindow) throws -> (all: LiveResult, shown: WindowResult)

  /// Returns whether a window is small enough. Each commit that concerns it costs time in
  /// proportion to its rows, and their records are stored.
  static func suits(_ window: QueryWindow) -> Bool {
    window.limit.map { $0 <= limitMax } ?? false
  }

  private static let limitMax = 4096

  /// Returns the window's rows after a commit.
  ///
  /// - Returns: nil when the commit does not concern the window.
  func rows(
    after changes: [RecordChange], from old: RowList, in window: QueryWindow
  ) throws -> RowList? {
    let touches = changes.compactMap(rule.touch)
    guard !touches.isEmpty else { return nil }
    let limit = window.limit ?? .max
    guard let first = old.entries.first, let last = old.entries.last else {
      return try all(in: window)
    }
    // The rows after the last one are unknown, unless the result ends there.
    let isFull = old.entries.count == limit
    func isKnown(_ entry: LiveRows.Entry) -> Bool { !isFull || entry <= last }
    let olds = touches.compactMap { $0.old?.entry }
    let news = touches.compactMap(\.new)
    guard olds.contains(where: isKnown) || news.contains(where: { isKnown($0.entry) }) else {
      return nil
    }
    let slide = news.count { $0.entry < first } - olds.count { $0 < first }
    guard old.isAscending else { return try all(in: window) }
    var (entries, images) = (old.entries, old.images)
    for place in Set(olds.compactMap(old.position)).sorted(by: >) {
      entries.remove(at: place)
      images.remove(at: place)
    }
    for side in news where side.entry >= first && isKnown(side.entry) {
      let place = entries.lowerBound(of: side.entry)
      entries.insert(side.entry, at: place)
      images.insert(side.image ?? [], at: place)
    }
    if abs(slide) > Self.slideMax(limit) || slide < 0 && entries.count < -slide {
      return try all(in: window)
    }
    if slide > 0 {
      let before = try Array(seek(.before, old.images[0], slide).reversed())
      entries.insert(contentsOf: before.map { rule.entry($0) }, at: 0)
      images.insert(contentsOf: before, at: 0)
    } else {
      entries.removeFirst(-slide)
      images.removeFirst(-slide)
    }
    if entries.count < limit, isFull {
      let after = try seek(.after, old.images[old.images.count - 1], limit - entries.count)
      entries += after.map { rule.entry($0) }
      images += after
    }
    if entries.count > limit {
      entries.removeLast(entries.count - limit)
      images.removeLast(images.count - limit)
    }
    return RowList(entries: entries, images: images, window: window)
  }

  /// Reads the whole window again.
  func all(in window: QueryWindow) throws -> RowList {
    let images = try readAll(window)
    return RowList(entries: images.map { rule.entry($0) }, images: images, window: window)
  }

  /// Beyond this number of rows, seeking them costs as much as reading the window again.
  private static func slideMax(_ limit: Int) -> Int {
    limit.multipliedReportingOverflow(by: 4).overflow ? .max : 4 * limit
  }
}

extension [LiveRows.Entry] {
  /// The number of entries less than `entry`, in an ascending array.
  fileprivate func lowerBound(of entry: LiveRows.Entry) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].place < entry.place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
