import Foundation
import ModelStore
import Testing

/// Rows of raw SQL become values of a type that you declare.
@Suite(.tags(.unit)) struct TypedRowTests {
  private struct Entry: Decodable, Equatable {
    enum Mood: String, Decodable, ColumnValue { case calm, loud }
    var id: Int64
    var name: String
    var day: Date?
    var token: UUID?
    var price: Decimal?
    var isOpen: Bool?
    var mood: Mood?
    var tags: JSON<[String]>?
  }

  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(at: directory.file("rows.store"), models: Artist.self)
  }

  private func rows<Row: Decodable>(_ sql: SQLText, as type: Row.Type) throws -> [Row] {
    try store.read { tx in try tx.rows(sql, as: type) }
  }

  @Test func columnsAreFoundByNameAndReadAsFieldsAre() throws {
    let token = UUID()
    let day = Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)
    let entries = try rows(
      """
      SELECT 'unused' AS other, \(day) AS day, 'a' AS name, \(token) AS token, 1 AS id,
        '0.1' AS price, 1 AS isOpen, 'loud' AS mood, '["x"]' AS tags
      UNION ALL SELECT 'unused', NULL, 'b', NULL, 2, NULL, NULL, NULL, NULL ORDER BY id
      """, as: Entry.self)
    #expect(
      entries.map(\.id) == [1, 2] && entries[1] == Entry(id: 2, name: "b"))
    #expect(
      entries[0]
        == Entry(
          id: 1, name: "a", day: day, token: token, price: Decimal(string: "0.1"), isOpen: true,
          mood: .loud, tags: JSON(["x"])))
  }

  @Test func aColumnValueReadsTheFirstColumn() throws {
    #expect(try rows("SELECT 7, 8 UNION ALL SELECT 9, 10", as: Int.self) == [7, 9])
    #expect(try rows("SELECT NULL UNION ALL SELECT 'a'", as: String?.self) == [nil, "a"])
    #expect(try rows("SELECT \(Date.distantPast)", as: Date.self) == [.distantPast])
    #expect(try rows("SELECT 1 WHERE 0", as: Int.self) == [])
  }

  @Test func ofColumnsWithOneNameTheFirstIsRead() throws {
    struct Pair: Decodable, Equatable {
      var name: String
      var id: Int
    }
    let pairs = try rows("SELECT 1 AS id, 'a' AS name, 2 AS id", as: Pair.self)
    #expect(pairs == [Pair(name: "a", id: 1)])
  }

  @Test func aMissingColumnIsNamed() throws {
    let error = failure { try rows("SELECT 1 AS id, 2 AS title, 3 AS id", as: Entry.self) }
    #expect(error?.code == .invalidQuery)
    #expect(error?.field == "name")
    #expect(
      error?.message == "Entry: the statement has no column name. Its columns are: id, title.")
  }

  @Test func aValueThatDoesNotFitIsNamed() throws {
    let error = failure { try rows("SELECT 1 AS id, 2 AS name", as: Entry.self) }
    #expect(error?.code == .invalidValue)
    #expect(
      error?.message
        == "Entry.name: a value of the statement does not fit its type: expected text, found integer."
    )
    let first = failure { try rows("SELECT 'a' AS id", as: Int.self) }
    #expect(
      first?.message
        == "Int.id: a value of the statement does not fit its type: expected integer, found text.")
  }

  @Test func aStatementThatWritesIsRefused() throws {
    let error = failure {
      try store.write { tx in
        try tx.rows("INSERT INTO Artist VALUES (1, 'a') RETURNING id", as: Int.self)
      }
    }
    #expect(error?.code == .misuse)
    #expect(try store.fetch(Artist.all) == [])
  }

  @Test func uncommittedRowsAreReadInAWrite() throws {
    let names = try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Ann"))
      return try tx.rows("SELECT name FROM Artist", as: String.self)
    }
    #expect(names == ["Ann"])
  }

  @Test func aValueOfAResultRowIsDecodedByName() throws {
    let row = try #require(
      try store.read { tx in try tx.rows("SELECT 3 AS pages, \(Date.distantFuture) AS day") }.first)
    #expect(try row.decode("pages", as: Int.self) == 3)
    #expect(try row.decode("day") == Date.distantFuture)
    let unfit = failure { try row.decode("pages", as: String.self) }
    #expect(unfit?.code == .invalidValue)
    #expect(unfit?.field == "pages")
    let missing = failure { try row.decode("title", as: String.self) }
    #expect(
      missing?.message
        == "ResultRow: the statement has no column title. Its columns are: pages, day.")
  }
}
