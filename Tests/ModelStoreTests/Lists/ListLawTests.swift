import Testing

@testable import ModelStore

/// The laws of change sets, for lists: random transactions against SQL.
@Suite(.tags(.law)) struct ListLawTests {
  @Test(
    "P1 P2 P3 P7 P8 P9 P13 P14 every commit is reported exactly", arguments: [1, 2, 12] as [UInt64])
  func everyCommitIsReportedExactly(seed: UInt64) throws {
    print("seed \(seed)")
    var random = RandomListTransaction(seed: seed)
    let world = try ListWorld(songs: [1, 2, 2, 3])
    let subscription = try world.observe(fields: [\Song.title])
    var old = try ListState(of: 1, in: world.store)
    var eventCount = 0
    for step in 0..<700 {
      try random.run(in: world.store)
      world.store.waitForDelivery()
      let new = try ListState(of: 1, in: world.store)
      let oracle = ListOracle(old: old, new: new)
      let events = world.told.taken()
      #expect(events.count <= 1)
      if let event = events.first {
        eventCount += 1
        if let objection = try oracle.objection(to: event) {
          Issue.record("\(objection) in step \(step): \(event.words), \(old.songs) → \(new.songs)")
          return
        }
        #expect(!random.wasDisturbed || event.operations == nil, "step \(step): \(event.words)")
        #expect(random.ranSQL || event.operations != nil, "step \(step): \(event.words)")
      } else {
        #expect(!oracle.hasDifference, "P3: nothing was reported in step \(step)")
      }
      #expect(try world.keptOrderIsTrue(), "the kept order, in step \(step)")
      old = new
    }
    #expect(eventCount > 200)
    subscription.cancel()
  }

  @Test(
    "P4 P15 an observer that fell behind receives one exact event",
    arguments: [4, 5] as [UInt64])
  func coalescedCommitsAreReportedExactly(seed: UInt64) throws {
    print("seed \(seed)")
    var random = RandomListTransaction(seed: seed)
    let world = try ListWorld(songs: [1, 2, 2, 3])
    let gate = DispatchGate()
    let blocking = try world.store.observe(\Song.plays, of: 9) { _ in gate.wait() }
    let subscription = try world.observe(fields: [\Song.title], coalescing: .latest)
    random.sparing = 9
    var old = try ListState(of: 1, in: world.store)
    for step in 0..<200 {
      // Later notifications wait behind this one.
      try world.store.write { tx in try tx.set(\Song.plays, to: Int64(step + 1), for: 9) }
      for _ in 0..<Int(random.number(1...4)) { try random.run(in: world.store) }
      gate.open()
      world.store.waitForDelivery()
      let new = try ListState(of: 1, in: world.store)
      let oracle = ListOracle(old: old, new: new)
      let events = world.told.taken()
      #expect(events.count <= 1)
      if let event = events.first {
        if let objection = try oracle.objection(to: event) {
          Issue.record("\(objection) in step \(step): \(event.words), \(old.songs) → \(new.songs)")
          return
        }
      } else {
        #expect(!oracle.hasDifference, "nothing was reported in step \(step)")
      }
      old = new
    }
    blocking.cancel()
    subscription.cancel()
  }
}

extension ListLawTests {
  @Test("the kept order matches the file, also without observers", arguments: [6, 7] as [UInt64])
  func theKeptOrderIsTrue(seed: UInt64) throws {
    print("seed \(seed)")
    var random = RandomListTransaction(seed: seed)
    let world = try ListWorld(songs: [1, 2, 2, 3])
    for step in 0..<500 {
      try random.run(in: world.store)
      #expect(try world.keptOrderIsTrue(), "step \(step)")
    }
  }
}

extension ListWorld {
  /// Whether the orders that the writer keeps match the file.
  func keptOrderIsTrue() throws -> Bool {
    try [1, 2].allSatisfy { mix in
      let slots = try store.engine.models.slots(of: \Mix.songs)
      let stored = try ListState(of: Int64(mix), in: store).slots
      return try store.engine.connections.writer.sync { writer in
        guard let list = writer.lists.identity(of: .integer(Int64(mix)), in: slots),
          let places = writer.lists.places(of: list)
        else { return true }
        return places.firstBrokenRule() == nil
          && Array(places) == stored.map { ListPlace(label: $0.label, slot: $0.slot) }
      }
    }
  }
}

/// Transactions over two mixes, drawn from a seed: every call of the editor, now and then refused;
/// elements deleted; SQL of the program's own; savepoints taken back; transactions given up.
struct RandomListTransaction {
  private var generator: SeededGenerator
  /// Whether something else than an editor changed mix 1 in the last transaction.
  private(set) var wasDisturbed = false
  /// Whether the last transaction ran SQL of the program's own.
  private(set) var ranSQL = false
  /// A song that is not deleted.
  var sparing: Int64?
  private var rawSlot: Int64 = 0

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  private struct Undo: Error {}

  mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
    Int64.random(in: range, using: &generator)
  }

  private mutating func chance(_ part: Int64, of whole: Int64) -> Bool { number(1...whole) <= part }

  mutating func run(in store: Store) throws {
    wasDisturbed = false
    ranSQL = false
    do {
      try store.write { tx in
        for _ in 0..<number(1...4) { try step(in: tx, depth: 0) }
        if chance(1, of: 12) { throw Undo() }
      }
    } catch is Undo {}
  }

  private mutating func step(in tx: borrowing WriteTransaction, depth: Int) throws {
    guard depth < 2, chance(1, of: 6) else { return try statement(in: tx) }
    let before = wasDisturbed
    let isTakenBack = chance(1, of: 2)
    do {
      try tx.savepoint { tx in
        try step(in: tx, depth: depth + 1)
        try step(in: tx, depth: depth + 1)
        if isTakenBack { throw Undo() }
      }
    } catch is Undo {
      wasDisturbed = before
    }
  }

  private mutating func statement(in tx: borrowing WriteTransaction) throws {
    switch number(1...30) {
    case 1: try disturb(in: tx) { "DELETE FROM Mix_songs WHERE owner = 1 AND element = \($0)" }
    case 2:
      try disturb(in: tx) {
        "UPDATE Mix_songs SET label = -label WHERE owner = 1 AND element = \($0)"
      }
    case 3:
      try disturb(in: tx) {
        "UPDATE Mix_songs SET element = 1 + element % 9 WHERE owner = 1 AND element = \($0)"
      }
    case 4:
      rawSlot += 1_000_000
      let (slot, label) = (rawSlot, number(-9...9) << 20)
      try disturb(in: tx) { "INSERT INTO Mix_songs VALUES (\(slot), 1, \(label), \($0))" }
    case 5: try disturb(in: tx) { "UPDATE Mix_songs SET owner = 3 - owner WHERE element = \($0)" }
    case 6:
      let song = song()
      guard song != sparing else { return }
      try disturb(in: tx) { _ in "DELETE FROM Song WHERE id = \(song)" }
    case 7...9:
      let song = song()
      try tx.upsert(Song(id: song, title: "title \(number(1...3))", plays: try plays(song, in: tx)))
    default: try edit(in: tx)
    }
  }

  /// An upsert must not set the field that the tests use as a signal.
  private func plays(_ song: Int64, in tx: borrowing WriteTransaction) throws -> Int64 {
    try tx.find(Song.self, song)?.plays ?? 0
  }

  private mutating func disturb(
    in tx: borrowing WriteTransaction, _ text: (SQLValue) -> SQLText
  ) throws {
    ranSQL = true
    let slots: SQLText = "SELECT * FROM Mix_songs WHERE owner = 1 ORDER BY slot"
    let before = try tx.rows(slots)
    do {
      try tx.execute(text(.integer(song())))
    } catch let error as StoreError where error.code == .rejected {
      // A song that is not there.
    }
    if try tx.rows(slots) != before { wasDisturbed = true }
  }

  private mutating func song() -> Int64 { number(1...9) }

  private mutating func edit(in tx: borrowing WriteTransaction) throws {
    let list = try tx.list(\Mix.songs, of: chance(5, of: 6) ? 1 : 2)
    let count = Int64(try list.count())
    let place = Int(number(0...max(count, 1) - 1))
    let other = Int(number(0...max(count, 1) - 1))
    do {
      switch number(1...14) {
      case 1...2: try list.append(song())
      case 3: try list.append(contentsOf: (0..<number(0...4)).map { _ in song() })
      case 4...5: try list.insert(song(), at: Int(number(0...count)))
      case 6: try list.remove(at: place)
      case 7: try list.removeLast()
      case 8: try list.removeAll(equalTo: song())
      case 9: try list.replace(at: place, with: song())
      case 10: try list.swapAt(place, other)
      case 11...12: try list.move(from: place, to: other)
      case 13 where count > 5 || chance(1, of: 4): try list.removeAll()
      default:
        var keys = try list.keys()
        if !keys.isEmpty { keys.remove(at: place) }
        keys.insert(song(), at: Int(number(0...Int64(keys.count))))
        try list.assign(keys)
      }
    } catch let error as StoreError where error.code == .rejected || error.code == .invalidValue {
      // A song that is not there, or an index of an empty list.
    }
  }
}
