import Testing

@testable import ModelStore

/// What an edit costs: the order of a list is read once and kept.
@Suite(.tags(.unit)) struct ListOrderTests {
  private func keptCount(_ world: ListWorld, mix: Int64 = 1) throws -> Int? {
    let slots = try world.store.engine.models.slots(of: \Mix.songs)
    return try world.store.engine.connections.writer.sync { writer in
      writer.lists.identity(of: .integer(mix), in: slots)
        .flatMap { writer.lists.places(of: $0) }?.count
    }
  }

  /// How many statements one transaction runs, its own included.
  private func statementCount(_ world: ListWorld, _ body: () throws -> Void) throws -> Int {
    let started = Recorder<Int>()
    try world.store.engine.connections.writer.sync { writer in
      writer.connection.hooks.onProgramStart { start in
        if case .statement = start { started.add(1) }
      }
    }
    try body()
    try world.store.engine.connections.writer.sync { $0.connection.hooks.onProgramStart(nil) }
    return started.events.count
  }

  @Test func anEditByIndexOfAKeptListIsOneStatement() throws {
    let world = try ListWorld(songs: (1...9).map { $0 })
    try world.edit { try $0.move(from: 0, to: 5) }
    let idle = try statementCount(world) { try world.store.write { _ in } }
    let edits: [(borrowing ListEditor<Int64>) throws -> Void] = [
      { try $0.insert(4, at: 3) }, { try $0.move(from: 7, to: 1) }, { try $0.swapAt(2, 6) },
      { try $0.remove(at: 5) }, { try $0.removeLast() }, { try $0.append(3) },
    ]
    for edit in edits {
      #expect(try statementCount(world) { try world.edit(edit) } == idle + 1)
    }
    #expect(try world.keptOrderIsTrue())
  }

  @Test func aMoveWritesOneRow() throws {
    let world = try ListWorld(songs: (0..<2_000).map { 1 + $0 % 9 })
    let seed: UInt64 = 20_261_122
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    func changeCount() throws -> Int64 {
      try world.store.engine.connections.writer.sync { $0.connection.totalChangeCount }
    }
    let before = try changeCount()
    for _ in 0..<2_000 {
      try world.store.write { tx in
        try tx.list(\Mix.songs, of: 1).move(
          from: Int.random(in: 0..<2_000, using: &random),
          to: Int.random(in: 0..<2_000, using: &random))
      }
    }
    // The first transaction of each log writes its link: one row for some 1,000 frames.
    #expect(try changeCount() - before <= 2_020)
    #expect(try world.keptOrderIsTrue())
  }

  @Test func anyOtherWriteDropsTheKeptOrderOfThatListOnly() throws {
    let world = try ListWorld(songs: [1, 2, 3])
    func keep() throws {
      try world.store.write { tx in
        try tx.list(\Mix.songs, of: 1).insert(4, at: 0)
        try tx.list(\Mix.songs, of: 2).insert(5, at: 0)
      }
    }
    func kept() throws -> [Bool] {
      [try keptCount(world) != nil, try keptCount(world, mix: 2) != nil]
    }
    try keep()
    #expect(try kept() == [true, true])
    try world.store.write { tx in try tx.set(\Song.title, to: "x", for: 1) }
    #expect(try kept() == [true, true])
    try world.store.write { tx in try tx.delete(Song.self, 1) }
    #expect(try kept() == [false, true])
    try keep()
    try world.store.write { tx in try tx.execute("DELETE FROM Mix_songs WHERE owner = 2") }
    #expect(try kept() == [true, false])
    try keep()
    try world.store.write { tx in
      failure {
        try tx.savepoint { tx in
          try tx.execute("DELETE FROM Mix_songs")
          throw StoreError(.misuse, "taken back")
        }
      }
    }
    #expect(try kept() == [true, true])
    let other = try PlainDatabase(world.store.path)
    try other.execute("UPDATE Mix_songs SET label = -label")
    try world.store.write { tx in _ = try tx.find(Song.self, 1) }
    #expect(try kept() == [false, false])
  }

  @Test func ordersUsedLongAgoAreForgotten() throws {
    let orders = ListOrders(slotCountMax: 10)
    func list(_ number: Int64) -> ListIdentity {
      ListIdentity(model: "m", owner: .integer(number))
    }
    let places = RankedTree(sorted: (0..<4).map { ListPlace(label: $0, slot: $0) })
    orders.keep(places, of: list(1))
    orders.keep(places, of: list(2))
    _ = orders.places(of: list(1))
    orders.keep(places, of: list(3))
    #expect([1, 2, 3].map { orders.places(of: list($0)) != nil } == [true, false, true])
    orders.keep(RankedTree(sorted: (0..<50).map { ListPlace(label: $0, slot: $0) }), of: list(4))
    #expect([1, 3, 4].map { orders.places(of: list($0)) != nil } == [false, false, true])
  }

  @Test func spreadingTheLabelsIsNotReported() throws {
    let world = try ListWorld(songs: [1, 2])
    let subscription = try world.observe()
    var told: [String] = []
    // Each insertion halves the same gap, so a step of 2^20 is used up after 20 of them.
    for _ in 0..<60 {
      try world.edit { try $0.insert(3, at: 1) }
      told += world.told.taken().map(\.words)
    }
    #expect(told == Array(repeating: "insert p3 NF→1 | +1", count: 60))
    #expect(try world.keptOrderIsTrue())
    subscription.cancel()
  }

  @Test func aMoveThatMakesRoomIsTheOnlyMoveReported() throws {
    let world = try ListWorld(songs: [1, 2, 3, 4])
    let subscription = try world.observe()
    // The two in the middle change places with hardly a label between them, again and again.
    for round in 0..<80 {
      try world.edit { try $0.move(from: 2, to: 1) }
      let words = world.told.taken().map(\.words)
      #expect(words == ["move p\(round % 2 == 0 ? 3 : 2) 2→1 | 2→1"])
    }
    #expect(try world.keptOrderIsTrue())
    subscription.cancel()
  }

  @Test func labelsAtTheLargestNumberLeaveRoomForInsertions() throws {
    let world = try ListWorld(songs: [1, 2, 3])
    try world.store.write { tx in
      try tx.execute("UPDATE Mix_songs SET label = \(Int64.max) WHERE element = 3")
      try tx.execute("UPDATE Mix_songs SET label = \(Int64.min) WHERE element = 1")
      let list = try tx.list(\Mix.songs, of: 1)
      try list.append(4)
      try list.insert(5, at: 0)
      try list.insert(6, at: 2)
    }
    #expect(try world.keys() == [5, 1, 6, 2, 3, 4])
    try world.store.write { tx in try tx.execute("UPDATE Mix_songs SET label = 7") }
    let order = try world.keys()
    try world.edit { try $0.insert(9, at: 3) }
    #expect(try world.keys() == Array(order[..<3]) + [9] + Array(order[3...]))
    try world.store.write { tx in try tx.execute("UPDATE Mix_songs SET label = 7") }
    let same = try world.keys()
    try world.edit { try $0.swapAt(0, 6) }
    #expect(try world.keys() == [same[6]] + Array(same[1..<6]) + [same[0]])
  }

  @Test func aSlotNumberIsNotReusedWhileTheListIsObserved() throws {
    let world = try ListWorld(songs: [1, 2])
    let subscription = try world.observe()
    try world.store.write { tx in
      let list = try tx.list(\Mix.songs, of: 1)
      try list.removeLast()
      try list.append(2)
    }
    world.store.waitForDelivery()
    #expect(world.told.taken().map(\.words) == ["removeLast p2 1→NF, append p2 NF→1 | -1 +1"])
    subscription.cancel()
  }

  @Test func theContentsComeFirstWhenRequested() throws {
    let world = try ListWorld(songs: [3, 1])
    let subscription = try world.store.observe(list: \Mix.songs, of: 1, options: .initial) {
      [told = world.told] in told.add($0)
    }
    try world.edit { try $0.append(2) }
    let events = world.told.taken()
    #expect(events.map(\.isInitial) == [true, false])
    #expect(events.map(\.words) == ["unknown | +0 +1", "append p2 NF→2 | +2"])
    #expect(try events.map { try $0.new.keys() } == [[3, 1], [3, 1, 2]])
    subscription.cancel()
  }

  @Test func changesComeAsASequence() async throws {
    let world = try ListWorld(songs: [1, 2])
    var changes = try await world.store.changes(ofList: \Mix.songs, of: 1).makeAsyncIterator()
    try await world.store.write { tx in
      let list = try tx.list(\Mix.songs, of: 1)
      try list.move(from: 0, to: 1)
      try list.move(from: 0, to: 1)
    }
    try await world.store.write { tx in try tx.list(\Mix.songs, of: 1).append(3) }
    // The first transaction left the list as it was.
    #expect(try await changes.next()?.words == "append p3 NF→2 | +2")
  }

  @Test func beyondTheBacklogCallsAreReportedAsTheNetDifferenceAlone() throws {
    let world = try ListWorld()
    let subscription = try world.observe()
    for count in [1024, 1025] {
      try world.edit { list in
        for _ in 0..<count { try list.append(1) }
      }
    }
    let events = world.told.taken()
    #expect(events.map { $0.operations?.count } == [1024, nil])
    #expect(events.map(\.insertions.count) == [1024, 1025])
    subscription.cancel()
  }

  @Test func anotherProcessResetsTheObserverWithTheExactDifference() throws {
    let world = try ListWorld(songs: [1, 2, 3])
    let subscription = try world.observe()
    let other = try PlainDatabase(world.store.path)
    try other.execute("DELETE FROM Mix_songs WHERE owner = 1 AND element = 2")
    try world.store.refresh()
    world.store.waitForDelivery()
    let events = world.told.taken()
    #expect(events.map(\.words) == ["unknown | -1"])
    #expect(events.map(\.isReset) == [true])
    try world.edit { try $0.removeLast() }
    #expect(world.told.taken().map(\.words) == ["removeLast p3 1→NF | -1"])
    subscription.cancel()
  }

  @Test func aDeclarationThatFailsAfterAMigrationDropsTheOrders() throws {
    let world = try ListWorld(songs: [1, 2, 3])
    try world.edit { try $0.move(from: 0, to: 1) }
    #expect(try keptCount(world) == 3)
    let error = failure {
      try Store(
        at: world.store.path, models: Song.self, Mix.self,
        migrations: [
          Migration(version: 1, name: "empty", sql: "DELETE FROM Mix_songs WHERE element = 2")
        ],
        validators: [Validator("unknown", Artist.self) { _, _ in .accept }])
    }
    #expect(error?.code == .unknownModel)
    #expect(try keptCount(world) == nil)
    try world.edit { try $0.insert(9, at: 1) }
    #expect(try world.keys() == [1, 9, 3])
  }
}
