import Foundation
import Testing

/// Databases that had tables or records before a migration knew of them.
@Suite(.tags(.process)) struct MigrateExistingTablesTests {
  private static let track = "CREATE TABLE Track (id INTEGER PRIMARY KEY, name TEXT);"

  /// A database with a table of another program, and one with a column more.
  private func existing() throws -> Workplace {
    let place = try Workplace.withMigrations()
    try RawDatabase(place.path("app.db")).execute("PRAGMA journal_mode = WAL;" + Self.track)
    try RawDatabase(place.path("wanted.db")).execute(
      "PRAGMA journal_mode = WAL;" + Self.track + "ALTER TABLE Track ADD COLUMN rating INTEGER;")
    return place
  }

  @Test func statusSaysWhatCannotBeCompared() throws {
    let place = try existing()
    try #require(
      try place.run("migrate", "diff", "rating", "--from", "wanted.db").code == 0)
    try #require(try place.run("migrate", "up").code == 0)
    let status = try place.run("migrate", "status", "--fields", "name,state")
    #expect(status.code == 2 && status.out == "rating\tapplied\n", "\(status)")
    #expect(status.err.contains("1 applied\n"))
    #expect(status.err.contains("statement 1: no such table: Track. "), "\(status)")
    #expect(status.err.contains("write a base migration that creates them"))
    for options in [[], ["--sql"], ["--adopt", "x"]] {
      let drift = try place.run(["migrate", "drift"] + options)
      #expect(drift.code == 1 && drift.out == "", "\(drift)")
      #expect(drift.err.contains("write a base migration"), "\(drift)")
      #expect(!drift.err.contains("doctor"))
    }
    let lint = try place.run("migrate", "lint")
    #expect(
      lint.out.contains("The migrations run from an empty database, so one of them must create it"))
    // A file that stands for the migrations so far can create everything.
    let schema = try place.run("migrate", "schema").out
    try FileManager.default.removeItem(
      atPath: place.path("Migrations/20260820101500_rating.sql"))
    try place.write(
      "-- replaces: 20260820101500\n\n-- up\n\(schema)\n-- down: irreversible\n",
      to: "Migrations/20260820101500_base.sql")
    try #require(try place.run("migrate", "up").code == 0)
    #expect(try place.run("migrate", "status", "-q").code == 0)
    #expect(try place.run("migrate", "drift").code == 0)
  }

  @Test func diffSaysHowTheOlderTablesGetABase() throws {
    let place = try existing()
    let diff = try place.run("migrate", "diff", "rating", "--from", "wanted.db")
    let command = "(echo -- up; storecli migrate schema; echo -- down: irreversible)"
    #expect(
      diff.err.hasSuffix(
        """
        no migration creates the other tables, so a new database lacks them.
        write them as the first one: \(command) > Migrations/1_base.sql
        then record it before you apply the new one: storecli migrate baseline 1

        """), "\(diff)")
    // What the command does.
    let schema = try place.run("migrate", "schema").out
    try place.write("-- up\n\(schema)-- down: irreversible\n", to: "Migrations/1_base.sql")
    let plan = try place.run("migrate", "plan")
    #expect(
      plan.code == 2
        && plan.err.contains("if the database already has it: storecli migrate baseline VERSION"),
      "\(plan)")
    for command in [["up"], ["up", "-n"], ["diff", "--from", "wanted.db"]] {
      let outcome = try place.run(["migrate"] + command)
      #expect(outcome.code == 1 && outcome.err.contains("already exists"), "\(outcome)")
      #expect(outcome.err.contains("record it as applied.\nhint: storecli migrate baseline"))
    }
    try #require(try place.run("migrate", "baseline", "1").code == 0)
    try #require(try place.run("migrate", "up").code == 0)
    #expect(try place.run("migrate", "status", "-q").code == 0)
    #expect(try place.run("migrate", "drift").code == 0)
    #expect(try place.run("migrate", "lint").code == 0)
    #expect(try place.run("migrate", "up", "-d", "fresh.db").code == 0)
    // With a base, nothing is said.
    let more = try place.run("migrate", "diff", "--from", "wanted.db")
    #expect(more.err == "no difference: the schemas are the same\n", "\(more)")
  }

  @Test func aMigrationThatNeedsRecordsAsksAndRuns() throws {
    let place = try Workplace.withMigrations([
      "1_a": """
      -- up
      CREATE TABLE settings (k PRIMARY KEY, v); INSERT INTO settings VALUES (1, 2);
      -- down
      DROP TABLE settings;
      """
    ])
    try #require(try place.run("migrate", "up").code == 0)
    try place.write(
      """
      -- up
      CREATE TABLE t (x NOT NULL);
      INSERT INTO t SELECT max(v) FROM settings;
      DROP TABLE settings;
      -- down: irreversible
      """, to: "Migrations/2_b.sql")
    let plan = try place.run("migrate", "plan")
    #expect(
      plan.code == 2 && plan.out.contains("loses      The statements may delete values."),
      "\(plan)")
    #expect(plan.err.contains("backup: "), "\(plan)")
    let dry = try place.run("migrate", "up", "-n")
    #expect(dry.code == 0 && dry.err.contains("The statements may delete values."), "\(dry)")
    #expect(try place.run("migrate", "up").code == 64)
    let up = try place.run("migrate", "up", "--yes")
    #expect(up.code == 0 && up.err.contains("app.db.bak-1"), "\(up)")
    #expect(try RawDatabase(place.path("app.db")).value("SELECT x FROM t") == "2")
  }

  @Test func aSquashKeepsTheRowsOfATableThatIsCreatedWithThem() throws {
    let place = try Workplace.withMigrations([
      "1_a": "-- up\nCREATE TABLE a (x);\n-- down\nDROP TABLE a;\n",
      "2_b": "-- up\nCREATE TABLE b AS SELECT 5 AS x;\n-- down\nDROP TABLE b;\n",
    ])
    try #require(
      try place.run("migrate", "squash", "1..2", "--name", "base", "--yes").code == 0)
    try #require(try place.run("migrate", "up").code == 0)
    #expect(try RawDatabase(place.path("app.db")).value("SELECT group_concat(x) FROM b") == "5")
  }
}
