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
    let gone = Set(olds.compactMap(old.position))
    var known = old.entries.indices.filter { !gone.contains($0) }
      .map { (entry: old.entries[$0], image: old.images[$0]) }
    for side in news where side.entry >= first && isKnown(side.entry) {
      known.append((side.entry, side.image ?? []))
    }
    known.sort { $0.entry < $1.entry }
    if abs(slide) > Self.slideMax(limit) || slide < 0 && known.count < -slide {
      return try all(in: window)
    }
    if slide > 0 {
      known = try sought(.before, old.images[0], slide).reversed() + known
    } else {
      known.removeFirst(-slide)
    }
    if known.count < limit, isFull {
      known += try sought(.after, old.images[old.images.count - 1], limit - known.count)
    }
    let shown = known.prefix(limit)
    return RowList(entries: shown.map(\.entry), images: shown.map(\.image), window: window)
  }

  /// Reads the whole window again.
  func all(in window: QueryWindow) throws -> RowList {
    let images = try readAll(window)
    return RowList(entries: images.map { rule.entry($0) }, images: images, window: window)
  }

  private func sought(
    _ side: StoreQuery<DynamicRecord>.SeekSide, _ row: [SQLValue], _ limit: Int
  ) throws -> [(entry: LiveRows.Entry, image: [SQLValue])] {
    try seek(side, row, limit).map { (entry: rule.entry($0), image: $0) }
  }

  /// Beyond this number of rows, seeking them costs as much as reading the window again.
  private static func slideMax(_ limit: Int) -> Int {
    limit.multipliedReportingOverflow(by: 4).overflow ? .max : 4 * limit
  }
}
