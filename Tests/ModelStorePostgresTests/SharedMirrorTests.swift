#if Postgres
  import Foundation
  import LedgerConformance
  import ModelStore
  import Synchronization
  import Testing

  @testable import ModelStorePostgres

  /// Mirrors beside other programs, servers that crash, members and commands.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct SharedMirrorTests {
    private let server: PostgresServer

    init() throws {
      server = try PostgresServer.shared.get()
    }

    // Other programs

    @Test func otherProgramsCannotChangeAMirror() throws {
      let world = try MirrorWorld(server, "guarded")
      let store = try world.open()
      try store.write { tx in try tx.insert(Label(name: "a", count: 1)) }
      let mirror = try world.mirror()
      try mirror.update(from: store)
      for statement in [
        "INSERT INTO guarded.\"Label\" VALUES ('b', 2)", "UPDATE guarded.\"Label\" SET count = 2",
        "DELETE FROM guarded.\"Label\"", "TRUNCATE guarded.\"Label\"",
      ] {
        let failure = #expect(throws: PostgresFailure.self) { try server.execute(statement) }
        #expect(failure?.text.contains("Label is a mirror of a ModelStore.") == true)
      }
      #expect(try mirror.verify(against: store) == [])
    }

    @Test func verifyingFindsWhatWasTamperedWith() throws {
      let world = try MirrorWorld(server, "tampered")
      let store = try world.open()
      try store.write { tx in
        for number in 0..<2_500 {
          try tx.insert(Sample(id: Int64(number), title: "t", tags: JSON(["a"])))
        }
        try tx.insert(Label(name: "a", count: 1))
      }
      let mirror = try world.mirror()
      try mirror.update(from: store)
      try world.tamper(#"DELETE FROM @"Sample" WHERE id = 1700"#)
      try world.tamper(#"UPDATE @"Sample" SET tags = '["b"]' WHERE id = 2400"#)
      try world.tamper(#"UPDATE @"Sample" SET title = NULL WHERE id = 3"#)
      try world.tamper(#"INSERT INTO @"Sample" (id) VALUES (-5)"#)
      try world.tamper(#"INSERT INTO @"Label" VALUES ('B', 1)"#)
      let differences = try mirror.verify(against: store)
      #expect(
        differences == [
          MirrorDifference(model: "Label", key: [.text("B")], kind: .extra),
          MirrorDifference(model: "Sample", key: [.integer(3)], kind: .changed),
          MirrorDifference(model: "Sample", key: [.integer(1700)], kind: .missing),
          MirrorDifference(model: "Sample", key: [.integer(2400)], kind: .changed),
          MirrorDifference(model: "Sample", key: [.integer(-5)], kind: .extra),
        ])
      try server.execute(#"CREATE VIEW tampered.v AS SELECT title FROM tampered."Sample""#)
      #expect(try mirror.rebuild(from: store).recordCount == 2_501)
      #expect(try mirror.verify(against: store) == [])
    }

    @Test func updatesOfSeveralProgramsTakeTurnsAndShowWholeTransactions() throws {
      let world = try MirrorWorld(server, "several")
      let store = try world.open()
      func write(_ number: Int64) throws {
        try store.write { tx in
          try tx.upsert(Label(name: "a", count: number))
          try tx.upsert(Sample(id: 1, weight: Double(number)))
        }
      }
      try write(0)
      try world.mirror().update(from: store)
      let isDone = Atomic(false)
      let schema = world.schema
      let server = server
      let updates = (0..<3).map { _ in
        WaitingThread {
          let mirror = try PostgresMirror(server.connection(), schema: schema)
          while !isDone.load(ordering: .acquiring) { try mirror.update(from: store) }
        }
      }
      var seen: Set<String> = []
      for number in 1..<60 as Range<Int64> {
        try write(number)
        let row = try world.rows(
          #"SELECT count::text, weight::text FROM @"Label" CROSS JOIN @"Sample""#)[0]
        #expect(row[0] == row[1])
        seen.insert(row[0])
      }
      isDone.store(true, ordering: .releasing)
      for update in updates { try update.join() }
      print("states that were seen: \(seen.count)")
      let mirror = try world.mirror()
      try mirror.update(from: store)
      #expect(try mirror.verify(against: store) == [])
      #expect(try world.labels().map(\.count) == [59])
    }

    @Test func tablesOfOtherProgramsStayAsTheyAre() throws {
      let world = try MirrorWorld(server, "shared place")
      let store = try world.open()
      try server.execute(#"CREATE SCHEMA "shared place""#)
      try server.execute(#"CREATE TABLE "shared place"."Label" AS SELECT 7 AS own"#)
      let mirror = try world.mirror()
      let error = #expect(throws: StoreError.self) { try mirror.update(from: store) }
      #expect(error?.message.contains("already exists") == true)
      #expect(try world.rows(#"SELECT own::text FROM @"Label""#) == [["7"]])
      try server.execute(#"DROP TABLE "shared place"."Label""#)
      try mirror.update(from: store)
      // A table that took the place of the mirror's is not the mirror's.
      try server.execute(#"DROP TABLE "shared place"."Label""#)
      try server.execute(#"CREATE TABLE "shared place"."Label" AS SELECT 8 AS own"#)
      #expect(code { try mirror.update(from: store) } == .mirrorUnavailable)
      try mirror.remove()
      #expect(try world.rows(#"SELECT own::text FROM @"Label""#) == [["8"]])
      try server.execute(#"DROP TABLE "shared place"."Label""#)
      try mirror.update(from: store)
      #expect(try mirror.remove())
      #expect(try !mirror.remove())
      // The mirror did not create it.
      #expect(
        try world.rows("SELECT nspname FROM pg_namespace WHERE nspname = 'shared place'").count == 1
      )
    }

    @Test func theMirrorOfAnotherStoreIsNotReplaced() throws {
      let worlds = try (0..<2).map { _ in try MirrorWorld(server, "taken") }
      let stores = try worlds.map { try $0.open() }
      for (index, store) in stores.enumerated() {
        try store.write { tx in try tx.insert(Label(name: "of \(index)", count: 1)) }
      }
      let mirror = try worlds[0].mirror()
      try mirror.update(from: stores[0])
      #expect(code { try mirror.update(from: stores[1]) } == .misuse)
      #expect(code { _ = try mirror.verify(against: stores[1]) } == .misuse)
      // Nor is it if the other store has none of its models.
      let third = try Store(at: worlds[0].path + "-3", models: [])
      try PlainFile.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)", at: worlds[0].path + "-3")
      try third.adopt()
      try third.changeJournal.enable()
      #expect(code { try mirror.update(from: third, models: ["t"]) } == .misuse)
      #expect(try worlds[0].labels().map(\.name) == ["of 0"])
      // For example, the file has moved, and its journal was trimmed.
      try mirror.rebuild(from: stores[1])
      #expect(code { try mirror.update(from: stores[0]) } == .misuse)
      #expect(try worlds[0].labels().map(\.name) == ["of 1"])
    }

    /// The rows that turn the journal on are equal in every file.
    @Test func theMirrorOfAnotherStoreWithoutCommitsIsNotTakenOver() throws {
      let worlds = try (0..<2).map { _ in try MirrorWorld(server, "no commits") }
      let stores = try worlds.enumerated().map { index, world in
        try PlainFile.execute(
          "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (\(index))",
          at: world.path)
        let store = try Store(at: world.path, models: [])
        try store.adopt()
        try store.changeJournal.enable()
        return store
      }
      let mirror = try worlds[0].mirror()
      try mirror.update(from: stores[0])
      #expect(code { try mirror.update(from: stores[1]) } == .misuse)
      #expect(try worlds[0].rows("SELECT id::text FROM @t") == [["0"]])
      #expect(try mirror.update(from: stores[0]).rebuilt == [])
    }

    // Following

    @Test func followingWritesEachCommitUntilItIsCancelled() async throws {
      let world = try MirrorWorld(server, "following")
      let store = try world.open()
      let mirror = try world.mirror()
      let (progress, continuation) = AsyncStream<MirrorProgress>.makeStream()
      let following = Task {
        try await mirror.follow(store, models: ["Label"]) { continuation.yield($0) }
        continuation.finish()
      }
      var reports = progress.makeAsyncIterator()
      #expect(await reports.next()?.rebuilt == ["Label"])
      for number in 1...3 {
        try await store.write { tx in try tx.upsert(Label(name: "a", count: Int64(number))) }
        #expect(await reports.next()?.recordCount == 1)
        #expect(try world.labels() == [Label(name: "a", count: Int64(number))])
      }
      following.cancel()
      try await following.value
      #expect(await reports.next() == nil)
      #expect(try await mirror.verify(against: store) == [])
      try await mirror.remove()
    }

    @Test func theProgramInTheArticleFollowsUntilTheStoreIsClosed() async throws {
      let world = try MirrorWorld(server, "reports")
      let store = try world.open()
      let connection = server.connection()
      let following = Task { try await followWithMirror(store, at: connection) }
      try await store.write { tx in try tx.insert(Label(name: "a", count: 1)) }
      try world.wait(for: [Label(name: "a", count: 1)])
      await store.close()
      try await following.value
    }

    // Shared stores

    @Test func eachMemberContinuesTheSameMirror() throws {
      let worlds = try (0..<2).map { _ in try MirrorWorld(server, "members") }
      let stores = try worlds.map { world in
        var configuration = StoreConfiguration()
        configuration.changeJournal = .full
        configuration.ledger = try .postgres(server.connection(), store: "mirrored")
        return try Store(
          at: world.path, models: Sample.self, Label.self, configuration: configuration)
      }
      let mirror = try worlds[0].mirror()
      #expect(try mirror.update(from: stores[0]).rebuilt == ["Label", "Sample"])
      for step in 0..<6 {
        try stores[step % 2].write { tx in
          try tx.insert(Label(name: "n\(step)", count: Int64(step)))
        }
        // The other member may not have received the commit before.
        let progress = try mirror.update(from: stores[1 - step % 2])
        #expect(progress.rebuilt == [])
        #expect(progress.recordCount == 1)
        #expect(try worlds[0].labels().count == step + 1)
      }
      #expect(try mirror.verify(against: stores[1]) == [])
      stores[1].close()
      // Without its ledger a member may lack commits, so it would move the mirror back.
      let alone = try Store(at: worlds[1].path, models: Sample.self, Label.self)
      #expect(code { try mirror.update(from: alone) } == .misuse)
    }

    @Test func aMemberThatWaitedForAnotherUpdateHasItsCommits() throws {
      let world = try MirrorWorld(server, "waited")
      var configuration = StoreConfiguration()
      configuration.changeJournal = .full
      configuration.ledger = try .postgres(server.connection(), store: "waited")
      let stores = try ["", "-b"].map {
        try Store(at: world.path + $0, models: Label.self, configuration: configuration)
      }
      let mirror = try world.mirror()
      try mirror.update(from: stores[0])
      let other = try PostgresConnection.open(
        ConnectionString(server.connection()), Limits(), for: .records)
      let lock = """
        SELECT pg_advisory_xact_lock(hashtextextended('modelstore.mirror.waited', 0))::text
        """
      _ = try other.run([(.begin, []), (.once(lock), [])], until: .now + .seconds(60))
      let update = WaitingThread { try mirror.update(from: stores[0]) }
      let waiting = """
        SELECT pg_sleep(0.01) FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted
          AND ((classid::bigint << 32) | objid::bigint)
            = hashtextextended('modelstore.mirror.waited', 0)
        """
      while try server.execute(waiting).rowCount == 0 {}
      try stores[1].write { tx in try tx.insert(Label(name: "meanwhile", count: 1)) }
      other.rollBack()
      try update.join()
      #expect(try world.labels().map(\.name) == ["meanwhile"])
    }

    // Crashes

    @Test func anUpdateThatTheServersCrashInterruptedIsMadeAgain() throws {
      let server = try PostgresServer()
      let world = try MirrorWorld(server, "crashed")
      let store = try world.open()
      let mirror = try world.mirror()
      func write(_ count: Int64) throws {
        try store.write { tx in
          for number in 0..<20_000 { try tx.upsert(Label(name: "n\(number)", count: count)) }
        }
      }
      try write(0)
      try mirror.update(from: store)
      for round in 1..<4 as Range<Int64> {
        try write(round)
        // The update waits for this row, after it has written some of the others.
        let other = try PostgresConnection.open(
          ConnectionString(server.connection()), Limits(), for: .records)
        let lock = #"SELECT FROM crashed."Label" WHERE name = 'n\#(round)' FOR UPDATE"#
        _ = try other.run([(.begin, []), (.once(lock), [])], until: .now + .seconds(60))
        let update = WaitingThread { try mirror.update(from: store) }
        let waiting = """
          SELECT pg_sleep(0.01) FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO "crashed"."Label"%'
          """
        while try server.execute(waiting).rowCount == 0 {}
        try server.kill()
        #expect(throws: StoreError.self) { try update.join() }
        try server.start()
        #expect(
          try world.rows(#"SELECT DISTINCT count::text FROM @"Label""#) == [["\(round - 1)"]])
        #expect(try mirror.update(from: store).recordCount == 20_000)
        #expect(try mirror.verify(against: store) == [])
      }
    }

    // The command line

    @Test func theCommandLineUpdatesVerifiesAndRemovesAMirror() throws {
      let world = try MirrorWorld(server, "commands")
      let store = try world.open()
      try store.write { tx in try tx.insert(Label(name: "a", count: 1)) }
      store.close()
      func run(_ words: String...) throws -> (code: Int32, lines: [String], said: String) {
        let program = try MemberProcess(
          ["storecli", "mirror"] + words + ["-d", world.path, "--schema", "commands"],
          environment: ["STORECLI_MIRROR": server.connection()])
        let lines = program.allLines()
        let said = program.errorText()
        return (program.exitCode(), lines, said)
      }
      #expect(try run("update").code == 0)
      #expect(try world.labels() == [Label(name: "a", count: 1)])
      #expect(try run("verify").code == 0)
      try world.tamper(#"UPDATE @"Label" SET count = 2"#)
      let found = try run("verify", "--csv")
      #expect(found.code == 2)
      #expect(found.lines == ["model,key,difference\r", "Label,a,changed\r"])
      #expect(try run("update", "Nope").code == 3)
      #expect(try run("remove").said == "removed the mirror in the schema commands\n")
      #expect(try run("remove").said == "the schema commands has no mirror\n")
      #expect(try world.rows("SELECT nspname FROM pg_namespace WHERE nspname = 'commands'") == [])
    }

    @Test func theCommandLineFollowsUntilItIsStopped() throws {
      let world = try MirrorWorld(server, "follower")
      let store = try world.open()
      let program = try MemberProcess(
        [
          "storecli", "mirror", "update", "Label", "--follow", "-d", world.path, "--schema",
          "follower",
        ],
        environment: ["STORECLI_MIRROR": server.connection()])
      for number in 1...3 {
        try store.write { tx in try tx.upsert(Label(name: "a", count: Int64(number))) }
        try world.wait(for: [Label(name: "a", count: Int64(number))])
      }
      program.interrupt()
      #expect(program.exitCode() == 130)
    }
  }
#endif
