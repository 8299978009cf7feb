import FaultLedger
import Foundation
import Testing

/// Power cuts while a program writes: every acknowledged transaction is kept, and every transaction
/// is whole.
@Suite(
  .tags(.fault), .serialized,
  .enabled(
    if: CuttableDisk.obstacle == nil,
    "Power cuts were not tried: \(CuttableDisk.obstacle ?? "")"))
struct PowerCutTests {
  /// How many cuts one file goes through before the next file begins.
  private static let cutsPerFile = 10

  @Test func acknowledgedTransactionsSurvivePowerCuts() throws {
    let seed = FaultOptions.seed
    print("power cuts: \(FaultOptions.cutCount) cuts, seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let disk = try CuttableDisk()
    var total: Int64 = 0
    for first in stride(from: 0, to: FaultOptions.cutCount, by: Self.cutsPerFile) {
      let name = "cut\(first).store"
      let writer = try WriterProcess(path: disk.live + "/" + name)
      defer { writer.finish(killing: true) }
      for cut in first..<min(first + Self.cutsPerFile, FaultOptions.cutCount) {
        let isAlive = writer.wait(for: Int64.random(in: 1...40, using: &generator))
        try #require(isAlive, "cut \(cut), seed \(seed)")
        let findings = try Self.findings(on: disk, name, acknowledged: writer.acknowledged)
        try #require(findings == [], "cut \(cut), seed \(seed)")
      }
      total += writer.acknowledged
    }
    print("power cuts: \(total) transactions acknowledged, none lost")
  }

  @Test func aSkippedSyncIsFound() throws {
    let seed = FaultOptions.seed
    var generator = SeededGenerator(seed: seed)
    let disk = try CuttableDisk()
    let writer = try WriterProcess(path: disk.live + "/unsynced.store", mode: "unsynced")
    defer { writer.finish(killing: true) }
    var findings: [String] = []
    for _ in 0..<10 where findings.isEmpty {
      try #require(writer.wait(for: Int64.random(in: 1...40, using: &generator)))
      findings = try Self.findings(on: disk, "unsynced.store", acknowledged: writer.acknowledged)
    }
    #expect(findings != [], "seed \(seed)")
  }

  /// What a cut now leaves of the ledger; a file that cannot be opened is a finding too.
  private static func findings(
    on disk: CuttableDisk, _ name: String, acknowledged: Int64
  ) throws -> [String] {
    try disk.cut { place in
      do {
        return try Ledger(at: place + "/" + name).findings(acknowledged: acknowledged)
      } catch {
        return ["\(error)"]
      }
    }
  }
}
