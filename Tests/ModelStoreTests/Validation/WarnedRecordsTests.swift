import Testing

@testable import ModelStore

/// What a write reports about rules that only warn.
@Suite(.tags(.unit)) struct WarnedRecordsTests {
  private static func warned(
    _ hotel: Hotel, mode: WriteMode = .commit, _ body: (borrowing WriteTransaction) throws -> Void
  ) throws -> [String] {
    var found = WarnedRecords()
    func noting(_ tx: borrowing WriteTransaction) throws {
      try body(tx)
      tx.reviewWarnings { found = $0 }
    }
    _ =
      try mode == .preview
      ? hotel.store.preview(noting).changes : hotel.store.writeReturningChanges(noting).changes
    #expect(found.count == found.violations.count)
    return found.violations.map { "\($0.severity) \($0.model) \($0.key ?? []) \($0.rule)" }
  }

  private static func hotel() throws -> Hotel {
    let hotel = try Hotel()
    try hotel.store.add(
      Rule(
        "dear", of: "Booking", fields: ["price"], .condition(sql: "price < 500"),
        severity: .warning))
    try hotel.store.add(
      Rule(
        "twice", of: "Booking", fields: ["start"], .unique(where: "price > 100"),
        severity: .warning))
    return hotel
  }

  @Test func aWriteReportsTheWarningsOfTheRecordsThatItChanged() throws {
    let hotel = try Self.hotel()
    for mode in [WriteMode.preview, .commit] {
      #expect(
        try Self.warned(hotel, mode: mode) { tx in try tx.set(\Booking.price, to: 900, for: 1) }
          == ["warning Booking [1] dear"])
    }
    // The stored record still breaks the rule, but this write did not touch its field.
    #expect(try Self.warned(hotel) { tx in try tx.set(\Booking.guest, to: "x", for: 1) } == [])
    #expect(try Self.warned(hotel) { tx in try tx.set(\Booking.price, to: 20, for: 1) } == [])
    #expect(try Self.warned(hotel) { tx in _ = try tx.delete(Booking.self, 1) } == [])
  }

  @Test func aUniqueWarningCountsOnlyTheRecordsOfItsCondition() throws {
    let hotel = try Self.hotel()
    let other = Booking(id: 50, room: 1, guest: "g", start: 1, price: 10)
    #expect(try Self.warned(hotel) { tx in try tx.insert(other) } == [])
    #expect(
      try Self.warned(hotel) { tx in
        try tx.insert(Booking(id: 51, room: 1, guest: "g", start: 70, price: 200))
      } == [])
    #expect(
      try Self.warned(hotel) { tx in
        try tx.insert(Booking(id: 52, room: 1, guest: "g", start: 70, price: 300))
      } == ["warning Booking [52] twice"])
  }
}
