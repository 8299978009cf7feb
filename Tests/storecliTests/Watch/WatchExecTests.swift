import Foundation
import Testing

@testable import StoreCommand

@Suite(.tags(.process)) struct WatchExecTests {
  private func lag(_ world: WatchWorld) throws -> String {
    try world.place.runProcess("consumers", "list", "-q", "--fields", "consumer,lag").out
  }

  @Test func aCommandRunsForEachChangeWithTheChangeOnItsInput() throws {
    let world = try WatchWorld()
    for seconds in [100, 200] { try world.set("seconds = \(seconds)", of: 1) }
    let outcome = try world.watch("Track", "--exec", "echo run; cat; echo heard >&2")
    #expect(outcome.code == 0, "\(outcome)")
    let lines = outcome.out.split(separator: "\n")
    #expect(lines.count(where: { $0 == "run" }) == 2)
    #expect(lines.filter { $0 != "run" }.count == 2)
    #expect(try lineOf(lines[1])["op"] == "update")
    #expect(outcome.err.contains("heard\n"))
  }

  @Test func aCoalescedBurstIsOneRun() throws {
    let world = try WatchWorld()
    try world.raw.execute("UPDATE Track SET seconds = seconds + 1 WHERE id <= 3")
    let outcome = try world.watch("Track", "--coalesce", "--exec", "echo run; cat")
    let lines = outcome.out.split(separator: "\n")
    #expect(lines.count(where: { $0 == "run" }) == 1)
    #expect(lines.count == 4, "\(outcome)")
  }

  @Test func nothingStoredBecomesAPartOfTheCommand() throws {
    let world = try WatchWorld()
    let title = "'; touch taken; $(touch taken) `touch taken` \"\n| touch taken #"
    let quoted = title.replacingOccurrences(of: "'", with: "''")
    try world.set("title = '\(quoted)'", of: 1)
    let outcome = try world.watch("Track", "--exec", "cat")
    #expect(outcome.code == 0, "\(outcome)")
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.out.utf8)) as? [String: Any])
    let changes = object["changes"] as? [String: [String: String]]
    #expect(changes?["title"]?["new"] == title)
    #expect(!FileManager.default.fileExists(atPath: world.place.path("taken")))
  }

  @Test func aFailedCommandIsRunAgainForTheSameChange() throws {
    let world = try WatchWorld()
    for seconds in [101, 102, 103] { try world.set("seconds = \(seconds)", of: 1) }
    // The three statements of the shell are reported one by one; a store signs its own changes.
    for seconds in [104, 105, 106] {
      try world.place.runProcess("update", "Track", "1", "seconds=\(seconds)")
    }
    func run(_ command: String) throws -> Outcome {
      try world.place.runProcess(
        "watch", "Track", "--consumer", "work", "--since", "0", "--timeout", "0s", "--exec", command
      )
    }
    let failing = try run("tee -a heard | grep -qv '\"new\":105'")
    #expect(failing.code == 1, "\(failing)")
    #expect(failing.err.contains("error[command]: the command ended with status 1 for position"))
    #expect(try run("cat >> heard").code == 0)
    #expect(try lag(world) == "work\t0\n")
    let seconds = try told(try world.place.contents(of: "heard")).map { $0.suffix(3) }
    #expect(seconds == ["101", "102", "103", "104", "105", "105", "106"])
  }

  /// Transactions between them are gone, so positions and entries are not the same number.
  @Test func gapsInThePositionsDoNotRepeatFinishedCommands() throws {
    let world = try WatchWorld()
    for seconds in [101, 102, 103] {
      try world.place.runProcess("update", "Track", "1", "seconds=\(seconds)")
      let before = try world.position()
      for filler in 1...5 {
        try world.place.runProcess("update", "Track", "2", "seconds=\(filler)")
      }
      let after = try world.position()
      try world.place.runProcess("update", "Track", "3", "seconds=\(seconds)")
      try world.raw.execute(
        "DELETE FROM _ms_journal WHERE position > \(before) AND position <= \(after)")
    }
    func run(_ command: String, _ words: String...) throws -> Outcome {
      try world.place.runProcess(
        [
          "watch", "Track", "--consumer", "work", "--since", world.start, "--timeout", "0s",
          "--exec",
        ]
          + [command] + words)
    }
    // The fifth command fails; then one more is wanted, then all.
    #expect(try run("tee -a heard | grep -qv '\"new\":103'").code == 1)
    #expect(try run("cat >> heard", "--count", "1").code == 0)
    #expect(try run("cat >> heard").code == 0)
    #expect(try lag(world) == "work\t0\n")
    let seconds = try told(try world.place.contents(of: "heard")).map { $0.suffix(3) }
    #expect(seconds == ["101", "101", "102", "102", "103", "103", "103"])
  }

  @Test func withoutAConsumerAFailedCommandIsReportedAndTheNextOneRuns() throws {
    let world = try WatchWorld()
    for seconds in [101, 102] { try world.set("seconds = \(seconds)", of: 1) }
    let outcome = try world.watch("Track", "--exec", "cat >> heard; exit 3")
    #expect(outcome.code == 1, "\(outcome)")
    #expect(outcome.err.contains("the command ended with status 3 for position"))
    #expect(try told(try world.place.contents(of: "heard")).count == 2)
    let missing = try world.watch("Track", "--count", "1", "--exec", "no-such-command")
    #expect(missing.code == 1)
    #expect(missing.err.contains("status 127"), "\(missing)")
  }

  @Test func aCommandNeedNotReadItsInput() throws {
    let world = try WatchWorld(journal: [])
    try world.raw.execute("CREATE TABLE Note (id INTEGER PRIMARY KEY, text)")
    try world.place.runProcess("adopt", "Note")
    try world.place.runProcess("journal", "on", "Note")
    try world.raw.execute("INSERT INTO Note VALUES (1, hex(zeroblob(200000)))")
    let outcome = try world.watch("Note", "--exec", "true")
    #expect(outcome.code == 0, "\(outcome)")
  }

  @Test func aCommandEndsByAClosedPipeAsAnyOther() throws {
    let world = try WatchWorld()
    try world.set("seconds = 100", of: 1)
    // A program that ignored SIGPIPE would write for ever, or complain.
    let outcome = try world.watch(
      "Track", "--exec", "{ yes; echo $? >&2; } | head -n 1 > /dev/null; cat > /dev/null")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(!outcome.err.contains("roken pipe"), "\(outcome)")
  }

  /// The parent process may have set this; then the system discards the status of children that
  /// end.
  @Test(.ownThreads) func commandsAreWaitedForWhereChildrenWereIgnored() async {
    await #expect(processExitsWith: .exitCode(3)) {
      signal(SIGCHLD, SIG_IGN)
      EventCommand.admitWaiting()
      let ending = try EventCommand(text: "exit 5").run([])
      exit(ending == .exited(5) ? 3 : 4)
    }
  }

  /// A program that runs this one inside itself may wait for children of its own.
  @Test(.ownThreads) func aHandlerOfTheProgramAroundItStays() async {
    await #expect(processExitsWith: .exitCode(7)) {
      signal(SIGCHLD) { _ in }
      EventCommand.admitWaiting()
      exit(signal(SIGCHLD, SIG_DFL) == nil ? 8 : 7)
    }
  }

  @Test func aResultIsHandedToACommandToo() throws {
    let world = try WatchWorld(journal: [])
    let watch = try WatchProcess(
      world.place,
      ["Track", "title == 'Mine'", "--count", "2", "--timeout", "250s", "--exec", "cat"])
    try world.set("title = 'Mine'", of: 3)
    #expect(try told(try watch.nextLine()) == ["+ 3"])
    try world.set("title = 'Yours'", of: 3)
    let outcome = try watch.finish()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try told(outcome.out) == ["- 3"])
  }

  @Test func theInputOfACommandHasAFixedFormat() throws {
    let world = try WatchWorld()
    #expect(try world.watch("Track", "--exec", "cat", "-o", "plain").code == 64)
    #expect(try world.watch("Track", "--exec", "").code == 64)
  }
}
