import Testing

@testable import ModelStore

/// Two commits as one, where the parts cannot be had from an editor.
@Suite(.tags(.law)) struct ListDeltaTests {
  private static func entry(_ slot: Int64, at label: Int64) -> ListRows.Entry {
    ListRows.Entry(place: ListPlace(label: label, slot: slot), element: .integer(slot))
  }

  /// A list of slots, each holding the song of its number, by label.
  private static func rows(_ labels: [Int64: Int64], version: UInt64) -> ListRows {
    ListRows(
      tree: RankedTree(sorted: labels.map { entry($0.key, at: $0.value) }.sorted()),
      version: version)
  }

  private static func step(
    from old: [Int64: Int64], to new: [Int64: Int64], moving moved: Set<Int64> = [],
    version: UInt64
  ) -> ListDelta {
    let touched = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
    return ListDelta(
      old: rows(old, version: version - 1), new: rows(new, version: version),
      touches: touched.map { slot in
        ListDelta.Touch(
          slot: slot, old: old[slot].map { entry(slot, at: $0) },
          new: new[slot].map { entry(slot, at: $0) }, isMoved: moved.contains(slot),
          isRecreated: false)
      }, elements: [], operations: nil, isReset: false)
  }

  @Test func aMoveStaysOneMoveWhenRoomIsMadeLater() throws {
    let first = Self.step(
      from: [1: 10, 2: 20, 3: 30], to: [1: 25, 2: 20, 3: 30], moving: [1], version: 1)
    let later = Self.step(
      from: [1: 25, 2: 20, 3: 30], to: [1: 250, 2: 200, 3: 300], version: 2)
    let both = try #require(first.followed(by: later))
    #expect(try ListChanges<Int64>(both).words == "unknown | 0→1")
  }

  /// SQL of the program's own may give a number again.
  @Test func aSlotThatWasDeletedInBetweenIsANewElement() throws {
    let gone = Self.step(from: [1: 10, 2: 20], to: [1: 10], version: 1)
    let elsewhere = Self.step(from: [1: 10], to: [1: 10, 2: 5], version: 2)
    let both = try #require(gone.followed(by: elsewhere))
    #expect(try ListChanges<Int64>(both).words == "unknown | -1 +0")
    let back = Self.step(from: [1: 10], to: [1: 10, 2: 20], version: 2)
    let same = try #require(gone.followed(by: back))
    #expect(try ListChanges<Int64>(same).words == "unknown | -1 +1")
  }

  @Test func coalescingDoesNotDependOnTheGrouping() throws {
    let seed: UInt64 = 20_261_123
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      var states: [[Int64: Int64]] = []
      for _ in 0..<4 {
        var state: [Int64: Int64] = [:]
        for slot in 1...6 where Bool.random(using: &random) {
          state[Int64(slot)] = Int64.random(in: 1...40, using: &random) * 10 + Int64(slot)
        }
        states.append(state)
      }
      let steps = (1...3).map { index in
        Self.step(
          from: states[index - 1], to: states[index], moving: Set(1...6), version: UInt64(index))
      }
      let left = steps[0].followed(by: steps[1])?.followed(by: steps[2])
      let right = steps[1].followed(by: steps[2]).flatMap { steps[0].followed(by: $0) } ?? steps[0]
      guard let left else { continue }
      var keys = Self.rows(states[0], version: 0).tree.map { $0.place.slot }
      let event = try ListChanges<Int64>(left)
      event.apply(to: &keys)
      #expect(keys == Self.rows(states[3], version: 3).tree.map { $0.place.slot })
      #expect(try event.words == ListChanges<Int64>(right).words)
    }
  }
}
