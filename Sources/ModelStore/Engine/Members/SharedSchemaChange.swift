/// Changes the schema of a shared store.
///
/// The change is made on a copy of a member's file, which is an ordinary store meanwhile. Then the
/// ledger gets one commit with the new schema and with the copy as its snapshot, and every member
/// begins again from that, this one first. The turn lasts for the whole change, so no member can
/// write meanwhile. Until the ledger has the commit, nothing is changed anywhere.
struct SharedSchemaChange {
  let shared: SharedLedger
  /// The member's file, which no store has open.
  let path: String
  let configuration: StoreConfiguration
  /// Receives what opening the copy reports.
  let report: @Sendable (StoreError) -> Void

  private var rebuilding: Rebuilding {
    Rebuilding(shared: shared, path: path, configuration: configuration)
  }

  /// - Parameters:
  ///   - seen: The number of the schema for which the change was decided; nil if it suits any.
  ///   - change: Changes the copy through a store of its own, which it closes. It receives the
  ///     copy's path.
  /// - Returns: What `change` returns, after the file was replaced.
  /// - Throws: What `change` throws. ``StoreError`` with code `busy` if another program uses the
  ///   file, `memberBehind` if it began to meanwhile: then the shared store has the new schema.
  ///   `memberOutdated` if the file has another schema than `seen`.
  ///   ``SchemaChanged`` if another member changed the schema before. ``LedgerError``.
  func run<Result>(
    seen: Int64?, _ change: (_ copy: String) throws -> Result
  ) throws -> Result {
    try waitUntilUnused()
    let membership = try Membership(
      shared, path: path, policy: configuration.connectionPolicy,
      patience: configuration.busyTimeout)
    defer { membership.end() }
    let (turn, member) = try membership.takeTurn()
    // Another process of this file may have changed the schema, and replaced the file.
    guard seen.map({ $0 == member.epoch }) ?? true else {
      turn.pass()
      throw StoreError.schemaChangedMeanwhile(path, shared.name)
    }
    let before = turn.head.schema
    let commit: LedgerCommit
    let result: Result
    do {
      try turn.extend()
      let copy = try plainCopy(of: membership, turn.head)
      let changed: (commit: SchemaCommit, schema: LedgerSchema)
      (result, changed) = try naming(copy) {
        (try change(copy.path), try self.changed(copy, after: member, with: before))
      }
      commit = changed.commit.ledgerCommit
      try append(commit, changed.schema, to: turn, of: membership)
    } catch let ended as TurnEnded {
      throw ended.reason
    } catch {
      turn.pass()
      throw error
    }
    membership.end()
    do {
      let unfit = UnfitMember(
        reason: .schemaChanged(commit.number), member: member.member,
        coverage: .schema(digest: before))
      if let notice = try rebuilding.run(because: unfit) { report(notice) }
    } catch {
      let reason = StoreError(reporting: Membership.storeError(error))
      let remedy =
        [.busy, .misuse].contains(reason.code)
        ? "Close other programs that use it, and open it again." : "Open it again."
      var failure = StoreError(
        .memberBehind,
        "The shared store has the new schema, but this file could not be replaced (\(reason.message)). \(remedy)"
      )
      failure.transaction = commit.transaction
      throw failure
    }
    return result
  }

  private func waitUntilUnused() throws {
    do {
      try rebuilding.waitUntilUnused()
    } catch let error as StoreError where [.busy, .misuse].contains(error.code) {
      throw StoreError(
        error.code,
        "The schema of the shared store \(shared.name) cannot change while another program or store uses \(path). Close it, and try again. Nothing was changed."
      )
    }
  }

  /// Thrown after the ledger has ended the turn.
  private struct TurnEnded: Error {
    let reason: any Error
  }

  /// Copies the member's file, and removes what makes it one.
  private func plainCopy(of membership: Membership, _ head: LedgerStanding) throws -> PartialFile {
    let target = try CopyTarget(
      path + "-schema", existing: .keep, isOpen: StoreEngines.isOpen,
      storePaths: StoreEngines.openPaths)
    let file = try PartialFile(for: target)
    var policy = configuration.connectionPolicy
    policy.fileSystem = nil
    let copy = try Connection(path: file.path, role: .copy, policy: policy)
    try membership.applying { applier in
      let source = applier.connection
      try source.inOneState {
        try membership.check(try membership.schema(on: source), against: head)
        try PageCopy(source: source, target: copy).run { _, _ in }
      }
    }
    _ = try copy.firstRow("PRAGMA journal_mode = DELETE") { try $0.text(at: 0) }
    try FiledCatalog.forget(on: copy)
    try copy.inTransaction { _ = try MemberMark.remove(on: copy) }
    return file
  }

  /// Makes the changed copy a member's file again.
  private func changed(
    _ copy: PartialFile, after member: MemberRecord, with before: [UInt8]
  ) throws -> (commit: SchemaCommit, schema: LedgerSchema) {
    let lease = try StoreEngines.lease(
      at: copy.path, configuration: ownConfiguration, report: report)
    defer { lease.end(.waiting) }
    let engine = lease.engine
    try engine.declare(Declarations(migrations: nil), allowing: .none)
    var commit: SchemaCommit?
    try engine.turns.take { writer in
      _ = try MemberMark(engine: engine).add(&writer) { schema in
        let change = SchemaCommit(
          number: member.number.next, previous: member.hash, transaction: .make(first: nil),
          epoch: member.epoch + 1, before: before, schema: schema)
        commit = change
        return MemberRecord(
          store: member.store, member: member.member, number: change.number,
          hash: change.ledgerCommit.hash, epoch: change.epoch)
      }
    }
    guard let commit else { preconditionFailure("The copy was a member before.") }
    // Beside the member's file, where the next copy removes it if the process is killed.
    let snapshot = try MemberCopying(engine: engine).copy(for: nil, beside: path)
    return (
      commit,
      LedgerSchema(epoch: commit.epoch, digest: snapshot.schema, snapshot: snapshot.source)
    )
  }

  /// Runs `body`. Its errors name the member's file instead of the copy.
  private func naming<Result>(_ copy: PartialFile, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch var error as StoreError {
      error.message = error.message.replacing(copy.path, with: path)
      throw error
    }
  }

  private func append(
    _ commit: LedgerCommit, _ schema: LedgerSchema, to turn: any LedgerTurn,
    of membership: Membership
  ) throws {
    do {
      try turn.append(commit, changingTo: schema)
    } catch LedgerError.outcomeUnknown {
      do {
        if try membership.hasCommitted(commit) { return }
      } catch {
        throw TurnEnded(reason: StoreError.unknownSchemaChange(commit.transaction))
      }
      throw TurnEnded(
        reason: LedgerError.unreachable("The connection broke before the ledger had the change."))
    } catch {
      throw TurnEnded(reason: error)
    }
  }

  /// The configuration of the copy, which has no ledger.
  var ownConfiguration: StoreConfiguration {
    var own = configuration
    own.ledger = nil
    own.access = .readWrite
    // The copy has a rollback journal, so that it is one file.
    own.journalMode = .asFound
    return own
  }
}

/// Thrown while a store opens a member's file that lacks what its program declares.
struct OutdatedSharedSchema: Error {
  /// What the store throws if the schema cannot be changed.
  let reason: StoreError
}
