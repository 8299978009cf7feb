public import ModelStore

/// A field or a record before and after a commit, as a test expects it.
///
/// ```swift
/// RecordedChange(new: book)                                     // book was inserted
/// RecordedChange(old: "Gifts", new: "Voices")                   // a title was changed
/// RecordedChange(old: 1, new: 2, origin: .binding("Author.bookCount"))
/// ```
public struct RecordedChange<Value> {
  /// The value before; nil when the record did not exist.
  public var old: Value?
  /// The value after; nil when the record does not exist.
  public var new: Value?
  /// What changed it: a statement of a transaction, a binding, a trigger or a cascade.
  public var origin: Origin
  /// Whether the store could not follow the change, as after a change of the schema. Then `old` is
  /// nil.
  public var isReset: Bool

  /// Creates a change that a test expects.
  public init(
    old: Value? = nil, new: Value? = nil, origin: Origin = .user, isReset: Bool = false
  ) {
    self.old = old
    self.new = new
    self.origin = origin
    self.isReset = isReset
  }
}

extension RecordedChange: Sendable where Value: Sendable {}
extension RecordedChange: Equatable where Value: Equatable {}
extension RecordedChange: Hashable where Value: Hashable {}

/// What a commit did to one row of a live query's result, as a test expects it.
public enum RecordedRow<Element> {
  /// The row at an index of the result before is gone.
  case deleted(at: Int)
  /// The record is new, at an index of the result after.
  case inserted(Element, at: Int)
  /// The record has another place, and may have changed.
  case moved(Element, from: Int, to: Int)
  /// The record, at an index of the result after, has other values.
  case updated(Element, at: Int)
  /// The store has read the whole result again, and does not know what the records were before.
  case resync
  /// Only after a resync: the record stayed, at an index of the result after, and may have other
  /// values.
  case refreshed(Element, at: Int)
}

extension RecordedRow: Sendable where Element: Sendable {}
extension RecordedRow: Equatable where Element: Equatable {}
extension RecordedRow: Hashable where Element: Hashable {}

extension RecordedRow where Element: Fetchable {
  /// The rows of one event: deletions, insertions, moves, updates and refreshed rows,
  /// each in the order of places.
  static func rows(of changes: QueryChanges<Element>) -> [RecordedRow] {
    let moved = Set(changes.moves.map(\.newIndex))
    return (changes.isReset ? [.resync] : [])
      + changes.deletions.map { .deleted(at: $0.index) }
      + changes.insertions.map { .inserted($0.record, at: $0.index) }
      + changes.moves.map { .moved($0.record, from: $0.oldIndex, to: $0.newIndex) }
      + changes.updates.filter { !moved.contains($0.newIndex) }
      .map { .updated($0.new, at: $0.newIndex) }
      + changes.refreshes.map { .refreshed($0.record, at: $0.newIndex) }
  }
}
