// Moving a store into a ledger and back, for the command line.
extension Store {
  /// The name of the shared store whose member the file is; nil if it is not a member.
  package func sharedStoreName() throws -> String? {
    try open.look { try MemberRecord(reading: $0)?.store }
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
    let change = SharedSchemaChange(
      shared: self, path: path, configuration: configuration, report: report)
    do {
      try change.run { copy in
        do {
          try Store(
            at: copy, declaring: declarations, configuration: change.ownConfiguration,
            onError: report
          ).close()
        } catch var error as StoreError {
          error.message = error.message.replacing(copy, with: path)
          throw error
        }
      }
      return .made
    } catch let changed as SchemaChanged {
      guard rebuildsMembers else { throw Membership.storeError(changed) }
      try Rebuilding(shared: self, path: path, policy: configuration.connectionPolicy).replace()
      return .found
    } catch {
      throw Membership.storeError(error)
    }
  }
}
