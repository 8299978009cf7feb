import Foundation
import Testing

@testable import StoreCommand

/// How a command that takes SIGTERM as a wish ends.
@Suite(.tags(.process), .ownThreads) struct InterruptionTests {
  /// Nothing here asks whether it should stop.
  @Test func aCommandThatDoesNotStopIsEndedBySIGTERM() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      Interruption.admit()
      Interruption.await()
      kill(getpid(), SIGTERM)
      while true { sched_yield() }
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func aSignalThatTheProcessIgnoresStaysIgnored(number: Int32) async {
    await #expect(processExitsWith: .exitCode(7)) { [number = number as Int32] in
      signal(number, SIG_IGN)
      Interruption.await()
      raise(number)
      exit(Interruption.isRequested ? 1 : 7)
    }
  }

  @Test func aSecondSIGTERMEndsItAtOnce() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      Interruption.admit()
      Interruption.await()
      raise(SIGTERM)
      alarm(0)
      raise(SIGTERM)
      exit(7)
    }
  }

  /// Each alarm represents a second that has passed.
  @Test func interruptionsWaitForARunningCommand() async {
    await #expect(processExitsWith: .exitCode(7)) {
      Interruption.admit()
      Interruption.await()
      Interruption.beginWaiting()
      raise(SIGTERM)
      for _ in 0..<3 { raise(SIGALRM) }
      exit(7)
    }
  }

  @Test func aFullSecondFollowsTheCommand() async {
    await #expect(processExitsWith: .exitCode(1)) {
      Interruption.admit()
      Interruption.await()
      Interruption.beginWaiting()
      raise(SIGTERM)
      alarm(0)
      Interruption.endWaiting()
      exit(Int32(alarm(0)))
    }
    await #expect(processExitsWith: .signal(SIGTERM)) {
      Interruption.admit()
      Interruption.await()
      Interruption.beginWaiting()
      raise(SIGTERM)
      Interruption.endWaiting()
      raise(SIGALRM)
      exit(7)
    }
  }
}

