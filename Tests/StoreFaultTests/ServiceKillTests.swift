#if Service
  import FaultLedger
  import Foundation
  import ModelStore
  import Testing

  /// Services that end under load, by SIGKILL or SIGTERM: no acknowledged write is lost, and the
  /// worker processes every change, in the order of each record.
  @Suite(.tags(.fault), .serialized, .timeLimit(.minutes(60))) struct ServiceKillTests {
    @Test func aKilledServiceLosesNothingAndItsWorkerResumes() throws {
      let seed = FaultOptions.seed
      var generator = SeededGenerator(seed: seed)
      let roundCount = max(3, FaultOptions.killCount / 20)
      print("kills of a service: \(roundCount) rounds, seed \(seed)")
      var world = try ServiceFiles()
      for round in 0..<roundCount {
        let count = Int.random(in: 1...200, using: &generator)
        let status = try world.runLoad(until: count, ending: SIGKILL)
        #expect(status == 128 + SIGKILL, "round \(round), seed \(seed)")
        #expect(try world.findings() == [], "round \(round), seed \(seed)")
      }
      #expect(try world.drain() == 0)
      #expect(try world.findings() + world.findingsOfWorker() == [], "seed \(seed)")
      print("kills of a service: \(world.acknowledged.count) acknowledged, none lost")
    }

    @Test func aServiceEndsInOrderOnSIGTERM() throws {
      let seed = FaultOptions.seed
      var generator = SeededGenerator(seed: seed)
      print("shutdowns of a service: seed \(seed)")
      var world = try ServiceFiles()
      for round in 0..<3 {
        let count = Int.random(in: 1...200, using: &generator)
        // The exit status says that the deadline was kept: the service throws otherwise.
        let status = try world.runLoad(until: count, ending: SIGTERM)
        #expect(status == 0, "round \(round), seed \(seed)")
        // Every write that was committed has also returned.
        #expect(
          try world.findings() + world.unacknowledged() == [], "round \(round), seed \(seed)")
        // Another process can go on at once.
        #expect(try world.leaseCount() == 0)
      }
      #expect(try world.drain() == 0)
      #expect(try world.findingsOfWorker() == [], "seed \(seed)")
    }
  }

  /// The store and the effects of a service that runs several times.
  private struct ServiceFiles {
    private let directory: TemporaryDirectory
    private(set) var acknowledged: Set<Int64> = []
    private var runCount = 0

    init() throws {
      directory = try TemporaryDirectory()
    }

    private var path: String { directory.file("service.store") }
    private var effects: String { directory.file("effects") }

    /// Runs the service until it has acknowledged `count` more deposits, and sends it a signal.
    ///
    /// - Returns: Its exit status; 128 and the signal's number if a signal ended it.
    mutating func runLoad(until count: Int, ending signal: Int32) throws -> Int32 {
      runCount += 1
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: try Programs.path(of: "FaultService"))
      process.arguments = ["write", path, effects]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      try process.run()
      var unread: [UInt8] = []
      var seen = 0
      var isEnding = false
      while true {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        unread += data
        guard let end = unread.lastIndex(of: UInt8(ascii: "\n")) else { continue }
        for line in unread[..<end].split(separator: UInt8(ascii: "\n")) {
          guard let id = Int64(String(decoding: line, as: UTF8.self)) else { continue }
          acknowledged.insert(id)
          seen += 1
        }
        unread.removeSubrange(...end)
        guard seen >= count, !isEnding else { continue }
        isEnding = true
        kill(process.processIdentifier, signal)
      }
      process.waitUntilExit()
      return Programs.status(of: process)
    }

    /// Runs the service without load until its worker has caught up.
    ///
    /// - Returns: Its exit status.
    mutating func drain() throws -> Int32 {
      runCount += 1
      return try Programs.run([try Programs.path(of: "FaultService"), "drain", path, effects])
    }

    /// What contradicts that every acknowledged deposit is kept.
    func findings() throws -> [String] {
      let store = try Ledger(at: path).store
      let lost = acknowledged.subtracting(try store.fetch(Deposit.all).map(\.id))
      return try store.checkIntegrity() + store.bindingFindings().map { "binding: \($0)" }
        + (lost.isEmpty ? [] : ["lost: \(lost.sorted())"])
    }

    /// The deposits that are kept although they were not acknowledged.
    func unacknowledged() throws -> [String] {
      let kept = try Ledger(at: path).store.fetch(Deposit.all).map(\.id)
      let others = Set(kept).subtracting(acknowledged)
      return others.isEmpty ? [] : ["not acknowledged: \(others.sorted())"]
    }

    /// How many workers have a lease.
    func leaseCount() throws -> Int {
      try Ledger(at: path).store.read { tx in try tx.rows("SELECT 1 FROM _ms_workers").count }
    }

    /// What contradicts that the worker has processed each change, in the order of each record.
    ///
    /// A run that ends may repeat its last batch, which has about 50 changes.
    func findingsOfWorker() throws -> [String] {
      let store = try Ledger(at: path).store
      let history = try store.changeJournal.transactions().flatMap(\.changes)
        .filter { $0.model == "Deposit" }.compactMap(Self.line)
      let seen = try String(contentsOfFile: effects, encoding: .utf8).split(separator: "\n")
        .map(String.init)
      let letters = try store.deadLetters(of: "effects").map(\.change).compactMap(Self.line)
      var findings: [String] = []
      let failing = history.filter { $0.isFailing }.map(\.text)
      if letters.map(\.text) != failing {
        findings.append("the letters are \(letters.map(\.text)) instead of \(failing)")
      }
      let wanted = history.filter { !$0.isFailing }.map(\.text)
      let missed = Set(wanted).subtracting(seen)
      if !missed.isEmpty { findings.append("missed: \(missed.sorted())") }
      let repetitionCount = seen.count - wanted.count
      if repetitionCount > runCount * 100 {
        findings.append("\(repetitionCount) changes came again in \(runCount) runs")
      }
      var inserted: Set<Substring> = []
      for line in seen {
        let id = line[line.index(after: line.firstIndex(of: " ") ?? line.startIndex)...]
        if line.hasPrefix("insert") { inserted.insert(id) }
        if !inserted.contains(id) { findings.append("before its insertion: \(line)") }
      }
      return findings
    }

    /// The line of a change in the file of effects, and whether the worker always fails for it.
    private static func line(_ change: JournalChange) -> (text: String, isFailing: Bool)? {
      guard case .integer(let id)? = change.key.first else { return nil }
      return ("\(change.operation.rawValue) \(id)", id % 97 == 0)
    }
  }
#endif
