/// A list as it was at one version, kept for as long as this value is; later changes do not show
/// in it. It holds keys, not records.
public struct ListSnapshot<Key: ModelKey>: Sendable {
  private let rows: ListRows

  init(_ rows: ListRows) { self.rows = rows }

  /// The store's version that the list is of.
  public var version: UInt64 { rows.version }

  /// How many elements there are.
  public var count: Int { rows.tree.count }

  /// The key of the element at `index`.
  ///
  /// - Precondition: `index` is at least 0 and less than ``count``.
  /// - Throws: ``StoreError`` with code `invalidValue` when the stored key is not one of the
  ///   element's type.
  /// - Complexity: O(log n).
  public func key(at index: Int) throws -> Key {
    try Self.key(rows.tree[index].element)
  }

  /// The keys of all elements, in order.
  ///
  /// - Throws: As ``key(at:)``.
  /// - Complexity: O(n).
  public func keys() throws -> [Key] {
    try rows.tree.map { try Self.key($0.element) }
  }

  static func key(_ element: SQLValue) throws -> Key {
    do {
      return try Key(sqlValues: [element])
    } catch {
      throw StoreError(
        .invalidValue,
        "An element of a list has no key that could be a \(Key.self): \(error).")
    }
  }
}
