/// Why a member's file is to be replaced.
struct UnfitMember: Error {
  let reason: StoreError
  /// The member whose file it is; nil if it is no member's. Another process may have replaced the
  /// file since.
  let member: MemberID?
  /// The digest of the schema with which the ledger has everything that the file has; nil if the
  /// file may have more with every schema.
  let schema: [UInt8]?
}

extension UnfitMember {
  init(_ changed: SchemaChanged) {
    self.init(
      reason: .schemaChanged(changed.number), member: changed.member, schema: changed.before)
  }
}
