import Testing

@testable import ModelStore

/// Keys of every kind find and delete their record.
@Suite(.tags(.unit)) struct KeyBindingTests {
  private let store: Store

  init() throws {
    store = try Store.inMemory(models: Seat.self, Lopsided.self)
  }

  @Test func aKeyThatIsAlsoAColumnValueBindsItsOwnValues() throws {
    try store.write { tx in
      try tx.insert(Seat(row: 1, number: 2, name: "first"))
      try tx.insert(Seat(row: 2, number: 1, name: "second"))
    }
    #expect(try store.find(Seat.self, SeatKey(row: 2, number: 1))?.name == "second")
    #expect(try store.write { tx in try tx.delete(Seat.self, SeatKey(row: 1, number: 2)) })
    #expect(try store.fetch(Seat.all).map(\.name) == ["second"])
  }

  @Test func aKeyWithTooFewValuesIsRefused() throws {
    try store.write { tx in try tx.insert(Lopsided(left: 1, right: 2)) }
    let message = "The statement takes 2 arguments; got 1."
    let found = failure { try store.find(Lopsided.self, 1) }
    #expect(found?.message.contains(message) == true, "\(found?.message ?? "no error")")
  }
}

/// Two key values, which are one text in a column of another model.
private struct SeatKey: ModelKey, ColumnValue {
  var row: Int64
  var number: Int64

  static var fieldType: FieldType { .text }

  init(row: Int64, number: Int64) { (self.row, self.number) = (row, number) }

  init(row view: borrowing RowView, column: Int) throws(ColumnError) {
    let text = try view.text(at: column)
    let parts = text.split(separator: ".").compactMap { Int64($0) }
    guard parts.count == 2 else { throw ColumnError("\(text) is not a seat") }
    self.init(row: parts[0], number: parts[1])
  }

  init(sqlValues: [SQLValue]) throws(ColumnError) {
    guard sqlValues.count == 2 else { throw ColumnError("a seat has a row and a number") }
    self.init(
      row: try Int64(sqlValue: sqlValues[0]), number: try Int64(sqlValue: sqlValues[1]))
  }

  func sqlValue() throws(ColumnError) -> SQLValue { .text("\(row).\(number)") }

  func sqlValues() throws(ColumnError) -> [SQLValue] { [.integer(row), .integer(number)] }
}

private struct Seat: Model {
  var row: Int64
  var number: Int64
  var name: String
  var key: SeatKey { SeatKey(row: row, number: number) }
  static let definition = ModelDefinition<Seat>(
    "Seat", key: \.row, \.number,
    fields: [.init("row", \.row), .init("number", \.number), .init("name", \.name)])

  init(row: Int64, number: Int64, name: String) {
    (self.row, self.number, self.name) = (row, number, name)
  }

  init(row: borrowing RowView) throws {
    self.row = try row.decode(at: 0)
    number = try row.decode(at: 1)
    name = try row.decode(at: 2)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try row.encode(to: &arguments, at: 0)
    try number.encode(to: &arguments, at: 1)
    try name.encode(to: &arguments, at: 2)
  }
}

/// A model with two key fields, whose key has one value by mistake.
private struct Lopsided: Model {
  var left: Int64
  var right: Int64
  var key: Int64 { left }
  static let definition = ModelDefinition<Lopsided>(
    "Lopsided", key: \.left, \.right,
    fields: [.init("left", \.left), .init("right", \.right)])

  init(left: Int64, right: Int64) { (self.left, self.right) = (left, right) }

  init(row: borrowing RowView) throws {
    left = try row.decode(at: 0)
    right = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try left.encode(to: &arguments, at: 0)
    try right.encode(to: &arguments, at: 1)
  }
}
