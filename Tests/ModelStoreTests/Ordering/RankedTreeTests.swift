import Synchronization
import Testing

@testable import ModelStore

@Suite(.tags(.law)) struct RankedTreeTests {
  @Test func equalsASortedArrayUnderRandomEdits() {
    for seed in UInt64(1)...16 {
      var generator = SeededGenerator(seed: seed)
      let shape = shapes.randomElement(using: &generator) ?? .standard
      let keys = Int.random(in: 1...600, using: &generator)
      var pair = Pair(shape: shape)
      for step in 0..<1_500 {
        // Phases of growth and of decay reach every depth and come back.
        let grows = Int.random(in: 0..<10, using: &generator) < (step / 300 % 2 == 0 ? 8 : 2)
        let element = Item(Int.random(in: 0..<keys, using: &generator), payload: step)
        if grows { pair.insert(element) } else { pair.remove(element) }
        if step % 50 == 0 { pair.verify(probes: -1...keys, "seed \(seed), step \(step)") }
      }
      pair.verify(probes: -1...keys, "seed \(seed), end")
    }
  }

  @Test func snapshotsDoNotChange() {
    for seed in UInt64(1)...10 {
      var generator = SeededGenerator(seed: seed)
      let shape = shapes.randomElement(using: &generator) ?? .standard
      var versions = [Pair(shape: shape)]
      for step in 0..<400 {
        // Any version may be continued, so histories branch.
        var pair = versions[Int.random(in: 0..<versions.count, using: &generator)]
        for _ in 0..<Int.random(in: 1...20, using: &generator) {
          let element = Item(Int.random(in: 0..<300, using: &generator), payload: step)
          if Int.random(in: 0..<5, using: &generator) < 3 {
            pair.insert(element)
          } else {
            pair.remove(element)
          }
        }
        versions.append(pair)
        if versions.count > 60 {
          versions.remove(at: Int.random(in: 0..<versions.count, using: &generator))
        }
      }
      for pair in versions { pair.verify(probes: -1...300, "seed \(seed)") }
    }
  }

  @Test func everyShortHistoryOverFewKeysIsExact() {
    // All sequences of 4 edits over 4 keys, from an empty tree and from one of three levels.
    let shape = RankedTreeShape(leafCapacity: 2, branchCapacity: 4)
    for start in [[], Array(stride(from: 0, to: 24, by: 2))] {
      var empty = Pair(shape: shape)
      for key in start { empty.insert(Item(key, payload: -1)) }
      var checked = 0
      func extend(_ pair: Pair, depth: Int) {
        checked += 1
        guard depth > 0 else { return }
        for key in [3, 4, 10, 11] {
          var inserted = pair
          inserted.insert(Item(key, payload: depth))
          inserted.verify(probes: 2...12, "insert \(key)")
          extend(inserted, depth: depth - 1)
          var removed = pair
          removed.remove(Item(key, payload: depth))
          removed.verify(probes: 2...12, "remove \(key)")
          extend(removed, depth: depth - 1)
        }
        pair.verify(probes: 2...12, "after its successors")
      }
      extend(empty, depth: 4)
      #expect(checked == 1 + 8 + 64 + 512 + 4096)
    }
  }

  @Test func everyOrderOfInsertionAndRemovalOfSixIsExact() {
    for insertion in permutations(of: Array(0..<6)) {
      var full = Pair(shape: RankedTreeShape(leafCapacity: 2, branchCapacity: 4))
      for key in insertion { full.insert(Item(key, payload: 0)) }
      full.verify(probes: -1...6, "inserted \(insertion)")
      for removal in [insertion, insertion.reversed(), insertion.sorted()] {
        var pair = full
        for key in removal {
          pair.remove(Item(key, payload: 0))
          pair.verify(probes: -1...6, "inserted \(insertion), removing \(removal)")
        }
      }
    }
  }

  @Test func bulkBuildEqualsInsertionAtEverySmallSize() {
    for shape in shapes {
      for count in 0...300 {
        let items = (0..<count).map { Item($0 * 2, payload: $0) }
        var pair = Pair(tree: RankedTree(sorted: items, shape: shape), array: items)
        pair.verify(probes: -1...4, "\(count) built")
        pair.insert(Item(count, payload: -1))
        pair.remove(Item(0, payload: 0))
        pair.verify(probes: -1...4, "\(count) built, edited")
      }
    }
  }

  @Test func bulkBuildFillsNodesTo95Percent() {
    let tree = RankedTree(sorted: 0..<100_000)
    #expect(tree.firstBrokenRule() == nil)
    #expect(tree.count == 100_000)
    #expect(tree.shape.leafFill == 121)
    #expect(tree.shape.branchFill == 30)
    #expect(tree.elementsEqual(0..<100_000))
  }

  @Test func ascendingAndDescendingLoadsKeepEveryRule() {
    for shape in shapes {
      var ascending = RankedTree<Int>(shape: shape)
      var descending = RankedTree<Int>(shape: shape)
      for key in 0..<3_000 {
        ascending.insert(key)
        descending.insert(2_999 - key)
      }
      #expect(ascending.firstBrokenRule() == nil)
      #expect(descending.firstBrokenRule() == nil)
      #expect(Array(ascending) == Array(0..<3_000))
      #expect(Array(descending) == Array(0..<3_000))
    }
  }

  @Test func insertingAnEqualElementReplacesIt() {
    var tree = RankedTree<Item>()
    let grew = [tree.insert(Item(1, payload: 10)), tree.insert(Item(1, payload: 20))]
    #expect(grew == [true, false])
    #expect(tree.map(\.payload) == [20])
    #expect(tree.element(equalTo: Item(1, payload: 0))?.payload == 20)
    let removed = [tree.remove(Item(1, payload: 0)), tree.remove(Item(1, payload: 0))]
    #expect(removed.map { $0?.payload } == [20, nil])
    #expect(tree.isEmpty)
  }

  @Test func everyRangeIsVisitedInOrder() {
    let shape = RankedTreeShape(leafCapacity: 3, branchCapacity: 4)
    let tree = RankedTree(sorted: 100..<160, shape: shape)
    for lower in 0...60 {
      for upper in lower...60 {
        var visited: [Int] = []
        tree.forEach(in: lower..<upper) { visited.append($0) }
        #expect(visited == Array(100 + lower..<100 + upper))
      }
    }
  }

  @Test func aVisitorMayStopByThrowing() {
    struct Stop: Error {}
    var visited: [Int] = []
    #expect(throws: Stop.self) {
      try RankedTree(sorted: 0..<1_000).forEach(in: 100..<900) { element in
        visited.append(element)
        if element == 102 { throw Stop() }
      }
    }
    #expect(visited == [100, 101, 102])
  }

  @Test(arguments: 1...8)
  func mergingIsRemovingAndInsertingOneByOne(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let start = Set(
        (0..<Int.random(in: 0..<60, using: &random)).map { _ in
          Int.random(in: 0..<80, using: &random)
        })
      let tree = RankedTree(sorted: start.sorted())
      let removing = start.shuffled(using: &random).prefix(Int.random(in: 0...20, using: &random))
      let inserting = Set(
        (0..<Int.random(in: 0..<20, using: &random)).map { _ in
          Int.random(in: 0..<80, using: &random)
        }
      ).subtracting(start.subtracting(removing)).shuffled(using: &random)
      func merged(_ removing: [Int], _ inserting: [Int], in tree: RankedTree<Int>) -> [Int]? {
        var merged = tree
        guard merged.merge(removing: removing, inserting: inserting) else {
          return Array(merged) == Array(tree) ? nil : []
        }
        #expect(merged.firstBrokenRule() == nil, "seed \(seed)")
        return Array(merged)
      }
      let expected = start.subtracting(removing).union(inserting).sorted()
      #expect(merged(Array(removing), inserting, in: tree) == expected, "seed \(seed)")
      // What is not there cannot go, and what is there cannot come.
      #expect(merged([99], [], in: tree) == nil)
      #expect(merged([], [98, 98], in: tree) == nil)
      if let present = start.randomElement(using: &random) {
        #expect(merged([], [present], in: tree) == nil)
        #expect(merged([present], [present], in: tree) == start.sorted())
      }
    }
  }

  @Test func anIteratorKeepsItsVersion() {
    var tree = RankedTree(sorted: 0..<500)
    var iterator = tree.makeIterator()
    let first = iterator.next()
    #expect(first == 0)
    for key in 0..<500 { tree.remove(key) }
    var rest: [Int] = []
    while let element = iterator.next() { rest.append(element) }
    #expect(rest == Array(1..<500))
    let afterEnd = iterator.next()
    #expect(afterEnd == nil)
    #expect(Array(tree) == [])
  }

  @Test func elementsAreReleasedWithTheLastVersionThatHoldsThem() {
    let live = LiveCount()
    do {
      var tree = RankedTree<Token>(shape: RankedTreeShape(leafCapacity: 4, branchCapacity: 4))
      for key in 0..<200 { tree.insert(Token(key, live)) }
      #expect(live.count == 200)
      let snapshot = tree
      for key in 0..<200 { tree.remove(Token(key, live)) }
      #expect(tree.isEmpty)
      #expect(live.count == 200)
      #expect(snapshot.map(\.key) == Array(0..<200))
    }
    #expect(live.count == 0)
  }
}

