/// The ranks of a delta's touched rows in both results, and what happened to each row. This is the
/// part of an event that does not depend on how records are decoded.
struct DeltaRanks {
  /// The index of each touched row in the old result and in the new one; -1 if it is not in it.
  private let oldRanks: [Int]
  private let newRanks: [Int]
  /// Positions among the touches, by ascending index in the old result.
  let deletions: [Int]
  /// Positions among the touches, by ascending index in the new result.
  let insertions: [Int]
  /// Positions among the touches, by ascending index in the new result. These rows are in both
  /// results, and at least one field differs.
  let updates: [Int]
  /// Positions among the touches, by ascending index in the new result. These rows are in both
  /// results, and the old record is unknown.
  let refreshes: [Int]
  /// Positions among the touches, by ascending index in the new result.
  let moves: [Int]

  /// - Complexity: O(k log n) for k touched rows of n; O(k) if the ranks are known.
  init(_ delta: QueryDelta) {
    let touches = delta.touches
    let oldRanks = Self.oldRanks(delta)
    // If every touched row kept its rank, so did all other rows.
    let areInPlace = touches.allSatisfy { $0.isInPlace }
    let newRanks =
      areInPlace
      ? oldRanks : touches.map { touch in touch.new.map { delta.new.index(of: $0.entry) } ?? -1 }
    var (deletions, insertions): ([Int], [Int]) = ([], [])
    var (updates, refreshes): ([Int], [Int]) = ([], [])
    for place in touches.indices {
      switch (oldRanks[place] >= 0, newRanks[place] >= 0) {
      case (true, false): deletions.append(place)
      case (false, true): if touches[place].new?.image != nil { insertions.append(place) }
      case (true, true):
        if touches[place].isUpdate {
          updates.append(place)
        } else if touches[place].isRefresh {
          refreshes.append(place)
        }
      case (false, false): continue
      }
    }
    self.oldRanks = oldRanks
    self.newRanks = newRanks
    self.deletions = Self.sorted(deletions, by: oldRanks)
    self.insertions = Self.sorted(insertions, by: newRanks)
    self.updates = Self.sorted(updates, by: newRanks)
    self.refreshes = Self.sorted(refreshes, by: newRanks)
    moves = areInPlace ? [] : CanonicalMoves.offsets(in: Self.rows(touches, oldRanks, newRanks))
  }

  private static func oldRanks(_ delta: QueryDelta) -> [Int] {
    let first = delta.old.shown.lowerBound
    let touches = delta.touches
    return touches.indices.map { place in
      if let rank = touches[place].rank { return rank - first }
      return touches[place].old.map { delta.old.index(of: $0.entry) } ?? -1
    }
  }

  private static func rows(
    _ touches: [QueryDelta.Touch], _ oldRanks: [Int], _ newRanks: [Int]
  ) -> [CanonicalMoves.Row] {
    touches.indices.map { place in
      CanonicalMoves.Row(
        oldRank: oldRanks[place] < 0 ? nil : oldRanks[place],
        newRank: newRanks[place] < 0 ? nil : newRanks[place],
        sortKeyChanged: !touches[place].isInPlace)
    }
  }

  /// The index in the old result of a touched row that is in it.
  func old(at place: Int) -> Int { oldRanks[place] }

  /// The index in the new result of a touched row that is in it.
  func new(at place: Int) -> Int { newRanks[place] }

  private static func sorted(_ places: [Int], by ranks: [Int]) -> [Int] {
    let isSorted = places.indices.dropFirst().allSatisfy {
      ranks[places[$0 - 1]] <= ranks[places[$0]]
    }
    return isSorted ? places : places.sorted { ranks[$0] < ranks[$1] }
  }
}
