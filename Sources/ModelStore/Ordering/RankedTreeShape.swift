/// The node sizes of a ``RankedTree``.
struct RankedTreeShape: Hashable, Sendable {
  /// The maximum number of elements in one leaf.
  let leafCapacity: Int
  /// The maximum number of branches of one inner node.
  let branchCapacity: Int

  /// - Parameters:
  ///   - leafCapacity: At least 2.
  ///   - branchCapacity: At least 4, so that both halves of a split keep two branches.
  init(leafCapacity: Int, branchCapacity: Int) {
    precondition(leafCapacity >= 2, "A leaf must hold at least 2 elements, not \(leafCapacity).")
    precondition(branchCapacity >= 4, "A node needs at least 4 branches, not \(branchCapacity).")
    self.leafCapacity = leafCapacity
    self.branchCapacity = branchCapacity
  }

  /// Sizes for up to millions of elements of 16 to 32 bytes. With more branches, the first mutation
  /// after a copy costs more and the tree is no lower.
  static let standard = RankedTreeShape(leafCapacity: 128, branchCapacity: 32)

  // A quarter, not half: a node that has just been split must lose half of its elements before it
  // is joined again. So alternating inserts and removals at one position do not thrash.
  var leafMinimum: Int { max(1, leafCapacity / 4) }
  // Two branches at least: a child that underflows always has a sibling to join.
  var branchMinimum: Int { max(2, branchCapacity / 4) }

  /// The fill of a leaf in a bulk build: 95 %, so that the first inserts find room.
  var leafFill: Int { fill(leafCapacity, minimum: leafMinimum) }
  /// The fill of an inner node in a bulk build.
  var branchFill: Int { fill(branchCapacity, minimum: branchMinimum) }

  private func fill(_ capacity: Int, minimum: Int) -> Int {
    max(minimum, capacity * 95 / 100)
  }
}
