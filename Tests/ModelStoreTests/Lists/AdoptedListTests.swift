import Testing

@testable import ModelStore

/// Lists in a link table of another program's design.
@Suite(.tags(.unit)) struct AdoptedListTests {
  typealias Design = AdoptedListWorld.Design

  @Test(
    "gaps, duplicates and negative positions have an order", arguments: [Design.numbered, .keyless])
  func orderIsByPositionThenRow(design: Design) throws {
    let world = try AdoptedListWorld(
      design,
      entries: [(3, "7"), (1, "-4"), (2, "7"), (4, "100"), (2, "0"), (5, "NULL"), (6, "'x'")])
    #expect(try world.tracks() == [1, 2, 3, 2, 4])
    // What has no place is left alone.
    try world.edit { try $0.removeAll() }
    #expect(try world.shell.rows("SELECT TrackId FROM Entry").map { $0[0].number } == [5, 6])
  }

  @Test(arguments: Design.allCases)
  func randomEditsAgreeWithAnArray(design: Design) throws {
    let seed: UInt64 = 20_261_124
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let world = try AdoptedListWorld(design, entries: [(1, "1"), (2, "2"), (3, "3")])
    var model: [Int64] = [1, 2, 3]
    var observed = model
    let subscription = try world.observe()
    for step in 0..<400 {
      let track = Int64.random(in: 1...9, using: &random)
      let kind = Int.random(in: 0..<12, using: &random)
      let place = model.isEmpty ? 0 : Int.random(in: 0..<model.count, using: &random)
      let other = model.isEmpty ? 0 : Int.random(in: 0..<model.count, using: &random)
      let tracks = model.shuffled(using: &random).dropLast(2) + [track]
      try world.edit { list in
        switch kind {
        case 0...1: try list.append(.integer(track))
        case 2...3: try list.insert(.integer(track), at: place)
        case 4 where !model.isEmpty: try list.remove(at: place)
        case 5...6 where !model.isEmpty: try list.move(from: place, to: other)
        case 7 where !model.isEmpty: try list.swapAt(place, other)
        case 8 where !model.isEmpty: try list.replace(at: place, with: .integer(track))
        case 9 where step % 9 == 0: try list.removeAll(equalTo: .integer(track))
        case 10 where step % 5 == 0: try list.assign(tracks.map { .integer($0) })
        case 11 where !model.isEmpty: try list.removeLast()
        default: break
        }
      }
      switch kind {
      case 0...1: model.append(track)
      case 2...3: model.insert(track, at: place)
      case 4 where !model.isEmpty: model.remove(at: place)
      case 5...6 where !model.isEmpty: model.insert(model.remove(at: place), at: other)
      case 7 where !model.isEmpty: model.swapAt(place, other)
      case 8 where !model.isEmpty: model[place] = track
      case 9 where step % 9 == 0: model.removeAll { $0 == track }
      case 10 where step % 5 == 0: model = Array(tracks)
      case 11 where !model.isEmpty: model.removeLast()
      default: break
      }
      #expect(try world.tracks() == model, "step \(step)")
      #expect(try world.entries().map { $0[0].number } == model, "step \(step)")
      for event in world.told.taken() {
        var keys = observed.map(SQLValue.integer)
        event.apply(to: &keys)
        observed = keys.map(\.number)
        #expect(event.operations?.count == 1)
      }
      #expect(observed == model, "step \(step)")
    }
    #expect(try world.entries().allSatisfy { $0[1].number >= 0 })
    subscription.cancel()
  }

  @Test func writesOfTheOtherProgramAreReported() throws {
    for design in Design.allCases {
      let world = try AdoptedListWorld(design, entries: [(1, "1"), (2, "2"), (3, "3")])
      let subscription = try world.observe(fields: ["Name"])
      try world.shell.execute(
        #"""
        BEGIN; DELETE FROM Entry WHERE TrackId = 1;
        UPDATE Entry SET Position = 9 WHERE TrackId = 2;
        INSERT INTO Entry("Playlist Id", TrackId, Position) VALUES (1, 7, 8); COMMIT
        """#)
      try world.store.refresh()
      world.store.waitForDelivery()
      let event = try #require(world.told.taken().first)
      var keys: [SQLValue] = [.integer(1), .integer(2), .integer(3)]
      event.apply(to: &keys)
      #expect(keys == [.integer(3), .integer(7), .integer(2)], "\(design)")
      #expect(event.operations == nil)
      #expect(try world.tracks() == [3, 7, 2])
      try world.edit { try $0.move(from: 2, to: 0) }
      #expect(try world.entries().map { $0[0].number } == [2, 3, 7])
      try world.store.write { try $0.execute("UPDATE Track SET Name = 'x' WHERE Id = 7") }
      world.store.waitForDelivery()
      let told = world.told.taken()
      #expect(told.map { $0.moves.map { [$0.oldIndex, $0.newIndex] } } == [[[2, 0]], []])
      #expect(told.last?.updates.map(\.newIndex) == [2])
      subscription.cancel()
    }
  }

  @Test func withAJournalWritesOfTheOtherProgramAreReportedExactly() throws {
    let world = try AdoptedListWorld(entries: [(1, "1"), (2, "2")])
    try world.store.changeJournal.enable(.full, for: ["Playlist", "Track"])
    let subscription = try world.observe()
    try world.shell.execute("UPDATE Entry SET Position = 5 WHERE TrackId = 1")
    try world.store.refresh()
    world.store.waitForDelivery()
    let told = world.told.taken()
    #expect(told.map(\.isReset) == [false])
    #expect(told.first?.moves.map { [$0.oldIndex, $0.newIndex] } == [[0, 1]])
    subscription.cancel()
  }

  /// VACUUM may give rows without a number of their own other numbers.
  @Test func renumberedRowsKeepTheirOrder() throws {
    let world = try AdoptedListWorld(.keyless, entries: [(1, "1"), (2, "2"), (3, "3")])
    let subscription = try world.observe()
    try world.edit { try $0.move(from: 2, to: 0) }
    try world.shell.execute("DELETE FROM Entry WHERE TrackId = 1; VACUUM")
    try world.edit { try $0.append(.integer(9)) }
    #expect(try world.tracks() == [3, 2, 9])
    var keys: [SQLValue] = [.integer(1), .integer(2), .integer(3)]
    for event in world.told.taken() { event.apply(to: &keys) }
    #expect(keys == [.integer(3), .integer(2), .integer(9)])
    subscription.cancel()
  }

  @Test func oneRowIsWrittenPerMoveWhereThereIsRoom() throws {
    let world = try AdoptedListWorld(
      entries: (1...9).map { (track: $0, position: "\($0 * 100)") })
    for (from, to) in [(8, 1), (0, 8), (4, 0), (2, 6)] {
      let before = try world.entries()
      try world.edit { try $0.move(from: from, to: to) }
      let after = try world.entries()
      #expect(after.count { !before.contains($0) } == 1, "\(from) → \(to)")
    }
  }

  /// The missing track is detected only after room was made for it.
  @Test func roomMadeForARefusedInsertionIsRolledBack() throws {
    let world = try AdoptedListWorld(entries: [(1, "0"), (2, "1"), (3, "\(Int64.max)")])
    let before = try world.entries()
    try world.edit { list in
      let inserted = failure { try list.insert(.integer(999), at: 1) }
      #expect(inserted?.code == .rejected)
      let appended = failure { try list.append(.integer(999)) }
      #expect(appended?.code == .rejected)
    }
    #expect(try world.entries() == before)
    try world.edit { list in
      try list.insert(.integer(8), at: 1)
      try list.append(.integer(9))
    }
    #expect(try world.tracks() == [1, 8, 2, 3, 9])
  }

  /// Making room takes several statements, of which another design may refuse the last.
  @Test(arguments: [0, 1])
  func aRefusedCallLeavesEveryPositionAsItWas(isMove: Int) throws {
    let world = try AdoptedListWorld(
      entries: (0...3).map { (track: Int64($0 + 1), position: "\($0)") })
    try world.shell.execute(
      """
      CREATE TRIGGER low BEFORE UPDATE OF Position ON Entry WHEN NEW.Position < 4
      BEGIN SELECT RAISE(ABORT, 'too low'); END
      """)
    let before = try world.entries()
    try world.edit { list in
      for _ in 0..<2 {
        let refused = failure {
          isMove == 1 ? try list.move(from: 3, to: 1) : try list.insert(.integer(9), at: 1)
        }
        #expect(refused?.code == .rejected)
      }
    }
    #expect(try world.entries() == before)
    try world.shell.execute("DROP TRIGGER low")
    try world.edit { list in try list.insert(.integer(9), at: 1) }
    #expect(try world.tracks() == [1, 9, 2, 3, 4])
  }

  /// Two elements that share a position get different positions before they are exchanged.
  @Test func aRefusedExchangeLeavesSharedPositionsShared() throws {
    let world = try AdoptedListWorld(entries: [(1, "5"), (2, "5"), (3, "900")])
    try world.shell.execute(
      """
      CREATE TRIGGER fixed BEFORE UPDATE OF Position ON Entry WHEN old.TrackId = 3
      BEGIN SELECT RAISE(ABORT, 'fixed'); END
      """)
    let before = try world.entries()
    try world.edit { list in
      let refused = failure { try list.swapAt(1, 2) }
      #expect(refused?.code == .rejected)
    }
    #expect(try world.entries() == before)
    try world.shell.execute("DROP TRIGGER fixed")
    try world.edit { try $0.swapAt(1, 2) }
    #expect(try world.tracks() == [1, 3, 2])
  }

  /// Positions are unique, and a row without an element has a position that no slot has.
  @Test func newPositionsContinueAfterRowsOutsideTheList() throws {
    let world = try AdoptedListWorld(.unique, entries: [(1, "0"), (2, "1")])
    try world.shell.execute("INSERT INTO Entry VALUES (1, NULL, 2)")
    try world.edit { try $0.append(.integer(9)) }
    try world.edit { try $0.swapAt(0, 1) }
    #expect(try world.tracks() == [2, 1, 9])
    try world.edit { list in
      try list.removeLast()
      try list.insert(.integer(7), at: 2)
      try list.move(from: 0, to: 2)
    }
    #expect(try world.tracks() == [1, 7, 2])
    try world.edit { list in
      try list.removeAll()
      try list.append(contentsOf: [.integer(3), .integer(4), .integer(5)])
      try list.assign([.integer(3), .integer(6), .integer(7), .integer(8)])
    }
    #expect(try world.tracks() == [3, 6, 7, 8])
    let rows = try world.shell.rows("SELECT TrackId FROM Entry WHERE Position = 2")
    #expect(rows == [[.null]])
  }

  /// Rows without an element are parked behind the list: next to it, far away, and where nothing
  /// can come behind them.
  @Test func newPositionsDoNotFollowRowsThatAreParkedFarBehind() throws {
    let world = try AdoptedListWorld(.unique, entries: [(1, "0"), (2, "1")])
    try world.shell.execute(
      "INSERT INTO Entry VALUES (1, NULL, 3), (1, NULL, 999999), (1, NULL, \(Int64.max))")
    try world.edit { try $0.append(.integer(9)) }
    try world.edit { try $0.append(contentsOf: [.integer(3), .integer(4)]) }
    try world.edit { list in
      try list.swapAt(0, 4)
      try list.append(.integer(5))
    }
    let entries: [[SQLValue]] = [
      [.integer(4), .integer(0)], [.integer(2), .integer(1)], [.integer(9), .integer(2)],
      [.null, .integer(3)], [.integer(3), .integer(4)], [.integer(1), .integer(5)],
      [.integer(5), .integer(6)], [.null, .integer(999_999)], [.null, .integer(.max)],
    ]
    #expect(try world.entries() == entries)
    // An empty list begins where it would without them.
    try world.edit { list in
      try list.removeAll()
      try list.append(contentsOf: [.integer(7), .integer(8)])
      try list.assign([.integer(8), .integer(7), .integer(6), .integer(5)])
    }
    #expect(try world.tracks() == [8, 7, 6, 5])
    let parked = try world.shell.rows(
      "SELECT Position FROM Entry WHERE TrackId IS NULL ORDER BY Position")
    #expect(parked == [[.integer(3)], [.integer(999_999)], [.integer(.max)]])
    #expect(try world.entries().dropLast(2).allSatisfy { $0[1].number < 10 })
  }

  @Test func nullIsNotAnElement() throws {
    let world = try AdoptedListWorld(.keyless, entries: [(1, "0")])
    try world.edit { list in
      let appended = failure { try list.append(.null) }
      let replaced = failure { try list.replace(at: 0, with: .null) }
      #expect(appended?.code == .invalidValue)
      #expect(replaced?.code == .invalidValue)
    }
    #expect(try world.entries() == [[.integer(1), .integer(0)]])
  }

  @Test func makingRoomWritesFewRows() throws {
    let count: Int64 = 2_000
    let world = try AdoptedListWorld()
    try world.shell.execute(
      """
      WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
      INSERT INTO Entry(\"Playlist Id\", TrackId, Position) SELECT 1, 1 + i % 9, i FROM n
      """)
    var random = SeededGenerator(seed: 7)
    var writes: Int64 = 0
    for _ in 0..<500 {
      let before = try world.store.engine.connections.writer.sync { $0.connection.totalChangeCount }
      let place = Int.random(in: 0..<Int(count), using: &random)
      try world.edit { try $0.move(from: place, to: Int(count) / 2) }
      writes +=
        try world.store.engine.connections.writer.sync { $0.connection.totalChangeCount } - before
    }
    // Positions 0, 1, 2 … have no room at all: the first move spreads all rows, the others few.
    #expect(writes < 500 * 30, "\(writes) rows")
  }
}

// Adopting.
extension AdoptedListTests {
  @Test func theFileRemembersTheList() throws {
    for design in Design.allCases {
      let world = try AdoptedListWorld(design, entries: [(1, "1"), (2, "2")])
      let slots = try world.store.schema.model(named: "Playlist.tracks")
      world.store.close()
      let again = try Store(at: world.directory.file("other.db"))
      #expect(try again.schema.model(named: "Playlist.tracks") == slots)
      #expect(try again.checkIntegrity() == [])
      let playlist = try again.schema.model(named: "Playlist")
      #expect(playlist.lists == [AdoptedListWorld.list()])
      try again.write { tx in
        try tx.list("tracks", of: playlist, key: .integer(1)).swapAt(0, 1)
      }
      let rows = try again.fetch(
        StoreQuery<DynamicRecord>(
          slots, orderings: [QueryOrdering(fieldIndex: slots.fields.count - 1)]))
      #expect(Set(rows.map { $0["TrackId"] }) == [.integer(1), .integer(2)])
      let live = try again.liveQuery(StoreQuery<DynamicRecord>(slots))
      #expect(live.count == 2)
      #expect(live.plan == .incremental)
    }
  }

  @Test func aTableThatCannotBeAListIsRefusedWithTheReason() throws {
    let directory = try TemporaryDirectory()
    try PlainDatabase(directory.file("other.db")).execute(
      """
      CREATE TABLE Playlist(Id INTEGER PRIMARY KEY);
      CREATE TABLE Track(Id INTEGER PRIMARY KEY);
      CREATE TABLE PlaylistTrack(PlaylistId, TrackId, Place TEXT, n NOT NULL DEFAULT 1);
      CREATE TABLE Strict(p INT, t INT, n INT NOT NULL, o INT);
      CREATE TABLE Bare(p INT, t INT, n INT, PRIMARY KEY (p, n)) WITHOUT ROWID;
      CREATE VIEW Seen AS SELECT 1 AS p, 2 AS t, 3 AS n;
      """)
    let store = try Store(at: directory.file("other.db"))
    try store.adopt(["Playlist", "Track"])
    let attempts: [(table: String, columns: ListSchema.Columns, reason: String)] = [
      ("Nothing", .init(owner: "p", element: "t", position: "n"), "There is no table Nothing."),
      (
        "PlaylistTrack", .init(owner: "PlaylistId", element: "TrackId", position: "Position"),
        "PlaylistTrack has no column Position."
      ),
      (
        "PlaylistTrack", .init(owner: "PlaylistId", element: "TrackId", position: "Place"),
        "The column Place of PlaylistTrack is not declared to hold integers."
      ),
      (
        "Strict", .init(owner: "p", element: "t", position: "o"),
        "The column n of Strict is NOT NULL without a default, so no slot could be added."
      ),
      (
        "Strict", .init(owner: "p", element: "P", position: "n"),
        "The column P of Strict cannot have two roles."
      ),
      (
        "Bare", .init(owner: "p", element: "t", position: "n"),
        "Bare is WITHOUT ROWID, so its rows have no number."
      ),
      ("Seen", .init(owner: "p", element: "t", position: "n"), "Seen is a view."),
    ]
    for attempt in attempts {
      let error = #expect(throws: StoreError.self) {
        try store.adopt(
          AdoptedListWorld.list(table: attempt.table, attempt.columns), of: "Playlist")
      }
      #expect(error?.code == .unsupportedSchema)
      #expect(error?.message == "Playlist.tracks cannot be a list. \(attempt.reason)")
    }
    #expect(store.schema.models.map(\.name) == ["Playlist", "Track"])
  }

  @Test func aTableThatIsAlreadyInUseIsNotAdoptedAsAList() throws {
    let world = try AdoptedListWorld()
    let twice = #expect(throws: StoreError.self) {
      try world.store.adopt(AdoptedListWorld.list(), of: "Playlist")
    }
    #expect(twice?.code == .configurationConflict)
    var other = AdoptedListWorld.list()
    other.name = "entries"
    let taken = #expect(throws: StoreError.self) { try world.store.adopt(other, of: "Playlist") }
    #expect(taken?.code == .configurationConflict)
    #expect(taken?.message.contains("the list Playlist.tracks") ?? false)
  }

  @Test func aSwiftModelDeclaresItsListInATableOfAMigration() throws {
    let directory = try TemporaryDirectory()
    let migration = Migration(
      version: 1, name: "entries",
      sql: "CREATE TABLE setlist(gig INTEGER, song INTEGER, nr INTEGER)")
    func open() throws -> Store {
      try Store(
        at: directory.file("gigs.store"), models: Song.self, Gig.self, migrations: [migration])
    }
    let store = try open()
    try store.write { tx in
      for id in 1...3 as ClosedRange<Int64> { try tx.insert(Song(id: id, title: "s\(id)")) }
      try tx.insert(Gig(id: 1))
      let songs = try tx.list(\Gig.songs, of: 1)
      try songs.append(contentsOf: [1, 2, 3])
      try songs.move(from: 2, to: 0)
    }
    #expect(try store.read { try $0.keys(of: \Gig.songs, of: 1) } == [3, 1, 2])
    store.close()
    let again = try open()
    #expect(try again.read { try $0.keys(of: \Gig.songs, of: 1) } == [3, 1, 2])
    #expect(
      try PlainDatabase(directory.file("gigs.store")).rows(
        "SELECT song FROM setlist WHERE gig = 1 ORDER BY nr") == [
          [.integer(3)], [.integer(1)], [.integer(2)],
        ])
  }
}

struct Gig: Model {
  var id: Int64
  var songs = OrderedList<Song>()

  static let definition = ModelDefinition<Gig>(
    "Gig", key: \.id, fields: [.init("id", \.id)],
    lists: [
      .init(
        "songs", \.songs, in: "setlist",
        columns: .init(owner: "gig", element: "song", position: "nr"))
    ])

  var key: Int64 { id }

  init(id: Int64) { self.id = id }
  init(row: borrowing RowView) throws { id = try row.decode(at: 0) }
  func encode(to arguments: inout ArgumentWriter) throws { try id.encode(to: &arguments, at: 0) }
}
