import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct StoreTests {
  @Test func aWriteFiresFieldAndCollectionEventsAndABindingFollows() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("music.store"), models: Artist.self, Album.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)])
    let recorder = Recorder<String>()
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Miles"))
      try tx.insert(Album(id: 1, title: "So What", artistID: 1))
      try tx.insert(Album(id: 2, title: "Blue", artistID: 1))
    }
    let names = try store.observe(\Album.artistName, of: 1) { change in
      recorder.add(
        "artistName \(change.old??.description ?? "-") → \(change.new??.description ?? "-") \(change.origin)"
      )
    }
    let live = try store.liveQuery(Album.all.order { $0.title })
    let list = try live.observe { changes in
      recorder.add(
        "deletions \(changes.deletions.map(\.index)) insertions \(changes.insertions.map(\.index)) moves \(changes.moves.map { [$0.oldIndex, $0.newIndex] }) updates \(changes.updates.map { [$0.oldIndex, $0.newIndex] })"
      )
    }
    try store.write { tx in try tx.set(\Artist.name, to: "Miles Davis", for: 1) }
    try store.write { tx in try tx.set(\Album.title, to: "Aura", for: 1) }
    #expect(throws: StoreError.self) {
      try store.write { tx in try tx.set(\Album.title, to: "", for: 1) }
    }
    store.waitForDelivery()
    #expect(
      recorder.events == [
        "artistName Miles → Miles Davis binding:Album.artistName",
        "deletions [] insertions [] moves [] updates [[0, 0], [1, 1]]",
        "deletions [] insertions [] moves [[1, 0]] updates [[1, 0]]",
      ])
    names.cancel()
    list.cancel()
    #expect(live.count == 2)
  }

  @Test func foreignWritesAreNoticed() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "a")])
  }
}
