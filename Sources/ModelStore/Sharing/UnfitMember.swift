/// Why a member's file is to be replaced.
struct UnfitMember: Error {
  let reason: StoreError
  /// The member whose file it is; nil if it is no member's. Another process may have replaced the
  /// file since.
  let member: MemberID?
  let coverage: Coverage

  /// When the ledger has everything that the file has, so that nothing is kept of it.
  enum Coverage: Hashable {
    /// The file may have more in any case.
    case unknown
    /// If the schema has this digest: no other program has changed it.
    case schema(digest: [UInt8])
    /// If nothing was ever written to the file.
    case unused
  }
}

extension UnfitMember {
  init(_ changed: SchemaChanged) {
    self.init(
      reason: .schemaChanged(changed.number), member: changed.member,
      coverage: .schema(digest: changed.before))
  }
}
