import Testing

@testable import ModelStore

@Suite(.tags(.law)) struct CanonicalMovesTests {
  @Test func aRowThatSlidesDoesNotMove() {
    // Row 1 leaves and row 5 enters: rows 2 to 4 slide and nothing moves.
    #expect(moves([1, 2, 3, 4], [2, 3, 4, 5], changed: []) == [])
  }

  @Test func theRowWhoseKeyChangedMovesAndItsNeighboursDoNot() {
    // A diff that only compares positions could also move row 2.
    #expect(moves([1, 2, 3], [2, 1, 3], changed: [1]) == [1])
    #expect(moves([1, 2, 3], [2, 1, 3], changed: [2]) == [2])
  }

  @Test func aChangedKeyThatKeepsItsPlaceDoesNotMove() {
    #expect(moves([1, 2, 3], [1, 2, 3], changed: [2]) == [])
    #expect(moves([1, 2, 3], [1, 2, 3], changed: [1, 2, 3]) == [])
  }

  @Test func aRowCanMoveAndKeepItsIndex() {
    // Row 3 overtakes row 2 while row 1 leaves: 3 passed a row whose key did not change.
    #expect(moves([1, 3, 2], [2, 3], changed: [3]) == [3])
  }

  @Test func rowsThatChangedTogetherMoveAsFewAsPossible() {
    #expect(moves([1, 2, 3, 4], [2, 3, 4, 1], changed: [1, 2, 3, 4]) == [1])
    #expect(moves([1, 2, 3, 4], [4, 3, 2, 1], changed: [1, 2, 3, 4]) == [4, 3, 2])
  }

  @Test func ofSeveralLongestRunsTheEarliestOldPositionsStay() {
    #expect(moves([1, 2, 3, 4], [2, 1, 4, 3], changed: [1, 2, 3, 4]) == [2, 4])
    #expect(moves([1, 2], [2, 1], changed: [1, 2]) == [2])
  }

  @Test func anUnchangedRowSeparatesGroups() {
    #expect(moves([1, 2, 9, 3, 4], [2, 1, 9, 4, 3], changed: [1, 2, 3, 4]) == [2, 4])
    #expect(moves([1, 9, 2], [2, 9, 1], changed: [1, 2]) == [2, 1])
  }

  @Test func rowsInNeitherResultMakeNoDifference() {
    let absent = CanonicalMoves.Row(oldRank: nil, newRank: nil, sortKeyChanged: true)
    #expect(CanonicalMoves.offsets(in: []) == [])
    #expect(CanonicalMoves.offsets(in: [absent]) == [])
  }

  @Test func lawsHoldForEveryChangeOfUpToFourRows() {
    // Every old order of the keys, every new one, each row in the result or not on either side.
    var checked = 0
    for count in 1...4 {
      let keySpace = 3
      let states = keySpace + 1  // A key, or absent.
      var combinations = 1
      for _ in 0..<(2 * count) { combinations *= states }
      for combination in 0..<combinations {
        var rest = combination
        var old: [Int: Int] = [:]
        var new: [Int: Int] = [:]
        for id in 0..<count {
          if rest % states < keySpace { old[id] = rest % states }
          rest /= states
          if rest % states < keySpace { new[id] = rest % states }
          rest /= states
        }
        checked += 1
        if let broken = Change(old: old, new: new).brokenLaw() {
          Issue.record("\(broken), old \(old), new \(new)")
          return
        }
      }
    }
    #expect(checked == 16 + 256 + 4_096 + 65_536)
  }

  @Test(arguments: [UInt64(1), 2, 3, 4]) func lawsHoldForRandomChanges(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<10_000 {
      let count = Int.random(in: 1...24, using: &generator)
      let keySpace = Int.random(in: 1...30, using: &generator)
      let changeRate = Int.random(in: 1...10, using: &generator)
      var old: [Int: Int] = [:]
      var new: [Int: Int] = [:]
      for id in 0..<count {
        let key = Int.random(in: 0..<keySpace, using: &generator)
        let isTouched = Int.random(in: 0..<10, using: &generator) < changeRate
        let fate = isTouched ? Int.random(in: 0..<6, using: &generator) : 5
        if fate != 0 { old[id] = key }
        if fate != 1 {
          new[id] = (2...4).contains(fate) ? Int.random(in: 0..<keySpace, using: &generator) : key
        }
      }
      if let broken = Change(old: old, new: new).brokenLaw() {
        Issue.record("\(broken), seed \(seed), round \(round), old \(old), new \(new)")
        return
      }
    }
  }

  @Test func theOrderOfTheInputMakesNoDifference() {
    for seed in UInt64(1)...200 {
      var generator = SeededGenerator(seed: seed)
      let old = Array(0..<20).shuffled(using: &generator)
      let new = Array(5..<25).shuffled(using: &generator)
      let changed = Set((0..<25).filter { _ in Bool.random(using: &generator) })
      let ids = Array(Set(old).union(new)).sorted()
      let shuffled = ids.shuffled(using: &generator)
      #expect(
        moves(old, new, changed: changed, touched: ids)
          == moves(old, new, changed: changed, touched: shuffled), "seed \(seed)")
    }
  }
}

