/// One version of a live result: which rows, in which order, and which part of them is shown.
/// Copies are snapshots.
struct LiveRows: Sendable {
  /// A row's place in the order, with the key to find it by.
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
  /// The part that is shown of those that are kept; nil for all of them.
  private var shownWindow: QueryWindow?

  /// The part of the whole result that is shown; nil for all of it.
  var window: QueryWindow? {
    if case .list(let list) = storage { list.window } else { shownWindow }
  }

  /// How many rows precede those shown, as far as the window reaches into the result.
  var precedingCount: Int {
    if case .list(let list) = storage { list.window?.offset ?? 0 } else { shown.lowerBound }
  }

  /// How many rows the whole result has; nil where only a window of it is read.
  var totalCount: Int? {
    if case .list(let list) = storage, list.window != nil { nil } else { keptCount }
  }

  /// Rows kept in a tree, which follows changes.
  init(tree: PlaceTree, version: UInt64) {
    storage = .tree(tree)
    self.version = version
  }

  /// Rows in the order of a query that was run.
  init(list: RowList, version: UInt64) {
    storage = .list(list)
    self.version = version
  }

  /// The same rows, of which another part is shown.
  func showing(_ window: QueryWindow?) -> LiveRows {
    var rows = self
    rows.shownWindow = window
    return rows
  }

  /// How many rows are kept, shown or not.
  private var keptCount: Int {
    switch storage {
    case .tree(let tree): tree.count
    case .list(let list): list.entries.count
    }
  }

  /// The ranks that are shown.
  var shown: Range<Int> { shownWindow?.range(in: keptCount) ?? 0..<keptCount }

  /// How many rows are shown.
  var count: Int { shown.count }

  /// The position of a row among those shown.
  ///
  /// - Precondition: The row is one of them.
  /// - Complexity: O(log n).
  func index(of entry: Entry) -> Int { rank(of: entry) - shown.lowerBound }

  /// The position of a row among all rows.
  ///
  /// - Precondition: The row is one of them.
  /// - Complexity: O(log n).
  func rank(of entry: Entry) -> Int {
    switch storage {
    case .tree(let tree): return tree.rank(of: entry)
    case .list(let list):
      guard let place = list.places[entry.key] else {
        preconditionFailure("A row that is not in a result has no rank in it.")
      }
      return place
    }
  }

  /// The row at a position among all rows.
  func entry(atRank rank: Int) -> Entry {
    switch storage {
    case .tree(let tree): tree[rank]
    case .list(let list): list.entries[rank]
    }
  }

  /// Calls `body` with the rows at the given positions among those shown, in order.
  func forEach(in range: Range<Int>, _ body: (Entry) -> Void) {
    let first = shown.lowerBound
    let ranks = range.lowerBound + first..<range.upperBound + first
    switch storage {
    case .tree(let tree): tree.forEach(in: ranks, body)
    case .list(let list): for entry in list.entries[ranks] { body(entry) }
    }
  }

  /// Applies what one commit did.
  ///
  /// - Returns: false when the rows cannot be those that the commit changed; then nothing was done.
  /// - Precondition: The rows are kept in a tree.
  mutating func advance(to version: UInt64, _ touches: [QueryDelta.Touch]) -> Bool {
    guard case .tree(var tree) = storage else {
      preconditionFailure("Only a tree follows changes.")
    }
    var leaving: [Entry] = []
    var arriving: [Entry] = []
    for place in touches.indices {
      if touches[place].isInPlace {
        guard let entry = touches[place].old?.entry, tree.contains(entry) else { return false }
        continue
      }
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

/// The rows of a query that was run, in its order, with their values. For results that no tree can
/// keep: O(n) memory, values included.
final class RowList: Sendable {
  let entries: [LiveRows.Entry]
  let images: [[SQLValue]]
  let places: [[SQLValue]: Int]
  /// The part of a longer result that these rows are; nil when they are all.
  let window: QueryWindow?

  /// - Precondition: One image for each entry.
  init(entries: [LiveRows.Entry], images: [[SQLValue]], window: QueryWindow?) {
    self.entries = entries
    self.images = images
    self.window = window
    // A damaged index may give a row twice.
    places = Dictionary(
      entries.enumerated().map { ($0.element.key, $0.offset) }, uniquingKeysWith: { $1 })
  }
}

/// A part of an ordered result: at most `limit` rows after skipping `offset`.
struct QueryWindow: Hashable, Sendable {
  var offset: Int
  /// nil for all that follow.
  var limit: Int?

  /// The ranks in a result of `count` rows.
  func range(in count: Int) -> Range<Int> {
    let first = min(offset, count)
    guard let limit else { return first..<count }
    return first..<first + min(limit, count - first)
  }
}
