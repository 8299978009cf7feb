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
  let validators: [Validator]
  /// Reads one row as of before the transaction: on another connection, which sees the last commit
  /// for as long as this one has not committed.
  let snapshot: ((Connection) throws -> [SQLValue]?) throws -> [SQLValue]?

  /// What a transaction did.
  struct CommittedWork<Result> {
    let value: Result
    /// The net changes of the tables in the plan.
    let changes: [RecordChange]
    /// What the editors of ordered lists did.
    let edits: [ListIdentity: ListEdits]
    let schemaChanged: Bool
  }

  /// - Precondition: A write transaction is open. It is not, afterwards.
  /// - Throws: What `body` threw; ``StoreError``; ``SQLiteError``; ``ConnectionFailure``.
  func run<Result>(
    ending: Ending, _ body: (borrowing Transaction) throws -> Result
  ) throws -> CommittedWork<Result> {
    let session = plan.map { CaptureSession(plan: $0) }
    session?.start(on: connection)
    defer { session?.stop(on: connection) }
    let orders = lists.savepoint
    lists.begin(on: connection, beside: session, logging: session?.models ?? [])
    do {
      let access = TransactionAccess(
        connection: connection, models: models, capture: session, lists: lists, isWritable: true)
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
      try access.checkNotCancelled()
      switch ending {
      case .commit: try connection.commitTellingOutcome()
      case .rollback:
        try checkReferences()
        try connection.rollBack()
      }
      let edits = lists.end()
      if ending == .rollback { lists.rollBack(to: orders) }
      return CommittedWork(
        value: value, changes: changes, edits: edits, schemaChanged: schemaChanged)
    } catch {
      _ = lists.end()
      lists.rollBack(to: orders)
      throw connection.rollBack(after: error)
    }
  }

  private func validate(_ changes: [RecordChange], _ access: TransactionAccess) throws {
    guard !validators.isEmpty, !changes.isEmpty else { return }
    let reads = ReadTransaction(
      access: TransactionAccess(
        connection: connection, models: models, capture: nil, isWritable: false))
    var violations: [Violation] = []
    for validator in validators {
      for change in changes where change.model == validator.model {
        for rejection in try validator.judge(change, reads) {
          violations.append(
            Violation(
              kind: .validator, model: change.model, key: change.key, fields: rejection.fields,
              rule: validator.name, message: rejection.message))
        }
      }
    }
    if !violations.isEmpty { throw StoreError(rejecting: violations) }
  }

  /// Refuses what COMMIT would refuse.
  private func checkReferences() throws {
    guard connection.hasUnresolvedReferences else { return }
    throw SQLiteError(code: .constraintForeignKey, message: "FOREIGN KEY constraint failed")
  }
}

extension StoreError {
  /// One error for all violations of a transaction.
  init(rejecting violations: [Violation]) {
    let first = violations[0]
    let place =
      first.fields.isEmpty ? first.model : "\(first.model).\(first.fields.joined(separator: ", "))"
    let more = violations.count > 1 ? " (and \(violations.count - 1) more)" : ""
    self.init(
      .rejected, "Nothing was changed: \(place) \(first.message) (rule \(first.rule))\(more).",
      model: first.model, field: first.fields.first, key: first.key, violations: violations)
  }
}
