import Testing

@testable import ModelStore

/// Migrations that run in an empty database, to find mistakes in them.
@Suite(.tags(.unit)) struct MigrationRehearsalTests {
  private static let create = Migration(
    version: 1, name: "create",
    sql: """
      CREATE TABLE Todo (id INTEGER PRIMARY KEY, title TEXT, note TEXT);
      CREATE INDEX by_title ON Todo (title);
      CREATE TRIGGER shout AFTER INSERT ON Todo BEGIN SELECT 1; END;
      """, reverse: "DROP TABLE Todo;")

  private func findings(_ sql: String, _ reverse: String?) throws -> [MigrationRehearsal.Finding] {
    let rehearsal = try MigrationRehearsal()
    #expect(try rehearsal.run(Self.create) == [])
    return try rehearsal.run(Migration(version: 2, name: "next", sql: sql, reverse: reverse))
  }

  @Test func aMigrationInOrderHasNoFindings() throws {
    #expect(
      try findings("ALTER TABLE Todo ADD COLUMN due TEXT", "ALTER TABLE Todo DROP COLUMN due")
        == [])
  }

  @Test(arguments: [
    ("ALTER TABLE Todo DROP COLUMN note", [SchemaLoss.column("note", of: "Todo")]),
    ("DROP TABLE Todo", [.table("Todo")]),
    ("DELETE FROM Todo", [.records(of: "Todo")]),
    ("ALTER TABLE Todo RENAME COLUMN note TO text", []),
    ("ALTER TABLE Todo RENAME TO Task", []),
    ("UPDATE Todo SET note = NULL", []),
    ("CREATE TRIGGER t AFTER INSERT ON Todo BEGIN DELETE FROM Todo; END", []),
    (
      "ALTER TABLE Todo RENAME TO Task; ALTER TABLE Task DROP COLUMN note",
      [.column("note", of: "Todo")]
    ),
    (
      "ALTER TABLE Todo RENAME COLUMN note TO text; ALTER TABLE Todo DROP COLUMN text",
      [.column("note", of: "Todo")]
    ),
    (
      "CREATE TABLE a (note); ALTER TABLE a RENAME COLUMN note TO b; "
        + "ALTER TABLE Todo DROP COLUMN note",
      [.column("note", of: "Todo")]
    ),
    (
      "ALTER TABLE Todo DROP COLUMN note; ALTER TABLE Todo ADD COLUMN note TEXT",
      [.column("note", of: "Todo")]
    ),
    ("ALTER TABLE Todo RENAME TO Task; DELETE FROM Task", [.records(of: "Todo")]),
    (
      "DROP TABLE Todo; CREATE TABLE Todo (id INTEGER PRIMARY KEY, title TEXT, note TEXT)",
      [.table("Todo")]
    ),
    (
      "CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT, note TEXT AS (title)); "
        + "INSERT INTO n (id, title) SELECT id, title FROM Todo; DROP TABLE Todo; "
        + "ALTER TABLE n RENAME TO Todo; CREATE INDEX by_title ON Todo (title); "
        + "CREATE TRIGGER shout AFTER INSERT ON Todo BEGIN SELECT 1; END",
      [.column("note", of: "Todo")]
    ),
  ])
  func lossesAreFound(_ sql: String, losses: [SchemaLoss]) throws {
    let found = try findings(sql, nil).filter { if case .loses = $0 { true } else { false } }
    #expect(found == losses.map { .loses($0) })
    let schema = try SchemaSnapshot(script: Self.create.sql)
    #expect(
      try MigrationRehearsal.losses(of: SQLTokens(sql).statements, in: schema) == losses)
  }

  @Test func aRebuildByHandThatForgetsTheTriggerIsFound() throws {
    let rebuild = """
      CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT);
      INSERT INTO n SELECT * FROM Todo;
      DROP TABLE Todo;
      ALTER TABLE n RENAME TO Todo;
      CREATE INDEX by_title ON Todo (title);
      """
    #expect(try findings(rebuild, nil) == [.forgets(["trigger shout"])])
    #expect(
      try findings(rebuild + "CREATE TRIGGER shout AFTER INSERT ON Todo BEGIN SELECT 2; END", nil)
        == [])
    #expect(try findings("DROP TRIGGER shout;" + rebuild, nil) == [])
    let renamedFirst = """
      ALTER TABLE Todo RENAME TO o;
      CREATE TABLE Todo (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT);
      INSERT INTO Todo SELECT * FROM o;
      DROP TABLE o;
      CREATE TRIGGER shout AFTER INSERT ON Todo BEGIN SELECT 1; END;
      """
    #expect(try findings(renamedFirst, nil) == [.forgets(["index by_title"])])
  }

  @Test func whatFailsIsNamedAndLeavesNothing() throws {
    let rehearsal = try MigrationRehearsal()
    _ = try rehearsal.run(Self.create)
    let before = try rehearsal.schema().script
    let failing = Migration(
      version: 2, name: "bad", sql: "CREATE TABLE x (a); ALTER TABLE Missing ADD COLUMN b")
    #expect(
      try rehearsal.run(failing) == [
        .fails(
          "Migration 2 bad, statement 2: no such table: Missing. The migrations run from an empty database, so one of them must create it."
        )
      ])
    let refused = try rehearsal.run(Migration(version: 2, name: "end", sql: "COMMIT"))
    guard case .fails(let sentence)? = refused.first else {
      Issue.record("\(refused)")
      return
    }
    #expect(sentence.contains("COMMIT is not allowed in a migration"))
    #expect(try rehearsal.schema().script == before)
  }

  @Test func aWayBackThatFailsOrLeadsElsewhereIsFound() throws {
    #expect(
      try findings("ALTER TABLE Todo ADD COLUMN due TEXT", "SELECT missing FROM Todo") == [
        .reverseFails("The way back of 2 next, statement 1: no such column: missing.")
      ])
    #expect(
      try findings("DROP INDEX by_title", "SELECT 1") == [
        .reverseDiffers(["the index by_title"])
      ])
  }

  @Test(arguments: [
    ("CREATE TABLE a (x); CREATE INDEX i ON a (x); ALTER TABLE a RENAME TO b", true),
    ("CREATE TABLE a (x); INSERT INTO a VALUES (1)", false),
    ("CREATE TABLE a AS SELECT * FROM b", false),
    ("CREATE TABLE a AS SELECT 5 AS x", false),
    ("CREATE TABLE IF NOT EXISTS main.\"a b\" AS VALUES (1)", false),
    ("CREATE TABLE \"as\" (x DEFAULT 1)", true),
    ("CREATE VIEW v AS SELECT 1", true),
    ("PRAGMA user_version = 3", false),
    ("UPDATE a SET x = 1", false),
  ])
  func statementsThatWriteRecordsAreKnown(_ sql: String, isSchemaOnly: Bool) {
    #expect(MigrationRehearsal.changesOnlySchema(sql) == isSchemaOnly)
  }

  @Test(arguments: [
    "INSERT INTO n SELECT max(title) FROM Todo",
    "INSERT INTO n SELECT coalesce(max(id), 'none') FROM Todo",
    "INSERT OR ROLLBACK INTO n SELECT max(title) FROM Todo",
  ])
  func whatNeedsRecordsHasUnknownLosses(_ sql: String) throws {
    let schema = try SchemaSnapshot(
      script: Self.create.sql + "CREATE TABLE n (id INTEGER PRIMARY KEY, x NOT NULL DEFAULT 1);"
        + "CREATE TABLE m (x NOT NULL)")
    let target = sql.contains("coalesce") ? "n (id)" : "m"
    let statements = [sql.replacing("INTO n", with: "INTO \(target)"), "DROP TABLE Todo"]
    #expect(try MigrationRehearsal.losses(of: statements, in: schema) == nil)
  }
}
