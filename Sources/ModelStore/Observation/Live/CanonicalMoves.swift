/// Which of the rows that one commit touched have moved within a sorted result.
///
/// A row whose sort key did not change never moves: it only slides as others come and go before it.
/// A row whose key changed stays when the unchanged rows before it are as many as they were, and
/// when it kept its order among the changed rows between the same two unchanged ones; so the fewest
/// rows move.
enum CanonicalMoves {
  /// Where one touched row stood before the commit and where it stands after it.
  struct Row: Hashable, Sendable {
    /// The rank in the old result; `nil` when the row was not in it.
    var oldRank: Int?
    /// The rank in the new result; `nil` when the row is not in it.
    var newRank: Int?
    /// Whether the sort key after the commit differs from the one before.
    var sortKeyChanged: Bool
  }

  /// Returns the offsets in `rows` of those that moved, by ascending new rank.
  ///
  /// - Parameter rows: Every row that entered or left the result and every row whose sort key
  ///   changed, in any order. Rows that only changed other fields may be among them.
  /// - Complexity: O(k log k) for k rows; the size of the result does not matter.
  static func offsets(in rows: [Row]) -> [Int] {
    var candidates = candidates(in: rows)
    guard !candidates.isEmpty else { return [] }

    // Before the commit a candidate's gap counts the rows before it that are neither candidates nor
    // deleted; after it, those that are neither candidates nor inserted.
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
    // By old rank, hence by gap: each run of one gap is a group.
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
    /// The unchanged rows before it in the old and in the new result.
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

  /// Writes the gaps of one side. Both the candidates and `absent`, the ranks of the rows that the
  /// other side lacks, are in ascending order of that side's rank.
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

  /// Returns the rows of one group, given by ascending old rank, that do not belong to its longest
  /// ascending run of new ranks. Of several longest runs, the one of the earliest old ranks stays.
  private static func rowsOutOfOrder(in group: ArraySlice<Candidate>) -> [Candidate] {
    // Patience from the right: `starts[l]` is the greatest new rank that begins a run of l + 1
    // rows, so the ranks descend. A row prolongs the longest run that begins after it.
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
  /// The maximal slices whose neighbours all satisfy `belongTogether`, in order.
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

  /// The first index from which on `belongsAfter` holds, in an array where it holds for a suffix.
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
