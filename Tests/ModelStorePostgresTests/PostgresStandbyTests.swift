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
      try expectWait(for: transaction, of: ledger)
    }

    /// After a crash, the server shows a commit that was waiting for the standby.
    @Test func membersReadACommitOnlyWhenTheStandbyHasIt() throws {
      let standby = try server.withStandby()
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

      let member = try server.ledger("music", limits: .short)
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
      let standby = try server.withStandby()
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
      let standby = try server.withStandby()
      let member = try server.ledger("music", limits: .short)
      let snapshot = try #require(try member.snapshot())
      PostgresServer.end(standby)
      for _ in 0..<2 {
        #expect(throws: LedgerError.self) { try snapshot.next() }
      }
    }

    /// A notification says that COMMIT succeeded, so nothing more is asked of the standby.
    @Test func aCommitOfWhichAMemberIsNotifiedIsCertain() throws {
      let standby = try server.withStandby()
      let writer = try server.ledger("music")
      let member = try server.ledger("music")
      #expect(try member.standing()?.number == .founding)
      try member.turn(after: .founding, deadline: .seconds(60)).pass()
      let rung = DispatchSemaphore(value: 0)
      let bells = [
        try member.listen { if $0?.rawValue == 2 { rung.signal() } }, try writer.listen { _ in },
      ]
      let commits = [try writer.commit([1]), try writer.commit([2])]
      try #require(rung.wait(timeout: .now() + .seconds(60)) == .success)
      PostgresServer.end(standby)
      #expect(try member.commits(after: .founding, limit: 9) == commits)
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      #expect(turn.missed == commits)
      turn.pass()
      // A page that ends before the known commit proves nothing.
      expectNoStandby { _ = try member.commits(after: .founding, limit: 1) }
      for bell in bells { bell.end() }
    }

    @Test func aFoundingThatDidNotWaitForItsStandbyIsNotConfirmed() throws {
      let standby = try server.withStandby()
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
      let standby = try server.withStandby()
      func member(_ options: String) throws -> PostgresLedger {
        try PostgresLedger(
          connection: "\(server.connection()) options='\(options)' target_session_attrs=any",
          store: "music", limits: .short)
      }
      let writer = try member("-c synchronous_commit=\(setting)")
      let readers = [try member(""), try member("-c default_transaction_read_only=on"), writer]
      for reader in readers {
        #expect(try PostgresServer.whenAnswered { try reader.standing()?.number } == .founding)
      }
      try PostgresServer.whenAnswered {
        try writer.turn(after: .founding, deadline: .seconds(60)).pass()
      }
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
          try PostgresServer.whenAnswered { try reader.commits(after: .founding, limit: 9) } == [
            commit
          ])
      }
      for bell in bells { bell.end() }
    }

    /// An administrator may no longer have COMMIT wait, while connections are open.
    @Test func aWriterNoticesThatItsCommitsDoNotWaitAnyMore() throws {
      let standby = try server.withStandby()
      let writer = try server.ledger("music")
      let reader = try server.ledger("music", limits: .short)
      func durability() throws -> LedgerDurability? {
        let turn = try writer.turn(after: .founding, deadline: .seconds(60))
        defer { turn.pass() }
        return turn.head.durability
      }
      #expect(try durability() == .replicated)
      #expect(try writer.standing()?.durability == .replicated)
      let rung = DispatchSemaphore(value: 0)
      let bells = [
        try reader.listen { if $0?.rawValue == 1 { rung.signal() } }, try writer.listen { _ in },
      ]
      _ = try PostgresServer.whenAnswered { try reader.standing() }
      try server.waitForListeners(bells.count)
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
      for bell in bells { bell.end() }
    }

    /// Also between the turn and its commit.
    @Test func aCommitThatDidNotWaitIsNotCertain() throws {
      let standby = try server.withStandby()
      let writer = try server.ledger("music")
      let reader = try server.ledger("music", limits: .short)
      let rung = DispatchSemaphore(value: 0)
      let bells = [
        try reader.listen { if $0?.rawValue == 1 { rung.signal() } }, try writer.listen { _ in },
      ]
      _ = try PostgresServer.whenAnswered { try reader.standing() }
      try server.waitForListeners(bells.count)
      let turn = try #require(
        try writer.turn(after: .founding, deadline: .seconds(60)) as? PostgresTurn)
      #expect(turn.head.durability == .replicated)
      _ = try turn.lease?.connection.run(
        [(.once("SET LOCAL synchronous_commit = local"), [])], until: .now + .seconds(60))
      try turn.append(turn.head.next([1], transaction: .make(first: nil)))
      try #require(rung.wait(timeout: .now() + .seconds(60)) == .success)
      PostgresServer.end(standby)
      expectNoStandby { _ = try reader.commits(after: .founding, limit: 9) }
      for bell in bells { bell.end() }
    }

    /// A role whose own commits do not wait could otherwise say that a lost commit is there.
    @Test func anOutcomeIsKnownOnlyWhenTheStandbyHasIt() throws {
      let member = try PostgresLedger(
        connection: server.connection() + " options='-c synchronous_commit=off'", store: "music",
        limits: .short)
      let transaction = TransactionID.make(first: nil)
      try member.commit([1], transaction: transaction)
      try server.requireStandby("absent")
      try expectWait(for: transaction, of: member)
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

    /// Expects that the number of the first commit is not known before the standby has it.
    private func expectWait(for transaction: TransactionID, of member: PostgresLedger) throws {
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
