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

    func contains(_ place: SortKey) -> Bool { lower.isBefore(place) && !upper.isBefore(place) }
  }

  private var nodes: ContiguousArray<Node> = []
  /// One for each node.
  private var signposts: ContiguousArray<Signpost> = []
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
      signposts[place] = Signpost(range)
    } else {
      place = nodes.count
      nodes.append(node)
      signposts.append(Signpost(range))
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
    visit(place) { node in
      if let excluded, nodes[node].contains(excluded) { return true }
      if let content = nodes[node].content { body(nodes[node].number, content) }
      return true
    }
  }

  /// Whether the content of a range that contains `place` meets a condition.
  ///
  /// - Complexity: As for calling a closure for each of them, but it ends at the first that does.
  func contains(_ place: SortKey, where isWanted: (Content) -> Bool) -> Bool {
    var isFound = false
    _ = visit(place) { node in
      isFound = nodes[node].content.map(isWanted) ?? false
      return !isFound
    }
    return isFound
  }

  /// Calls `body` for each node whose range contains `place`, until it returns false.
  ///
  /// - Returns: The number of nodes visited.
  private func visit(_ place: SortKey, _ body: (Int) -> Bool) -> Int {
    func isBefore(_ node: Int, _ edge: Search.Edge) -> Bool {
      switch edge {
      case .lower: nodes[node].lower.isBefore(place)
      case .upper: nodes[node].upper.isBefore(place)
      case .greatestUpper: nodes[node].greatestUpper.isBefore(place)
      }
    }
    var search = Search(place)
    _ = search.visit(root, signposts.span, isBefore, body)
    return search.visitedCount
  }

  /// Splits the nodes below `place` into those before the given lower edge and number, and the
  /// rest.
  private mutating func split(_ place: Int, before lower: Edge, _ number: UInt64) -> (Int, Int) {
    guard place >= 0 else { return (-1, -1) }
    let isLess =
      nodes[place].lower < lower || (nodes[place].lower == lower && nodes[place].number < number)
    if isLess {
      let (less, more) = split(signposts[place].right, before: lower, number)
      signposts[place].right = less
      update(place)
      return (place, more)
    }
    let (less, more) = split(signposts[place].left, before: lower, number)
    signposts[place].left = more
    update(place)
    return (less, place)
  }

  /// - Precondition: Every node of `left` comes before every node of `right`.
  private mutating func join(_ left: Int, _ right: Int) -> Int {
    guard left >= 0, right >= 0 else { return max(left, right) }
    if nodes[left].priority > nodes[right].priority {
      signposts[left].right = join(signposts[left].right, right)
      update(left)
      return left
    }
    signposts[right].left = join(left, signposts[right].left)
    update(right)
    return right
  }

  private mutating func update(_ place: Int) {
    var greatest = nodes[place].upper
    for child in [signposts[place].left, signposts[place].right] where child >= 0 {
      greatest = max(greatest, nodes[child].greatestUpper)
    }
    nodes[place].greatestUpper = greatest
    signposts[place].greatestUpper = greatest.head
  }

  /// SplitMix64.
  private static func priority(of number: UInt64) -> UInt64 {
    var mixed = number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// What most steps of a search need of a node: its children, and the first bytes of its edges.
/// Reading it copies a few words. A copy of a node would retain the keys of three edges.
private struct Signpost: Sendable {
  let lower: ValueRange.Edge.Head
  let upper: ValueRange.Edge.Head
  var greatestUpper: ValueRange.Edge.Head
  /// The place of each child; -1 for none.
  var left = -1
  var right = -1

  init(_ range: ValueRange) {
    lower = range.lower.head
    upper = range.upper.head
    greatestUpper = upper
  }
}

/// A search for the ranges that contain a value, by the signposts of a tree.
private struct Search {
  enum Edge { case lower, upper, greatestUpper }

  /// The first bytes of the value.
  let head: ValueRange.Edge.Head
  /// The number of nodes visited so far.
  var visitedCount = 0

  init(_ place: SortKey) { head = ValueRange.Edge.Head(place) }

  /// Calls `body` for each node below `start` whose range contains the value, until it returns
  /// false.
  ///
  /// Signposts are read in place. A copy of the array would be retained at each step.
  ///
  /// - Parameter isBefore: Whether an edge of a node is before the value. It is asked if the first
  ///   bytes of both are the same.
  /// - Returns: Whether no call returned false.
  mutating func visit(
    _ start: Int, _ signposts: Span<Signpost>, _ isBefore: (Int, Edge) -> Bool,
    _ body: (Int) -> Bool
  ) -> Bool {
    guard start >= 0 else { return true }
    let signpost = signposts[start]
    let isBehindAll = signpost.greatestUpper.isBefore(head)
    if isBehindAll == .yes || isBehindAll == .unknown && isBefore(start, .greatestUpper) {
      return true
    }
    visitedCount += 1
    guard visit(signpost.left, signposts, isBefore, body) else { return false }
    let isInFront = signpost.lower.isBefore(head)
    guard isInFront == .yes || isInFront == .unknown && isBefore(start, .lower) else { return true }
    let isBehind = signpost.upper.isBefore(head)
    let isOver = isBehind == .yes || isBehind == .unknown && isBefore(start, .upper)
    if !isOver, !body(start) { return false }
    return visit(signpost.right, signposts, isBefore, body)
  }
}

/// An answer from the first bytes alone.
private enum Answer { case yes, no, unknown }

extension ValueRange.Edge {
  /// The first bytes of a value in its order. If those of an edge and of a value differ, they
  /// decide which comes first.
  fileprivate struct Head: Sendable {
    let first: UInt64
    let second: UInt64

    init(_ place: SortKey) {
      (first, second) = place.head
    }

    init(first: UInt64, second: UInt64) {
      self.first = first
      self.second = second
    }

    /// Whether the edge is before the value.
    @inline(__always)
    func isBefore(_ value: Head) -> Answer {
      if first != value.first { return first < value.first ? .yes : .no }
      return second == value.second ? .unknown : second < value.second ? .yes : .no
    }
  }

  fileprivate var head: Head {
    switch self {
    case .start: Head(first: 0, second: 0)
    case .before(let key), .after(let key): Head(key)
    case .end: Head(first: .max, second: .max)
    }
  }

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
