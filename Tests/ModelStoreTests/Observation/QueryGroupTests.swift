import Testing

@testable import ModelStore

/// Several live queries told together.
@Suite struct QueryGroupTests {
  private struct World {
    let directory: TemporaryDirectory
    let store: Store
    let artists: LiveQuery<Artist>
    let albums: LiveQuery<Album>
    let told = Recorder<String>()

    init() throws {
      directory = try TemporaryDirectory()
      store = try Store(
        at: directory.file("group.store"), models: Artist.self, Album.self,
        bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)])
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "a"))
        try tx.insert(Album(id: 1, title: "t", artistID: 1))
      }
      artists = try store.live(Artist.all.order { $0.name })
      albums = try store.live(Album.all.order { $0.title }.limit(1))
    }

    func observe() throws -> Subscription {
      try store.observe(artists, albums) { [told] artists, albums in
        func text<E>(_ changes: QueryChanges<E>?) -> String {
          guard let changes else { return "nil" }
          return "\(changes.newVersion - changes.oldVersion):-\(changes.deletions.map(\.index))"
            + "+\(changes.insertions.map(\.index))~\(changes.updates.flatMap { $0.fields.map(\.name) })"
        }
        told.add("\(text(artists)) | \(text(albums))")
      }
    }

    func events() -> [String] {
      store.waitForDelivery()
      return told.taken()
    }
  }

  @Test func oneCommitIsOneBatch() throws {
    let world = try World()
    let subscription = try world.observe()
    try world.store.write { tx in try tx.set(\Artist.name, to: "b", for: 1) }
    try world.store.write { tx in try tx.insert(Artist(id: 2, name: "c")) }
    try world.store.write { tx in try tx.insert(Album(id: 2, title: "s")) }
    #expect(
      world.events() == [
        "1:-[]+[]~[\"name\"] | 1:-[]+[]~[\"artistName\"]", "1:-[]+[1]~[] | nil",
        "nil | 1:-[0]+[0]~[]",
      ])
    try world.albums.moveWindow(offset: 1, limit: 1)
    #expect(world.events() == ["nil | 0:-[0]+[0]~[]"])
    subscription.cancel()
    try world.store.write { tx in try tx.delete(Artist.self, 1) }
    #expect(world.events() == [])
  }

  @Test func aSlowReaderGetsOneExactBatch() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("slow.store"), models: Artist.self, Album.self)
    let artists = try store.live(Artist.all)
    let albums = try store.live(Album.all)
    let gate = DispatchGate()
    let told = Recorder<[Int?]>()
    let blocking = try store.observe(Artist.self) { _ in gate.wait() }
    let subscription = try store.observe(artists, albums, backlog: .latest) { artists, albums in
      told.add([artists?.newCount, albums?.newCount])
    }
    for id in 1...3 as ClosedRange<Int64> {
      try store.write { tx in try tx.insert(Artist(id: id, name: "a")) }
    }
    try store.write { tx in try tx.insert(Album(id: 1, title: "t")) }
    for _ in 1...3 { gate.open() }
    store.waitForDelivery()
    #expect(told.events.last == [3, 1] || told.events == [[1, nil], [3, 1]])
    #expect(told.events.count <= 2)
    blocking.cancel()
    subscription.cancel()
  }
}
