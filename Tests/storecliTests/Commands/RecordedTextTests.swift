import ArgumentParser
import Foundation
import Testing

@testable import StoreCommand

/// Text that is reviewed as a file. `RECORD=1 swift test --filter RecordedTextTests` writes it
/// again.
@Suite(.tags(.process)) struct RecordedTextTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func expectRecorded(_ text: String, as path: String) throws {
    let file = Self.root.appendingPathComponent(path)
    if ProcessInfo.processInfo.environment["RECORD"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }

  @Test func theReferenceMatchesTheProgramsOutput() throws {
    let place = try Workplace()
    var text = """
      # storecli

      Every command with its options, as `storecli help` prints them. Recorded by
      `RECORD=1 swift test --filter RecordedTextTests`; a test compares it.

      """
    func add(_ title: String, _ words: [String]) throws {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 0)
      text += "\n## \(title)\n\n```\n\(outcome.out)```\n"
    }
    try add("storecli", ["--help"])
    func addCommands(of command: any ParsableCommand.Type, after path: [String]) throws {
      for child in command.configuration.subcommands {
        let words = path + [try #require(child.configuration.commandName)]
        try add((["storecli"] + words).joined(separator: " "), words + ["--help"])
        try addCommands(of: child, after: words)
      }
    }
    try addCommands(of: StoreCLI.self, after: [])
    for topic in HelpTopic.allCases {
      try add("storecli help \(topic.rawValue)", ["help", topic.rawValue])
    }
    try expectRecorded(text, as: "Documentation/CLI.md")
  }

  @Test func theDemonstrationPrintsTheRecordedText() throws {
    let place = try Workplace()
    try expectRecorded(
      try place.runProcess("demo", "--keep", ".").out, as: "Tests/storecliTests/Recorded/demo.txt")
  }
}
