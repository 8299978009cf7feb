import Foundation
import ModelStore
import Testing

/// An import in batches goes on where it ended, whatever ended it.
@Suite(.tags(.process)) struct ResumeTests {
  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE Item(id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK(name <> 'bad'));
      """)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt", "-q").code == 0)
    return place
  }

  private func token(in talk: String) throws -> String {
    let found = try #require(talk.firstMatch(of: /--resume ([0-9a-f]{8})/), "\(talk)")
    return String(found.output.1)
  }

  private func names(_ place: Workplace) throws -> [Substring] {
    try place.run("query", "Item", "--all", "--fields", "name").out.split(separator: "\n")
  }

  /// A batch is one transaction. SQLite chooses the ids, so a record imported twice would be there
  /// twice.
  @Test(.timeLimit(.minutes(30)), arguments: 0..<4)
  func noRecordIsLostOrDoubledByAKill(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let place = try shop()
    let count = 3_000
    let lines = (0..<count).map { index in index % 97 == 5 ? "bad" : "n\(index)" }
    try place.write((["name"] + lines).joined(separator: "\n") + "\n", to: "Item.csv")
    let words = ["import", "Item.csv", "--batch", "7", "--on-error", "collect"]
    var option: [String] = []
    let raw = try RawDatabase(place.path("shop.db"))
    var killCount = 0
    while true {
      let process = try place.process(words + option)
      let errors = Pipe()
      process.standardError = errors
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let before = Int(try raw.value("SELECT count(*) FROM Item")) ?? 0
      let goal = before + Int.random(in: 1..<1_000, using: &random)
      while process.isRunning, (Int(try raw.value("SELECT count(*) FROM Item")) ?? 0) < goal {
        sched_yield()
      }
      kill(process.processIdentifier, SIGKILL)
      let talk = String(
        decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationReason == .uncaughtSignal else {
        // The last kill may have come between the last batch and the end of the program.
        let wasOver = killCount > 0 && talk.contains("no unfinished import")
        #expect((wasOver ? [3] : [0, 4]).contains(process.terminationStatus), "\(talk)")
        break
      }
      killCount += 1
      if option.isEmpty { option = ["--resume", try token(in: talk)] }
    }
    #expect(killCount > 0)
    #expect(try names(place) == lines.filter { $0 != "bad" }.map { $0[...] })
    let rejects = try place.contents(of: "Item.rejects.csv").split(separator: "\n")
    #expect(rejects.count - 1 == lines.count { $0 == "bad" })
    #expect(try raw.value("SELECT count(*) FROM _ms_imports") == "0")
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
  }

  @Test func anErrorSaysHowToGoOn() throws {
    let place = try shop()
    try place.write("name\na\nb\nbad\nd\n", to: "Item.csv")
    let stopped = try place.run("import", "Item.csv", "--batch", "2")
    #expect(stopped.code == 4)
    let token = try token(in: stopped.err)
    #expect(
      stopped.err.contains(
        "  2 records of 1 earlier batch stay written\n"
          + "  to go on, repeat the command with --resume \(token)\n"), "\(stopped)")
    // What was imported is not read again as records, so a correction behind it is taken.
    try place.write("name\na\nb\ngood\nd\n", to: "Item.csv")
    let resumed = try place.run("import", "Item.csv", "--batch", "2", "--resume", token)
    #expect(resumed.code == 0, "\(resumed)")
    #expect(resumed.err.hasPrefix("2 records were imported before\n2 read  2 inserted"))
    #expect(try names(place) == ["a", "b", "good", "d"])
    let again = try place.run("import", "Item.csv", "--batch", "2", "--resume", token)
    #expect(again.code == 3)
    #expect(
      again.err.hasPrefix(
        "error[resume]: The store has no unfinished import \(token): it has ended"),
      "\(again)")
  }

  @Test func anotherInputIsRefused() throws {
    let place = try shop()
    try place.write("name\na\nb\nc\nbad\n", to: "Item.csv")
    let token = try token(in: try place.run("import", "Item.csv", "--batch", "2").err)
    for (text, reason) in [
      ("name\na\nx\nc\nd\n", "the first 2 records of the input are not those that were imported"),
      ("name\na\n", "2 records were imported, and the input has only 1"),
    ] {
      try place.write(text, to: "Item.csv")
      let outcome = try place.run("import", "Item.csv", "--batch", "2", "--resume", token)
      #expect(outcome.code == 1)
      #expect(outcome.err.contains(reason), "\(outcome)")
    }
    #expect(try names(place) == ["a", "b"])
  }

  /// Another process is ahead: what it committed is not written again. The pipe of the slower one
  /// gives its second batch only after the faster one has ended.
  @Test(.timeLimit(.minutes(60))) func twoProcessesCannotContinueOneImport() throws {
    let place = try shop()
    try place.write("name\na\nb\nc\nbad\n", to: "Item.csv")
    let token = try token(in: try place.run("import", "Item.csv", "--batch", "2").err)
    try #require(mkfifo(place.path("pipe"), 0o600) == 0)
    let process = try place.process(
      ["import", "pipe", "--model", "Item", "--format", "csv", "--batch", "2", "--resume", token])
    let talk = Pipe()
    process.standardError = talk
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    // The end of the process ends every wait for what it says.
    let watchdog = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 600, execute: watchdog)
    defer { watchdog.cancel() }
    let input = try FileHandle(forUpdating: place.url("pipe"))
    try input.write(contentsOf: Data("name\na\nb\n".utf8))
    var heard = ""
    while !heard.contains("imported before") {
      let bytes = talk.fileHandleForReading.availableData
      try #require(!bytes.isEmpty, "it ended early: \(heard)")
      heard += String(decoding: bytes, as: UTF8.self)
    }
    try place.write("name\na\nb\nc\nd\nbad\n", to: "Item.csv")
    let faster = try place.run("import", "Item.csv", "--batch", "2", "--resume", token)
    #expect(faster.code == 4, "\(faster)")
    try input.write(contentsOf: Data("c\nd\n".utf8))
    try input.close()
    heard += String(
      decoding: try talk.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus != 0)
    #expect(heard.contains("was continued by another process"), "\(heard)")
    #expect(try names(place) == ["a", "b", "c", "d"])
  }

  @Test func theCountOfABatchNeedNotStayTheSame() throws {
    let place = try shop()
    try place.write("name\na\nb\nc\nbad\n", to: "Item.csv")
    let token = try token(in: try place.run("import", "Item.csv", "--batch", "1").err)
    let resumed = try place.run(
      "import", "-", "--model", "Item", "--batch", "10", "--resume", token,
      input:
        "name\na\nb\nc\ne\nf\n")
    #expect(resumed.code == 0, "\(resumed)")
    #expect(try names(place) == ["a", "b", "c", "e", "f"])
  }
}
