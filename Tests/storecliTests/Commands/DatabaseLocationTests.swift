import Foundation
import Testing

@testable import StoreCommand

@Suite(.tags(.process)) struct DatabaseLocationTests {
  @Test func theFirstSourceThatNamesADatabaseWins() throws {
    let place = try Workplace()
    try place.makeMusic()
    place.environment = [:]
    let inner = place.path("a/b")
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: place.path(".config/storecli"), withIntermediateDirectories: true)

    func source(_ words: String..., environment: [String: String] = [:]) throws -> String {
      let process = try place.process(["models", "-v"] + words)
      process.currentDirectoryURL = URL(fileURLWithPath: inner)
      process.environment?.merge(environment) { _, new in new }
      let errors = Pipe()
      process.standardError = errors
      process.standardOutput = Pipe()
      try process.run()
      process.waitUntilExit()
      let said = String(
        decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      return String(said.split(separator: "\n").first ?? "")
    }

    #expect(try source().hasPrefix("error[usage]: No database was named"))
    try place.write("db = \"../../music.store\"\n", to: ".config/storecli/config.toml")
    let config = place.path(".config/storecli")
    #expect(try source() == "database: \(config)/../../music.store via \(config)/config.toml")
    try place.write(
      "# ours\ndb = 'music.store' # here\n[other]\ndb = \"no\"\n", to: "storecli.toml")
    #expect(
      try source() == "database: \(place.path("music.store")) via \(place.path("storecli.toml"))")
    try FileManager.default.createDirectory(
      atPath: place.path("a/.git"), withIntermediateDirectories: false)
    #expect(
      try source() == "database: \(config)/../../music.store via \(config)/config.toml",
      "the search ends at the root of the repository")
    let variable = ["STORECLI_DB": "../../music.store"]
    #expect(try source(environment: variable) == "database: ../../music.store via STORECLI_DB")
    #expect(
      try source("-d", place.path("music.store"), environment: variable)
        == "database: \(place.path("music.store")) via -d")
  }

  @Test func aConfigurationFileHoldsStringsOnly() throws {
    let file = try ConfigurationFile(
      text: "\"db\" = \"a\\\"b\\\\c\" # comment\nlimit = 3\nname='x#y'\n[t]\ninner = \"z\"\n",
      name: "f")
    #expect(
      try ["db", "name", "inner"].map { try file.string(named: $0) } == ["a\"b\\c", "x#y", nil])
    #expect(throws: CommandError.self) { try file.string(named: "limit") }
    #expect(throws: CommandError.self) { try ConfigurationFile(text: "db = \"open", name: "f") }
  }
}
