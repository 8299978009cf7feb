#if Postgres
  import Dispatch
  import LedgerConformance
  import ModelStore
  import Synchronization
  import Testing

  @testable import ModelStorePostgres

  /// Each kind of failure of a real server is one case of `LedgerError`.
  ///
  /// One test at a time: PostgreSQL refuses one of two GRANT on the same table at once.
  @Suite(
    .tags(.process), .serialized, .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct PostgresErrorTests {
    /// A server whose tests change its rights. It asks the user `guarded` for a password.
    private static let server = Result {
      let server = try PostgresServer(
        settings: ["password_encryption=scram-sha-256"],
        access: [
          "local all guarded scram-sha-256", "host all guarded 127.0.0.1/32 scram-sha-256",
          "local all banned reject",
        ], isOnLoopback: true)
      try server.execute(
        "CREATE ROLE guarded LOGIN PASSWORD 'pa55word-Ü'", "CREATE ROLE banned LOGIN",
        "CREATE ROLE reader LOGIN", "CREATE ROLE stranger LOGIN",
        "CREATE ROLE dreamer LOGIN", "ALTER ROLE dreamer SET default_transaction_read_only = on")
      let ledger = try server.ledger("known")
      _ = try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]]))
      try server.execute(
        "GRANT USAGE ON SCHEMA modelstore TO reader, dreamer",
        "GRANT SELECT ON ALL TABLES IN SCHEMA modelstore TO reader, dreamer")
      return server
    }

    private let server: PostgresServer

    init() throws {
      server = try Self.server.get()
    }

    private func ledger(_ connection: String) throws -> PostgresLedger {
      try PostgresLedger(connection: connection, store: "known", limits: Limits())
    }

    private func expect<Result>(
      _ kind: (String) -> LedgerError, mentions words: String, _ body: () throws -> Result,
      at place: SourceLocation = #_sourceLocation
    ) {
      let error = #expect(throws: LedgerError.self, sourceLocation: place) { _ = try body() }
      guard let error else { return }
      #expect(error == kind(error.message), sourceLocation: place)
      #expect(error.message.contains(words), "\(error.message)", sourceLocation: place)
      #expect(!error.message.contains("pa55"), "\(error.message)", sourceLocation: place)
      #expect(!error.message.contains("\n"), "\(error.message)", sourceLocation: place)
    }

    @Test(arguments: [
      "host=127.0.0.1 port=PORT user=guarded dbname=postgres password=pa55wrong",
      "postgresql://guarded:pa55wrong@127.0.0.1:PORT/postgres",
      "host=127.0.0.1 port=PORT user=guarded dbname=postgres",
    ])
    func aWrongOrMissingPasswordIsNotAuthenticated(_ text: String) throws {
      let ledger = try ledger(text.replacing("PORT", with: "\(server.port)"))
      expect(LedgerError.notAuthenticated, mentions: "password") { try ledger.standing() }
      expect(LedgerError.notAuthenticated, mentions: "password") {
        try ledger.turn(after: .founding, deadline: .seconds(1))
      }
    }

    @Test func theRightPasswordIsTaken() throws {
      let text = "postgresql://guarded:pa55word-%C3%9C@127.0.0.1:\(server.port)/postgres"
      let guarded = try ledger(text)
      try server.execute(
        "GRANT USAGE ON SCHEMA modelstore TO guarded",
        "GRANT SELECT ON ALL TABLES IN SCHEMA modelstore TO guarded")
      #expect(try guarded.standing()?.number == .founding)
    }

    @Test func aUserWhoMayNotConnectIsNotAuthenticated() throws {
      let banned = try ledger(server.connection(user: "banned"))
      expect(LedgerError.notAuthenticated, mentions: "pg_hba.conf") { try banned.standing() }
      let unknown = try ledger(server.connection(user: "unheard-of"))
      expect(LedgerError.notAuthenticated, mentions: "unheard-of") { try unknown.standing() }
    }

    @Test func anUnknownDatabaseIsNotTheStores() throws {
      let ledger = try ledger(server.connection(database: "nowhere"))
      expect(LedgerError.mismatch, mentions: "nowhere") { try ledger.standing() }
    }

    @Test func aServerThatIsDownOrUnknownIsUnreachable() throws {
      let port = try PostgresServer.freePort()
      for host in ["host=127.0.0.1 port=\(port)", "host=/nonexistent", "host=unknown.invalid"] {
        let ledger = try ledger("\(host) user=modelstore")
        let place = String(host.split(separator: " ")[0].dropFirst(5))
        expect(LedgerError.unreachable, mentions: place) { try ledger.standing() }
        expect(LedgerError.unreachable, mentions: place) {
          try ledger.turn(after: .founding, deadline: .seconds(1))
        }
      }
    }

    @Test func ofSeveralHostsTheFirstThatCanWriteIsUsed() throws {
      let closed = try PostgresServer.freePort()
      let standby = try PostgresServer(
        settings: ["default_transaction_read_only=on", "fsync=off"], isOnLoopback: true)
      let ports = [closed, standby.port, server.port].map { "\($0)" }.joined(separator: ",")
      let hosts = "host=127.0.0.1,127.0.0.1,127.0.0.1"
      let several = try ledger("\(hosts) port=\(ports) user=modelstore dbname=postgres")
      #expect(try several.standing()?.number == .founding)
      #expect("\(several)".hasSuffix("127.0.0.1:\(server.port)"))
      // A server that answers says more than one that is down.
      let none = try ledger(
        "host=127.0.0.1,127.0.0.1 port=\(standby.port),\(closed) user=modelstore dbname=postgres")
      expect(LedgerError.readOnly, mentions: "read-only") { try none.standing() }
      let any = try ledger(
        "host=127.0.0.1 port=\(standby.port) user=modelstore dbname=postgres "
          + "target_session_attrs=any")
      #expect(try any.standing() == nil)
      expect(LedgerError.readOnly, mentions: "read-only") {
        try any.found(LedgerWorld.founding(), snapshot: PartsSource([[1]]))
      }
    }

    @Test func aSessionThatOnlyReadsTakesNoTurn() throws {
      let reading = try ledger(server.connection(user: "dreamer") + " target_session_attrs=any")
      #expect(try reading.standing()?.number == .founding)
      try server.execute("GRANT UPDATE ON modelstore.heads TO dreamer")
      expect(LedgerError.readOnly, mentions: "read-only transaction") {
        try reading.turn(after: .founding, deadline: .seconds(60))
      }
    }

    @Test func whatTheUserMayNotDoIsNotPermitted() throws {
      let stranger = try ledger(server.connection(user: "stranger"))
      expect(LedgerError.notPermitted, mentions: "permission denied") { try stranger.standing() }
      let reader = try ledger(server.connection(user: "reader"))
      #expect(try reader.standing()?.number == .founding)
      #expect(try reader.commits(after: .founding, limit: 9) == [])
      expect(LedgerError.notPermitted, mentions: "permission denied for table heads") {
        try reader.turn(after: .founding, deadline: .seconds(60))
      }
      expect(LedgerError.notPermitted, mentions: "permission denied for table members") {
        try reader.note(.make(), at: .founding)
      }
      // The commit is refused although the turn was given.
      try server.execute("GRANT SELECT, UPDATE ON modelstore.heads TO reader")
      let turn = try reader.turn(after: .founding, deadline: .seconds(60))
      expect(LedgerError.notPermitted, mentions: "permission denied for table commits") {
        try turn.append(turn.head.next())
      }
      #expect(try reader.standing()?.number == .founding)
      try server.execute("CREATE DATABASE empty")
      let founder = try ledger(server.connection(user: "reader", database: "empty"))
      expect(LedgerError.notPermitted, mentions: "permission denied for database empty") {
        try founder.found(LedgerWorld.founding(), snapshot: PartsSource([[1]]))
      }
    }

    @Test func aFullDiskIsOutOfSpaceAndTheTurnEnds() throws {
      let ledger = try server.ledger("full")
      _ = try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]]))
      try server.execute(
        """
        CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$
        """,
        """
        CREATE TRIGGER full_disk BEFORE INSERT ON modelstore.commits
        FOR EACH ROW WHEN (NEW.store = 'full') EXECUTE FUNCTION full_disk()
        """)
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      expect(LedgerError.outOfSpace, mentions: "could not extend file") {
        try turn.append(turn.head.next())
      }
      try server.execute("DROP TRIGGER full_disk ON modelstore.commits")
      #expect(try ledger.commit().number.rawValue == 1)
    }

    @Test func newerOrMissingTablesAreRefused() throws {
      try server.execute("CREATE DATABASE newer")
      let text = server.connection(database: "newer")
      let ledger = try ledger(text)
      #expect(try ledger.standing() == nil)
      _ = try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]]))
      let admin = try PostgresConnection.open(
        ConnectionString(text), Limits(), for: .records)
      func execute(_ statement: String) throws {
        _ = try admin.run([(.once(statement), [])], until: .now + .seconds(60))
      }
      try execute("UPDATE modelstore.layout SET version = 2")
      let newer = try self.ledger(text)
      expect(LedgerError.mismatch, mentions: "layout 2") { try newer.standing() }
      expect(LedgerError.mismatch, mentions: "layout 2") {
        try newer.found(LedgerWorld.founding(), snapshot: PartsSource([[1]]))
      }
      try execute("UPDATE modelstore.layout SET version = 1")
      try execute("DROP TABLE modelstore.commits")
      expect(LedgerError.mismatch, mentions: "commits") {
        try newer.turn(after: .founding, deadline: .seconds(60))
      }
    }

    @Test func aRecordThatPostgreSQLCannotTakeIsRefusedBeforeItIsSent() throws {
      let ledger = try server.ledger("large")
      _ = try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]]))
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      let commit = LedgerCommit(
        number: turn.head.number.next, transaction: .make(first: nil),
        hash: CommitHash(of: []),
        record: [UInt8](repeating: 0, count: Limits.recordByteCountMax + 1))
      expect(LedgerError.failed, mentions: "536870913 bytes") { try turn.append(commit) }
      #expect(try ledger.commit().number.rawValue == 1)
    }

    @Test(arguments: [
      "postgresql://u:pa55%zz@host/db", "password='pa55", "host=a pa55", "nonsense=1 password=pa55",
      "host=a,b port=1,2,3 password=pa55",
    ])
    func aMalformedConnectionStringIsRefusedWithoutItsText(_ text: String) {
      expect(LedgerError.failed, mentions: "connection string") {
        try PostgresLedger(connection: text, store: "a")
      }
    }

    @Test func noTextOfALedgerHasItsPassword() throws {
      let text = "host=127.0.0.1 port=1 user=pa55word password=pa55word sslpassword=pa55key"
      let ledger = try PostgresLedger(connection: text, store: "a")
      var dumped = ""
      dump(ledger, to: &dumped)
      for text in ["\(ledger)", String(reflecting: ledger), dumped, "\(ledger.string)"] {
        #expect(!text.contains("pa55"), "\(text)")
      }
      expect(LedgerError.unreachable, mentions: "port 1") { try ledger.standing() }
    }

    @Test func theDurabilityOfCommitsIsThatOfTheServersSettings() {
      func durability(_ fsync: String, _ commit: String, _ standbys: String) -> LedgerDurability {
        PostgresConnection.durability(fsync: fsync, commit: commit, standbys: standbys)
      }
      #expect(durability("on", "on", "") == .local)
      #expect(durability("on", "on", "ANY 1 (a, b)") == .replicated)
      #expect(durability("on", "remote_write", "*") == .replicated)
      #expect(durability("on", "local", "*") == .local)
      #expect(durability("on", "off", "*") == .none)
      #expect(durability("off", "on", "*") == .none)
    }

    @Test(arguments: [
      ("", LedgerDurability.local), ("-c synchronous_commit=off", .none),
    ])
    func theDurabilityIsReadFromTheServer(_ options: String, _ wanted: LedgerDurability) throws {
      let ledger = try ledger(server.connection() + " options='\(options)'")
      #expect(try ledger.standing()?.durability == wanted)
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.head.durability == wanted)
    }

    /// It needs its connection to be notified by others.
    @Test func aMemberWhoseNotificationIsRefusedKeepsListening() throws {
      try server.execute(
        "CREATE ROLE mute LOGIN", "GRANT USAGE ON SCHEMA modelstore TO mute",
        "GRANT ALL ON ALL TABLES IN SCHEMA modelstore TO mute",
        "REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC")
      let other = try server.ledger("mute")
      #expect(try other.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let mute = try PostgresLedger(
        connection: server.connection(user: "mute") + " application_name=mute", store: "mute")
      let numbers = Mutex<[CommitNumber?]>([])
      let rung = DispatchSemaphore(value: 0)
      let bells = [
        try mute.listen { number in
          numbers.withLock { $0.append(number) }
          rung.signal()
        },
        try other.listen { _ in },
      ]
      defer { for bell in bells { bell.end() } }
      try mute.commit()
      let refused = """
        SELECT 1 FROM pg_stat_activity WHERE application_name = 'mute'
          AND query LIKE 'SELECT pg_notify(%' AND state LIKE 'idle%'
        """
      let end = ContinuousClock.now + .seconds(60)
      while try server.execute(refused).rowCount == 0 { try #require(ContinuousClock.now < end) }
      let commit = try other.commit()
      try #require(rung.wait(timeout: .now() + .seconds(60)) == .success)
      // After a new connection it would ring without a number.
      #expect(numbers.withLock { $0 } == [commit.number])
    }

    /// The end of a group commits it, if no statement does.
    @Test func aFailureAtTheEndOfAGroupIsThatGroups() throws {
      let ledger = try server.ledger("known")
      let connection = try PostgresConnection.open(ledger.string, ledger.limits, for: .records)
      func run(_ sql: String) throws -> PostgresResult {
        try connection.run([(.once(sql), [])], until: .now + .seconds(60))[0]
      }
      _ = try run("CREATE TEMPORARY TABLE late (id integer UNIQUE DEFERRABLE INITIALLY DEFERRED)")
      let failure = #expect(throws: PostgresFailure.self) {
        try run("INSERT INTO late VALUES (1), (1)")
      }
      #expect(failure?.state == "23505")
      #expect(try run("SELECT 7").integer(0, 0) == 7)
      #expect(try run("SELECT count(*) FROM late").integer(0, 0) == 0)
    }
  }
#endif
