/// What one commit did to a live query's result, with exact indices.
///
/// Indices of deletions and all `oldIndex` are positions in the result before; those of insertions
/// and all `newIndex` are positions in the result after. Nothing is sequential, so no arithmetic is
/// needed: remove the deletions and the moved rows from the old result, put insertions and moved
/// rows in at their new indices in ascending order, and the new result is there; ``apply(to:)``
/// does it. A row is in at most one of deletions, insertions and moves; `updates` says which rows
/// of both results differ in some field, moved ones included.
///
/// If the records are `Encodable`, so is the event. You can send it to a client as it is.
public struct QueryChanges<Element: Fetchable>: Sendable {
  /// Why a row entered or left the result.
  public enum Reason: String, Hashable, Sendable {
    /// The record was inserted or deleted.
    case record
    /// The record was there before and after; a field that the filter reads changed.
    case filter
    /// It met the condition before and after; others came or went before it, or the window moved,
    /// so it is on the other side of a window's edge now.
    case slid
  }

  /// A row of the result before that is not in the result after.
  public struct Deletion: Sendable {
    /// Where it stood in the result before.
    public let index: Int
    /// The record's key.
    public let key: Element.Key
    /// The record before; nil after a reset, when it is not known any more.
    public let record: Element?
    /// Why it left.
    public let reason: Reason
    /// Who made it leave.
    public let origin: Origin
  }

  /// A row of the result after that was not in the result before.
  public struct Insertion: Sendable {
    /// Where it stands in the result after.
    public let index: Int
    /// The record's key.
    public let key: Element.Key
    /// The record as it is in the result after.
    public let record: Element
    /// Why it entered.
    public let reason: Reason
    /// Who made it enter.
    public let origin: Origin
  }

  /// A row of both results that was given another place. One that only slid because others came or
  /// went is none.
  public struct Move: Sendable {
    /// Where it stood in the result before.
    public let oldIndex: Int
    /// Where it stands in the result after.
    public let newIndex: Int
    /// The record's key.
    public let key: Element.Key
    /// The record as it is in the result after.
    public let record: Element
  }

  /// A row of both results some of whose fields differ, moved or not.
  public struct Update: Sendable {
    /// Where it stood in the result before.
    public let oldIndex: Int
    /// Where it stands in the result after.
    public let newIndex: Int
    /// The record's key.
    public let key: Element.Key
    /// The record before.
    public let old: Element
    /// The record after.
    public let new: Element
    /// The fields that differ, in field order.
    public let fields: [ChangedField]
    /// Whether the record was deleted and inserted again in between.
    public let isRecreated: Bool
  }

  /// A row of both results whose record before is not known, only in a reset. Its fields may differ
  /// or not.
  public struct Refresh: Sendable {
    /// The index in the result before.
    public let oldIndex: Int
    /// The index in the result after.
    public let newIndex: Int
    /// The record's key.
    public let key: Element.Key
    /// The record as it is in the result after.
    public let record: Element
  }

  /// The commits between which this happened: the older result is as of `oldVersion`.
  public let oldVersion: UInt64
  /// The commit that the result after is as of.
  public let newVersion: UInt64
  /// How many rows the result before has, within its window.
  public let oldCount: Int
  /// How many rows the result after has, within its window.
  public let newCount: Int
  /// The results before and after, as their keys in order: snapshots, whatever happens later.
  public let old: ResultKeys
  /// The keys after.
  public let new: ResultKeys
  /// By ascending index in the old result.
  public let deletions: [Deletion]
  /// By ascending index in the new result.
  public let insertions: [Insertion]
  /// By ascending new index.
  public let moves: [Move]
  /// By ascending new index.
  public let updates: [Update]
  /// By ascending new index. Empty unless ``isReset`` is set.
  public let refreshes: [Refresh]
  /// Whether this is the first event of a subscription: every row is an insertion.
  public let isInitial: Bool
  /// Whether records of the result before are not known, so that ``refreshes`` replaces a part of
  /// ``updates`` and deletions have no record.
  ///
  /// That happens when another connection wrote without a change journal, when the schema changed,
  /// and when more was touched than can wait. ``apply(to:)``, ``batch(moves:)`` and
  /// ``sequentialEdits`` include the refreshed rows, so you need not treat such an event in another
  /// way, nor fetch anything.
  public let isReset: Bool

  /// Turns the old result into the new one, after a reset too.
  ///
  /// - Parameter list: The records of the result before, in order; afterwards those of the result
  ///   now.
  /// - Precondition: `list` has ``oldCount`` elements.
  /// - Complexity: Linear in the list.
  public func apply(to list: inout [Element]) {
    precondition(list.count == oldCount, "The list has \(list.count) rows, not \(oldCount).")
    let leaving = Set(deletions.map(\.index) + moves.map(\.oldIndex))
    var staying: [Element] = []
    staying.reserveCapacity(newCount)
    for (index, element) in list.enumerated() where !leaving.contains(index) {
      staying.append(element)
    }
    var arriving = insertions.map { ($0.index, $0.record) } + moves.map { ($0.newIndex, $0.record) }
    arriving.sort { $0.0 < $1.0 }
    list.removeAll(keepingCapacity: true)
    var next = staying.makeIterator()
    for (index, element) in arriving {
      while list.count < index, let stayed = next.next() { list.append(stayed) }
      list.append(element)
    }
    while let stayed = next.next() { list.append(stayed) }
    for update in updates { list[update.newIndex] = update.new }
    for refresh in refreshes { list[refresh.newIndex] = refresh.record }
  }
}

