extension QueryChanges {
  /// Index sets for one batch of table view updates. No row appears twice on one side.
  ///
  /// ``deletions``, ``reloads`` and each move's `from` are indices in the list before.
  /// ``insertions`` and each move's `to` are indices in the list after. `performBatchUpdates` of UI
  /// toolkits uses the same rule.
  public struct Batch: Hashable, Sendable {
    /// How a row that moves is reported.
    public enum MoveStyle: Hashable, Sendable {
      /// As a move. If its fields differ too, reload it after the batch.
      case kept
      /// As a deletion and an insertion, for views that cannot move a row.
      case expanded
    }

    /// A row that moves.
    public struct Move: Hashable, Sendable {
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
    /// Ascending indices in the list before, of rows that stay and differ.
    public let reloads: [Int]
    /// Ascending indices in the list after, of rows that moved and differ. Reload them after the
    /// batch, because a view accepts a row either as moved or as reloaded.
    public let reloadsAfterwards: [Int]

    /// Whether there is nothing to animate.
    public var isEmpty: Bool {
      deletions.isEmpty && insertions.isEmpty && moves.isEmpty && reloads.isEmpty
    }
  }

  /// Returns the changes as index sets for a table view.
  ///
  /// After a reset, rows that stay may differ without being among the reloads. Reload the visible
  /// rows.
  ///
  /// - Complexity: O(k log k) for k changes.
  public func batch(moves style: Batch.MoveStyle = .kept) -> Batch {
    let moved = Set(moves.map(\.newIndex))
    let staying = updates.filter { !moved.contains($0.newIndex) }.map(\.oldIndex).sorted()
    switch style {
    case .kept:
      return Batch(
        deletions: deletions.map(\.index), insertions: insertions.map(\.index),
        moves: moves.map { Batch.Move(from: $0.oldIndex, to: $0.newIndex) }, reloads: staying,
        reloadsAfterwards: updates.map(\.newIndex).filter(moved.contains))
    case .expanded:
      return Batch(
        deletions: (deletions.map(\.index) + moves.map(\.oldIndex)).sorted(),
        insertions: (insertions.map(\.index) + moves.map(\.newIndex)).sorted(), moves: [],
        reloads: staying, reloadsAfterwards: [])
    }
  }
}
