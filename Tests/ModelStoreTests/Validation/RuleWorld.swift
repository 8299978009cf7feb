import Foundation
import Testing

@testable import ModelStore

/// Rooms, bookings and payments: models to lay rules on.
struct Booking: Model, Hashable {
  var id: Int64
  var room: Int64?
  var guest: String
  var start: Int
  var end: Int
  var price: Double
  var note: String?

  static let definition = ModelDefinition<Booking>(
    "Booking", key: \.id,
    fields: [
      .init("id", \.id),
      .init("room", \.room, reference: ReferenceSchema(table: "Room", onDelete: .cascade)),
      .init("guest", \.guest, rules: [.notBlank, .length(...20)]), .init("start", \.start),
      .init("end", \.end), .init("price", \.price, rules: [.range(0...)]),
      .init("note", \.note),
    ])

  var key: Int64 { id }

  init(
    id: Int64, room: Int64? = 1, guest: String = "Ada", start: Int = 0, end: Int = 1,
    price: Double = 10, note: String? = nil
  ) {
    self.id = id
    self.room = room
    self.guest = guest
    self.start = start
    self.end = end
    self.price = price
    self.note = note
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    room = try row.decode(at: 1)
    guest = try row.decode(at: 2)
    start = try row.decode(at: 3)
    end = try row.decode(at: 4)
    price = try row.decode(at: 5)
    note = try row.decode(at: 6)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try room.encode(to: &arguments, at: 1)
    try guest.encode(to: &arguments, at: 2)
    try start.encode(to: &arguments, at: 3)
    try end.encode(to: &arguments, at: 4)
    try price.encode(to: &arguments, at: 5)
    try note.encode(to: &arguments, at: 6)
  }
}

struct Room: Model, Hashable {
  var id: Int64
  var name: String

  static let definition = ModelDefinition<Room>(
    "Room", key: \.id,
    fields: [.init("id", \.id), .init("name", \.name, isUnique: true)])

  var key: Int64 { id }

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

/// A store with two rooms and a few bookings.
struct Hotel {
  let directory: TemporaryDirectory
  let store: Store

  init(rules: [Rule] = [], validators: [Validator] = []) throws {
    directory = try TemporaryDirectory()
    store = try Store(
      at: directory.file("hotel.store"), models: Room.self, Booking.self, rules: rules,
      validators: validators)
    try store.write { tx in
      try tx.insert(Room(id: 1, name: "Blue"))
      try tx.insert(Room(id: 2, name: "Red"))
      try tx.insert(Booking(id: 1, start: 0, end: 5))
      try tx.insert(Booking(id: 2, start: 5, end: 9, note: "late"))
      try tx.insert(Booking(id: 3, room: 2, start: 0, end: 9))
    }
  }

  /// The error that another program gets, or nil when it succeeds.
  func shell(_ sql: String) throws -> String? {
    do {
      try PlainDatabase(store.path).execute("PRAGMA foreign_keys = ON; " + sql)
      return nil
    } catch let failure as PlainDatabase.Failure {
      return failure.description.components(separatedBy: ": PRAGMA")[0]
    }
  }

  /// The violations that `body` is refused with.
  func violations(_ body: (borrowing WriteTransaction) throws -> Void) throws -> [Violation] {
    let before = try contents()
    let error = failure { try store.write(body) }
    #expect(error?.code == .rejected)
    #expect(try contents() == before)
    return error?.violations ?? []
  }

  func contents() throws -> [[SQLValue]] {
    try PlainDatabase(store.path).rows("SELECT * FROM Booking ORDER BY id")
      + PlainDatabase(store.path).rows("SELECT * FROM Room ORDER BY id")
  }
}
