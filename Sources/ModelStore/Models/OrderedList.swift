/// A list that each record of a model owns: references to records of another model in an order of
/// their own, duplicates allowed.
///
/// The property says that there is such a list; it holds nothing. The elements stand in a table of
/// their own, so that a record stays small and an insertion writes one row. Read and change them in
/// a transaction, through ``Transaction/list(_:of:)``.
public struct OrderedList<Element: Model>: Hashable, Sendable {
  public init() {}
}

/// What a list holds: the records of a ``Model``, or dynamic ``Record`` values. A list knows its
/// elements by their keys.
public protocol ListElement: Sendable {
  associatedtype Key: ModelKey
}

extension Record: ListElement {
  /// The value of a key of one field.
  public typealias Key = SQLValue
}

extension SQLValue: ModelKey {}
