extension RankedTree {
  /// Elements in ascending order. Its buffer is copied on write, like that of every array.
  typealias Leaf = ContiguousArray<Element>

  /// An inner node: branches in order, the number of elements below each, and separators between.
  ///
  /// A bottom node branches to leaves, every other node to nodes. `separators[i]` is greater than
  /// everything below branch `i` and not greater than anything below branch `i + 1`. The separator
  /// itself may have been removed from the tree since. Arrays and references provide the sharing: a
  /// mutation copies only what it changes along its path.
  struct Node: Sendable {
    private(set) var separators: ContiguousArray<Element>
    private(set) var counts: ContiguousArray<UInt32>
    private(set) var leaves: ContiguousArray<Leaf>
    /// One reference for each child, so that copying the array retains one object for each.
    fileprivate var children: ContiguousArray<Child>

    fileprivate init(
      separators: ContiguousArray<Element>,
      counts: ContiguousArray<UInt32>,
      leaves: ContiguousArray<Leaf>,
      children: ContiguousArray<Child>
    ) {
      self.separators = separators
      self.counts = counts
      self.leaves = leaves
      self.children = children
    }

    /// Creates a bottom node over ascending `leaves`; only a single leaf may be empty.
    init(leaves: ContiguousArray<Leaf>, shape: RankedTreeShape) {
      precondition(!leaves.isEmpty && leaves.count <= shape.branchCapacity)
      self.init(
        separators: ContiguousArray(leaves.dropFirst().map { $0[0] }),
        counts: ContiguousArray(leaves.map { UInt32($0.count) }),
        leaves: leaves,
        children: [])
    }

    /// Creates a node over ascending `children`, whose least elements are `minimums`.
    init(
      children: ContiguousArray<Node>,
      minimums: ContiguousArray<Element>,
      shape: RankedTreeShape
    ) {
      precondition(!children.isEmpty && children.count <= shape.branchCapacity)
      self.init(
        separators: ContiguousArray(minimums.dropFirst()),
        counts: ContiguousArray(children.map { UInt32($0.totalCount) }),
        leaves: [],
        children: ContiguousArray(children.map { Child($0) }))
    }

    /// Creates a node above `child`, which holds `count` elements.
    init(adopting child: Node, count: Int) {
      self.init(separators: [], counts: [UInt32(count)], leaves: [], children: [Child(child)])
    }

    var isBottom: Bool { children.isEmpty }

    var branchCount: Int { counts.count }

    var totalCount: Int { count(before: counts.count) }

    /// The one node below this one, if this is not a bottom node and has a single branch.
    var onlyChild: Node? { children.count == 1 ? children[0].node : nil }

    func child(_ branch: Int) -> Node { children[branch].node }
  }

  /// A node below another, which several versions of the tree may share.
  fileprivate final class Child: @unchecked Sendable {
    // Guard: `Node.withChild` alone changes it, while no other version shares it.
    var node: Node

    init(_ node: Node) { self.node = node }
  }
}

