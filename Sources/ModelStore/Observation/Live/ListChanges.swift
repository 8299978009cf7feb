/// What one commit did to a record's ordered list, with exact indices.
///
/// Two accounts of the same. ``operations`` is what the editors did, call by call, each with
/// indices of its own. ``deletions``, ``insertions`` and ``moves`` are the net difference between
/// the two lists, with indices as in ``QueryChanges``: those of deletions and every `oldIndex` are
/// positions in the list before, those of insertions and every `newIndex` in the list after, and a
/// slot is in at most one of the three. ``updates`` says which elements differ in observed fields,
/// at every index they occupy.
public struct ListChanges<Key: ModelKey>: Sendable {
  /// A slot that is gone, or one that is new.
  public struct Slot: Hashable, Sendable {
    /// Its index: in the list before for a deletion, after for an insertion.
    public let index: Int
    /// The element that it held or holds.
    public let key: Key
  }

  /// A slot that was given another place. One that only slid because others came or went is none.
  public struct Move: Hashable, Sendable {
    /// Its index in the list before.
    public let oldIndex: Int
    /// Its index in the list after.
    public let newIndex: Int
    /// The element it holds.
    public let key: Key
  }

  /// A slot of both lists whose element's record differs in observed fields, or may differ after a
  /// reset.
  public struct Update: Hashable, Sendable {
    /// Its index in the list before.
    public let oldIndex: Int
    /// Its index in the list after.
    public let newIndex: Int
    /// The element it holds.
    public let key: Key
    /// The observed fields that differ; empty in a reset, where any of them may differ.
    public let fields: [ChangedField]
  }

  /// The list before, whole.
  public let old: ListSnapshot<Key>
  /// The list after, whole.
  public let new: ListSnapshot<Key>
  /// What the editors did, in order; empty when only fields of elements changed. nil when the list
  /// changed by something else than an editor too, such as a deleted element, SQL of the program's
  /// own or another process, and after more than 1024 operations, in one commit or in several that
  /// nobody took: then only the net difference is known.
  public let operations: [ListOperation<Key>]?
  /// By ascending index in the old list.
  public let deletions: [Slot]
  /// By ascending index in the new list.
  public let insertions: [Slot]
  /// By ascending new index.
  public let moves: [Move]
  /// By ascending new index.
  public let updates: [Update]
  /// Whether this is the first event of an observation that starts with the contents: every slot
  /// is an insertion.
  public let isInitial: Bool
  /// Whether another connection wrote or the schema changed. Deletions, insertions and moves are
  /// exact. ``updates`` lists every element that stayed, if you observe fields of elements: any of
  /// them may differ. You handle the event like any other.
  public let isReset: Bool

  /// Whether both lists are the same and nothing of the elements is known to differ.
  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Turns the keys of the old list into those of the new one.
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

/// One call of a ``ListEditor``, with indices in the list before and after that call, not before
/// and after the commit.
public struct ListOperation<Key: ModelKey>: Hashable, Sendable {
  /// An element that the call put in, took out or gave another index.
  public struct Occurrence: Hashable, Sendable {
    /// The element.
    public let key: Key
    /// Its index before the call; nil when it was put in.
    public let oldIndex: Int?
    /// Its index after the call; nil when it was taken out.
    public let newIndex: Int?
  }

  /// Which call it was.
  public let kind: ListOperationKind
  /// Those taken out, then those put in, each by ascending index; elements that slid are not named.
  public let elements: [Occurrence]
  /// How many elements the list had before the call.
  public let oldCount: Int
  /// How many it had after.
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
  /// Works out the indices of `delta`.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when a key is not one of the element's type.
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

/// An object with the members `deletions`, `insertions`, `moves`, `updates`, `isInitial` and
/// `isReset`. Keys stand for the elements.
extension ListChanges: Encodable where Key: Encodable {
  private enum CodingKeys: String, CodingKey {
    case deletions, insertions, moves, updates, isInitial, isReset
  }
}

/// An object with the members `index` and `key`.
extension ListChanges.Slot: Encodable where Key: Encodable {}

/// An object with the members `oldIndex`, `newIndex` and `key`.
extension ListChanges.Move: Encodable where Key: Encodable {}

extension ListChanges.Update: Encodable where Key: Encodable {
  private enum CodingKeys: String, CodingKey { case oldIndex, newIndex, key, fields }

  /// Writes an object with the members `oldIndex`, `newIndex`, `key` and `fields`, which are names.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(oldIndex, forKey: .oldIndex)
    try members.encode(newIndex, forKey: .newIndex)
    try members.encode(key, forKey: .key)
    try members.encode(fields.map(\.name), forKey: .fields)
  }
}
