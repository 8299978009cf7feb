/// What a rebuild of the bindings did, and what it left out.
package struct BindingsRebuild {
  /// The bindings of which records were wrong and how many.
  package internal(set) var mended: [(binding: String, recordCount: Int)]
  /// The bindings that were left out, each with the reason.
  package let unread: [(binding: String, error: StoreError)]
}
