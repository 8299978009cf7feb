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

  /// Connecting.
  extension PostgresConnection {
    /// What the server said about itself.
    struct Greeting {
      /// The value of `fsync`.
      fileprivate(set) var fsync = ""
      /// `synchronous_standby_names` and `synchronous_commit`, as the latest statement that reads
      /// them found them: a cluster may change them while a connection is open.
      fileprivate(set) var standbys = ""
      fileprivate(set) var commit = ""
      /// When the server started, in microseconds: another text for another server, and after a
      /// restart. One address may lead to several servers, and several to one.
      fileprivate(set) var server = ""
      /// The version of the ledger's tables; nil if there are none.
      var layout: Int64?

      var durability: LedgerDurability {
        PostgresConnection.durability(fsync: fsync, commit: commit, standbys: standbys)
      }

      /// Takes `synchronous_standby_names` and `synchronous_commit` from an answer.
      ///
      /// - Parameters:
      ///   - rows: Of a statement with ``Statement/replication``. Without a row, nothing changes.
      ///   - column: The first of these two columns. Most statements have four others before.
      mutating func update(from rows: PostgresResult, at column: Int = 4) {
        guard rows.rowCount > 0 else { return }
        standbys = rows.text(0, column)
        commit = rows.text(0, column + 1)
      }

      /// Whether a COMMIT of this connection returns only after the standby has it on its disk. A
      /// role may commit without that.
      var commitsToStandby: Bool {
        waitsForStandby && ["on", "remote_apply"].contains(commit)
      }

      /// Whether the server may show commits that its standby does not have.
      var waitsForStandby: Bool { !standbys.isEmpty }
    }

    /// What a connection is for.
    enum Purpose {
      /// It reads commits or listens to them, so the server must be the primary, and show only
      /// commits that its standby has.
      case ledger
      /// It writes copies of records, whose state is read again in each transaction.
      case records
    }

    /// Connects to the first host that is fit.
    ///
    /// - Parameter stop: A descriptor that becomes readable to give up.
    /// - Throws: ``LedgerError``, that of the host which came nearest.
    static func open(
      _ string: ConnectionString, _ limits: Limits, for purpose: Purpose, stop: Int32? = nil
    ) throws -> PostgresConnection {
      var failures: [PostgresFailure] = []
      for attempt in string.attempts {
        do {
          let connection = try open(attempt, of: string, limits, stop)
          try connection.greet(string, limits, for: purpose)
          if purpose == .ledger, connection.greeting.waitsForStandby {
            try connection.commitMessage(limits)
          }
          return connection
        } catch let failure as PostgresFailure {
          failures.append(failure)
        }
      }
      // A refusal says more than a host that is down.
      let failure = failures.max { $0.state == nil && $1.state != nil }
      throw failure?.ledgerError ?? .unreachable("The connection string has no host.")
    }

    private static func open(
      _ attempt: ConnectionString.Attempt, of string: ConnectionString, _ limits: Limits,
      _ stop: Int32?
    ) throws -> PostgresConnection {
      guard let handle = start(attempt) else { throw PostgresFailure.lost("Out of memory.") }
      // So that the text of a refusal has its code.
      PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
      do {
        try complete(handle, attempt, until: .now + limits.connecting, stop)
      } catch let failure as PostgresFailure {
        PQfinish(handle)
        throw PostgresFailure(
          state: failure.state, text: string.redacted(failure.text), isFatal: true)
      }
      PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
      return PostgresConnection(handle, secrets: string, patience: limits.answer)
    }

    /// Begins to connect, without waiting for the server.
    ///
    /// - Returns: A `PGconn`; nil if memory is short.
    static func start(_ attempt: ConnectionString.Attempt) -> OpaquePointer? {
      let texts = attempt.options.map { (strdup($0.keyword), strdup($0.value)) }
      defer {
        for (keyword, value) in texts {
          free(keyword)
          free(value)
        }
      }
      let keywords = texts.map { UnsafePointer($0.0) } + [nil]
      let values = texts.map { UnsafePointer($0.1) } + [nil]
      let handle = PQconnectStartParams(keywords, values, 0)
      // Otherwise the client library writes warnings to the standard error output.
      if let handle { PQsetNoticeReceiver(handle, { _, _ in }, nil) }
      return handle
    }

    private static func complete(
      _ handle: OpaquePointer, _ attempt: ConnectionString.Attempt,
      until end: ContinuousClock.Instant, _ stop: Int32?
    ) throws {
      var status = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
      while status != PGRES_POLLING_OK {
        guard status != PGRES_POLLING_FAILED else { throw refusal(handle) }
        let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
        let outcome = SocketWait.wait(for: PQsocket(handle), Int32(events), until: end, stop: stop)
        guard outcome == .ready else {
          throw PostgresFailure.lost("PostgreSQL does not answer on \(attempt.place).")
        }
        status = PQconnectPoll(handle)
      }
    }

    /// Why the server did not let this program in. Its text is like `FATAL:  28P01: password …`, in
    /// the server's language.
    private static func refusal(_ handle: OpaquePointer) -> PostgresFailure {
      let text = String(cString: PQerrorMessage(handle)).firstLine
      if let match = text.firstMatch(of: /:\s+([0-9A-Z]{4}[0-9]):\s/) {
        let reason = text.replacing(match.0, with: ": ", maxReplacements: 1)
        return PostgresFailure(state: String(match.1), text: reason, isFatal: true)
      }
      // The client library refuses to log in without a password.
      let isPasswordMissing = PQconnectionNeedsPassword(handle) == 1
      return PostgresFailure(
        state: isPasswordMissing ? "28P01" : nil, text: text, isFatal: true)
    }

    /// Sets the connection's limits and reads what the server says about itself.
    private func greet(
      _ string: ConnectionString, _ limits: Limits, for purpose: Purpose
    ) throws {
      let end = ContinuousClock.now + limits.connecting
      try add(
        .greet, [.text("\(limits.work.milliseconds)"), .text("\(limits.turn.milliseconds)")])
      if purpose == .ledger { try add(.keepPlans) }
      // A failed statement takes its group back.
      try endGroup(until: end)
      // A mirror needs no right on the ledger's tables.
      if purpose == .ledger {
        try add(.layout)
        try endGroup(until: end)
      }
      let settings = try readGroup(until: end)[0]
      if string.requiresWriting, settings.text(0, 3) == "on" {
        throw PostgresFailure(
          state: "25006", text: "The server is read-only.", isFatal: false)
      }
      // It may have commits that the next primary lacks, and takes no LISTEN.
      if purpose == .ledger, settings.text(0, 7) == "true" {
        throw PostgresFailure(
          state: "25006", text: "The server is a standby. Name the primary.", isFatal: false)
      }
      greeting.update(from: settings)
      greeting.fsync = settings.text(0, 6)
      greeting.server = settings.text(0, 8)
      guard purpose == .ledger else { return }
      do {
        greeting.layout = try readGroup(until: end)[0].integer(0, 0)
      } catch let failure as PostgresFailure where ["42P01", "3F000"].contains(failure.state) {
        greeting.layout = nil
      }
      if let layout = greeting.layout, layout > LedgerTables.layout {
        throw PostgresFailure(
          state: "42P01",
          text: "The ledger's tables have layout \(layout). This library knows layouts up to "
            + "\(LedgerTables.layout). Update it.", isFatal: false)
      }
    }

    /// - Parameters:
    ///   - fsync: The setting of this name.
    ///   - commit: `synchronous_commit`.
    ///   - standbys: `synchronous_standby_names`.
    static func durability(fsync: String, commit: String, standbys: String) -> LedgerDurability {
      guard fsync == "on", commit != "off" else { return .none }
      return standbys.isEmpty || commit == "local" ? .local : .replicated
    }
  }
#endif
