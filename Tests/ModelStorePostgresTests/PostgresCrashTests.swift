#if Postgres
  import Dispatch
  import Foundation
  import LedgerConformance
  import ModelStore
  import Synchronization
  import Testing

  @testable import ModelStorePostgres

  /// A server that crashes, hangs, or takes a turn away.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct PostgresCrashTests {
    private let server: PostgresServer
    private let ledger: PostgresLedger

    init() throws {
      server = try PostgresServer()
      ledger = try server.ledger("music")
      #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
    }

    @Test func aCrashBetweenTurnsIsNotNoticed() throws {
      let first = try ledger.commit([1])
      #expect(try ledger.standing()?.number == first.number)
      try server.kill()
      #expect(throws: LedgerError.self) { try ledger.standing() }
      try server.start()
      let second = try ledger.commit([2])
      #expect(try ledger.commits(after: .founding, limit: 9) == [first, second])
      try server.kill()
      try server.start()
      // Both connections are stale, and no call failed.
      #expect(try ledger.commits(after: .founding, limit: 9) == [first, second])
      #expect(try ledger.commit([3]).number.rawValue == 3)
    }

    @Test func aCrashInsideATurnIsUnreachableAndChangesNothing() throws {
      for isBack in [false, true] {
        let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
        try server.kill()
        if isBack { try server.start() }
        let error = #expect(throws: LedgerError.self) { try turn.append(turn.head.next()) }
        #expect(error.map { .unreachable($0.message) } == error)
        if !isBack {
          #expect(throws: LedgerError.self) {
            try ledger.turn(after: .founding, deadline: .seconds(1))
          }
          try server.start()
        }
        #expect(try ledger.standing()?.number == .founding)
      }
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      try server.kill()
      // To pass needs no server.
      turn.pass()
      try server.start()
      #expect(try ledger.commit().number.rawValue == 1)
    }

    @Test func noAcknowledgedCommitIsLostInCrashesAndEachUnknownOneIsResolved() throws {
      let stop = Mutex(false)
      let acknowledged = Mutex<[LedgerCommit]>([])
      let unknown = Mutex(0)
      let server = server
      let writers = (0..<3).map { thread in
        WaitingThread {
          let ledger = try server.ledger("music")
          while !stop.withLock({ $0 }) {
            try Self.write(ledger, UInt8(thread), acknowledged) { unknown.withLock { $0 += 1 } }
          }
        }
      }
      for round in 1...5 {
        // Until each round has made commits.
        while acknowledged.withLock({ $0.count }) < round * 40 {
          _ = try server.execute("SELECT pg_sleep(0.01)")
        }
        try server.kill()
        try server.start()
      }
      stop.withLock { $0 = true }
      for writer in writers { try writer.join() }
      let commits = try allCommits()
      let known = acknowledged.withLock { $0 }
      print("\(known.count) acknowledged, \(unknown.withLock { $0 }) unknown in 5 crashes")
      #expect(commits.map(\.number.rawValue) == (1...Int64(commits.count)).map { $0 })
      #expect(Set(known) == Set(commits))
      #expect(known.count == commits.count)
    }

    /// Makes a commit, or learns that it was not made.
    private static func write(
      _ ledger: PostgresLedger, _ thread: UInt8, _ acknowledged: borrowing Mutex<[LedgerCommit]>,
      unknown: () -> Void
    ) throws {
      let commit: LedgerCommit
      do {
        let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
        commit = turn.head.next([thread])
        try turn.append(commit)
      } catch LedgerError.outcomeUnknown(let transaction) {
        unknown()
        while true {
          do {
            let number = try ledger.resolve(transaction, deadline: .seconds(60))
            guard let number else { return }
            let found = try ledger.commits(
              after: CommitNumber(rawValue: number.rawValue - 1), limit: 1)
            acknowledged.withLock { $0 += found }
            return
          } catch LedgerError.unreachable { continue }
        }
      } catch LedgerError.unreachable {
        return
      }
      acknowledged.withLock { $0.append(commit) }
    }

    private func allCommits() throws -> [LedgerCommit] {
      var commits: [LedgerCommit] = []
      while true {
        let page = try ledger.commits(after: commits.last?.number ?? .founding, limit: 100)
        if page.isEmpty { return commits }
        commits += page
      }
    }

    @Test func aBellRingsAgainAfterTheServerRestarts() throws {
      let rung = DispatchSemaphore(value: 0)
      let bell = try ledger.listen { _ in rung.signal() }
      defer { bell.end() }
      for _ in 0..<2 {
        try ledger.commit()
        #expect(rung.wait(timeout: .now() + 60) == .success)
        try server.kill()
        try server.start()
        // The bell rings when it listens again, because it may have missed a commit.
        #expect(rung.wait(timeout: .now() + 60) == .success)
        while rung.wait(timeout: .now()) == .success {}
      }
      try ledger.commit()
      #expect(rung.wait(timeout: .now() + 60) == .success)
      let connections = "SELECT count(*) FROM pg_stat_activity WHERE \(PostgresServer.listens)"
      // The server may still end an earlier connection, or begin this one.
      while try server.execute(connections).integer(0, 0) != 1 {
        _ = try server.execute("SELECT pg_sleep(0.01)")
      }
      bell.end()
      while try server.execute(connections).integer(0, 0) > 0 {
        _ = try server.execute("SELECT pg_sleep(0.01)")
      }
    }

    @Test func aServerThatHangsIsGivenUp() throws {
      var limits = Limits()
      // Long enough for a slow server, which answers before and afterwards.
      (limits.statement, limits.answer, limits.connecting) = (.seconds(5), .seconds(5), .seconds(5))
      let ledger = try server.ledger("music", limits: limits)
      #expect(try ledger.standing()?.number == .founding)
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      let commit = turn.head.next()
      try server.signal(SIGSTOP)
      let start = ContinuousClock.now
      #expect(throws: LedgerError.outcomeUnknown(commit.transaction)) { try turn.append(commit) }
      for _ in 0..<2 {
        #expect(throws: LedgerError.self) { try ledger.standing() }
        #expect(throws: LedgerError.self) {
          try ledger.turn(after: .founding, deadline: .milliseconds(100))
        }
      }
      #expect(start.duration(to: .now) < .seconds(300))
      try server.signal(SIGCONT)
      // The server may execute what it was sent, and then it is decided.
      let number = try server.ledger("music").resolve(commit.transaction, deadline: .seconds(60))
      #expect(number == nil || number == commit.number)
      #expect(try server.ledger("music").standing()?.number == number ?? .founding)
    }

    @Test func aMemberThatStandsStillLosesItsTurn() throws {
      var limits = Limits()
      limits.turn = .milliseconds(100)
      let idle = try server.ledger("music", limits: limits)
      let turn = try idle.turn(after: .founding, deadline: .seconds(60))
      let start = ContinuousClock.now
      // The first one waits until the server has ended the idle turn. By the member's clock, that
      // may be a little before the limit.
      var commits = [try ledger.commit([1])]
      while start.duration(to: .now) < limits.turn { commits.append(try ledger.commit([1])) }
      let error = #expect(throws: LedgerError.self) { try turn.append(turn.head.next()) }
      #expect(error.map { .failed($0.message) } == error)
      #expect(error?.message.contains("0.1 seconds") == true)
      #expect(try ledger.commits(after: .founding, limit: commits.count + 1) == commits)
      // Its turns are as short as before, so a slow machine may need several.
      var next: LedgerCommit?
      while next == nil {
        do { next = try idle.commit([2]) } catch LedgerError.failed {}
      }
      #expect(next?.number == commits.last?.number.next)
    }

    /// A change of the schema takes longer than a write.
    @Test func anExtendedTurnLastsLonger() throws {
      var limits = Limits()
      limits.turn = .seconds(8)
      let member = try server.ledger("music", limits: limits)
      let turn = try member.turn(after: .founding, deadline: .seconds(60))
      try turn.extend()
      let start = ContinuousClock.now
      while start.duration(to: .now) < limits.turn * 1.25 {}
      let change = turn.head.next([2])
      try turn.append(
        change,
        changingTo: LedgerSchema(epoch: 2, digest: [1], snapshot: PartsSource([[1], [2]])))
      #expect(try ledger.standing()?.number == change.number)
      #expect(try ledger.standing()?.epoch == 2)
    }

    @Test func aTurnThatAnAdministratorEndsChangesNothing() throws {
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      try server.execute(
        """
        SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE state = 'idle in transaction' AND pid <> pg_backend_pid()
        """)
      let error = #expect(throws: LedgerError.self) { try turn.append(turn.head.next()) }
      #expect(error.map { .unreachable($0.message) } == error)
      #expect(try ledger.commit().number.rawValue == 1)
    }
  }
#endif
