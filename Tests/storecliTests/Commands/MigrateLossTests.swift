import Foundation
import Testing

/// Commands of `migrate` that would lose records, values or the way back without a word.
@Suite(.tags(.process)) struct MigrateLossTests {
  private static let create = """
    -- up
    CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT);
    -- down
    DROP TABLE t;

    """
  private static let index = """
    -- up
    CREATE INDEX by_title ON t (title);
    -- down
    DROP INDEX by_title;

    """

  /// A table with a record, and an index.
  private func filled() throws -> Workplace {
    let place = try Workplace.withMigrations(["1_create": Self.create, "2_index": Self.index])
    try #require(try place.run("migrate", "up", "-q").code == 0)
    try RawDatabase(place.path("app.db")).execute("INSERT INTO t VALUES (1, 'a')")
    return place
  }

  private func remove(_ name: String, in place: Workplace) throws {
    try FileManager.default.removeItem(atPath: place.path(name))
  }

  // Drift

  @Test func driftNeedsTheMigrationsThatTheDatabaseHasHad() throws {
    let place = try filled()
    try remove("Migrations/2_index.sql", in: place)
    for words in [[], ["--sql"], ["--adopt", "all"]] {
      let outcome = try place.run(["migrate", "drift"] + words)
      #expect(outcome.code == 6 && outcome.out == "", "\(outcome)")
      #expect(
        outcome.err.contains(
          "The file has migrations up to 2, and here the newest is 1; nothing was changed."))
    }
    try place.write(Self.create.replacing("title", with: "name"), to: "Migrations/1_create.sql")
    try place.write(Self.index, to: "Migrations/2_index.sql")
    let changed = try place.run("migrate", "drift", "--sql")
    #expect(changed.code == 1 && changed.out == "", "\(changed)")
    #expect(changed.err.contains("1_create.sql was changed after the file had it"))
    #expect(try place.names(in: "Migrations") == ["1_create.sql", "2_index.sql"])
  }

  @Test func driftWithoutADirectoryNamesIt() throws {
    let place = try filled()
    try remove("Migrations", in: place)
    for words in [[], ["--sql"], ["--adopt", "all"]] {
      let outcome = try place.run(["migrate", "drift"] + words)
      #expect(
        outcome
          == Outcome(
            code: 3, out: "",
            err: """
              error[noMigrations]: The database has had migrations up to 2, and there is no \
              directory Migrations with them; nothing was compared.
              hint: say where they are: storecli migrate drift --migrations DIRECTORY

              """))
    }
    #expect(try !place.names().contains("Migrations"))
  }

  @Test func aRenameByAnotherProgramNeedsAnAnswer() throws {
    let place = try filled()
    let raw = try RawDatabase(place.path("app.db"))
    try raw.execute("ALTER TABLE t RENAME COLUMN title TO name")
    let open = try place.run("migrate", "drift", "--sql")
    #expect(open.code == 2 && open.out == "", "\(open)")
    #expect(open.err.contains("  --rename t.name=title\n  --drop t.name\n"))
    let back = try place.run("migrate", "drift", "--adopt", "names")
    #expect(back.code == 2 && back.out == "", "\(back)")
    #expect(back.err.contains("  --rename t.title=name\n  --drop t.title\n"))
    #expect(try place.names(in: "Migrations").count == 2)
    let dropped = try place.run("migrate", "drift", "--sql", "--drop", "t.name", "-q")
    #expect(dropped.code == 2, "\(dropped)")
    #expect(dropped.err == "warning: The values of t.name are deleted.\n")
    let adopted = try place.run(
      "migrate", "drift", "--adopt", "names", "--rename", "t.title=name")
    #expect(adopted.code == 0 && adopted.out.contains("RENAME COLUMN"), "\(adopted)")
    try remove("Migrations/20260820101500_names.sql", in: place)
    let sql = try place.run("migrate", "drift", "--sql", "--rename", "t.name=title")
    #expect(sql.code == 2 && sql.err == "", "\(sql)")
    #expect(sql.out.hasPrefix("BEGIN;\n") && sql.out.hasSuffix("\nCOMMIT;\n"), "\(sql)")
    try raw.execute(sql.out)
    #expect(try raw.value("SELECT title FROM t") == "a")
    #expect(try place.run("migrate", "drift").code == 0)
    #expect(try place.run("migrate", "drift", "--rename", "t.name=title").code == 64)
    #expect(try place.run("migrate", "drift", "--sql", "--rename", "name").code == 64)
  }

  // Redo

  @Test func redoAsksBeforeTheNewTextDeletesRecords() throws {
    let place = try filled()
    try place.write(
      Self.index.replacing("-- down", with: "DELETE FROM t;\n-- down"),
      to: "Migrations/2_index.sql")
    let dry = try place.run("migrate", "redo", "-n")
    #expect(dry.code == 0 && dry.err.contains("  Records of t are deleted.\n"), "\(dry)")
    #expect(try place.run("migrate", "redo").code == 64)
    let raw = try RawDatabase(place.path("app.db"))
    #expect(try raw.value("SELECT count(*) FROM t") == "1")
    let redo = try place.run("migrate", "redo", "--yes")
    #expect(redo.code == 0 && redo.err.contains("backup: "), "\(redo)")
    #expect(try raw.value("SELECT count(*) FROM t") == "0")
    #expect(
      try RawDatabase(place.path("app.db.bak-2")).value("SELECT count(*) FROM t") == "1")
  }

  @Test func redoNeedsTheFileBeforeItMakesABackup() throws {
    let place = try Workplace.withMigrations(["1_create": Self.create])
    try #require(try place.run("migrate", "up", "-q").code == 0)
    try remove("Migrations/1_create.sql", in: place)
    let redo = try place.run("migrate", "redo", "--yes")
    #expect(
      redo
        == Outcome(
          code: 1, out: "",
          err: """
            error[migrationConflict]: The migration 1 create is missing here, so it cannot be \
            applied again; nothing was changed.
            hint: restore its file in Migrations

            """))
    #expect(try place.names() == ["Migrations", "app.db"])
  }

  // Computed columns

  @Test func aColumnThatBecomesComputedIsALoss() throws {
    let place = try filled()
    try place.write(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT AS ('t' || id));"
        + "CREATE INDEX by_title ON t (title);", to: "wanted.sql")
    let diff = try place.run("migrate", "diff", "compute", "--from-schema", "wanted.sql")
    #expect(diff.out.contains("-- The values of t.title are deleted.\n"), "\(diff)")
    #expect(diff.out.hasSuffix("-- down: irreversible\n"))
    #expect(try place.run("migrate", "up").code == 64)
    let up = try place.run("migrate", "up", "--yes")
    #expect(up.code == 0, "\(up)")
    #expect(up.err.contains("  The values of t.title are deleted: 1 value.\nbackup: "))
    #expect(try RawDatabase(place.path("app.db")).value("SELECT title FROM t") == "t1")
  }

  // Squashes

  @Test func lintRunsASquash() throws {
    let place = try filled()
    try place.write(
      "-- up\nALTER TABLE t ADD COLUMN due TEXT;\n-- down\nALTER TABLE t DROP COLUMN due;\n",
      to: "Migrations/3_due.sql")
    try #require(
      try place.run("migrate", "squash", "1..2", "--name", "base", "--yes").code == 0)
    #expect(try place.run("migrate", "lint") == Outcome(code: 0, out: "", err: "0 findings\n"))
    let text = try place.contents(of: "Migrations/2_base.sql")
    try place.write(text.replacing("CREATE INDEX", with: "CREATE"), to: "Migrations/2_base.sql")
    let lint = try place.run("migrate", "lint")
    #expect(lint.code == 2 && lint.out.contains("2_base.sql\tMigration 2 base"), "\(lint)")
  }

  @Test func everyDatabaseFollowsASquashOfASquash() throws {
    let place = try filled()
    try place.write(
      "-- up\nCREATE TABLE u (x);\n-- down\nDROP TABLE u;\n", to: "Migrations/3_u.sql")
    try #require(try place.run("migrate", "up", "-d", "old.db").code == 0)
    try #require(
      try place.run("migrate", "squash", "2..3", "--name", "some", "--yes").code == 0)
    try #require(try place.run("migrate", "up", "-d", "fresh.db").code == 0)
    try #require(try place.run("migrate", "up", "-d", "old.db").code == 0)
    try #require(
      try place.run("migrate", "squash", "1..3", "--name", "all", "--yes").code == 0)
    let text = try place.contents(of: "Migrations/3_all.sql")
    #expect(text.contains("-- replaces: 1, 2, 3\n"), "\(text)")
    for name in ["old.db", "fresh.db", "new.db"] {
      let up = try place.run("migrate", "up", "-d", name)
      #expect(up.code == 0, "\(up)")
      let status = try place.run("migrate", "status", "-d", name, "-q")
      #expect(status.code == 0, "\(status)")
    }
  }

  @Test func sectionsOfASquashAreSeparateStatements() throws {
    let place = try Workplace.withMigrations([
      "1_s": "-- up\nCREATE TABLE s (x)\n-- down\nDROP TABLE s",
      "2_u": "-- up\nINSERT INTO s VALUES (1)\n-- down\nDELETE FROM s -- all",
    ])
    let squash = try place.run("migrate", "squash", "1..2", "--name", "base", "--yes")
    #expect(squash.code == 0, "\(squash)")
    #expect(squash.out.contains("DELETE FROM s -- all\n;\n-- from 1_s.sql\nDROP TABLE s;"))
    try #require(try place.run("migrate", "up").code == 0)
    #expect(try RawDatabase(place.path("app.db")).value("SELECT x FROM s") == "1")
    let down = try place.run("migrate", "down", "--yes")
    #expect(down.code == 0, "\(down)")
  }

  @Test func aSquashThatCannotBeTakenBackIsRefused() throws {
    let place = try Workplace.withMigrations([
      "1_s": "-- up\nCREATE TABLE s (x);\n-- down\nDROP TABLE other;\n",
      "2_u": "-- up\nCREATE TABLE u (x);\n-- down\nDROP TABLE u;\n",
    ])
    let squash = try place.run("migrate", "squash", "1..2", "--name", "base", "--yes")
    #expect(
      squash
        == Outcome(
          code: 1, out: "",
          err: """
            error[migrationFile]: The way back of 2 base, statement 2: no such table: other. The \
            migrations run from an empty database, so one of them must create it. So the new file \
            could not be taken back; nothing was written.
            hint: correct the sections -- down of 1..2; storecli migrate lint names the file

            """))
    #expect(try place.names(in: "Migrations") == ["1_s.sql", "2_u.sql"])
  }
}
