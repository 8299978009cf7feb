import Testing

@testable import ModelStore

/// What the journal records for tables that a store would not create.
@Suite(.tags(.unit)) struct ForeignTableTests {
  @Test func valuesThatAStrictTableKeepsUnconvertedAreDistinguished() throws {
    let world = try JournalWorld(
      "CREATE TABLE Item (id ANY PRIMARY KEY NOT NULL, v ANY) STRICT")
    #expect(
      try world.entries(
        of: "INSERT INTO Item VALUES (1, 1); UPDATE Item SET v = 1.0; UPDATE Item SET id = 1.0")
        == [
          "insert Item 1 (1)", "update Item 1 (v: 1 → 1.0)", "delete Item 1 (1.0)",
          "insert Item 1.0 (1.0)",
        ])
    #expect(try world.replayed("Item") == world.stored("Item"))
  }

  @Test func aTableRecreatedWithoutItsKeyIsStillRecorded() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY, v)")
    try world.other.execute(
      """
      CREATE TABLE Copy AS SELECT * FROM Item; DROP TABLE Item; ALTER TABLE Copy RENAME TO Item
      """)
    try world.store.changeJournal.enable()
    #expect(
      try world.entries(
        of: "INSERT INTO Item VALUES (1, 'a'); UPDATE Item SET v = 'b'; DELETE FROM Item")
        == ["insert Item 1 ('a')", "update Item 1 (v: 'a' → 'b')", "delete Item 1 ('b')"])
  }
}
