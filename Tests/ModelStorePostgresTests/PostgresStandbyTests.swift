#if Postgres
  import Foundation
  import LedgerConformance
  import ModelStore
  import Testing

  @testable import ModelStorePostgres

  /// A server whose commits wait for a standby.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct PostgresStandbyTests {
    private let server: PostgresServer
    private let ledger: PostgresLedger
    private let limits: Limits = {
      var limits = Limits()
      limits.standby = .milliseconds(300)
      return limits
    }()

    init() throws {
      server = try PostgresServer()
      ledger = try server.ledger("music")
      #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
    }

    @Test func aCommitThatDidNotWaitForItsStandbyIsUnknown() throws {
      _ = try ledger.turn(after: .founding, deadline: .seconds(60))
      try server.requireStandby("absent")
      let transaction = TransactionID.make(first: nil)
      let waiting = WaitingThread {
        #expect(throws: LedgerError.outcomeUnknown(transaction)) {
          try ledger.commit([1], transaction: transaction)
        }
      }
      try server.cancelWaitForStandby()
      try waiting.join()
      // Its number is not known either before the standby has it: resolving waits, too.
      let resolving = WaitingThread {
        #expect(throws: LedgerError.self) {
          try ledger.resolve(transaction, deadline: .seconds(60))
        }
      }
      try server.cancelWaitForStandby()
      try resolving.join()
      try server.requireNoStandby()
      #expect(try ledger.resolve(transaction, deadline: .seconds(60))?.rawValue == 1)
    }

    /// After a crash, the server shows a commit that was waiting for the standby.
    @Test func membersReadACommitOnlyWhenTheStandbyHasIt() throws {
      let standby = try withStandby()
      #expect(try server.ledger("music").standing()?.durability == .replicated)
      let first = try ledger.commit([1])
      PostgresServer.end(standby)
      let waiting = WaitingThread {
        #expect(throws: LedgerError.self) { try ledger.commit([2]) }
      }
      while try server.commitWaitCount == 0 {}
      try server.kill()
      try server.start()
      try waiting.join()
      let shown = try server.execute("SELECT max(number) FROM modelstore.commits").integer(0, 0)
      #expect(shown == 2)

      let member = try server.ledger("music", limits: limits)
      for _ in 0..<3 {
        expectNoStandby { _ = try member.standing() }
        expectNoStandby { _ = try member.commits(after: .founding, limit: 9) }
        expectNoStandby { _ = try member.turn(after: .founding, deadline: .seconds(60)) }
        expectNoStandby { _ = try member.snapshot() }
      }
      // Nothing waits on the server for a member that has given up.
      #expect(try server.standbyWaitCount == 0)

      let back = try server.startStandby()
      defer { PostgresServer.end(back) }
      let other = try server.ledger("music")
      let commits = try other.commits(after: .founding, limit: 9)
      #expect(commits.map(\.number.rawValue) == [1, 2])
      #expect(commits.first == first)
      #expect(try other.commit([3]).number.rawValue == 3)
    }

    /// When a wait for the standby ends early, the server shows the commit, also to connections
    /// that are open. It does so while it shuts down, too.
    @Test func aCommitThatDidNotWaitForItsStandbyIsNotApplied() throws {
      // These connect before the server has a standby.
      let (reader, writer) = (try server.ledger("music"), try server.ledger("music"))
      for member in [reader, writer] {
        #expect(try member.standing()?.durability == .local)
        try member.turn(after: .founding, deadline: .seconds(60)).pass()
      }
      let standby = try withStandby()
      let first = try ledger.commit([1])
      #expect(try reader.commits(after: .founding, limit: 9) == [first])
      let turn = try writer.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == [first])
      turn.pass()
      #expect(try writer.standing()?.durability == .replicated)

      PostgresServer.end(standby)
      let waiting = WaitingThread {
        #expect(throws: LedgerError.self) { try ledger.commit([2]) }
      }
      while try server.commitWaitCount == 0 {}
      while try server.commitWaitCount > 0 { try server.execute(PostgresServer.cancellation) }
      try waiting.join()
      let shown = try server.execute("SELECT max(number) FROM modelstore.commits").integer(0, 0)
      #expect(shown == 2)
      // The first commit is certain.
      #expect(try reader.commits(after: .founding, limit: 9) == [first])
      expectNoStandby { _ = try reader.commits(after: first.number, limit: 9) }
      expectNoStandby { _ = try reader.confirm(first.number) }
      expectNoStandby { _ = try writer.turn(after: first.number, deadline: .seconds(60)) }

      let back = try server.startStandby()
      defer { PostgresServer.end(back) }
      let commits = try reader.commits(after: first.number, limit: 9)
      #expect(commits.map(\.number.rawValue) == [2])
      #expect(try reader.commits(after: .founding, limit: 9) == [first] + commits)
      let next = try writer.turn(after: .founding, deadline: .seconds(60))
      #expect(next.missed == [first] + commits)
      next.pass()
    }

    /// A snapshot of a schema commit is shown together with that commit.
    @Test func aSnapshotIsCompleteOnlyWhenTheStandbyHasIt() throws {
      let standby = try withStandby()
      let member = try server.ledger("music", limits: limits)
      let snapshot = try #require(try member.snapshot())
      PostgresServer.end(standby)
      for _ in 0..<2 {
        #expect(throws: LedgerError.self) { try snapshot.next() }
      }
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

    /// As that of a proxy may, while the earlier server is still there.
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
      let standby = hasStandby ? try withStandby() : nil
      defer { standby.map(PostgresServer.end) }
      try ledger.commit([1])
      try lead(to: other)
      #expect(try member.commits(after: .founding, limit: 9) == [theirs])
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == [theirs])
      turn.pass()
    }

    /// A notification says that COMMIT succeeded, so nothing more is asked of the standby.
    @Test func aCommitOfWhichAMemberIsNotifiedIsCertain() throws {
      let standby = try withStandby()
      let writer = try server.ledger("music")
      let member = try server.ledger("music")
      #expect(try member.standing()?.number == .founding)
      try member.turn(after: .founding, deadline: .seconds(60)).pass()
      let rung = DispatchSemaphore(value: 0)
      let bell = try member.listen { if $0?.rawValue == 2 { rung.signal() } }
      let commits = [try writer.commit([1]), try writer.commit([2])]
      try #require(rung.wait(timeout: .now() + .seconds(60)) == .success)
      PostgresServer.end(standby)
      #expect(try member.commits(after: .founding, limit: 9) == commits)
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == commits)
      turn.pass()
      // A page that ends before the known commit proves nothing.
      expectNoStandby { _ = try member.commits(after: .founding, limit: 1) }
      bell.end()
    }

    /// The connection for reading was opened again, perhaps to another server than the turn's.
    @Test func aTurnIsTakenAgainAfterTheConnectionForReadingWasLost() throws {
      let standby = try withStandby()
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

    @Test func aFoundingThatDidNotWaitForItsStandbyIsNotConfirmed() throws {
      let standby = try withStandby()
      let founder = try server.ledger("second")
      let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let waiting = WaitingThread {
        #expect(throws: LedgerError.unreachable("PostgreSQL did not wait for the standby.")) {
          try founder.found(LedgerWorld.founding(), snapshot: HeldSource(begun, ended))
        }
      }
      begun.wait()
      PostgresServer.end(standby)
      ended.signal()
      while try server.commitWaitCount == 0 {}
      try server.cancelWaitForStandby()
      try waiting.join()
    }

    /// A snapshot of one part, which waits before it.
    private final class HeldSource: SnapshotSource {
      private let begun: DispatchSemaphore
      private let ended: DispatchSemaphore
      private var isRead = false

      init(_ begun: DispatchSemaphore, _ ended: DispatchSemaphore) {
        (self.begun, self.ended) = (begun, ended)
      }

      func next() throws -> [UInt8]? {
        guard !isRead else { return nil }
        isRead = true
        begun.signal()
        ended.wait()
        return [1]
      }
    }

    /// Such a writer's COMMIT does not wait. A role that only reads asks for the standby, too.
    @Test(arguments: ["local", "off", "remote_write"])
    func aNotificationOfAWriterThatDoesNotWaitProvesNothing(_ setting: String) throws {
      let standby = try withStandby()
      func member(_ options: String) throws -> PostgresLedger {
        try PostgresLedger(
          connection: "\(server.connection()) options='\(options)' target_session_attrs=any",
          store: "music", limits: limits)
      }
      let writer = try member("-c synchronous_commit=\(setting)")
      let readers = [try member(""), try member("-c default_transaction_read_only=on"), writer]
      for reader in readers {
        #expect(try whenAnswered { try reader.standing()?.number } == .founding)
      }
      try whenAnswered { try writer.turn(after: .founding, deadline: .seconds(60)).pass() }
      let rung = DispatchSemaphore(value: 0)
      let bells = try readers.map { reader in
        try reader.listen { if $0?.rawValue == 1 { rung.signal() } }
      }
      try server.waitForListeners(readers.count)
      if setting != "remote_write" { PostgresServer.end(standby) }
      let commit = try writer.commit([1])
      for _ in bells { try #require(rung.wait(timeout: .now() + .seconds(60)) == .success) }
      if setting == "remote_write" { PostgresServer.end(standby) }
      for reader in readers {
        expectNoStandby { _ = try reader.commits(after: .founding, limit: 9) }
      }
      let back = try server.startStandby()
      defer { PostgresServer.end(back) }
      for reader in readers {
        #expect(
          try whenAnswered { try reader.commits(after: .founding, limit: 9) } == [commit])
      }
      for bell in bells { bell.end() }
    }

    /// An administrator may no longer have COMMIT wait, while connections are open.
    @Test func aWriterNoticesThatItsCommitsDoNotWaitAnyMore() throws {
      let standby = try withStandby()
      let writer = try server.ledger("music")
      let reader = try server.ledger("music", limits: limits)
      func durability() throws -> LedgerDurability? {
        let turn = try writer.turn(after: .founding, deadline: .seconds(60))
        defer { turn.pass() }
        return turn.head.durability
      }
      #expect(try durability() == .replicated)
      #expect(try writer.standing()?.durability == .replicated)
      let rung = DispatchSemaphore(value: 0)
      let bell = try reader.listen { if $0?.rawValue == 1 { rung.signal() } }
      _ = try whenAnswered { try reader.standing() }
      try server.waitForListeners(1)
      try server.execute("ALTER SYSTEM SET synchronous_commit = local")
      try server.execute("SELECT pg_reload_conf()")
      // Each connection notices it a little later.
      func isNoticed(_ durability: () throws -> LedgerDurability?) throws -> Bool {
        for _ in 0..<20_000 where try durability() == .local { return true }
        return false
      }
      try #require(try isNoticed { try writer.standing()?.durability })
      try #require(try isNoticed(durability))
      PostgresServer.end(standby)
      try writer.commit([1])
      try #require(rung.wait(timeout: .now() + .seconds(60)) == .success)
      expectNoStandby { _ = try reader.commits(after: .founding, limit: 9) }
      bell.end()
    }

    /// A role whose own commits do not wait could otherwise say that a lost commit is there.
    @Test func anOutcomeIsKnownOnlyWhenTheStandbyHasIt() throws {
      let member = try PostgresLedger(
        connection: server.connection() + " options='-c synchronous_commit=off'", store: "music",
        limits: limits)
      let transaction = TransactionID.make(first: nil)
      try member.commit([1], transaction: transaction)
      try server.requireStandby("absent")
      let resolving = WaitingThread {
        #expect(throws: LedgerError.self) {
          try member.resolve(transaction, deadline: .seconds(60))
        }
      }
      try server.cancelWaitForStandby()
      try resolving.join()
      try server.requireNoStandby()
      #expect(try member.resolve(transaction, deadline: .seconds(60))?.rawValue == 1)
    }

    @Test func aListenerPassesOverAStandby() throws {
      let standby = try PostgresServer()
      try standby.stop()
      try standby.startAsStandby()
      let hosts = "\(standby.directory),\(server.directory)"
      let member = try PostgresLedger(
        connection: server.connection(host: hosts) + " target_session_attrs=any", store: "music")
      let rung = DispatchSemaphore(value: 0)
      let bell = try member.listen { if $0?.rawValue == 1 { rung.signal() } }
      try ledger.commit([1])
      #expect(rung.wait(timeout: .now() + .seconds(60)) == .success)
      bell.end()
    }

    /// The server is down at first, or still a standby.
    @Test(arguments: [false, true])
    func aListenerThatReachesNoPrimaryTriesAgain(_ isStandby: Bool) throws {
      try server.stop()
      if isStandby { try server.startAsStandby() }
      let rung = DispatchSemaphore(value: 0)
      let bell = try server.ledger("music").listen { _ in rung.signal() }
      if isStandby { try server.promote() } else { try server.start() }
      #expect(rung.wait(timeout: .now() + .seconds(60)) == .success)
      bell.end()
    }

    /// It may have commits that the next primary lacks.
    @Test func aMemberDoesNotReadFromAStandby() throws {
      try server.stop()
      try server.startAsStandby()
      let member = try PostgresLedger(
        connection: server.connection() + " target_session_attrs=any", store: "music")
      #expect(throws: LedgerError.readOnly("The server is a standby. Name the primary.")) {
        try member.standing()
      }
    }

    @Test func onlyTheKnownCommitProvesThoseBeforeIt() throws {
      var head = LedgerWorld.founding()
      let commits = (1...4 as ClosedRange<UInt8>).map { content in
        let commit = head.next([content])
        head = LedgerStanding(
          number: commit.number, hash: commit.hash, epoch: head.epoch, schema: head.schema,
          durability: head.durability)
        return commit
      }
      let server = ConnectionLane.Server()
      let replicated = ReplicatedCommit(server)
      #expect(replicated.count(in: commits) == 0)
      replicated.note(commits[1].number, commits[1].hash, isProven: false, server.breakCount)
      #expect(replicated.count(in: commits) == 2)
      #expect(replicated.count(in: Array(commits[1...])) == 1)
      #expect(replicated.count(in: Array(commits[2...])) == 0)
      #expect(replicated.count(in: [commits[0]]) == 0)
      #expect(replicated.count(in: []) == 0)
      // An older notification that comes late changes nothing.
      replicated.note(commits[0].number, commits[0].hash, isProven: false, server.breakCount)
      #expect(replicated.count(in: commits) == 2)
      // Of a commit of this number that another server has, or of any program.
      for number in [commits[3].number, CommitNumber(rawValue: .max)] {
        replicated.note(number, commits[0].hash, isProven: false, server.breakCount)
        #expect(replicated.count(in: commits) == 0)
      }
      // What this program has proved counts more.
      replicated.note(commits[2].number, commits[2].hash, isProven: true, server.breakCount)
      #expect(replicated.count(in: commits) == 3)
      replicated.note(commits[1].number, commits[1].hash, isProven: true, server.breakCount)
      #expect(replicated.count(in: commits) == 3)
      // The next connection may lead to a server with fewer commits.
      server.noteBreak()
      #expect(replicated.count(in: commits) == 0)
      // What a connection says that was opened before comes too late.
      replicated.note(commits[2].number, commits[2].hash, isProven: true, 0)
      #expect(replicated.count(in: commits) == 0)
      replicated.note(commits[0].number, commits[0].hash, isProven: false, server.breakCount)
      #expect(replicated.count(in: commits) == 1)
      // A proof of an earlier commit does not hide a notification.
      replicated.note(commits[3].number, commits[3].hash, isProven: false, server.breakCount)
      replicated.note(commits[1].number, commits[1].hash, isProven: true, server.breakCount)
      #expect(replicated.count(in: commits) == 4)
    }

    @Test func aNotificationHasTheNumberAndTheHashOfItsCommit() {
      let announcement = Announcement(
        number: CommitNumber(rawValue: 17), hash: CommitHash(of: [1]))
      #expect(announcement.text == "17 \(CommitHash(of: [1]))")
      #expect(Announcement(announcement.text) == announcement)
      // Of earlier versions.
      let bare = Announcement(number: CommitNumber(rawValue: 17), hash: nil)
      #expect(bare.text == "17")
      #expect(Announcement("17") == bare)
      let hash = CommitHash(of: [1]).description
      for text in ["", "x", "x \(hash)", "0 \(hash)", "-1 \(hash)", "\(Int64.min) \(hash)"] {
        #expect(Announcement(text) == nil)
      }
      for text in ["17 ", "17 12", "17 \(CommitHash(of: [1]))0", "17 1 2"] {
        #expect(Announcement(text) == bare)
      }
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
      let standby = try withStandby()
      defer { PostgresServer.end(standby) }
      let asker = try PostgresLedger(
        connection: server.connection(host: hosts), store: "music", limits: limits)
      for member in [writer, reader, asker] {
        #expect(try whenAnswered { try member.standing()?.number } == .founding)
        try whenAnswered { try member.turn(after: .founding, deadline: .seconds(60)).pass() }
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

    /// The standby may be slow to answer a member with short limits.
    private func whenAnswered<Result>(_ body: () throws -> Result) throws -> Result {
      for _ in 0..<100 {
        do { return try body() } catch LedgerError.unreachable {}
      }
      return try body()
    }

    /// Starts a standby, for which each COMMIT waits from now on.
    private func withStandby() throws -> Process {
      try server.requireStandby()
      return try server.startStandby()
    }

    private func expectNoStandby(
      _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let text = "PostgreSQL waits for its standby, which does not answer."
      #expect(throws: LedgerError.unreachable(text), sourceLocation: sourceLocation) {
        try body()
      }
    }
  }
#endif
