import Foundation
import Testing

/// `migrate` for files of SQL: what the commands do to a database, and what they print.
@Suite(.tags(.process)) struct MigrateCommandTests {
  private func todo(applied: Bool = false) throws -> Workplace {
    let place = try Workplace.withMigrations(Workplace.todo)
    if applied { try #require(try place.run("migrate", "up", "-q").code == 0) }
    return place
  }

  private func fill(_ place: Workplace) throws {
    try RawDatabase(place.path("app.db")).execute(
      "INSERT INTO Todo (id, title, due) VALUES (7, 'x', '2026'), (9, 'y', NULL)")
  }

  // Files

  @Test func aNewFileHasTheTimeAsItsVersion() throws {
    let place = try Workplace()
    place.time = 1_787_220_900_000_000
    let new = try place.run("migrate", "new", "Add due date")
    #expect(
      new == Outcome(code: 0, out: "", err: "wrote Migrations/20260820101500_add_due_date.sql\n"))
    #expect(
      try place.contents(of: "Migrations/20260820101500_add_due_date.sql") == """
        -- up

        -- down
        -- Take back what -- up does, or write: -- down: irreversible

        """)
    let again = try place.run("migrate", "new", "other")
    #expect(
      again == Outcome(code: 0, out: "", err: "wrote Migrations/20260820101501_other.sql\n"))
    #expect(try place.names() == ["Migrations"])
    #expect(try place.run("migrate", "new", "ä").code == 64)
  }

  @Test func theDirectoryIsNamedByAnOptionOrTheConfiguration() throws {
    let place = try Workplace()
    try place.makeDirectory("db/inner")
    try place.write("db = \"app.db\"\nmigrations = \"changes\"\n", to: "storecli.toml")
    #expect(try place.run("migrate", "new", "one").err.contains("/changes/"))
    #expect(try place.names(in: "changes").count == 1)
    #expect(
      try place.run("migrate", "new", "one", "--migrations", "other").err.hasPrefix("wrote other/"))
    try place.write("db = \"app.db\"\n", to: "storecli.toml")
    #expect(try place.run("migrate", "new", "two").err.contains("/Migrations/"))
    try place.write("migration = \"x\"\n", to: "storecli.toml")
    let wrong = try place.run("migrate", "new", "three")
    #expect(wrong.code == 1 && wrong.err.contains("did you mean migrations?"), "\(wrong)")
  }

  @Test func withoutADirectoryNothingIsCreated() throws {
    let place = try Workplace()
    place.environment["STORECLI_DB"] = place.path("app.db")
    for command in ["status", "plan", "up", "lint"] {
      let outcome = try place.run("migrate", command)
      #expect(outcome.code == 3, "\(outcome)")
      #expect(outcome.err.contains("There is no directory Migrations with migrations."))
    }
    #expect(try place.names() == [])
  }

  @Test func twoFilesWithOneVersionAreAnErrorThatNamesBoth() throws {
    let place = try todo()
    try place.write("-- up\n", to: "Migrations/0002_other.sql")
    let outcome = try place.run("migrate", "up")
    #expect(outcome.code == 1)
    #expect(outcome.err.contains("2_add_due.sql") && outcome.err.contains("0002_other.sql"))
    #expect(try place.names() == ["Migrations"])
  }

  // Forwards

  @Test func upAppliesWhatIsPendingAndThenNothing() throws {
    let place = try todo()
    let up = try place.run("migrate", "up")
    #expect(up.code == 0 && up.out == "", "\(up)")
    #expect(
      up.err.replacing(#/ +\d+ ms/#, with: "").replacing(place.directory + "/", with: "")
        == "created app.db\napplied 1_create_todo.sql\napplied 2_add_due.sql\n")
    #expect(try place.columns(of: "Todo") == "id,title,due")
    #expect(
      try place.run("migrate", "up")
        == Outcome(
          code: 0, out: "", err: "nothing to do: the database has had 2 migrations, up to 2\n"))
  }

  @Test func aDryRunRunsTheMigrationsAndChangesNothing() throws {
    let place = try todo()
    #expect(try place.run("migrate", "up", "-n").code == 3)
    try #require(try place.run("migrate", "to", "1").code == 0)
    #expect(
      try place.run("migrate", "up", "-n")
        == Outcome(
          code: 0, out: "", err: "would apply 2_add_due.sql\ndry run: nothing was changed\n"))
    #expect(try place.columns(of: "Todo") == "id,title")
    #expect(try place.run("migrate", "status", "-q").code == 2)
  }

  @Test func aMigrationThatFailsLeavesTheEarlierOnes() throws {
    let place = try todo()
    try place.write("-- up\nALTER TABLE Nothing ADD COLUMN x;\n", to: "Migrations/3_bad.sql")
    let up = try place.run("migrate", "up")
    #expect(up.code != 0)
    #expect(up.err.contains("applied 2_add_due.sql"))
    #expect(up.err.contains("Migration 3 bad, statement 1"))
    #expect(try place.columns(of: "Todo") == "id,title,due")
  }

  @Test func statusNamesTheStateOfEach() throws {
    let place = try todo()
    try #require(try place.run("migrate", "to", "1", "-q").code == 0)
    let status = try place.run(
      "migrate", "status", "--fields", "version,name,state,kind,reversible")
    #expect(
      status
        == Outcome(
          code: 2, out: "1\tcreate_todo\tapplied\trun\ttrue\n2\tadd_due\tpending\t\ttrue\n",
          err: "1 applied, 1 pending\n"))
    try #require(try place.run("migrate", "up", "-q").code == 0)
    let done = try place.run("migrate", "--fields", "version,state")
    #expect(done == Outcome(code: 0, out: "1\tapplied\n2\tapplied\n", err: "2 applied\n"))
    let json = try place.run("migrate", "status", "--json", "-q").out
    #expect(json.contains(#""version":1,"name":"create_todo","state":"applied","applied":"20"#))
    #expect(json.contains(#""reversible":true"#))
  }

  @Test func aChangedFileIsFoundShownAndAccepted() throws {
    let place = try todo(applied: true)
    try place.write(
      Workplace.addDue.replacing("ALTER TABLE Todo ADD", with: "/* a day */ ALTER TABLE Todo ADD"),
      to: "Migrations/2_add_due.sql")
    #expect(try place.run("migrate", "status", "-q").code == 0)
    try place.write(
      Workplace.addDue.replacing("due TEXT", with: "due ANY"),
      to: "Migrations/2_add_due.sql")
    let status = try place.run("migrate", "status", "--fields", "version,state")
    #expect(status.code == 2 && status.out.contains("2\tchanged"), "\(status)")
    let up = try place.run("migrate", "up")
    #expect(up.code == 1 && up.err.contains("hint: storecli migrate repair 2"), "\(up)")
    let asked = try place.run("migrate", "repair", "2")
    #expect(asked.code == 64 && asked.err.contains("add --yes"), "\(asked)")
    let repaired = try place.run("migrate", "repair", "2", "--yes")
    #expect(repaired.code == 0 && repaired.err == "accepted 2_add_due.sql\n", "\(repaired)")
    #expect(
      repaired.out.contains(
        "- ALTER TABLE Todo ADD COLUMN due TEXT;\n+ ALTER TABLE Todo ADD COLUMN due ANY;\n"),
      "\(repaired.out)")
    #expect(try place.run("migrate", "repair", "2", "--yes").err.hasPrefix("nothing to do"))
  }

  @Test func aLateFileIsAnErrorWithTheCommandThatRenamesIt() throws {
    let place = try todo(applied: true)
    try #require(try place.run("migrate", "new", "later").code == 0)
    try #require(try place.run("migrate", "up", "-q").code == 0)
    try place.write("-- up\nSELECT 1;\n", to: "Migrations/5_late.sql")
    let up = try place.run("migrate", "up")
    #expect(up.code == 1)
    #expect(up.err.contains("Migrations/5_late.sql comes too late"))
    #expect(up.err.contains("Migrations/20260820101500_later.sql"))
    #expect(
      up.err.contains("hint: mv Migrations/5_late.sql Migrations/20260820101501_late.sql"), "\(up)")
    let lint = try place.run("migrate", "lint")
    #expect(lint.code == 2 && lint.out.contains("comes too late"), "\(lint)")
  }

  @Test func aDatabaseWithNewerMigrationsHasItsOwnExitStatus() throws {
    let place = try todo(applied: true)
    try FileManager.default.removeItem(atPath: place.path("Migrations/2_add_due.sql"))
    let up = try place.run("migrate", "up")
    #expect(up.code == 6 && up.err.contains("The file has migrations up to 2"), "\(up)")
    #expect(try place.run("migrate", "status", "-q").code == 6)
    #expect(try place.run("migrate", "plan", "-q").code == 6)
    // Taking it back needs no file.
    #expect(try place.run("migrate", "down", "--yes").code == 0)
    #expect(try place.columns(of: "Todo") == "id,title")
  }

  // Backwards

  @Test func downCountsWhatIsDeletedAndMakesABackup() throws {
    let place = try todo(applied: true)
    try fill(place)
    let asked = try place.run("migrate", "down")
    #expect(asked.code == 64)
    #expect(asked.err.contains("The values of Todo.due are deleted: 1 value."), "\(asked)")
    #expect(try place.columns(of: "Todo") == "id,title,due")
    #expect(
      try place.run("migrate", "down", "-n")
        == Outcome(
          code: 0, out: "",
          err: """
              The values of Todo.due are deleted: 1 value.
            would take back 2_add_due.sql
            dry run: nothing was changed

            """))
    let down = try place.run("migrate", "down", "--yes")
    #expect(
      down.err.replacing(place.directory + "/", with: "") == """
          The values of Todo.due are deleted: 1 value.
        backup: app.db.bak-2
        took back 2_add_due.sql

        """, "\(down)")
    #expect(try place.columns(of: "Todo") == "id,title")
    #expect(
      try RawDatabase(place.path("app.db.bak-2")).value("SELECT group_concat(due) FROM Todo")
        == "2026")
    #expect(try place.run("migrate", "down", "5", "--yes").code == 64)
  }

  @Test func threeBackupsStay() throws {
    let place = try todo(applied: true)
    try place.write("mine", to: "app.db.bak-notes")
    for _ in 1...5 {
      try fill(place)
      try #require(try place.run("migrate", "down", "2", "--yes").code == 0)
      try #require(try place.run("migrate", "up").code == 0)
    }
    let backups = try place.names().filter { $0.contains(".bak-") }
    #expect(backups.count == 4 && backups.contains("app.db.bak-notes"), "\(backups)")
    try #require(try place.run("migrate", "down", "2", "--yes", "--no-backup").code == 0)
    #expect(try place.names().filter { $0.contains(".bak-") } == backups)
  }

  @Test func toGoesInBothDirections() throws {
    let place = try todo()
    try #require(try place.run("migrate", "to", "2_add_due.sql").code == 0)
    #expect(try place.columns(of: "Todo") == "id,title,due")
    try #require(try place.run("migrate", "to", "Migrations/1_create_todo.sql", "--yes").code == 0)
    #expect(try place.columns(of: "Todo") == "id,title")
    try #require(try place.run("migrate", "to", "0", "--yes").code == 0)
    #expect(try place.columns(of: "Todo") == "")
    let unknown = try place.run("migrate", "to", "3")
    #expect(unknown.code == 3 && unknown.err.contains("There is no migration 3"), "\(unknown)")
  }

  @Test func whatIsIrreversibleStays() throws {
    let place = try todo()
    try place.write(
      "-- up\nDROP INDEX by_title;\n-- down: irreversible\n", to: "Migrations/3_drop.sql")
    try #require(try place.run("migrate", "up").code == 0)
    let down = try place.run("migrate", "down", "--yes")
    #expect(down.code == 1 && down.err.contains("hint: write a new migration"), "\(down)")
  }

  @Test func redoTakesTheTextAsItIsNow() throws {
    let place = try todo(applied: true)
    try place.write(
      Workplace.addDue.replacing("due", with: "day"), to: "Migrations/2_add_due.sql")
    let redo = try place.run("migrate", "redo", "--yes")
    #expect(redo.code == 0, "\(redo)")
    #expect(try place.columns(of: "Todo") == "id,title,day")
    #expect(try place.run("migrate", "status", "-q").code == 0)
    try place.write("-- up\nnonsense;\n-- down\n", to: "Migrations/2_add_due.sql")
    #expect(try place.run("migrate", "redo", "--yes").code != 0)
    #expect(try place.columns(of: "Todo") == "id,title,day")
  }

  // Plans

  @Test func planShowsWhatUpWouldDo() throws {
    let place = try todo()
    try #require(try place.run("migrate", "to", "1", "-q").code == 0)
    let plan = try place.run("migrate", "plan")
    #expect(
      plan
        == Outcome(
          code: 2, out: "1 pending\nrun        2_add_due.sql   1 statement\n",
          err: "reversible: yes   to do it: storecli migrate up\n"))
    #expect(
      try place.run("migrate", "plan", "--sql", "-q").out
        == "1 pending\nrun        2_add_due.sql\nALTER TABLE Todo ADD COLUMN due TEXT;\n")
    #expect(
      try place.run("migrate", "plan", "--json", "-q").out.hasPrefix(
        #"{"pending":[{"version":2,"name":"add_due","file":"Migrations/2_add_due.sql","action":"run","#
      ))
    #expect(try place.columns(of: "Todo") == "id,title")
    try #require(try place.run("migrate", "up", "-q").code == 0)
    #expect(try place.run("migrate", "plan") == Outcome(code: 0, out: "", err: "nothing to do\n"))
  }

  @Test func planFindsWhatFailsForTheRecords() throws {
    let place = try todo(applied: true)
    try fill(place)
    try place.write(
      "-- up\nCREATE UNIQUE INDEX u ON Todo (length(title));\nALTER TABLE Todo DROP COLUMN due;\n",
      to: "Migrations/3_unique.sql")
    let plan = try place.run("migrate", "plan")
    #expect(plan.code == 2)
    #expect(plan.out.contains("blocked    Migration 3 unique, statement 1: "), "\(plan)")
    #expect(plan.out.contains("loses      The values of Todo.due are deleted."))
    #expect(plan.err.contains("reversible: no"))
    #expect(try place.columns(of: "Todo") == "id,title,due")
  }

  // Baseline, squash, lint

  @Test func aBaselineRecordsOnlyWhatTheDatabaseHas() throws {
    let place = try todo()
    try RawDatabase(place.path("app.db")).execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE Todo (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT;"
    )
    let refused = try place.run("migrate", "baseline", "1")
    #expect(refused.code == 2 && refused.err.contains("by_title"), "\(refused)")
    try RawDatabase(place.path("app.db")).execute("CREATE INDEX by_title ON Todo (title)")
    #expect(try place.run("migrate", "baseline", "1", "-n").code == 0)
    let recorded = try place.run("migrate", "baseline", "1")
    #expect(recorded == Outcome(code: 0, out: "", err: "recorded 1_create_todo.sql\n"))
    try #require(try place.run("migrate", "up").code == 0)
    #expect(try place.columns(of: "Todo") == "id,title,due")
  }

  @Test func aSquashStandsForItsRange() throws {
    let place = try todo(applied: true)
    try place.write(
      "-- up\nCREATE TABLE Tag (id INTEGER PRIMARY KEY);\n-- down\nDROP TABLE Tag;\n",
      to: "Migrations/3_tag.sql")
    #expect(try place.run("migrate", "squash", "1..2", "--name", "base").code == 64)
    #expect(try place.run("migrate", "squash", "1..2", "--name", "base", "-n").code == 0)
    #expect(try place.names(in: "Migrations").count == 3)
    let squash = try place.run("migrate", "squash", "1..2", "--name", "base", "--yes")
    #expect(squash.code == 0, "\(squash)")
    #expect(try place.names(in: "Migrations") == ["2_base.sql", "3_tag.sql"])
    #expect(try place.contents(of: "Migrations/2_base.sql").contains("-- replaces: 1, 2\n"))
    let up = try place.run("migrate", "up")
    #expect(up.code == 0 && up.err.contains("2_base.sql   without running it"), "\(up)")
    #expect(try place.run("migrate", "status", "-q").code == 0)
    let fresh = try place.run("migrate", "up", "-d", "fresh.db")
    #expect(fresh.code == 0, "\(fresh)")
    #expect(
      try place.run("migrate", "schema", "-d", "fresh.db").out
        == place.run("migrate", "schema").out)
  }

  @Test func aSquashKeepsStatementsThatWriteRecords() throws {
    let place = try todo()
    try place.write(
      "-- up\nINSERT INTO Todo (title) VALUES ('first');\n-- down: irreversible\n",
      to: "Migrations/3_seed.sql")
    try #require(
      try place.run("migrate", "squash", "1..3", "--name", "base", "--yes").code == 0)
    let text = try place.contents(of: "Migrations/3_base.sql")
    #expect(text.contains("INSERT INTO Todo") && text.contains("-- down: irreversible"), "\(text)")
    #expect(text.contains("-- from 2_add_due.sql"))
    try #require(try place.run("migrate", "up").code == 0)
    #expect(
      try RawDatabase(place.path("app.db")).value("SELECT group_concat(title) FROM Todo") == "first"
    )
  }

  @Test func lintNamesEachMistakeWithoutADatabase() throws {
    let place = try todo()
    #expect(try place.run("migrate", "lint") == Outcome(code: 0, out: "", err: "0 findings\n"))
    try place.write("-- up\nALTER TABLE Todo DROP COLUMN due;\n", to: "Migrations/3_lose.sql")
    try place.write("-- up\nCOMMIT;\n-- down: irreversible\n", to: "Migrations/4_end.sql")
    try place.write("SELECT 1;", to: "Migrations/5_plain.sql")
    let lint = try place.run("migrate", "lint")
    #expect(lint.code == 2 && lint.err == "4 findings\n", "\(lint)")
    let lines = lint.out.replacing("Migrations/", with: "").split(separator: "\n").map(String.init)
    #expect(
      lines.filter { !$0.hasPrefix("4") } == [
        "3_lose.sql\tThe values of Todo.due are deleted.",
        "3_lose.sql\thas no way back; write statements after -- down, or -- down: irreversible",
        "5_plain.sql\thas no line -- up before its statements; -- down begins the way back",
      ])
    #expect(
      lines.contains {
        $0.hasPrefix("4_end.sql\tMigration 4 end, statement 1: COMMIT is not allowed")
      })
    #expect(try place.names() == ["Migrations"])
  }

  @Test func lintAcceptsALossThatTheFileAllows() throws {
    let place = try todo()
    try place.write(
      "-- allow: data loss\n-- up\nALTER TABLE Todo DROP COLUMN due;\n-- down: irreversible\n",
      to: "Migrations/3_lose.sql")
    #expect(try place.run("migrate", "lint").code == 0)
  }

  // Schema and drift

  @Test func theSchemaFileIsKeptUpToDateOnceItExists() throws {
    let place = try todo()
    try #require(try place.run("migrate", "to", "1").code == 0)
    #expect(try place.names(in: "Migrations").contains("schema.sql") == false)
    #expect(
      try place.run("migrate", "schema", "--write")
        == Outcome(code: 0, out: "", err: "wrote Migrations/schema.sql\n"))
    let before = try place.contents(of: "Migrations/schema.sql")
    #expect(
      before == """
        CREATE TABLE Todo (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT;

        CREATE INDEX by_title ON Todo (title);

        """)
    #expect(try place.run("migrate", "schema").out == before)
    #expect(try place.run("migrate", "up").err.hasSuffix("wrote Migrations/schema.sql\n"))
    #expect(try place.contents(of: "Migrations/schema.sql").contains("due TEXT"))
    try #require(try place.run("migrate", "down", "--yes").code == 0)
    #expect(try place.contents(of: "Migrations/schema.sql") == before)
  }

  @Test func driftIsListedAdoptedOrTakenBack() throws {
    let place = try todo(applied: true)
    #expect(
      try place.run("migrate", "drift")
        == Outcome(code: 0, out: "", err: "no difference to the migrations up to 2\n"))
    let raw = try RawDatabase(place.path("app.db"))
    try raw.execute("ALTER TABLE Todo ADD COLUMN note TEXT; DROP INDEX by_title")
    let drift = try place.run("migrate", "drift")
    #expect(drift.code == 2, "\(drift)")
    #expect(drift.out.contains("Todo.note") && drift.out.contains("by_title"))
    #expect(drift.err.contains("keep them: storecli migrate drift --adopt NAME"))
    #expect(try place.run("migrate", "status", "-q").code == 2)
    let sql = try place.run("migrate", "drift", "--sql", "-q")
    #expect(sql.code == 2)
    #expect(
      sql.out == """
        BEGIN;
        ALTER TABLE "Todo" DROP COLUMN "note";
        CREATE INDEX by_title ON Todo (title);
        COMMIT;

        """)
    let adopted = try place.run("migrate", "drift", "--adopt", "add note")
    #expect(adopted.code == 0, "\(adopted)")
    #expect(
      adopted.err.contains("storecli migrate baseline Migrations/20260820101500_add_note.sql"))
    try #require(
      try place.run("migrate", "baseline", "Migrations/20260820101500_add_note.sql").code == 0)
    #expect(try place.run("migrate", "drift").code == 0)
    #expect(try place.run("migrate", "status", "-q").code == 0)
  }

  // Differences

  @Test func aDifferenceBecomesAMigrationThatRuns() throws {
    let place = try todo(applied: true)
    try place.write(
      """
      CREATE TABLE Todo (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (title <> ''), due TEXT, note TEXT
      ) STRICT;
      CREATE INDEX by_title ON Todo (title);
      CREATE TABLE Tag (id INTEGER PRIMARY KEY, word TEXT) STRICT;
      """, to: "wanted.sql")
    let dry = try place.run("migrate", "diff", "--from-schema", "wanted.sql", "-n")
    #expect(dry.code == 2, "\(dry)")
    #expect(try place.names(in: "Migrations").count == 2)
    let diff = try place.run("migrate", "diff", "add tags", "--from-schema", "wanted.sql")
    #expect(
      diff.code == 0 && diff.err == "wrote Migrations/20260820101500_add_tags.sql\n", "\(diff)")
    #expect(try place.contents(of: "Migrations/20260820101500_add_tags.sql") == diff.out)
    #expect(diff.out == dry.out)
    #expect(diff.out.contains("-- Todo.note add\n-- Todo CHECK (title <> '')\n"), "\(diff.out)")
    try fill(place)
    #expect(try place.run("migrate", "lint").code == 0)
    try #require(try place.run("migrate", "up").code == 0)
    #expect(
      try place.run("migrate", "diff", "--from-schema", "wanted.sql").err
        == "no difference: the schemas are the same\n")
    try #require(try place.run("migrate", "down", "--yes").code == 0)
    #expect(try place.columns(of: "Todo") == "id,title,due")
    #expect(
      try RawDatabase(place.path("app.db")).value("SELECT group_concat(title) FROM Todo") == "x,y")
  }

  @Test func aPossibleRenameNeedsAnAnswer() throws {
    let place = try todo(applied: true)
    try RawDatabase(place.path("new.db")).execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE Todo (id INTEGER PRIMARY KEY, title TEXT NOT NULL, day TEXT) STRICT;
      CREATE INDEX by_title ON Todo (title);
      """)
    let open = try place.run("migrate", "diff", "--from", "new.db")
    #expect(open.code == 2)
    #expect(
      open.err.contains("  --rename Todo.due=day\n  --drop Todo.due"), "\(open)")
    #expect(try place.names(in: "Migrations").count == 2)
    let renamed = try place.run(
      "migrate", "diff", "--from", "new.db", "--rename", "Todo.due=day", "-n")
    #expect(renamed.out.contains(#"RENAME COLUMN "due" TO "day";"#), "\(renamed)")
    #expect(renamed.out.contains(#"RENAME COLUMN "day" TO "due";"#))
    let dropped = try place.run("migrate", "diff", "--from", "new.db", "--drop", "Todo.due", "-n")
    #expect(dropped.out.contains("-- The values of Todo.due are deleted."), "\(dropped)")
    #expect(dropped.out.hasSuffix("-- down: irreversible\n"))
    #expect(try place.run("migrate", "diff", "--from", "new.db", "--rename", "due").code == 64)
  }

  @Test func diffNeedsSomethingToCompareWith() throws {
    let place = try todo(applied: true)
    #expect(try place.run("migrate", "diff").code == 64)
    try place.write("CREATE TABLE (;", to: "bad.sql")
    let bad = try place.run("migrate", "diff", "--from-schema", "bad.sql")
    #expect(bad.code == 1 && bad.err.contains("bad.sql: Statement 1: "), "\(bad)")
    #expect(try place.run("migrate", "diff", "--from-schema", "none.sql").code == 3)
  }

  // Bindings

  @Test func triggersOfBindingsAndRulesComeBackAfterARebuild() throws {
    let place = try Workplace.withMigrations()
    try RawDatabase(place.path("app.db")).execute(RecordedGuide.shop)
    for words in [
      ["adopt", "--yes"],
      [
        "bindings", "add", "aggregate", "Shelf.products", "--function", "count", "--from",
        "Product", "--through", "shelf", "--yes",
      ],
      ["rules", "add", "Product", "--length", "name=1..9", "--name", "short"],
    ] {
      try #require(try place.run(words).code == 0)
    }
    try place.run("migrate", "schema", "--write")
    try place.write(
      try place.contents(of: "Migrations/schema.sql")
        .replacing("name TEXT NOT NULL", with: "name TEXT NOT NULL CHECK (name <> '-')"),
      to: "wanted.sql")
    try #require(
      try place.run("migrate", "diff", "check name", "--from-schema", "wanted.sql").code == 0)
    let up = try place.run("migrate", "up")
    #expect(up.code == 0, "\(up)")
    #expect(try place.run("bindings", "check", "-q").code == 0)
    let raw = try RawDatabase(place.path("app.db"))
    try raw.execute("INSERT INTO Product VALUES (4, 'Harp', 2, 0)")
    #expect(try raw.value("SELECT products FROM Shelf WHERE id = 2") == "2")
    #expect(raw.refuses("INSERT INTO Product VALUES (5, '-', 2, 0)"))
    #expect(raw.refuses("INSERT INTO Product VALUES (5, 'Glockenspiel', 2, 0)"))
  }

  // Two programs

  @Test func ofTwoProgramsOneMigratesAndTheOtherFindsNothingToDo() throws {
    let place = try todo()
    let programs = try (1...2).map { number in
      let process = try place.process(["migrate", "up"])
      try place.write("", to: "\(number).err")
      process.standardError = try FileHandle(forWritingTo: place.url("\(number).err"))
      process.standardOutput = FileHandle.nullDevice
      return process
    }
    for program in programs { try program.run() }
    for program in programs { program.waitUntilExit() }
    let texts = try (1...2).map { try place.contents(of: "\($0).err") }
    #expect(programs.map(\.terminationStatus) == [0, 0], "\(texts)")
    for name in ["1_create_todo.sql", "2_add_due.sql"] {
      #expect(texts.joined().components(separatedBy: "applied \(name)").count == 2, "\(texts)")
    }
  }

  @Test func aDatabaseThatAnotherProgramWritesIsBusy() throws {
    let place = try todo()
    try #require(try place.run("migrate", "to", "1").code == 0)
    let raw = try RawDatabase(place.path("app.db"))
    try raw.execute("BEGIN IMMEDIATE")
    #expect(try place.run("migrate", "up", "--busy-timeout", "0").code == 5)
    #expect(try place.run("migrate", "plan", "--busy-timeout", "0").code == 5)
    try raw.execute("ROLLBACK")
    #expect(try place.run("migrate", "up").code == 0)
  }
}
