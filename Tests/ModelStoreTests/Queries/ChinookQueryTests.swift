import Testing

@testable import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Predicates over a database from outside this project: the evaluator keeps what SQLite selects.
@Suite(.tags(.unit)) struct ChinookQueryTests {
  private static let source = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "shared/data/chinook.sqlite")

  private static var isPresent: Bool { FileManager.default.fileExists(atPath: source.path()) }

  private let track = ModelSchema(
    name: "Track",
    fields: [
      FieldSchema(name: "TrackId", type: .integer, declaredType: "INTEGER", isRowID: true),
      FieldSchema(name: "Name", type: .text, declaredType: "NVARCHAR(200)"),
      FieldSchema(name: "AlbumId", type: .integer, declaredType: "INTEGER", isOptional: true),
      FieldSchema(name: "Composer", type: .text, declaredType: "NVARCHAR(220)", isOptional: true),
      FieldSchema(name: "Milliseconds", type: .integer, declaredType: "INTEGER"),
      FieldSchema(name: "UnitPrice", type: .real, declaredType: "NUMERIC(10,2)"),
    ], key: ["TrackId"])

  @Test(
    .enabled("chinook.sqlite is missing; put it at ../shared/data") { isPresent },
    arguments: [
      ("Milliseconds > 300000 and Name like 'so%'", 12),
      ("composer is null", 977), ("not composer like '%john%'", 2_381),
      ("unitprice = 1.99 or Milliseconds between 1000 and 5000", 215),
      ("name glob '[À-ÿ]*'", 14), ("AlbumId in (1, 2, 3) && !(Name like '%a%')", 6),
      ("Composer == 'AC/DC'", 8), ("Composer != 'AC/DC'", 2_518),
      ("Composer is not 'AC/DC'", 3_495),
    ])
  func predicatesSelectWhatSQLiteSelects(text: String, count: Int) throws {
    let copy = FileManager.default.temporaryDirectory.appending(path: "chinook-\(UUID()).sqlite")
    try FileManager.default.copyItem(at: Self.source, to: copy)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: copy) } }
    let connection = try Connection(
      path: copy.path(), role: .readOnlyFile,
      policy: Connection.Policy(
        durability: .full, busyTimeout: .seconds(1), cacheSize: 1 << 20, statementCacheCapacity: 2))
    let condition = try PredicateParser(schema: track, now: Date()).condition(parsing: text)
    func records(_ query: StoreQuery<DynamicRecord>) throws -> [DynamicRecord] {
      try connection.rows(query.selectText()) { row in try DynamicRecord(row: row, schema: track) }
    }
    let selected = try records(StoreQuery(track, where: condition))
    let evaluate = try #require(ConditionEvaluator(condition, schema: track))
    #expect(try records(StoreQuery(track)).filter { evaluate($0.values) == true } == selected)
    #expect(selected.count == count)
    let counted = try connection.firstRow(
      StoreQuery<DynamicRecord>(track, where: condition).countText()
    ) {
      row in try row.integer(at: 0)
    }
    #expect(counted == Int64(count))
  }
}
