import Foundation
import Testing

@testable import ModelStore

/// Every value type comes back bit by bit from a column of its own type, or is refused.
@Suite(.tags(.unit)) struct ColumnValueTests {
  private let scratch: ScratchDatabase
  private let seed = UInt64.random(in: 0...UInt64.max)

  init() throws {
    scratch = try ScratchDatabase(
      """
      CREATE TABLE integers(v INTEGER); CREATE TABLE reals(v REAL); CREATE TABLE texts(v TEXT);
      CREATE TABLE blobs(v BLOB); CREATE TABLE anything(v)
      """)
    try scratch.connection.execute("PRAGMA synchronous = OFF; BEGIN IMMEDIATE")
    print("column values: seed \(seed)")
  }

  private func stored<Value: ColumnValue>(_ value: Value) throws -> Value? {
    let table =
      switch Value.fieldType {
      case .integer, .boolean: "integers"
      case .real, .date: "reals"
      case .blob: "blobs"
      case .any: "anything"
      default: "texts"
      }
    try scratch.connection.withStatement("INSERT INTO \(table) VALUES (?)") { statement in
      var arguments = ArgumentWriter(statement: statement.handle)
      try value.encode(to: &arguments, at: 0)
      try statement.check(arguments)
      try statement.run()
    }
    return try scratch.connection.firstRow(
      SQLText(sql: "SELECT v FROM \(table) WHERE rowid = last_insert_rowid()")
    ) { row in try row.decode(Value.self, at: 0) }
  }

  private func expectRoundTrip<Value: ColumnValue & Equatable>(_ values: [Value]) throws {
    for value in values {
      #expect(try stored(value) == value, "seed \(seed)")
      #expect(try Value(sqlValue: value.sqlValue()) == value, "seed \(seed)")
    }
  }

  @Test func integersOfEveryWidth() throws {
    try expectRoundTrip([Int64.min, -1, 0, 1, .max])
    try expectRoundTrip([Int.min, -1, 0, 1, .max])
    try expectRoundTrip([Int8.min, .max])
    try expectRoundTrip([Int16.min, .max])
    try expectRoundTrip([Int32.min, .max])
    try expectRoundTrip([UInt8.min, .max])
    try expectRoundTrip([UInt16.min, .max])
    try expectRoundTrip([UInt32.min, .max])
    try expectRoundTrip([UInt64.min, UInt64(Int64.max)])
    try expectRoundTrip([UInt.min, UInt(Int64.max)])
    try expectRoundTrip([true, false])
    try expectRoundTrip([Int64?.none, .some(.min)])
  }

  @Test func valuesThatDoNotFitAreRefused() throws {
    #expect(thrownError { try UInt64(Int64.max).advanced(by: 1).sqlValue() } is ColumnError)
    #expect(thrownError { try UInt.max.sqlValue() } is ColumnError)
    #expect(thrownError { try Int8(sqlValue: .integer(128)) } is ColumnError)
    #expect(thrownError { try UInt32(sqlValue: .integer(-1)) } is ColumnError)
    #expect(thrownError { try Bool(sqlValue: .integer(2)) } is ColumnError)
    #expect(thrownError { try Float(sqlValue: .real(0.1)) } is ColumnError)
    #expect(thrownError { try Double.nan.sqlValue() } is ColumnError)
    #expect(thrownError { try Float.nan.sqlValue() } is ColumnError)
    #expect(
      thrownError { try Date(timeIntervalSinceReferenceDate: .nan).sqlValue() } is ColumnError)
    #expect(thrownError { try Decimal.nan.sqlValue() } is ColumnError)
    #expect(thrownError { try Level(sqlValue: .text("none")) } is ColumnError)
    #expect(thrownError { try Int64(sqlValue: .text("1")) } is ColumnError)
    #expect(thrownError { try String(sqlValue: .integer(1)) } is ColumnError)
    #expect(thrownError { try Int64(sqlValue: .null) } is ColumnError)
  }

  @Test func doublesAndFloatsKeepEveryBit() throws {
    var generator = SeededGenerator(seed: seed)
    var doubles: [Double] = [
      0, -0.0, 1, -1, 0.1, .pi, .infinity, -.infinity, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude, 1e15, 1e16, 0x1p53, 0x1p62, 0x1p63, -0x1p63, 0x1p53 + 2,
    ]
    for _ in 0..<20_000 { doubles.append(Double(bitPattern: generator.next())) }
    #expect(try stored(-0.0)?.bitPattern == (0.0).bitPattern)
    for value in doubles where !value.isNaN && value.bitPattern != (-0.0).bitPattern {
      #expect(try stored(value)?.bitPattern == value.bitPattern, "\(value) seed \(seed)")
    }
    for _ in 0..<20_000 {
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: generator.next()))
      guard !value.isNaN, value.bitPattern != (-0.0 as Float).bitPattern else { continue }
      #expect(try stored(value)?.bitPattern == value.bitPattern, "\(value) seed \(seed)")
    }
  }

  @Test func datesKeepEveryBit() throws {
    var generator = SeededGenerator(seed: seed)
    var intervals: [Double] = [0, 0.1, -978_307_200, 1e-9, 700_000_000.123456789]
    for _ in 0..<20_000 {
      intervals.append(Double.random(in: -1e11...1e11, using: &generator))
      intervals.append(Double(Int.random(in: -1_000_000_000...1_000_000_000, using: &generator)))
    }
    for interval in intervals {
      let date = Date(timeIntervalSinceReferenceDate: interval)
      let back = try stored(date)
      #expect(
        back?.timeIntervalSinceReferenceDate.bitPattern == interval.bitPattern,
        "\(interval) seed \(seed)")
    }
  }

  @Test func textAndBytes() throws {
    try expectRoundTrip(["", "a\0b", "🎵", String(repeating: "x", count: 2 << 20)])
    try expectRoundTrip([Data(), Data([0, 255, 0])])
    try expectRoundTrip([[], [0, 255, 0]] as [[UInt8]])
    try expectRoundTrip([Level.low, .high])
  }

  @Test func identifiersAndAddresses() throws {
    for _ in 0..<1_000 { try expectRoundTrip([UUID()]) }
    let upper = UUID().uuidString
    #expect(
      thrownError {
        try UUID(sqlValue: .text(upper.lowercased() == upper ? "x" : upper.lowercased()))
      } is ColumnError)
    let addresses = [
      "https://example.org/a%20b?c=d&e=%F0%9F%8E%B5#f", "file:///tmp/x", "mailto:a@b.c",
      "relative/path", "//host/path", "https://[::1]:80/",
    ].compactMap(URL.init(string:))
    try expectRoundTrip(addresses)
    let relative = URL(string: "b", relativeTo: URL(string: "https://example.org/a/"))
    #expect(thrownError { try relative?.sqlValue() } is ColumnError)
  }

  @Test func decimals() throws {
    var generator = SeededGenerator(seed: seed)
    var values = [
      Decimal.zero, 1, -1, Decimal(string: "0.1") ?? 0, .greatestFiniteMagnitude,
      .leastFiniteMagnitude, .leastNonzeroMagnitude,
      Decimal(string: "12345678901234567890123456789012345678") ?? 0,
      Decimal(string: "0.00000000000000000000000000000000000001") ?? 0,
    ]
    for _ in 0..<2_000 {
      var value = Decimal(Int64(bitPattern: generator.next()))
      value *= Decimal(
        sign: .plus, exponent: Int.random(in: -30...20, using: &generator), significand: 1)
      values.append(value)
    }
    try expectRoundTrip(values)
  }

  @Test func codableValues() throws {
    struct Tag: Codable, Hashable, Sendable {
      var name: String
      var weight: Double?
      var link: URL?
    }
    var generator = SeededGenerator(seed: seed)
    var values: [JSON<[Tag]>] = [JSON([]), JSON([Tag(name: "a\"\u{2028}\\/\0", weight: nil)])]
    for _ in 0..<500 {
      values.append(
        JSON([
          Tag(
            name: String(Unicode.Scalar(UInt32.random(in: 32...0xD7FF, using: &generator)) ?? "x"),
            weight: Double.random(in: -1e6...1e6, using: &generator),
            link: URL(string: "https://example.org/a/b"))
        ]))
    }
    try expectRoundTrip(values)
    #expect(thrownError { try JSON([Double.infinity]).sqlValue() } is ColumnError)
    #expect(thrownError { try JSON<[Tag]>(sqlValue: .text("{")) } is ColumnError)
  }

  private enum Level: String, ColumnValue {
    case low, high
  }
}
