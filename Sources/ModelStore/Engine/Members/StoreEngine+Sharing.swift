// How a store becomes a member of a shared store, and how its writes reach the other members.
extension SharedLedger {
  /// Makes the file at `path` from the ledger's snapshot, if there is none and the ledger has the
  /// store.
  func join(at path: String, _ configuration: StoreConfiguration) throws {
    guard configuration.access != .readOnly else { return }
    do {
      try Rebuilding(shared: self, path: Self.realPath(path), configuration: configuration)
        .removeLeftName()
      guard configuration.access == .readWriteCreate else { return }
      try Joining(shared: self, path: path, policy: configuration.connectionPolicy).run()
    } catch {
      throw Membership.storeError(error)
    }
  }
}

extension SharedLedger {
  /// Replaces the file at `path`, which is closed, by a new member.
  ///
  /// - Returns: What was done; nil if the ledger has everything that the file had, or if another
  ///   process has replaced it.
  /// - Throws: ``StoreError`` with code `busy` or `misuse` if the file is in use,
  ///   `ledgerUnavailable`. It is unchanged then.
  func rebuild(
    _ path: String, _ configuration: StoreConfiguration, because unfit: UnfitMember
  ) throws -> StoreError? {
    do {
      return try Rebuilding(
        shared: self, path: Self.realPath(path), configuration: configuration
      ).run(because: unfit)
    } catch let error as StoreError where [.busy, .misuse].contains(error.code) {
      throw StoreError(
        error.code,
        "\(path) no longer fits the shared store \(name), and another program or store uses it. Close it, and open the store again. Nothing was changed. The reason was: \(unfit.reason.message)"
      )
    } catch {
      throw Membership.storeError(error)
    }
  }
}

extension Membership {
  /// - Returns: nil if the store is not shared, or only read. A program that reads sees what others
  ///   have applied.
  /// - Throws: ``StoreError`` with code `configurationConflict` for a file without a write-ahead
  ///   log. Its readers would lock out the commits of other members.
  convenience init?(
    of file: DatabaseFile, _ configuration: StoreConfiguration, with connections: Connections
  ) throws {
    guard let ledger = configuration.ledger, configuration.access != .readOnly else { return nil }
    guard !file.isInMemory else {
      throw StoreError(
        .configurationConflict,
        "A store in memory cannot be a member of a shared store. Open it at a path.")
    }
    guard connections.usesWriteAheadLog else {
      throw StoreError(
        .configurationConflict,
        "\(file.path) has a rollback journal, and a member of a shared store needs a write-ahead log. Open it with journalMode: .writeAheadLog."
      )
    }
    try self.init(
      ledger, path: file.path, policy: configuration.connectionPolicy,
      patience: configuration.busyTimeout)
  }
}

extension StoreEngine {
  /// Puts declarations into effect. The first opening of a shared store also founds it.
  ///
  /// - Throws: ``UnfitMember`` if a member's file is to be replaced first, ``OutdatedSharedSchema``
  ///   if the schema of the shared store lacks declarations.
  func declare(
    _ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges
  ) throws {
    func reconcile() throws {
      let isInOrder = try catalog.declare(declarations, allowing: changes)
      if !isInOrder { catalog.reportAdoptedDrift() }
    }
    func reconcileMember() throws {
      do {
        try reconcile()
      } catch let error as StoreError
        where [.schemaMismatch, .readOnly].contains(error.code) && declarations.policy == .install
      {
        throw OutdatedSharedSchema(reason: error)
      }
    }
    guard let membership else { return try reconcile() }
    guard !membership.isActive else { return try reconcileMember() }
    let founding = Founding(
      engine: self, membership: membership, unfitMember: declarations.unfitMember)
    switch try founding.part() {
    case .member:
      if declarations.unfitMember == .replace { try checkFits(membership) }
      try activate(membership)
      try reconcileMember()
    case .founder:
      try reconcile()
      try founding.found()
      try activate(membership)
    }
  }

