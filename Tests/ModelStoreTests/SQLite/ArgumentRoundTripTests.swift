import Testing

@testable import ModelStore

/// What is bound comes back as it was, or does not go in.
@Suite(.tags(.unit)) struct ArgumentRoundTripTests {
  static let values: [SQLValue] = [
    .null, .integer(0), .integer(-1), .integer(.max), .integer(.min), .integer(1 << 53 + 1),
    .real(0), .real(1), .real(-1.5), .real(.infinity), .real(-.infinity),
    .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .real(0.1),
    .text(""), .text("a"), .text("\0"), .text("a\0b"), .text("'\"?;--"), .text("\u{FEFF}x"),
    .text("e\u{301}"), .text("\u{E9}"), .text("🏳️‍🌈"), .text("\u{10FFFF}"),
    .text(String(repeating: "ä🎵", count: 350_000)),
    .blob([]), .blob([0]), .blob([0xFF, 0, 0xFE]), .blob([UInt8](repeating: 7, count: 2 << 20)),
  ]

  @Test func everyValueComesBackFromAColumnWithoutAffinity() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(v)")
    for value in Self.values {
      try scratch.connection.run("DELETE FROM t")
      try scratch.connection.run(SQLText(sql: "INSERT INTO t VALUES (?)", arguments: [value]))
      let row = try scratch.connection.firstRow("SELECT v, typeof(v) FROM t") { row in
        (try row.value(at: 0), try row.text(at: 1), row.storageClass(at: 0), row.isNull(at: 0))
      }
      // Whole-value comparison without printing megabytes.
      #expect(row?.0 == value, "\(value.description.prefix(40))")
      #expect(row?.1 == value.storageClass.rawValue)
      #expect(row?.2 == value.storageClass)
      #expect(row?.3 == value.isNull)
    }
  }

  @Test func unicodeTextKeepsItsBytes() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(v)")
    for text in ["e\u{301}", "\u{E9}", "\u{FEFF}x", "a\0b"] {
      let hex = try scratch.connection.firstRow(
        "SELECT hex(\(text)), length(CAST(\(text) AS BLOB))"
      ) {
        (try $0.text(at: 0), try $0.integer(at: 1))
      }
      #expect(hex?.1 == Int64(text.utf8.count))
    }
  }

  @Test func negativeZeroBecomesZeroInAREALColumnOnly() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(a, b REAL)")
    try scratch.connection.run("INSERT INTO t VALUES (\(-0.0), \(-0.0))")
    let bits = try scratch.connection.firstRow("SELECT a, b FROM t") { row in
      [try row.real(at: 0).bitPattern, try row.real(at: 1).bitPattern]
    }
    #expect(bits == [(-0.0).bitPattern, (0.0).bitPattern])
  }

  @Test func notANumberIsRefusedBeforeItBecomesNull() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(v)")
    for nan in [Double.nan, -.nan, .signalingNaN] {
      let error = thrownError { try scratch.connection.run("INSERT INTO t VALUES (\(nan))") }
      #expect((error as? SQLiteError)?.code == .unstorable)
      #expect((error as? SQLiteError).map { StoreError($0).code } == .invalidValue)
    }
    #expect(try scratch.connection.rows("SELECT v FROM t") { try $0.value(at: 0) } == [])
  }

  @Test func invalidUTF8ThrowsInsteadOfBeingRepaired() throws {
    let scratch = try ScratchDatabase()
    for hex in ["FF", "C080", "EDA080", "F4908080", "61C3", "80"] {
      let error = thrownError {
        try scratch.connection.firstRow(SQLText(sql: "SELECT CAST(x'\(hex)' AS TEXT)")) {
          try $0.text(at: 0)
        }
      }
      #expect(error as? ColumnError == ColumnError(column: 0, problem: .invalidUTF8), "\(hex)")
      let any = thrownError {
        try scratch.connection.firstRow(SQLText(sql: "SELECT CAST(x'\(hex)' AS TEXT)")) {
          try $0.values()
        }
      }
      #expect(any as? ColumnError == ColumnError(column: 0, problem: .invalidUTF8), "\(hex)")
    }
  }

  @Test func readsNeverConvert() throws {
    let scratch = try ScratchDatabase()
    let cells: [(SQLValue, StorageClass)] = [
      (.null, .null), (.integer(1), .integer), (.real(1), .real), (.text("1"), .text),
      (.blob([0x31]), .blob),
    ]
    for (value, found) in cells {
      let statement = SQLText(sql: "SELECT ?", arguments: [value])
      func problems(_ row: borrowing RowView) -> [StorageClass: ColumnError] {
        var problems: [StorageClass: ColumnError] = [:]
        do { _ = try row.integer(at: 0) } catch { problems[.integer] = error }
        do { _ = try row.real(at: 0) } catch { problems[.real] = error }
        do { _ = try row.text(at: 0) } catch { problems[.text] = error }
        do { _ = try row.blob(at: 0) } catch { problems[.blob] = error }
        return problems
      }
      let readable: Set<StorageClass> = found == .integer ? [.integer, .real] : [found]
      let expected = Dictionary(
        uniqueKeysWithValues: [StorageClass.integer, .real, .text, .blob]
          .filter { !readable.contains($0) }
          .map { wanted in
            (
              wanted,
              ColumnError(column: 0, problem: .storageClass(wanted: wanted, found: found))
            )
          })
      #expect(try scratch.connection.firstRow(statement) { problems($0) } == expected)
      #expect(problems(RowView(image: [value])) == expected)
    }
  }

  @Test func anIntegerIsARealOnlyWhenNothingIsLost() throws {
    let scratch = try ScratchDatabase()
    for (integer, fits) in [(1 << 53, true), (1 << 53 + 1, false), (.max, false), (.min, true)]
      as [(Int64, Bool)]
    {
      let read = try scratch.connection.firstRow("SELECT \(SQLValue.integer(integer))") { row in
        thrownError { try row.real(at: 0) } == nil
      }
      #expect(read == fits, "\(integer)")
    }
  }
}

extension ArgumentRoundTripTests {
  @Test(arguments: [
    SQLValue.real(.infinity), .real(-.infinity), .text("a\0'b"), .text("\0"), .text("it's"),
    .blob([0, 255]), .real(0.1), .integer(.min), .null,
  ])
  func theDescriptionIsALiteralOfTheSameValue(value: SQLValue) throws {
    let scratch = try ScratchDatabase()
    let text = SQLText(sql: "SELECT \(value.description)")
    #expect(try scratch.connection.firstRow(text) { try $0.value(at: 0) } == value)
  }
}