extension RankedTree.Node {
  /// The branch below which `element` is, or would be.
  func branch(for element: Element) -> Int {
    var low = 0
    var high = separators.count
    while low < high {
      let middle = (low + high) / 2
      if element < separators[middle] { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The number of elements below this node that are less than `element`.
  func rank(of element: Element) -> Int {
    let branch = branch(for: element)
    let rankInBranch =
      isBottom ? leaves[branch].lowerBound(of: element) : children[branch].node.rank(of: element)
    return count(before: branch) + rankInBranch
  }

  /// The leaf in which `element` is, or would be, with the number of elements before the leaf.
  func leaf(for element: Element) -> (leaf: RankedTree.Leaf, rank: Int) {
    let branch = branch(for: element)
    let before = count(before: branch)
    if isBottom { return (leaves[branch], before) }
    let (leaf, rank) = children[branch].node.leaf(for: element)
    return (leaf, before + rank)
  }

  func element(equalTo element: Element) -> Element? {
    let branch = branch(for: element)
    guard isBottom else { return children[branch].node.element(equalTo: element) }
    let index = leaves[branch].lowerBound(of: element)
    guard index < leaves[branch].count, leaves[branch][index] == element else { return nil }
    return leaves[branch][index]
  }

  func element(at index: Int) -> Element {
    var offset = index
    let branch = branch(holding: &offset)
    return isBottom ? leaves[branch][offset] : children[branch].node.element(at: offset)
  }

  /// The branch that holds the element at `offset`; makes `offset` relative to that branch.
  func branch(holding offset: inout Int) -> Int {
    var branch = 0
    while offset >= Int(counts[branch]) {
      offset -= Int(counts[branch])
      branch += 1
    }
    return branch
  }

  /// The number of elements below the branches that precede `branch`.
  func count(before branch: Int) -> Int {
    var sum = 0
    for index in 0..<branch { sum += Int(counts[index]) }
    return sum
  }

  func forEach<Failure: Error>(
    in range: Range<Int>,
    _ body: (Element) throws(Failure) -> Void
  ) throws(Failure) {
    var start = range.lowerBound
    var remaining = range.count
    var branch = self.branch(holding: &start)
    while remaining > 0 {
      let end = Swift.min(Int(counts[branch]), start + remaining)
      if isBottom {
        for index in start..<end { try body(leaves[branch][index]) }
      } else {
        try children[branch].node.forEach(in: start..<end, body)
      }
      remaining -= end - start
      start = 0
      branch += 1
    }
  }
}

extension RankedTree.Node {
  /// Changes the child at `branch`, of which this version gets a copy if others share it.
  private mutating func withChild<Result>(
    _ branch: Int, _ body: (inout RankedTree.Node) -> Result
  ) -> Result {
    if !isKnownUniquelyReferenced(&children[branch]) {
      children[branch] = RankedTree.Child(children[branch].node)
    }
    return body(&children[branch].node)
  }

  /// Adds `element` below this node, which must not be full, and returns whether it is new.
  mutating func insert(_ element: Element, shape: RankedTreeShape) -> Bool {
    var branch = branch(for: element)
    let isNew: Bool
    if isBottom {
      if leaves[branch].count == shape.leafCapacity {
        splitLeaf(branch, inserting: element, shape: shape)
        branch = self.branch(for: element)
      }
      isNew = insert(element, intoLeaf: branch, shape: shape)
    } else {
      if children[branch].node.branchCount == shape.branchCapacity {
        splitChild(branch, inserting: element, shape: shape)
        branch = self.branch(for: element)
      }
      isNew = withChild(branch) { $0.insert(element, shape: shape) }
    }
    if isNew { counts[branch] += 1 }
    return isNew
  }

  private mutating func insert(_ element: Element, intoLeaf branch: Int, shape: RankedTreeShape)
    -> Bool
  {
    let index = leaves[branch].lowerBound(of: element)
    // One exact allocation when the leaf is shared or was built to its size; otherwise no
    // allocation.
    leaves[branch].reserveCapacity(shape.leafCapacity)
    if index < leaves[branch].count, leaves[branch][index] == element {
      leaves[branch][index] = element
      return false
    }
    leaves[branch].insert(element, at: index)
    return true
  }

  /// Removes the element equal to `element` from below this node. Afterwards each branch holds its
  /// minimum again. This node itself may have too few branches, which its parent repairs.
  mutating func remove(_ element: Element, shape: RankedTreeShape) -> Element? {
    let branch = branch(for: element)
    if isBottom {
      let index = leaves[branch].lowerBound(of: element)
      guard index < leaves[branch].count, leaves[branch][index] == element else { return nil }
      leaves[branch].reserveCapacity(shape.leafCapacity)
      let removed = leaves[branch].remove(at: index)
      counts[branch] -= 1
      if leaves[branch].count < shape.leafMinimum, branchCount > 1 {
        joinLeaves(Swift.max(0, branch - 1), shape: shape)
      }
      return removed
    }
    guard let removed = withChild(branch, { $0.remove(element, shape: shape) }) else { return nil }
    counts[branch] -= 1
    if children[branch].node.branchCount < shape.branchMinimum {
      joinChildren(Swift.max(0, branch - 1), shape: shape)
    }
    return removed
  }
}

extension RankedTree.Node {
  private mutating func splitLeaf(_ branch: Int, inserting element: Element, shape: RankedTreeShape)
  {
    // Ascending and descending loads fill the half that will not be touched again.
    let capacity = shape.leafCapacity
    let cut =
      if leaves[branch][capacity - 1] < element {
        capacity - shape.leafMinimum
      } else if element < leaves[branch][0] {
        shape.leafMinimum
      } else {
        capacity / 2
      }
    var upper = RankedTree.Leaf()
    upper.reserveCapacity(capacity)
    upper.append(contentsOf: leaves[branch][cut...])
    leaves[branch].removeSubrange(cut...)
    separators.insert(upper[0], at: branch)
    counts[branch] = UInt32(cut)
    counts.insert(UInt32(upper.count), at: branch + 1)
    leaves.insert(upper, at: branch + 1)
  }

  /// Splits the full child at `branch` in two; this node must not be full.
  mutating func splitChild(_ branch: Int, inserting element: Element, shape: RankedTreeShape) {
    let capacity = shape.branchCapacity
    let cut =
      switch children[branch].node.branch(for: element) {
      case capacity - 1: capacity - shape.branchMinimum
      case 0: shape.branchMinimum
      default: capacity / 2
      }
    let (separator, upper) = withChild(branch) { $0.splitOff(from: cut) }
    separators.insert(separator, at: branch)
    children.insert(RankedTree.Child(upper), at: branch + 1)
    counts[branch] = UInt32(children[branch].node.totalCount)
    counts.insert(UInt32(upper.totalCount), at: branch + 1)
  }

  /// Joins the leaves at `branch` and `branch + 1`, or distributes their elements evenly.
  private mutating func joinLeaves(_ branch: Int, shape: RankedTreeShape) {
    var joined = RankedTree.Leaf()
    joined.reserveCapacity(leaves[branch].count + leaves[branch + 1].count)
    joined.append(contentsOf: leaves[branch])
    joined.append(contentsOf: leaves[branch + 1])
    if joined.count <= shape.leafCapacity {
      counts[branch] = UInt32(joined.count)
      leaves[branch] = joined
      dropBranch(after: branch)
      leaves.remove(at: branch + 1)
    } else {
      let cut = joined.count / 2
      separators[branch] = joined[cut]
      counts[branch] = UInt32(cut)
      counts[branch + 1] = UInt32(joined.count - cut)
      leaves[branch] = RankedTree.Leaf(joined[..<cut])
      leaves[branch + 1] = RankedTree.Leaf(joined[cut...])
    }
  }

  /// Joins the children at `branch` and `branch + 1`, or distributes their branches evenly.
  private mutating func joinChildren(_ branch: Int, shape: RankedTreeShape) {
    let (separator, upper) = (separators[branch], children[branch + 1].node)
    withChild(branch) { $0.append(upper, separator: separator) }
    if children[branch].node.branchCount <= shape.branchCapacity {
      counts[branch] += counts[branch + 1]
      dropBranch(after: branch)
      children.remove(at: branch + 1)
    } else {
      let cut = children[branch].node.branchCount / 2
      let (separator, upper) = withChild(branch) { $0.splitOff(from: cut) }
      separators[branch] = separator
      children[branch + 1] = RankedTree.Child(upper)
      counts[branch] = UInt32(children[branch].node.totalCount)
      counts[branch + 1] = UInt32(upper.totalCount)
    }
  }

  private mutating func dropBranch(after branch: Int) {
    separators.remove(at: branch)
    counts.remove(at: branch + 1)
  }

  private mutating func append(_ other: RankedTree.Node, separator: Element) {
    separators.append(separator)
    separators.append(contentsOf: other.separators)
    counts.append(contentsOf: other.counts)
    leaves.append(contentsOf: other.leaves)
    children.append(contentsOf: other.children)
  }

  /// Moves the branches from `cut` on into a new node; returns it with the separator before it.
  private mutating func splitOff(from cut: Int) -> (separator: Element, node: RankedTree.Node) {
    let separator = separators[cut - 1]
    let upper = RankedTree.Node(
      separators: ContiguousArray(separators[cut...]),
      counts: ContiguousArray(counts[cut...]),
      leaves: isBottom ? ContiguousArray(leaves[cut...]) : [],
      children: isBottom ? [] : ContiguousArray(children[cut...]))
    separators.removeSubrange((cut - 1)...)
    counts.removeSubrange(cut...)
    if isBottom { leaves.removeSubrange(cut...) } else { children.removeSubrange(cut...) }
    return (separator, upper)
  }
}

extension RankedTree.Node {
  /// Returns the first structural rule that this node or a node below it breaks, as a sentence.
  func firstBrokenRule(count: Int, isRoot: Bool, shape: RankedTreeShape) -> String? {
    let branches = isBottom ? leaves.count : children.count
    guard counts.count == branches, separators.count == branches - 1 else {
      return "\(branches) branches with \(counts.count) counts and \(separators.count) separators"
    }
    let minimum = isRoot ? (isBottom ? 1 : 2) : shape.branchMinimum
    guard (minimum...shape.branchCapacity).contains(branches) else { return "\(branches) branches" }
    guard totalCount == count else { return "counts add up to \(totalCount), not \(count)" }
    guard isBottom == !leaves.isEmpty else { return "a node with both leaves and children" }
    for branch in 0..<branches {
      let elements = isBottom ? leaves[branch] : children[branch].node.elements()
      guard elements.count == Int(counts[branch]) else {
        return "branch \(branch) holds \(elements.count), counted as \(counts[branch])"
      }
      if branch > 0, let first = elements.first, first < separators[branch - 1] {
        return "branch \(branch) starts with \(first), before its separator"
      }
      if branch < separators.count, let last = elements.last, !(last < separators[branch]) {
        return "branch \(branch) ends with \(last), not before the next separator"
      }
      if isBottom {
        let minimum = isRoot && branches == 1 ? 0 : shape.leafMinimum
        guard (minimum...shape.leafCapacity).contains(elements.count) else {
          return "a leaf of \(elements.count)"
        }
        for (element, next) in zip(elements, elements.dropFirst()) where !(element < next) {
          return "\(element) stands before \(next)"
        }
      } else if children[branch].node.isBottom != children[0].node.isBottom {
        return "children at different depths"
      } else if let broken = children[branch].node.firstBrokenRule(
        count: Int(counts[branch]), isRoot: false, shape: shape)
      {
        return broken
      }
    }
    return nil
  }

  private func elements() -> ContiguousArray<Element> {
    isBottom
      ? ContiguousArray(leaves.joined())
      : ContiguousArray(children.flatMap { $0.node.elements() })
  }
}

extension ContiguousArray where Element: Comparable {
  /// The number of elements less than `element`, in an ascending array.
  func lowerBound(of element: Element) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
