/// An index of value ranges with their contents, which finds the ranges that contain a value.
///
/// It is a treap ordered by lower edge. Every node stores the greatest upper edge below it.
/// Priorities are hashes of the numbers, so the shape does not depend on the order of insertion.
struct RangeIndex<Content: Sendable>: Sendable {
  typealias Edge = ValueRange.Edge

  private struct Node: Sendable {
    let lower: Edge
    let upper: Edge
    let number: UInt64
    let content: Content
    let priority: UInt64
    var greatestUpper: Edge
    var left: Int?
    var right: Int?
  }

  private var nodes: [Node?] = []
  private var free: [Int] = []
  private var root: Int?

  var isEmpty: Bool { root == nil }

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
    guard let found else { return }
    nodes[found] = nil
    free.append(found)
  }

  /// Calls `body` with the content of each range, in no particular order.
  func forEach(_ body: (Content) -> Void) {
    for case let node? in nodes { body(node.content) }
  }

  /// Calls `body` for each range that contains `place`.
  ///
  /// - Returns: The number of ranges visited.
  /// - Complexity: O(log n + m log n) for m of n ranges that contain it.
  @discardableResult
  func forEach(
    containing place: SortKey, _ body: (_ range: (lower: Edge, upper: Edge), Content) -> Void
  ) -> Int {
    var visited = 0
    visit(root, .before(place), .after(place), &visited, body)
    return visited
  }

  private func visit(
    _ place: Int?, _ low: Edge, _ high: Edge, _ visited: inout Int,
    _ body: (_ range: (lower: Edge, upper: Edge), Content) -> Void
  ) {
    guard let place, let node = nodes[place], node.greatestUpper >= high else { return }
    visited += 1
    visit(node.left, low, high, &visited, body)
    guard node.lower <= low else { return }
    if node.upper >= high { body((node.lower, node.upper), node.content) }
    visit(node.right, low, high, &visited, body)
  }

  /// Splits the nodes below `place` into those before the given lower edge and number, and the
  /// rest.
  private mutating func split(
    _ place: Int?, before lower: Edge, _ number: UInt64
  ) -> (Int?, Int?) {
    guard let place, let node = nodes[place] else { return (nil, nil) }
    if node.lower < lower || (node.lower == lower && node.number < number) {
      let (less, more) = split(node.right, before: lower, number)
      nodes[place]?.right = less
      update(place)
      return (place, more)
    }
    let (less, more) = split(node.left, before: lower, number)
    nodes[place]?.left = more
    update(place)
    return (less, place)
  }

  /// - Precondition: Every node of `left` comes before every node of `right`.
  private mutating func join(_ left: Int?, _ right: Int?) -> Int? {
    guard let left, let right, let first = nodes[left], let second = nodes[right] else {
      return left ?? right
    }
    if first.priority > second.priority {
      let joined = join(first.right, right)
      nodes[left]?.right = joined
      update(left)
      return left
    }
    let joined = join(left, second.left)
    nodes[right]?.left = joined
    update(right)
    return right
  }

  private mutating func update(_ place: Int) {
    guard let node = nodes[place] else { return }
    var greatest = node.upper
    for child in [node.left, node.right] {
      if let child, let upper = nodes[child]?.greatestUpper { greatest = max(greatest, upper) }
    }
    nodes[place]?.greatestUpper = greatest
  }

  /// SplitMix64.
  private static func priority(of number: UInt64) -> UInt64 {
    var mixed = number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
