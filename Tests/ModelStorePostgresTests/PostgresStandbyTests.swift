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

    /// The connection for reading may have found another primary than the one for turns.
    @Test func aTurnTakesNoProofFromAnotherServer() throws {
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
      let standby = try withStandby()
      defer { PostgresServer.end(standby) }
      #expect(throws: LedgerError.unreachable("PostgreSQL's primary has changed.")) {
        try member.turn(after: .founding, deadline: .seconds(60))
      }
      // Both connections are opened again, and lead to the same server.
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == [ours])
      turn.pass()
      #expect(try member.commits(after: .founding, limit: 9) == [ours])
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
      replicated.note(commits[1].number, commits[1].hash, isProven: false)
      #expect(replicated.count(in: commits) == 2)
      #expect(replicated.count(in: Array(commits[1...])) == 1)
      #expect(replicated.count(in: Array(commits[2...])) == 0)
      #expect(replicated.count(in: [commits[0]]) == 0)
      #expect(replicated.count(in: []) == 0)
      // An older notification that comes late changes nothing.
      replicated.note(commits[0].number, commits[0].hash, isProven: false)
      #expect(replicated.count(in: commits) == 2)
      // Of a commit of this number that another server has, or of any program.
      for number in [commits[3].number, CommitNumber(rawValue: .max)] {
        replicated.note(number, commits[0].hash, isProven: false)
        #expect(replicated.count(in: commits) == 0)
      }
      // What this program has proved counts more.
      replicated.note(commits[2].number, commits[2].hash, isProven: true)
      #expect(replicated.count(in: commits) == 3)
      replicated.note(commits[1].number, commits[1].hash, isProven: true)
      #expect(replicated.count(in: commits) == 3)
      // The next connection may lead to a server with fewer commits.
      server.noteBreak()
      #expect(replicated.count(in: commits) == 0)
      replicated.note(commits[0].number, commits[0].hash, isProven: false)
      #expect(replicated.count(in: commits) == 1)
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
      for member in [writer, reader] {
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

      try server.cancelWaitForStandby()
      try waiting.join()
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
