import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Models that are read and written by their `Codable` conformance.
@Suite(.tags(.unit)) struct CodableModelTests {
  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(
      at: directory.file("coded.store"),
      models: [Everything.self, Rack.self, Volume.self],
      bindings: [
        .aggregate(.count, into: \Rack.bookCount, through: \Volume.rackID)
      ])
  }

  @Test func everyColumnValueComesBack() throws {
    let bare = Everything.bare
    try store.write { tx in
      try tx.insert(Everything.full)
      // The same statement again: what is nil must not keep the argument of the record before.
      try tx.insert(bare)
    }
    #expect(try store.find(Everything.self, Everything.full.id) == .full)
    #expect(try store.find(Everything.self, bare.id) == bare)
    try store.write { tx in
      var changed = Everything.full
      changed.maybeDate = nil
      changed.level = .low
      try tx.update(changed)
      try tx.upsert(bare)
    }
    var expected = Everything.full
    expected.maybeDate = nil
    expected.level = .low
    #expect(try store.find(Everything.self, expected.id) == expected)
    #expect(try Set(store.fetch(Everything.all)) == [expected, bare])
  }

  @Test func columnsKeepTheEncodingOfTheStore() throws {
    try store.write { tx in try tx.insert(Everything.full) }
    let row = try #require(
      try store.read { tx in
        try tx.rows(
          "SELECT id, isOpen, data, date, link, price, place, level, rank, token FROM Everything")
      }.first)
    #expect(
      row.values == [
        .text("4C1A33F2-95C0-4F5C-A2A8-2D4F0A3D5F10"), .integer(1), .blob([1, 2]),
        .real(0.1 + 0.2), .text("https://example.org/a?b=c"), .text("0.1"),
        .text(#"{"floor":2,"name":"hall"}"#), .text("high"), .integer(2), .text("kept"),
      ])
  }

  @Test func itIsObservedQueriedAndBoundAsAnyModel() throws {
    let log = Mutex<[String]>([])
    let live = try store.liveQuery(Rack.where { $0.name.like("s%") }.order { $0.name })
    let token = try live.observe { changes in
      log.withLock { $0.append("\(changes.insertions.map(\.index)) \(changes.updates.count)") }
    }
    let field = try store.observe(\Rack.bookCount, of: 1) { event in
      log.withLock { $0.append("count \(event.newValue ?? -1)") }
    }
    try store.write { tx in
      try tx.insert(Rack(id: 1, name: "south"))
      try tx.insert(Rack(id: 2, name: "north"))
    }
    try store.write { tx in try tx.insert(Volume(id: 1, title: "Gifts", rackID: 1)) }
    store.waitForDelivery()
    #expect(log.withLock { $0 }.sorted() == ["[0] 0", "[] 1", "count 0", "count 1"])
    #expect(try store.fetch(Rack.all.order { $0.name }).map(\.bookCount) == [0, 1])
    #expect(live.key(at: 0) == [.integer(1)])
    token.cancel()
    field.cancel()
  }

  @Test func aListIsNeitherReadNorWrittenWithItsRecord() throws {
    try store.write { tx in
      try tx.insert(Rack(id: 1, name: "south"))
      try tx.insert(Volume(id: 1, title: "Gifts", rackID: 1))
      let list = try tx.list(\Volume.neighbours, of: 1)
      try list.append(1)
    }
    let volume = try #require(try store.find(Volume.self, 1))
    #expect(volume == Volume(id: 1, title: "Gifts", rackID: 1))
    let text = String(decoding: try JSONEncoder().encode(volume), as: UTF8.self)
    #expect(!text.contains("neighbours"))
    #expect(try JSONDecoder().decode(Volume.self, from: Data(text.utf8)) == volume)
  }

  @Test func jsonIsEncodedWithoutAWrapper() throws {
    let value = JSON([1, 2])
    let data = try JSONEncoder().encode(["a": value])
    #expect(String(decoding: data, as: UTF8.self) == #"{"a":[1,2]}"#)
    #expect(try JSONDecoder().decode([String: JSON<[Int]>].self, from: data) == ["a": value])
  }

  @Test func anUnfitValueNamesModelFieldAndRecord() throws {
    try store.write { tx in
      try tx.insert(Everything.full)
      try tx.execute("UPDATE Everything SET level = 'middle'")
    }
    let error = failure { try store.find(Everything.self, Everything.full.id) }
    #expect(
      error.map { "\($0.code) \($0.model ?? "") \($0.field ?? "") \($0.key ?? [])" }
        == "invalidValue Everything level ['4C1A33F2-95C0-4F5C-A2A8-2D4F0A3D5F10']")
    #expect(
      error?.message
        == "Everything['4C1A33F2-95C0-4F5C-A2A8-2D4F0A3D5F10'].level: a stored value does not fit its type: the stored value is not a case of Level."
    )
  }

  @Test func aValueThatCannotBeStoredNamesItsField() throws {
    var record = Everything.full
    record.ratio = .nan
    let error = failure { try store.write { tx in try tx.insert(record) } }
    #expect(error?.code == .invalidValue)
    #expect(error?.model == "Everything")
    #expect(error?.field == "ratio")
  }

  @Test func aBrokenRuleIsReportedAsForAnyModel() throws {
    let error = failure { try store.write { tx in try tx.insert(Rack(id: 1, name: "")) } }
    #expect(error?.code == .rejected)
    #expect(error?.violations.map(\.rule) == ["Rack.name.length"])
  }

  @Test func aDecoderThatIsKeptReadsNothingAfterItsRow() throws {
    let kept = try Keeper(row: RowView(image: [.integer(1)]))
    #expect(kept.id == 1)
    let error = failure { try Keeper(from: try #require(kept.decoder)) }
    #expect(error?.code == .misuse)
  }

  @Test func nestedContainersAreRefused() throws {
    let row = RowView(image: [.integer(1)])
    #expect(failure { try Nesting(row: row) }?.code == .unsupportedSchema)
    let store = try Store(at: directory.file("keeper.store"), models: Nesting.self)
    let error = failure { try store.write { tx in try tx.insert(Nesting(id: 1)) } }
    #expect(
      error?.message
        == "Nesting: a row is read and written by the names of its columns; use one keyed container, without nesting."
    )
  }
}

/// Keeps its decoder, which no type should.
private struct Keeper: CodableModel {
  var id: Int64
  nonisolated(unsafe) var decoder: (any Decoder)?
  var key: Int64 { id }
  static let definition = ModelDefinition<Keeper>("Keeper", key: \.id, fields: [.init("id", \.id)])

  enum CodingKeys: CodingKey { case id }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int64.self, forKey: .id)
    self.decoder = decoder
  }
}

/// Reads and writes a value within a value.
private struct Nesting: CodableModel {
  var id: Int64
  var key: Int64 { id }
  static let definition = ModelDefinition<Nesting>(
    "Nesting", key: \.id, fields: [.init("id", \.id)])

  enum CodingKeys: CodingKey { case id }

  init(id: Int64) { self.id = id }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: CodingKeys.self)
    id = try outer.decode(Int64.self, forKey: .id)
    if id == 1 { _ = try outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .id) }
  }

  func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: CodingKeys.self)
    var inner = outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .id)
    try inner.encode(id, forKey: .id)
  }
}
