import Testing

@testable import ModelStore

/// Records that share the list of another record.
@Suite(.tags(.unit)) struct SharedListTests {
  /// Plays the songs of a mix.
  struct Player: Model {
    var id: Int64
    var mixID: Int64?
    var songs = OrderedList<Song>()

    static let definition = ModelDefinition<Player>(
      "Player", key: \.id,
      fields: [
        .init("id", \.id),
        .init("mixID", \.mixID, reference: ReferenceSchema(table: "Mix", onDelete: .setNull)),
      ],
      lists: [ModelList("songs", \.songs, sharing: \Mix.songs, through: \.mixID)])

    var key: Int64 { id }

    init(id: Int64, mixID: Int64?) {
      self.id = id
      self.mixID = mixID
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      mixID = try row.decode(at: 1)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try mixID.encode(to: &arguments, at: 1)
    }
  }

  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(
      at: directory.file("shared.store"), models: Song.self, Mix.self, Player.self)
    try store.write { tx in
      for id in 1...3 { try tx.insert(Song(id: Int64(id), title: "song \(id)")) }
      try tx.insert(Mix(id: 7))
      try tx.insert(Player(id: 1, mixID: 7))
      try tx.insert(Player(id: 2, mixID: 7))
      try tx.insert(Player(id: 3, mixID: nil))
    }
  }

  @Test("JK32 two owners share one list: both receive an append, the old list has 0 elements")
  func bothOwnersReceiveIt() throws {
    let told = Recorder<String>()
    let subscriptions = try [Int64(1), 2].map { player in
      try store.observe(list: \Player.songs, of: player) { changes in
        told.add("\(player): \(changes.words), \(changes.old.count) → \(changes.new.count)")
      }
    }
    #expect(store.observations().count == 2)
    try store.write { tx in try tx.list(\Player.songs, of: 1).append(1) }
    store.waitForDelivery()
    #expect(
      told.taken() == ["1: append p1 NF→0 | +0, 0 → 1", "2: append p1 NF→0 | +0, 0 → 1"])
    for player in [Int64(1), 2] {
      #expect(try store.read { try $0.keys(of: \Player.songs, of: player) } == [1])
    }
    // The list itself is the mix's.
    try store.write { tx in try tx.list(\Mix.songs, of: 7).insert(2, at: 0) }
    store.waitForDelivery()
    #expect(
      told.taken() == ["1: insert p2 NF→0 | +0, 1 → 2", "2: insert p2 NF→0 | +0, 1 → 2"])
    for subscription in subscriptions { subscription.cancel() }
    #expect(store.observations().count == 0)
    #expect(store.engine.broker.interests().isEmpty)
  }

  @Test("deleting an owner keeps a shared list; deleting the record with the list removes it")
  func ownersAndTheHolderGo() throws {
    try store.write { tx in
      try tx.list(\Player.songs, of: 1).append(contentsOf: [1, 2])
      try tx.delete(Player.self, 1)
    }
    #expect(try store.read { try $0.keys(of: \Player.songs, of: 2) } == [1, 2])
    try store.write { tx in _ = try tx.delete(Mix.self, 7) }
    let refused = failure { try store.read { try $0.keys(of: \Player.songs, of: 2) } }
    #expect(
      refused?.message
        == "Player.mixID is not set, so it shares no list. Set it first.")
  }

  @Test("an owner without a list and a missing owner are refused")
  func ownersWithoutAList() throws {
    func refused(_ player: Int64) -> String? {
      failure {
        try store.write { tx in try tx.list(\Player.songs, of: player).append(1) }
      }?.message
    }
    #expect(
      refused(3) == "Player.mixID is not set, so it shares no list. Set it first.")
    #expect(refused(9) == "The Player does not exist, so it has no list.")
    #expect(failure { try store.liveList(\Player.songs, of: 3) }?.code == .recordNotFound)
  }

  @Test("an owner that starts to refer to another record gets the list of that record")
  func theReferenceChanges() throws {
    try store.write { tx in
      try tx.list(\Player.songs, of: 1).append(1)
      try tx.insert(Mix(id: 8))
      try tx.set(\Player.mixID, to: 8, for: 2)
      try tx.list(\Player.songs, of: 2).append(3)
    }
    #expect(try store.read { try $0.keys(of: \Player.songs, of: 1) } == [1])
    #expect(try store.read { try $0.keys(of: \Player.songs, of: 2) } == [3])
  }
}