  /// Checks whether the schema has changed, and the rest if the program asks for it.
  ///
  /// - Throws: ``UnfitMember`` if the file is to be replaced.
  private func checkFits(_ membership: Membership) throws {
    let rebuildsMembers = configuration.ledger?.rebuildsMembers == true
    do {
      try rebuildsMembers ? membership.checkFits() : membership.checkSchema()
    } catch let changed as SchemaChanged {
      throw UnfitMember(changed)
    } catch {
      // Without the program's word the file stays, and can be read. Following reports the reason.
      guard rebuildsMembers else { return }
      guard let error = error as? StoreError else { throw Membership.storeError(error) }
      switch error.code {
      case .memberDiverged, .memberOutdated, .unsupportedSchema:
        let member = try membership.applying { try $0.standing().member }
        throw UnfitMember(reason: error, member: member, coverage: .unknown)
      // The file may have the only copy of these commits, so it stays. Following reports them.
      case .ledgerLostCommits: return
      default: throw error
      }
    }
  }

  private func activate(_ membership: Membership) throws {
    membership.activate(
      didApply: { [weak self] pageCount in
        guard let self, pageCount >= configuration.checkpointFrameCount else { return }
        do {
          try turns.take { writer in self.maintenance.checkpoint(&writer) }
        } catch {
          reports.send(StoreError(reporting: error))
        }
      },
      copying: { [weak self, snapshots = membership.snapshots] in
        try self.map { try MemberCopying(engine: $0).copy(for: snapshots) }
      },
      report: { [weak self] error in self?.reports.send(error) })
  }
}

extension StoreEngine {
  /// The file's part in a shared store, which the ledger is asked about; nil if it has none.
  func memberHealth() throws -> MemberHealth? {
    let path = file.path
    return try look { try MemberCheck(reading: $0, of: path) }?.health(with: configuration.ledger)
  }

  /// Whether the file that `connection` reads is a member of a shared store. Its own schema is then
  /// never changed: the change is made on a copy, of which all members begin again.
  func sharesSchema(_ connection: Connection) throws -> Bool {
    try MemberRecord(reading: connection) != nil
  }

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the file is a member of a shared
  ///   store: its tables, triggers and row numbers are those of all members.
  func checkHasOwnSchema() throws {
    guard let record = try look({ try MemberRecord(reading: $0) }) else { return }
    throw StoreError(
      .unsupportedSchema,
      "\(file.path) is a member of the shared store \(record.store), whose members have one schema. Nothing was changed. A program that declares another schema changes it when it opens, and so do commands of storecli that change schemas."
    )
  }
}

extension Membership? {
  /// Waits for the turn of a write on `writer`, if its file is a member of a shared store. Nothing
  /// is asked for while the writer cannot be used.
  ///
  /// - Throws: ``StoreError``, as ``Membership/beginTurn()`` or the check of the writer.
  func beginTurn(of writer: Writer) throws -> MemberTurn? {
    guard let self else { return nil }
    try writer.checkReady()
    return try self.beginTurn()
  }
}

extension MemberTurn {
  /// Checks what would keep the write from a shared store, or refuse its COMMIT.
  func check(_ write: OpenWrite) throws {
    guard !write.schemaChanged else {
      throw StoreError(
        .unsupportedSchema,
        "A transaction cannot change the schema of a shared store. Nothing was changed.")
    }
    // Only `execute` can run a PRAGMA that sets them.
    if write.access.notes.ranRawSQL { try checkHeaderNumbers(on: write.access.connection) }
    guard write.access.connection.hasUnresolvedReferences else { return }
    throw try OpenWrite.brokenReferences(in: write.access)
  }

  /// Puts an own write, or the last of the writes that share its COMMIT, into the ledger.
  func append(_ write: OpenWrite) throws {
    try append(write.access.notes.transactionID, on: write.access.connection)
  }
}

extension MemberTurn? {
  /// The error for a transaction that ended with `error`.
  func failure(_ error: any Error) -> any Error { self?.failure(error) ?? error }
}
