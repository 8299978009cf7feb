#if Postgres
  internal import ModelStore

  /// A transaction of PostgreSQL that has locked the head of a store.
  final class PostgresTurn: LedgerTurn {
    let head: LedgerStanding
    let missed: [LedgerCommit]
    private let ledger: PostgresLedger
    private let start = ContinuousClock.now
    /// nil after the turn has ended. If the turn is released before, the lease rolls back.
    private var lease: ConnectionLane.Lease?

    init(
      of ledger: PostgresLedger, _ lease: ConnectionLane.Lease, _ head: LedgerStanding,
      missed: [LedgerCommit]
    ) {
      self.ledger = ledger
      self.lease = lease
      self.head = head
      self.missed = missed
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
      let connection = lease.connection
      let arguments = try arguments(of: commit)
      guard start.duration(to: .now) < ledger.limits.turn else { throw tookTooLong }
      // PostgreSQL compresses a large record and writes it twice, which takes it some time.
      let end = ledger.limits.answerTime + .seconds(commit.record.count >> 20)
      do {
        try connection.check()
        try connection.add(.append, arguments)
      } catch let failure as PostgresFailure {
        // COMMIT was not sent.
        throw failure.isIdleTooLong ? tookTooLong : failure.ledgerError
      }
      do {
        try connection.add(.commit)
        try connection.endGroup(until: end)
        // In a group of its own, so that COMMIT is answered first. In the transaction of the commit
        // it would hold a lock of all databases while PostgreSQL writes to its disk.
        try connection.add(.notify, [.text(ledger.channel)])
        try connection.endGroup(until: end)
        try confirm(try connection.readGroup(until: end), commit)
      } catch let failure as PostgresFailure {
        guard !failure.isIdleTooLong else { throw tookTooLong }
        guard connection.isBroken else { throw failure.ledgerError }
        throw LedgerError.outcomeUnknown(commit.transaction)
      }
      guard !connection.takeUnreplicated() else {
        throw LedgerError.outcomeUnknown(commit.transaction)
      }
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
      .failed(
        "The transaction took longer than \(ledger.limits.turn), after which PostgreSQL lets other "
          + "members write. Write less in one transaction.")
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
