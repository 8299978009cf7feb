import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct ChangeJournalTests {
  static let items = """
    CREATE TABLE Item (
      id INTEGER PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE, n INTEGER, note);
    """

  /// Statements of the plain shell over (1, 'a', 10, NULL) and (2, 'b', 20, NULL), and their
  /// entries.
  static let statements: [(sql: String, entries: [String])] = [
    ("INSERT INTO Item VALUES (3, 'c', 30, x'00')", ["insert Item 3 ('c', 30, x'00')"]),
    ("UPDATE Item SET n = 11 WHERE id = 1", ["update Item 1 (n: 10 → 11)"]),
    ("UPDATE Item SET n = n", []),
    (
      "UPDATE Item SET n = NULL, note = 1.5 WHERE id = 1",
      ["update Item 1 (n: 10 → NULL, note: NULL → 1.5)"]
    ),
    (
      "UPDATE Item SET note = 1 WHERE id = 1; UPDATE Item SET note = 1.0 WHERE id = 1",
      ["update Item 1 (note: NULL → 1)", "update Item 1 (note: 1 → 1.0)"]
    ),
    ("UPDATE Item SET name = 'A' WHERE id = 1", ["update Item 1 (name: 'a' → 'A')"]),
    ("DELETE FROM Item", ["delete Item 1 ('a', 10, NULL)", "delete Item 2 ('b', 20, NULL)"]),
    (
      "UPDATE Item SET id = 7 WHERE id = 1",
      ["delete Item 1 ('a', 10, NULL)", "insert Item 7 ('a', 10, NULL)"]
    ),
    (
      "INSERT OR REPLACE INTO Item VALUES (1, 'z', 0, 0)",
      ["delete Item 1 ('a', 10, NULL)", "insert Item 1 ('z', 0, 0)"]
    ),
    (
      "INSERT OR REPLACE INTO Item VALUES (3, 'B', 0, 0)",
      ["delete Item 2 ('b', 20, NULL)", "insert Item 3 ('B', 0, 0)"]
    ),
    (
      "INSERT OR REPLACE INTO Item VALUES (1, 'B', 0, 0)",
      [
        "delete Item 1 ('a', 10, NULL)", "delete Item 2 ('b', 20, NULL)",
        "insert Item 1 ('B', 0, 0)",
      ]
    ),
    (
      "INSERT OR IGNORE INTO Item VALUES (1, 'z', 0, 0); INSERT INTO Item VALUES (3, 'c', 0, 0)",
      ["insert Item 3 ('c', 0, 0)"]
    ),
    (
      "INSERT INTO Item VALUES (1, 'z', 0, 0) ON CONFLICT DO UPDATE SET n = 12",
      ["update Item 1 (n: 10 → 12)"]
    ),
    (
      "INSERT INTO Item VALUES (1, 'z', 0, 0) ON CONFLICT DO NOTHING; DELETE FROM Item WHERE id = 1",
      ["delete Item 1 ('a', 10, NULL)"]
    ),
    (
      "UPDATE OR REPLACE Item SET name = 'A' WHERE id = 2",
      ["delete Item 1 ('a', 10, NULL)", "update Item 2 (name: 'b' → 'A')"]
    ),
    (
      "UPDATE OR REPLACE Item SET id = 1 WHERE id = 2",
      [
        "delete Item 1 ('a', 10, NULL)", "delete Item 2 ('b', 20, NULL)",
        "insert Item 1 ('b', 20, NULL)",
      ]
    ),
    (
      "UPDATE OR IGNORE Item SET name = 'a' WHERE id = 2; INSERT INTO Item VALUES (3, 'c', 0, 0)",
      ["insert Item 3 ('c', 0, 0)"]
    ),
    ("BEGIN; DELETE FROM Item; ROLLBACK", []),
    (
      "INSERT OR REPLACE INTO Item SELECT id + 1, name, n, note FROM Item",
      [
        "delete Item 1 ('a', 10, NULL)", "delete Item 2 ('b', 20, NULL)",
        "insert Item 2 ('a', 10, NULL)", "insert Item 3 ('b', 20, NULL)",
      ]
    ),
  ]

  @Test(arguments: statements.indices, ["OFF", "ON"])
  func everyStatementOfAnyProgramIsRecorded(_ index: Int, recursiveTriggers: String) throws {
    let (sql, expected) = Self.statements[index]
    let world = try JournalWorld(
      Self.items + "INSERT INTO Item VALUES (1, 'a', 10, NULL), (2, 'b', 20, NULL);")
    try world.other.execute("PRAGMA recursive_triggers = \(recursiveTriggers)")
    let entries = try world.entries(of: sql)
    // Where SQLite fires delete triggers itself, an eviction is recorded when it happens.
    if recursiveTriggers == "ON" {
      #expect(entries.sorted() == expected.sorted())
    } else {
      #expect(entries == expected)
    }
  }

  /// Where REPLACE runs inside REPLACE, meets columns of all names, or fills in defaults.
  static let evictions: [(tables: String, sql: String, entries: [String])] = [
    (
      "CREATE TABLE Item (id INTEGER PRIMARY KEY, c0 INTEGER UNIQUE);",
      "INSERT INTO Item VALUES (1, 1), (2, 20); REPLACE INTO Item VALUES (3, 20)",
      ["insert Item 1 (1)", "insert Item 2 (20)", "delete Item 2 (20)", "insert Item 3 (20)"]
    ),
    (
      """
      CREATE TABLE Item (
        id INTEGER PRIMARY KEY, parent REFERENCES Item (id) ON DELETE SET NULL, name,
        UNIQUE (parent, name));
      """,
      "INSERT INTO Item VALUES (1, NULL, 'a'), (2, 1, 'b'); REPLACE INTO Item VALUES (1, NULL, 'c')",
      [
        "insert Item 1 (NULL, 'a')", "insert Item 2 (1, 'b')", "delete Item 1 (NULL, 'a')",
        "update Item 2 (parent: 1 → NULL)", "insert Item 1 (NULL, 'c')",
      ]
    ),
    (
      """
      CREATE TABLE Item (id INTEGER PRIMARY KEY, n);
      CREATE TRIGGER twice BEFORE INSERT ON Item WHEN NEW.id < 10
      BEGIN INSERT INTO Item VALUES (NEW.id + 10, NULL); END;
      INSERT INTO Item VALUES (1, 'a'); DELETE FROM Item WHERE id = 11;
      """,
      "REPLACE INTO Item VALUES (1, 'b')",
      ["insert Item 11 (NULL)", "delete Item 1 ('a')", "insert Item 1 ('b')"]
    ),
    (
      "CREATE TABLE Item (id TEXT PRIMARY KEY NOT NULL, n); INSERT INTO Item VALUES ('old', 1);",
      "INSERT OR REPLACE INTO Item (rowid, id, n) VALUES (1, 'new', 2)",
      ["delete Item 'old' (1)", "insert Item 'new' (2)"]
    ),
    (
      """
      CREATE TABLE Item (id INTEGER PRIMARY KEY, slot TEXT NOT NULL DEFAULT 'x' UNIQUE);
      INSERT INTO Item VALUES (1, 'x');
      """,
      "REPLACE INTO Item VALUES (2, NULL)", ["delete Item 1 ('x')", "insert Item 2 ('x')"]
    ),
    (
      """
      CREATE TABLE Item (name TEXT PRIMARY KEY, n) WITHOUT ROWID;
      CREATE UNIQUE INDEX folded ON Item (name COLLATE NOCASE);
      INSERT INTO Item VALUES ('one', 1);
      """,
      "REPLACE INTO Item VALUES ('ONE', 2)",
      ["delete Item 'one' (1)", "insert Item 'ONE' (2)"]
    ),
  ]

  @Test(arguments: evictions.indices)
  func recordsEvictedByReplaceAreRecordedWhereverItRuns(_ index: Int) throws {
    let (tables, sql, entries) = Self.evictions[index]
    let world = try JournalWorld(tables)
    try world.other.execute("PRAGMA foreign_keys = ON")
    #expect(try world.entries(of: sql) == entries)
  }

  @Test func aTableWhoseEvictionsCannotBeForeseenIsReportedAsAGap() throws {
    let world = try JournalWorld(
      "CREATE TABLE Item (id INTEGER PRIMARY KEY, v); CREATE UNIQUE INDEX lowered ON Item (lower(v));"
    )
    let start = try world.store.changeJournal.position()
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (1, 'A')") }
    let live = try world.store.liveQuery(
      StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Item")))
    try world.other.execute("REPLACE INTO Item VALUES (2, 'a')")
    try world.store.refresh()
    #expect(live.count == 1)
    #expect(throws: StoreError.self) {
      try world.store.fetch(
        StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Item")), at: start)
    }
  }

  @Test func changesOfLaterTriggersAreRecordedAfterTheirCause() throws {
    let world = try JournalWorld(Self.items)
    try world.other.execute(
      """
      CREATE TRIGGER doubled AFTER INSERT ON Item
      BEGIN
        UPDATE Item SET n = n * 2 WHERE id = NEW.id;
      END
      """)
    try world.store.changeJournal.enable()
    #expect(
      try world.entries(of: "INSERT INTO Item VALUES (1, 'a', 2, NULL)")
        == ["insert Item 1 ('a', 2, NULL)", "update Item 1 (n: 2 → 4)"])
  }

  @Test func anEntryTakesAtMost32BytesInAdditionToItsValues() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY, name, n);")
    let count = 10_000
    try world.other.execute(
      """
      BEGIN;
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO Item SELECT i, 'a record', 2 FROM n;
      UPDATE Item SET n = 3;
      DELETE FROM Item;
      COMMIT
      """)
    let copy = try PlainDatabase(world.directory.file("copy.db"))
    try copy.execute(
      """
      CREATE TABLE entries (
        position INTEGER PRIMARY KEY,
        layout, entry, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11);
      ATTACH '\(world.store.path)' AS store;
      INSERT INTO entries SELECT * FROM store._ms_journal
      """)
    #expect(try copy.rows("SELECT count(*) FROM entries") == [[.integer(Int64(3 * count + 1))]])
    let pages = try copy.rows(
      "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    guard case .integer(let size) = pages[0][0] else {
      Issue.record("\(pages)")
      return
    }
    // Keys of up to 127 take one byte, the others two. The first page is the schema's.
    let keys = 3 * (2 * count - 127)
    let values = keys + count * (8 + 1) + count * (1 + 1) + count * (8 + 1)
    #expect(Int(size) - 4096 - values <= 32 * 3 * count)
    #expect(Int(size) - 4096 - values >= 20 * 3 * count)
  }

  @Test func ownTransactionsAreSigned() throws {
    let world = try JournalWorld(Self.items)
    let position = try world.store.changeJournal.position()
    try world.store.write { tx in
      try tx.execute("INSERT INTO Item VALUES (1, 'a', 1, NULL)")
      try tx.execute("UPDATE Item SET n = 2")
      tx.sign(author: "ann", tag: "import")
    }
    try world.store.write { _ in }
    #expect(throws: StoreError.self) {
      try world.store.write { tx in
        try tx.execute("DELETE FROM Item")
        throw StoreError(.rejected, "No.")
      }
    }
    #expect(
      try world.entries(after: position) == [
        "insert Item 1 ('a', 1, NULL)", "update Item 1 (n: 1 → 2)",
        "transaction of 2 ann import",
      ])
  }

  @Test func onlyKeysAreRecordedWhereRequested() throws {
    let world = try JournalWorld(Self.items, detail: .keys)
    #expect(
      try world.entries(
        of: """
          INSERT INTO Item VALUES (1, 'a', 1, NULL); UPDATE Item SET n = 2, note = 3;
          UPDATE Item SET id = 2; DELETE FROM Item
          """)
        == ["insert Item 1", "update Item 1", "delete Item 1", "insert Item 2", "delete Item 2"])
    #expect(try world.store.changeJournal.details() == ["Item": .keys])
  }

  @Test func turningTheJournalOffAndOnIsReported() throws {
    let world = try JournalWorld(Self.items)
    let position = try world.store.changeJournal.position()
    try world.store.changeJournal.disable()
    try world.other.execute("INSERT INTO Item VALUES (1, 'a', 1, NULL)")
    #expect(try world.store.changeJournal.details() == [:])
    try world.store.changeJournal.enable()
    try world.store.changeJournal.enable()
    try world.other.execute("DELETE FROM Item")
    #expect(
      try world.entries(after: position) == [
        "stopped Item", "started Item", "delete Item 1 ('a', 1, NULL)",
      ])
  }

  @Test func theNextWriteRecreatesDroppedTriggers() throws {
    let world = try JournalWorld(Self.items)
    let journal = world.store.changeJournal
    try world.other.execute(
      "DROP TRIGGER _ms_journal_Item_update; INSERT INTO Item VALUES (1, 'a', 1, NULL)")
    #expect(try journal.status().drift.map(\.owner.name) == ["Item"])
    let position = try journal.position()
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (2, 'b', 2, NULL)") }
    #expect(
      try world.entries(after: position)
        == ["started Item", "insert Item 2 ('b', 2, NULL)", "transaction of 1"])
    #expect(try journal.status().drift.map(\.owner.name) == [])
    #expect(world.errors.events.map(\.code) == [.journalGap])
    #expect(
      try world.entries(of: "UPDATE Item SET n = 3 WHERE id = 1") == ["update Item 1 (n: 1 → 3)"])
    for id in 3...5 {
      try world.other.execute("DROP TRIGGER _ms_journal_Item_update")
      try world.store.write { tx in
        try tx.execute("INSERT INTO Item VALUES (\(id), NULL, \(id), NULL)")
      }
      #expect(try journal.status().drift.map(\.owner.name) == [])
    }
    #expect(world.errors.events.count == 4)
  }

  /// A program of another version writes its own triggers in turn, so that the two could replace
  /// each other's for ever.
  @Test func triggersOfAnotherVersionAreReplacedOnce() throws {
    let world = try JournalWorld(Self.items)
    let journal = world.store.changeJournal
    for round in 1...3 {
      try world.other.execute(
        """
        DROP TRIGGER _ms_journal_Item_update;
        CREATE TRIGGER _ms_journal_Item_update AFTER UPDATE ON Item BEGIN SELECT 7; END
        """)
      try world.store.write { tx in
        try tx.execute("INSERT INTO Item VALUES (\(round), NULL, \(round), NULL)")
      }
      #expect(try journal.status().drift.map(\.owner.name) == (round == 1 ? [] : ["Item"]))
    }
    try world.other.execute("DROP TRIGGER _ms_journal_Item_update")
    try world.store.write { tx in try tx.execute("DELETE FROM Item") }
    #expect(try journal.status().drift.map(\.owner.name) == [])
    #expect(world.errors.events.map(\.code) == [.journalGap, .journalGap])
  }

  @Test func aTableThatLostAColumnStaysUnchangedAndBlocksNoOther() throws {
    let world = try ForeignWorld()
    let journal = world.store.changeJournal
    // Another program recreates Album in another form, and drops a trigger of another model.
    try world.other.execute(
      """
      PRAGMA foreign_keys = OFF;
      DROP TABLE Album; CREATE TABLE Album (id INTEGER PRIMARY KEY, name TEXT);
      DROP TRIGGER _ms_journal_Song_update
      """)
    let position = try journal.position()
    try world.store.write { tx in try tx.execute("UPDATE Song SET title = 'x' WHERE id = 1") }
    let entered = try journal.transactions(after: position).flatMap(\.changes).map(\.model)
    #expect(entered == ["Song"])
    #expect(try journal.status().drift.map(\.owner.name) == ["Album"])
    #expect(throws: StoreError.self) { try journal.enable(for: ["Album"]) }
    try journal.enable(for: ["Song"])
    try world.other.execute("INSERT INTO Album VALUES (1, 'one')")
    #expect(try journal.status().drift.map(\.owner.name) == ["Album"])
    #expect(world.errors.events.map(\.code) == [.journalGap, .journalGap])
  }

  @Test func indexesThatTheStoreAddsAreConsideredFromThenOn() throws {
    let world = try JournalWorld(Self.items)
    try world.other.execute("INSERT INTO Item VALUES (1, 'a', 1, 10), (2, 'b', 2, 20)")
    for column in ["n", "note"] {
      let position = try world.store.changeJournal.position()
      try world.store.write { tx in
        try tx.execute(
          "CREATE UNIQUE INDEX \(SQLText(sql: column + "s")) ON Item (\(SQLText(sql: column)))")
      }
      #expect(try world.entries(after: position) == ["transaction of 0", "started Item"])
    }
    #expect(
      try world.entries(of: "REPLACE INTO Item VALUES (3, 'c', 1, 20)") == [
        "delete Item 1 ('a', 1, 10)", "delete Item 2 ('b', 2, 20)", "insert Item 3 ('c', 1, 20)",
      ])
  }

  @Test func triggersRecreatedInOneTransactionMissNothing() throws {
    let world = try ForeignWorld()
    let journal = world.store.changeJournal
    let start = try journal.position()
    let albums = try world.store.fetch(Album.all)
    try world.store.add(.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID))
    try world.store.add(.unique("Album.title.unique", \Album.title))
    #expect(try journal.transactions(after: start).flatMap(\.gaps) == [])
    #expect(try world.store.fetch(Album.all).map(\.artistName) == ["Miles", "Miles", nil])
    #expect(try world.store.fetch(Album.all, at: start) == albums)
    #expect(try journal.status().drift.map(\.owner.name) == [])
    try world.foreign("INSERT OR REPLACE INTO Album VALUES (9, 'one', 1, NULL)")
    #expect(try world.replayed("Album") == world.stored("Album"))
    // Triggers that were not as they should be before are a gap.
    try world.other.execute("DROP TRIGGER _ms_journal_Artist_update")
    let end = try journal.position()
    try world.store.dropRule("Album.title.unique")
    #expect(try journal.transactions(after: end).flatMap(\.gaps) == ["Artist"])
  }

  @Test func changesOfANewerTriggerBeforeTheRecreationAreAGap() throws {
    let world = try JournalWorld(Self.items + "INSERT INTO Item VALUES (1, 'a', 1, NULL);")
    func entries(_ statements: String...) throws -> [String] {
      let position = try world.store.changeJournal.position()
      try world.store.engine.catalog.changing { connection in
        for statement in statements { try connection.execute(statement) }
      }
      return try world.entries(after: position)
    }
    func trigger(_ name: String, _ note: String) -> String {
      """
      CREATE TRIGGER \(name) AFTER UPDATE OF n ON Item
      BEGIN
        UPDATE Item SET note = \(note) WHERE id = NEW.id;
      END
      """
    }
    #expect(try entries(trigger("first", "NEW.n")) == [])
    #expect(
      try entries("UPDATE Item SET name = 'b'")
        == ["update Item 1 (name: 'a' → 'b')", "transaction of 1"])
    #expect(
      try entries(trigger("second", "'x'"), "UPDATE Item SET n = 2").last == "started Item")
  }

  @Test func aRecordOfManyFieldsTakesSeveralRows() throws {
    let columns = (1...40).map { "f\($0)" }
    let world = try JournalWorld(
      "CREATE TABLE Wide (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))")
    let values = (1...40).map { "\($0)" }.joined(separator: ", ")
    #expect(
      try world.entries(
        of: """
          INSERT INTO Wide VALUES (1, \(values)); UPDATE Wide SET f1 = 'x', f40 = NULL;
          UPDATE Wide SET f30 = 'y'; DELETE FROM Wide
          """) == [
          "insert Wide 1 (\(values))", "update Wide 1 (f1: 1 → 'x', f40: 40 → NULL)",
          "update Wide 1 (f30: 30 → 'y')",
          "delete Wide 1 ('x', "
            + (2...39).map { $0 == 30 ? "'y'" : "\($0)" }.joined(separator: ", ") + ", NULL)",
        ])
  }
}
