/// A list that each record of a model owns: references to records of another model in an order of
/// their own, duplicates allowed.
///
/// The property says that there is such a list; it holds nothing. The elements stand in a table of
/// their own, so that a record stays small and an insertion writes one row. Read and change them in
/// a transaction, through ``WriteTransaction/list(_:of:)``.
public struct OrderedList<Element: Model>: Hashable, Sendable, Codable {
  public init() {}
}
