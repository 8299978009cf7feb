extension Store {
  /// How the application's tables, views, indexes and triggers differ from those of another file.
  ///
  /// Use it to test migrations: open a file of an earlier version and a fresh file with the same
  /// models and migrations, and expect no differences.
  ///
  /// ```swift
  /// #expect(try migrated.schemaDifferences(from: fresh) == [])
  /// ```
  ///
  /// The order of columns does not count, nor do records, and what the store itself keeps in a
  /// file.
  ///
  /// - Returns: One sentence for each difference; empty when the schemas are equal.
  /// - Throws: ``StoreError`` when a schema cannot be read.
  public func schemaDifferences(from other: Store) throws -> [String] {
    let own = try open.look { try SchemaContent(reading: $0) }
    let others = try other.open.look { try SchemaContent(reading: $0) }
    return own.differences(from: others)
  }
}