/// What SIGTERM and Ctrl-C leave of commands that change or write much. Real processes; each is
/// ended by force when it takes far too long, which no expectation accepts.
@Suite(.tags(.process)) struct InterruptedCommandTests {
  /// A table whose every change takes for ever, one step of SQLite at a time.
  private static let endless = """
    CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT, copy TEXT);
    CREATE VIEW forever AS
      WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step) SELECT n FROM step;
    CREATE TRIGGER slow AFTER INSERT ON Note WHEN NEW.id >= 100
      BEGIN SELECT count(*) FROM forever; END;
    CREATE TRIGGER slowToo AFTER UPDATE ON Note BEGIN SELECT count(*) FROM forever; END;
    """

  private static func place(_ sql: String) throws -> (Workplace, RawDatabase) {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("f.store"))
    try raw.execute(sql)
    place.environment["STORECLI_DB"] = place.path("f.store")
    let adopted = try place.runProcess("adopt", "Note")
    try #require(adopted.code == 0, "\(adopted)")
    return (place, raw)
  }

  private struct Ending: Equatable, CustomStringConvertible {
    var signal: Int32?
    var code: Int32?
    var talk: String

    var description: String { "signal \(signal ?? 0), code \(code ?? 0): \(talk)" }
  }

  /// Starts a command, sends it `signal` once `isReady`, and waits for its end.
  private static func end(
    _ words: [String], by signal: Int32, in place: Workplace, launching launcher: [String] = [],
    when isReady: (Process) throws -> Void
  ) throws -> Ending {
    let process = try place.process(words, launching: launcher)
    try place.write("", to: "talk")
    process.standardInput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: place.url("talk"))
    try process.run()
    let identifier = process.processIdentifier
    let watchdog = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 300, execute: watchdog)
    try isReady(process)
    kill(identifier, signal)
    process.waitUntilExit()
    watchdog.cancel()
    let isSignal = process.terminationReason == .uncaughtSignal
    return Ending(
      signal: isSignal ? process.terminationStatus : nil,
      code: isSignal ? nil : process.terminationStatus,
      talk: try place.contents(of: "talk").withoutResumption)
  }

  /// Waits until another program is in a transaction that writes.
  private static func awaitWriter(_ raw: RawDatabase, _ process: Process) throws {
    while process.isRunning, try raw.canBegin() { sched_yield() }
  }

  /// Waits until a process has computed for so long that it must be inside its slow statement.
  private static func awaitWork(of process: Process) throws {
    try waitForGrowth(by: 20, of: \.processorTicks, in: process)
  }

  /// Waits until a process has slept again and again, as one does that tries to get a lock.
  private static func awaitNaps(of process: Process) throws {
    try waitForGrowth(by: 50, of: \.sleepCount, in: process)
  }

  /// Waits until a count has grown by `growth`, or the process has ended.
  private static func waitForGrowth(
    by growth: Int, of count: KeyPath<ProcessFacts, Int>, in process: Process
  ) throws {
    guard let first = try ProcessFacts(of: process)?[keyPath: count] else { return }
    while let now = try ProcessFacts(of: process)?[keyPath: count], now < first + growth {
      sched_yield()
    }
  }

  /// A graceful end of SIGTERM has a second; on a slow machine it may miss that.
  private static func expected(_ signal: Int32, _ sentence: String) -> [Ending] {
    let talk = "error[interrupted]: Interrupted; \(sentence).\n"
    return signal == SIGINT
      ? [Ending(code: 130, talk: talk)]
      : [Ending(signal: signal, talk: talk), Ending(signal: signal, talk: "")]
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func anImportStopsInTheMiddleOfAStatement(signal: Int32) throws {
    let (place, raw) = try Self.place(Self.endless)
    try place.write("id,text\n1,a\n100,b\n", to: "Note.csv")
    let ending = try Self.end(["import", "Note.csv"], by: signal, in: place) { process in
      try Self.awaitWriter(raw, process)
      try Self.awaitWork(of: process)
    }
    #expect(Self.expected(signal, "nothing was written").contains(ending), "\(ending)")
    #expect(try raw.value("SELECT count(*) FROM Note") == "0")
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
  }

  @Test(arguments: [SIGINT, SIGTERM], ["skip", "collect"])
  func anInterruptedImportReportsWhichBatchesAreKept(signal: Int32, policy: String) throws {
    let (place, raw) = try Self.place(Self.endless)
    try place.write("id,text\n1,a\nx,b\n2,b\n100,c\n", to: "Note.csv")
    let words = ["import", "Note.csv", "--batch", "3", "--on-error", policy]
    let ending = try Self.end(words, by: signal, in: place) { process in
      while process.isRunning, try raw.value("SELECT count(*) FROM Note") != "2" { sched_yield() }
    }
    let sentence = "2 records of 1 earlier batch stay written"
    let rejects = policy == "collect" ? "  1 rejected: Note.rejects.csv\n" : ""
    let expected = Self.expected(signal, sentence).map { ending in
      var ending = ending
      if !ending.talk.isEmpty { ending.talk += rejects }
      return ending
    }
    #expect(expected.contains(ending), "\(ending)")
    #expect(try raw.value("SELECT group_concat(id) FROM Note") == "1,2")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func anImportStopsWaitingForALock(signal: Int32) throws {
    let (place, raw) = try Self.place(Self.endless)
    try place.write("id,text\n1,a\n", to: "Note.csv")
    try raw.execute("BEGIN IMMEDIATE")
    // It opens the file of the input, then waits.
    try #require(mkfifo(place.path("Note.ndjson"), 0o600) == 0)
    let words = ["import", "Note.ndjson", "--batch", "1", "--busy-timeout", "600"]
    let ending = try Self.end(words, by: signal, in: place) { process in
      let input = try FileHandle(forWritingTo: place.url("Note.ndjson"))
      try input.write(contentsOf: Data("{\"id\":1}\n".utf8))
      try input.close()
      try Self.awaitNaps(of: process)
    }
    #expect(Self.expected(signal, "nothing was written").contains(ending), "\(ending)")
    try raw.execute("ROLLBACK")
    #expect(try raw.value("SELECT count(*) FROM Note") == "0")
  }

  /// A script makes what it starts with `&` ignore Ctrl-C. The input ends after the signal.
  @Test func anImportInTheBackgroundOfAScriptContinuesAfterCtrlC() throws {
    let (place, raw) = try Self.place(Self.endless)
    try #require(mkfifo(place.path("Note.ndjson"), 0o600) == 0)
    let ending = try Self.end(
      ["import", "Note.ndjson", "-q"], by: SIGINT, in: place,
      launching: ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
    ) { process in
      let input = try FileHandle(forWritingTo: place.url("Note.ndjson"))
      kill(process.processIdentifier, SIGINT)
      try input.write(contentsOf: Data("{\"id\":1}\n".utf8))
      try input.close()
    }
    #expect(ending == Ending(code: 0, talk: ""), "\(ending)")
    #expect(try raw.value("SELECT count(*) FROM Note") == "1")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func addingABindingStopsInTheMiddleOfAStatement(signal: Int32) throws {
    let (place, raw) = try Self.place(
      Self.endless + "INSERT INTO Note VALUES (1, 'A', NULL), (2, 'B', NULL);")
    let words = ["bindings", "add", "derive", "Note.copy", "--as", "lower(text)", "--yes"]
    let ending = try Self.end(words, by: signal, in: place) { process in
      try Self.awaitWriter(raw, process)
      try Self.awaitWork(of: process)
    }
    #expect(Self.expected(signal, "the binding was not added").contains(ending), "\(ending)")
    #expect(try place.runProcess("bindings", "list", "-q").out == "")
    #expect(try raw.value("SELECT group_concat(coalesce(copy, '-')) FROM Note") == "-,-")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func anExportStopsInTheMiddleOfAStatement(signal: Int32) throws {
    let (place, raw) = try Self.place(
      Self.endless + """
        CREATE VIEW Slow AS
          SELECT id, text FROM Note WHERE id IN (SELECT n FROM forever WHERE n < 0);
        """)
    let adopted = try place.runProcess("adopt", "Slow")
    try #require(adopted.code == 0, "\(adopted)")
    try raw.execute("INSERT INTO Note VALUES (1, 'A', NULL)")
    try place.write("earlier\n", to: "notes.csv")
    let words = ["export", "Slow", "--to", "notes.csv"]
    let ending = try Self.end(words, by: signal, in: place) { process in
      while process.isRunning, try partials(in: place).isEmpty { sched_yield() }
    }
    #expect(Self.expected(signal, "notes.csv is unchanged").contains(ending), "\(ending)")
    #expect(try place.contents(of: "notes.csv") == "earlier\n")
    if !ending.talk.isEmpty { #expect(try partials(in: place) == []) }
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
  }

  private func partials(in place: Workplace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.directory)
      .filter { $0.hasSuffix(".partial") }
  }

  /// SQLite compares a text with a pattern in one step, which no request reaches. The parent blocks
  /// all signals that end the command.
  @Test func oneStepThatDoesNotEndIsEndedBySIGTERM() throws {
    let (place, raw) = try Self.place(
      """
      CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT);
      CREATE TRIGGER slow AFTER INSERT ON Note WHEN NEW.id >= 100
        BEGIN SELECT replace(hex(zeroblob(15000000)), '0', 'a')
          LIKE '%\(String(repeating: "a", count: 900))b'; END;
      """)
    try place.write("id,text\n100,b\n", to: "Note.csv")
    let blocking = """
      use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM, SIGINT, SIGALRM)) or die;
      exec @ARGV or die;
      """
    let ending = try Self.end(
      ["import", "Note.csv", "--batch", "1"], by: SIGTERM, in: place,
      launching: ["/usr/bin/perl", "-e", blocking]
    ) { process in
      try Self.awaitWriter(raw, process)
      try Self.awaitWork(of: process)
    }
    #expect(ending.signal == SIGTERM, "\(ending)")
    #expect(try raw.value("SELECT count(*) FROM Note") == "0")
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
  }
}

/// What Linux says of a running process.
private struct ProcessFacts {
  /// The time that it has computed, in hundredths of a second as a rule.
  let processorTicks: Int
  /// How often it has waited for something.
  let sleepCount: Int

  /// Nil when the process has ended, and on other systems.
  ///
  /// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html and proc_pid_status.5.html
  init?(of process: Process) throws {
    let directory = "/proc/\(process.processIdentifier)"
    guard process.isRunning, let stat = Self.text(of: directory + "/stat"),
      let status = Self.text(of: directory + "/status")
    else { return nil }
    let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
    // The fields 14 and 15; the first two stand before the parenthesis.
    let times = fields.dropFirst(11).prefix(2).compactMap { Int($0) }
    try #require(times.count == 2, "\(stat)")
    processorTicks = times[0] + times[1]
    let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    let number = line?.split(separator: "\t").last.flatMap { Int($0) }
    sleepCount = try #require(number, "\(status)")
  }

  /// A file of the system that reports no length.
  private static func text(of path: String) -> String? {
    FileHandle(forReadingAtPath: path)
      .flatMap { handle in try? handle.readToEnd() }
      .map { String(decoding: $0, as: UTF8.self) }
  }
}
