import Testing

@testable import ModelStore

/// The other forms of a change set, over random steps between random results, without a database.
@Suite(.tags(.law)) struct QueryChangesAdapterTests {
  private typealias State = SmallTable.State

  private static func observed(
    _ state: State
  ) -> (live: LiveResult, mailbox: Mailbox<QueryDelta>) {
    let live = SmallTable.live(state)
    let mailbox = Mailbox<QueryDelta>(coalescing: .latest)
    _ = live.subscribe(into: mailbox)
    return (live, mailbox)
  }

  /// Calls `body` with many random change sets and the results before and after.
  private static func forEachChangeSet(
    seed: UInt64,
    _ body: (QueryChanges<DynamicRecord>, _ old: [DynamicRecord], _ new: [DynamicRecord]) throws ->
      Void
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var checked = 0
    for _ in 0..<400 {
      var state = State()
      for _ in 0..<3 { state = SmallTable.randomState(after: state, using: &generator) }
      let next = SmallTable.randomState(after: state, using: &generator)
      let (live, mailbox) = observed(state)
      SmallTable.step(from: state, to: next, version: 1, in: live)
      guard let delta = mailbox.take() else { continue }
      checked += 1
      try body(
        QueryChanges(delta, schema: SmallTable.schema), SmallTable.result(of: state),
        SmallTable.result(of: next))
    }
    #expect(checked > 300, "seed \(seed)")
  }

  private static func applied(_ changes: QueryChanges<DynamicRecord>, to list: [DynamicRecord])
    -> [DynamicRecord]
  {
    var list = list
    changes.apply(to: &list)
    return list
  }

  @Test("P1 P2 a change set and its inverse lead there and back", arguments: 1...10)
  func theWayBackLeadsBack(seed: UInt64) throws {
    try Self.forEachChangeSet(seed: seed) { changes, old, new in
      #expect(Self.applied(changes, to: old) == new, "seed \(seed)")
      #expect(
        old.count - changes.deletions.count + changes.insertions.count == new.count, "seed \(seed)")
      let inverse = try #require(changes.inverse)
      #expect(Self.applied(inverse, to: new) == old, "seed \(seed)")
      let again = try #require(inverse.inverse)
      #expect(Self.description(again) == Self.description(changes), "seed \(seed)")
    }
  }

  /// Everything that a change set contains, except whether it is the first.
  private static func description(_ changes: QueryChanges<DynamicRecord>) -> [String] {
    ["\(changes.oldVersion) \(changes.oldCount) → \(changes.newVersion) \(changes.newCount)"]
      + changes.deletions.map {
        "- \($0.index) \($0.key) \($0.record?.values ?? []) \($0.reason) \($0.origin)"
      }
      + changes.insertions.map {
        "+ \($0.index) \($0.key) \($0.record.values) \($0.reason) \($0.origin)"
      }
      + changes.moves.map { "\($0.oldIndex) → \($0.newIndex) \($0.key) \($0.record.values)" }
      + changes.updates.map {
        "\($0.oldIndex) ~ \($0.newIndex) \($0.old.values) \($0.new.values) \($0.fields)"
      }
  }

  /// As ``description(_:)``, but without versions and moves: of several equally short lists of
  /// moves, a step back may have another than the inverse.
  private static func effect(_ changes: QueryChanges<DynamicRecord>) -> [String] {
    let moves = Set(
      changes.moves.map { "\($0.oldIndex) → \($0.newIndex) \($0.key) \($0.record.values)" })
    return ["\(changes.oldCount) → \(changes.newCount), \(changes.moves.count) moves"]
      + description(changes).dropFirst().filter { !moves.contains($0) }
  }

  /// The same between the same results, the other way round.
  private static func reversed(_ delta: QueryDelta) -> QueryDelta {
    var back = delta
    back.versions = QueryDelta.Versions(old: delta.new, new: delta.old)
    back.touches = delta.touches.map { touch in
      var back = touch
      (back.old, back.new) = (touch.new, touch.old)
      (back.before, back.after) = (touch.after, touch.before)
      return back
    }
    return back
  }

  @Test("P6 a step and its inverse coalesce to no event", arguments: 1...10)
  func thereAndBackIsNothing(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var checked = 0
    for _ in 0..<200 {
      var state = State()
      for _ in 0..<3 { state = SmallTable.randomState(after: state, using: &generator) }
      let next = SmallTable.randomState(after: state, using: &generator)
      let (live, mailbox) = Self.observed(state)
      SmallTable.step(from: state, to: next, version: 1, in: live)
      SmallTable.step(from: next, to: state, version: 2, in: live)
      #expect(mailbox.take() == nil, "seed \(seed)")

      // Delivered one by one, the second has the effect of the first one's inverse. The inverse
      // itself, coalesced with the first, is not an event either.
      let (told, events) = Self.observed(state)
      SmallTable.step(from: state, to: next, version: 1, in: told)
      guard let there = events.take() else { continue }
      SmallTable.step(from: next, to: state, version: 2, in: told)
      let back = try #require(events.take())
      let inverse = try #require(
        try QueryChanges<DynamicRecord>(there, schema: SmallTable.schema).inverse)
      let second = try QueryChanges<DynamicRecord>(back, schema: SmallTable.schema)
      #expect(Self.effect(inverse) == Self.effect(second), "seed \(seed)")
      let reversed = Self.reversed(there)
      let third = try QueryChanges<DynamicRecord>(reversed, schema: SmallTable.schema)
      #expect(Self.effect(inverse) == Self.effect(third), "seed \(seed)")
      #expect(there.followed(by: reversed) == nil, "seed \(seed)")
      checked += 1
    }
    #expect(checked > 150, "seed \(seed)")
  }

  @Test(
    "P11 edits one by one, index sets and whole application agree", arguments: 1...10
  )
  func allFormsAgree(seed: UInt64) throws {
    try Self.forEachChangeSet(seed: seed) { changes, old, new in
      var list = old
      for edit in changes.sequentialEdits { edit.apply(to: &list) }
      #expect(list == new, "seed \(seed)")
      for style in [QueryChanges<DynamicRecord>.Batch.MoveStyle.kept, .expanded] {
        var table = TableView(rows: old)
        #expect(table.perform(changes.batch(moves: style), from: new) == nil, "seed \(seed)")
        #expect(table.rows == new, "seed \(seed), moves \(style)")
      }
      #expect(changes.batch(moves: .expanded).moves.isEmpty)
    }
  }

  @Test("the standard library applies the differences", arguments: 1...10)
  func differencesApply(seed: UInt64) throws {
    try Self.forEachChangeSet(seed: seed) { changes, old, new in
      let difference = try #require(changes.difference)
      #expect(old.applying(difference) == new, "seed \(seed)")
      #expect(old.map(\.key).applying(changes.keyDifference) == new.map(\.key), "seed \(seed)")
      let pairs = changes.keyDifference.insertions.compactMap { change -> [Int]? in
        guard case .insert(let to, _, let from?) = change else { return nil }
        return [from, to]
      }
      #expect(pairs == changes.moves.map { [$0.oldIndex, $0.newIndex] }, "seed \(seed)")
    }
  }

  @Test func aResetHasNoInverse() throws {
    let state: State = [
      1: [.integer(1), .integer(1), .integer(1), .integer(0)],
      2: [.integer(2), .integer(2), .integer(1), .integer(0)],
    ]
    let later: State = [
      2: [.integer(2), .integer(0), .integer(1), .integer(0)],
      3: [.integer(3), .integer(1), .integer(1), .integer(0)],
    ]
    let live = SmallTable.live(state, reload: { SmallTable.result(of: later).map(\.values) })
    let mailbox = Mailbox<QueryDelta>(coalescing: .latest)
    _ = live.subscribe(into: mailbox)
    let nothing = ChangeSet(version: 1, changes: [])
    _ = live.note(ChangeBroker.Commit(changes: nothing, isReset: true))
    let changes = try QueryChanges<DynamicRecord>(
      try #require(mailbox.take()), schema: SmallTable.schema)
    #expect(changes.inverse == nil)
    #expect(changes.difference == nil)
    let old: [[SQLValue]] = [[.integer(1)], [.integer(2)]]
    #expect(old.applying(changes.keyDifference) == [[.integer(2)], [.integer(3)]])
  }

  @Test func everyFormOfOneChangeSetIsExact() throws {
    func record(_ id: Int64, _ k: Int64, _ v: Int64 = 0) -> [SQLValue] {
      [.integer(id), .integer(k), .integer(1), .integer(v)]
    }
    let old: State = [1: record(1, 1), 2: record(2, 2), 3: record(3, 3), 4: record(4, 4)]
    // 1 leaves, 4 moves to the front, 3 differs in its place, 5 comes last.
    let new: State = [2: record(2, 2), 3: record(3, 3, 7), 4: record(4, 0), 5: record(5, 5)]
    let (live, mailbox) = Self.observed(old)
    SmallTable.step(from: old, to: new, version: 1, in: live)
    let changes = try QueryChanges<DynamicRecord>(
      try #require(mailbox.take()), schema: SmallTable.schema)
    let edits = changes.sequentialEdits.map { edit in
      switch edit {
      case .remove(let index): "remove \(index)"
      case .insert(let record, let index): "insert \(record.key) at \(index)"
      case .replace(let index, let record): "replace \(index) by \(record.key)"
      }
    }
    #expect(
      edits == ["remove 3", "remove 0", "insert [4] at 0", "insert [5] at 3", "replace 2 by [3]"])
    typealias Batch = QueryChanges<DynamicRecord>.Batch
    #expect(
      changes.batch()
        == Batch(
          deletions: [0], insertions: [3], moves: [Batch.Move(from: 3, to: 0)], reloads: [2],
          reloadsAfterwards: [0]))
    #expect(
      changes.batch(moves: .expanded)
        == Batch(
          deletions: [0, 3], insertions: [0, 3], moves: [], reloads: [2], reloadsAfterwards: []))
    #expect(!changes.batch().isEmpty)
  }
}

