import Testing

@testable import ModelStore

/// `key` in a query, which is a computed property in most models.
@Suite(.tags(.unit)) struct KeyConditionTests {
  @Test func theKeyIsItsOnlyField() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("keys.store"), models: Country.self)
    try store.write { tx in
      for code in ["CH", "AT", "DE"] { try tx.insert(Country(name: "Land \(code)", code: code)) }
    }
    #expect(try store.fetch(Country.where { $0.key == "AT" }).map(\.name) == ["Land AT"])
    #expect(
      try store.fetch(Country.all.order { $0.key.descending }).map(\.code) == ["DE", "CH", "AT"])
  }

  @Test(.ownThreads) func aKeyOfSeveralFieldsNamesThem() async {
    let ended = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Seat.where { $0.key == "1/2" }
    }
    let message = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      message.contains(
        "A query cannot use Seat.key, which has several fields. Use the fields row, number."))
  }
}

private struct Country: CodableModel {
  var name: String
  var code: String
  var key: String { code }
  static let definition = ModelDefinition<Country>(
    "Country", key: \.code, fields: [.init("name", \.name), .init("code", \.code)])
}

private struct Seat: CodableModel {
  var row: Int
  var number: Int
  var key: String { "\(row)/\(number)" }
  static let definition = ModelDefinition<Seat>(
    "Seat", key: \.row, \.number, fields: [.init("row", \.row), .init("number", \.number)])
}
