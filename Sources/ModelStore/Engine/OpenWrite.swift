/// An open write transaction: the access of its body, its net changes, and its end.
///
/// ``WriteCycle`` decides the order of the steps.
///
/// A class, because copies of a value type would retain and release about ten references.
final class OpenWrite {
  let access: _TransactionAccess
  /// The latest observer that the capture covers.
  let latestObserver: UInt64
  /// Whether the transaction changed the file's schema. It is known after ``netChanges(before:)``.
  private(set) var schemaChanged = false
  /// The position of the transaction's last row in the change journal; nil if it has none.
  private(set) var journalPosition: Int64?

  private let connection: Connection
  private let models: ModelRegistry
  private let lists: ListOrders
  private let signing: Signing?
  private let session: CaptureSession?
  /// The ordered lists at the start; nil if there are none.
  private let orders: ListOrders.Savepoint?
  /// The file's schema version at the start.
  private let schemaVersion: Int64
  /// The connection's change count at the start.
  private let changeCount: Int64

  /// The parts of a commit record that the transaction does not set itself.
  struct Signing {
    /// The position of the transaction's first row.
    let first: Int64
    let program: WritingProgram
  }

  /// What a transaction captures.
  struct Capture {
    /// nil for nothing.
    let plan: CapturePlan?
    /// The latest observer that the plan covers.
    let latestObserver: UInt64
  }

  /// Takes over the transaction that `writer` has begun, and starts capturing.
  ///
  /// - Parameter earlier: What earlier writes of the same transaction left, if it is shared.
  init(
    _ writer: borrowing Writer, _ capture: Capture, after earlier: EarlierImages? = nil,
    refusals: StoreConfiguration.Refusals
  ) throws {
    connection = writer.connection
    models = writer.models
    lists = writer.lists
    schemaVersion = writer.schemaVersion
    signing = try writer.signing()
    latestObserver = capture.latestObserver
    session = capture.plan.map { CaptureSession(plan: $0, after: earlier) }
    access = _TransactionAccess(
      connection: connection, models: models, capture: session, lists: lists, refusals: refusals,
      journalPlace: signing?.first, isWritable: true)
    orders = lists.savepoint
    changeCount = connection.totalChangeCount
    session?.start(on: connection)
    lists.begin(on: connection, beside: session, logging: session?.models ?? [])
  }

  /// Whether anything is captured, so that observers may read the state of the commit.
  var isObserved: Bool { session != nil }

  /// Whether any row of the file was changed.
  var changedRows: Bool { connection.totalChangeCount != changeCount }

  /// The number of rows that were changed, also by triggers and cascades.
  var changedRowCount: Int64 { connection.totalChangeCount - changeCount }

  /// The latest observer that needs no reset by this write.
  var knownObserver: UInt64 { changedRows ? latestObserver : .max }

  /// Steps 4 to 6. Runs the transaction's own statements.
  func run<Result>(_ body: (borrowing WriteTransaction) throws -> Result) throws -> Result {
    // Created outside the call: inside it, the optimizer of Swift 6.3 crashes.
    let transaction = WriteTransaction(access: access)
    let value = try body(transaction)
    guard connection.isInTransaction else {
      throw StoreError(
        .rejected,
        "A trigger or an earlier failure rolled the transaction back. Nothing was committed.")
    }
    return value
  }

  /// Step 7. Compares the rows before the transaction with the rows now.
  ///
  /// - Parameter snapshots: Readers that see the last commit while this transaction is open.
  /// - Returns: The net changes of the captured tables. After a schema change there are none,
  ///   because rows may no longer fit their tables; observers then refetch.
  func netChanges(before snapshots: ReaderPool) throws -> [RecordChange] {
    schemaChanged = try access.notes.ranRawSQL && connection.schemaVersion() != schemaVersion
    guard !schemaChanged else { return [] }
    let models = models
    return try session?.netChanges(on: connection) { read in
      try snapshots.sync { snapshot in
        do {
          return try read(snapshot)
        } catch {
          throw models.storeError(error, about: nil)
        }
      }
    } ?? []
  }

  /// Step 8. Runs the validators, then the review of the transaction itself.
  func validate(_ changes: [RecordChange], by validators: [Validator]) throws {
    if schemaChanged, !validators.isEmpty {
      throw StoreError(
        .misuse,
        "A transaction that changes the schema cannot be validated; change it in a migration.")
    }
    try Self.judge(changes, in: access, by: validators)
    try access.notes.review?(changes)
  }

  /// Runs the validators on the net changes of the transaction of `access`.
  ///
  /// - Throws: What they refuse.
  static func judge(
    _ changes: [RecordChange], in access: _TransactionAccess, by validators: [Validator]
  ) throws {
    guard !validators.isEmpty, !changes.isEmpty else { return }
    let (connection, models) = (access.connection, access.models)
    let reads = ReadTransaction(
      access: _TransactionAccess(
        connection: connection, models: models, capture: nil, isWritable: false))
    var judgement = Judgement(
      options: access.refusals, models: models.schema, connection: connection)
    for validator in validators {
      try validator.judge(changes, reads, &judgement)
      if judgement.isSettled { break }
    }
    if let error = judgement.error { throw error }
  }