private let shapes = [
  RankedTreeShape(leafCapacity: 2, branchCapacity: 4),
  RankedTreeShape(leafCapacity: 3, branchCapacity: 5),
  RankedTreeShape(leafCapacity: 4, branchCapacity: 4),
  RankedTreeShape(leafCapacity: 8, branchCapacity: 6),
  RankedTreeShape.standard,
]

/// Ordered by its key alone, so that a test can distinguish a replaced element from its successor.
private struct Item: Comparable, Sendable {
  let key: Int
  let payload: Int

  init(_ key: Int, payload: Int) {
    self.key = key
    self.payload = payload
  }

  static func == (lhs: Item, rhs: Item) -> Bool { lhs.key == rhs.key }
  static func < (lhs: Item, rhs: Item) -> Bool { lhs.key < rhs.key }
}

/// A tree and the sorted array that it must equal.
private struct Pair {
  private var tree: RankedTree<Item>
  private var array: [Item]

  init(shape: RankedTreeShape) {
    self.init(tree: RankedTree(shape: shape), array: [])
  }

  init(tree: RankedTree<Item>, array: [Item]) {
    self.tree = tree
    self.array = array
  }

  mutating func insert(_ item: Item) {
    let rank = array.count { $0 < item }
    let isNew = !(rank < array.count && array[rank] == item)
    if isNew { array.insert(item, at: rank) } else { array[rank] = item }
    let grew = tree.insert(item)
    #expect(grew == isNew)
  }

