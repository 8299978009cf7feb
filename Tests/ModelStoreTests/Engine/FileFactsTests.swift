import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct FileFactsTests {
  /// Explaining the refusal reads what the file contains, in the middle of the transaction.
  @Test func aRolledBackChangeOfTheSchemaIsForgotten() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("music.store"), models: Artist.self)
    #expect(throws: StoreError.self) {
      try store.write { tx in
        try tx.execute("ALTER TABLE Artist RENAME COLUMN name TO title")
        try tx.execute("INSERT INTO Artist (id, title) VALUES (1, ''), (2, '')")
      }
    }
    let changes = try store.writeReturningChanges { tx in try tx.insert(Artist(id: 1, name: "a")) }
      .changes.changes
    #expect(changes.map(\.new) == [[.integer(1), .text("a")]])
  }

  /// With a rollback journal, the caller's own transaction may hold the lock that it waits for.
  @Test(arguments: [
    (StoreConfiguration.JournalMode.writeAheadLog, true), (.asFound, false),
  ])
  func readingFactsWaitsOnlyBesideALog(
    mode: StoreConfiguration.JournalMode, waits: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("plain.db")
    try PlainDatabase(path).execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let store = try Store(
      at: path, configuration: StoreConfiguration(busyTimeout: .seconds(30), journalMode: mode),
      onError: { _ in })
    #expect(store.usesWriteAheadLog == waits)
    try store.engine.connections.facts.sync { connection in
      #expect(connection.hooks.waitForLock(attempt: 0) == waits)
    }
    try store.engine.connections.readers.sync { connection in
      #expect(connection.hooks.waitForLock(attempt: 0))
    }
  }

  /// The transaction has outgrown its cache and holds the whole file, also against the connection
  /// that would read which trigger refused.
  @Test func aRefusalInALargeTransactionDoesNotWaitForItself() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("plain.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
      CREATE TRIGGER low BEFORE INSERT ON t WHEN NEW.id < 0
      BEGIN SELECT RAISE(ABORT, 'too low'); END;
      """)
    let store = try Store(
      at: path,
      configuration: StoreConfiguration(
        busyTimeout: .seconds(60), cacheSize: 64 * 1024, journalMode: .asFound))
    let start = ContinuousClock.now
    let error = failure {
      try store.write { tx in
        try tx.execute(
          """
          WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 2000)
          INSERT INTO t SELECT n, hex(zeroblob(200)) FROM n
          """)
        try tx.execute("INSERT INTO t VALUES (-1, '')")
      }
    }
    #expect(error?.code == .rejected)
    #expect(error?.message == "A trigger refused the change: too low")
    #expect(start.duration(to: .now) < .seconds(30))
  }
}