  /// Step 9, first part. Writes the commit record into the change journal, which identifies the
  /// transaction. It writes none if nothing was changed or nothing is recorded.
  ///
  /// - Parameter timer: Has the tag of a monitor, if the body has set none.
  func sign(taggedBy timer: WriteTimer?) throws {
    guard let signing,
      connection.totalChangeCount != changeCount + access.notes.unsignedChangeCount || schemaChanged
        || access.notes.isSignedAnyway
    else { return }
    if let timer, access.notes.signature.tag == nil { access.notes.signature.tag = timer.tag }
    let mark = JournalMark(
      first: signing.first, id: access.notes.transactionID, time: WritingProgram.now,
      program: signing.program.name, process: signing.program.process,
      signature: access.notes.signature, reversal: access.notes.reversal)
    try mark.write(on: connection)
    guard connection.lastInsertRowID >= signing.first else {
      throw StoreError(
        .misuse,
        "The transaction removed its own new entries from the change journal. Nothing was committed."
      )
    }
    journalPosition = connection.lastInsertRowID
  }

  /// Step 9, second part. Commits.
  ///
  /// If a deferred foreign key is broken, COMMIT fails but the transaction stays open, so the error
  /// can name the broken reference.
  ///
  /// - Parameter reserve: Provides space for a transaction that only deletes.
  /// - Returns: The edits of ordered lists.
  func commit(lending reserve: SpaceReserve) throws -> [ListIdentity: ListEdits] {
    if access.notes.onlyRemoves { reserve.lend() }
    do {
      try connection.commitTellingOutcome()
    } catch let failure as ConnectionFailure {
      throw outcome(of: failure)
    } catch let error as SQLiteError {
      guard error.code == .constraintForeignKey, connection.isInTransaction else { throw error }
      throw try Self.brokenReferences(in: access)
    }
    return end()
  }

  private func end() -> [ListIdentity: ListEdits] {
    session?.stop(on: connection)
    return lists.end()
  }

  /// The error of this write for a COMMIT that failed: it names the transaction, if the change
  /// journal can show later whether it was committed.
  func outcome(of error: any Error) -> any Error {
    guard let failure = error as? ConnectionFailure, failure.moment == .commit,
      journalPosition != nil
    else { return error }
    return UnknownOutcome(failure: failure, transaction: access.notes.transactionID)
  }

  /// Ends the transaction of a preview.
  ///
  /// - Throws: The error that COMMIT would have thrown; the transaction is then still open.
  func rollBack() throws {
    if connection.hasUnresolvedReferences { throw try Self.brokenReferences(in: access) }
    try connection.rollBack()
    session?.stop(on: connection)
    _ = lists.end()
    lists.rollBack(to: orders)
  }

  /// Ends the transaction after a failure.
  ///
  /// - Returns: The error to throw.
  func rollBack(after error: any Error) -> any Error {
    session?.stop(on: connection)
    _ = lists.end()
    lists.rollBack(to: orders)
    return connection.rollBack(after: error)
  }

  // A write that shares its transaction, from its savepoint on

  /// Step 9 up to COMMIT. Keeps the write for the COMMIT of the shared transaction.
  ///
  /// - Returns: The edits of ordered lists.
  /// - Throws: The error that a COMMIT of this write alone would throw because of its references.
  func keep() throws -> [ListIdentity: ListEdits] {
    // Each write before it ended without broken references.
    if connection.hasUnresolvedReferences { throw try Self.brokenReferences(in: access) }
    try connection.endDeferral()
    try connection.releaseShare()
    session?.keepImages()
    return end()
  }

  /// Undoes this write alone, so that the shared transaction can continue. If SQLite has rolled
  /// the whole transaction back, or if only this write cannot be undone, the transaction is over.
  ///
  /// - Returns: The error to throw.
  func undo(after error: any Error) -> any Error {
    _ = end()
    lists.rollBack(to: orders)
    return connection.rollBackShare(after: error)
  }

  /// The error that names the broken references of the transaction of `access`.
  static func brokenReferences(in access: _TransactionAccess) throws -> any Error {
    try DanglingReferences(
      on: access.connection, models: access.models.schema,
      countMax: access.refusals.maxViolationCount
    )
    .error ?? SQLiteError(code: .constraintForeignKey, message: "FOREIGN KEY constraint failed")
  }
}

/// A COMMIT with an unknown outcome. If it happened, the change journal contains the transaction.
struct UnknownOutcome: Error {
  let failure: ConnectionFailure
  let transaction: TransactionID

  /// The error that every caller receives until the store is opened again.
  var storeError: StoreError {
    var error = failure.storeError
    error.transaction = transaction
    return error
  }
}

extension WriteTimer {
  /// COMMIT of `write` has returned.
  func committed(_ write: OpenWrite, sharingCount: Int) {
    committed(
      write.journalPosition == nil ? nil : write.access.notes.transactionID,
      sharingCount: sharingCount)
  }
}
