/// An ordered list that each record of a model owns. It consists of references to records of
/// another model, with duplicates allowed.
///
/// The property only declares the list; it stores nothing in the record. The elements are in a
/// separate table, so a record stays small and an insertion writes one row. Read and change them in
/// a transaction, through ``WriteTransaction/list(_:of:)``.
public struct OrderedList<Element: Model>: Hashable, Sendable, Codable {
  public init() {}
}
