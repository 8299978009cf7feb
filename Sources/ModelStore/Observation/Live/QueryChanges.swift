/// The changes that one commit made to a live query's result, with exact indices.
///
/// Deletions and all `oldIndex` are positions in the result before. Insertions and all `newIndex`
/// are positions in the result after. So you need no index arithmetic: ``apply(to:)`` updates an
/// array. It removes deleted and moved rows, then inserts new and moved rows in ascending order.
///
/// A row is in at most one of deletions, insertions and moves. `updates` lists the rows of both
/// results that differ in some field, including moved ones.
///
/// If the records are `Encodable`, so is the event. You can send it to a client.
public struct QueryChanges<Element: Fetchable>: Sendable {
  /// Why a row entered or left the result.
  public enum Reason: String, Hashable, Sendable {
    /// The record was inserted or deleted. Also for each row of an initial event.
    case record
    /// The record exists before and after; a field that the filter reads changed.
    case filter
    /// The record satisfies the condition before and after, but crossed the edge of a window. Other
    /// rows came or went before it, or the window moved.
    case slid
  }

  /// A row of the old result that is not in the new one.
  public struct Deletion: Sendable {
    /// Its index in the old result.
    public let index: Int
    /// The record's key.
    public let key: Element.Key
    /// The old record; nil after a reset, when it is unknown.
    public let record: Element?
    /// Why it left.
    public let reason: Reason
    /// The origin of the change that removed it.
    public let origin: Origin
  }

  /// A row of the new result that was not in the old one.
  public struct Insertion: Sendable {
    /// Its index in the new result.
    public let index: Int
    /// The record's key.
    public let key: Element.Key
    /// The new record.
    public let record: Element
    /// Why it entered.
    public let reason: Reason
    /// The origin of the change that added it.
    public let origin: Origin
  }

  /// A row of both results that moved. A row that only shifted because others came or went is not a
  /// move.
  public struct Move: Sendable {
    /// Its index in the old result.
    public let oldIndex: Int
    /// Its index in the new result.
    public let newIndex: Int
    /// The record's key.
    public let key: Element.Key
    /// The new record.
    public let record: Element
  }

  /// A row of both results with different field values, moved or not.
  public struct Update: Sendable {
    /// Its index in the old result.
    public let oldIndex: Int
    /// Its index in the new result.
    public let newIndex: Int
    /// Shared with the events of other queries that contain the row.
    let records: RecordPair<Element>
    /// The record's key.
    public var key: Element.Key { records.key }
    /// The old record.
    public var old: Element { records.old }
    /// The new record.
    public var new: Element { records.new }
    /// The fields that differ, in field order.
    public var fields: [ChangedField] { records.fields }
    /// Whether the record was deleted and inserted again in between.
    public var isRecreated: Bool { records.isRecreated }
  }

  /// A row of both results whose old record is unknown, after a reset. Its fields may differ or
  /// not.
  public struct Refresh: Sendable {
    /// Its index in the old result.
    public let oldIndex: Int
    /// Its index in the new result.
    public let newIndex: Int
    /// The record's key.
    public let key: Element.Key
    /// The new record.
    public let record: Element
  }

  /// The commit of the old result.
  public let oldVersion: UInt64
  /// The commit of the new result.
  public let newVersion: UInt64
  /// The number of rows in the old result, within its window.
  public let oldCount: Int
  /// The number of rows in the new result, within its window.
  public let newCount: Int
  /// Both results, for ``old`` and ``new``.
  let versions: QueryDelta.Versions
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
  /// Whether this is the first event of a subscription with ``ObservationOptions/initial``. Every
  /// row is then an insertion.
  public let isInitial: Bool
  /// Whether old records are unknown. ``refreshes`` then lists the rows that stay and may differ,
  /// and deletions have no record.
  ///
  /// A reset happens when another connection wrote, when the schema changed, and when more changes
  /// waited than can be coalesced. You handle it like any other event: ``apply(to:)``,
  /// ``batch(moves:)`` and ``sequentialEdits`` include the refreshed rows.
  public let isReset: Bool

  /// The keys of the old result, in order. It is a snapshot.
  public var old: ResultKeys { ResultKeys(rows: versions.old) }
  /// The keys of the new result, in order. It is a snapshot.
  public var new: ResultKeys { ResultKeys(rows: versions.new) }

  /// Applies the changes to the old result, which gives the new one, also after a reset.
  ///
  /// - Parameter list: The records of the old result, in order. Afterwards, those of the new
  ///   result.
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
  /// The keys of one version of a live query's result, in order.
  public struct ResultKeys: RandomAccessCollection, Sendable {
    let rows: LiveRows

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    /// Returns the key of the record at `index`.
    ///
    /// - Complexity: O(log n).
    public subscript(index: Int) -> [SQLValue] {
      precondition(indices.contains(index), "Index \(index) is not in 0..<\(count).")
      return rows.entry(atRank: rows.shown.lowerBound + index).key
    }

    /// The number of records before these in the whole result: a window's offset.
    public var precedingCount: Int { rows.precedingCount }

    /// The number of records without the window; nil for a window that keeps only its own rows.
    public var totalCount: Int? { rows.totalCount }
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
