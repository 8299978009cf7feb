import Synchronization
import Testing

@testable import ModelStore

/// An observer that applies every event has what a fetch finds, also after a reset.
@Suite(.tags(.unit)) struct ResyncTests {
  /// Three lists that follow the same live query, each by another form of its events.
  private final class Followers: Sendable {
    let whole = Mutex<[Song]>([])
    let stepwise = Mutex<[Song]>([])
    let table = Mutex<[Song]>([])
    let told = Recorder<QueryChanges<Song>>()

    func take(_ changes: QueryChanges<Song>) {
      whole.withLock { changes.apply(to: &$0) }
      stepwise.withLock { list in
        for edit in changes.sequentialEdits { edit.apply(to: &list) }
      }
      let rows = whole.withLock { $0 }
      table.withLock { $0 = Self.performing(changes.batch(), on: $0, from: rows) }
      told.add(changes)
    }

    /// What a table view shows that keeps its cells, and asks for a record only where it must.
    private static func performing(
      _ batch: QueryChanges<Song>.Batch, on old: [Song], from source: [Song]
    ) -> [Song] {
      var cells: [Song?] = old
      for index in batch.reloads { cells[index] = nil }
      let moved = batch.moves.map { (to: $0.to, cell: cells[$0.from]) }
      let leaving = Set(batch.deletions + batch.moves.map(\.from))
      cells = cells.enumerated().filter { !leaving.contains($0.offset) }.map(\.element)
      let arriving = (batch.insertions.map { (to: $0, cell: Song?.none) } + moved)
        .sorted { $0.to < $1.to }
      for (index, cell) in arriving { cells.insert(cell, at: index) }
      for index in batch.reloadsAfterwards { cells[index] = nil }
      return cells.enumerated().map { $0.element ?? source[$0.offset] }
    }

    var lists: [[Song]] {
      [whole.withLock { $0 }, stepwise.withLock { $0 }, table.withLock { $0 }]
    }
  }

  private static func texts(_ songs: [Song]) -> [String] {
    songs.map { "\($0.id) \($0.title) \($0.plays)" }
  }

  private static let query = Song.where { $0.plays >= 0 }.order { $0.plays }

  /// What another program does without a journal: it changes a record in place, moves one, deletes
  /// one and inserts one.
  private static func writeAsAnotherProgram(to store: Store) throws {
    let other = try PlainDatabase(store.path)
    try other.execute("UPDATE Song SET title = 'by another program' WHERE id = 2")
    try other.execute("UPDATE Song SET plays = 99, title = 'moved' WHERE id = 1")
    try other.execute("DELETE FROM Song WHERE id = 4")
    try other.execute("INSERT INTO Song (id, title, plays) VALUES (50, 'new', 5)")
    try store.refresh()
  }

  @Test(
    "every form of an event includes what another program changed in place",
    arguments: [true, false])
  func everyFormIncludesWhatWasChangedInPlace(isWindow: Bool) throws {
    let world = try ListWorld()
    let query = isWindow ? Self.query.limit(4) : Self.query
    // Keeps the places of all rows, so that the window shows a part of a tree.
    let all = try world.store.liveQuery(Self.query)
    let live = try world.store.liveQuery(query)
    let followers = Followers()
    let subscription = try live.observe(options: .initial) { followers.take($0) }
    world.store.waitForDelivery()
    try Self.writeAsAnotherProgram(to: world.store)
    world.store.waitForDelivery()
    let expected = Self.texts(try world.store.fetch(query))
    #expect(followers.lists.map(Self.texts) == [expected, expected, expected])
    let reset = try #require(followers.told.events.last)
    #expect(reset.isReset)
    #expect(reset.updates.isEmpty)
    #expect(reset.refreshes.contains { $0.record.title == "by another program" })
    try world.store.write { tx in try tx.set(\Song.title, to: "later", for: 3) }
    world.store.waitForDelivery()
    let later = Self.texts(try world.store.fetch(query))
    #expect(followers.lists.map(Self.texts) == [later, later, later])
    #expect(followers.told.events.last?.refreshes.isEmpty == true)
    subscription.cancel()
    withExtendedLifetime(all) {}
  }

  @Test func aResetAmongCoalescedCommitsIsIncluded() throws {
    let world = try ListWorld()
    let live = try world.store.liveQuery(Self.query)
    let followers = Followers()
    let subscription = try live.observe(options: .initial, coalescing: .latest) {
      followers.take($0)
    }
    world.store.waitForDelivery()
    subscription.pause()
    try world.store.write { tx in
      try tx.set(\Song.title, to: "before", for: 2)
      try tx.set(\Song.title, to: "before", for: 3)
    }
    try Self.writeAsAnotherProgram(to: world.store)
    try world.store.write { tx in
      try tx.set(\Song.title, to: "after", for: 5)
      try tx.set(\Song.plays, to: 3, for: 6)
      try tx.delete(Song.self, 7)
    }
    subscription.resume()
    world.store.waitForDelivery()
    let expected = Self.texts(try world.store.fetch(Self.query))
    #expect(followers.lists.map(Self.texts) == [expected, expected, expected])
    #expect(followers.told.events.map(\.isReset) == [false, true])
    subscription.cancel()
  }

  @Test func moreCommitsThanCanWaitLoseNoRecord() throws {
    let world = try ListWorld(songCount: 2_500)
    let live = try world.store.liveQuery(Self.query)
    let followers = Followers()
    let subscription = try live.observe(options: .initial, coalescing: .latest) {
      followers.take($0)
    }
    world.store.waitForDelivery()
    subscription.pause()
    try world.store.write { tx in try tx.execute("UPDATE Song SET title = 'a' WHERE id <= 2000") }
    try world.store.write { tx in try tx.execute("UPDATE Song SET title = 'b' WHERE id > 1000") }
    try world.store.write { tx in
      try tx.execute("UPDATE Song SET plays = 9 WHERE id BETWEEN 10 AND 20")
      try tx.execute("DELETE FROM Song WHERE id = 30")
    }
    subscription.resume()
    world.store.waitForDelivery()
    let expected = Self.texts(try world.store.fetch(Self.query))
    #expect(Self.texts(followers.whole.withLock { $0 }) == expected)
    #expect(Self.texts(followers.table.withLock { $0 }) == expected)
    #expect(followers.told.events.map(\.isReset) == [false, true])
    #expect(followers.told.events.last?.updates.isEmpty == true)
    subscription.cancel()
  }

  @Test func aListNamesEveryElementThatMayDiffer() throws {
    let world = try ListWorld(songs: [1, 2, 3, 1])
    let subscription = try world.observe(fields: [\Song.title], coalescing: .latest)
    subscription.pause()
    try world.edit { try $0.append(4) }
    let other = try PlainDatabase(world.store.path)
    try other.execute("UPDATE Song SET title = 'by another program' WHERE id = 1")
    try other.execute("DELETE FROM Mix_songs WHERE owner = 1 AND element = 2")
    try world.store.refresh()
    try world.store.write { tx in try tx.set(\Song.title, to: "own", for: 3) }
    subscription.resume()
    world.store.waitForDelivery()
    #expect(
      world.told.taken().map(\.words) == ["unknown | -1 +3 0=0 p1  2=1 p3  3=2 p1 "])
    subscription.cancel()
  }
}
