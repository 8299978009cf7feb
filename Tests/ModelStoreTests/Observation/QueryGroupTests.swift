import Testing

@testable import ModelStore

/// Several live queries notified together.
@Suite(.tags(.unit)) struct QueryGroupTests {
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
      artists = try store.liveQuery(Artist.all.order { $0.name })
      albums = try store.liveQuery(Album.all.order { $0.title }.limit(1))
    }

    func observe() throws -> ObservationToken {
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
    let artists = try store.liveQuery(Artist.all)
    let albums = try store.liveQuery(Album.all)
    let gate = DispatchGate()
    let told = Recorder<[Int?]>()
    let blocking = try store.observe(Artist.self) { _ in gate.wait() }
    let subscription = try store.observe(artists, albums, coalescing: .latest) { artists, albums in
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

  @Test func listsQueriesAndRecordsAreOneBatch() throws {
    let world = try ListWorld(songs: [1, 2])
    let list = try world.store.liveList(\Mix.songs, of: 1, fields: [\Song.title])
    let titles = try world.store.liveQuery(Song.all.order { $0.title }.limit(2))
    let song = try world.store.liveQuery(Song.where { $0.id == 2 })
    let told = Recorder<String>()
    let subscription = try world.store.observe(list, titles, song, options: .initial) {
      list, titles, song in
      let parts = [
        list.map { "\($0.words) \($0.isInitial)" },
        titles.map { "-\($0.deletions.map(\.index))+\($0.insertions.map(\.index))" },
        song.map { "\($0.updates.map { $0.new.title })" },
      ]
      told.add(parts.map { $0 ?? "nil" }.joined(separator: "; "))
    }
    world.store.waitForDelivery()
    #expect(told.taken() == ["unknown | +0 +1 true; -[]+[0, 1]; []"])
    try world.store.write { tx in
      try tx.list(\Mix.songs, of: 1).move(from: 1, to: 0)
      try tx.set(\Song.title, to: "a", for: 2)
    }
    // Only a list; only a query; a list that is as it was.
    try world.edit { try $0.append(3) }
    try world.store.write { try $0.insert(Song(id: 10, title: "A")) }
    try world.edit {
      try $0.append(4)
      try $0.removeLast()
    }
    world.store.waitForDelivery()
    #expect(
      told.taken() == [
        "move p2 1→0 | 1→0 1=0 p2 title 'song 2'→'a' false; -[]+[]; [\"a\"]",
        "append p3 NF→2 | +2 false; nil; nil", "nil; -[1]+[0]; nil",
      ])
    subscription.cancel()
  }

  @Test func aSlowReaderGetsOneExactBatchOfAList() throws {
    let world = try ListWorld(songs: [1, 2])
    let list = try world.store.liveList(\Mix.songs, of: 1)
    let songs = try world.store.liveQuery(Song.where { $0.plays > 0 })
    let told = Recorder<String>()
    let subscription = try world.store.observe(list, songs, coalescing: .latest) { list, songs in
      told.add("\(list?.words ?? "nil"); \(songs.map { "+\($0.insertions.count)" } ?? "nil")")
    }
    subscription.pause()
    try world.edit { try $0.append(3) }
    try world.store.write { try $0.set(\Song.plays, to: 1, for: 5) }
    try world.edit { try $0.remove(at: 0) }
    subscription.resume()
    world.store.waitForDelivery()
    #expect(told.taken() == ["append p3 NF→2, remove p1 0→NF | -0 +1; +1"])
    subscription.pause()
    try world.edit { try $0.append(3) }
    try world.edit { try $0.removeLast() }
    subscription.resume()
    world.store.waitForDelivery()
    #expect(told.taken() == [])
    subscription.cancel()
  }

  @Test func observersOfTheSameListShareIt() throws {
    let world = try ListWorld(songs: [1, 2])
    func live(_ fields: [any PartialKeyPath<Song> & Sendable] = []) throws -> LiveList<Int64> {
      try world.store.liveList(\Mix.songs, of: 1, fields: fields)
    }
    let list = try live()
    #expect(try live().list === list.list)
    #expect(try live([\Song.title]).list !== list.list)
    let told = Recorder<[Int64]>()
    let one = try list.observe { told.add([1] + ((try? $0.new.keys()) ?? [])) }
    let two = try live().observe(options: .initial) { told.add([2] + ((try? $0.new.keys()) ?? [])) }
    try world.edit { try $0.append(3) }
    #expect(told.taken() == [[2, 1, 2], [1, 1, 2, 3], [2, 1, 2, 3]])
    one.cancel()
    try world.edit { try $0.removeLast() }
    #expect(told.taken() == [[2, 1, 2]])
    #expect(try list.contents.keys() == [1, 2])
    two.cancel()
  }
}
