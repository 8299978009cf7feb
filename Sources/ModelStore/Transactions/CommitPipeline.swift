/// The path of one writing transaction, from its body to the change set that is handed on.
///
/// ```
/// body (constraints, bindings and other triggers run inside its statements)
///   → net changes → validators → COMMIT → hand on
/// ```
/// Any error before COMMIT rolls everything back, and nothing is handed on.
struct CommitPipeline {
  /// Whether the transaction is kept when everything passed.
  enum Ending { case commit, rollback }

  let connection: Connection
  let models: ModelRegistry
  let plan: CapturePlan?
  let lists: ListOrders
  /// The file's schema version at the start.
  let schemaVersion: Int64
  /// In the order in which they are asked.
  let validators: [Validator]
  let refusals: StoreConfiguration.Refusals
  /// Reads one row as of before the transaction: on another connection, which sees the last commit
  /// for as long as this one has not committed.
  let snapshot: ((Connection) throws -> [SQLValue]?) throws -> [SQLValue]?
  /// How the transaction is signed in the change journal; nil where nothing is entered.
  let journal: Signing?
  /// Called when it is decided whether the transaction is kept: nobody cancels it from then on.
  let shield: () -> Void

  /// What a signature in the change journal says besides what the transaction says itself.
  struct Signing {
    /// The position of the transaction's first row.
    let first: Int64
    let program: WritingProgram
  }

  /// What a transaction did.
  struct CommittedWork<Result> {
    let value: Result
    /// The net changes of the tables in the plan.
    let changes: [RecordChange]
    /// What the editors of ordered lists did.
    let edits: [ListIdentity: ListEdits]
    let schemaChanged: Bool
    /// The position of the transaction's last row in the change journal; nil when it has none.
    let journalPosition: Int64?
  }

  /// Where somebody is to be told, the connection keeps the state of the commit
  /// (``Connection/holdState()``), and the caller releases it.
  ///
  /// - Precondition: A write transaction is open. It is not, afterwards.
  /// - Throws: What `body` threw; ``StoreError``; ``SQLiteError``; ``ConnectionFailure``.
  func run<Result>(
    ending: Ending, _ body: (borrowing Transaction) throws -> Result
  ) throws -> CommittedWork<Result> {
    let session = plan.map { CaptureSession(plan: $0) }
    session?.start(on: connection)
    defer { session?.stop(on: connection) }
    let orders = lists.savepoint
    let changeCount = connection.totalChangeCount
    lists.begin(on: connection, beside: session, logging: session?.models ?? [])
    do {
      let access = TransactionAccess(
        connection: connection, models: models, capture: session, lists: lists, refusals: refusals,
        journalPlace: journal?.first, isWritable: true)
      let value = try body(Transaction(access: access))
      guard connection.isInTransaction else {
        throw StoreError(
          .rejected,
          "A trigger or an earlier failure rolled the transaction back; nothing was kept.")
      }
      let schemaChanged = try access.ranRawSQL && connection.schemaVersion() != schemaVersion
      // After a change of schema the images may not fit the tables any more; observers start anew.
      let changes =
        schemaChanged ? [] : try session?.netChanges(on: connection, snapshot: snapshot) ?? []
      if schemaChanged, !validators.isEmpty {
        throw StoreError(
          .misuse,
          "A transaction that changes the schema cannot be validated; change it in a migration.")
      }
      try validate(changes, access)
      try access.review?(changes)
      shield()
      try access.checkNotCancelled()
      var position: Int64?
      switch ending {
      case .commit:
        if connection.totalChangeCount != changeCount + access.unsignedChangeCount
          || schemaChanged || access.isSignedAnyway
        {
          position = try sign(access)
        }
        if plan != nil { try connection.holdState() }
        try commit(position == nil ? nil : access.transactionID)
      case .rollback:
        if connection.hasUnresolvedReferences { throw try brokenReferences() }
        try connection.rollBack()
      }
      let edits = lists.end()
      if ending == .rollback { lists.rollBack(to: orders) }
      return CommittedWork(
        value: value, changes: changes, edits: edits, schemaChanged: schemaChanged,
        journalPosition: position)
    } catch {
      _ = lists.end()
      lists.rollBack(to: orders)
      connection.releaseState()
      throw connection.rollBack(after: error)
    }
  }

  private func validate(_ changes: [RecordChange], _ access: TransactionAccess) throws {
    guard !validators.isEmpty, !changes.isEmpty else { return }
    let reads = ReadTransaction(
      access: TransactionAccess(
        connection: connection, models: models, capture: nil, isWritable: false))
    var judgement = Judgement(options: refusals, models: models.schema, connection: connection)
    for validator in validators {
      try validator.judge(changes, reads, &judgement)
      if judgement.isSettled { break }
    }
    if let error = judgement.error { throw error }
  }

  /// Says in the change journal whose the transaction is.
  ///
  /// - Returns: The position of what it says.
  private func sign(_ access: TransactionAccess) throws -> Int64? {
    guard let journal else { return nil }
    let mark = JournalMark(
      first: journal.first, id: access.transactionID, time: WritingProgram.now,
      program: journal.program.name, process: journal.program.process,
      signature: access.signature, reversal: access.reversal)
    try mark.write(on: connection)
    guard connection.lastInsertRowID >= journal.first else {
      throw StoreError(
        .misuse,
        "A transaction removed entries of the change journal that were new; nothing was kept.")
    }
    return connection.lastInsertRowID
  }

  /// A deferred foreign key that is broken ends COMMIT, not the transaction; so it can be told
  /// which one.
  ///
  /// - Parameter id: What the change journal calls the transaction; nil where it says nothing of
  ///   it.
  private func commit(_ id: TransactionID?) throws {
    do {
      try connection.commitTellingOutcome()
    } catch let failure as ConnectionFailure {
      throw id.map { UnknownOutcome(failure: failure, transaction: $0) } ?? failure
    } catch let error as SQLiteError {
      guard error.code == .constraintForeignKey, connection.isInTransaction else { throw error }
      throw try brokenReferences()
    }
  }

  private func brokenReferences() throws -> any Error {
    try DanglingReferences(
      on: connection, models: models.schema, countMax: refusals.violationCountMax
    )
    .error ?? SQLiteError(code: .constraintForeignKey, message: "FOREIGN KEY constraint failed")
  }
}

/// A COMMIT that may have happened, of a transaction that the change journal knows if it has.
struct UnknownOutcome: Error {
  let failure: ConnectionFailure
  let transaction: TransactionID

  /// What everyone is told until the store is opened anew.
  var storeError: StoreError {
    var error = failure.storeError
    error.transaction = transaction
    return error
  }
}
