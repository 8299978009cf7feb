/// A sorted set that knows the position of every element: a persistent, counted B+tree.
///
/// It finds the rank of an element and the element at a rank in O(log n). A copy is a snapshot: a
/// mutation copies the nodes on one path from the root and leaves every other version unchanged. It
/// is not a multiset: elements are distinguished by `==`, and `<` must be a total order that agrees
/// with `==`.
struct RankedTree<Element: Comparable & Sendable>: Sendable {
  /// The number of elements.
  private(set) var count: Int
  let shape: RankedTreeShape
  private var root: Node

  /// Creates an empty tree.
  ///
  /// - Parameter shape: The node sizes. Tests pass small ones to reach every split and merge.
  init(shape: RankedTreeShape = .standard) {
    self.init(root: Node(leaves: [Leaf()], shape: shape), count: 0, shape: shape)
  }

  init(root: Node, count: Int, shape: RankedTreeShape) {
    self.root = root
    self.count = count
    self.shape = shape
  }

  var isEmpty: Bool { count == 0 }

  /// Adds `element`, or replaces an equal element.
  ///
  /// - Returns: Whether the tree grew; `false` means that an equal element was replaced.
  /// - Complexity: O(log n); the first mutation after a copy also copies one path.
  @discardableResult
  mutating func insert(_ element: Element) -> Bool {
    if root.branchCount == shape.branchCapacity {
      root = Node(adopting: root, count: count)
      root.splitChild(0, inserting: element, shape: shape)
    }
    let grew = root.insert(element, shape: shape)
    if grew { count += 1 }
    return grew
  }

  /// Removes the element equal to `element` and returns it, or returns `nil` when there is none.
  ///
  /// - Complexity: O(log n); the first mutation after a copy also copies one path.
  @discardableResult
  mutating func remove(_ element: Element) -> Element? {
    guard let removed = root.remove(element, shape: shape) else { return nil }
    count -= 1
    if let onlyChild = root.onlyChild { root = onlyChild }
    return removed
  }

  /// The number of elements strictly less than `element`, which need not be in the tree.
  ///
  /// - Complexity: O(log n).
  func rank(of element: Element) -> Int {
    root.rank(of: element)
  }

  /// The stored element that equals `element`, or `nil` when there is none.
  ///
  /// - Complexity: O(log n).
  func element(equalTo element: Element) -> Element? {
    root.element(equalTo: element)
  }

  /// Whether the tree holds an element equal to `element`.
  ///
  /// - Complexity: O(log n).
  func contains(_ element: Element) -> Bool {
    self.element(equalTo: element) != nil
  }

  /// Where the previous search ended.
  struct Search {
    fileprivate var leaf = Leaf()
    fileprivate var rankOfLeaf = 0
    fileprivate var next = 0
  }

  /// The rank of the element that equals `element`, or `nil` when there is none.
  ///
  /// - Parameter search: Where the previous search of this version of the tree ended.
  /// - Complexity: O(log n); O(1) for the successor of the element that was found before.
  func rank(of element: Element, _ search: inout Search) -> Int? {
    if search.next >= search.leaf.count || search.leaf[search.next] != element {
      if !search.covers(element) { (search.leaf, search.rankOfLeaf) = root.leaf(for: element) }
      search.next = search.leaf.lowerBound(of: element)
      guard search.next < search.leaf.count, search.leaf[search.next] == element else { return nil }
    }
    search.next += 1
    return search.rankOfLeaf + search.next - 1
  }

  /// The element at `index`.
  ///
  /// - Parameter index: At least 0 and less than ``count``; anything else traps.
  /// - Complexity: O(log n).
  subscript(index: Int) -> Element {
    precondition(index >= 0 && index < count, "RankedTree index \(index) is not in 0..<\(count).")
    return root.element(at: index)
  }

  /// Calls `body` with the elements at the positions in `range`, in order.
  ///
  /// - Parameter range: Within `0..<count`; anything else traps.
  /// - Complexity: O(log n + the length of `range`).
  func forEach<Failure: Error>(
    in range: Range<Int>,
    _ body: (Element) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count,
      "RankedTree range \(range) is not in 0..<\(count).")
    guard !range.isEmpty else { return }
    try root.forEach(in: range, body)
  }
}

extension RankedTree.Search {
  /// Whether the element can only be in this leaf.
  fileprivate func covers(_ element: Element) -> Bool {
    guard let first = leaf.first, let last = leaf.last else { return false }
    return !(element < first) && !(last < element)
  }
}

extension RankedTree: Sequence {
  /// An iterator over the elements in order. Later changes of the tree do not affect it.
  struct Iterator: IteratorProtocol {
    private var ancestors: ContiguousArray<(node: Node, next: Int)> = []
    private var leaf = Leaf()
    private var position = 0

    fileprivate init(root: Node) {
      descend(to: root)
    }

    mutating func next() -> Element? {
      while position == leaf.count {
        guard advanceLeaf() else { return nil }
      }
      defer { position += 1 }
      return leaf[position]
    }

    private mutating func descend(to top: Node) {
      var node = top
      while !node.isBottom {
        ancestors.append((node, 1))
        node = node.child(0)
      }
      ancestors.append((node, 1))
      leaf = node.leaves[0]
      position = 0
    }

    private mutating func advanceLeaf() -> Bool {
      while let (node, next) = ancestors.popLast() {
        guard next < node.branchCount else { continue }
        ancestors.append((node, next + 1))
        if node.isBottom {
          leaf = node.leaves[next]
          position = 0
        } else {
          descend(to: node.child(next))
        }
        return true
      }
      return false
    }
  }

  func makeIterator() -> Iterator { Iterator(root: root) }

  var underestimatedCount: Int { count }
}

extension RankedTree {
  /// Checks every structural rule of the tree and returns the first one that is broken, as a
  /// sentence. It visits every node, so only tests call it.
  func firstBrokenRule() -> String? {
    root.firstBrokenRule(count: count, isRoot: true, shape: shape)
  }
}
