// Moving a store into a ledger and back, for the command line.
extension Store {
  /// The name of the shared store whose member the file is; nil if it is not a member.
  package func sharedStoreName() throws -> String? {
    try open.look { try MemberRecord(reading: $0)?.store }
  }

  /// How often the schema of the shared store had changed when this file began; nil if it is not a
  /// member.
  package func sharedSchemaNumber() throws -> Int64? {
    try open.look { try MemberRecord(reading: $0)?.epoch }
  }

  /// Gets what other members have committed, as ``refresh()`` does.
  ///
  /// - Throws: ``StoreError`` with code `misuse` if the file is a member and the store has no
  ///   ledger. As ``refresh()``.
  package func refreshFromLedger() throws {
    if try open.membership == nil, let name = try sharedStoreName() {
      throw StoreError(
        .misuse,
        "\(path) is a member of the shared store \(name), and this store was opened without its ledger, so it may lack commits. Open it with StoreConfiguration.ledger."
      )
    }
    try refresh()
  }

  /// Checks that the file can found the shared store of `ledger`, as opening it with that ledger
  /// does. Nothing is changed.
  ///
  /// - Throws: ``StoreError`` with code `configurationConflict` if the file is a member, or the
  ///   ledger has the store; `unsupportedSchema` if a table cannot be shared; `ledgerUnavailable`.
  package func checkCanFound(_ ledger: SharedLedger) throws {
    let engine = try open
    try engine.look { _ = try SharedTables(reading: $0) }
    let membership = try Membership(
      ledger, path: engine.file.path, policy: engine.configuration.connectionPolicy,
      patience: engine.configuration.busyTimeout)
    guard try Founding(engine: engine, membership: membership).part() == .member else { return }
    throw StoreError(
      .configurationConflict, "\(path) is a member of the shared store \(ledger.name) already.")
  }

  /// Makes a member's file an ordinary store again. It has everything that it has now, and its
  /// schema can change again. The ledger keeps the shared store, and other members go on.
  ///
  /// With ``StoreConfiguration/ledger`` set, the file first gets what other members have committed.
  /// Without it, commits that the file has not yet received do not reach it. Other processes that
  /// have the file open must open it again before they write.
  ///
  /// - Returns: The number of the newest commit that the file has.
  /// - Throws: ``StoreError`` with code `misuse` if the file is not a member; as a write. The file
  ///   is a member still.
  @discardableResult
  package func leaveSharedStore() throws -> Int64 {
    try Leaving(engine: open).run().rawValue
  }
}

extension SharedLedger {
  /// Whether the ledger has the store.
  ///
  /// - Throws: ``StoreError`` with code `ledgerUnavailable`.
  package func hasStore() throws -> Bool {
    do {
      return try self.open().standing() != nil
    } catch {
      throw Membership.storeError(error)
    }
  }
}

extension SharedLedger {
  enum SchemaChange {
    case made
    /// Another member has made one before, and this member began again from it.
    case found
  }

  /// Changes the schema of the shared store as a program declares it.
  ///
  /// - Parameter report: Receives what opening the copy reports.
  /// - Throws: ``StoreError``, as opening an ordinary store that lacks these declarations.
  func changeSchema(
    of path: String, declaring declarations: Declarations, _ configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void
  ) throws -> SchemaChange {
    do {
      try change(path, declaring: declarations, configuration, report: report) { _ in }
      return .made
    } catch let changed as SchemaChanged {
      try beginAgain(path, configuration, from: changed, report)
      return .found
    }
  }

  /// Changes what the members of the shared store have beside records, as `body` does with an
  /// ordinary store. The store has a copy of the member's file, with the same records.
  ///
  /// It publishes the copy even if `body` changes nothing, so call it only for a change.
  ///
  /// - Parameters:
  ///   - path: The member's file, which no program has open.
  ///   - seen: The ``Store/sharedSchemaNumber()`` for which `body` was decided; nil if it suits any
  ///     schema.
  ///   - declarations: What the store of the copy is opened with.
  ///   - report: Receives what opening the copy reports.
  /// - Returns: What `body` returns, after the file has the change.
  /// - Throws: What `body` throws; nothing is changed then. ``StoreError`` with code `busy` or
  ///   `misuse` if the file is in use, `memberBehind` if it began to be in use meanwhile: the
  ///   shared store then has the change. `memberOutdated` if another member has changed the schema
  ///   since this file got its last commit, so that `body` was not called. The file then has that
  ///   schema, and you can call again.
  /// - Complexity: Copies the file, and transfers it to the ledger. No member can write meanwhile.
  package func changeCatalog<Result>(
    of path: String, seen: Int64? = nil, declaring declarations: Declarations,
    _ configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void, _ body: (Store) throws -> Result
  ) throws -> Result {
    do {
      return try change(
        path, seen: seen, declaring: declarations, configuration, report: report, body)
    } catch let changed as SchemaChanged {
      try beginAgain(path, configuration, from: changed, report)
      throw StoreError.schemaChangedMeanwhile(path, name)
    }
  }

  /// - Throws: ``SchemaChanged`` if another member has changed the schema before.
  private func change<Result>(
    _ path: String, seen: Int64? = nil, declaring declarations: Declarations,
    _ configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void, _ body: (Store) throws -> Result
  ) throws -> Result {
    let change = SharedSchemaChange(
      shared: self, path: try Self.realPath(path), configuration: configuration, report: report)
    do {
      return try change.run(seen: seen) { copy in
        let store = try Store(
          at: copy, declaring: declarations, configuration: change.ownConfiguration
        ) { error in
          var error = error
          error.message = error.message.replacing(copy, with: path)
          report(error)
        }
        defer { store.close() }
        return try body(store)
      }
    } catch let changed as SchemaChanged {
      throw changed
    } catch {
      throw Membership.storeError(error)
    }
  }

  private func beginAgain(
    _ path: String, _ configuration: StoreConfiguration, from changed: SchemaChanged,
    _ report: (StoreError) -> Void
  ) throws {
    if let notice = try rebuild(path, configuration, because: UnfitMember(changed)) {
      report(notice)
    }
  }
}
