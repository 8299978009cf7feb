import Foundation
import ModelStore
import Testing

/// Values of every type that a field can have are arguments of SQL text.
@Suite(.tags(.unit)) struct InterpolatedValueTests {
  private enum Level: String, ColumnValue { case high }

  @Test func aValueIsAnArgumentInTheFormOfItsField() throws {
    let id = try #require(UUID(uuidString: "4c1a33f2-95c0-4f5c-a2a8-2d4f0a3d5f10"))
    let day = Date(timeIntervalSinceReferenceDate: 12.5)
    let text: SQLText =
      "\(id), \(day), \(true), \(Level.high), \(Float(1.5)), \(UInt8(7)), \([1, 2] as [UInt8])"
    #expect(
      text
        == SQLText(
          sql: "?, ?, ?, ?, ?, ?, ?",
          arguments: [
            .text("4C1A33F2-95C0-4F5C-A2A8-2D4F0A3D5F10"), .real(12.5), .integer(1), .text("high"),
            .real(1.5), .integer(7), .blob([1, 2]),
          ]))
  }

  @Test func anOptionalIsItsValueOrNull() {
    let day: Date? = Date(timeIntervalSinceReferenceDate: 1)
    let count: Int? = nil
    let name: String? = "a"
    let text: SQLText = "\(day) \(count) \(name)"
    #expect(
      text == SQLText(sql: "? ? ?", arguments: [.real(1), .null, .text("a")]))
  }

  @Test func numbersTextsAndPiecesOfSQLAreUnchanged() {
    let piece: SQLText = "x = \(1)"
    let text: SQLText = "\(2) \("a") \(2.5) \(piece) \(identifier: "t")"
    #expect(
      text
        == SQLText(
          sql: "? ? ? x = ? \"t\"", arguments: [.integer(2), .text("a"), .real(2.5), .integer(1)]))
  }

  @Test func recordsAreFoundByInterpolatedValues() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("values.store"), models: Everything.self)
    try store.write { tx in
      try tx.insert(Everything.full)
      try tx.insert(Everything.bare)
    }
    let wanted = Everything.full
    let found = try store.read { tx in
      try tx.rows(
        """
        SELECT id FROM Everything WHERE id = \(wanted.id) AND date = \(wanted.date)
          AND isOpen = \(wanted.isOpen) AND maybeCount IS \(wanted.maybeCount)
          AND price = \(wanted.price) AND place = \(wanted.place) AND level = \(wanted.level)
        """, as: UUID.self)
    }
    #expect(found == [wanted.id])
    let none: Date? = nil
    let bare = try store.fetch(Everything.where { _ in .sql("maybeDate IS \(none)") })
    #expect(bare.map(\.maybeDate) == [nil])
  }

  @Test func aValueThatCannotBeStoredIsRefusedByTheStatement() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("values.store"), models: Artist.self)
    let big = UInt64.max
    let query = Artist.where { _ in .sql("id = \(big)") }
    let wanted =
      "A value cannot be stored: 18446744073709551615 is larger than SQLite's integers."
    for error in [
      failure { try store.read { tx in try tx.rows("SELECT \(big)", as: Int.self) } },
      failure { try store.read { tx in try tx.value(Int.self, "SELECT \(big)") } },
      failure { try store.write { tx in try tx.execute("DELETE FROM Artist WHERE id = \(big)") } },
      failure { try store.fetch(query) },
    ] {
      #expect(error?.code == .invalidValue)
      #expect(error?.message == wanted)
    }
    let limit: SQLText = "LIMIT \(big)"
    #expect(limit != "LIMIT \(Double.nan)")
    #expect(
      failure { try store.read { tx in try tx.rows("SELECT 1 \(limit)") } }?.code == .invalidValue)
  }
}
