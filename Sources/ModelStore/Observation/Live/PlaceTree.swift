/// The rows of a live result in their order: their places alone where the keys can be read from
/// them, places and keys elsewhere. A copy is a snapshot.
struct PlaceTree: Sendable {
  private enum Storage: Sendable {
    case places(RankedTree<SortKey>, PlacedKeys)
    case entries(RankedTree<LiveRows.Entry>)
  }

  private var storage: Storage

  /// No rows.
  init() {
    storage = .entries(RankedTree())
  }

  /// - Parameter entries: In order; with others there is no tree.
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

  /// Rows of which the places tell the keys, in order; with others there is no tree.
  init?(sorted places: some Sequence<SortKey>, keys: PlacedKeys) {
    guard let tree = RankedTree(checking: places) else { return nil }
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

  func contains(_ entry: LiveRows.Entry) -> Bool {
    switch storage {
    case .places(let tree, _): tree.contains(entry.place)
    case .entries(let tree): tree.contains(entry)
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

  /// Takes `leaving` out, then puts `arriving` in.
  ///
  /// - Returns: false when a row that leaves is not there or one that arrives is there already;
  ///   then what the tree holds is not to be used.
  /// - Complexity: O(k log n) for k rows; O(n + k log k) for so many that building a tree anew is
  ///   cheaper.
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
