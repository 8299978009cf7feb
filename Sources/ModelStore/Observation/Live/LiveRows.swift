/// One version of a live result: its rows in order, and the part of them that is shown. Copies are
/// snapshots.
struct LiveRows: Sendable {
  /// A row's place in the order, with its key.
  struct Entry: Comparable, Sendable {
    let place: SortKey
    let key: [SQLValue]

    static func == (left: Entry, right: Entry) -> Bool { left.place == right.place }
    static func < (left: Entry, right: Entry) -> Bool { left.place < right.place }
  }

  private enum Storage: Sendable {
    case tree(PlaceTree)
    case list(RowList)
  }

  private var storage: Storage
  var version: UInt64
  /// The shown part of the kept rows; nil for all of them.
  private var shownWindow: QueryWindow?

  /// The shown part of the whole result; nil for all of it.
  var window: QueryWindow? {
    if case .list(let list) = storage { list.window } else { shownWindow }
  }

  /// The number of rows before the shown ones, as far as the window reaches into the result.
  var precedingCount: Int {
    if case .list(let list) = storage { list.window?.offset ?? 0 } else { shown.lowerBound }
  }

  /// The number of rows in the whole result; nil if only a window of it is read.
  var totalCount: Int? {
    if case .list(let list) = storage, list.window != nil { nil } else { keptCount }
  }

  /// Creates rows kept in a tree, which can be updated incrementally.
  init(tree: PlaceTree, version: UInt64) {
    storage = .tree(tree)
    self.version = version
  }

  /// Creates rows in the order in which a query returned them.
  init(list: RowList, version: UInt64) {
    storage = .list(list)
    self.version = version
  }

  /// Returns the same rows with another part shown.
  func showing(_ window: QueryWindow?) -> LiveRows {
    var rows = self
    rows.shownWindow = window
    return rows
  }

  /// The number of kept rows, shown or not.
  private var keptCount: Int {
    switch storage {
    case .tree(let tree): tree.count
    case .list(let list): list.entries.count
    }
  }

  /// The ranks of the shown rows.
  var shown: Range<Int> { shownWindow?.range(in: keptCount) ?? 0..<keptCount }

  /// The number of shown rows.
  var count: Int { shown.count }

  /// Returns the position of a row among the shown ones.
  ///
  /// - Precondition: The row is one of them.
  /// - Complexity: O(log n).
  func index(of entry: Entry) -> Int { rank(of: entry) - shown.lowerBound }

  /// Returns the position of a row among all rows.
  ///
  /// - Precondition: The row is one of them.
  /// - Complexity: O(log n).
  func rank(of entry: Entry) -> Int {
    switch storage {
    case .tree(let tree): return tree.rank(of: entry)
    case .list(let list):
      guard let place = list.position(of: entry) else {
        preconditionFailure("A row that is not in a result has no rank in it.")
      }
      return place
    }
  }

  /// Returns the row at a position among all rows.
  func entry(atRank rank: Int) -> Entry {
    switch storage {
    case .tree(let tree): tree[rank]
    case .list(let list): list.entries[rank]
    }
  }

  /// Calls `body` with the rows at the given positions among the shown ones, in order.
  func forEach(in range: Range<Int>, _ body: (Entry) -> Void) {
    let first = shown.lowerBound
    let ranks = range.lowerBound + first..<range.upperBound + first
    switch storage {
    case .tree(let tree): tree.forEach(in: ranks, body)
    case .list(let list): for entry in list.entries[ranks] { body(entry) }
    }
  }

  /// Applies the changes of one commit.
  ///
  /// - Parameter touches: The ranks of rows that keep their place are set.
  /// - Returns: false when the commit did not change these rows; then they are left unchanged.
  /// - Precondition: The rows are kept in a tree.
  mutating func advance(to version: UInt64, _ touches: inout [QueryDelta.Touch]) -> Bool {
    guard case .tree(var tree) = storage else {
      preconditionFailure("Only a tree can be updated incrementally.")
    }
    guard tree.locate(&touches) else { return false }
    var leaving: [Entry] = []
    var arriving: [Entry] = []
    for place in touches.indices where !touches[place].isInPlace {
      if let entry = touches[place].old?.entry { leaving.append(entry) }
      if let entry = touches[place].new?.entry { arriving.append(entry) }
    }
    guard !leaving.isEmpty || !arriving.isEmpty else {
      self.version = version
      return true
    }
    guard tree.replace(leaving, with: arriving) else { return false }
    storage = .tree(tree)
    self.version = version
    return true
  }
}

/// The rows of an executed query, in its order, with their values. Used for results that no tree
/// can keep. O(n) memory, values included.
final class RowList: Sendable {
  let entries: [LiveRows.Entry]
  let images: [[SQLValue]]
  /// The window of the longer result that these rows are; nil for the whole result.
  let window: QueryWindow?
  /// Whether the places ascend, so that a row is found by its place.
  let isAscending: Bool
  /// The position of each key, if the places do not ascend; otherwise empty.
  private let positions: [[SQLValue]: Int]

  /// - Precondition: One image for each entry.
  init(entries: [LiveRows.Entry], images: [[SQLValue]], window: QueryWindow?) {
    self.entries = entries
    self.images = images
    self.window = window
    isAscending = entries.indices.dropFirst().allSatisfy { entries[$0 - 1] < entries[$0] }
    positions = isAscending ? [:] : Self.positions(entries)
  }

  /// The position of each key.
  ///
  /// - Complexity: O(n) if the places ascend.
  var positionsByKey: [[SQLValue]: Int] { isAscending ? Self.positions(entries) : positions }

  private static func positions(_ entries: [LiveRows.Entry]) -> [[SQLValue]: Int] {
    // A damaged index may return a row twice.
    Dictionary(
      entries.enumerated().map { ($0.element.key, $0.offset) }, uniquingKeysWith: { $1 })
  }

  /// Returns the position of a row with this place and key.
  ///
  /// - Complexity: O(log n).
  func position(of entry: LiveRows.Entry) -> Int? {
    guard isAscending else { return positions[entry.key] }
    let position = firstPosition(from: entry)
    guard position < entries.count, entries[position] == entry,
      entries[position].key == entry.key
    else { return nil }
    return position
  }

  private func firstPosition(from entry: LiveRows.Entry) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle] < entry { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A part of an ordered result: at most `limit` rows after skipping `offset`.
struct QueryWindow: Hashable, Sendable {
  var offset: Int
  /// nil for all that follow.
  var limit: Int?

  /// Returns the ranks in a result of `count` rows.
  func range(in count: Int) -> Range<Int> {
    let first = min(offset, count)
    guard let limit else { return first..<count }
    return first..<first + min(limit, count - first)
  }
}
