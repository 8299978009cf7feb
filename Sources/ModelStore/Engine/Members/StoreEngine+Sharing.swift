// How a store becomes a member of a shared store, and how its writes reach the other members.
extension SharedLedger {
  /// Makes the file at `path` from the ledger's snapshot, if there is none and the ledger has the
  /// store.
  func join(at path: String, _ configuration: StoreConfiguration) throws {
    guard configuration.access == .readWriteCreate else { return }
    do {
      try Joining(shared: self, path: path, policy: configuration.connectionPolicy).run()
    } catch {
      throw Membership.storeError(error)
    }
  }
}

extension Membership {
  /// - Returns: nil if the store is not shared, or only read. A program that reads sees what others
  ///   have applied.
  convenience init?(of file: DatabaseFile, _ configuration: StoreConfiguration) throws {
    guard let ledger = configuration.ledger, configuration.access != .readOnly else { return nil }
    guard !file.isInMemory else {
      throw StoreError(
        .configurationConflict,
        "A store in memory cannot be a member of a shared store. Open it at a path.")
    }
    try self.init(
      ledger, path: file.path, policy: configuration.connectionPolicy,
      patience: configuration.busyTimeout)
  }
}

extension StoreEngine {
  /// Puts declarations into effect. The first opening of a shared store also founds it; later ones
  /// do not change its schema.
  func declare(
    _ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges
  ) throws {
    guard let membership, !membership.isActive else { return try reconcile(declarations, changes) }
    let founding = Founding(engine: self, membership: membership)
    switch try founding.part() {
    case .member:
      try activate(membership)
      try reconcile(declarations, changes)
    case .founder:
      try reconcile(declarations, changes)
      try founding.found()
      try activate(membership)
    }
  }

  private func reconcile(
    _ declarations: Declarations, _ changes: StoreConfiguration.SchemaChanges
  ) throws {
    var declarations = declarations
    if membership?.isActive == true { declarations.policy = .refuse }
    let isInOrder = try catalog.declare(declarations, allowing: changes)
    if !isInOrder { catalog.reportAdoptedDrift() }
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
      report: { [weak self] error in self?.reports.send(error) })
  }
}

extension StoreEngine {
  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the file is a member of a shared
  ///   store: its tables, triggers and row numbers are those of all members.
  func checkHasOwnSchema() throws {
    guard let record = try look({ try MemberRecord(reading: $0) }) else { return }
    throw StoreError(
      .unsupportedSchema,
      "\(file.path) is a member of the shared store \(record.store), whose members have one schema. Nothing was changed."
    )
  }
}

extension MemberTurn {
  /// Puts an own write, or the last of the writes that share its COMMIT, into the ledger.
  ///
  /// What could refuse the COMMIT is checked first.
  func append(_ write: OpenWrite) throws {
    let access = write.access
    if access.connection.hasUnresolvedReferences {
      throw try OpenWrite.brokenReferences(in: access)
    }
    try append(
      access.notes.transactionID, on: access.connection, schemaChanged: write.schemaChanged)
  }
}

extension MemberTurn? {
  /// The error for a transaction that ended with `error`.
  func failure(_ error: any Error) -> any Error { self?.failure(error) ?? error }
}
