import Testing

@testable import ModelStore

/// The decoder of a row reads the next row too, unless a type has kept it or its container.
@Suite(.tags(.unit)) struct KeptDecoderTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func store(_ model: any Model.Type) throws -> Store {
    try Store(at: directory.file("kept.store"), models: model, Rack.self)
  }

  @Test func aContainerThatIsKeptReadsNothingFromTheNextRow() throws {
    let store = try store(ContainerKeeper.self)
    try store.write { tx in for id in 1...3 { try tx.insert(ContainerKeeper(id: Int64(id))) } }
    ContainerKeeper.kept = nil
    let records = try store.fetch(ContainerKeeper.all)
    #expect(records.map(\.id) == [1, 2, 3])
    #expect(records.map(\.former) == [nil, .misuse, .misuse])
    let last = try #require(ContainerKeeper.kept)
    #expect(failure { try last.decode(Int64.self, forKey: .id) }?.code == .misuse)
  }

  @Test func aDecoderThatIsKeptReadsNothingFromTheNextRow() throws {
    let store = try store(DecoderKeeper.self)
    try store.write { tx in for id in 1...3 { try tx.insert(DecoderKeeper(id: Int64(id))) } }
    DecoderKeeper.kept = nil
    let records = try store.fetch(DecoderKeeper.all)
    #expect(records.map(\.id) == [1, 2, 3])
    #expect(records.map(\.former) == [nil, .misuse, .misuse])
  }

  @Test func aRowMayBeReadWithSeveralTypesOfKey() throws {
    let store = try store(Volume.self)
    let rows = try store.read { tx in
      try tx.rows(
        "SELECT 1 AS id, 'a' AS name, 7 AS size UNION ALL SELECT 2, 'b', 8 ORDER BY id",
        as: Parts.self)
    }
    #expect(rows.map { "\($0.id) \($0.head.name) \($0.tail.size)" } == ["1 a 7", "2 b 8"])
  }

  @Test func modelsMayBeReadInTurns() throws {
    let store = try store(Volume.self)
    try store.write { tx in
      for id in Int64(1)...3 {
        try tx.insert(Rack(id: id, name: "rack \(id)"))
        try tx.insert(Volume(id: id, title: "volume \(id)", rackID: id))
      }
    }
    let found = try store.read { tx in
      var found: [String] = []
      try tx.forEach(Volume.all) { volume in
        let rack = try #require(try tx.find(Rack.self, volume.rackID))
        let other = try #require(try tx.find(Volume.self, 4 - volume.id))
        found.append("\(volume.title) \(rack.name) \(other.title)")
      }
      return found
    }
    #expect(
      found == [
        "volume 1 rack 1 volume 3", "volume 2 rack 2 volume 2", "volume 3 rack 3 volume 1",
      ])
  }

  @Test func aRecordThatCannotBeReadDoesNotSpoilTheNext() throws {
    let store = try store(Volume.self)
    try store.write { tx in
      for id in Int64(1)...3 { try tx.insert(Rack(id: id, name: "rack \(id)")) }
      try tx.execute("UPDATE Rack SET rack_name = CAST(x'FF' AS TEXT) WHERE id = 2")
    }
    let read = try store.read { tx in
      try (Int64(1)...3).map { id in
        do {
          return try tx.find(Rack.self, id)?.name ?? "none"
        } catch let error as StoreError {
          return "\(error.code) \(error.field ?? "")"
        }
      }
    }
    #expect(read == ["rack 1", "invalidValue name", "rack 3"])
  }
}

/// Keeps the container of its latest row, and reads it with the next row.
private struct ContainerKeeper: CodableModel {
  var id: Int64
  var former: StoreError.Code?
  var key: Int64 { id }
  nonisolated(unsafe) static var kept: KeyedDecodingContainer<CodingKeys>?
  static let definition = ModelDefinition<ContainerKeeper>(
    "ContainerKeeper", key: \.id, fields: [.init("id", \.id)])

  enum CodingKeys: CodingKey { case id }

  init(id: Int64) { self.id = id }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let kept = Self.kept {
      former = code {
        _ = try kept.decode(Int64.self, forKey: .id)
      }
    }
    id = try container.decode(Int64.self, forKey: .id)
    Self.kept = container
  }
}

/// Keeps the decoder of its latest row, and reads it with the next row.
private struct DecoderKeeper: CodableModel {
  var id: Int64
  var former: StoreError.Code?
  var key: Int64 { id }
  nonisolated(unsafe) static var kept: (any Decoder)?
  static let definition = ModelDefinition<DecoderKeeper>(
    "DecoderKeeper", key: \.id, fields: [.init("id", \.id)])

  enum CodingKeys: CodingKey { case id }

  init(id: Int64) { self.id = id }

  init(from decoder: any Decoder) throws {
    if let kept = Self.kept {
      former = code {
        _ = try kept.container(keyedBy: CodingKeys.self).decode(Int64.self, forKey: .id)
      }
    }
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int64.self, forKey: .id)
    Self.kept = decoder
  }
}

/// A row that is read in parts, each with its own keys.
private struct Parts: Decodable {
  struct Head: Decodable { var name: String }
  struct Tail: Decodable { var size: Int }

  var head: Head
  var tail: Tail
  var id: Int64

  enum CodingKeys: CodingKey { case id }

  init(from decoder: any Decoder) throws {
    head = try Head(from: decoder)
    tail = try Tail(from: decoder)
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int64.self, forKey: .id)
  }
}

/// Returns the code of the error that `body` throws; nil if it throws none.
private func code(_ body: () throws -> Void) -> StoreError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StoreError)?.code
  }
}
