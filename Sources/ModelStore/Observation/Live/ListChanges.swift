/// The changes that one commit made to a record's ordered list, with exact indices.
///
/// The changes are described in two ways. ``operations`` are the calls of the editors, each with
/// its own indices. ``deletions``, ``insertions`` and ``moves`` are the net difference between the
/// two lists, with indices as in ``QueryChanges``. Deletions and every `oldIndex` refer to the list
/// before, insertions and every `newIndex` to the list after. A slot is in at most one of the
/// three.
///
/// ``updates`` lists the elements whose observed fields differ, at every index they occupy.
public struct ListChanges<Key: ModelKey>: Sendable {
  /// A deleted or inserted slot.
  public struct Slot: Hashable, Sendable {
    /// Its index: in the list before for a deletion, in the list after for an insertion.
    public let index: Int
    /// The element in the slot.
    public let key: Key
  }

  /// A slot that was moved. A slot that only shifted because others were inserted or deleted is not
  /// a move.
  public struct Move: Hashable, Sendable {
    /// Its index in the list before.
    public let oldIndex: Int
    /// Its index in the list after.
    public let newIndex: Int
    /// The element in the slot.
    public let key: Key
  }

  /// A slot of both lists whose element's record differs in observed fields.
  public struct Update: Hashable, Sendable {
    /// Its index in the list before.
    public let oldIndex: Int
    /// Its index in the list after.
    public let newIndex: Int
    /// The element in the slot.
    public let key: Key
    /// The observed fields that differ.
    public let fields: [ChangedField]
  }

  /// The complete list before.
  public let old: ListSnapshot<Key>
  /// The complete list after.
  public let new: ListSnapshot<Key>
  /// The editor calls in order; empty when only fields of elements changed.
  ///
  /// It is nil when only the net difference is known. This happens when something other than an
  /// editor also changed the list: a deleted element, your own SQL or another process. It also
  /// happens after more than 1024 operations, in one commit or in several coalesced ones.
  public let operations: [ListOperation<Key>]?
  /// By ascending index in the old list.
  public let deletions: [Slot]
  /// By ascending index in the new list.
  public let insertions: [Slot]
  /// By ascending new index.
  public let moves: [Move]
  /// By ascending new index.
  public let updates: [Update]
  /// Whether this is the first event of an observation with ``ObservationOptions/initial``. Every
  /// slot is then an insertion.
  public let isInitial: Bool
  /// Whether another connection wrote or the schema changed. Deletions, insertions and moves are
  /// exact, but ``updates`` may be incomplete. Refetch the elements.
  public let isReset: Bool

  /// Whether the lists are equal and no element is known to differ.
  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Applies the changes to the keys of the old list, which gives those of the new list.
  ///
  /// - Precondition: `keys` has as many elements as the old list.
  /// - Complexity: Linear in the list.
  public func apply(to keys: inout [Key]) {
    precondition(keys.count == old.count, "The list has \(keys.count) elements, not \(old.count).")
    let leaving = Set(deletions.map(\.index) + moves.map(\.oldIndex))
    var staying = keys.enumerated().lazy.filter { !leaving.contains($0.offset) }.map(\.element)
      .makeIterator()
    let arriving = (insertions.map { ($0.index, $0.key) } + moves.map { ($0.newIndex, $0.key) })
      .sorted { $0.0 < $1.0 }
    var list: [Key] = []
    list.reserveCapacity(new.count)
    for (index, key) in arriving {
      while list.count < index, let stayed = staying.next() { list.append(stayed) }
      list.append(key)
    }
    while let stayed = staying.next() { list.append(stayed) }
    keys = list
  }
}

/// One call of a ``ListEditor``. Its indices refer to the list before and after that call, not
/// before and after the commit.
public struct ListOperation<Key: ModelKey>: Hashable, Sendable {
  /// An element that the call inserted, removed or moved.
  public struct Occurrence: Hashable, Sendable {
    /// The element.
    public let key: Key
    /// Its index before the call; nil for an inserted element.
    public let oldIndex: Int?
    /// Its index after the call; nil for a removed element.
    public let newIndex: Int?
  }

