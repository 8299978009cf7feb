import Foundation
import Testing

@testable import ModelStore

/// Opening a store compares the coding keys of its models with their definitions.
@Suite(.tags(.unit)) struct CodingNamesTests {
  private func message(_ models: any Model.Type...) throws -> String? {
    let directory = try TemporaryDirectory()
    let error = failure { try Store(at: directory.file("names.store"), models: models) }
    #expect(error?.code == .unsupportedSchema)
    return error?.message
  }

  @Test func aPropertyWithoutAFieldIsNamed() throws {
    #expect(
      try message(Unlisted.self)
        == "Unlisted and its coding keys differ: the key subtitle is not among the fields; the key tags is not among the fields; a column holds its value only as JSON."
    )
  }

  @Test func openingInATaskComparesNamesToo() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("names.store")
    await #expect(throws: StoreError.self) { try await Store(at: path, models: Renamed.self) }
    await #expect(throws: StoreError.self) { try await Store(at: path, models: [Renamed.self]) }
  }

  @Test func aFieldWithAnotherKeyIsNamed() throws {
    #expect(
      try message(Renamed.self)
        == "Renamed and its coding keys differ: the key heading is not among the fields; the field title is not among the keys."
    )
  }

  @Test func aPropertyBehindValuesThatHaveNoSampleOrAStructIsNamed() throws {
    #expect(
      try message(Behind.self)
        == "Behind and its coding keys differ: the key extra is not among the fields.")
  }

  @Test func aTypeWithoutKeysIsRefused() throws {
    #expect(
      try message(Bare.self) == "Bare and its coding keys differ: the type does not decode by keys."
    )
  }

  @Test func aDefinitionThatIsMadeEachTimeIsRefused() throws {
    #expect(
      try message(Computed.self)
        == "Computed: declare the definition as a static let. Now each use creates another one."
    )
  }

  @Test func aKeyThatNoSampleReachesIsNamedByTheFirstWrite() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("names.store"), models: Hidden.self)
    let error = failure {
      try store.write { tx in try tx.insert(Hidden(id: 1, kind: .a, extra: 2)) }
    }
    #expect(
      error?.message
        == "Hidden: the property extra is not a field of the definition. Add it to the fields, or leave it out of the coding keys. The fields are: id, kind."
    )
  }

  @Test func aModelByHandMayHaveOtherKeys() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("names.store"), models: ByHand.self)
    try store.write { tx in try tx.insert(ByHand(id: 1, name: "a")) }
    #expect(try store.find(ByHand.self, 1)?.name == "a")
    let json = String(decoding: try JSONEncoder().encode(ByHand(id: 1, name: "a")), as: UTF8.self)
    #expect(json == #"{"web_name":"a"}"#)
  }
}

private struct Unlisted: CodableModel {
  var id: Int64
  var subtitle: String?
  var tags: [String]
  var key: Int64 { id }
  static let definition = ModelDefinition<Unlisted>(
    "Unlisted", key: \.id, fields: [.init("id", \.id)])
}

private struct Renamed: CodableModel {
  var id: Int64
  var title: String
  var key: Int64 { id }
  static let definition = ModelDefinition<Renamed>(
    "Renamed", key: \.id, fields: [.init("id", \.id), .init("title", \.title)])

  enum CodingKeys: String, CodingKey {
    case id
    case title = "heading"
  }
}

private struct Behind: CodableModel {
  enum Kind: String, Codable, ColumnValue, CaseIterable { case a, b }
  struct Part: Codable {
    var name: String
    var sizes: [Int]
    var kind: Kind
    var inner: [String: Double]
  }
  var id: UUID
  var kind: Kind
  var part: JSON<Part>
  var link: URL
  var extra: Int
  var key: UUID { id }
  static let definition = ModelDefinition<Behind>(
    "Behind", key: \.id,
    fields: [
      .init("id", \.id), .init("kind", \.kind), .init("part", \.part), .init("link", \.link),
    ])
}

private struct Hidden: CodableModel {
  enum Kind: String, Codable, ColumnValue { case a, b }
  var id: Int64
  var kind: Kind
  var extra: Int
  var key: Int64 { id }
  static let definition = ModelDefinition<Hidden>(
    "Hidden", key: \.id, fields: [.init("id", \.id), .init("kind", \.kind)])
}

private struct Bare: CodableModel {
  var id: Int64
  var key: Int64 { id }
  static let definition = ModelDefinition<Bare>("Bare", key: \.id, fields: [.init("id", \.id)])

  init(from decoder: any Decoder) throws {
    id = try decoder.singleValueContainer().decode(Int64.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }
}

private struct Computed: CodableModel {
  var id: Int64
  var key: Int64 { id }
  static var definition: ModelDefinition<Computed> {
    ModelDefinition("Computed", key: \.id, fields: [.init("id", \.id)])
  }
}

/// `Codable` for the web, a model by hand.
private struct ByHand: Model, Codable {
  var id: Int64 = 0
  var name: String
  var key: Int64 { id }
  static let definition = ModelDefinition<ByHand>(
    "ByHand", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])

  enum CodingKeys: String, CodingKey { case name = "web_name" }

  init(id: Int64, name: String) {
    self.id = id
    self.name = name
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try name.encode(to: &arguments, at: 1)
  }
}
