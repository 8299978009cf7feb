import FaultLedger
import Foundation
import Testing

/// Programs that are killed while they write: every acknowledged transaction is kept, and every
/// transaction is whole.
@Suite(.tags(.fault), .serialized) struct KillStormTests {
  /// How many kills one file goes through before the next file begins.
  private static let killsPerFile = 20

  @Test func acknowledgedTransactionsSurviveKills() throws {
    let seed = FaultOptions.seed
    print("kill storm: \(FaultOptions.killCount) kills, seed \(seed)")
    var storm = try Storm(seed: seed)
    for round in 0..<FaultOptions.killCount {
      if round % Self.killsPerFile == 0 { try storm.beginFile() }
      let findings =
        switch round % 5 {
        case 4: try storm.killImport()
        case 3: try storm.killAcknowledgingWriter(mode: "after")
        default: try storm.killWriter(mode: "after")
        }
      try #require(findings == [], "round \(round), seed \(seed)")
    }
    print("kill storm: \(storm.total) transactions acknowledged, none lost")
    #expect(storm.total > 0)
  }

  @Test func anAcknowledgementBeforeItsCommitIsFound() throws {
    let seed = FaultOptions.seed
    var storm = try Storm(seed: seed)
    var findings: [String] = []
    for _ in 0..<60 where findings.isEmpty {
      try storm.beginFile()
      findings = try storm.killAcknowledgingWriter(mode: "before")
    }
    #expect(findings.contains { $0.hasPrefix("lost") }, "\(findings), seed \(seed)")
  }
}

/// A ledger that programs write until they are killed.
private struct Storm {
  private let directory: TemporaryDirectory
  private var generator: SeededGenerator
  private var fileNumber = 0
  private var acknowledged: Int64 = 0
  /// The transactions acknowledged in all files.
  private(set) var total: Int64 = 0

  init(seed: UInt64) throws {
    directory = try TemporaryDirectory()
    generator = SeededGenerator(seed: seed)
  }

  private var path: String { directory.file("killed\(fileNumber).store") }

  mutating func beginFile() throws {
    fileNumber += 1
    acknowledged = 0
  }

  /// Runs a writer for a random time, opening included, kills it, and reads the file.
  mutating func killWriter(mode: String) throws -> [String] {
    let writer = try WriterProcess(
      path: path, mode: mode, lifetime: Int.random(in: 10...250, using: &generator))
    // `timeout` ends as the writer does, by SIGKILL. A writer that ends otherwise was not killed.
    let status = writer.finish()
    guard status == 128 + SIGKILL else { return ["FaultWriter ended with \(status)"] }
    return try findings(acknowledged: max(acknowledged, writer.acknowledged))
  }

  /// Runs a writer until it has acknowledged some transactions, kills it, and reads the file.
  mutating func killAcknowledgingWriter(mode: String) throws -> [String] {
    let writer = try WriterProcess(path: path, mode: mode)
    guard writer.wait(for: Int64.random(in: 1...10, using: &generator)) else {
      return ["FaultWriter ended with \(writer.finish())"]
    }
    let status = writer.finish(killing: true)
    guard status == 128 + SIGKILL else { return ["FaultWriter ended with \(status)"] }
    return try findings(acknowledged: max(acknowledged, writer.acknowledged))
  }

  /// Runs `storecli import` of two deposits and kills it; its exit status 0 acknowledges them.
  mutating func killImport() throws -> [String] {
    let number = try Ledger(at: path).newestNumber() + 1
    let rows = [number, -number].map { id -> String in
      let deposit = Deposit(id: id)
      return #"{"id":\#(id),"accountID":\#(deposit.accountID),"amount":\#(deposit.amount)}"#
    }
    let input = directory.file("rows.ndjson")
    try Data(rows.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: input))
    let lifetime = Double(Int.random(in: 10...150, using: &generator)) / 1000
    let status = try Programs.run([
      "/usr/bin/timeout", "-s", "KILL", "\(lifetime)", try Programs.path(of: "storecli"),
      "import", input, "--model", "Deposit", "-d", path,
    ])
    guard [0, 137].contains(status) else { return ["storecli import ended with \(status)"] }
    return try findings(acknowledged: max(acknowledged, status == 0 ? number : number - 1))
  }

  private mutating func findings(acknowledged told: Int64) throws -> [String] {
    let ledger = try Ledger(at: path)
    // At most the transaction that was being committed when the kill came.
    let findings = try ledger.findings(acknowledged: told, unacknowledgedMax: 1)
    let newest = try ledger.newestNumber()
    total += newest - acknowledged
    acknowledged = newest
    return findings
  }
}
