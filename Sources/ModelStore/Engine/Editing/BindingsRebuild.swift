/// The result of rebuilding the bindings.
package struct BindingsRebuild {
  /// The bindings with wrong records, and the number of updated records.
  package internal(set) var updated: [(binding: String, recordCount: Int)]
  /// The bindings that were skipped, each with the reason.
  package let unread: [(binding: String, error: StoreError)]
}