/// A table view as strict as the toolkits': it refuses a batch that names a row twice or does not
/// add up, and otherwise keeps the rows that the batch does not name, in their order.
private struct TableView {
  var rows: [DynamicRecord]

  /// - Returns: Why the batch is refused; nil when it was done.
  mutating func perform(_ batch: QueryChanges<DynamicRecord>.Batch, from source: [DynamicRecord])
    -> String?
  {
    let leaving = batch.deletions + batch.moves.map(\.from)
    let arriving = batch.insertions + batch.moves.map(\.to)
    guard Set(leaving + batch.reloads).count == leaving.count + batch.reloads.count else {
      return "an old row is named twice"
    }
    guard Set(arriving).count == arriving.count else { return "a new row is named twice" }
    guard rows.count - batch.deletions.count + batch.insertions.count == source.count else {
      return "the counts do not add up"
    }
    guard leaving.allSatisfy(rows.indices.contains), arriving.allSatisfy(source.indices.contains)
    else { return "out of bounds" }
    var shown = [DynamicRecord?](repeating: nil, count: source.count)
    for index in batch.insertions { shown[index] = source[index] }
    for move in batch.moves { shown[move.to] = rows[move.from] }
    var free = shown.indices.filter { shown[$0] == nil }[...]
    for index in rows.indices where !leaving.contains(index) {
      guard let place = free.popFirst() else { return "no place is left" }
      shown[place] = batch.reloads.contains(index) ? source[place] : rows[index]
    }
    for index in batch.reloadsAfterwards { shown[index] = source[index] }
    rows = shown.compactMap(\.self)
    return nil
  }
}
