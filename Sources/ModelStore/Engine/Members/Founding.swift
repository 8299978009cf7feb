/// Brings a store's file and its ledger together when the store opens.
struct Founding {
  let engine: StoreEngine
  let membership: Membership
  /// Whether a file without content may be replaced if another member founded the store.
  var unfitMember = Declarations.UnfitMemberPolicy.keep

  /// What the file is to the ledger before anything is declared.
  enum Part: Hashable {
    /// The file is a member already.
    case member
    /// The ledger has no such store, so the file founds it after its declarations.
    case founder
  }

  /// Compares the file with the ledger.
  ///
  /// - Throws: ``StoreError`` with code `configurationConflict` if the file is a member of another
  ///   store, or if it has content of its own although the ledger has the store. ``UnfitMember`` if
  ///   the file is empty and may be replaced.
  func part() throws -> Part {
    let record = try engine.look { connection in try MemberRecord(reading: connection) }
    if let record {
      guard record.store == membership.name else {
        throw StoreError(
          .configurationConflict,
          "\(engine.file.path) is a member of the shared store \(record.store), so it cannot be one of \(membership.name). Open it with that name, or choose another path."
        )
      }
      // A founder that ended before the ledger had its snapshot goes on.
      guard record.number == .founding else { return .member }
      guard try standing() != nil else { return .founder }
      try checkFounded(by: record)
      return .member
    }
    guard try standing() == nil else {
      try replaceIfEmpty(
        StoreError(
          .configurationConflict,
          "The ledger has a shared store \(membership.name) already, and \(engine.file.path) is not a member of it. Choose a path without a file: the store then begins from the ledger's snapshot."
        ))
    }
    return .founder
  }

  private func standing() throws -> LedgerStanding? {
    do {
      return try membership.ledger.standing()
    } catch {
      throw Membership.storeError(error)
    }
  }

  /// Makes the file the first member of the store.
  func found() throws {
    do {
      try engine.turns.take { writer in
        let record = try MemberMark(engine: engine).add(&writer) { _ in
          MemberRecord(
            store: membership.name, member: .make(), number: .founding,
            hash: CommitHash(bytes: (0..<SHA256.byteCount).map { _ in .random(in: 0 ... .max) }),
            epoch: 1)
        }
        let copy = try MemberCopying(engine: engine).copy(for: nil)
        let isFirst = try membership.ledger.found(
          LedgerStanding(
            number: .founding, hash: record.hash, epoch: record.epoch, schema: copy.schema,
            durability: .local),
          snapshot: copy.source)
        if !isFirst { try checkFounded(by: record) }
      }
    } catch {
      throw Membership.storeError(error)
    }
  }

  /// Checks that the ledger's store began from this file, or from a snapshot of it.
  private func checkFounded(by record: MemberRecord) throws {
    let hash: CommitHash?
    do {
      hash = try membership.ledger.confirm(.founding).hash
    } catch {
      throw Membership.storeError(error)
    }
    // A ledger does not keep its oldest commits for ever.
    guard let hash, hash != record.hash else { return }
    try replaceIfEmpty(
      StoreError(
        .configurationConflict,
        "Another member founded the shared store \(membership.name) at the same time. Move \(engine.file.path) away and open the store again: it begins from that member's snapshot."
      ))
  }

  /// New members that open at the same time all begin with an empty file, and one of them founds
  /// the store. Nothing is lost when the others begin again.
  ///
  /// - Throws: ``UnfitMember`` if the file has no content and may be replaced, else `reason`.
  private func replaceIfEmpty(_ reason: StoreError) throws -> Never {
    guard unfitMember == .replace else { throw reason }
    throw try engine.look { connection in
      guard try MemberRecord.isUnused(connection) else { return reason }
      return UnfitMember(
        reason: reason, member: try MemberRecord(reading: connection)?.member, coverage: .unused)
    }
  }
}
