#if Postgres
  import Foundation
  import LedgerConformance
  import ModelStore
  import Testing

  @testable import ModelStorePostgres

  /// A member finds the primary: not a standby, and not a server that was replaced.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct PostgresPrimaryTests {
    private let server: PostgresServer
    private let ledger: PostgresLedger

    init() throws {
      server = try PostgresServer()
      ledger = try server.ledger("music")
      #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
    }

    /// A primary that stood still gives a turn, when it goes on, before it knows that another one
    /// took its place.
    @Test func aTurnOfAPrimaryThatWasReplacedMeanwhileIsTakenAgain() throws {
      let other = try PostgresServer()
      let promoted = try other.ledger("music")
      #expect(try promoted.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let theirs = try promoted.commit([9])
      for place in [server, other] { try place.execute("CREATE ROLE member SUPERUSER LOGIN") }
      let hosts = "\(server.directory),\(other.directory)"
      let member = try PostgresLedger(
        connection: server.connection(user: "member", host: hosts), store: "music")
      #expect(try member.commits(after: .founding, limit: 9) == [])
      let held = try ledger.turn(after: .founding, deadline: .seconds(60))
      let waiting = WaitingThread {
        let turn = try member.turn(after: .founding, deadline: .seconds(60))
        #expect(turn.missed == [theirs])
        turn.pass()
      }
      let sessions = "FROM pg_stat_activity WHERE usename = 'member'"
      let waits = "SELECT 1 \(sessions) AND wait_event_type = 'Lock'"
      while try server.execute(waits).rowCount == 0 {}
      // Its next connection leads to the other server.
      try server.execute("ALTER ROLE member NOLOGIN")
      let ended = try server.execute(
        "SELECT pg_terminate_backend(pid, 60000) \(sessions) AND state = 'idle'")
      #expect(ended.rowCount == 1)
      #expect(try member.commits(after: .founding, limit: 9) == [theirs])
      held.pass()
      try waiting.join()
    }

    /// The connection for reading has found another server before the one for turns was opened.
    @Test func allConnectionsOfAMemberLeadToOneServer() throws {
      let other = try PostgresServer()
      let promoted = try other.ledger("music")
      #expect(try promoted.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let theirs = try promoted.commit([9])
      let ours = try ledger.commit([1])
      let hosts = "\(server.directory),\(other.directory)"
      let member = try PostgresLedger(connection: server.connection(host: hosts), store: "music")
      try server.stop()
      #expect(try member.commits(after: .founding, limit: 9) == [theirs])
      try server.start()
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == [ours])
      turn.pass()
      #expect(try member.commits(after: .founding, limit: 9) == [ours])
    }

    @Test func aConnectionToAnotherServerIsABreakForTheOthers() {
      let server = ConnectionLane.Server()
      #expect(server.noteOpening(of: "a", after: 0) == 0)
      #expect(server.noteOpening(of: "a", after: 0) == 0)
      #expect(server.breakCount == 0)
      #expect(server.noteOpening(of: "b", after: 0) == 1)
      #expect(server.breakCount == 1)
      // Another connection broke while this one was opened, so it counts as old, too.
      server.noteBreak()
      #expect(server.noteOpening(of: "a", after: 1) == 1)
      #expect(server.breakCount == 3)
      #expect(server.noteOpening(of: "a", after: 3) == 3)
    }

    /// As a proxy may have it, while the earlier server is still there.
    @Test(arguments: [false, true])
    func oneAddressMayLeadToAnotherServer(_ hasStandby: Bool) throws {
      let other = try PostgresServer()
      let promoted = try other.ledger("music")
      #expect(try promoted.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let theirs = try promoted.commit([9])
      let address = server.directory + "/address"
      func lead(to place: PostgresServer) throws {
        try? FileManager.default.removeItem(atPath: address)
        try FileManager.default.createSymbolicLink(
          atPath: address, withDestinationPath: place.directory)
      }
      try lead(to: server)
      let member = try PostgresLedger(connection: server.connection(host: address), store: "music")
      try member.turn(after: .founding, deadline: .seconds(60)).pass()
      let standby = hasStandby ? try server.withStandby() : nil
      defer { standby.map(PostgresServer.end) }
      try ledger.commit([1])
      try lead(to: other)
      #expect(try member.commits(after: .founding, limit: 9) == [theirs])
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == [theirs])
      turn.pass()
    }

    /// The connection for reading was opened again, perhaps to another server than the turn's.
    @Test func aTurnIsTakenAgainAfterTheConnectionForReadingWasLost() throws {
      let standby = try server.withStandby()
      defer { PostgresServer.end(standby) }
      let member = try PostgresLedger(
        connection: server.connection() + " application_name=member", store: "music")
      let holders = """
        SELECT pid FROM pg_stat_activity
        WHERE application_name = 'member' AND state = 'idle in transaction'
        """
      #expect(try member.standing()?.number == .founding)
      let before = try member.turn(after: .founding, deadline: .seconds(60))
      let holder = try server.execute(holders).integer(0, 0)
      before.pass()
      let first = try ledger.commit([1])
      // The latest statement of the connection for reading is that of `standing()`.
      let ended = try server.execute(
        """
        SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE application_name = 'member' AND pid <> \(holder)
        """)
      #expect(ended.rowCount == 1)
      // Also if no other member may be waited for.
      let turn = try member.turn(after: .founding, deadline: .zero)
      #expect(turn.missed == [first])
      // Another connection has the turn.
      #expect(try server.execute("\(holders) AND pid <> \(holder)").rowCount == 1)
      turn.pass()
    }

    /// The server is a primary that does not know yet that another one took its place.
    @Test func aMemberLeavesAServerWhoseCommitsWaitForever() throws {
      let promoted = try PostgresServer()
      let other = try promoted.ledger("music")
      #expect(try other.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let commit = try other.commit([9])
      let hosts = "\(server.directory),\(promoted.directory)"
      let writer = try PostgresLedger(connection: server.connection(host: hosts), store: "music")
      let reader = try PostgresLedger(connection: server.connection(host: hosts), store: "music")
      let standby = try server.withStandby()
      defer { PostgresServer.end(standby) }
      let asker = try PostgresLedger(connection: server.connection(host: hosts), store: "music")
      for member in [writer, reader, asker] {
        #expect(try member.standing()?.number == .founding)
        try member.turn(after: .founding, deadline: .seconds(60)).pass()
      }
      _ = try ledger.turn(after: .founding, deadline: .seconds(60))
      try server.requireStandby("absent")
      let waiting = WaitingThread {
        #expect(throws: LedgerError.self) { try ledger.commit([1]) }
      }
      while try server.commitWaitCount == 0 {}

      #expect(try writer.standing()?.number == .founding)
      let error = #expect(throws: LedgerError.self) {
        try writer.turn(after: .founding, deadline: .milliseconds(100))
      }
      #expect(error.map { .timedOut($0.message) } == error)
      // The check that follows takes some seconds.
      while try writer.standing()?.number != commit.number {}
      let turn = try writer.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == [commit])
      turn.pass()

      // A member that only reads finds out when it notes what it has.
      #expect(try reader.standing()?.number == .founding)
      try reader.note(.make(), at: .founding)
      #expect(try reader.standing()?.number == commit.number)

      // And one that asks for a commit of the new primary, before it says that the commit is lost.
      #expect(try asker.hash(of: commit.number) == nil)
      let confirmed = try asker.confirm(commit.number)
      #expect(confirmed.hash == commit.hash)
      #expect(confirmed.head?.number == commit.number)
      #expect(try asker.turn(after: commit.number, deadline: .seconds(60)).head.hash == commit.hash)

      try server.cancelWaitForStandby()
      try waiting.join()
    }

    @Test func aListenerPassesOverAStandby() throws {
      let standby = try PostgresServer()
      try standby.restartAsStandby()
      let hosts = "\(standby.directory),\(server.directory)"
      let member = try PostgresLedger(
        connection: server.connection(host: hosts) + " target_session_attrs=any", store: "music")
      let rung = DispatchSemaphore(value: 0)
      let bells = [
        try member.listen { if $0?.rawValue == 1 { rung.signal() } }, try ledger.listen { _ in },
      ]
      try ledger.commit([1])
      #expect(rung.wait(timeout: .now() + .seconds(60)) == .success)
      for bell in bells { bell.end() }
    }

    /// The server is down at first, or still a standby.
    @Test(arguments: [false, true])
    func aListenerThatReachesNoPrimaryTriesAgain(_ isStandby: Bool) throws {
      if isStandby { try server.restartAsStandby() } else { try server.stop() }
      let rung = DispatchSemaphore(value: 0)
      let bell = try server.ledger("music").listen { _ in rung.signal() }
      if isStandby { try server.promote() } else { try server.start() }
      #expect(rung.wait(timeout: .now() + .seconds(60)) == .success)
      bell.end()
    }

    /// It may have commits that the next primary lacks.
    @Test func aMemberDoesNotReadFromAStandby() throws {
      try server.restartAsStandby()
      let member = try PostgresLedger(
        connection: server.connection() + " target_session_attrs=any", store: "music")
      #expect(throws: LedgerError.readOnly("The server is a standby. Name the primary.")) {
        try member.standing()
      }
    }

    /// As after a crash of a backend, in which the server lost what no disk had. Row security hides
    /// the commit from one connection here.
    @Test func aTurnIsTakenAgainIfTheOtherConnectionDoesNotSeeItsCommit() throws {
      let standby = try server.withStandby()
      defer { PostgresServer.end(standby) }
      let member = try PostgresLedger(
        connection: server.connection(user: "member"), store: "music")
      try server.execute(
        "CREATE ROLE member LOGIN", "GRANT USAGE ON SCHEMA modelstore TO member",
        "GRANT ALL ON ALL TABLES IN SCHEMA modelstore TO member",
        "CREATE TABLE blind (pid integer)", "GRANT SELECT ON blind TO member",
        "ALTER TABLE modelstore.commits ENABLE ROW LEVEL SECURITY",
        """
        CREATE POLICY seen ON modelstore.commits
        USING (NOT EXISTS (SELECT FROM blind WHERE pid = pg_backend_pid()))
        """)
      let sessions = "SELECT pid FROM pg_stat_activity WHERE usename = 'member'"
      #expect(try member.standing()?.number == .founding)
      try server.execute("INSERT INTO blind \(sessions)")
      let before = try member.turn(after: .founding, deadline: .seconds(60))
      before.pass()
      let first = try ledger.commit([1])
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == [first])
      // Both connections are new ones.
      let isBlind = "pid IN (SELECT pid FROM blind)"
      #expect(try server.execute("\(sessions) AND \(isBlind)").rowCount == 0)
      turn.pass()
    }
  }
#endif
