#if Postgres
  import Dispatch
  import LedgerConformance
  import ModelStore
  import Synchronization
  import Testing

  @testable import ModelStorePostgres

  /// The laws of ledgers, on a real server.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct PostgresLedgerTests {
    private let server: PostgresServer

    init() throws {
      server = try PostgresServer.shared.get()
    }

    @Test(arguments: LedgerLaw.all) func everyLawOfLedgersHolds(_ law: LedgerLaw) throws {
      let server = server
      try law.check(LedgerWorld { try server.ledger("\(law)") })
    }

    /// The missed commits are read in a snapshot that is taken after the wait, in the same round
    /// trip.
    @Test func aMemberThatWaitedHasTheCommitsThatWereMadeMeanwhile() throws {
      let (first, server) = (try server.ledger("waiting"), server)
      #expect(try first.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let turn = try first.turn(after: .founding, deadline: .seconds(60))
      let commit = turn.head.next([1])
      let waiting = WaitingThread {
        let second = try server.ledger("waiting").turn(after: .founding, deadline: .seconds(60))
        #expect(second.missed == [commit])
        #expect(second.head.number == commit.number)
      }
      let waits = """
        SELECT pg_sleep(0.01) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%heads WHERE store = $1 FOR UPDATE'
        """
      // Other tests of the server may wait as well, so this may go on too early, but never fails.
      while try server.execute(waits).rowCount == 0 {}
      try turn.append(commit)
      try waiting.join()
    }

    @Test func aTurnIsTwoRoundTripsAndOneSendForTheNotification() throws {
      let proxy = try CuttingProxy(of: server)
      let ledger = try PostgresLedger(
        connection: server.connection(host: proxy.directory), store: "trips", limits: Limits())
      #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let notified = Mutex(CommitNumber.founding)
      // The member's own bell sends its notifications.
      let bells = [
        try ledger.listen { _ in },
        try server.ledger("trips").listen { number in
          notified.withLock { $0 = max($0, number ?? .founding) }
        },
      ]
      defer { for bell in bells { bell.end() } }
      for _ in 0..<2 { try ledger.commit() }
      // The notification of the second commit is the last that is sent.
      while notified.withLock({ $0.rawValue }) < 2 {}
      let before = proxy.sendCount
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      #expect(proxy.sendCount - before == 1)
      try turn.append(turn.head.next())
      while notified.withLock({ $0.rawValue }) < 3 {}
      #expect(proxy.sendCount - before == 3)
    }

    /// A connection that was given up may have led to a server that is not the primary any more.
    @Test func theConnectionForNotificationsIsOpenedAgainAfterAnotherOneBroke() throws {
      var limits = Limits()
      (limits.pause, limits.pauseMax) = (.milliseconds(10), .milliseconds(50))
      let ledger = try PostgresLedger(
        connection: server.connection() + " application_name=listener", store: "listener",
        limits: limits)
      #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let count = Mutex(0)
      let bell = try ledger.listen { number in
        if number == nil { count.withLock { $0 += 1 } }
      }
      defer { bell.end() }
      try ledger.commit()
      // Again, because another connection may open only now.
      let ending = """
        SELECT pg_terminate_backend(pid)::text
        FROM pg_stat_activity WHERE application_name = 'listener'
          AND NOT \(PostgresServer.listens)
        """
      while try server.execute(ending).rowCount > 0 {}
      try ledger.commit()
      let end = ContinuousClock.now + .seconds(600)
      while count.withLock({ $0 }) == 0 { try #require(ContinuousClock.now < end) }
    }

    /// Others would find the commit only when they poll.
    @Test func aBellThatEndsSendsTheNotificationThatWaits() throws {
      let ledger = try server.ledger("closing")
      #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let rung = DispatchSemaphore(value: 0)
      let newest = Mutex(CommitNumber.founding)
      let bell = try server.ledger("closing").listen { number in
        newest.withLock { $0 = max($0, number ?? .founding) }
        rung.signal()
      }
      defer { bell.end() }
      for _ in 0..<5 {
        let own = try ledger.listen { _ in }
        // After the notification of another member, the next one waits.
        ledger.announcer.note(Announcement(number: .founding, hash: nil))
        let commit = try ledger.commit()
        own.end()
        while newest.withLock({ $0 }) < commit.number {
          try #require(rung.wait(timeout: .now() + .seconds(60)) == .success)
        }
      }
    }

    /// For each number, it would take longer than the statement.
    @Test func theServerPlansAStatementOnce() throws {
      let ledger = try server.ledger("plans")
      #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let connection = try PostgresConnection.open(ledger.string, ledger.limits, for: .ledger)
      func rows(_ sql: String) throws -> PostgresResult {
        try connection.run([(.once(sql), [])], until: .now + .seconds(60))[0]
      }
      for number in 0..<10 {
        let arguments: [Argument] = [.text("plans"), .integer(Int64(number))]
        _ = try connection.run(
          [(.missed, arguments), (.page, arguments + [.integer(9), .integer(9)])],
          until: .now + .seconds(60))
      }
      let counts = try rows(
        "SELECT sum(generic_plans)::bigint, sum(custom_plans)::bigint FROM pg_prepared_statements")
      #expect([counts.integer(0, 0), counts.integer(0, 1)] == [20, 0])
      for plan in ["ms_missed('plans', 1)", "ms_page('plans', 1, 9, 9)"] {
        let lines = try rows("EXPLAIN EXECUTE \(plan)")
        let text = (0..<lines.rowCount).map { lines.text($0, 0) }.joined(separator: "\n")
        #expect(text.contains("Index Scan using commits_pkey on commits"), "\(text)")
        #expect(!text.contains("Seq Scan"), "\(text)")
      }
    }

    @Test func storesOfOneDatabaseDoNotWaitForEachOther() throws {
      let ledgers = try ["side A", "side B"].map { try server.ledger($0) }
      for ledger in ledgers {
        #expect(try ledger.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      }
      let turn = try ledgers[0].turn(after: .founding, deadline: .seconds(60))
      #expect(try ledgers[1].commit().number.rawValue == 1)
      try turn.append(turn.head.next())
    }
  }
#endif
