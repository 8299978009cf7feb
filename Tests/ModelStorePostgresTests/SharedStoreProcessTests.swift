#if Postgres
  import CSQLite
  import Foundation
  import ModelStore
  import Testing

  @testable import ModelStorePostgres

  /// Members in processes of their own, on a PostgreSQL server of their own.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  final class SharedStoreProcessTests {
    private let directory: String
    private let server: PostgresServer

    init() throws {
      server = try PostgresServer()
      directory =
        FileManager.default.temporaryDirectory
        .appendingPathComponent("members-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func path(_ member: String) -> String { "\(directory)/\(member).store" }

    private func start(_ verb: String, _ member: String, _ more: String...) throws -> MemberProcess
    {
      try MemberProcess(
        ["SharedMember", verb, path(member), server.connection(), "deposits"] + more)
    }

    /// Writes that many deposits, from a number on.
    private func writer(_ member: String, from first: Int, count: Int) throws -> MemberProcess {
      try start("write", member, "\(first)", "\(count)")
    }

    /// Opens a member that knows its models from its file, and has it catch up.
    private func member(_ name: String) throws -> Store {
      var configuration = StoreConfiguration(busyTimeout: .seconds(60))
      configuration.ledger = try .postgres(server.connection(), store: "deposits")
      configuration.ledger?.rebuildsMembers = true
      let store = try Store(at: path(name), models: [], configuration: configuration)
      try store.refresh()
      return store
    }

    private func rows(_ member: String, _ sql: String) throws -> [String] {
      var database: OpaquePointer?
      defer { sqlite3_close_v2(database) }
      var statement: OpaquePointer?
      defer { sqlite3_finalize(statement) }
      guard sqlite3_open_v2(path(member), &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
        sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK
      else { throw PostgresServer.Failure("\(member): \(sql)") }
      var rows: [String] = []
      while sqlite3_step(statement) == SQLITE_ROW {
        rows.append(
          (0..<sqlite3_column_count(statement))
            .map { sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "" }
            .joined(separator: "|"))
      }
      return rows
    }

    /// What contradicts a store of deposits, in a member that has caught up.
    private func findings(_ name: String, acknowledged: Set<Int>) throws -> [String] {
      let store = try member(name)
      defer { store.close() }
      var findings = try store.checkIntegrity()
      let deposits = Set(try rows(name, "SELECT id FROM Deposit").compactMap { Int($0) })
      let lost = acknowledged.subtracting(deposits)
      if !lost.isEmpty { findings.append("lost: \(lost.sorted())") }
      findings += try rows(
        name,
        """
        SELECT 'balance', a.id, a.balance, sum(d.amount)
        FROM Account AS a JOIN Deposit AS d ON d.accountID = a.id
        GROUP BY a.id HAVING a.balance <> sum(d.amount)
        """)
      return findings
    }

    /// Everything that members have in common, as text.
    private func content(_ name: String) throws -> [String] {
      try ["Account", "Deposit", "_ms_journal", "_ms_journal_layouts", "_ms_models"].flatMap {
        try rows(name, "SELECT '\($0)', * FROM \($0) ORDER BY 2")
      } + rows(name, "SELECT number, hex(hash) FROM _ms_member")
    }

    @Test func aProgramOnOneMachineIsFollowedByStorecliOnAnother() throws {
      #expect(try writer("a", from: 1, count: 1).finish() == ["1"])
      let follower = try start("follow", "b")
      try follower.read { $0.contains("open") }
      let watching = try MemberProcess(
        ["storecli", "watch", "-d", path("b"), "--since", "0"])
      func hasSeen(_ deposit: Int) -> ([String]) -> Bool {
        { lines in lines.contains { $0.contains(#""model":"Deposit","id":\#(deposit),"#) } }
      }
      try watching.read(until: hasSeen(1))
      #expect(try writer("a", from: 2, count: 2).finish() == ["2", "3"])
      try watching.read(until: hasSeen(3))
      try watching.read { $0.contains { $0.contains(#""origin":"binding:Account.balance""#) } }
      let followed = try follower.read { $0.last == "3 foreign" }
      #expect(followed.suffix(2) == ["2 foreign", "3 foreign"])
      // The other member writes, while PostgreSQL crashes in the middle.
      let other = try writer("b", from: 100, count: 300)
      try other.read { $0.count >= 5 }
      try server.kill()
      try server.start()
      let lines = try other.finish()
      let written = Set(lines.compactMap { Int($0) })
      #expect(written.contains(399))
      _ = try follower.finish()
      watching.kill()
      for name in ["a", "b"] {
        #expect(try findings(name, acknowledged: written.union([1, 2, 3])) == [])
      }
      #expect(try content("a") == content("b"))
    }

    /// Kills of members and of the server at any moment lose no acknowledged commit, and members
    /// have equal files afterwards. MODELSTORE_MEMBER_KILLS gives the rounds, of three kills each.
    @Test func killsLoseNothingThatWasAcknowledged() throws {
      let rounds =
        ProcessInfo.processInfo.environment["MODELSTORE_MEMBER_KILLS"].flatMap { Int($0) } ?? 20
      var generator = SystemRandomNumberGenerator()
      var acknowledged: Set<Int> = []
      acknowledged.formUnion(try writer("a", from: 1, count: 1).finish().compactMap { Int($0) })
      for round in 1...rounds {
        let writers = try ["a", "b", "c"].enumerated().map { number, name in
          try writer(name, from: (round * 3 + number) * 10_000, count: 9_000)
        }
        let count = Int.random(in: 1...30, using: &generator)
        for writer in writers.shuffled(using: &generator) {
          try writer.read { lines in lines.count { Int($0) != nil } >= count }
          if round % 3 == 0, Bool.random(using: &generator) {
            try server.kill()
            try server.start()
          }
          writer.kill()
        }
        for writer in writers {
          acknowledged.formUnion(writer.allLines().compactMap { Int($0) })
        }
      }
      for name in ["a", "b", "c"] {
        #expect(try findings(name, acknowledged: acknowledged) == [])
      }
      #expect(try content("a") == content("b"))
      #expect(try content("a") == content("c"))
      print("\(acknowledged.count) acknowledged commits, \(rounds * 3) kills of members")
    }

    /// A member that is killed while it publishes a snapshot leaves the earlier one, and the next
    /// member publishes its own.
    @Test func aKilledPublisherLeavesTheEarlierSnapshotAndMembersJoinUnderLoad() throws {
      _ = try writer("a", from: 1, count: 1).finish()
      var acknowledged: Set<Int> = [1]
      var kills = 0
      for round in 1...4 {
        let members = try ["a", "b"].enumerated().map { number, name in
          try start(
            "write", name, "\((round * 2 + number) * 10_000)", "9000", "1")
        }
        let before = try newestSnapshot()
        // Until a member has the right to publish, which ends with its transaction.
        while try publisherCount() == 0, try newestSnapshot() == before {}
        if round % 2 == 1 {
          for member in members { member.kill() }
          kills += 2
        }
        let complete = try server.execute(
          """
          SELECT count(DISTINCT number), max(part) + 1 = count(*)
          FROM modelstore.snapshots WHERE store = 'deposits'
          """)
        #expect(complete.integer(0, 0) == 1 && complete.integer(0, 1) == 1)
        // A member that joins while the others may still write.
        let joining = try start("follow", "joined \(round)")
        try joining.read { $0.contains("open") }
        for member in members {
          member.kill()
          acknowledged.formUnion(member.allLines().compactMap { Int($0) })
        }
        _ = try joining.finish()
        let names = ["a", "b", "joined \(round)"]
        for name in names { #expect(try findings(name, acknowledged: acknowledged) == []) }
        let content = try content("a")
        for name in names { #expect(try self.content(name) == content) }
      }
      #expect(try newestSnapshot() > 0)
      print("\(acknowledged.count) commits, \(kills) kills, snapshot of \(try newestSnapshot())")
    }

    /// A newer program that is killed while it changes the schema leaves the old one or the new
    /// one, and the next one goes on. MODELSTORE_SCHEMA_KILLS gives the rounds.
    @Test func aKilledChangeOfTheSchemaIsMadeCompletelyOrNotAtAll() throws {
      let rounds =
        ProcessInfo.processInfo.environment["MODELSTORE_SCHEMA_KILLS"].flatMap { Int($0) } ?? 6
      var generator = SystemRandomNumberGenerator()
      _ = try writer("a", from: 1, count: 1).finish()
      var acknowledged: Set<Int> = [1]
      var changedCount = 0
      for round in 1...rounds {
        let writing = try writer("b", from: round * 10_000, count: 9_000)
        try writing.read { lines in lines.contains { Int($0) != nil } }
        let killed = try start("upgrade", "a", "\(round)")
        // The change takes a turn, copies the file, and sends the copy in this time.
        for _ in 0..<Int.random(in: 0...400, using: &generator) {
          _ = try server.execute("SELECT 1")
        }
        killed.kill()
        if try epoch() > round { changedCount += 1 }
        #expect(try start("upgrade", "a", "\(round)").finish() == ["open"])
        #expect(try epoch() == Int64(round + 1))
        // The earlier program cannot write any more.
        let lines = writing.allLines()
        #expect(lines.last?.hasSuffix(" memberOutdated") == true, "\(lines.suffix(2))")
        acknowledged.formUnion(lines.compactMap { Int($0) })
        for name in ["a", "b"] { #expect(try findings(name, acknowledged: acknowledged) == []) }
        #expect(try content("a") == content("b"))
        for name in ["a", "b"] {
          let tables = try rows(
            name, "SELECT name FROM sqlite_schema WHERE name GLOB 'Extra*' ORDER BY 1")
          #expect(tables == (0..<round).map { "Extra\($0)" })
        }
      }
      print("\(acknowledged.count) commits, \(rounds) kills, \(changedCount) after the change")
    }

    /// The command line changes the schema for all. Another member gets it when it opens.
    @Test func aRuleThatStorecliAddsHoldsOnEveryMember() throws {
      func storecli(_ words: String...) throws -> [String] {
        try MemberProcess(
          ["storecli"] + words, environment: ["STORECLI_LEDGER": server.connection()]
        ).finish()
      }
      func rules(_ member: String) throws -> [String] {
        try storecli("rules", "list", "-d", path(member), "-o", "tsv")
          .filter { $0.hasPrefix("most\t") }
      }
      #expect(try writer("a", from: 1, count: 1).finish() == ["1"])
      #expect(try writer("b", from: 2, count: 1).finish() == ["2"])
      _ = try storecli(
        "rules", "add", "Deposit", "--range", "amount=0..1000000000", "--name", "most", "-d",
        path("a"))
      #expect(try rules("a").count == 1)
      #expect(try rules("b") == [])
      #expect(try epoch() == 2)
      #expect(try writer("b", from: 3, count: 1).finish() == ["3"])
      #expect(try rules("b") == rules("a"))
      _ = try storecli("rules", "drop", "most", "-d", path("b"))
      #expect(try rules("b") == [])
      #expect(try epoch() == 3)
      for name in ["a", "b"] { #expect(try findings(name, acknowledged: [1, 2, 3]) == []) }
      #expect(try rules("a") == [])
      #expect(try content("a") == content("b"))
    }

    /// The article on running a shared store names these rights.
    @Test func aMemberNeedsRightsOnTheTablesOnly() throws {
      #expect(try writer("a", from: 1, count: 1).finish() == ["1"])
      try server.execute(
        "CREATE ROLE member LOGIN", "GRANT USAGE ON SCHEMA modelstore TO member",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA modelstore TO member")
      func run(_ verb: String, _ more: String...) throws -> [String] {
        let connection = server.connection(user: "member")
        return try MemberProcess(["SharedMember", verb, path("b"), connection, "deposits"] + more)
          .finish()
      }
      // It publishes snapshots, too.
      let numbers = (2...2000).map { "\($0)" }
      #expect(try run("write", "2", "1999", "1") == numbers)
      #expect(try newestSnapshot() > 0)
      #expect(try run("upgrade", "1") == ["open"])
      #expect(try epoch() == 2)
      #expect(try findings("b", acknowledged: Set(1...2000)) == [])
    }

    /// 1 for the schema that the store was founded with, and one more for each change.
    private func epoch() throws -> Int64 {
      try server.execute("SELECT epoch FROM modelstore.heads").integer(0, 0)
    }

    private func newestSnapshot() throws -> Int64 {
      try server.execute("SELECT max(number) FROM modelstore.snapshots").integer(0, 0)
    }

    /// The members that have the right to publish a snapshot.
    private func publisherCount() throws -> Int64 {
      try server.execute(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
      ).integer(0, 0)
    }
  }
#endif
