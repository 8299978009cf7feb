extension QueryChanges {
  /// The inverse changes: applied to the new result, they give the old one. Nil after a reset,
  /// because the old records are unknown.
  ///
  /// Old and new versions, counts, indices, records and field values are exchanged. An insertion
  /// becomes a deletion with the same reason and the same origin.
  ///
  /// - Complexity: O(k log k) for k changes.
  public var inverse: QueryChanges? {
    guard let movedBack = movesWithOldRecord else { return nil }
    var restored: [Insertion] = []
    restored.reserveCapacity(deletions.count)
    for deletion in deletions {
      guard let record = deletion.record else { return nil }
      restored.append(
        Insertion(
          index: deletion.index, key: deletion.key, record: record, reason: deletion.reason,
          origin: deletion.origin))
    }
    return QueryChanges(
      oldVersion: newVersion, newVersion: oldVersion, oldCount: newCount, newCount: oldCount,
      versions: QueryDelta.Versions(old: versions.new, new: versions.old),
      deletions: insertions.map { insertion in
        Deletion(
          index: insertion.index, key: insertion.key, record: insertion.record,
          reason: insertion.reason, origin: insertion.origin)
      },
      insertions: restored,
      moves: movedBack.map { move, record in
        Move(
          oldIndex: move.newIndex, newIndex: move.oldIndex, key: move.key, record: record)
      }.sorted { $0.newIndex < $1.newIndex },
      updates: updates.map(\.inverse).sorted { $0.newIndex < $1.newIndex },
      refreshes: [], isInitial: false, isReset: false)
  }

  /// Each move with the old record; nil after a reset.
  var movesWithOldRecord: [(move: Move, record: Element)]? {
    guard !isReset else { return nil }
    var place = 0
    return moves.map { move in
      // Both are sorted by new index. A moved row differs in a field, so it is among the updates.
      while place < updates.count, updates[place].newIndex < move.newIndex { place += 1 }
      let isUpdated = place < updates.count && updates[place].newIndex == move.newIndex
      return (move, isUpdated ? updates[place].old : move.record)
    }
  }
}

extension QueryChanges.Update {
  fileprivate var inverse: Self {
    Self(oldIndex: newIndex, newIndex: oldIndex, records: records.inverse)
  }
}
