/// A list as it was at one version. Later changes do not affect it. It holds keys, not records.
public struct ListSnapshot<Key: ModelKey>: Sendable {
  private let rows: ListRows

  init(_ rows: ListRows) { self.rows = rows }

  /// The store version of the snapshot.
  public var version: UInt64 { rows.version }

  /// The number of elements.
  public var count: Int { rows.tree.count }

  /// Returns the key of the element at `index`.
  ///
  /// - Precondition: `index` is at least 0 and less than ``count``.
  /// - Throws: ``StoreError`` with code `invalidValue` when the stored key is not of the element's
  ///   key type.
  /// - Complexity: O(log n).
  public func key(at index: Int) throws -> Key {
    try Self.key(rows.tree[index].element)
  }

  /// Returns the keys of all elements, in order.
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
        "The key of a list element cannot be converted to \(Key.self): \(error).")
    }
  }
}
