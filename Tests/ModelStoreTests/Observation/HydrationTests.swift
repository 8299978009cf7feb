import Foundation
import Testing

@testable import ModelStore

/// Results that are read while others write.
@Suite(.tags(.law)) struct HydrationTests {
  private static let schema = ModelSchema(
    name: "t",
    fields: [FieldSchema(name: "id", type: .integer), FieldSchema(name: "k", type: .integer)],
    key: ["id"])
  private static let rule = LiveResult.Rule(
    schema: schema, admits: { $0[1] != .integer(0) }, terms: [(field: 1, term: SortTerm())])

  private static func rows(_ state: [Int64: Int64], version: UInt64) -> LiveRows {
    let images = state.filter { $0.value != 0 }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
      .map { [SQLValue.integer($0.key), .integer($0.value)] }
    return LiveRows(tree: rule.tree(sorted: images), version: version)
  }

  private static func keys(_ rows: LiveRows) -> [[SQLValue]] {
    var keys: [[SQLValue]] = []
    rows.forEach(in: 0..<rows.count) { keys.append($0.key) }
    return keys
  }

  private static func commit(
    from old: [Int64: Int64], to new: [Int64: Int64], version: UInt64, isReset: Bool = false
  ) -> ChangeBroker.Commit {
    func image(_ id: Int64, _ k: Int64) -> [SQLValue] { [.integer(id), .integer(k)] }
    let changes = Set(old.keys).union(new.keys).sorted().compactMap { id -> RecordChange? in
      guard old[id] != new[id] else { return nil }
      return RecordChange(
        model: "t", key: [.integer(id)], old: old[id].map { image(id, $0) },
        new: new[id].map { image(id, $0) }, fields: [], origin: .user, isRecreated: false)
    }
    return ChangeBroker.Commit(
      changes: ChangeSet(version: version, changes: changes), isReset: isReset)
  }

  @Test(arguments: 1...5)
  func commitsDuringTheFirstReadAreApplied(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      func step(_ state: [Int64: Int64]) -> [Int64: Int64] {
        var state = state
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let id = Int64.random(in: 1...8, using: &random)
          state[id] = Bool.random(using: &random) ? Int64.random(in: 0...3, using: &random) : nil
        }
        return state
      }
      let start = step(step([:]))
      let hydration = Hydration(ChangeBroker.Interest(model: "t"), by: Self.rule)
      var state = start
      let count = Int.random(in: 0...5, using: &random)
      for version in 0..<UInt64(count) {
        let next = step(state)
        _ = hydration.note(Self.commit(from: state, to: next, version: version + 1))
        state = next
      }
      var rows = Self.rows(start, version: 0)
      let taken = hydration.advance(&rows)
      #expect(taken == count, "seed \(seed)")
      #expect(Self.keys(rows) == Self.keys(Self.rows(state, version: 9)), "seed \(seed)")
      let rest = hydration.advance(&rows)
      #expect(rest == 0)
    }
  }

  @Test func aResultThatCannotApplyACommitIsReadAgain() {
    let states: [[Int64: Int64]] = [[1: 1], [1: 1, 2: 2]]
    let overtaken = Hydration(ChangeBroker.Interest(model: "t"), by: Self.rule)
    _ = overtaken.note(Self.commit(from: [:], to: [:], version: 1, isReset: true))
    var rows = Self.rows(states[0], version: 0)
    let reset = overtaken.advance(&rows)
    #expect(reset == nil)
    let unlike = Hydration(ChangeBroker.Interest(model: "t"), by: Self.rule)
    _ = unlike.note(Self.commit(from: states[1], to: states[0], version: 1))
    let lacking = unlike.advance(&rows)
    #expect(lacking == nil)
  }

  /// Queries are opened while a thread writes without pause; each must be what SQL says at the end,
  /// and what its events made of its first state must be that too.
  @Test(.timeLimit(.minutes(30)))
  func queriesOpenedDuringWritesMissNothing() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("busy.store"), models: Artist.self, Album.self)
    try store.write { tx in
      for id in 1...2_000 { try tx.insert(Album(id: Int64(id), title: "\(id % 97)")) }
    }
    let isWriting = DispatchGroup()
    let failures = Recorder<String>()
    DispatchQueue.global().async(group: isWriting) {
      var random = SeededGenerator(seed: 5)
      do {
        for _ in 0..<600 {
          try store.write { tx in
            let id = Int64.random(in: 1...2_100, using: &random)
            if Bool.random(using: &random) {
              try tx.upsert(Album(id: id, title: "\(Int.random(in: 0..<97, using: &random))"))
            } else {
              try tx.delete(Album.self, id)
            }
          }
        }
      } catch {
        failures.add("\(error)")
      }
    }
    var opened:
      [(live: LiveQuery<Album>, events: Recorder<QueryChanges<Album>>, ObservationToken)] = []
    for number in 0..<40 {
      // No two are equal, or they would be shared.
      let query =
        number.isMultiple(of: 3)
        ? Album.where { $0.id > Int64(number) }.order { $0.title }.limit(50, offset: 10 + number)
        : Album.where { $0.id > Int64(number) }.order { $0.title }
      let live = try store.liveQuery(query)
      let events = Recorder<QueryChanges<Album>>()
      opened.append((live, events, try live.observe(options: .initial) { events.add($0) }))
    }
    isWriting.wait()
    store.waitForDelivery()
    #expect(failures.events == [])
    for (live, events, _) in opened {
      let expected = try store.fetch(live.query)
      #expect(live.keys(in: 0..<Int.max) == expected.map { [.integer($0.id)] })
      var list: [Album] = []
      for event in events.events {
        #expect(!event.isReset)
        event.apply(to: &list)
      }
      #expect(list == expected)
    }
  }
}
