import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct ListEditorTests {
  @Test func randomEditsAgreeWithAnArray() throws {
    let seed: UInt64 = 20_261_121
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("list.store"), models: Song.self, Mix.self)
    try store.write { tx in
      for id in 1...9 { try tx.insert(Song(id: Int64(id))) }
      try tx.insert(Mix(id: 1))
      try tx.insert(Mix(id: 2))
    }
    var model: [Int64] = []
    for _ in 0..<400 {
      let song = Int64.random(in: 1...9, using: &random)
      let edit = Int.random(in: 0..<8, using: &random)
      let place = model.isEmpty ? 0 : Int.random(in: 0..<model.count, using: &random)
      let other = model.isEmpty ? 0 : Int.random(in: 0..<model.count, using: &random)
      try store.write { tx in
        let list = try tx.list(\Mix.songs, of: 1)
        switch edit {
        case 0, 1: try list.append(song)
        case 2: try list.insert(song, at: place)
        case 3 where !model.isEmpty: try list.remove(at: place)
        case 4 where !model.isEmpty: try list.move(from: place, to: other)
        case 5 where !model.isEmpty: try list.swapAt(place, other)
        case 6 where !model.isEmpty: try list.replace(at: place, with: song)
        case 7: try list.removeAll(equalTo: song)
        default: break
        }
      }
      switch edit {
      case 0, 1: model.append(song)
      case 2: model.insert(song, at: place)
      case 3 where !model.isEmpty: model.remove(at: place)
      case 4 where !model.isEmpty: model.insert(model.remove(at: place), at: other)
      case 5 where !model.isEmpty: model.swapAt(place, other)
      case 6 where !model.isEmpty: model[place] = song
      case 7: model.removeAll { $0 == song }
      default: break
      }
      #expect(try store.read { try $0.keys(of: \Mix.songs, of: 1) } == model)
    }
    #expect(try store.read { try $0.keys(of: \Mix.songs, of: 2) } == [])
  }

  @Test func aCrowdedPlaceIsSpreadWithoutChangingTheOrder() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("list.store"), models: Song.self, Mix.self)
    var model: [Int64] = []
    try store.write { tx in
      for id in 1...300 { try tx.insert(Song(id: Int64(id))) }
      try tx.insert(Mix(id: 1))
      let list = try tx.list(\Mix.songs, of: 1)
      try list.append(1)
      try list.append(2)
    }
    model = [1, 2]
    // Each insertion halves the same gap, so a step of 2^20 is used up after 20 of them.
    for id in 3...300 {
      try store.write { tx in try tx.list(\Mix.songs, of: 1).insert(Int64(id), at: 1) }
      model.insert(Int64(id), at: 1)
    }
    #expect(try store.read { try $0.keys(of: \Mix.songs, of: 1) } == model)
  }

  @Test func aMoveWritesOneRow() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("list.store"), models: Song.self, Mix.self)
    try store.write { tx in
      for id in 1...5 { try tx.insert(Song(id: Int64(id))) }
      try tx.insert(Mix(id: 1))
      let list = try tx.list(\Mix.songs, of: 1)
      for id in 1...5 { try list.append(Int64(id)) }
    }
    let report = try store.writeReturningChanges { tx in
      try tx.list(\Mix.songs, of: 1).move(from: 4, to: 0)
    }
    #expect(report.changes.changes.map(\.model) == ["Mix.songs"])
    #expect(report.changes.changes.first?.fields.map(\.name) == ["label"])
  }

  @Test func anIndexOutOfRangeIsRefused() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("list.store"), models: Song.self, Mix.self)
    try store.write { tx in try tx.insert(Mix(id: 1)) }
    let refusal = #expect(throws: StoreError.self) {
      try store.write { tx in try tx.list(\Mix.songs, of: 1).remove(at: 0) }
    }
    #expect(refusal?.code == .invalidValue)
  }

  @Test func aRefusedReplacementLeavesTheListAsItWas() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("list.store"), models: Song.self, Mix.self)
    try store.write { tx in
      try tx.insert(Song(id: 1))
      try tx.insert(Mix(id: 1))
      let list = try tx.list(\Mix.songs, of: 1)
      try list.append(1)
      let refusal = #expect(throws: StoreError.self) { try list.replace(at: 0, with: 2) }
      #expect(refusal?.code == .rejected)
    }
    #expect(try store.read { try $0.keys(of: \Mix.songs, of: 1) } == [1])
  }

  @Test(arguments: ["kept", "unkept", "observed"])
  func anEditThatATriggerIgnoresIsRefusedAndChangesNothing(mode: String) throws {
    let world = try ListWorld(songs: [1, 2, 3, 2, 4])
    let subscription = mode == "observed" ? try world.observe() : nil
    if mode == "kept" {
      try world.edit { try $0.move(from: 0, to: 1) }
      try world.edit { try $0.move(from: 1, to: 0) }
    }
    for event in ["INSERT", "UPDATE", "DELETE"] {
      let row = event == "INSERT" ? "NEW" : "OLD"
      // The second occurrence of 2, so that a part of each operation would happen.
      let condition =
        event == "INSERT"
        ? "NEW.element = 7"
        : "\(row).slot = (SELECT max(slot) FROM Mix_songs WHERE element = 2)"
      try PlainDatabase(world.store.path).execute(
        """
        CREATE TRIGGER ignore_\(event) BEFORE \(event) ON Mix_songs WHEN \(condition)
        BEGIN SELECT RAISE(IGNORE); END
        """)
    }
    try world.store.refresh()
    world.store.waitForDelivery()
    _ = world.told.taken()
    let edits: [(borrowing ListEditor<Int64>) throws -> Void] = [
      { try $0.append(7) }, { try $0.append(contentsOf: [8, 7]) }, { try $0.insert(7, at: 1) },
      { try $0.remove(at: 3) }, { try $0.removeAll() }, { _ = try $0.removeAll(equalTo: 2) },
      { try $0.swapAt(0, 3) }, { try $0.move(from: 3, to: 0) },
      { try $0.replace(at: 3, with: 9) },
      { try $0.assign([5]) }, { try $0.assign([1, 2, 3, 2, 4, 8, 7]) },
    ]
    for edit in edits {
      try world.store.write { tx in
        let list = try tx.list(\Mix.songs, of: 1)
        #expect(failure { try edit(list) }?.code == .rejected)
        #expect(try list.keys() == [1, 2, 3, 2, 4])
      }
      #expect(try world.keys() == [1, 2, 3, 2, 4])
      #expect(try world.keptOrderIsTrue())
    }
    world.store.waitForDelivery()
    #expect(world.told.taken().map(\.words) == [])
    try world.edit { try $0.removeLast() }
    try world.edit { try $0.insert(9, at: 1) }
    #expect(try world.keys() == [1, 9, 2, 3, 2])
    subscription?.cancel()
  }
}
