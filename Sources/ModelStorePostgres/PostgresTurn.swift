#if Postgres
  internal import ModelStore

  /// A transaction of PostgreSQL that has locked the head of a store.
  final class PostgresTurn: LedgerTurn {
    let head: LedgerStanding
    let missed: [LedgerCommit]
    private let ledger: PostgresLedger
    /// When PostgreSQL ends the turn, by the member's clock.
    private var deadline: ContinuousClock.Instant
    private var limit: Duration
    /// Whether the turn is one for a change of the schema.
    private var isExtended = false
    /// nil after the turn has ended. If the turn is released before, the lease rolls back.
    private(set) var lease: ConnectionLane.Lease?

    init(
      of ledger: PostgresLedger, _ lease: ConnectionLane.Lease, _ head: LedgerStanding,
      missed: [LedgerCommit]
    ) {
      self.ledger = ledger
      self.lease = lease
      self.head = head
      self.missed = missed
      limit = ledger.limits.turn
      deadline = .now + limit
    }

    /// Whether the server's standby may lack ``missed``.
    var waitsForStandby: Bool { lease?.connection.greeting.waitsForStandby ?? false }

    /// ``ConnectionLane/Server/breakCount`` when the turn's connection was opened.
    var breakCount: Int? { lease?.connection.breakCount }

    func extend() throws {
      guard let connection = lease?.connection else { preconditionFailure("The turn has ended.") }
      guard ContinuousClock.now < deadline else { throw tookTooLong }
      do {
        _ = try connection.run([(.limit, ledger.transferLimits)], until: ledger.limits.answerTime)
      } catch let failure as PostgresFailure {
        throw failure.isIdleTooLong ? tookTooLong : failure.ledgerError
      }
      limit = ledger.limits.snapshot
      isExtended = true
      deadline = .now + limit
    }

    func pass() {
      takeLease().end()
    }

    private func takeLease() -> ConnectionLane.Lease {
      guard let lease = lease.take() else { preconditionFailure("A turn ends once.") }
      return lease
    }

    func append(_ commit: LedgerCommit) throws {
      let lease = takeLease()
      defer { lease.end() }
      try append(.append, try arguments(of: commit), commit, lease.connection)
    }

    func append(_ commit: LedgerCommit, changingTo schema: LedgerSchema) throws {
      let lease = takeLease()
      defer { lease.end() }
      let arguments =
        try arguments(of: commit) + [.integer(schema.epoch), .bytes(schema.digest)]
      guard ContinuousClock.now < deadline else { throw tookTooLong }
      do {
        // Commits stay, so that a member which lacks several changes meets the first one.
        try ledger.replace(
          by: schema.snapshot, at: commit.number, hash: commit.hash, lease.connection)
      } catch let failure as PostgresFailure {
        throw failure.isIdleTooLong ? tookTooLong : failure.ledgerError
      }
      // PostgreSQL waited for each part, so the turn may last as long again.
      deadline = .now + limit
      try append(.appendSchema, arguments, commit, lease.connection)
    }

    /// Adds the commit, and ends the transaction.
    private func append(
      _ statement: Statement, _ arguments: [Argument], _ commit: LedgerCommit,
      _ connection: PostgresConnection
    ) throws {
      guard ContinuousClock.now < deadline else { throw tookTooLong }
      // PostgreSQL compresses a large record and writes it twice, which takes it some time.
      let end = ledger.limits.answerTime + .seconds(commit.record.count >> 20)
      do {
        try connection.check()
        try connection.add(statement, arguments)
      } catch let failure as PostgresFailure {
        // COMMIT was not sent.
        throw failure.isIdleTooLong ? tookTooLong : failure.ledgerError
      }
      do {
        try connection.add(.commit)
        try connection.endGroup(until: end)
        let results = try connection.readGroup(until: end)
        try confirm(results, commit)
        connection.greeting.update(from: results[0], at: 0)
      } catch let failure as PostgresFailure {
        guard !failure.isIdleTooLong else { throw tookTooLong }
        guard connection.isBroken else { throw failure.ledgerError }
        throw LedgerError.outcomeUnknown(commit.transaction)
      }
      guard !connection.takeUnreplicated() else {
        throw LedgerError.outcomeUnknown(commit.transaction)
      }
      let isCertain = connection.greeting.commitsToStandby
      if isCertain {
        ledger.replicated.note(
          commit.number, commit.hash, isProven: true, connection.breakCount)
      }
      ledger.announcer.announce(
        Announcement(number: commit.number, hash: isCertain ? commit.hash : nil),
        connection.breakCount)
    }

    private func arguments(of commit: LedgerCommit) throws -> [Argument] {
      guard commit.number == head.number.next else {
        throw LedgerError.mismatch("Commit \(commit.number) does not follow commit \(head.number).")
      }
      guard commit.record.count <= Limits.recordByteCountMax else {
        throw LedgerError.failed(
          "The commit has \(commit.record.count) bytes. PostgreSQL takes at most "
            + "\(Limits.recordByteCountMax). Write less in one transaction.")
      }
      return [
        .text(ledger.store), .integer(commit.number.rawValue),
        .integer(commit.transaction.rawValue), .bytes(commit.hash.bytes), .bytes(commit.record),
        .integer(head.number.rawValue), .bytes(head.hash.bytes),
      ]
    }

    private var tookTooLong: LedgerError {
      let (subject, remedy) =
        isExtended
        ? ("change of the schema", "Split it into several versions.")
        : ("transaction", "Write less in one transaction.")
      return .failed(
        "The \(subject) took longer than \(limit), after which PostgreSQL lets other members "
          + "write. \(remedy)")
    }

    private func confirm(_ results: [PostgresResult], _ commit: LedgerCommit) throws {
      guard results[1].tag == "COMMIT" else {
        throw LedgerError.failed("PostgreSQL rolled the commit back.")
      }
      guard results[0].changedCount == 1 else {
        throw LedgerError.mismatch(
          "Commit \(head.number) is not the newest of the ledger any more.")
      }
    }
  }
#endif
