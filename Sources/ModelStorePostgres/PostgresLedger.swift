#if Postgres
  package import ModelStore

  /// Keeps the commits of a shared store in PostgreSQL 14 or later, in the schema `modelstore` of a
  /// database.
  ///
  /// Each store is a row of `modelstore.heads`. Its lock is the turn, so stores in one database do
  /// not wait for each other. A commit and the new head are one transaction.
  ///
  /// It has up to three connections: for turns, for reading, and for notifications. Transfers of
  /// snapshots open their own ones. A connection that broke while no thread used it is opened again
  /// without an error.
  ///
  /// Connect directly: a connection pooler between transactions would hide a crash of the server,
  /// after which commits are only read when the standby has them, and lose the connections' limits.
  package final class PostgresLedger: CommitLedger {
    let string: ConnectionString
    let store: String
    let limits: Limits
    /// The store's channel of NOTIFY. A channel has at most 63 bytes, and a name may have more.
    let channel: String
    let turns: ConnectionLane
    let reading: ConnectionLane
    let replicated: ReplicatedCommit
    /// Has the doorbell notify other members of commits.
    let announcer: CommitAnnouncer
    private let standbyCheck: StandbyCheck
    let server = ConnectionLane.Server()

    /// Prepares a ledger. It connects when you first use it.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq: `postgresql://user@host/database`, or
    ///     `host=… dbname=…`. It can name several hosts: the first that can write is used. If you
    ///     set `target_session_attrs`, the first that fits, but never a standby.
    ///   - store: The name of the store in the database. It is created when a member founds it.
    /// - Throws: ``LedgerError/failed(_:)`` if the connection string is malformed, or if the
    ///   process may open no more files.
    package convenience init(connection: String, store: String) throws {
      try self.init(connection: connection, store: store, limits: Limits())
    }

    init(connection: String, store: String, limits: Limits) throws {
      string = try ConnectionString(connection)
      self.store = store
      self.limits = limits
      channel = "modelstore_\(CommitHash(of: Array(store.utf8)).description.prefix(32))"
      turns = ConnectionLane(string, limits, server)
      reading = ConnectionLane(string, limits, server)
      replicated = ReplicatedCommit(server)
      announcer = try CommitAnnouncer()
      standbyCheck = StandbyCheck(reading, limits)
    }

    // Reading

    package func standing() throws -> LedgerStanding? {
      try read(.head, []) { rows, connection in
        guard rows.rowCount > 0 else { return nil }
        connection.greeting.update(from: rows)
        return LedgerStanding(rows, connection.greeting.durability)
      } ?? nil
    }

    package func commits(after number: CommitNumber, limit: Int) throws -> [LedgerCommit] {
      guard limit > 0 else { return [] }
      let arguments: [Argument] = [
        .integer(number.rawValue), .integer(Int64(limit)), .integer(Self.pageByteCountMax),
      ]
      return try read(.page, arguments) { rows, connection in
        let commits = rows.commits
        guard let last = commits.last else { return [] }
        connection.greeting.update(from: rows)
        guard connection.greeting.waitsForStandby else { return commits }
        let count = replicated.count(in: commits)
        guard count == 0 else { return Array(commits.prefix(count)) }
        try connection.commitMessage(limits)
        replicated.note(last.number, last.hash, isProven: true, connection.breakCount)
        return commits
      } ?? []
    }

    /// After this many bytes of records a page ends.
    static let pageByteCountMax: Int64 = 8 << 20

    package func hash(of number: CommitNumber) throws -> CommitHash? {
      try read(.hash, [.integer(number.rawValue)]) { rows, _ in
        rows.rowCount == 0 ? nil : rows.hash(0, 0)
      } ?? nil
    }

    package func confirm(
      _ number: CommitNumber
    ) throws -> (hash: CommitHash?, head: LedgerStanding?) {
      try reading.use { connection in
        guard connection.greeting.layout != nil else { return (nil, nil) }
        // A server that was replaced has no standby, which the message after the answers needs.
        let results = try connection.commitMessage(
          limits,
          after: [(.hash, [.text(store), .integer(number.rawValue)]), (.head, [.text(store)])])
        let (hash, head) = (results[0], results[1])
        connection.greeting.update(from: head)
        return (
          hash.rowCount == 0 ? nil : hash.hash(0, 0),
          head.rowCount == 0 ? nil : LedgerStanding(head, connection.greeting.durability)
        )
      }
    }

    package func members() throws -> [MemberStanding] {
      try read(.members, []) { rows, _ in
        (0..<rows.rowCount).map { row in
          MemberStanding(
            member: MemberID(rawValue: rows.integer(row, 0)), number: rows.number(row, 1),
            seenAt: rows.integer(row, 2))
        }
      } ?? []
    }

    /// Runs a query whose first argument is the store's name.
    ///
    /// - Returns: nil if the database has no tables of ledgers.
    private func read<Result>(
      _ query: Statement, _ arguments: [Argument],
      _ body: (PostgresResult, PostgresConnection) throws -> Result
    ) throws -> Result? {
      try reading.use { connection in
        guard connection.greeting.layout != nil else { return nil }
        let results = try connection.run(
          [(query, [.text(store)] + arguments)], until: limits.answerTime)
        return try body(results[0], connection)
      }
    }

    package func note(_ member: MemberID, at number: CommitNumber) throws {
      let arguments: [Argument] = [
        .text(store), .integer(member.rawValue), .integer(number.rawValue),
      ]
      try reading.use { connection in
        // The server may not be the primary any more, and have no standby. A member that only reads
        // would not notice that otherwise.
        try connection.commitMessage(limits)
        let results = try connection.run(
          [(.begin, []), (.relax, []), (.note, arguments), (.commit, [])],
          until: limits.answerTime)
        guard results[2].changedCount == 1 else { throw unfounded }
      }
    }

    // Turns

    package func turn(after number: CommitNumber, deadline: Duration) throws -> any LedgerTurn {
      let end = ContinuousClock.now + deadline
      var isFirst = true
      while true {
        // Also if no time is left to wait for other members.
        let limit = isFirst ? end : max(end, .now + limits.turnAgain)
        let turn = try lockedTurn(after: number, until: limit)
        try prove(turn)
        if turn.breakCount == server.breakCount { return turn }
        // A connection was lost or found another server since: a primary that stood still, and
        // does not know yet that it was replaced, may have given this turn.
        turn.pass()
        guard isFirst || ContinuousClock.now < end else {
          throw LedgerError.unreachable("PostgreSQL's primary may have changed.")
        }
        isFirst = false
      }
    }

    private func lockedTurn(
      after number: CommitNumber, until end: ContinuousClock.Instant
    ) throws -> PostgresTurn {
      let (lease, rows) = try leaseTurn(until: end) { connection in
        let rows = try lockHead(
          connection, until: end, then: [(.missed, [.text(store), .integer(number.rawValue)])])
        connection.greeting.update(from: rows[1])
        return rows
      }
      return PostgresTurn(
        of: self, lease, LedgerStanding(rows[0], lease.connection.greeting.durability),
        missed: rows[1].commits)
    }

    /// Waits until the standby has the commits that a turn read.
    ///
    /// The turn's connection could commit a message only by ending the turn. So the one for reading
    /// does. If that leads to another server, ``ConnectionLane/Server/breakCount`` has grown.
    ///
    /// - Throws: ``LedgerError``. The turn has ended.
    private func prove(_ turn: PostgresTurn) throws {
      guard turn.waitsForStandby, let last = turn.missed.last,
        replicated.count(in: turn.missed) < turn.missed.count
      else { return }
      do {
        let (lease, rows) = try reading.lease(until: .now + limits.standby) {
          try $0.commitMessage(
            limits, after: [(.hash, [.text(store), .integer(last.number.rawValue)])])[0]
        }
        defer { lease.end() }
        guard lease.connection.breakCount == turn.breakCount else { return }
        guard rows.rowCount == 1, rows.hash(0, 0) == last.hash else {
          // A process of the server may have crashed meanwhile. The server then loses what no disk
          // has, also the turn.
          return server.noteBreak()
        }
        replicated.note(last.number, last.hash, isProven: true, lease.connection.breakCount)
      } catch {
        turn.pass()
        guard case .timedOut? = error as? LedgerError else { throw error }
        throw LedgerError.unreachable("PostgreSQL's standby was not asked in time.")
      }
    }

    package func resolve(
      _ transaction: TransactionID, deadline: Duration
    ) throws -> CommitNumber? {
      let end = ContinuousClock.now + deadline
      let (lease, rows) = try leaseTurn(until: end) { connection in
        // The COMMIT waits for the standby, so that the answer survives a failover: the lock of the
        // head is in PostgreSQL's log, after the transaction in question.
        let results = try lockHead(
          connection, until: end,
          then: [
            (.find, [.text(store), .integer(transaction.rawValue)]), (.awaitStandby, []),
            (.commit, []),
          ])
        guard !connection.takeUnreplicated() else {
          throw LedgerError.unreachable("PostgreSQL did not wait for the standby.")
        }
        return results[1]
      }
      lease.end()
      return rows.rowCount == 0 ? nil : rows.number(0, 0)
    }

    /// Leases the connection for turns. If the lock of the head stays taken, it finds out whether
    /// the server still has its standby: it may not be the primary any more, so that a COMMIT waits
    /// for ever and keeps the lock.
    private func leaseTurn<Result>(
      until end: ContinuousClock.Instant, _ body: (PostgresConnection) throws -> Result
    ) throws -> (lease: ConnectionLane.Lease, result: Result) {
      do {
        return try turns.lease(until: end, body)
      } catch let error as LedgerError {
        if case .timedOut = error { standbyCheck.start() }
        throw error
      }
    }

    /// Begins a transaction, waits for the head's lock, and runs `steps`: one round trip.
    ///
    /// - Returns: The head, and the results of `steps`.
    private func lockHead(
      _ connection: PostgresConnection, until end: ContinuousClock.Instant,
      then steps: [(Statement, [Argument])]
    ) throws -> [PostgresResult] {
      let rest = max(ContinuousClock.now.duration(to: end), .zero)
      try connection.limitLocks(to: rest, limits)
      let results = try connection.run(
        [(.begin, []), (.lockHead, [.text(store)])] + steps, until: limits.answerTime + rest)
      guard results[1].rowCount == 1 else { throw unfounded }
      connection.greeting.update(from: results[1])
      return Array(results.dropFirst())
    }

    var unfounded: LedgerError {
      .mismatch("The ledger has no store named “\(store)”.")
    }

    // Listening

    package func listen(
      _ ring: @escaping @Sendable (CommitNumber?) -> Void
    ) throws -> any Doorbell {
      try PostgresDoorbell(of: self, ring: ring)
    }
  }

  /// Without the connection string, which may have a password.
  extension PostgresLedger: CustomStringConvertible {
    package var description: String { "store “\(store)” in PostgreSQL on \(string)" }
  }

  extension Limits {
    /// Until when the server answers a statement that waits for no other member.
    var answerTime: ContinuousClock.Instant { .now + statement }
  }

  extension LedgerStanding {
    /// - Parameter rows: A row that begins with `number, hash, epoch, schema`.
    init(_ rows: PostgresResult, _ durability: LedgerDurability) {
      self.init(
        number: rows.number(0, 0), hash: rows.hash(0, 1), epoch: rows.integer(0, 2),
        schema: rows.bytes(0, 3), durability: durability)
    }
  }

  extension PostgresResult {
    /// The rows, which begin with `number, tx, hash, record`.
    var commits: [LedgerCommit] {
      (0..<rowCount).map { row in
        LedgerCommit(
          number: number(row, 0), transaction: TransactionID(rawValue: integer(row, 1)),
          hash: hash(row, 2), record: bytes(row, 3))
      }
    }
  }
#endif
