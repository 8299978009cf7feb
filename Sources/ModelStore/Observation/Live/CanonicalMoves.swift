/// The computation of which rows that one commit touched have moved within a sorted result.
///
/// A row whose sort key did not change never moves: it only shifts as rows before it come and go. A
/// row whose key changed counts as unmoved under two conditions. The number of unchanged rows
/// before it is the same, and it kept its order among the changed rows between the same unchanged
/// neighbours. So the fewest rows move.
enum CanonicalMoves {
  /// A touched row's rank before and after the commit.
  struct Row: Hashable, Sendable {
    /// The rank in the old result; `nil` when the row was not in it.
    var oldRank: Int?
    /// The rank in the new result; `nil` when the row is not in it.
    var newRank: Int?
    /// Whether the sort key after the commit differs from the one before.
    var sortKeyChanged: Bool
  }

  /// Returns the offsets in `rows` of the rows that moved, by ascending new rank.
  ///
  /// - Parameter rows: Every row that entered or left the result and every row whose sort key
  ///   changed, in any order. Rows that only changed other fields may be among them.
  /// - Complexity: O(k log k) for k rows; the size of the result does not matter.
  static func offsets(in rows: [Row]) -> [Int] {
    // Alone, a row is before the same unchanged rows if and only if it keeps its rank.
    if rows.count == 1 {
      let row = rows[0]
      guard row.sortKeyChanged, let old = row.oldRank, let new = row.newRank else { return [] }
      return old == new ? [] : [0]
    }
    var candidates = candidates(in: rows)
    guard !candidates.isEmpty else { return [] }

    // A candidate's old gap counts the rows before it that are neither candidates nor deleted. Its
    // new gap counts those that are neither candidates nor inserted.
    var deletedRanks: [Int] = []
    var insertedRanks: [Int] = []
    for row in rows {
      if let rank = row.oldRank, row.newRank == nil { deletedRanks.append(rank) }
      if let rank = row.newRank, row.oldRank == nil { insertedRanks.append(rank) }
    }
    candidates.sort { $0.newRank < $1.newRank }
    assign(\.newGap, from: \.newRank, without: insertedRanks.sorted(), to: &candidates)
    candidates.sort { $0.oldRank < $1.oldRank }
    assign(\.oldGap, from: \.oldRank, without: deletedRanks.sorted(), to: &candidates)

    var moved = candidates.filter { $0.oldGap != $0.newGap }
    // Sorted by old rank, and therefore by gap: each run of equal gaps is a group.
    let settled = candidates.filter { $0.oldGap == $0.newGap }
    for group in settled.chunked(by: { $0.oldGap == $1.oldGap }) {
      moved.append(contentsOf: rowsOutOfOrder(in: group))
    }
    return moved.sorted { $0.newRank < $1.newRank }.map(\.offset)
  }
}

extension CanonicalMoves {
  /// A row in both results whose sort key changed.
  private struct Candidate {
    let offset: Int
    let oldRank: Int
    let newRank: Int
    /// The number of unchanged rows before it in the old and in the new result.
    var oldGap = 0
    var newGap = 0
  }

  private static func candidates(in rows: [Row]) -> [Candidate] {
    rows.enumerated().compactMap { offset, row in
      guard row.sortKeyChanged, let oldRank = row.oldRank, let newRank = row.newRank else {
        return nil
      }
      return Candidate(offset: offset, oldRank: oldRank, newRank: newRank)
    }
  }

  /// Computes the gaps of one side. `absent` holds the ranks of the rows that the other side lacks.
  /// Both it and `candidates` are sorted by this side's rank, ascending.
  private static func assign(
    _ gap: WritableKeyPath<Candidate, Int>,
    from rank: KeyPath<Candidate, Int>,
    without absent: [Int],
    to candidates: inout [Candidate]
  ) {
    var absentBefore = 0
    for index in candidates.indices {
      let rank = candidates[index][keyPath: rank]
      while absentBefore < absent.count, absent[absentBefore] < rank { absentBefore += 1 }
      candidates[index][keyPath: gap] = rank - absentBefore - index
    }
  }

  /// Returns the rows of one group that are not in its longest ascending run of new ranks. The
  /// group is sorted by ascending old rank. Of several longest runs, the one with the earliest old
  /// ranks is kept.
  private static func rowsOutOfOrder(in group: ArraySlice<Candidate>) -> [Candidate] {
    // Patience sorting from the right: `starts[l]` is the greatest new rank that begins a run of l
    // + 1 rows, so the ranks descend. A row extends the longest run that begins after it.
    var starts: [Int] = []
    var runLengths: [Int] = []
    for row in group.reversed() {
      let longer = starts.partitioningIndex { $0 < row.newRank }
      if longer < starts.count { starts[longer] = row.newRank } else { starts.append(row.newRank) }
      runLengths.append(longer + 1)
    }
    var missing = starts.count
    var lastStaying = -1
    var outOfOrder: [Candidate] = []
    for (row, runLength) in zip(group, runLengths.reversed()) {
      if runLength == missing, row.newRank > lastStaying {
        missing -= 1
        lastStaying = row.newRank
      } else {
        outOfOrder.append(row)
      }
    }
    return outOfOrder
  }
}

extension Array {
  /// Returns the maximal slices in which all neighbours satisfy `belongTogether`, in order.
  fileprivate func chunked(by belongTogether: (Element, Element) -> Bool) -> [ArraySlice<Element>] {
    var chunks: [ArraySlice<Element>] = []
    var start = startIndex
    for index in indices.dropFirst() where !belongTogether(self[index - 1], self[index]) {
      chunks.append(self[start..<index])
      start = index
    }
    if start < endIndex { chunks.append(self[start...]) }
    return chunks
  }

  /// Returns the first index from which `belongsAfter` holds. It must hold for a suffix of the
  /// array.
  fileprivate func partitioningIndex(where belongsAfter: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if belongsAfter(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
