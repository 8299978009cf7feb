import Foundation
import Testing

/// What `migrate diff` writes, read by the other commands and by other programs.
@Suite(.tags(.process)) struct MigrateDifferenceTests {
  /// A database without tables, and a desired schema.
  private func wanting(_ schema: String) throws -> Workplace {
    let place = try Workplace.withMigrations()
    try RawDatabase(place.path("app.db")).execute("PRAGMA user_version = 1")
    try place.write(schema, to: "wanted.sql")
    return place
  }

  @Test func aCommentAtTheEndOfAStatementSwallowsNothing() throws {
    let place = try wanting("")
    try RawDatabase(place.path("wanted.db")).execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE t (a);
      CREATE VIEW v AS SELECT a FROM t -- all
      ;
      CREATE VIEW w AS SELECT a + 1 AS b FROM t;
      """)
    let diff = try place.run("migrate", "diff", "views", "--from", "wanted.db")
    #expect(diff.code == 0 && diff.out.contains("-- all\n;\n"), "\(diff)")
    try #require(try place.run("migrate", "up").code == 0)
    let raw = try RawDatabase(place.path("app.db"))
    #expect(
      try raw.value("SELECT group_concat(name) FROM sqlite_schema WHERE type = 'view'") == "v,w")
    try #require(try place.run("migrate", "down", "--yes").code == 0)
    #expect(try raw.value("SELECT count(*) FROM sqlite_schema WHERE name = 'v'") == "0")
  }

  @Test func aTableMayHaveCommentsThatLookLikeSections() throws {
    let place = try wanting(
      """
      CREATE TABLE lift (
        id INTEGER PRIMARY KEY,
        -- up
        highest INTEGER,
        -- down
        lowest INTEGER
      );
      CREATE TRIGGER clamp AFTER INSERT ON lift BEGIN
        -- up
        UPDATE lift SET highest = 9 WHERE highest > 9;
        -- down
        UPDATE lift SET lowest = 0 WHERE lowest < 0;
      END;
      """)
    let diff = try place.run("migrate", "diff", "lift", "--from-schema", "wanted.sql")
    #expect(diff.code == 0 && diff.out.contains("  -- up\n  highest"), "\(diff)")
    #expect(try place.run("migrate", "lint").code == 0)
    try #require(try place.run("migrate", "up").code == 0)
    #expect(try place.columns(of: "lift") == "id,highest,lowest")
    try #require(try place.run("migrate", "down", "--yes").code == 0)
    #expect(try place.columns(of: "lift") == "")
  }

  @Test func aTextThatWouldBeReadDifferentlyIsNotWritten() throws {
    let place = try wanting("CREATE TABLE t (a); CREATE VIEW v AS SELECT a\n-- down\nFROM t;")
    let diff = try place.run("migrate", "diff", "view", "--from-schema", "wanted.sql")
    #expect(diff.code == 1 && diff.out == "", "\(diff)")
    #expect(diff.err.contains("reads as a line of a migration"), "\(diff)")
    #expect(diff.err.contains("nothing was written"))
    #expect(try place.names(in: "Migrations") == [])
  }
}
