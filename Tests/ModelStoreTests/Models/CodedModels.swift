import Foundation
import ModelStore

/// One field of every type that a column can hold, read and written by `Codable`.
struct Everything: CodableModel, Hashable {
  enum Level: String, Codable, ColumnValue { case low, high }
  enum Rank: Int, Codable, ColumnValue {
    case first = 1
    case second
  }

  /// A value whose own `Codable` is not what the store keeps.
  struct Token: RawRepresentable, Codable, Hashable, ColumnValue {
    var rawValue: String
    init(rawValue: String) { self.rawValue = rawValue }
    init(from decoder: any Decoder) throws { rawValue = "decoded by its own Codable" }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode("encoded by its own Codable")
    }
  }

  struct Place: Codable, Hashable {
    var name: String
    var floor: Int
  }

  var id: UUID
  var count: Int
  var big: Int64
  var small: Int8
  var unsigned: UInt32
  var isOpen: Bool
  var ratio: Double
  var single: Float
  var title: String
  var bytes: [UInt8]
  var data: Data
  var date: Date
  var link: URL
  var price: Decimal
  var place: JSON<Place>
  var level: Level
  var rank: Rank
  var token: Token

  var maybeCount: Int?
  var maybeOpen: Bool?
  var maybeRatio: Double?
  var maybeTitle: String?
  var maybeData: Data?
  var maybeDate: Date?
  var maybeID: UUID?
  var maybePrice: Decimal?
  var maybePlaces: JSON<[Place]>?
  var maybeLevel: Level?

  var key: UUID { id }

  static let definition = ModelDefinition<Everything>(
    "Everything", key: \.id,
    fields: [
      .init("id", \.id), .init("count", \.count), .init("big", \.big), .init("small", \.small),
      .init("unsigned", \.unsigned), .init("isOpen", \.isOpen), .init("ratio", \.ratio),
      .init("single", \.single), .init("title", \.title), .init("bytes", \.bytes),
      .init("data", \.data), .init("date", \.date), .init("link", \.link),
      .init("price", \.price), .init("place", \.place), .init("level", \.level),
      .init("rank", \.rank), .init("token", \.token),
      // Not the order of the properties: values are found by name.
      .init("maybeLevel", \.maybeLevel), .init("maybePlaces", \.maybePlaces),
      .init("maybePrice", \.maybePrice), .init("maybeID", \.maybeID),
      .init("maybeDate", \.maybeDate), .init("maybeData", \.maybeData),
      .init("maybeTitle", \.maybeTitle), .init("maybeRatio", \.maybeRatio),
      .init("maybeOpen", \.maybeOpen), .init("maybeCount", \.maybeCount),
    ])

  static let full = Everything(
    id: UUID(uuidString: "4C1A33F2-95C0-4F5C-A2A8-2D4F0A3D5F10")!, count: -7, big: .max,
    small: .min, unsigned: .max, isOpen: true, ratio: 0.1, single: 1.5, title: "a'b\"\0c",
    bytes: [0, 255], data: Data([1, 2]),
    date: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2),
    link: URL(string: "https://example.org/a?b=c")!, price: Decimal(string: "0.10")!,
    place: JSON(Place(name: "hall", floor: 2)), level: .high, rank: .second,
    token: Token(rawValue: "kept"), maybeCount: 3, maybeOpen: false, maybeRatio: -2.5,
    maybeTitle: "", maybeData: Data(), maybeDate: .distantFuture, maybeID: UUID(),
    maybePrice: Decimal(string: "12345678901234567890.5"),
    maybePlaces: JSON([Place(name: "yard", floor: 0)]), maybeLevel: .low)

  /// The same with every optional nil.
  static var bare: Everything {
    var record = full
    record.id = UUID()
    record.maybeCount = nil
    record.maybeOpen = nil
    record.maybeRatio = nil
    record.maybeTitle = nil
    record.maybeData = nil
    record.maybeDate = nil
    record.maybeID = nil
    record.maybePrice = nil
    record.maybePlaces = nil
    record.maybeLevel = nil
    return record
  }
}

/// A model in five lines.
struct Rack: CodableModel, Hashable {
  var id: Int64
  var name: String
  var bookCount: Int? = nil
  var key: Int64 { id }
  static let definition = ModelDefinition<Rack>(
    "Rack", key: \.id,
    fields: [
      .init("id", \.id), .init("name", \.name, column: "rack_name", rules: [.length(1...20)]),
      .init("bookCount", \.bookCount),
    ])
}

/// A model with a reference and a list.
struct Volume: CodableModel, Hashable {
  var id: Int64
  var title: String
  var rackID: Int64
  var neighbours = OrderedList<Rack>()
  var key: Int64 { id }
  static let definition = ModelDefinition<Volume>(
    "Volume", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title),
      .init("rackID", \.rackID, reference: ReferenceSchema(table: "Rack")),
    ],
    lists: [ModelList("neighbours", \.neighbours)])
}
