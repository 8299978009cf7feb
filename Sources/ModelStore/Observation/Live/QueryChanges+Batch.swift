extension QueryChanges {
  /// What a table view is told to animate the changes: index sets for one batch of updates, in
  /// which no row is named twice on one side.
  ///
  /// ``deletions``, ``reloads`` and each move's `from` are indices of the list before;
  /// ``insertions`` and each move's `to` are indices of the list after: the rule of
  /// `performBatchUpdates` of the well-known toolkits.
  public struct Batch: Hashable, Encodable, Sendable {
    /// What becomes of a row that changes its place.
    public enum MoveStyle: Hashable, Sendable {
      /// It is moved; where its fields differ too, it is to be reloaded after the batch.
      case kept
      /// It is deleted and inserted, for views that cannot move a row.
      case expanded
    }

    /// A row that changes its place.
    public struct Move: Hashable, Encodable, Sendable {
      /// Its index in the list before.
      public let from: Int
      /// Its index in the list after.
      public let to: Int
    }

    /// Ascending indices in the list before.
    public let deletions: [Int]
    /// Ascending indices in the list after.
    public let insertions: [Int]
    /// By ascending index in the list after.
    public let moves: [Move]
    /// Ascending indices in the list before, of rows that stay and differ, or may differ after a
    /// reset.
    public let reloads: [Int]
    /// Ascending indices in the list after, of rows that were moved and differ: to be reloaded once
    /// the batch is done, since a view takes one row either as moved or as reloaded.
    public let reloadsAfterwards: [Int]

    /// Whether there is nothing to animate.
    public var isEmpty: Bool {
      deletions.isEmpty && insertions.isEmpty && moves.isEmpty && reloads.isEmpty
    }
  }

  /// The changes as index sets for a table view, after a reset too.
  ///
  /// - Complexity: O(k log k) for k changes.
  public func batch(moves style: Batch.MoveStyle = .kept) -> Batch {
    let moved = Set(moves.map(\.newIndex))
    let differing =
      updates.map { (old: $0.oldIndex, new: $0.newIndex) }
      + refreshes.map { (old: $0.oldIndex, new: $0.newIndex) }
    let staying = differing.filter { !moved.contains($0.new) }.map(\.old).sorted()
    switch style {
    case .kept:
      return Batch(
        deletions: deletions.map(\.index), insertions: insertions.map(\.index),
        moves: moves.map { Batch.Move(from: $0.oldIndex, to: $0.newIndex) }, reloads: staying,
        reloadsAfterwards: differing.map(\.new).filter(moved.contains).sorted())
    case .expanded:
      return Batch(
        deletions: (deletions.map(\.index) + moves.map(\.oldIndex)).sorted(),
        insertions: (insertions.map(\.index) + moves.map(\.newIndex)).sorted(), moves: [],
        reloads: staying, reloadsAfterwards: [])
    }
  }
}
