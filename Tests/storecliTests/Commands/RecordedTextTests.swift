import ArgumentParser
import Foundation
import Testing

@testable import StoreCommand

/// Text that is reviewed as a file. `RECORD=1 swift test --filter RecordedTextTests` records it
/// again.
@Suite(.tags(.process)) struct RecordedTextTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let manual = "Documentation/CLI.md"

  private func expectRecorded(_ text: String, as path: String) throws {
    let file = Self.root.appendingPathComponent(path)
    if ProcessInfo.processInfo.environment["RECORD"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let recorded = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    let lines = text.components(separatedBy: "\n")
    let place = zip(recorded, lines).enumerated().first { $0.element.0 != $0.element.1 }
    #expect(place == nil, "\(path) differs first in line \((place?.offset ?? 0) + 1)")
    #expect(recorded.count == lines.count)
  }

  @Test func theGuideAndTheReferenceMatchTheProgramsOutput() throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent(Self.manual), encoding: .utf8)
    let start = try #require(page.range(of: "## Reference\n"))
    let guide = try recordedGuide(String(page[..<start.lowerBound]))
    try expectRecorded(guide + reference(), as: Self.manual)
  }

  /// Runs the commands of the guide, one after the other, on one terminal each.
  private func recordedGuide(_ page: String) throws -> String {
    let place = try Workplace()
    let shop = try RawDatabase(place.path("shop.db"))
    try shop.execute(RecordedGuide.shop)
    let directory = URL(fileURLWithPath: Workplace.program).deletingLastPathComponent().path
    let environment = [
      "HOME": place.directory, "PATH": "\(directory):/usr/bin:/bin", "TMPDIR": place.directory,
      "NO_COLOR": "1",
    ]
    return try RecordedGuide.recorded(page) { command in
      let seen = try PseudoTerminal.run(
        "umask 022; " + command, in: place.directory, environment: environment)
      return RecordedGuide.stable(seen, in: place.directory)
    }
  }

  /// The help of every command without the common options, which come first, and the topics.
  private func reference() throws -> String {
    let place = try Workplace()
    var text = """
      ## Reference

      The help of every command, as `storecli COMMAND --help` prints it, without the common options.

      ### Common options

      ```
      \(HelpTopic.options.text)
      ```

      """
    func add(_ title: String, _ words: [String]) throws {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 0)
      text += "\n### \(title)\n\n```\n\(RecordedGuide.withoutCommonOptions(outcome.out))```\n"
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
    for topic in HelpTopic.allCases where topic != .options {
      try add("storecli help \(topic.rawValue)", ["help", topic.rawValue])
    }
    return text
  }

  @Test func theDemonstrationPrintsTheRecordedText() throws {
    let place = try Workplace()
    try expectRecorded(
      try place.runProcess("demo", "--keep", ".").out, as: "Tests/storecliTests/Recorded/demo.txt")
  }
}
