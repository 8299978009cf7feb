// Comparing the contents of stores.
extension Store {
  /// Returns the content hash of the store's records, from one state; see
  /// ``TransactionReads/contentHash()``.
  ///
  /// ```swift
  /// guard try original.contentHash() == copy.contentHash() else { … }
  /// ```
  public func contentHash() throws -> ContentHash {
    try read { reads in try reads.contentHash() }
  }

  /// Returns the content hash of all records of a model; see
  /// ``TransactionReads/contentHash(of:)-(M.Type)``.
  public func contentHash<M: Model>(of model: M.Type) throws -> ContentHash {
    try read { reads in try reads.contentHash(of: model) }
  }

  /// Returns the content hash of the records that `query` selects; see
  /// ``TransactionReads/contentHash(of:)-(StoreQuery<Element>)``.
  public func contentHash<Element>(of query: StoreQuery<Element>) throws -> ContentHash {
    try read { reads in try reads.contentHash(of: query) }
  }
}
