import Foundation
import Testing

@testable import ModelStore

/// Opening a store compares the key paths of a model's fields with the fields' names.
@Suite(.tags(.unit)) struct KeyPathCheckTests {
  private func message(_ models: any Model.Type...) throws -> String? {
    let directory = try TemporaryDirectory()
    let error = failure { try Store(at: directory.file("paths.store"), models: models) }
    #expect(error?.code == .unsupportedSchema)
    return error?.message
  }

  @Test func swappedKeyPathsAreNamed() throws {
    #expect(
      try message(Swapped.self)
        == "Swapped and its coding keys differ: the key path of the field title reads the value of the key body; the key path of the field body reads the value of the key title."
    )
  }

  @Test func swappedKeyPathsOfAllKindsOfValuesAreNamed() throws {
    let error = try message(Crossed.self) ?? ""
    let pairs = [
      ("isOpen", "isPaid"), ("state", "former"), ("start", "end"), ("id", "parent"),
      ("tags", "words"), ("place", "home"), ("size", "note"),
    ]
    let problems = pairs.flatMap { [$0, ($0.1, $0.0)] }.map { field, key in
      "the key path of the field \(field) reads the value of the key \(key)"
    }
    #expect(
      Set(
        error.dropFirst("Crossed and its coding keys differ: ".count).dropLast().split(
          separator: ";"
        )
        .map { $0.trimmingCharacters(in: .whitespaces) }) == Set(problems))
  }

  @Test func aTypeMayChangeWhatItDecodes() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("paths.store"), models: Changing.self)
    let record = Changing(id: 1, title: "b", sortTitle: "a", isShown: true, isHidden: true)
    try store.write { tx in try tx.insert(record) }
    #expect(
      try store.find(Changing.self, 1)
        == Changing(id: 1, title: "b", sortTitle: "a", isShown: true, isHidden: false))
  }

  @Test func oneKeyPathForTwoFieldsIsRefused() throws {
    #expect(
      try message(Doubled.self)
        == "Doubled: these fields have the same key path: title and body; size and width. Each field needs its own."
    )
  }

  @Test func oneKeyPathForTwoFieldsIsRefusedInAModelByHand() throws {
    #expect(
      try message(DoubledByHand.self)
        == "DoubledByHand: these fields have the same key path: title and body. Each field needs its own."
    )
  }
}

private struct Swapped: CodableModel {
  var id: Int64
  var title: String
  var body: String
  var key: Int64 { id }
  static let definition = ModelDefinition<Swapped>(
    "Swapped", key: \.id,
    fields: [.init("id", \.id), .init("title", \.body), .init("body", \.title)])
}

private struct Crossed: CodableModel {
  enum State: String, Codable, ColumnValue, CaseIterable { case new, done }
  enum Level: Int, Codable, ColumnValue, CaseIterable {
    case low = 7
    case high
  }
  struct Place: Codable {
    var name: String
    var floor: Int
  }
  var id: UUID
  var parent: UUID
  var isOpen: Bool
  var isPaid: Bool
  var state: State
  var former: State
  var level: Level
  var start: Date
  var end: Date
  var tags: JSON<[String]>
  var words: JSON<[String]>
  var place: JSON<Place>
  var home: JSON<Place>
  var size: Int?
  var note: String?
  var key: UUID { id }
  static let definition = ModelDefinition<Crossed>(
    "Crossed", key: \.id,
    fields: [
      .init("id", \.parent), .init("parent", \.id), .init("isOpen", \.isPaid),
      .init("isPaid", \.isOpen), .init("state", \.former), .init("former", \.state),
      .init("level", \.level), .init("start", \.end), .init("end", \.start),
      .init("tags", \.words), .init("words", \.tags), .init("place", \.home),
      .init("home", \.place), .init("size", \.note), .init("note", \.size),
    ])
}

private struct Changing: CodableModel, Equatable {
  var id: Int64
  var title: String
  var sortTitle: String
  var isShown: Bool
  var isHidden: Bool
  var key: Int64 { id }
  static let definition = ModelDefinition<Changing>(
    "Changing", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title), .init("sortTitle", \.sortTitle),
      .init("isShown", \.isShown), .init("isHidden", \.isHidden),
    ])

  init(id: Int64, title: String, sortTitle: String, isShown: Bool, isHidden: Bool) {
    self.id = id
    self.title = title
    self.sortTitle = sortTitle
    self.isShown = isShown
    self.isHidden = isHidden
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int64.self, forKey: .id)
    title = try container.decode(String.self, forKey: .title)
    sortTitle = try container.decodeIfPresent(String.self, forKey: .sortTitle) ?? title
    isShown = try container.decode(Bool.self, forKey: .isShown)
    isHidden = try !container.decode(Bool.self, forKey: .isHidden)
  }
}

private struct Doubled: CodableModel {
  var id: Int64
  var title: String
  var body: String
  var size: Int
  var width: Int
  var key: Int64 { id }
  static let definition = ModelDefinition<Doubled>(
    "Doubled", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title), .init("body", \.title), .init("size", \.width),
      .init("width", \.width),
    ])
}

private struct DoubledByHand: Model {
  var id: Int64
  var title: String
  var key: Int64 { id }
  static let definition = ModelDefinition<DoubledByHand>(
    "DoubledByHand", key: \.id,
    fields: [.init("id", \.id), .init("title", \.title), .init("body", \.title)])

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try title.encode(to: &arguments, at: 2)
  }
}
