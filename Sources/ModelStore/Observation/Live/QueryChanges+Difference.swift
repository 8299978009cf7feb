extension QueryChanges {
  /// The changes of the keys as a `CollectionDifference`; moves are associated pairs. It does not
  /// contain changes of fields.
  ///
  /// - Complexity: O(k log k) for k changes.
  public var keyDifference: CollectionDifference<[SQLValue]> {
    Self.difference(
      removing: deletions.map { ($0.index, $0.key, nil) }
        + moves.map { ($0.oldIndex, $0.key, $0.newIndex) },
      inserting: insertions.map { ($0.index, $0.key, nil) }
        + moves.map { ($0.newIndex, $0.key, $0.oldIndex) })
  }

  /// The changes of the records as a `CollectionDifference`. Nil after a reset, because the old
  /// records are unknown.
  ///
  /// A row that moved or differs is removed with its old values and inserted with its new ones. The
  /// two are associated, although their values differ.
  ///
  /// - Complexity: O(k log k) for k changes.
  public var difference: CollectionDifference<Element>? {
    guard let moves = movesWithOldRecord else { return nil }
    let moved = Set(moves.map(\.move.newIndex))
    let staying = updates.filter { !moved.contains($0.newIndex) }
    var removed: [(Int, Element, Int?)] = []
    for deletion in deletions {
      guard let record = deletion.record else { return nil }
      removed.append((deletion.index, record, nil))
    }
    return Self.difference(
      removing: removed + moves.map { ($0.move.oldIndex, $0.record, $0.move.newIndex) }
        + staying.map { ($0.oldIndex, $0.old, $0.newIndex) },
      inserting: insertions.map { ($0.index, $0.record, nil) }
        + moves.map { ($0.move.newIndex, $0.move.record, $0.move.oldIndex) }
        + staying.map { ($0.newIndex, $0.new, $0.oldIndex) })
  }

  private static func difference<Value>(
    removing: [(offset: Int, element: Value, counterpart: Int?)],
    inserting: [(offset: Int, element: Value, counterpart: Int?)]
  ) -> CollectionDifference<Value> {
    let changes =
      removing.map { change in
        CollectionDifference<Value>.Change.remove(
          offset: change.offset, element: change.element, associatedWith: change.counterpart)
      }
      + inserting.map { change in
        .insert(
          offset: change.offset, element: change.element, associatedWith: change.counterpart)
      }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("A change set names one place of a list twice.")
    }
    return difference
  }
}
