/// Thrown while a store opens a member's file that it should replace.
struct UnfitMember: Error {
  let reason: StoreError
  /// The digest of the schema with which the ledger has everything that the file has; nil if the
  /// file may have more with every schema.
  let schema: [UInt8]?
}

extension UnfitMember {
  init(_ changed: SchemaChanged) {
    self.init(reason: .schemaChanged(changed.number), schema: changed.before)
  }
}
