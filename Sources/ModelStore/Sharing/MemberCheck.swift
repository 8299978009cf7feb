/// Compares a member with its ledger, without changing either.
struct MemberCheck {
  let path: String
  let record: MemberRecord
  /// The digest of the file's schema.
  let schema: [UInt8]

  /// Reads what the file says about itself.
  ///
  /// - Returns: nil if the file is not a member of a shared store.
  init?(reading connection: Connection, of path: String) throws {
    guard let record = try MemberRecord(reading: connection) else { return nil }
    self.path = path
    self.record = record
    schema = try SharedSchema(reading: connection).digest
  }

  /// - Throws: ``StoreError`` with the code that the next write will throw, if the file does not
  ///   fit the ledger. ``LedgerError``.
  func check(against head: LedgerStanding, in ledger: any CommitLedger) throws {
    guard head.epoch == record.epoch else { throw StoreError.otherEpoch(path, record.store) }
    guard head.schema == schema else { throw StoreError.otherSchema(path, record.store) }
    let hash = try ledger.hash(of: record.number)
    if let hash, hash != record.hash { throw StoreError.lostCommits(path, record.store) }
    guard head.number > record.number else {
      if hash == nil { throw StoreError.lostCommits(path, record.store) }
      return
    }
    let next = try ledger.commits(after: record.number, limit: 1).first
    guard let next, next.number != record.number.next else { return }
    throw StoreError.outdated(record.number, oldest: next.number)
  }
}
