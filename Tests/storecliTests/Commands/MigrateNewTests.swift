import Foundation
import Testing

/// The versions of new files of migrations.
@Suite(.tags(.process)) struct MigrateNewTests {
  @Test func aNewFileComesAfterTheNewestOne() throws {
    let place = try Workplace.withMigrations(["20991231235959_a": "-- up\nCREATE TABLE a (x);\n"])
    try #require(try place.run("migrate", "up").code == 0)
    #expect(
      try place.run("migrate", "new", "b").err == "wrote Migrations/20991231235960_b.sql\n")
    // A file with a mistake also has a version.
    try place.write("nonsense", to: "Migrations/20991231235970_c.sql")
    #expect(
      try place.run("migrate", "new", "d").err == "wrote Migrations/20991231235971_d.sql\n")
    try FileManager.default.removeItem(atPath: place.path("Migrations/20991231235970_c.sql"))
    try place.write("-- up\nSELECT 1;\n", to: "Migrations/20991231235960_b.sql")
    try place.write("-- up\nSELECT 1;\n", to: "Migrations/20991231235971_d.sql")
    let up = try place.run("migrate", "up")
    #expect(up.code == 0 && up.err.contains("applied 20991231235971_d.sql"), "\(up)")
  }

  @Test func theHighestVersionHasNoSuccessor() throws {
    let place = try Workplace.withMigrations(["9223372036854775807_a": "-- up\nSELECT 1;\n"])
    let new = try place.run("migrate", "new", "b")
    #expect(new.code == 1 && new.err.contains("nothing was written"), "\(new)")
    #expect(try place.names(in: "Migrations") == ["9223372036854775807_a.sql"])
  }

  @Test func programsThatWriteAtOnceChooseDifferentVersions() throws {
    let place = try Workplace()
    let programs = try (1...6).map { number in
      let process = try place.process(["migrate", "new", "file \(number)"])
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      return process
    }
    for program in programs { try program.run() }
    for program in programs { program.waitUntilExit() }
    #expect(programs.map(\.terminationStatus) == Array(repeating: 0, count: 6))
    let names = try place.names(in: "Migrations")
    #expect(names.count == 6)
    #expect(Set(names.map { $0.prefix { $0 != "_" } }).count == 6, "\(names)")
  }

  @Test func aNameOrDirectoryThatCannotBeIsFoundBeforeAnythingIsPrinted() throws {
    let place = try Workplace.withMigrations()
    try RawDatabase(place.path("app.db")).execute("PRAGMA user_version = 1")
    try place.write("CREATE TABLE t (a);", to: "wanted.sql")
    let diff = try place.run("migrate", "diff", "ä", "--from-schema", "wanted.sql")
    #expect(diff.code == 64 && diff.out == "", "\(diff)")
    try place.write("mine", to: "folder")
    let other = try place.run(
      "migrate", "new", "a", "--migrations", place.path("folder"))
    #expect(other.code == 1 && other.err.contains("nothing was written"), "\(other)")
    #expect(try place.contents(of: "folder") == "mine")
  }
}
