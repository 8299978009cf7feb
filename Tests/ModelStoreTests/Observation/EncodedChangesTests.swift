import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// The form in which change sets are sent to a client. It is public: a client of another version
/// reads it.
@Suite(.tags(.unit)) struct EncodedChangesTests {
  struct Album: Model, Encodable {
    var id: Int64
    var title: String
    var year: Int64?

    static let definition = ModelDefinition<Album>(
      "Album", key: \.id,
      fields: [.init("id", \.id), .init("title", \.title), .init("year", \.year)])

    var key: Int64 { id }

    init(id: Int64, title: String, year: Int64?) {
      self.id = id
      self.title = title
      self.year = year
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      title = try row.decode(at: 1)
      year = try row.decode(at: 2)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try title.encode(to: &arguments, at: 1)
      try year.encode(to: &arguments, at: 2)
    }
  }

  private static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private static func store(_ directory: TemporaryDirectory) throws -> Store {
    let store = try Store(at: directory.file("albums.store"), models: Album.self)
    try store.write { tx in
      try tx.insert(Album(id: 1, title: "A", year: 1959))
      try tx.insert(Album(id: 2, title: "B", year: nil))
      try tx.insert(Album(id: 3, title: "C", year: 1970))
    }
    return store
  }

  @Test func anEventSaysWhatAClientNeedsToShowTheRows() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let live = try store.liveQuery(Album.all.order { $0.title })
    let texts = Recorder<String>()
    let subscription = try live.observe(options: .initial) { changes in
      do { texts.add(try Self.text(changes)) } catch { texts.add("\(error)") }
    }
    try store.write { tx in
      try tx.delete(Album.self, 1)
      try tx.insert(Album(id: 4, title: "D", year: nil))
      try tx.set(\Album.title, to: "0", for: 3)
      try tx.set(\Album.year, to: 1964, for: 2)
    }
    store.waitForDelivery()
    #expect(
      texts.events == [
        #"{"deletions":[],"insertions":[{"index":0,"key":1,"reason":"record","record":{"id":1,"title":"A","year":1959}},"#
          + #"{"index":1,"key":2,"reason":"record","record":{"id":2,"title":"B"}},"#
          + #"{"index":2,"key":3,"reason":"record","record":{"id":3,"title":"C","year":1970}}],"#
          + #""isInitial":true,"isReset":false,"moves":[],"newCount":3,"newVersion":2,"oldCount":0,"oldVersion":2,"refreshes":[],"updates":[]}"#,
        #"{"deletions":[{"index":0,"key":1,"reason":"record"}],"#
          + #""insertions":[{"index":2,"key":4,"reason":"record","record":{"id":4,"title":"D"}}],"#
          + #""isInitial":false,"isReset":false,"#
          + #""moves":[{"key":3,"newIndex":0,"oldIndex":2,"record":{"id":3,"title":"0","year":1970}}],"#
          + #""newCount":3,"newVersion":3,"oldCount":3,"oldVersion":2,"refreshes":[],"#
          + #""updates":[{"fields":["title"],"key":3,"newIndex":0,"oldIndex":2,"record":{"id":3,"title":"0","year":1970}},"#
          + #"{"fields":["year"],"key":2,"newIndex":1,"oldIndex":1,"record":{"id":2,"title":"B","year":1964}}]}"#,
      ])
    subscription.cancel()
  }

  @Test func aResetHasTheRecordsThatStayed() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let live = try store.liveQuery(Album.where { $0.id < 3 })
    let texts = Recorder<String>()
    let subscription = try live.observe { changes in
      do { texts.add(try Self.text(changes)) } catch { texts.add("\(error)") }
    }
    try PlainDatabase(store.path).execute("UPDATE Album SET title = 'X' WHERE id = 2")
    try store.refresh()
    store.waitForDelivery()
    #expect(
      texts.events.map {
        String($0.suffix(from: $0.range(of: #""refreshes""#)?.lowerBound ?? $0.startIndex))
      }
        == [
          #""refreshes":[{"key":1,"newIndex":0,"oldIndex":0,"record":{"id":1,"title":"A","year":1959}},"#
            + #"{"key":2,"newIndex":1,"oldIndex":1,"record":{"id":2,"title":"X"}}],"updates":[]}"#
        ])
    subscription.cancel()
  }

  @Test func keysAreTypedWhereTheRecordIsAModel() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let typed = Recorder<[Int64]>()
    let dynamic = Recorder<[[SQLValue]]>()
    let schema = try #require(store.schema.models.first)
    let subscriptions = [
      try store.liveQuery(Album.all).observe { typed.add($0.deletions.map(\.key)) },
      try store.liveQuery(StoreQuery<DynamicRecord>(schema)).observe {
        dynamic.add($0.deletions.map(\.key))
      },
    ]
    try store.write { tx in try tx.delete(Album.self, 2) }
    store.waitForDelivery()
    #expect(typed.events == [[2]])
    #expect(dynamic.events == [[[.integer(2)]]])
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func aDynamicRecordHasItsFieldsByName() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let schema = try #require(store.schema.models.first)
    let record = try #require(try store.fetch(StoreQuery<DynamicRecord>(schema)).first)
    #expect(
      try Self.text(record)
        == #"{"id":{"integer":1},"title":{"text":"A"},"year":{"integer":1959}}"#)
  }

  @Test func aListNamesItsElementsByKey() throws {
    let world = try ListWorld(songs: [1, 2, 3])
    let subscription = try world.observe(fields: [\Song.title])
    try world.store.write { tx in
      try tx.set(\Song.title, to: "x", for: 3)
      let list = try tx.list(\Mix.songs, of: 1)
      try list.removeLast()
      try list.move(from: 0, to: 1)
      try list.insert(5, at: 0)
      try tx.set(\Song.title, to: "y", for: 2)
    }
    world.store.waitForDelivery()
    #expect(
      try world.told.taken().map(Self.text) == [
        #"{"deletions":[{"index":2,"key":3}],"insertions":[{"index":0,"key":5}],"isInitial":false,"isReset":false,"#
          + #""moves":[{"key":1,"newIndex":2,"oldIndex":0}],"#
          + #""updates":[{"fields":["title"],"key":2,"newIndex":1,"oldIndex":1}]}"#
      ])
    subscription.cancel()
  }
}
