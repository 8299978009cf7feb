import Foundation
import Testing

/// `Scripts/check-skipped` fails a run that skipped a test without need, and passes any other.
@Suite(.tags(.process)) struct SkippedScriptTests {
  private let directory: TemporaryDirectory

  /// A folder in which no user is root and nothing can be mounted.
  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file(".build"), withIntermediateDirectories: true)
    for (name, text) in [("id", "echo 1000"), ("unshare", "exit 1")] {
      try Data("#!/bin/sh\n\(text)\n".utf8).write(to: URL(fileURLWithPath: directory.file(name)))
      #expect(chmod(directory.file(name), 0o755) == 0)
    }
  }

  private func record(_ lines: [String], of run: String) throws {
    try Data(lines.map { $0 + "\n" }.joined().utf8)
      .write(to: URL(fileURLWithPath: directory.file(".build/skipped-\(run).txt")))
  }

  private func outcome() throws -> ScriptRun {
    try ScriptRun(of: "check-skipped", in: directory)
  }

  /// The reasons that tests give, read from their sources.
  private static func reasons() throws -> Set<String> {
    let written = /\.enabled\(\s*(if: [^",]*,\s*)?"([^"]*)"/
    let named = /let reason: Comment =\s*"([^"]*)"/
    var found: Set<String> = []
    let texts = try Project.checkout.get().texts
    for (path, text) in texts where path.hasPrefix("Tests/") && path.hasSuffix(".swift") {
      let literals = text.matches(of: written).map { String($0.2) }
      let names = text.matches(of: /\.enabled\(if: Shell\.isInstalled, Shell\.reason\)/)
      let all = text.matches(of: /\.enabled\(/)
      #expect(literals.count + names.count == all.count, "a reason is missing: \(path)")
      found.formUnion(literals)
      found.formUnion(text.matches(of: named).map { String($0.1) })
    }
    return found
  }

  @Test func everyReasonOfTheTestsIsKnown() throws {
    let reasons = try Self.reasons()
    #expect(reasons.count >= 8, "\(reasons)")
    #expect(reasons.contains("Only root can give files to other users."))
    try record(reasons.sorted().map { "Test a() skipped: \"\($0)\"" }, of: "all")
    let lines = try outcome().lines
    #expect(lines.count == reasons.count)
    #expect(lines.filter { $0.contains("does not know") } == [])
  }

  @Test func testsThatNeedRootAreSkippedForOtherUsers() throws {
    let root = try Self.reasons().filter { $0.lowercased().contains("only root") }.sorted()
    #expect(root.count >= 4, "\(root)")
    let skipped = root.map { "Test a() skipped: \"\($0)\"" }
    try record(skipped, of: "all")
    #expect(try outcome() == ScriptRun(status: 0, lines: skipped.map { "skipped: " + $0 }))
  }

  @Test(arguments: ["amountOfRoot()", "readsWithSqlite3()", "\"only root: python3 and mount\""])
  func theNameOfATestIsNotAReason(name: String) throws {
    try record(["Test \(name) skipped: \"it rains\"", "Test \(name) skipped."], of: "faults")
    let text = "skipped for a reason that Scripts/check-skipped does not know: Test \(name) skipped"
    #expect(try outcome() == ScriptRun(status: 1, lines: [text + ": \"it rains\"", text + "."]))
  }

  @Test func aTestThatCanRunHereMustNotBeSkipped() throws {
    try Data("#!/bin/sh\necho 0\n".utf8).write(to: URL(fileURLWithPath: directory.file("id")))
    let line = "Suite NeighbourTests skipped: \"Only root can give files to other users.\""
    try record([line], of: "all")
    #expect(
      try outcome()
        == ScriptRun(status: 1, lines: ["skipped, although it can run here: " + line]))
  }

  @Test func withoutARecordedRunItFails() throws {
    let none = ScriptRun(
      status: 1, lines: ["No run was recorded. Run make test or make faults first."])
    #expect(try outcome() == none)
    // Lists of runs that `make check` does not make may be old.
    try record(["Test a() skipped: \"it rains\""], of: "quick")
    try record([], of: "laws")
    #expect(try outcome() == none)
    try record([], of: "all")
    #expect(try outcome() == ScriptRun(status: 0, lines: ["No test was skipped."]))
  }
}
