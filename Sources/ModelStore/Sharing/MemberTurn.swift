/// The turn of this process, from before BEGIN to the end of its transaction.
final class MemberTurn {
  private let turn: any LedgerTurn
  private let membership: Membership
  /// The commit before.
  private let member: MemberRecord
  private var log: RowLog?
  private var hasSequences = false
  private var headerNumbers: [Int64] = []
  private var sequences: [CommitRecord.Sequence] = []
  private var hasEnded = false
  /// The commit that the ledger has, until the file has it, too.
  private(set) var appended: LedgerCommit?
  /// Whether the file does not have ``appended``.
  private var isBehind = false

  init(_ turn: any LedgerTurn, of membership: Membership, after member: MemberRecord) {
    self.turn = turn
    self.membership = membership
    self.member = member
  }

  deinit { membership.turnEnded() }

  /// Checks the file's schema, and begins to note rows.
  ///
  /// - Precondition: A write transaction is open, and nothing was changed in it.
  /// - Throws: ``StoreError`` with code `memberDiverged`.
  func start(on connection: Connection) throws {
    let schema = try membership.schema(on: connection)
    do {
      try membership.check(schema, against: turn.head)
    } catch {
      membership.remember(nil)
      guard try MemberRecord(reading: connection) != nil else { throw StoreError.notAMember }
      throw error
    }
    let log = RowLog(of: schema.tables)
    self.log = log
    hasSequences = schema.tables.hasSequences
    sequences = try sequences(on: connection)
    headerNumbers = try Self.headerNumbers(on: connection)
    connection.hooks.onEveryRow { row in log.note(row) }
  }

  /// Puts the transaction into the ledger, if it changed anything. After that, only a failure of
  /// the disk can keep it from the file.
  ///
  /// From here to ``end(on:)``, nothing stops the statements of `connection`.
  ///
  /// - Precondition: What could refuse the COMMIT was checked.
  /// - Throws: ``StoreError``. The ledger does not have the transaction, unless the code is
  ///   `outcomeUnknown`.
  func append(_ transaction: TransactionID, on connection: Connection) throws {
    guard let log else { preconditionFailure("A turn begins before it ends.") }
    connection.hooks.onEveryRow(nil)
    connection.hooks.setStops(.refused)
    let tables = try log.changes(on: connection)
    let sequences = try sequences(on: connection)
    guard !tables.isEmpty || sequences != self.sequences else { return pass() }
    let commit = CommitRecord(
      number: member.number.next, previous: member.hash, transaction: transaction, tables: tables,
      sequences: sequences
    ).ledgerCommit
    guard try member.advance(to: commit.number, commit.hash, on: connection) else {
      membership.remember(nil)
      throw StoreError(
        .busy,
        "Another program has replaced the content of the file meanwhile. Nothing was changed. Try again."
      )
    }
    hasEnded = true
    do {
      try turn.append(commit)
    } catch LedgerError.outcomeUnknown {
      try resolve(commit)
    } catch {
      throw Membership.storeError(error)
    }
    appended = commit
    membership.snapshots.count(CollectionOfOne(commit))
  }

  private func resolve(_ commit: LedgerCommit) throws {
    let hasCommitted: Bool
    do {
      hasCommitted = try membership.hasCommitted(commit)
    } catch {
      var error = StoreError(
        .outcomeUnknown,
        "The connection to the ledger broke while the transaction was on its way, and the ledger cannot be asked yet. The next write asks it first. If the ledger has the transaction, this file receives it."
      )
      error.transaction = commit.transaction
      throw error
    }
    guard hasCommitted else {
      throw LedgerError.unreachable(
        "The connection to the ledger broke before it had the transaction."
      ).storeError
    }
  }

  /// Ends the turn, if ``append(_:on:)`` has not. It does not change the transaction.
  func end(on connection: Connection) {
    connection.hooks.onEveryRow(nil)
    connection.hooks.setStops(.allowed)
    if let appended, !isBehind {
      var record = member
      record.number = appended.number
      record.hash = appended.hash
      membership.remember(record)
    }
    pass()
  }

  private func pass() {
    guard !hasEnded else { return }
    hasEnded = true
    turn.pass()
  }

  /// The error for a transaction that ended with `error`: it says so if the ledger has it.
  func failure(_ error: any Error) -> any Error {
    guard let appended else { return error }
    isBehind = true
    var failure = StoreError(
      .memberBehind,
      "The shared store has the transaction, but this file could not be written (\(StoreError(reporting: Membership.storeError(error)).message)). The file receives the transaction when it can be written again. Do not repeat it."
    )
    failure.transaction = appended.transaction
    return failure
  }

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the transaction changed one of the
  ///   numbers in the file's header. They are not rows, so no record has them.
  func checkHeaderNumbers(on connection: Connection) throws {
    guard try Self.headerNumbers(on: connection) != headerNumbers else { return }
    throw StoreError(
      .unsupportedSchema,
      "PRAGMA user_version and PRAGMA application_id cannot be set in a shared store, because they would reach no other member. Nothing was changed."
    )
  }

  private static func headerNumbers(on connection: Connection) throws -> [Int64] {
    try ["PRAGMA main.user_version", "PRAGMA main.application_id"].map { pragma in
      try connection.firstRow(SQLText(sql: pragma), { try $0.integer(at: 0) }) ?? 0
    }
  }

  private func sequences(on connection: Connection) throws -> [CommitRecord.Sequence] {
    hasSequences ? try CommitRecord.Sequence.all(on: connection) : []
  }
}
