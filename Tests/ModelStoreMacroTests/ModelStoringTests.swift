internal import Foundation
internal import ModelStoreMacro
internal import Testing

@Suite(.tags(.unit)) struct ModelStoringTests {
  @Test func recordsOfDraftsAreFoundByTheirKeys() throws {
    try withStore { store in
      let (album, placement) = try store.write { transaction in
        let artist = try transaction.insert(Artist.Draft(name: "Miles Davis"))
        let album = try transaction.insert(
          Album.Draft(title: "Kind of Blue", artistID: artist.id, tags: JSON(["jazz"])))
        let placement = try transaction.insert(Placement(albumID: album.id, shelf: "A"))
        try transaction.set(\Artist.bestAlbumID, to: album.id, for: artist.id)
        return (album, placement)
      }
      #expect(
        album
          == Album(
            id: 1, title: "Kind of Blue", artistID: 1, format: .vinyl, tags: JSON(["jazz"])))
      #expect(try store.find(Album.self, 1) == album)
      #expect(
        try store.find(Placement.self, Placement.Key(albumID: 1, shelf: "A"))?.position
          == placement.position)
      #expect(try store.find(Artist.self, 1)?.bestAlbumID == 1)
    }
  }

  @Test func aReferenceCarriesOutItsActions() throws {
    try withStore { store in
      try store.write { transaction in
        try transaction.insert(Artist(id: 5, name: "Miles Davis"))
        try transaction.insert(Album(id: 9, title: "Kind of Blue", artistID: 5))
        try transaction.set(\Artist.bestAlbumID, to: 9, for: 5)
      }
      try store.write { transaction in
        _ = try transaction.delete(Album.self, 9)
      }
      #expect(try store.find(Artist.self, 5)?.bestAlbumID == .some(nil))
    }
  }

  @Test func everyWriterObeysTheRules() throws {
    try withStore { store in
      let refusal = #expect(throws: StoreError.self) {
        try store.write { transaction in
          try transaction.execute("INSERT INTO Artist (id, name) VALUES (1, '')")
        }
      }
      #expect(refusal?.code == .rejected)
    }
  }

  @Test func anOrderedListKeepsItsElementsInOrder() throws {
    try withStore { store in
      let list = Playlist.Draft(name: "Blue")
      let keys = try store.write { transaction in
        let artist = try transaction.insert(Artist.Draft(name: "Miles Davis"))
        let albums = try ["A", "B", "C"].map { title in
          try transaction.insert(Album.Draft(title: title, artistID: artist.id)).id
        }
        try transaction.insert(list)
        let editor = try transaction.list(\Playlist.albums, of: list.id)
        for album in albums { try editor.append(album) }
        try editor.move(from: 2, to: 0)
        try editor.append(albums[0])
        return albums
      }
      let stored = try store.read { try $0.keys(of: \Playlist.albums, of: list.id) }
      #expect(stored == [keys[2], keys[0], keys[1], keys[0]])
    }
  }

  private func withStore(_ body: (Store) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("ModelStoringTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: directory) } }
    let store = try Store(
      at: directory.appendingPathComponent("music.store").path,
      models: Artist.self, Album.self, Category.self, Placement.self, Playlist.self)
    defer { store.close() }
    try body(store)
  }
}
