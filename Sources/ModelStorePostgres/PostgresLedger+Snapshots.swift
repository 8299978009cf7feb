#if Postgres
  package import ModelStore

  /// Founding a store, and snapshots.
  extension PostgresLedger {
    /// It creates the schema `modelstore` and its tables, if they are missing. That needs the right
    /// to create schemas in the database.
    ///
    /// If the connection breaks during the COMMIT, or the standby does not get it, it throws
    /// ``LedgerError/unreachable(_:)`` although the store may exist. A second call then returns
    /// false.
    package func found(_ standing: LedgerStanding, snapshot: any SnapshotSource) throws -> Bool {
      let connection = try openForTransfer()
      return try rethrowing {
        if connection.greeting.layout == nil { try createTables(connection) }
        try begin(connection)
        let head = try connection.run(
          [
            (.awaitStandby, []),
            (
              .found,
              [
                .text(store), .integer(standing.number.rawValue), .bytes(standing.hash.bytes),
                .integer(standing.epoch), .bytes(standing.schema),
              ]
            ),
          ], until: transferTime)
        guard head[1].changedCount == 1 else { return false }
        try send(snapshot, at: standing.number, hash: standing.hash, connection)
        _ = try connection.run([(.commit, [])], until: transferTime)
        guard !connection.takeUnreplicated() else {
          throw LedgerError.unreachable("PostgreSQL did not wait for the standby.")
        }
        return true
      }
    }

    private func createTables(_ connection: PostgresConnection) throws {
      let results = try connection.run(LedgerTables.creation.map { ($0, []) }, until: transferTime)
      // Another program may have created them meanwhile.
      guard let layout = results.dropLast().last?.integer(0, 0), layout <= LedgerTables.layout
      else { throw LedgerError.mismatch("A newer library has created the ledger's tables.") }
    }

    package func snapshotTurn(from byteCount: Int64) throws -> SnapshotAnswer {
      let connection = try openForTransfer()
      guard connection.greeting.layout != nil else { throw unfounded }
      func run(_ statements: [Statement]) throws -> [PostgresResult] {
        try connection.run(statements.map { ($0, [.text(store)]) }, until: transferTime)
      }
      return try rethrowing {
        try begin(connection)
        let before = try run([.head, .recordBytes])
        guard before[0].rowCount == 1 else { throw unfounded }
        var found = before[1].integer(0, 0)
        guard found >= byteCount else { return .notDue(byteCount: found) }
        // Another member may have published a snapshot before the lock was taken.
        let locked = try run([.lockSnapshots, .recordBytes])
        guard locked[0].integer(0, 0) == 1 else { return .taken }
        found = locked[1].integer(0, 0)
        guard found >= byteCount else { return .notDue(byteCount: found) }
        return .granted(PostgresSnapshotTurn(of: self, connection))
      }
    }

    /// - Parameter connection: Its transaction has the lock of snapshots.
    fileprivate func publish(
      _ snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash,
      _ connection: PostgresConnection
    ) throws {
      try rethrowing {
        let results = try connection.run(
          [
            (.hash, [.text(store), .integer(number.rawValue)]),
            (.newestSnapshot, [.text(store)]),
          ], until: transferTime)
        guard results[0].rowCount == 1, results[0].hash(0, 0) == hash else {
          throw LedgerError.mismatch("The ledger does not have commit \(number) with this hash.")
        }
        let newest = results[1].rowCount == 0 ? nil : results[1].number(0, 0)
        if let newest, newest >= number { return }
        try replace(by: snapshot, at: number, hash: hash, connection)
        let finished = try connection.run(
          [
            (.dropCommits, [.text(store), .integer((newest ?? .founding).rawValue)]),
            (.commit, []),
          ], until: transferTime)
        guard finished[1].tag == "COMMIT" else {
          throw LedgerError.failed("PostgreSQL rolled the snapshot back.")
        }
      }
    }

    /// Adds a snapshot to the running transaction, and removes the earlier ones.
    func replace(
      by snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash,
      _ connection: PostgresConnection
    ) throws {
      try send(snapshot, at: number, hash: hash, connection)
      _ = try connection.run(
        [
          (.dropSnapshots, [.text(store), .integer(number.rawValue)]),
          (.dropMembers, [.text(store)]),
        ], until: transferTime)
    }

    package func snapshot() throws -> (any SnapshotReader)? {
      let connection = try openForTransfer()
      guard connection.greeting.layout != nil else { return nil }
      return try rethrowing {
        let results = try connection.run(
          [(.beginReading, []), (.limit, transferLimits), (.newestSnapshot, [.text(store)])],
          until: transferTime)
        guard results[2].rowCount == 1 else { return nil }
        return PostgresSnapshot(of: self, connection, results[2])
      }
    }

    private func send(
      _ snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash,
      _ connection: PostgresConnection
    ) throws {
      var part: Int64 = 0
      func send(_ bytes: [UInt8]) throws {
        let arguments: [Argument] = [
          .text(store), .integer(number.rawValue), .integer(part), .bytes(hash.bytes),
          .bytes(bytes),
        ]
        _ = try connection.run([(.addSnapshotPart, arguments)], until: transferTime)
        part += 1
      }
      while let bytes = try snapshot.next() {
        if !bytes.isEmpty { try send(bytes) }
      }
      // So that an empty snapshot exists.
      if part == 0 { try send([]) }
    }

    /// A connection of its own, so that a long transfer keeps no one from turns and reads.
    private func openForTransfer() throws -> PostgresConnection {
      try server.open(string, limits, for: .ledger)
    }

    private func begin(_ connection: PostgresConnection) throws {
      _ = try connection.run([(.begin, []), (.limit, transferLimits)], until: transferTime)
    }

    var transferLimits: [Argument] {
      [limits.snapshot, limits.snapshot + limits.work, limits.snapshot]
        .map { .text("\($0.milliseconds)") }
    }

    var transferTime: ContinuousClock.Instant { limits.answerTime + limits.snapshot }

    func rethrowing<Result>(_ body: () throws -> Result) throws -> Result {
      do {
        return try body()
      } catch let failure as PostgresFailure {
        throw failure.ledgerError
      }
    }
  }

  /// A transaction that has the lock of a store's snapshots. Until the snapshot is sent, it has no
  /// snapshot of the database, so VACUUM does not wait for it.
  final class PostgresSnapshotTurn: SnapshotTurn {
    private let ledger: PostgresLedger
    /// nil after the right has ended. If it is released before, the connection closes.
    private var connection: PostgresConnection?

    init(of ledger: PostgresLedger, _ connection: PostgresConnection) {
      self.ledger = ledger
      self.connection = connection
    }

    private func takeConnection() -> PostgresConnection {
      guard let connection = connection.take() else {
        preconditionFailure("The right to publish ends once.")
      }
      return connection
    }

    func publish(
      _ snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash
    ) throws {
      let connection = takeConnection()
      defer { Self.end(connection) }
      try ledger.publish(snapshot, at: number, hash: hash, connection)
    }

    func pass() { Self.end(takeConnection()) }

    /// Waits until PostgreSQL has let go of the lock, if it answers.
    private static func end(_ connection: PostgresConnection) {
      guard connection.isInTransaction, !connection.isBroken else { return }
      do {
        _ = try connection.run([(.rollBack, [])], until: .now + .seconds(5))
      } catch {
        // PostgreSQL rolls back when the connection closes.
      }
    }
  }

  /// Reads the parts of one snapshot in a transaction of its own, so that a newer snapshot does not
  /// replace them meanwhile.
  final class PostgresSnapshot: SnapshotReader {
    let number: CommitNumber
    let hash: CommitHash
    private let count: Int64
    private let ledger: PostgresLedger
    private var part: Int64 = 0
    /// nil after the last part.
    private var connection: PostgresConnection?

    /// - Parameter rows: A row of `number, hash, count of parts`.
    init(of ledger: PostgresLedger, _ connection: PostgresConnection, _ rows: PostgresResult) {
      self.ledger = ledger
      self.connection = connection
      number = rows.number(0, 0)
      hash = rows.hash(0, 1)
      count = rows.integer(0, 2)
    }

    func next() throws -> [UInt8]? {
      guard let connection else { return nil }
      let arguments: [Argument] = [
        .text(ledger.store), .integer(number.rawValue), .integer(part),
      ]
      let rows = try ledger.rethrowing {
        try connection.run([(.snapshotPart, arguments)], until: ledger.transferTime)[0]
      }
      guard rows.rowCount == 1 else {
        throw LedgerError.mismatch("Part \(part) of the snapshot at \(number) is missing.")
      }
      if part + 1 == count {
        try ledger.rethrowing {
          // A snapshot of a commit that changed the schema is shown together with that commit.
          _ = try connection.run([(.commit, [])], until: ledger.limits.answerTime)
          try connection.commitMessage(ledger.limits)
        }
        self.connection = nil
      }
      part += 1
      let bytes = rows.bytes(0, 0)
      return bytes.isEmpty ? nil : bytes
    }
  }
#endif