  mutating func remove(_ item: Item) {
    let index = array.firstIndex(of: item)
    let removed = index.map { array.remove(at: $0) }
    let taken = tree.remove(item)
    #expect(taken?.payload == removed?.payload)
  }

  func verify(probes: ClosedRange<Int>, _ context: String) {
    #expect(tree.firstBrokenRule() == nil, "\(context)")
    #expect(tree.count == array.count, "\(context)")
    #expect(description(tree) == description(array), "\(context)")
    #expect(description(array.indices.map { tree[$0] }) == description(array), "\(context)")
    var ranks: [Int] = []
    var found: [Int?] = []
    var expectedRanks: [Int] = []
    var expectedFound: [Int?] = []
    var search = RankedTree<Item>.Search()
    var backward = RankedTree<Item>.Search()
    for key in probes {
      let probe = Item(key, payload: 0)
      let rank = array.firstIndex { $0 == probe }
      #expect(tree.rank(of: probe, &search) == rank, "\(context)")
      let other = Item(probes.upperBound - (key - probes.lowerBound), payload: 0)
      #expect(
        tree.rank(of: other, &backward) == array.firstIndex { $0 == other }, "\(context)")
      ranks.append(tree.rank(of: probe))
      found.append(tree.element(equalTo: probe)?.payload)
      expectedRanks.append(array.count { $0 < probe })
      expectedFound.append(array.first { $0 == probe }?.payload)
    }
    #expect(ranks == expectedRanks, "\(context)")
    #expect(found == expectedFound, "\(context)")
  }

  private func description(_ items: some Sequence<Item>) -> [[Int]] {
    items.map { [$0.key, $0.payload] }
  }
}

private func permutations(of keys: [Int]) -> [[Int]] {
  guard !keys.isEmpty else { return [[]] }
  return keys.indices.flatMap { index in
    var others = keys
    let key = others.remove(at: index)
    return permutations(of: others).map { [key] + $0 }
  }
}

/// The number of tokens alive; one test and one task use it.
private final class LiveCount: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  func change(by delta: Int) { value.withLock { $0 += delta } }
}

/// An element that counts itself; the probe of a removal counts too, for as long as it lives.
private final class Token: Comparable, Sendable {
  let key: Int
  private let live: LiveCount

  init(_ key: Int, _ live: LiveCount) {
    self.key = key
    self.live = live
    live.change(by: 1)
  }

  deinit { live.change(by: -1) }

  static func == (lhs: Token, rhs: Token) -> Bool { lhs.key == rhs.key }
  static func < (lhs: Token, rhs: Token) -> Bool { lhs.key < rhs.key }
}
