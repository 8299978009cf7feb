import Synchronization
import Testing

@testable import ModelStore

/// Laws of change sets that need several of them at once, over random steps without a database.
@Suite(.tags(.law)) struct LiveLawTests {
  private typealias State = SmallTable.State

  /// The state of a table, for lookups of records.
  private final class Table: Sendable {
    let state: Mutex<State>

    init(_ state: State) { self.state = Mutex(state) }
  }

  /// A live result of `t`, the state that it follows, and what its subscribers received.
  private final class World: Sendable {
    let live: LiveResult
    let table: Table
    let told = Recorder<QueryDelta>()
    let window: WindowResult?
    let toldInWindow = Recorder<QueryDelta>()

    init(_ start: State, window shown: QueryWindow? = nil) {
      let live = SmallTable.live(start)
      self.live = live
      let table = Table(start)
      self.table = table
      window = shown.map { shown in
        WindowResult(
          shown, of: live,
          find: { keys in
            let state = table.state.withLock { $0 }
            return keys.map { key in
              if case .integer(let id) = key[0] { state[id] } else { nil }
            }
          }, report: { _ in })
      }
      _ = live.subscribe(
        LiveSubscriber(
          receive: { [told] delta in
            told.add(delta)
            return []
          }, wake: { _ in }))
      _ = window?.subscribe(
        LiveSubscriber(
          receive: { [toldInWindow] delta in
            toldInWindow.add(delta)
            return []
          }, wake: { _ in }))
    }

    func step(to new: State, version: UInt64) {
      let old = table.state.withLock { state in
        defer { state = new }
        return state
      }
      SmallTable.step(from: old, to: new, version: version, in: live)
    }
  }

  /// The rows and indices of a change set; empty for none. Without the reasons, and without whether
  /// a row was recreated: both are lost when changes cancel out in the first coalescing.
  private static func description(_ delta: QueryDelta?) throws -> [String] {
    guard let delta else { return [] }
    let changes = try QueryChanges<DynamicRecord>(delta, schema: SmallTable.schema)
    return ["\(changes.oldVersion) \(changes.oldCount) → \(changes.newVersion) \(changes.newCount)"]
      + changes.deletions.map { "- \($0.index) \($0.record?.values ?? [])" }
      + changes.insertions.map { "+ \($0.index) \($0.record.values)" }
      + changes.moves.map { "\($0.oldIndex) → \($0.newIndex) \($0.record.values)" }
      + changes.updates.map {
        "\($0.oldIndex) ~ \($0.newIndex) \($0.old.values) \($0.new.values)"
      }
  }

  /// What a change set says except for its versions, with the counts. "no event" is another answer
  /// than an event without rows.
  private static func effect(_ delta: QueryDelta?) throws -> [String] {
    guard let delta else { return ["no event"] }
    let changes = try QueryChanges<DynamicRecord>(delta, schema: SmallTable.schema)
    return ["\(changes.oldCount) → \(changes.newCount)"] + (try description(delta).dropFirst())
  }

  private static func folded(_ first: QueryDelta?, _ second: QueryDelta?) -> QueryDelta? {
    guard let first, let second else { return first ?? second }
    return first.followed(by: second)
  }

  @Test("P5 coalescing three commits gives the same result in either order", arguments: 1...12)
  func coalescingIsAssociative(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var checked = 0
    for _ in 0..<400 {
      var state = State()
      for _ in 0..<3 { state = SmallTable.randomState(after: state, using: &generator) }
      let world = World(state)
      for version in 1...3 as ClosedRange<UInt64> {
        state = SmallTable.randomState(after: state, using: &generator)
        world.step(to: state, version: version)
      }
      let deltas = world.told.events.map(Optional.some)
      guard deltas.count == 3 else { continue }
      let left = Self.folded(Self.folded(deltas[0], deltas[1]), deltas[2])
      let right = Self.folded(deltas[0], Self.folded(deltas[1], deltas[2]))
      checked += 1
      // What cancels out half-way takes its versions along; the rest is the same.
      #expect(try Self.effect(left) == Self.effect(right), "seed \(seed)")
    }
    #expect(checked > 300, "seed \(seed)")
  }

  @Test("P12 changes applied to a window equal the window of the changed result", arguments: 1...12)
  func aWindowFollowsTheWhole(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<150 {
      var state = State()
      for _ in 0..<3 { state = SmallTable.randomState(after: state, using: &generator) }
      let shown = QueryWindow(
        offset: Int.random(in: 0...4, using: &generator),
        limit: round % 5 == 0 ? nil : Int.random(in: 0...4, using: &generator))
      let world = World(state, window: shown)
      for version in 1...5 as ClosedRange<UInt64> {
        var whole = SmallTable.result(of: state)
        let old = Array(whole[shown.range(in: whole.count)])
        state = SmallTable.randomState(after: state, using: &generator)
        world.step(to: state, version: version)
        if let delta = world.told.taken().first {
          try QueryChanges<DynamicRecord>(delta, schema: SmallTable.schema).apply(to: &whole)
        }
        var part = old
        let told = world.toldInWindow.taken()
        #expect(told.count <= 1)
        if let delta = told.first {
          try QueryChanges<DynamicRecord>(delta, schema: SmallTable.schema).apply(to: &part)
        }
        #expect(whole == SmallTable.result(of: state), "seed \(seed), round \(round)")
        let expected = Array(whole[shown.range(in: whole.count)])
        #expect(part == expected, "seed \(seed), round \(round)")
        #expect(told.isEmpty == (old == expected), "seed \(seed), round \(round)")
      }
    }
  }

  @Test("P10 all events of one commit lie between the same two versions")
  func oneCommitOneStep() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("laws.store"), models: Artist.self, Album.self)
    let told = Recorder<[UInt64]>()
    func observe(_ query: StoreQuery<Album>) throws -> ObservationToken {
      try store.liveQuery(query).observe { told.add([$0.oldVersion, $0.newVersion]) }
    }
    let held = [
      try observe(Album.all), try observe(Album.where { $0.id > 1 }),
      try observe(Album.where { $0.title == "a" }), try observe(Album.all.limit(1, offset: 1)),
      try observe(Album.all.order { $0.title }.limit(2)),
      try observe(Album.all.filter(.sql("length(title) > 0"))),
    ]
    for round in 1...3 {
      // A commit in between that concerns no observer.
      try store.write { try $0.insert(Artist(id: Int64(round), name: "artist")) }
      try store.write { tx in
        try tx.upsert(Album(id: Int64(round), title: "a"))
        try tx.upsert(Album(id: Int64(round + 10), title: "b"))
      }
      store.waitForDelivery()
      let versions = told.taken()
      // In the last round two windows stay as they are.
      #expect(versions.count >= 4)
      #expect(Set(versions).count == 1, "round \(round)")
    }
    withExtendedLifetime(held) {}
  }
}
