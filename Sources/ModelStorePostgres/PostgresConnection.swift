#if Postgres
  internal import CLibPQ
  internal import ModelStore

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// A connection to PostgreSQL that sends statements in groups, one round trip for each group.
  ///
  /// It waits for the server until a given time, and longer only while bytes go back or forth. It
  /// throws ``PostgresFailure``.
  final class PostgresConnection: @unchecked Sendable {
    // Guard: one thread at a time uses a connection, the one that took it from its lane.
    private let handle: OpaquePointer
    private let secrets: ConnectionString
    /// How long the connection waits for more, once bytes came or went.
    private let patience: Duration
    private let processID = getpid()
    /// The names of statements that PostgreSQL keeps, or will have when the group is executed.
    private var prepared: Set<String> = []
    /// What the server will answer, in order.
    private var awaited: [Answer] = []
    /// Becomes true when a COMMIT did not wait for the standby. The client library writes it.
    private let unreplicated: UnsafeMutablePointer<Bool>

    /// Whether a transaction is open, or failed and not yet rolled back.
    private(set) var isInTransaction = false
    private(set) var isBroken = false
    /// In milliseconds; nil for no limit.
    private var lockLimit: Int?
    /// What the server said about itself.
    var greeting = Greeting()
    /// ``ConnectionLane/Server/breakCount`` when it was opened.
    var breakCount = 0

    private enum Answer {
      case preparation(of: String)
      case result(Statement.Effect)
      case endOfGroup
    }

    /// - Parameter handle: A `PGconn` that is connected. The connection closes it.
    init(_ handle: OpaquePointer, secrets: ConnectionString, patience: Duration) {
      self.handle = handle
      self.secrets = secrets
      self.patience = patience
      unreplicated = .allocate(capacity: 1)
      unreplicated.initialize(to: false)
      // Otherwise the client library writes warnings to the standard error output.
      PQsetNoticeReceiver(
        handle,
        { context, notice in
          guard PostgresResult.isUnreplicated(notice) else { return }
          context?.assumingMemoryBound(to: Bool.self).pointee = true
        }, unreplicated)
      PQsetnonblocking(handle, 1)
      PQenterPipelineMode(handle)
    }

    deinit {
      // A forked child has a copy of its parent's socket, over which this would say goodbye.
      if getpid() == processID { PQfinish(handle) }
      unreplicated.deallocate()
    }

    var socket: Int32 { PQsocket(handle) }

    // Sending

    /// Adds a statement to the group. It may be sent before the group ends.
    func add(_ statement: Statement, _ arguments: [Argument] = []) throws {
      if let name = statement.name { try prepare(statement, as: name, arguments) }
      let count = Int32(arguments.count)
      let sent = Self.withEncoded(arguments) { values, lengths, formats in
        guard let name = statement.name else {
          let types = arguments.map(\.type)
          return PQsendQueryParams(handle, statement.sql, count, types, values, lengths, formats, 1)
        }
        return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
      }
      guard sent == 1 else { throw brokenNow() }
      awaited.append(.result(statement.effect))
      if statement.effect == .begins { isInTransaction = true }
    }

    private func prepare(
      _ statement: Statement, as name: String, _ arguments: [Argument]
    ) throws {
      guard prepared.insert(name).inserted else { return }
      let types = arguments.map(\.type)
      guard PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1 else {
        throw brokenNow()
      }
      awaited.append(.preparation(of: name))
    }

    /// Calls `body` with a pointer to each argument's value, its length, and its format: binary.
    private static func withEncoded<Result>(
      _ arguments: [Argument],
      _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
    ) -> Result {
      guard !arguments.isEmpty else { return body([], [], []) }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(arguments.reduce(1) { $0 + $1.byteCount })
      var lengths: [Int32] = []
      lengths.reserveCapacity(arguments.count)
      for argument in arguments {
        let start = bytes.count
        argument.encode(to: &bytes)
        lengths.append(Int32(bytes.count - start))
      }
      // An empty value is not NULL, so each needs an address: after the last value there is a byte.
      bytes.append(0)
      return bytes.withUnsafeBytes { bytes in
        var place = 0
        let values = lengths.map { length in
          defer { place += Int(length) }
          return bytes.baseAddress?.advanced(by: place).assumingMemoryBound(to: CChar.self)
        }
        return body(values, lengths, [Int32](repeating: 1, count: lengths.count))
      }
    }

    /// Ends the group and sends what is left of it.
    func endGroup(until end: ContinuousClock.Instant) throws {
      guard PQpipelineSync(handle) == 1 else { throw brokenNow() }
      awaited.append(.endOfGroup)
      var end = end
      while true {
        let rest = PQflush(handle)
        if rest == 0 { return }
        guard rest == 1 else { throw brokenNow() }
        // If the server cannot send its answers, it does not read either.
        try wait(POLLIN | POLLOUT, until: &end)
        guard PQconsumeInput(handle) == 1 else { throw brokenNow() }
      }
    }

    // Receiving

    /// Reads the results of the oldest group.
    ///
    /// - Throws: The first failure of its statements, after the whole group was read.
    func readGroup(until end: ContinuousClock.Instant) throws -> [PostgresResult] {
      var results: [PostgresResult] = []
      var failure: PostgresFailure?
      var end = end
      while true {
        guard let result = try nextResult(until: &end) else { continue }
        if let found = result.failure {
          guard !found.isFatal, PQstatus(handle) == CONNECTION_OK else { throw broken(found) }
          failure = failure ?? redacted(found)
        }
        guard let answer = awaited.first else { throw unexpected }
        if case .endOfGroup = answer, result.status != PGRES_PIPELINE_SYNC {
          // What the end of the group does failed, after all of its statements.
          guard result.failure != nil else { throw unexpected }
          continue
        }
        awaited.removeFirst()
        switch answer {
        case .endOfGroup:
          if let failure { throw failure }
          return results
        case .preparation(let name):
          if result.status != PGRES_COMMAND_OK { prepared.remove(name) }
        case .result(let effect):
          results.append(result)
          if effect == .ends, result.status == PGRES_COMMAND_OK { isInTransaction = false }
        }
      }
    }

    /// Returns nil between two statements.
    private func nextResult(until end: inout ContinuousClock.Instant) throws -> PostgresResult? {
      while PQisBusy(handle) == 1 {
        try wait(POLLIN, until: &end)
        guard PQconsumeInput(handle) == 1 else { throw brokenNow() }
      }
      guard let result = PQgetResult(handle) else {
        guard PQstatus(handle) == CONNECTION_OK else { throw brokenNow() }
        return nil
      }
      return PostgresResult(result)
    }

    /// Runs statements in one round trip, after the answers of earlier groups were read.
    func run(
      _ steps: [(Statement, [Argument])], until end: ContinuousClock.Instant
    ) throws -> [PostgresResult] {
      try settle(until: end)
      for (statement, arguments) in steps { try add(statement, arguments) }
      try endGroup(until: end)
      return try readGroup(until: end)
    }

    /// Reads the answers of earlier groups. Their failures concern no caller.
    func settle(until end: ContinuousClock.Instant) throws {
      while !awaited.isEmpty {
        do {
          _ = try readGroup(until: end)
        } catch is PostgresFailure where !isBroken {
          // A failed statement. Its caller did not wait for the answer.
        }
      }
    }

    /// Rolls an open transaction back. Does not wait for the answer.
    func rollBack() {
      guard isInTransaction, !isBroken else { return }
      do {
        try add(.rollBack)
        try endGroup(until: .now + .seconds(1))
        isInTransaction = false
      } catch {
        // PostgreSQL rolls back when the connection closes.
        isBroken = true
      }
    }

    /// Throws if the server has closed the connection, without a round trip.
    func check() throws {
      while SocketWait.wait(for: socket, POLLIN, until: .now) == .ready {
        guard PQconsumeInput(handle) == 1 else { throw brokenNow() }
      }
    }

    /// Waits until the standby has every commit that the server shows, by committing a message.
    ///
    /// PostgreSQL shows a commit that its standby lacks after a crash, and after a wait for the
    /// standby that ended early. A failover may lose such a commit, so no member may apply it.
    ///
    /// The message is after them in PostgreSQL's log. COMMIT is a part of the statement, so
    /// `statement_timeout` ends the wait, and no backend keeps waiting:
    /// <https://www.postgresql.org/docs/15/plpgsql-transactions.html>.
    ///
    /// - Parameter queries: They run before the message, in the same round trip.
    /// - Returns: The results of `queries`.
    /// - Throws: ``PostgresFailure``. If the standby does not answer in time, the connection is of
    ///   no use.
    @discardableResult
    func commitMessage(
      _ limits: Limits, after queries: [(Statement, [Argument])] = []
    ) throws -> [PostgresResult] {
      let end = ContinuousClock.now + limits.standby + limits.answer
      try settle(until: end)
      _ = takeUnreplicated()
      let steps: [(Statement, [Argument])] =
        queries + [
          (.workLimit, [.text("\(limits.standby.milliseconds)")]), (.commitMessage, []),
          (.workLimit, [.text("\(limits.work.milliseconds)")]),
        ]
      for (statement, arguments) in steps {
        try add(statement, arguments)
        // A group of its own, because a group is a transaction.
        try endGroup(until: end)
      }
      let noStandby = PostgresFailure(
        state: "08006", text: "PostgreSQL waits for its standby, which does not answer.",
        isFatal: true)
      do {
        let results = try steps.flatMap { _ in try readGroup(until: end) }
        guard !takeUnreplicated() else { throw broken(noStandby) }
        return Array(results.prefix(queries.count))
      } catch let failure as PostgresFailure where failure.isCancelled {
        // The limit ended the statement before COMMIT waited.
        throw broken(noStandby)
      }
    }

    /// Has each statement from now on wait at most that long for a lock, rounded up to tenths of a
    /// second. It takes a round trip if the limit differs from the one before.
    func limitLocks(to duration: Duration, _ limits: Limits) throws {
      let limit = (duration.milliseconds + 99) / 100 * 100
      guard limit != lockLimit else { return }
      let work = limit + limits.work.milliseconds
      _ = try run(
        [(.lockLimit, [.text("\(limit)"), .text("\(work)")])], until: limits.answerTime)
      lockLimit = limit
    }

    /// Whether a COMMIT since the last call did not wait for the standby.
    func takeUnreplicated() -> Bool {
      defer { unreplicated.pointee = false }
      return unreplicated.pointee
    }

    /// Takes the texts of notifications that have arrived, in order.
    func takeNotifications() throws -> [String] {
      guard PQconsumeInput(handle) == 1 else { throw brokenNow() }
      var texts: [String] = []
      while let notification = PQnotifies(handle) {
        texts.append(String(cString: notification.pointee.extra))
        PQfreemem(notification)
      }
      return texts
    }

    // Failures

    private func wait(_ events: Int32, until end: inout ContinuousClock.Instant) throws {
      switch SocketWait.wait(for: socket, events, until: end) {
      case .ready: end = max(end, .now + patience)
      case .timedOut, .stopped, .woken: throw broken(.lost("PostgreSQL does not answer."))
      }
    }

    private func brokenNow() -> PostgresFailure {
      broken(.lost(String(cString: PQerrorMessage(handle)).firstLine))
    }

    private var unexpected: PostgresFailure {
      broken(.lost("PostgreSQL sent an unexpected answer."))
    }

    private func broken(_ failure: PostgresFailure) -> PostgresFailure {
      isBroken = true
      return redacted(failure)
    }

    private func redacted(_ failure: PostgresFailure) -> PostgresFailure {
      PostgresFailure(
        state: failure.state, text: secrets.redacted(failure.text), isFatal: failure.isFatal)
    }
  }
#endif
