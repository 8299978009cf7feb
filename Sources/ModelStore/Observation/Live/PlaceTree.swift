/// The rows of a live result, in order. It stores only places if they contain the keys, otherwise
/// places and keys. A copy is a snapshot.
struct PlaceTree: Sendable {
  private enum Storage: Sendable {
    case places(RankedTree<SortKey>, PlacedKeys)
    case entries(RankedTree<LiveRows.Entry>)
  }

  private var storage: Storage

  /// Creates a tree without rows.
  init() {
    storage = .entries(RankedTree())
  }

  /// - Parameter entries: The rows in order. If they are out of order, the result is nil.
  init?(sorted entries: some Sequence<LiveRows.Entry>, keys: PlacedKeys?) {
    if let keys {
      self.init(sorted: entries.lazy.map(\.place), keys: keys)
    } else {
      guard let tree = RankedTree(checking: entries) else { return nil }
      self.init(storage: .entries(tree))
    }
  }

  private init(storage: Storage) {
    self.storage = storage
  }

  /// Creates a tree of places that contain their keys. Returns nil if they are out of order.
  init?(sorted places: some Sequence<SortKey>, keys: PlacedKeys) {
    guard let tree = RankedTree(checking: places) else { return nil }
    self.init(storage: .places(tree, keys))
  }

  /// Creates a tree of places that contain their keys and were added one by one. Returns nil if
  /// they are out of order.
  init?(_ places: consuming RankedTree<SortKey>.Leaves, keys: PlacedKeys) {
    guard let tree = RankedTree(places) else { return nil }
    self.init(storage: .places(tree, keys))
  }

  var count: Int {
    switch storage {
    case .places(let tree, _): tree.count
    case .entries(let tree): tree.count
    }
  }

  func rank(of entry: LiveRows.Entry) -> Int {
    switch storage {
    case .places(let tree, _): tree.rank(of: entry.place)
    case .entries(let tree): tree.rank(of: entry)
    }
  }

  /// Sets the rank of each touched row that keeps its place.
  ///
  /// - Returns: false if one of these rows is missing.
  /// - Complexity: O(k log n) for k rows; O(k + log n) if they are neighbours in ascending order.
  func locate(_ touches: inout [QueryDelta.Touch]) -> Bool {
    switch storage {
    case .places(let tree, _): tree.locate(&touches) { $0.old?.entry.place }
    case .entries(let tree): tree.locate(&touches) { $0.old?.entry }
    }
  }

  subscript(rank: Int) -> LiveRows.Entry {
    switch storage {
    case .places(let tree, let keys):
      let place = tree[rank]
      return LiveRows.Entry(place: place, key: keys.key(in: place))
    case .entries(let tree): return tree[rank]
    }
  }

  func forEach(in ranks: Range<Int>, _ body: (LiveRows.Entry) -> Void) {
    switch storage {
    case .places(let tree, let keys):
      tree.forEach(in: ranks) { body(LiveRows.Entry(place: $0, key: keys.key(in: $0))) }
    case .entries(let tree): tree.forEach(in: ranks, body)
    }
  }

  /// Removes `leaving`, then inserts `arriving`.
  ///
  /// - Returns: false when a row to remove is missing or a row to insert is already there. Then do
  ///   not use the tree any further.
  /// - Complexity: O(k log n) for k rows. If k is so large that rebuilding the tree is cheaper, O(n
  ///   + k log k).
  mutating func replace(_ leaving: [LiveRows.Entry], with arriving: [LiveRows.Entry]) -> Bool {
    let isRebuilt = leaving.count + arriving.count > max(4096, count / 16)
    switch storage {
    case .places(var tree, let keys):
      let (leaving, arriving) = (leaving.map(\.place), arriving.map(\.place))
      storage = .entries(RankedTree())
      let isTrue =
        isRebuilt
        ? tree.merge(removing: leaving, inserting: arriving)
        : tree.exchange(removing: leaving, inserting: arriving)
      storage = .places(tree, keys)
      return isTrue
    case .entries(var tree):
      storage = .entries(RankedTree())
      let isTrue =
        isRebuilt
        ? tree.merge(removing: leaving, inserting: arriving)
        : tree.exchange(removing: leaving, inserting: arriving)
      storage = .entries(tree)
      return isTrue
    }
  }
}

extension RankedTree {
  /// - Parameter element: Returns the row before, of which it copies no more than it needs.
  @inline(__always)
  fileprivate func locate(
    _ touches: inout [QueryDelta.Touch], by element: (TouchedRow) -> Element?
  ) -> Bool {
    var search = Search()
    for place in touches.indices where touches[place].isInPlace {
      guard let before = element(touches[place].row), let rank = rank(of: before, &search)
      else { return false }
      touches[place].rank = rank
    }
    return true
  }

  fileprivate mutating func exchange(removing: [Element], inserting: [Element]) -> Bool {
    for element in removing {
      guard remove(element) != nil else { return false }
    }
    for element in inserting {
      guard insert(element) else { return false }
    }
    return true
  }
}
