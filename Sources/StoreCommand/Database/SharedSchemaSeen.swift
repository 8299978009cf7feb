import ModelStore

/// What a command has seen of the schema of a shared store before it writes. Another member may
/// change it meanwhile.
final class SharedSchemaSeen {
  /// nil if the command has not looked, or if the file was not a member.
  var number: Int64?

  /// - Throws: ``CommandError`` if `store` has another schema than the command has seen. The store
  ///   is closed then.
  func checkIsSame(in store: Store) throws {
    guard let number, try store.sharedSchemaNumber() != number else { return }
    store.close()
    throw CommandError(
      .failed, code: StoreError.Code.memberOutdated.rawValue,
      "Another member has changed the schema of the shared store meanwhile. Nothing else was changed. Try again."
    )
  }
}
