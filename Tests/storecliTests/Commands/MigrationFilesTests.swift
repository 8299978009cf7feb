import Foundation
import ModelStore
import Testing

@testable import StoreCommand

/// Files of migrations: their names and sections, new ones, and the directory.
@Suite(.tags(.unit)) struct MigrationFilesTests {
  private func file(_ text: String, _ name: String = "7_a.sql") throws(MigrationProblem)
    -> MigrationFile
  {
    try MigrationFile(path: name, text: text)
  }

  private func problem(_ text: String, _ name: String = "7_a.sql") -> String? {
    do throws(MigrationProblem) {
      _ = try file(text, name)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func aBackupWhoseNameIsTakenMeanwhileGetsTheNextOne() throws {
    let place = try Workplace()
    var tried: [String] = []
    let path = try MigrationBackups(of: place.path("app.db")).make(for: 7) { path in
      tried.append(path)
      if tried.count == 1 { throw StoreError(.fileExists, "taken") }
    }
    #expect(tried == [place.path("app.db.bak-7"), place.path("app.db.bak-7-2")])
    #expect(path == tried.last)
  }

  @Test func theSectionsAreReadFromCommentsOnTheirOwnLines() throws {
    let found = try file(
      """
      -- Adds the due date.
      -- replaces: 3, 5

      -- UP
      CREATE TABLE a (x TEXT DEFAULT '
      -- down
      '); SELECT 1; -- down
      /* a block
      -- down
      */
      --   down
      DROP TABLE a;
      """)
    #expect(found.version == 7 && found.name == "a" && found.replaces == [3, 5])
    #expect(found.up.hasPrefix("CREATE TABLE a") && found.up.hasSuffix("*/"))
    #expect(found.down == .sql("DROP TABLE a;"))
    #expect(found.migration.reverseSQL == "DROP TABLE a;")
  }

  @Test(arguments: [
    "CREATE TABLE t (\n-- down\na)", "CREATE TABLE t (a DEFAULT (\n-- down: irreversible\n1))",
    "CREATE TRIGGER r AFTER INSERT ON t BEGIN\n-- up\nSELECT 1;\n-- replaces: x\nSELECT 2; END",
    "CREATE TEMP TRIGGER r AFTER INSERT ON t\n-- down: never\nBEGIN SELECT 1; END",
  ])
  func commentsInsideAStatementAreOfTheApplication(_ statement: String) throws {
    for end in ["", ";"] {
      let found = try file("-- up\n\(statement)\(end)\n-- down\nDROP TABLE t")
      #expect(found.up == statement + end)
      #expect(found.down == .sql("DROP TABLE t"))
    }
  }

  @Test func anOpenParenthesisEndsWithItsStatement() throws {
    let found = try file("-- up\nCREATE TABLE t (a;\n-- down\nDROP TABLE t;")
    #expect(found.up == "CREATE TABLE t (a;" && found.down == .sql("DROP TABLE t;"))
  }

  @Test func windowsLineEndsAndAByteOrderMarkAreAccepted() throws {
    let found = try file("\u{FEFF}-- up\r\nSELECT 1;\r\n-- down: irreversible\r\n")
    #expect(found.up == "SELECT 1;" && found.down == .irreversible)
  }

  @Test(arguments: [
    ("-- up\nSELECT 1;", MigrationFile.Down.missing),
    ("-- up\nSELECT 1;\n-- down\n-- nothing yet\n", .missing),
    ("-- up\n\n-- down\n", .sql("")),
    ("-- up\nSELECT 1;\n-- down: irreversible\n-- because", .irreversible),
  ])
  func theWayBackIsKnown(_ text: String, down: MigrationFile.Down) throws {
    #expect(try file(text).down == down)
  }

  @Test(arguments: [
    ("SELECT 1;", "has no line -- up before its statements; -- down begins the way back"),
    (
      "-- migrate:up\nSELECT 1;",
      "has no line -- up before its statements; -- down begins the way back"
    ),
    ("SELECT 1;\n-- up\n", "has statements before the line -- up"),
    ("-- up\n-- up\n", "has two sections -- up"),
    ("-- down\n-- up\n", "has -- down before -- up"),
    ("-- up\n-- down\n-- down\n", "has two sections -- down"),
    (
      "-- up\n-- down: never\n",
      "has the line -- down: never; write -- up, -- down or -- down: irreversible"
    ),
    ("-- up\n-- down: irreversible\nSELECT 1", "has statements after -- down: irreversible"),
    ("-- replaces: x\n-- up\n", "has the line -- replaces: x; write versions and commas"),
  ])
  func wrongSectionsAreNamed(_ text: String, message: String) {
    #expect(problem(text) == message)
  }

  @Test(arguments: [
    "a.sql", "7.sql", "7_.sql", "7_A.sql", "7_a b.sql", "0_a.sql", "-7_a.sql", "7a_b.sql",
    "99999999999999999999_a.sql", "7_ä.sql",
  ])
  func wrongNamesAreRefused(_ name: String) {
    #expect(problem("-- up", name)?.hasPrefix("a migration is called VERSION_NAME.sql") == true)
  }

  @Test(arguments: [
    ("add due date", "add_due_date"), ("addDueDate", "add_due_date"), ("v2-Fix!!", "v2_fix"),
    ("  Käse ", "k_se"), ("--", ""), ("URL", "url"),
  ])
  func wordsBecomeNames(_ words: String, name: String) {
    #expect(MigrationName.snake(words) == name)
  }

  @Test func aWrittenTextIsReadAgain() throws {
    let text = MigrationFile.text(
      notes: ["One"], replaces: [1, 2], up: ["SELECT 1;"], down: ["SELECT 2;"])
    #expect(text == "-- One\n-- replaces: 1, 2\n\n-- up\nSELECT 1;\n\n-- down\nSELECT 2;\n")
    let found = try file(text)
    #expect(found.up == "SELECT 1;" && found.down == .sql("SELECT 2;") && found.replaces == [1, 2])
    #expect(
      MigrationFile.text(up: ["SELECT 1;"], down: nil)
        == "-- up\nSELECT 1;\n\n-- down: irreversible\n")
  }

  @Test func linesOfTwoTextsAreMarked() {
    #expect(
      TextDifference(from: "a\nb\nc\nd", to: "a\nx\nc\nd\ne").lines
        == ["  a", "- b", "+ x", "  c", "  d", "+ e"])
    #expect(TextDifference(from: "a", to: "a").lines == ["  a"])
  }
}
