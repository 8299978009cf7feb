@testable import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the tests of queries share: a model by hand, and a private database in memory.
enum QueryFixtures {
  struct Song: Model, Equatable {
    var id: Int64
    var title: String
    var milliseconds: Int
    var genre: String?
    var rating: Double?
    var isLive: Bool
    var released: Date?
    var price: Decimal

    var seconds: Int { milliseconds / 1000 }

    static let definition = ModelDefinition<Song>(
      "Song", table: "songs", key: \.id,
      fields: [
        .init("id", \.id), .init("title", \.title), .init("milliseconds", \.milliseconds),
        .init("genre", \.genre, column: "genre \"name\"", collation: .nocase),
        .init("rating", \.rating), .init("isLive", \.isLive), .init("released", \.released),
        .init("price", \.price),
      ])

    var key: Int64 { id }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      title = try row.decode(at: 1)
      milliseconds = try row.decode(at: 2)
      genre = try row.decode(at: 3)
      rating = try row.decode(at: 4)
      isLive = try row.decode(at: 5)
      released = try row.decode(at: 6)
      price = try row.decode(at: 7)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try title.encode(to: &arguments, at: 1)
      try milliseconds.encode(to: &arguments, at: 2)
      try genre.encode(to: &arguments, at: 3)
      try rating.encode(to: &arguments, at: 4)
      try isLive.encode(to: &arguments, at: 5)
      try released.encode(to: &arguments, at: 6)
      try price.encode(to: &arguments, at: 7)
    }
  }

  /// One field of each type, named after it.
  static let everyType = ModelSchema(
    name: "Thing",
    fields: [FieldSchema(name: "id", type: .integer, isRowID: true)]
      + FieldType.allCases.map { FieldSchema(name: $0.rawValue, type: $0, isOptional: true) },
    key: ["id"])

  static func scratchConnection() throws -> Connection {
    try Connection(
      path: ":memory:", role: .writer,
      policy: Connection.Policy(
        durability: .normal, busyTimeout: .seconds(5), cacheSize: 1 << 20,
        statementCacheCapacity: 4))
  }

  /// SQL and arguments as one line, each `?` replaced by its argument's literal.
  static func line(_ text: SQLText) -> String {
    var arguments = text.arguments[...]
    var line = ""
    for character in text.sql {
      switch character {
      case "?": line += arguments.popFirst()?.description ?? "?"
      case "\n": line += " "
      default: line.append(character)
      }
    }
    return line + arguments.map { " unused: \($0)" }.joined()
  }

  static func line(_ condition: Condition, _ schema: ModelSchema) throws -> String {
    line(try condition.sqlText(schema: schema))
  }
}
