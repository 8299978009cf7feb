import Foundation
import Observation
import Testing

@testable import ModelStore

/// Lists of records as the standard library's Observation sees them.
@Suite(.tags(.unit)) struct LiveRecordsTests {
  private func titles(_ list: LiveRecords<Album>) -> [String] { list.records.map(\.title) }

  private func track(_ shop: MusicShop, _ list: LiveRecords<Album>) {
    withObservationTracking {
      _ = list.records
    } onChange: {
      // The new records are there already when the change is announced.
      shop.told.add(list.records.map(\.title).joined(separator: " "))
    }
  }

  @Test func theListIsWhatTheQueryWouldFetch() throws {
    let shop = try MusicShop()
    let query = Album.where { $0.title != "gone" }.order { $0.title }
    let list = try shop.store.liveRecords(query)
    #expect(list.query == query)
    #expect(try shop.store.fetch(query) == list.records)
    #expect(titles(list) == ["one", "three", "two"])
    try shop.store.write { tx in
      try tx.insert(Album(id: 4, title: "a"))
      try tx.set(\Album.title, to: "z", for: 1)
      try tx.set(\Album.title, to: "gone", for: 2)
      try tx.set(\Album.artistID, to: 1, for: 3)
    }
    shop.settle()
    #expect(try shop.store.fetch(query) == list.records)
    #expect(titles(list) == ["a", "three", "z"])
    try shop.store.write { tx in _ = try tx.delete(Album.all) }
    shop.settle()
    #expect(titles(list) == [])
  }

  @Test func readersAreNotifiedOnceAndReadTheNewRecords() throws {
    let shop = try MusicShop()
    let list = try shop.store.liveRecords(Album.where { $0.id <= 2 })
    track(shop, list)
    try shop.setTitle("new", of: 3)
    #expect(shop.news() == [])
    try shop.setTitle("new", of: 2)
    #expect(shop.news() == ["one new"])
    try shop.setTitle("newer", of: 2)
    #expect(shop.news() == [])
    track(shop, list)
    try shop.setArtist("Davis")
    #expect(shop.news() == ["one newer"])
    #expect(list.records.map(\.artistName) == ["Davis", "Davis"])
  }

  @Test func observationsGiveEachState() async throws {
    let shop = try MusicShop()
    let list = try await shop.store.liveRecords(Album.where { $0.artistID == nil })
    var iterator = Observations { list.records.map(\.title) }.makeAsyncIterator()
    #expect(await iterator.next() == ["three"])
    try await shop.store.write { tx in _ = try tx.insert(Album(id: 4, title: "four")) }
    #expect(await iterator.next() == ["three", "four"])
    try await shop.store.write { tx in try tx.set(\Album.title, to: "3", for: 3) }
    #expect(await iterator.next() == ["3", "four"])
  }

  /// Another program's commits without a journal are reported as a reset, which does not list
  /// what became of the rows that stayed.
  @Test func aResetReadsTheListAgain() throws {
    let shop = try MusicShop()
    let list = try shop.store.liveRecords(Album.all)
    track(shop, list)
    try PlainDatabase(shop.store.path).execute(
      "BEGIN; UPDATE Album SET title = 'x' WHERE id = 1; DELETE FROM Album WHERE id = 2; COMMIT")
    try shop.store.refresh()
    #expect(shop.news() == ["x three"])
    track(shop, list)
    try shop.setTitle("y")
    #expect(shop.news() == ["y three"])
    #expect(try shop.store.fetch(Album.all) == list.records)
  }

  @Test func aWindowFollowsItsEdges() throws {
    let shop = try MusicShop()
    let list = try shop.store.liveRecords(Album.all.order { $0.title }.limit(2, offset: 1))
    #expect(titles(list) == ["three", "two"])
    try shop.store.write { tx in try tx.insert(Album(id: 4, title: "a")) }
    shop.settle()
    #expect(titles(list) == ["one", "three"])
  }

  @Test func aListWithARecordThatDoesNotFitStaysAsItWas() throws {
    let directory = try TemporaryDirectory()
    let failures = Recorder<StoreError.Code>()
    let store = try Store(at: directory.file("moods.store"), models: Mood.self) { error in
      failures.add(error.code)
    }
    try store.write { tx in try tx.insert(Mood(id: 1, name: "calm")) }
    let list = try store.liveRecords(Mood.all)
    func names(after sql: SQLText) throws -> [String] {
      try store.write { tx in try tx.execute(sql) }
      store.waitForDelivery()
      return list.records.map(\.name)
    }
    #expect(try names(after: "INSERT INTO Mood VALUES (2, 'odd')") == ["calm"])
    #expect(failures.taken() == [.invalidValue])
    // The list misses a record now, so it is read again, which fails too.
    #expect(try names(after: "UPDATE Mood SET name = 'glad' WHERE id = 1") == ["calm"])
    #expect(failures.taken() == [.invalidValue])
    #expect(try names(after: "INSERT INTO Mood VALUES (3, 'merry')") == ["calm"])
    #expect(failures.taken() == [.invalidValue])
    #expect(
      try names(after: "UPDATE Mood SET name = 'even' WHERE id = 2") == ["glad", "even", "merry"])
    #expect(try names(after: "DELETE FROM Mood WHERE id = 1") == ["even", "merry"])
    #expect(failures.taken() == [])
  }

  @Test func aListEndsWhenItIsDropped() throws {
    let shop = try MusicShop()
    var list: LiveRecords<Album>? = try shop.store.liveRecords(Album.all)
    #expect(shop.registry == ["Album"])
    withExtendedLifetime(list) {}
    list = nil
    #expect(shop.registry == [])
    try shop.setTitle("a")
  }

  @Test func aListKeepsItsRecordsWhenTheStoreCloses() throws {
    let shop = try MusicShop()
    let list = try shop.store.liveRecords(Album.all)
    shop.store.close()
    #expect(titles(list) == ["one", "two", "three"])
  }

  @Test func aListCanBeReadWhereverItIsNotified() throws {
    let shop = try MusicShop()
    let list = try shop.store.liveRecords(Album.all)
    let store = shop.store
    withObservationTracking {
      _ = list.records
    } onChange: {
      // A write that answers another one.
      do {
        try store.write { tx in try tx.set(\Album.title, to: "answer", for: 3) }
      } catch {
        Issue.record(error)
      }
    }
    try PlainDatabase(shop.store.path).execute("UPDATE Album SET title = 'x' WHERE id = 1")
    try shop.store.refresh()
    shop.settle()
    #expect(titles(list) == ["x", "two", "answer"])
  }

  @Test func insideAWriteAListIsNotSettled() throws {
    let shop = try MusicShop()
    let refused = failure {
      try shop.store.write { _ in _ = try shop.store.liveRecords(Album.all) }
    }
    #expect(refused?.code == .misuse)
    #expect(shop.registry == [])
  }
}

/// A model that refuses one of the values that its table accepts.
private struct Mood: Model {
  var id: Int64
  var name: String

  static let definition = ModelDefinition<Mood>(
    "Mood", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])

  var key: Int64 { id }

  init(id: Int64, name: String) {
    self.id = id
    self.name = name
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
    if name == "odd" { throw ColumnError(column: 1, problem: .unrepresentable("an odd mood")) }
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try name.encode(to: &arguments, at: 1)
  }
}
