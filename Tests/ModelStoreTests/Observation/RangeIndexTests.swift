import Testing

@testable import ModelStore

/// Which ranges contain a value, compared with a search through all of them.
@Suite(.tags(.law)) struct RangeIndexTests {
  private static func place(_ value: Int) -> SortKey {
    ValueRange.place(of: .integer(Int64(value)), .binary)
  }

  private static func edge(_ value: Int, _ random: inout SeededGenerator) -> ValueRange.Edge {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .start
    case 1: .end
    case 2...4: .before(place(value))
    default: .after(place(value))
    }
  }

  @Test(arguments: 1...6)
  func findsTheRangesThatContainAValueAndNoOthers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var index = RangeIndex<UInt64>()
    var known: [UInt64: ValueRange] = [:]
    for step in 1...1500 as ClosedRange<UInt64> {
      if Int.random(in: 0..<5, using: &random) < 2,
        let gone = known.keys.sorted().randomElement(using: &random),
        let range = known.removeValue(forKey: gone)
      {
        index.remove(range, number: gone)
      } else {
        let range = ValueRange(
          field: 0, collation: .binary,
          lower: Self.edge(Int.random(in: 0..<20, using: &random), &random),
          upper: Self.edge(Int.random(in: 0..<20, using: &random), &random))
        known[step] = range
        index.insert(range, number: step, step)
      }
      let place = Self.place(Int.random(in: -1...20, using: &random))
      var found: [UInt64] = []
      index.forEach(containing: place) { _, number in found.append(number) }
      #expect(
        found.sorted() == known.filter { $0.value.contains(place) }.keys.sorted(),
        "seed \(seed), step \(step)")
      #expect(index.isEmpty == known.isEmpty)
    }
  }

  @Test func aSearchAmongTenThousandRangesVisitsFew() {
    var index = RangeIndex<Int>()
    for number in 0..<10_000 {
      index.insert(
        ValueRange(
          field: 0, collation: .binary, lower: .before(Self.place(10 * number)),
          upper: .before(Self.place(10 * number + 10))), number: UInt64(number), number)
    }
    for value in stride(from: 5, to: 100_000, by: 997) {
      var found: [Int] = []
      let visited = index.forEach(containing: Self.place(value)) { _, number in
        found.append(number)
      }
      #expect(found == [value / 10])
      #expect(visited <= 64)
    }
    #expect(index.forEach(containing: Self.place(-1)) { _, _ in } <= 64)
  }

  /// The search for one range ends early, and ranges that were found by another value are left out.
  @Test(arguments: 1...4)
  func aSearchMayEndAtOneRangeAndLeaveOthersOut(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var index = RangeIndex<UInt64>()
    var known: [UInt64: ValueRange] = [:]
    for number in 1...40 as ClosedRange<UInt64> {
      let range = ValueRange(
        field: 0, collation: .binary,
        lower: Self.edge(Int.random(in: 0..<20, using: &random), &random),
        upper: Self.edge(Int.random(in: 0..<20, using: &random), &random))
      known[number] = range
      index.insert(range, number: number, number)
    }
    for value in -1...20 {
      let (place, other) = (Self.place(value), Self.place(Int.random(in: -1...20, using: &random)))
      let containing = known.filter { $0.value.contains(place) }
      var found: [UInt64] = []
      index.forEach(containing: place, butNot: other) { number, content in
        #expect(number == content)
        found.append(number)
      }
      #expect(found.sorted() == containing.filter { !$0.value.contains(other) }.keys.sorted())
      for wanted in known.keys {
        let isThere = index.contains(place) { $0 == wanted }
        #expect(isThere == (containing[wanted] != nil), "seed \(seed), \(value), \(wanted)")
      }
    }
  }
}