extension QueryChanges {
  /// Works out the indices of `delta`.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when a record does not fit `Element`.
  /// - Complexity: O(k log n) for k touched rows of n.
  init(_ delta: QueryDelta, schema: ModelSchema) throws {
    func element(_ image: [SQLValue]) throws -> Element {
      do {
        return try Element(row: RowView(image: image), schema: schema)
      } catch let error as ColumnError {
        throw StoreError(error, reading: schema)
      }
    }
    let ranks = DeltaRanks(delta)
    let touches = delta.touches
    func key(_ place: Int, of record: Element?) throws -> Element.Key {
      do {
        return try Element._key(of: record, values: touches[place].key)
      } catch let error as ColumnError {
        throw StoreError(error, reading: schema)
      }
    }
    deletions = try ranks.deletions.map { place in
      let record = try touches[place].old?.image.map(element)
      return Deletion(
        index: ranks.old(at: place), key: try key(place, of: record), record: record,
        reason: Reason(touches[place].after), origin: touches[place].origin)
    }
    insertions = try ranks.insertions.map { place in
      let record = try element(touches[place].new?.image ?? [])
      return Insertion(
        index: ranks.new(at: place), key: try key(place, of: record), record: record,
        reason: Reason(touches[place].before), origin: touches[place].origin)
    }
    updates = try ranks.updates.map { place in
      let before = touches[place].old?.image ?? []
      let after = touches[place].new?.image ?? []
      let record = try element(after)
      return Update(
        oldIndex: ranks.old(at: place), newIndex: ranks.new(at: place),
        key: try key(place, of: record), old: try element(before), new: record,
        fields: touches[place].changedFields(from: before, to: after, of: schema),
        isRecreated: touches[place].isRecreated)
    }
    moves = try ranks.moves.compactMap { place in
      guard let image = touches[place].new?.image else { return nil }
      let record = try element(image)
      return Move(
        oldIndex: ranks.old(at: place), newIndex: ranks.new(at: place),
        key: try key(place, of: record), record: record)
    }
    refreshes = try ranks.refreshes.map { place in
      let record = try element(touches[place].new?.image ?? [])
      return Refresh(
        oldIndex: ranks.old(at: place), newIndex: ranks.new(at: place),
        key: try key(place, of: record), record: record)
    }
    oldVersion = delta.old.version
    newVersion = delta.new.version
    oldCount = delta.old.count
    newCount = delta.new.count
    old = ResultKeys(rows: delta.old)
    new = ResultKeys(rows: delta.new)
    isInitial = delta.isInitial
    isReset = delta.isReset
  }

  /// The keys of one version of a live query's result, in order.
  public struct ResultKeys: RandomAccessCollection, Sendable {
    let rows: LiveRows

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    /// The key of the record at `index`.
    ///
    /// - Complexity: O(log n).
    public subscript(index: Int) -> [SQLValue] {
      precondition(indices.contains(index), "Index \(index) is not in 0..<\(count).")
      return rows.entry(atRank: rows.shown.lowerBound + index).key
    }

    /// How many records precede the first of these in the whole result: a window's offset.
    public var precedingCount: Int { rows.precedingCount }

    /// How many records there are without the window; nil for a window that keeps its own rows
    /// only.
    public var totalCount: Int? { rows.totalCount }
  }
}

extension QueryChanges.Reason {
  /// - Parameter standing: Where the record stands in the version in which it is not shown.
  fileprivate init(_ standing: QueryDelta.Touch.Standing) {
    self =
      switch standing {
      case .absent: .record
      case .excluded: .filter
      case .admitted: .slid
      }
  }
}

// The form for a client that shows the rows. Former records, origins and the keys of whole results
// are left out: the client has no use for them.

/// An object with the members `oldVersion`, `newVersion`, `oldCount`, `newCount`, `isInitial`,
/// `isReset`, `deletions`, `insertions`, `moves`, `updates` and `refreshes`.
extension QueryChanges: Encodable where Element: Encodable, Element.Key: Encodable {
  private enum CodingKeys: String, CodingKey {
    case oldVersion, newVersion, oldCount, newCount, isInitial, isReset
    case deletions, insertions, moves, updates, refreshes
  }
}

/// `record`, `filter` or `slid`.
extension QueryChanges.Reason: Encodable {}

/// An object with the members `index`, `key` and `reason`.
extension QueryChanges.Deletion: Encodable where Element: Encodable, Element.Key: Encodable {
  private enum CodingKeys: String, CodingKey { case index, key, reason }
}

/// An object with the members `index`, `key`, `record` and `reason`.
extension QueryChanges.Insertion: Encodable where Element: Encodable, Element.Key: Encodable {
  private enum CodingKeys: String, CodingKey { case index, key, record, reason }
}

/// An object with the members `oldIndex`, `newIndex`, `key` and `record`.
extension QueryChanges.Move: Encodable where Element: Encodable, Element.Key: Encodable {}

/// An object with the members `oldIndex`, `newIndex`, `key` and `record`.
extension QueryChanges.Refresh: Encodable where Element: Encodable, Element.Key: Encodable {}

extension QueryChanges.Update: Encodable where Element: Encodable, Element.Key: Encodable {
  private enum CodingKeys: String, CodingKey { case oldIndex, newIndex, key, record, fields }

  /// Writes an object with the members `oldIndex`, `newIndex`, `key`, `record`, which is the new
  /// one, and `fields`, which are names.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(oldIndex, forKey: .oldIndex)
    try members.encode(newIndex, forKey: .newIndex)
    try members.encode(key, forKey: .key)
    try members.encode(new, forKey: .record)
    try members.encode(fields.map(\.name), forKey: .fields)
  }
}