/// The ids that moved, by new rank.
private func moves(
  _ old: [Int], _ new: [Int], changed: Set<Int>, touched: [Int]? = nil
) -> [Int] {
  let ids =
    touched
    ?? Set(old).union(new).filter {
      changed.contains($0) || !(old.contains($0) && new.contains($0))
    }
  let rows = ids.map {
    CanonicalMoves.Row(
      oldRank: old.firstIndex(of: $0),
      newRank: new.firstIndex(of: $0),
      sortKeyChanged: changed.contains($0))
  }
  return CanonicalMoves.offsets(in: rows).map { Array(ids)[$0] }
}

/// Two results, each sorted by (key, id), and the change set that leads from one to the other.
private struct Change {
  let oldKeys: [Int: Int]
  let newKeys: [Int: Int]
  let old: [Int]
  let new: [Int]

  init(old oldKeys: [Int: Int], new newKeys: [Int: Int]) {
    self.oldKeys = oldKeys
    self.newKeys = newKeys
    old = oldKeys.keys.sorted { (oldKeys[$0] ?? 0, $0) < (oldKeys[$1] ?? 0, $1) }
    new = newKeys.keys.sorted { (newKeys[$0] ?? 0, $0) < (newKeys[$1] ?? 0, $1) }
  }

  func brokenLaw() -> String? {
    let retained = Set(old).intersection(new)
    let changed = retained.filter { oldKeys[$0] != newKeys[$0] }
    let moved = moves(old, new, changed: changed)
    guard Set(moved).isSubset(of: changed) else { return "a row moved whose key did not change" }
    guard moved == new.filter(Set(moved).contains) else { return "moves are not by new rank" }
    guard applied(moved: Set(moved)) == new else { return "applying the change set fails" }
    guard moved.count == fewestMoves(changed: changed) else {
      return "\(moved.count) rows moved, \(fewestMoves(changed: changed)) suffice"
    }
    let backwards = Change(old: newKeys, new: oldKeys)
    guard backwards.applied(moved: Set(moved)) == old else { return "the inverse fails" }
    return nil
  }

  /// Takes deleted and moved rows out of the old result, then puts inserted and moved ones in at
  /// their new index: what a list view does with a change set.
  func applied(moved: Set<Int>) -> [Int] {
    var list = old.filter { newKeys[$0] != nil && !moved.contains($0) }
    for (index, id) in new.enumerated() where moved.contains(id) || oldKeys[id] == nil {
      guard index <= list.count else { return [] }
      list.insert(id, at: index)
    }
    return list
  }

  /// Found without ranks or gaps: the most changed rows that can stay among all unchanged ones are
  /// those of the longest common subsequence that keeps every unchanged row.
  private func fewestMoves(changed: Set<Int>) -> Int {
    let before = old.filter { newKeys[$0] != nil }
    let after = new.filter { oldKeys[$0] != nil }
    // An unchanged row must be kept, so it outweighs all changed ones together.
    let weight = before.count + 1
    let blankRow = Array(repeating: 0, count: after.count + 1)
    var best = Array(repeating: blankRow, count: before.count + 1)
    for (row, id) in before.enumerated() {
      for (column, other) in after.enumerated() {
        best[row + 1][column + 1] =
          id == other
          ? best[row][column] + (changed.contains(id) ? 1 : weight)
          : max(best[row][column + 1], best[row + 1][column])
      }
    }
    return changed.count - best[before.count][after.count] % weight
  }
}
