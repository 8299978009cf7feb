import Foundation
import Observation
import Synchronization
import Testing

@testable import ModelStore

/// Records as the standard library's Observation sees them.
@Suite(.tags(.unit)) struct LiveRecordTests {
  @Test func aLiveRecordShowsTheCurrentRecord() throws {
    let shop = try MusicShop()
    let album = try shop.store.liveRecord(Album.self, 1)
    #expect(album.title == "one")
    #expect(album.artistName == "Miles")
    #expect(album.record == Album(id: 1, title: "one", artistID: 1, artistName: "Miles"))
    try shop.setTitle("two")
    shop.store.waitForDelivery()
    #expect(album.title == "two")
    try shop.store.write { tx in _ = try tx.delete(Album.self, 1) }
    shop.store.waitForDelivery()
    #expect(album.title == nil)
    #expect(album.record == nil)
    try shop.store.write { tx in _ = try tx.insert(Album(id: 1, title: "back")) }
    shop.store.waitForDelivery()
    #expect(album.title == "back")
    #expect(album.key == 1)
  }

  @Test func onlyReadersOfAChangedFieldAreNotified() throws {
    let shop = try MusicShop()
    let album = try shop.store.liveRecord(Album.self, 1)
    func track(_ name: String, _ read: () -> Void) {
      withObservationTracking(read) { shop.told.add(name) }
    }
    track("title") { _ = album.title }
    track("artist") { _ = album.artistName }
    track("record") { _ = album.record }
    track("computed") { _ = album.isLong }
    track("nothing") {}
    try shop.setArtist("Davis")
    #expect(shop.news().sorted() == ["artist", "computed", "record"])
    try shop.setTitle("two")
    #expect(shop.news() == ["title"])
    // Each is notified once; reading again registers for the next change.
    try shop.setTitle("three")
    #expect(shop.news() == [])
    try shop.store.write { tx in try tx.set(\Album.title, to: "other", for: 2) }
    track("title") { _ = album.title }
    try shop.store.write { tx in try tx.set(\Album.title, to: "another", for: 2) }
    #expect(shop.news() == [])
    try shop.store.write { tx in _ = try tx.delete(Album.self, 1) }
    #expect(shop.news() == ["title"])
  }

  /// With the value stored after the announcement, a reader on another thread could read the old
  /// one, be registered too late, and never be notified of the new one.
  @Test func aNotifiedReaderReadsTheNewValue() throws {
    let shop = try MusicShop()
    let album = try shop.store.liveRecord(Album.self, 1)
    withObservationTracking {
      _ = album.title
    } onChange: {
      shop.told.add(album.title ?? "none")
    }
    try shop.setTitle("new")
    #expect(shop.news() == ["new"])
  }

  @Test func observationsGiveEachState() async throws {
    let shop = try MusicShop()
    let album = try await shop.store.liveRecord(Album.self, 1)
    let titles = Observations { album.title }
    var iterator = titles.makeAsyncIterator()
    #expect(await iterator.next() == "one")
    try await shop.store.write { tx in try tx.set(\Album.title, to: "two", for: 1) }
    #expect(await iterator.next() == "two")
    try await shop.store.write { tx in try tx.set(\Album.artistID, to: nil, for: 1) }
    try await shop.store.write { tx in try tx.set(\Album.title, to: "three", for: 1) }
    #expect(await iterator.next() == "three")
  }

  @Test func aLiveRecordFollowsForeignCommits() throws {
    let shop = try MusicShop()
    let album = try shop.store.liveRecord(Album.self, 1)
    withObservationTracking {
      _ = album.artistName
    } onChange: {
      shop.told.add("artist")
    }
    withObservationTracking {
      _ = album.title
    } onChange: {
      shop.told.add("title")
    }
    try PlainDatabase(shop.store.path).execute("UPDATE Album SET title = 'x' WHERE id = 1")
    try shop.store.refresh()
    #expect(shop.news() == ["title"])
    #expect(album.title == "x")
  }

  @Test func aLiveRecordEndsWhenItIsDropped() throws {
    let shop = try MusicShop()
    var album: LiveRecord<Album>? = try shop.store.liveRecord(Album.self, 1)
    #expect(shop.registry == ["Album[1]"])
    withExtendedLifetime(album) {}
    album = nil
    #expect(shop.registry == [])
    try shop.setTitle("a")
  }

  @Test func insideAWriteARecordIsNotSettled() throws {
    let shop = try MusicShop()
    let refused = failure {
      try shop.store.write { _ in _ = try shop.store.liveRecord(Album.self, 1) }
    }
    #expect(refused?.code == .misuse)
    #expect(shop.registry == [])
  }

  @Test func aLiveRecordDoesNotKeepTheStoreOpen() throws {
    let album: LiveRecord<Album>
    weak var engine: StoreEngine?
    do {
      let shop = try MusicShop()
      engine = shop.store.engine
      album = try shop.store.liveRecord(Album.self, 1)
    }
    // A poll for other processes' commits that was running may hold it last.
    while engine != nil { sched_yield() }
    #expect(album.title == "one")
  }

  @Test func aRecordThatCannotBeDecodedKeepsItsLastValue() throws {
    let shop = try MusicShop()
    let album = try shop.store.liveRecord(Album.self, 1)
    try PlainDatabase(shop.store.path).execute(
      "UPDATE Album SET title = CAST(x'FF' AS TEXT), artistID = NULL WHERE id = 1")
    try shop.store.refresh()
    shop.store.waitForDelivery()
    #expect(album.artistID == 1)
    #expect(shop.failures.events == ["invalidValue"])
  }

  @Test func readersAndWritersOnManyThreads() async throws {
    let shop = try MusicShop { $0.durability = .normal }
    let album = try await shop.store.liveRecord(Album.self, 1)
    let store = shop.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<200 {
          try await store.write { tx in
            try tx.update(Album(id: 1, title: "\(number)", artistID: number % 2 == 0 ? nil : 1))
          }
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<500 {
            let told = Mutex(false)
            withObservationTracking {
              if let record = album.record, let number = Int(record.title) {
                #expect(record.artistID == (number % 2 == 0 ? nil : 1))
              }
            } onChange: {
              told.withLock { $0 = true }
            }
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    await store.waitForDelivery()
    #expect(album.title == "199")
  }
}

extension Album {
  fileprivate var isLong: Bool { title.count > 10 }
}
