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
  func check(in ledger: any CommitLedger) throws {
    try record.checkIsKept(by: ledger, path)
    guard let head = try ledger.standing() else { return }
    guard head.epoch == record.epoch else { throw StoreError.otherEpoch(path, record.store) }
    guard head.schema == schema else { throw StoreError.otherSchema(path, record.store) }
    let next = try ledger.commits(after: record.number, limit: 1).first
    guard let next, next.number != record.number.next else { return }
    throw StoreError.outdated(record.number, oldest: next.number)
  }
}

extension MemberRecord {
  /// Checks that the ledger has the commit that the file had when this record was read.
  ///
  /// - Throws: ``StoreError`` with code `ledgerLostCommits` if the primary confirms that the ledger
  ///   lacks it. ``LedgerError``.
  func checkIsKept(by ledger: any CommitLedger, _ path: String) throws {
    guard try ledger.hash(of: number) != hash else { return }
    // A server that was replaced may have said so, while another process with this file, or a turn
    // of this one, applied commits of the new one.
    let confirmed = try ledger.confirm(number)
    guard confirmed.hash != hash else { return }
    // A ledger does not keep its oldest commits for ever.
    if confirmed.hash == nil, let head = confirmed.head, head.number > number { return }
    throw StoreError.lostCommits(path, store)
  }
}
