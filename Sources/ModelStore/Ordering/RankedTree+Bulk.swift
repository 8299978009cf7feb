extension RankedTree {
  /// Creates a tree of elements that are already in strictly ascending order, with nodes 95 % full.
  ///
  /// The elements are consumed as a stream; nothing but the tree is built. An element that is not
  /// greater than the one before it traps.
  ///
  /// - Complexity: O(n), one comparison per element.
  init(sorted elements: some Sequence<Element>, shape: RankedTreeShape = .standard) {
    guard let tree = RankedTree(checking: elements, shape: shape) else {
      preconditionFailure("RankedTree(sorted:) needs strictly ascending elements.")
    }
    self = tree
  }

  /// As ``init(sorted:shape:)``, for untrusted elements; nil when they are not in that order.
  init?(checking elements: some Sequence<Element>, shape: RankedTreeShape = .standard) {
    var leaves = Leaves(shape)
    for element in elements {
      guard leaves.append(element) else { return nil }
    }
    self.init(leaves)
  }

  /// As ``init(checking:shape:)``, of elements that were added one by one.
  init?(_ source: consuming Leaves) {
    guard source.areAscending else { return nil }
    let shape = source.shape
    let leaves = source.finished()
    let count = leaves.reduce(0) { $0 + $1.count }
    var minimums = leaves.count > 1 ? ContiguousArray(leaves.map { $0[0] }) : []
    var nodes = ContiguousArray<Node>()
    var firstMinimums = ContiguousArray<Element>()
    for range in Self.parts(
      leaves.count, size: shape.branchFill, minimum: shape.branchMinimum)
    {
      nodes.append(Node(leaves: ContiguousArray(leaves[range]), shape: shape))
      if !minimums.isEmpty { firstMinimums.append(minimums[range.lowerBound]) }
    }
    while nodes.count > 1 {
      minimums = firstMinimums
      firstMinimums = []
      var parents = ContiguousArray<Node>()
      for range in Self.parts(nodes.count, size: shape.branchFill, minimum: shape.branchMinimum) {
        parents.append(
          Node(
            children: ContiguousArray(nodes[range]),
            minimums: ContiguousArray(minimums[range]),
            shape: shape))
        firstMinimums.append(minimums[range.lowerBound])
      }
      nodes = parents
    }
    self.init(root: nodes[0], count: count, shape: shape)
  }

  /// The leaves of a tree that is built from elements in ascending order, with the bulk fill.
  struct Leaves {
    fileprivate let shape: RankedTreeShape
    /// Whether each element was greater than the one before it.
    private(set) var areAscending = true
    private var full = ContiguousArray<Leaf>()
    private var leaf = Leaf()

    init(_ shape: RankedTreeShape = .standard) {
      self.shape = shape
      leaf.reserveCapacity(shape.leafFill)
    }

    /// Adds an element.
    ///
    /// - Returns: Whether it is greater than the one before it. If not, no tree can be built.
    @discardableResult
    mutating func append(_ element: Element) -> Bool {
      if let previous = leaf.last, !(previous < element) { areAscending = false }
      guard areAscending else { return false }
      if leaf.count == shape.leafFill {
        full.append(leaf)
        leaf = Leaf()
        leaf.reserveCapacity(shape.leafFill)
      }
      leaf.append(element)
      return true
    }

    /// The leaves. The last two share the remaining elements.
    fileprivate consuming func finished() -> ContiguousArray<Leaf> {
      var leaves = full
      if leaf.count < shape.leafMinimum, let previous = leaves.popLast() {
        let last = previous + leaf
        leaves.append(Leaf(last[..<(last.count / 2)]))
        leaves.append(Leaf(last[(last.count / 2)...]))
      } else {
        leaves.append(leaf)
      }
      return leaves
    }
  }

  /// Cuts `0..<count` into ranges of `size`. The last two share the rest, so that no range is
  /// shorter than `minimum`, except a single one.
  private static func parts(_ count: Int, size: Int, minimum: Int) -> [Range<Int>] {
    var starts = Array(stride(from: 0, to: count, by: size))
    if let last = starts.last, starts.count > 1, count - last < minimum {
      let beforeLast = last - size
      starts[starts.count - 1] = beforeLast + (count - beforeLast) / 2
    }
    return zip(starts, starts.dropFirst() + [count]).map { $0..<$1 }
  }
}

extension RankedTree {
  /// Removes and inserts elements by rebuilding the tree, for more elements than are worth looking
  /// up one by one. An element in both arrays stays.
  ///
  /// - Returns: false when an element to remove is missing, or an element to insert exists already.
  ///   Then the tree is unchanged.
  /// - Complexity: O(n + k log k) for k elements.
  mutating func merge(removing: [Element], inserting: [Element]) -> Bool {
    let going = removing.sorted()
    let coming = inserting.sorted()
    var merged = ContiguousArray<Element>()
    merged.reserveCapacity(count + coming.count)
    var (gone, come) = (0, 0)
    for element in self {
      if gone < going.count, going[gone] == element {
        gone += 1
        continue
      }
      while come < coming.count, coming[come] < element {
        merged.append(coming[come])
        come += 1
      }
      if come < coming.count, coming[come] == element { return false }
      merged.append(element)
    }
    merged.append(contentsOf: coming[come...])
    guard gone == going.count, zip(merged, merged.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return false
    }
    self = RankedTree(sorted: merged, shape: shape)
    return true
  }
}
