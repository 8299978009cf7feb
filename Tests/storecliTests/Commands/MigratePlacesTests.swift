import Foundation
import Testing

/// Migrations in places that are not as they should be, and beside other programs.
@Suite(.tags(.process)) struct MigratePlacesTests {
  @Test func aFileWithAnotherEndingIsReported() throws {
    let place = try Workplace.withMigrations([
      "1_a": "-- up\nCREATE TABLE a (x);\n-- down: irreversible\n"
    ])
    try place.write("-- up\nCREATE TABLE b (x);\n", to: "Migrations/2_b.SQL")
    let lint = try place.run("migrate", "lint", "-o", "tsv")
    #expect(lint.code == 2)
    #expect(lint.out.contains("Migrations/2_b.SQL\ta migration is called VERSION_NAME.sql"))
    let up = try place.run("migrate", "up")
    #expect(up.code == 1 && up.err.contains("Migrations/2_b.SQL: a migration is called"), "\(up)")
  }

  @Test func somethingElseAtThePathOfTheDirectoryIsNamed() throws {
    let place = try Workplace()
    try place.write("mine", to: "Migrations")
    for command in ["status", "lint", "up"] {
      let result = try place.run("migrate", command, "-d", "app.db")
      #expect(result.code == 1)
      #expect(
        result.err.contains("The directory Migrations cannot be read: Not a directory."),
        "\(result)")
    }
  }

  @Test func aMessageAboutAFileNamesItOnce() throws {
    let place = try Workplace.withMigrations(["1_a": "-- up\nSELECT 1;\n"])
    try Data([0x2D, 0x2D, 0xFF]).write(to: place.url("Migrations/1_a.sql"))
    let up = try place.run("migrate", "up")
    #expect(up.err.contains("error[migrationFile]: Migrations/1_a.sql: its text is not UTF-8\n"))
    try place.write("-- up\nSELECT \u{0}1;\n-- down: irreversible\n", to: "Migrations/1_a.sql")
    #expect(
      try place.run("migrate", "lint", "-o", "tsv").out
        == "file\tfinding\nMigrations/1_a.sql\tMigration 1 a, statement 1: The SQL contains a NUL character.\n"
    )
  }

  @Test func aDifferenceIsNotWrittenWhereTheMigrationsAreNot() throws {
    let place = try Workplace.withMigrations(["1_a": "-- up\nCREATE TABLE a (x);\n"])
    try #require(try place.run("migrate", "up").code == 0)
    try place.write("CREATE TABLE a (x, y);", to: "wanted.sql")
    try place.makeDirectory("elsewhere")
    let diff = try place.run(
      "migrate", "diff", "-d", "app.db", "--from-schema", "wanted.sql", "--migrations",
      "elsewhere/Migrations")
    #expect(diff.code == 6)
    #expect(diff.err.contains("The file has migrations up to 1, and there is no migration here"))
    #expect(diff.err.contains("hint: say where they are: --migrations DIRECTORY"))
    #expect(try place.names(in: "elsewhere") == [])
  }

  @Test func programsThatApplyAtOnceSayWhatTheDatabaseHas() throws {
    let place = try Workplace.withMigrations(["1_a": "-- up\nCREATE TABLE a (x);\n"])
    let results = try runAtOnce(6, ["migrate", "up"], in: place)
    #expect(results.map(\.code) == Array(repeating: 0, count: 6))
    let others = results.filter { !$0.err.contains("applied 1_a.sql") }
    #expect(others.count == 5)
    for result in others {
      #expect(
        result.err.contains("nothing to do: the database has had 1 migration, up to 1"),
        "\(result)")
    }
  }

  @Test func programsThatTakeBackAtOnceEachMakeABackup() throws {
    let place = try Workplace.withMigrations([
      "1_a": "-- up\nCREATE TABLE a (x);\n-- down\nDROP TABLE a;\n"
    ])
    try #require(try place.run("migrate", "up").code == 0)
    let results = try runAtOnce(4, ["migrate", "down", "-y"], in: place)
    for result in results {
      #expect(
        result.code == 0 && !result.err.contains("fileExists")
          || result.err.contains("migrationConflict"), "\(result)")
    }
    #expect(results.count { $0.err.contains("took back 1_a.sql") } == 1)
    #expect(try place.names().contains { $0.hasPrefix("app.db.bak-1") })
  }

  private func runAtOnce(
    _ count: Int, _ arguments: [String], in place: Workplace
  ) throws -> [(code: Int32, err: String)] {
    let programs = try (0..<count).map { number in
      let process = try place.process(arguments)
      process.standardOutput = FileHandle.nullDevice
      let path = place.path("err-\(number)")
      try Data().write(to: URL(fileURLWithPath: path))
      process.standardError = FileHandle(forWritingAtPath: path)
      return process
    }
    for program in programs { try program.run() }
    for program in programs { program.waitUntilExit() }
    return try programs.enumerated().map { number, program in
      (program.terminationStatus, try place.contents(of: "err-\(number)"))
    }
  }

  @Test func anAdoptedModelThatAMigrationChangesIsReported() throws {
    let place = try Workplace.withMigrations([
      "1_a": "-- up\nALTER TABLE t ADD COLUMN due TEXT;\n-- down\nALTER TABLE t DROP COLUMN due;\n"
    ])
    try RawDatabase(place.path("app.db")).execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
    try #require(try place.run("adopt", "t").code == 0)
    let up = try place.run("migrate", "up")
    #expect(up.code == 0)
    #expect(up.err.contains("warning[outdatedModel]"), "\(up)")
    #expect(up.err.contains("t: "), "\(up)")
    #expect(up.err.contains("hint: storecli adopt --refresh t"), "\(up)")
    // Taking it back puts the model in order again.
    let down = try place.run("migrate", "down", "-y")
    #expect(down.code == 0 && !down.err.contains("outdatedModel"), "\(down)")
  }
}
