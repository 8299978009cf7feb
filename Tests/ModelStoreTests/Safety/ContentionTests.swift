import Testing

@testable import ModelStore

/// Two processes write one file.
@Suite(.tags(.process)) struct ContentionTests {
  private static let holder = """
    db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    say("held")
    sys.stdin.readline()
    db.execute("COMMIT")
    say("released")
    """

  private func configuration(busy: Duration) -> StoreConfiguration {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.busyTimeout = busy
    return configuration
  }

  @Test(OtherProcess.isNeeded) func noWriterSeesBusyBeforeItsDeadline() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("contended.store")
    let store = try Store(
      at: path, models: Artist.self, configuration: configuration(busy: .seconds(60)))
    let other = try OtherProcess(
      """
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      db.execute("PRAGMA synchronous = NORMAL")
      say("ready")
      for number in range(300):
          db.execute("BEGIN IMMEDIATE")
          db.execute("INSERT INTO Artist VALUES (?, 'theirs')", (10000 + number,))
          db.execute("COMMIT")
      say("done")
      """, path)
    #expect(other.line() == "ready")
    for number in 0..<300 {
      try store.write { tx in try tx.insert(Artist(id: Int64(number), name: "ours")) }
    }
    #expect(other.line() == "done")
    #expect(try other.finish() == 0)
    let names = try store.fetch(Artist.all).map(\.name)
    #expect(names.filter { $0 == "ours" }.count == 300)
    #expect(names.filter { $0 == "theirs" }.count == 300)
    #expect(try store.checkIntegrity() == [])
  }

  @Test(OtherProcess.isNeeded) func pastTheDeadlineTheErrorIsBusyAndNothingChanged() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("busy.store")
    let store = try Store(
      at: path, models: Artist.self, configuration: configuration(busy: .milliseconds(20)))
    let other = try OtherProcess(Self.holder, path)
    #expect(other.line() == "held")
    #expect(code { try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) } } == .busy)
    #expect(code { try store.preview { _ in } } == .busy)
    #expect(code { try store.checkpoint() } == .busy)
    #expect(try store.fetch(Artist.all) == [])
    #expect(try other.ask("release") == "released")
    #expect(try other.finish() == 0)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "a")])
  }

  @Test(OtherProcess.isNeeded) func openingAnUpToDateFileNeedsNoLock() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("open.store")
    do { _ = try Store(at: path, models: Artist.self) }
    let other = try OtherProcess(Self.holder, path)
    #expect(other.line() == "held")
    let short = configuration(busy: .milliseconds(20))
    let store = try Store(at: path, models: Artist.self, configuration: short)
    #expect(try store.fetch(Artist.all) == [])
    #expect(
      code { try Store(at: path, models: Artist.self, Album.self, configuration: short) } == .busy)
    #expect(try other.ask("release") == "released")
    #expect(try other.finish() == 0)
    _ = try Store(at: path, models: Artist.self, Album.self, configuration: short)
  }

  @Test(OtherProcess.isNeeded) func aMigrationWaitsForTheOtherProcessThenFindsNothingToDo() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("migrated.store")
    let migration = Migration(version: 1, name: "first", sql: "CREATE TABLE extra(x)")
    do { _ = try Store(at: path, models: Artist.self) }
    let copy = directory.file("done.store")
    do { _ = try Store(at: copy, models: Artist.self, migrations: [migration]) }
    // The other process is in the middle of the same migration.
    let other = try OtherProcess(
      """
      done = sqlite3.connect(sys.argv[2]).execute(
          "SELECT scope, version, name, checksum, sql, applied_at FROM _ms_migrations "
          "WHERE scope = 'app'").fetchall()
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      db.execute("BEGIN IMMEDIATE")
      db.execute("CREATE TABLE extra(x)")
      db.executemany(
          "INSERT INTO _ms_migrations (scope, version, name, checksum, sql, applied_at) "
          "VALUES (?, ?, ?, ?, ?, ?)", done)
      say("held")
      time.sleep(0.3)
      db.execute("COMMIT")
      """, path, copy)
    #expect(other.line() == "held")
    let store = try Store(
      at: path, models: Artist.self, migrations: [migration],
      configuration: configuration(busy: .seconds(60)))
    #expect(try other.finish() == 0)
    let applied = try store.read { tx in
      try tx.rows("SELECT version, name FROM _ms_migrations WHERE scope = 'app'").map(\.values)
    }
    #expect(applied == [[.integer(1), .text("first")]])
  }

  @Test func processesThatCreateTheFileTogetherAllGetTheirTurn() async throws {
    for _ in 0..<20 {
      let directory = try TemporaryDirectory()
      let path = try DatabaseFile(path: directory.file("new.store")).path
      // As many writers as processes would be: each its own connection, none knows the others.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<4 {
          group.addTask {
            let connection = try Connection(path: path, role: .writer, policy: .scratch())
            try connection.enterWAL()
            try connection.execute(
              "CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES (\(number))")
          }
        }
        try await group.waitForAll()
      }
      let connection = try Connection(path: path, role: .reader, policy: .scratch())
      #expect(
        try connection.rows("SELECT x FROM t ORDER BY x") { try $0.integer(at: 0) } == [0, 1, 2, 3])
    }
  }
}
