extension QueryChanges {
  /// One step from the old result to the new one, to be replayed on an array.
  public enum Edit: Sendable {
    /// Removes the element at that index.
    case remove(at: Int)
    /// Inserts the record before the element at that index, or at the end.
    case insert(Element, at: Int)
    /// Replaces the element at that index with the record.
    case replace(at: Int, with: Element)

    /// Applies the edit to `list`.
    ///
    /// - Precondition: Exactly the edits before this one have been applied.
    public func apply(to list: inout [Element]) {
      switch self {
      case .remove(let index): list.remove(at: index)
      case .insert(let record, let index): list.insert(record, at: index)
      case .replace(let index, let record): list[index] = record
      }
    }
  }

  /// The changes as single edits, to be applied one after the other. Each index refers to the list
  /// after the edits before it.
  ///
  /// Removals come first, from the end of the list to its beginning. Insertions follow, from the
  /// beginning to the end, then replacements of rows that stayed and differ, or may differ after a
  /// reset. A move is a removal and an insertion. For a whole array ``apply(to:)`` is faster,
  /// because each edit of an array shifts all elements behind it.
  ///
  /// - Complexity: O(k log k) for k changes.
  public var sequentialEdits: [Edit] {
    let leaving = (deletions.map(\.index) + moves.map(\.oldIndex)).sorted(by: >)
    let arriving =
      (insertions.map { (index: $0.index, record: $0.record) }
      + moves.map { (index: $0.newIndex, record: $0.record) })
      .sorted { $0.index < $1.index }
    let moved = Set(moves.map(\.newIndex))
    let differing =
      (updates.map { (index: $0.newIndex, record: $0.new) }
      + refreshes.map { (index: $0.newIndex, record: $0.record) })
      .filter { !moved.contains($0.index) }
    return leaving.map { .remove(at: $0) }
      + arriving.map { .insert($0.record, at: $0.index) }
      + differing.map { .replace(at: $0.index, with: $0.record) }
  }
}
