extension QueryChanges {
  /// One step that turns the old result into the new one, to be replayed on an array.
  public enum Edit: Sendable {
    /// Remove the element at that index.
    case remove(at: Int)
    /// Insert the record before the element at that index, or at the end.
    case insert(Element, at: Int)
    /// Put the record in the place of the element at that index.
    case replace(at: Int, with: Element)

    /// Makes the step.
    ///
    /// - Precondition: The steps before this one have been made, and nothing else.
    public func apply(to list: inout [Element]) {
      switch self {
      case .remove(let index): list.remove(at: index)
      case .insert(let record, let index): list.insert(record, at: index)
      case .replace(let index, let record): list[index] = record
      }
    }
  }

  /// The changes one by one, for what can only be changed so: each index holds in the list as the
  /// edits before have left it.
  ///
  /// First what leaves its place, from the end of the list to its beginning; then what comes to a
  /// place, from the beginning to the end; then what stayed and differs, or may differ after a reset. A move is a removal and an
  /// insertion. For a whole array ``apply(to:)`` is faster: each edit of an array moves what is
  /// behind it.
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
