import Foundation
import Testing

@testable import ModelStore

/// Applying the difference between two stores makes their content equal.
@Suite(.tags(.law)) struct DifferenceLawTests {
  /// How many pairs: `MODELSTORE_DIFFERENCES`, or enough for every day.
  private static var pairCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_DIFFERENCES"].flatMap { Int($0) } ?? 200
  }

  private static func fill(
    _ store: Store, from generator: inout SeededGenerator, _ seed: Int
  ) throws {
    try store.write { tx in
      try tx.execute("DELETE FROM Album")
      try tx.execute("DELETE FROM Artist")
      let artists = (1...8).filter { _ in Bool.random(using: &generator) }
      for id in artists {
        let name = ["Anna", "Ben", "Zoë", "x\u{0}y"].randomElement(using: &generator) ?? ""
        try tx.insert(Artist(id: Int64(id), name: name))
      }
      for id in 1...12 where Bool.random(using: &generator) {
        let artist = Bool.random(using: &generator) ? artists.randomElement(using: &generator) : nil
        try tx.insert(
          Album(
            id: Int64(id), title: "t\(Int.random(in: 1...3, using: &generator))",
            artistID: artist.map(Int64.init)))
      }
    }
  }

  @Test func applyingTheDifferenceGivesTheContentHashOfTheOther() throws {
    let directory = try TemporaryDirectory()
    func open(_ name: String) throws -> Store {
      try Store(
        at: directory.file(name), models: Artist.self, Album.self,
        bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
        configuration: StoreConfiguration(durability: .normal))
    }
    let (left, right) = (try open("left"), try open("right"))
    var counts: [RecordChange.Operation: Int] = [:]
    for seed in 0..<Self.pairCount {
      var generator = SeededGenerator(seed: UInt64(seed))
      try Self.fill(left, from: &generator, seed)
      try Self.fill(right, from: &generator, seed)
      let difference = try left.difference(to: right)
      for record in difference { counts[record.operation, default: 0] += 1 }
      try left.apply(difference)
      #expect(try left.contentHash() == right.contentHash(), "seed \(seed)")
      #expect(try left.difference(to: right).isEmpty, "seed \(seed)")
    }
    #expect(Set(counts.keys) == [.insert, .update, .delete], "\(counts)")
  }
}
