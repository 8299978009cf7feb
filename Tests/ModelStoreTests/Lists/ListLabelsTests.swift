import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct ListLabelsTests {
  private static let borders: [Int64] = [.min, .min + 1, -9, -1, 0, 1, 2, 7, .max - 1, .max]

  @Test func freeLabelsLieInOrderBetweenTheirNeighbours() {
    let sides = [nil] + Self.borders.map(Optional.some)
    for left in sides {
      for right in sides where left == nil || right == nil || (left ?? 0) < (right ?? 0) {
        for count in 1...4 {
          for labels in [ListLabels.own, .adopted] {
            let free = labels.free(count, after: left, before: right)
            let isBelow = (right ?? 0) < labels.least
            guard let free else {
              // At an open side the last label is never given.
              let low = left ?? (isBelow || labels.least == .min ? .min : labels.least - 1)
              let high = right ?? .max
              #expect(low >= high || UInt64(bitPattern: high &- low) <= UInt64(count))
              continue
            }
            #expect(free.count == count)
            #expect(zip(free, free.dropFirst()).allSatisfy { $0 < $1 })
            if let left { #expect(left < free[0]) }
            if let right { #expect(free[count - 1] < right) }
            if left == nil, !isBelow { #expect(free[0] >= labels.least) }
          }
        }
      }
    }
  }

  @Test func adjacentLabelsLeaveNoRoom() {
    #expect(ListLabels.own.free(1, after: 4, before: 5) == nil)
    #expect(ListLabels.own.free(2, after: 4, before: 6) == nil)
    #expect(ListLabels.own.free(1, after: 4, before: 6) == [5])
    #expect(ListLabels.own.free(1, after: .max, before: nil) == nil)
    #expect(ListLabels.own.free(1, after: nil, before: .min) == nil)
  }

  @Test func positionsOfAnotherDesignGoOnByOne() {
    #expect(ListLabels.adopted.free(3, after: nil, before: nil) == [0, 1, 2])
    #expect(ListLabels.adopted.free(2, after: 7, before: nil) == [8, 9])
    #expect(ListLabels.adopted.free(1, after: nil, before: 1) == [0])
    #expect(ListLabels.adopted.free(1, after: nil, before: 9) == [8])
    #expect(ListLabels.adopted.free(1, after: nil, before: 0) == nil)
    #expect(ListLabels.adopted.free(1, after: nil, before: -3) == [-4])
  }

  @Test func aSpreadKeepsTheOrderAndLeavesRoomEverywhere() throws {
    let crowded = RankedTree(sorted: (0..<100).map { ListPlace(label: 1_000 + $0, slot: $0) })
    let spread = try #require(ListLabels.spread(around: 1_050, room: 3, in: crowded))
    #expect(spread.map(\.place.slot) == spread.map(\.place.slot).sorted())
    for (one, next) in zip(spread, spread.dropFirst()) { #expect(next.label - one.label > 3) }
    let untouched = (0..<100).filter { slot in !spread.contains { $0.place.slot == slot } }
    for slot in untouched {
      let label = 1_000 + slot
      #expect(label < spread[0].label || label > spread[spread.count - 1].label)
    }
  }
}
