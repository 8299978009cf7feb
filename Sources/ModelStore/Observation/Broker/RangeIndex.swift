/// An index of value ranges with their contents, which finds the ranges that contain a value.
///
/// It is a treap ordered by lower edge. Every node stores the greatest upper edge below it.
/// Priorities are hashes of the numbers, so the shape does not depend on the order of insertion.
struct RangeIndex<Content: Sendable>: Sendable {
  typealias Edge = ValueRange.Edge

  private struct Node: Sendable {
    var lower: Edge
    var upper: Edge
    let number: UInt64
    /// nil for a free place.
    var content: Content?
    let priority: UInt64
    var greatestUpper: Edge
    /// The place of each child; -1 for none.
    var left = -1
    var right = -1

    func contains(_ place: SortKey) -> Bool { lower.isBefore(place) && !upper.isBefore(place) }
  }

  private var nodes: ContiguousArray<Node> = []
  private var free: [Int] = []
  private var root = -1

  var isEmpty: Bool { root < 0 }

  /// - Precondition: `number` is not in the index with the same lower edge.
  mutating func insert(_ range: ValueRange, number: UInt64, _ content: Content) {
    let node = Node(
      lower: range.lower, upper: range.upper, number: number, content: content,
      priority: Self.priority(of: number), greatestUpper: range.upper)
    let place: Int
    if let reused = free.popLast() {
      place = reused
      nodes[place] = node
    } else {
      place = nodes.count
      nodes.append(node)
    }
    let (less, more) = split(root, before: range.lower, number)
    root = join(join(less, place), more)
  }

  mutating func remove(_ range: ValueRange, number: UInt64) {
    let (less, rest) = split(root, before: range.lower, number)
    let (found, more) = split(rest, before: range.lower, number + 1)
    root = join(less, more)
    guard found >= 0 else { return }
    nodes[found].content = nil
    // Edges may hold long texts.
    nodes[found].lower = .start
    nodes[found].upper = .start
    nodes[found].greatestUpper = .start
    free.append(found)
  }

  /// Calls `body` with the content of each range, in no particular order.
  func forEach(_ body: (Content) -> Void) {
    for node in nodes {
      if let content = node.content { body(content) }
    }
  }

  /// Calls `body` for each range that contains `place`, with its number and its content.
  ///
  /// - Parameter excluded: If given, ranges that also contain this place are left out.
  /// - Returns: The number of ranges visited.
  /// - Complexity: O(log n + m log n) for m of n ranges that contain it.
  @discardableResult
  func forEach(
    containing place: SortKey, butNot excluded: SortKey? = nil,
    _ body: (_ number: UInt64, Content) -> Void
  ) -> Int {
    var visited = 0
    _ = Self.search(nodes.span, root, place, &visited) { node in
      if let excluded, node.contains(excluded) { return true }
      if let content = node.content { body(node.number, content) }
      return true
    }
    return visited
  }

  /// Whether the content of a range that contains `place` meets a condition.
  ///
  /// - Complexity: As for calling a closure for each of them, but it ends at the first that does.
  func contains(_ place: SortKey, where isWanted: (Content) -> Bool) -> Bool {
    var visited = 0
    return !Self.search(nodes.span, root, place, &visited) { node in
      node.content.map { !isWanted($0) } ?? true
    }
  }

  /// Calls `body` for each node below `start` whose range contains `place`, until it returns false.
  ///
  /// Nodes are read in place, because a copy of one retains the keys of three edges.
  ///
  /// - Returns: Whether no call returned false.
  private static func search(
    _ nodes: Span<Node>, _ start: Int, _ place: SortKey, _ visited: inout Int,
    _ body: (borrowing Node) -> Bool
  ) -> Bool {
    guard start >= 0, !nodes[start].greatestUpper.isBefore(place) else { return true }
    visited += 1
    guard search(nodes, nodes[start].left, place, &visited, body) else { return false }
    guard nodes[start].lower.isBefore(place) else { return true }
    if !nodes[start].upper.isBefore(place), !body(nodes[start]) { return false }
    return search(nodes, nodes[start].right, place, &visited, body)
  }

  /// Splits the nodes below `place` into those before the given lower edge and number, and the
  /// rest.
  private mutating func split(_ place: Int, before lower: Edge, _ number: UInt64) -> (Int, Int) {
    guard place >= 0 else { return (-1, -1) }
    let node = nodes[place]
    if node.lower < lower || (node.lower == lower && node.number < number) {
      let (less, more) = split(node.right, before: lower, number)
      nodes[place].right = less
      update(place)
      return (place, more)
    }
    let (less, more) = split(node.left, before: lower, number)
    nodes[place].left = more
    update(place)
    return (less, place)
  }

  /// - Precondition: Every node of `left` comes before every node of `right`.
  private mutating func join(_ left: Int, _ right: Int) -> Int {
    guard left >= 0, right >= 0 else { return max(left, right) }
    if nodes[left].priority > nodes[right].priority {
      nodes[left].right = join(nodes[left].right, right)
      update(left)
      return left
    }
    nodes[right].left = join(left, nodes[right].left)
    update(right)
    return right
  }

  private mutating func update(_ place: Int) {
    var greatest = nodes[place].upper
    for child in [nodes[place].left, nodes[place].right] where child >= 0 {
      greatest = max(greatest, nodes[child].greatestUpper)
    }
    nodes[place].greatestUpper = greatest
  }

  /// SplitMix64.
  private static func priority(of number: UInt64) -> UInt64 {
    var mixed = number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension ValueRange.Edge {
  /// Whether this position is before the value at `place`.
  fileprivate func isBefore(_ place: SortKey) -> Bool {
    switch self {
    case .start: true
    case .before(let key): !(place < key)
    case .after(let key): key < place
    case .end: false
    }
  }
}
