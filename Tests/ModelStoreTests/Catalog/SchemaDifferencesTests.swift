import Testing

@testable import ModelStore

/// Two files compared by their schemas.
@Suite(.tags(.unit)) struct SchemaDifferencesTests {
  private static let base = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT NOT NULL DEFAULT 'a' CHECK (x <> ''), y INTEGER
      REFERENCES b, UNIQUE (x, y)) STRICT;
    CREATE TABLE b (id INTEGER PRIMARY KEY);
    CREATE INDEX by_y ON a (y) WHERE y > 3;
    CREATE VIEW v AS SELECT x FROM a;
    CREATE TRIGGER t AFTER INSERT ON b BEGIN SELECT 1; END;
    CREATE VIRTUAL TABLE f USING fts5(x);
    """

  private func differences(_ own: String, _ other: String) throws -> [String] {
    let files = try MigratedFiles()
    try PlainDatabase(files.path("own")).execute("PRAGMA journal_mode = WAL; " + own)
    try PlainDatabase(files.path("other")).execute("PRAGMA journal_mode = WAL; " + other)
    return try Store(at: files.path("own")).schemaDifferences(from: Store(at: files.path("other")))
  }

  @Test func orderQuotesBlanksAndRecordsDoNotCount() throws {
    #expect(
      try differences(
        Self.base,
        """
        CREATE TABLE b (id INTEGER PRIMARY KEY);
        INSERT INTO b VALUES (1);
        CREATE TABLE c (id INTEGER PRIMARY KEY, y INTEGER REFERENCES "b",
          x  TEXT NOT NULL DEFAULT 'a' CHECK (x  <> ''), UNIQUE (x, y)) STRICT;
        ALTER TABLE c RENAME TO a;
        CREATE INDEX "by_y" ON a (y) WHERE y>3;
        CREATE VIEW v AS SELECT x -- all
          FROM a;
        CREATE TRIGGER "t" AFTER INSERT ON b BEGIN SELECT 1; END;
        CREATE VIRTUAL TABLE f USING fts5(x);
        """) == [])
  }

  @Test func commentsDoNotCountWhereverTheyStand() throws {
    #expect(
      try differences(
        """
        CREATE TABLE a (id INTEGER PRIMARY KEY, x VARCHAR(10) DEFAULT (1 + 2), y REFERENCES b);
        CREATE TABLE b (id INTEGER PRIMARY KEY);
        ALTER TABLE b ADD COLUMN z DOUBLE PRECISION NOT NULL DEFAULT -1;
        CREATE TRIGGER t AFTER INSERT ON b BEGIN SELECT 1; END;
        """,
        """
        CREATE TABLE a (/* key */ id INTEGER /* 64 bits */ PRIMARY KEY, -- a number
          x VARCHAR /* of */ (10 /* letters */) DEFAULT (1 + /* one more */ 2), y REFERENCES B);
        CREATE TABLE b (id INTEGER PRIMARY KEY /* no more */);
        ALTER TABLE b ADD COLUMN z /* new */ double /* 8 bytes */ precision NOT NULL /* 1 */
          DEFAULT -1 /* none */ /* at the end */;
        CREATE TRIGGER t AFTER INSERT ON b BEGIN /* nothing */ SELECT 1; END;
        """) == [])
  }

  @Test(arguments: [
    ("ALTER TABLE b ADD COLUMN z TEXT", "This file lacks the column b.z."),
    (
      "CREATE TABLE d (id INTEGER)", "This file lacks the column d.id. This file lacks the table d."
    ),
    ("DROP INDEX by_y", "Only this file has the index by_y."),
    ("DROP TRIGGER t", "Only this file has the trigger t."),
    ("DROP TABLE f", "Only this file has the virtual table f."),
    (
      "DROP VIEW v; CREATE VIEW v AS SELECT y FROM a", "The files differ in the view v."
    ),
    (
      "DROP INDEX by_y; CREATE INDEX by_y ON a (y) WHERE y > 4",
      "The files differ in the index by_y."
    ),
  ])
  func eachDifferenceIsNamed(change: String, expected: String) throws {
    #expect(try differences(Self.base, Self.base + change).joined(separator: " ") == expected)
  }

  @Test(arguments: [
    ("'a'", "'b'", "The files differ in the column a.x."),
    ("x <> ''", "x <> 'z'", "The files differ in the table a."),
    (") STRICT", ")", "The files differ in the table a."),
    ("KEY, x", "KEY AUTOINCREMENT, x", "The files differ in the table a."),
    (
      "REFERENCES b", "REFERENCES b ON DELETE CASCADE", "The files differ in the reference a (y)."
    ),
    (", UNIQUE (x, y)", "", "Only this file has the unique set a (x, y)."),
  ])
  func eachPartOfATableCounts(old: String, new: String, expected: String) throws {
    #expect(
      try differences(Self.base, Self.base.replacing(old, with: new)).joined(separator: " ")
        == expected)
  }
}