  /// The kind of call.
  public let kind: ListOperationKind
  /// The removed elements, then the inserted ones, each by ascending index. Elements that only
  /// shifted are not listed.
  public let elements: [Occurrence]
  /// The number of elements before the call.
  public let oldCount: Int
  /// The number of elements after the call.
  public let newCount: Int

  init(_ edit: ListEdit) throws {
    kind = edit.kind
    oldCount = edit.oldCount
    newCount = edit.newCount
    elements = try edit.elements.map { occurrence in
      Occurrence(
        key: try ListSnapshot<Key>.key(occurrence.element), oldIndex: occurrence.oldIndex,
        newIndex: occurrence.newIndex)
    }
  }
}

extension ListChanges {
  /// Computes the indices of `delta`.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when a key is not of the element's key type.
  /// - Complexity: O(k log n) for k touched slots of n.
  init(_ delta: ListDelta) throws {
    var deletions: [Slot] = []
    var insertions: [Slot] = []
    var ranks: [CanonicalMoves.Row] = []
    var retained: [Int: SQLValue] = [:]
    for touch in delta.touches {
      let oldRank = touch.old.map { delta.old.tree.rank(of: $0) }
      let newRank = touch.new.map { delta.new.tree.rank(of: $0) }
      if touch.isRetained, let element = touch.new?.element {
        retained[ranks.count] = element
        ranks.append(
          CanonicalMoves.Row(oldRank: oldRank, newRank: newRank, sortKeyChanged: touch.isMoved))
        continue
      }
      if let entry = touch.old, let oldRank {
        deletions.append(
          Slot(index: oldRank, key: try ListSnapshot<Key>.key(entry.element)))
        ranks.append(CanonicalMoves.Row(oldRank: oldRank, newRank: nil, sortKeyChanged: true))
      }
      if let entry = touch.new, let newRank {
        insertions.append(
          Slot(index: newRank, key: try ListSnapshot<Key>.key(entry.element)))
        ranks.append(CanonicalMoves.Row(oldRank: nil, newRank: newRank, sortKeyChanged: true))
      }
    }
    moves = try CanonicalMoves.offsets(in: ranks).compactMap { offset in
      guard let oldRank = ranks[offset].oldRank, let newRank = ranks[offset].newRank,
        let element = retained[offset]
      else { return nil }
      return Move(
        oldIndex: oldRank, newIndex: newRank, key: try ListSnapshot<Key>.key(element))
    }
    self.deletions = deletions.sorted { $0.index < $1.index }
    self.insertions = insertions.sorted { $0.index < $1.index }
    updates = try Self.updates(in: delta)
    operations = try delta.operations?.map { try ListOperation($0) }
    old = ListSnapshot(delta.old)
    new = ListSnapshot(delta.new)
    isInitial = delta.isInitial
    isReset = delta.isReset
  }

  private static func updates(in delta: ListDelta) throws -> [Update] {
    guard !delta.elements.isEmpty else { return [] }
    let touches = Dictionary(
      delta.touches.map { ($0.slot, $0) }, uniquingKeysWith: { first, _ in first })
    var updates: [Update] = []
    for element in delta.elements {
      for place in element.places {
        var (oldPlace, newPlace) = (place, place)
        if let touch = touches[place.slot] {
          guard touch.isRetained, let old = touch.old?.place, let new = touch.new?.place else {
            continue
          }
          (oldPlace, newPlace) = (old, new)
        }
        let index = delta.new.rank(of: newPlace)
        updates.append(
          Update(
            oldIndex: delta.old.rank(of: oldPlace), newIndex: index,
            key: try ListSnapshot<Key>.key(delta.new.tree[index].element),
            fields: element.fields))
      }
    }
    return updates.sorted { $0.newIndex < $1.newIndex }
  }
}
