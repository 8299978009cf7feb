import Testing

@testable import ModelStore

/// One statement that sets several fields of many records.
@Suite(.tags(.unit)) struct BulkUpdateTests {
  @Test func itSetsEachFieldOfEachRecord() throws {
    let shop = try MusicShop()
    let changes = try shop.store.writeReturningChanges { tx in
      let count = try tx.update(Album.where { $0.id >= 2 }) {
        $0.set(\.title, to: "new")
        $0.set(\.artistID, to: nil)
        $0.set(\.title, to: "two")
      }
      #expect(count == 2)
    }.changes
    // Album 2 has the title already, and album 3 no artist.
    #expect(
      changes.changes.map { "\($0.key) \($0.fields.map(\.name))" } == [
        "[2] [\"artistID\", \"artistName\"]", "[3] [\"title\"]",
      ])
    #expect(
      try shop.store.fetch(Album.all) == [
        Album(id: 1, title: "one", artistID: 1, artistName: "Miles"), Album(id: 2, title: "two"),
        Album(id: 3, title: "two"),
      ])
  }

  @Test func observersReceiveWhatSingleUpdatesWouldSend() throws {
    func told(_ write: (borrowing WriteTransaction) throws -> Void) throws -> [String] {
      let shop = try MusicShop()
      let told = shop.told
      let observations = [
        try shop.store.observe(.field(\Album.title, of: 1)) { told.add("1 \($0.text)") },
        try shop.store.observe(.field(\Album.title, of: 2)) { told.add("2 \($0.text)") },
        try shop.store.observe(.field(\Album.artistName, of: 2)) { told.add("name \($0.text)") },
        try shop.store.observe(.model(Album.self)) { event in
          for change in event.changes {
            told.add("model \(change.old as Any) \(change.new as Any)")
          }
        },
      ]
      try shop.store.write(write)
      let news = shop.news()
      withExtendedLifetime(observations) {}
      return news
    }
    let one = try told { tx in
      try tx.update(Album.where { $0.id <= 2 }) {
        $0.set(\.title, to: "x")
        $0.set(\.artistID, to: nil)
      }
    }
    let single = try told { tx in
      for id in [Int64(1), 2] {
        try tx.set(\Album.title, to: "x", for: id)
        try tx.set(\Album.artistID, to: nil, for: id)
      }
    }
    #expect(one == single)
    #expect(one.count == 5)
  }

  @Test func aValueThatCannotBeStoredChangesNothing() throws {
    let shop = try MusicShop()
    try shop.store.write { tx in
      let refused = failure {
        try tx.update(Album.all) {
          $0.set(\.title, to: "x")
          $0.set(\.isLong, to: true)
          $0.set(\.title, to: "y")
        }
      }
      #expect(refused?.code == .unknownField)
      let long = failure {
        try tx.update(Album.all) {
          $0.set(\.artistName, to: "x")
          $0.set(\.title, to: "")
        }
      }
      #expect(long?.code == .rejected)
      #expect(long?.violations.map(\.key) == [[.integer(1)], [.integer(2)], [.integer(3)]])
      let none = try tx.update(Album.all) { _ in }
      #expect(none == 0)
    }
    #expect(try shop.store.fetch(Album.all).map(\.title) == ["one", "two", "three"])
    #expect(try shop.store.fetch(Album.all).map(\.artistName) == ["Miles", "Miles", nil])
  }
}

extension Album {
  fileprivate var isLong: Bool { title.count > 10 }
}
