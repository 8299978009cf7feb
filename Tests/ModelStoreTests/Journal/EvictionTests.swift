import Testing

@testable import ModelStore

/// What the triggers of the journal search before a write, in tables of other programs.
@Suite(.tags(.unit)) struct EvictionTests {
  /// In an index and after DEFAULT, SQLite takes names for texts; in triggers the store does not.
  @Test func stringLiteralsInDoubleQuotesDoNotBreakTheTriggers() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE Item (
        id INTEGER PRIMARY KEY, owner INTEGER, state TEXT,
        slot TEXT NOT NULL DEFAULT "x" UNIQUE, word TEXT NOT NULL DEFAULT state UNIQUE);
      CREATE UNIQUE INDEX one ON Item (owner) WHERE state = "open";
      """)
    let position = try world.store.changeJournal.position()
    try world.store.write { tx in
      try tx.execute("INSERT INTO Item VALUES (1, 7, 'open', 'a', 'a'), (2, 7, NULL, 'b', 'b')")
      try tx.execute("UPDATE Item SET state = 'done' WHERE id = 2")
    }
    try world.other.execute(
      """
      UPDATE OR REPLACE Item SET state = 'open' WHERE id = 2;
      REPLACE INTO Item VALUES (3, 8, 'open', NULL, 'c');
      REPLACE INTO Item VALUES (4, 8, 'done', NULL, NULL);
      REPLACE INTO Item VALUES (5, 8, 'done', 'd', NULL);
      """)
    #expect(
      try world.entries(after: position) == [
        "insert Item 1 (7, 'open', 'a', 'a')", "insert Item 2 (7, NULL, 'b', 'b')",
        "update Item 2 (state: NULL → 'done')", "transaction of 3",
        "delete Item 1 (7, 'open', 'a', 'a')", "update Item 2 (state: 'done' → 'open')",
        "insert Item 3 (8, 'open', 'x', 'c')", "delete Item 3 (8, 'open', 'x', 'c')",
        "insert Item 4 (8, 'done', 'x', 'state')", "delete Item 4 (8, 'done', 'x', 'state')",
        "insert Item 5 (8, 'done', 'd', 'state')",
      ])
  }

  /// A default is put in the place of NULL by REPLACE only, but a trigger is compiled as a whole.
  @Test func aDefaultThatCallsAProgramsFunctionBlocksNoOtherProgram() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE Item (
        id INTEGER PRIMARY KEY, code TEXT NOT NULL DEFAULT (code_of_the_program()) UNIQUE, n);
      CREATE TABLE Known (
        id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))) UNIQUE,
        b NOT NULL DEFAULT CURRENT_TIMESTAMP UNIQUE, c NOT NULL DEFAULT (-1) UNIQUE,
        d NOT NULL DEFAULT word UNIQUE);
      """)
    #expect(
      try world.entries(
        of: """
          INSERT INTO Item VALUES (1, 'a', 1), (2, 'b', 2);
          UPDATE OR IGNORE Item SET code = 'b' WHERE id = 1;
          UPDATE Item SET n = 3, code = 'c' WHERE id = 1
          """) == [
          "insert Item 1 ('a', 1)", "insert Item 2 ('b', 2)",
          "update Item 1 (code: 'a' → 'c', n: 1 → 3)",
        ])
    func isReportedExactly(_ table: String) throws -> Bool {
      try world.store.engine.connections.readers.sync { connection in
        try #require(Catalog(reading: connection).table(named: table)).evictsUnforeseen == false
      }
    }
    #expect(try !isReportedExactly("Item"))
    #expect(try isReportedExactly("Known"))
  }

  @Test func changesOutsideUniqueIndexesRunWithoutASearch() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE Item (id INTEGER PRIMARY KEY, owner INTEGER, isCurrent INTEGER, note);
      CREATE UNIQUE INDEX current ON Item (owner) WHERE Item.isCurrent = 1 -- one each
      ;
      INSERT INTO Item VALUES (1, 7, 1, NULL), (2, 7, 0, NULL);
      """)
    func noted() throws -> [[SQLValue]] {
      try world.other.rows("SELECT c0 FROM _ms_journal_evicted")
    }
    #expect(
      try world.entries(of: "UPDATE Item SET note = 1")
        == ["update Item 1 (note: NULL → 1)", "update Item 2 (note: NULL → 1)"])
    #expect(try noted() == [])
    try world.other.execute("UPDATE OR IGNORE Item SET isCurrent = 1 WHERE id = 2")
    #expect(try noted() == [[.integer(1)]])
    #expect(
      try world.entries(of: "UPDATE OR REPLACE Item SET isCurrent = 1 WHERE id = 2") == [
        "delete Item 1 (7, 1, 1)", "update Item 2 (isCurrent: 0 → 1)",
      ])
  }

  /// SQLite computes a generated column of NEW from what the statement sets and BEFORE triggers
  /// name.
  @Test(arguments: ["", "STORED"])
  func recordsEvictedThroughAGeneratedColumnAreRecorded(kind: String) throws {
    let world = try JournalWorld(
      """
      CREATE TABLE Item (
        id INTEGER PRIMARY KEY, a, b, pair AS (a || '-' || b) \(kind),
        whole AS (upper(pair)) \(kind) UNIQUE);
      INSERT INTO Item (id, a, b) VALUES (1, 'x', 'y'), (2, 'p', 'y');
      """)
    let start = try world.store.changeJournal.position()
    #expect(
      try world.entries(of: "UPDATE OR REPLACE Item SET a = 'x' WHERE id = 2") == [
        "delete Item 1 ('x', 'y', 'x-y', 'X-Y')",
        "update Item 2 (a: 'p' → 'x', pair: 'p-y' → 'x-y', whole: 'P-Y' → 'X-Y')",
      ])
    let items = StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Item"))
    #expect(
      try world.store.fetch(items, at: start).map(\.key) == [[.integer(1)], [.integer(2)]])
  }

  /// What SQLite fills in behind BEFORE triggers, a generated column shows them otherwise.
  @Test(arguments: [
    ("id INTEGER PRIMARY KEY, a, g AS (id > 0) UNIQUE", "REPLACE INTO Item (a) VALUES ('new')"),
    (
      "id INTEGER PRIMARY KEY, a NOT NULL DEFAULT 'x', b AS (a || '!'), g AS (b) UNIQUE",
      "REPLACE INTO Item (id, a) VALUES (2, NULL)"
    ),
  ])
  func evictionsThatAreComputedTooLateAreReportedAsAGap(columns: String, sql: String) throws {
    let world = try JournalWorld(
      "CREATE TABLE Item (\(columns)); INSERT INTO Item (id, a) VALUES (1, 'x')")
    let items = StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Item"))
    let start = try world.store.changeJournal.position()
    let live = try world.store.liveQuery(items)
    try world.other.execute(sql)
    try world.store.refresh()
    #expect(live.count == 1)
    #expect(failure { try world.store.fetch(items, at: start) }?.code == .journalGap)
  }

  @Test func notesOfOtherTablesDoNotDisplaceAny() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE Item (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, n);
      CREATE TABLE Other (id INTEGER PRIMARY KEY, n);
      CREATE TRIGGER many BEFORE INSERT ON Item
      BEGIN
        INSERT OR IGNORE INTO Other SELECT id, NEW.n FROM Other;
        INSERT OR IGNORE INTO Item VALUES (2, NEW.n);
      END;
      INSERT INTO Item VALUES (1, 'a');
      INSERT INTO Item VALUES (2, 'a');
      WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 20)
      INSERT INTO Other SELECT id, NULL FROM ids;
      """)
    // Between the note about 1 and its deletion there are twenty about others, and one about 2.
    #expect(
      try world.entries(of: "INSERT INTO Item VALUES (1, 'b')")
        == ["delete Item 1 ('a')", "insert Item 1 ('b')"])
  }
}
