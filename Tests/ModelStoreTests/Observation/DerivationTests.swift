import Testing

@testable @_spi(Measuring) import ModelStore

/// The events that measurements derive from change sets alone are those of commits.
@Suite(.tags(.unit)) struct DerivationTests {
  private static func store() throws -> Store {
    let store = try Store.inMemory(models: CountedTrack.self)
    try store.write { tx in for id in Int64(1)...50 { try tx.insert(CountedTrack(id)) } }
    return store
  }

  @Test func derivedEventsLeadToTheCommittedResult() throws {
    let (written, derived) = (try Self.store(), try Self.store())
    let query = CountedTrack.where { $0.milliseconds >= 20_000 }.order { $0.title }
    let derive = try derived.liveQuery(query).derivation()
    var rows = try derived.fetch(query)
    var generator = SeededGenerator(seed: 4)
    var eventCount = 0
    for turn in 0..<200 {
      let id = Int64.random(in: 1...60, using: &generator)
      let changes = try written.writeReturningChanges { tx in
        var track = CountedTrack(id, title: "title \(turn % 7)")
        track.milliseconds = Int64.random(in: 10...30, using: &generator) * 1000
        if turn.isMultiple(of: 9) {
          try tx.delete(CountedTrack.self, id)
        } else {
          try tx.upsert(track)
        }
      }.changes
      if let event = try derive(changes) {
        event.apply(to: &rows)
        eventCount += 1
      }
      #expect(rows == (try written.fetch(query)))
    }
    #expect(eventCount > 100)
  }
}
