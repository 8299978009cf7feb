import Foundation
import Glibc
import Testing

@testable import ModelStore

/// A process that is killed while it writes: acknowledged transactions are kept, and none is kept
/// in part.
@Suite(.tags(.law), .ownThreads) struct KillTests {
  /// How many rounds of kills: `MODELSTORE_KILL_ROUNDS`, or enough for every day.
  private static var roundCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_KILL_ROUNDS"].flatMap { Int($0) } ?? 20
  }

  @Test func acknowledgedWritesSurviveAKill() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("kills: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let path = directory.file("killed.store")
    let acknowledged = directory.file("acknowledged")
    do { _ = try await Store(at: path, models: Artist.self) }
    try write([], to: acknowledged)
    var total = 0
    for round in 0..<Self.roundCount {
      // A process that stands still until its time is over would prove nothing, so the time begins
      // with a write: with the first, or after some acknowledged ones.
      let writes = Int.random(in: 0...3, using: &generator)
      let microseconds = Int.random(in: 1_000...30_000, using: &generator)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          path = path as String, acknowledged = acknowledged as String, round = round as Int,
          writes = writes as Int, microseconds = microseconds as Int
        ] in
        var configuration = StoreConfiguration()
        configuration.checkpointFrameCount = 10
        let store = try Store(at: path, models: Artist.self, configuration: configuration)
        let ledger = Glibc.open(acknowledged, O_WRONLY | O_APPEND)
        for number in 0..<1_000_000 {
          if number == writes {
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) {
              kill(getpid(), SIGKILL)
            }
          }
          let id = Int64(round * 1_000_000 + number)
          try store.write { tx in
            try tx.insert(Artist(id: id, name: "first"))
            try tx.insert(Artist(id: -id - 1, name: "second"))
          }
          let line = "\(id)\n"
          _ = line.withCString { Glibc.write(ledger, $0, strlen($0)) }
        }
      }
      let told = try String(contentsOfFile: acknowledged, encoding: .utf8)
        .split(separator: "\n").compactMap { Int64($0) }
      let store = try await Store(at: path, models: Artist.self)
      let found = Set(try await store.fetch(Artist.all).map(\.id))
      #expect(Set(told).subtracting(found) == [], "round \(round), seed \(seed)")
      #expect(found.filter { !found.contains(-$0 - 1) } == [], "round \(round), seed \(seed)")
      // At most the one write that was under way in each round.
      #expect(found.count / 2 - told.count <= round + 1, "round \(round), seed \(seed)")
      #expect(try await store.checkIntegrity() == [], "round \(round), seed \(seed)")
      total = told.count
    }
    print("kills: \(Self.roundCount) rounds, \(total) acknowledged, none lost")
    #expect(total > 0)
  }
}
