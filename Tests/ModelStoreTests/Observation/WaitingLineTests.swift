import Testing

@testable import ModelStore

/// The queue in which events wait, and events that are coalesced in it.
@Suite(.tags(.unit)) struct WaitingLineTests {
  @Test func theWaitingLineBehavesLikeAQueue() {
    let seed: UInt64 = 20_261_121
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var line = WaitingLine<Int>()
    var array: [Int] = []
    for number in 0..<20_000 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0...2:
        line.append(number)
        array.append(number)
      case 3:
        line.append(contentsOf: [number, -number])
        array += [number, -number]
      case 4, 5: #expect(line.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
      case 6: #expect(line.popLast() == array.popLast())
      default:
        let count = Int.random(in: 0..<100, using: &random)
        line.keepLast(count)
        array = array.suffix(count)
      }
      #expect(line.first == array.first)
      #expect(line.count == array.count)
    }
    while let first = line.popFirst() { #expect(first == array.removeFirst()) }
    #expect(array.isEmpty)
  }

  /// A key that counts how often it is asked for.
  private struct CountedKey: Hashable, Sendable {
    static let asked = Recorder<Int>()
    let number: Int

    static func == (left: Self, right: Self) -> Bool {
      asked.add(left.number)
      return left.number == right.number
    }

    func hash(into hasher: inout Hasher) {
      Self.asked.add(number)
      hasher.combine(number)
    }
  }

  @Test func coalescingOneMoreEventDoesNotScanTheOthers() {
    var folded = Folded<CountedKey, Int>()
    for number in 0..<10_000 { folded.fold(CountedKey(number: number)) { _ in number } }
    _ = CountedKey.asked.taken()
    for round in 0..<100 { folded.fold(CountedKey(number: 7)) { ($0 ?? 0) + round } }
    #expect(CountedKey.asked.taken().count < 5_000)
    #expect(folded.count == 10_000)
    #expect(folded.entries[7] == 7 + 99 * 50)
  }

  @Test func coalescedChangesKeepTheOrderOfFirstTouches() {
    let seed: UInt64 = 20_261_122
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var folded = Folded<Int, Int>()
    var oracle: [(key: Int, value: Int)] = []
    for step in 0..<20_000 {
      let key = Int.random(in: 0..<60, using: &random)
      let isGone = Int.random(in: 0..<3, using: &random) == 0
      folded.fold(key) { _ in isGone ? nil : step }
      let place = oracle.firstIndex { $0.key == key }
      switch (place, isGone) {
      case (let place?, true): oracle.remove(at: place)
      case (let place?, false): oracle[place].value = step
      case (nil, false): oracle.append((key, step))
      case (nil, true): break
      }
      if step % 1_000 == 999 {
        folded.update { $0 % 2 == 0 ? $0 : nil }
        oracle.removeAll { $0.value % 2 != 0 }
      }
      #expect(folded.count == oracle.count)
    }
    #expect(folded.entries == oracle.map(\.value))
  }

  /// Each call of an editor was kept until the subscriber came back.
  @Test func operationsThatAreNotReadDoNotPileUp() throws {
    let world = try ListWorld(songs: [1, 2, 3])
    let subscription = try world.observe(coalescing: .latest)
    subscription.pause()
    for count in [3, 1_025] {
      for _ in 0..<count { try world.edit { list in try list.swapAt(0, 1) } }
      subscription.resume()
      world.store.waitForDelivery()
      subscription.pause()
    }
    let told = world.told.events
    #expect(told.map { $0.operations?.count } == [3, nil])
    var keys: [Int64] = [1, 2, 3]
    for event in told { event.apply(to: &keys) }
    #expect(try keys == world.keys())
    subscription.cancel()
  }

  /// More than the result itself would have to be held.
  @Test func aChangeOfMoreThanHalfOfALargeResultIsReportedAsAReset() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("songs.store"), models: Song.self)
    try store.write { tx in
      for id in 1...2_500 { try tx.insert(Song(id: Int64(id), title: "song", plays: 1)) }
    }
    let songs = try store.liveQuery(Song.where { $0.plays > 0 }.order { $0.plays })
    let told = Recorder<QueryChanges<Song>>()
    let subscription = try songs.observe(coalescing: .latest) { told.add($0) }
    subscription.pause()
    var list = try store.fetch(Song.where { $0.plays > 0 }.order { $0.plays })
    try store.write { tx in try tx.execute("UPDATE Song SET title = 'a' WHERE id <= 1000") }
    try store.write { tx in try tx.execute("UPDATE Song SET title = 'b' WHERE id > 900") }
    try store.write { tx in
      try tx.execute("UPDATE Song SET plays = id WHERE id > 5 AND id < 9")
      try tx.execute("DELETE FROM Song WHERE id = 3")
      try tx.insert(Song(id: 9_999, title: "new", plays: 1))
    }
    try store.write { tx in try tx.execute("UPDATE Song SET plays = 1 WHERE id = 7") }
    subscription.resume()
    store.waitForDelivery()
    let event = try #require(told.events.first)
    #expect(told.events.count == 1)
    #expect(event.isReset)
    #expect(event.deletions.map(\.key) == [3])
    #expect(event.insertions.map(\.record.title) == ["new"])
    #expect(event.moves.map(\.key) == [6, 8])
    #expect(event.updates.isEmpty)
    event.apply(to: &list)
    #expect(
      try list.map(\.id) == store.fetch(Song.where { $0.plays > 0 }.order { $0.plays }).map(\.id))
    subscription.cancel()
  }

  /// A change of half of a small result is still reported exactly.
  @Test func aSmallResultIsNeverReportedAsAReset() throws {
    let world = try ListWorld()
    let songs = try world.store.liveQuery(Song.all)
    let told = Recorder<[String]>()
    let subscription = try songs.observe(coalescing: .latest) { event in
      told.add(
        event.isReset ? ["reset"] : event.updates.map { "\($0.old.title) → \($0.new.title)" })
    }
    subscription.pause()
    for title in ["a", "b"] {
      try world.store.write { tx in try tx.execute("UPDATE Song SET title = \(title)") }
    }
    subscription.resume()
    world.store.waitForDelivery()
    #expect(told.events == [(1...9).map { "song \($0) → b" }])
    subscription.cancel()
  }
}
