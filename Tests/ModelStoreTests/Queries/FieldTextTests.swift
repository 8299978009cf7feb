import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct FieldTextTests {
  private func value(_ text: String, _ type: FieldType, declared: String? = nil) -> SQLValue? {
    do {
      return try FieldText.parse(
        text, for: FieldSchema(name: "f", type: type, declaredType: declared))
    } catch {
      return nil
    }
  }

  private func text(_ value: SQLValue, _ type: FieldType) -> String {
    FieldText.text(of: value, for: FieldSchema(name: "f", type: type))
  }

  private static let readings: [(FieldType, String, SQLValue)] = [
    (.integer, "-12", .integer(-12)), (.integer, "+007", .integer(7)),
    (.integer, "9223372036854775807", .integer(.max)), (.real, "1.5", .real(1.5)),
    (.real, "-2", .real(-2)), (.real, "18446744073709551616", .real(0x1p64)),
    (.real, "-00010000000000000000000000", .real(-1e22)),
    (.real, "12345678901234567890.0", .real(1.2345678901234567e19)),
    (.real, "123456789012345678901e2", .real(1.2345678901234568e22)),
    (.real, "1e3", .real(1000)), (.boolean, "TRUE", .integer(1)),
    (.boolean, "no", .integer(0)), (.boolean, "1", .integer(1)), (.text, "", .text("")),
    (.text, "00601", .text("00601")), (.any, "12", .text("12")),
    (.blob, "x'0aFF'", .blob([10, 255])), (.blob, "X''", .blob([])),
    (.blob, "base64:Cv8=", .blob([10, 255])), (.blob, "base64:", .blob([])),
    (.uuid, "c0ffee00-0000-4000-8000-00000000000a", .text("C0FFEE00-0000-4000-8000-00000000000A")),
    (.url, "https://example.org/a?b=c", .text("https://example.org/a?b=c")),
    (.decimal, "0.10", .text("0.1")), (.decimal, "-007.00", .text("-7")),
    (.decimal, "-0", .text("0")), (.decimal, "+3.25", .text("3.25")),
    (
      .decimal, "12345678901234567890123456789012345678",
      .text("12345678901234567890123456789012345678")
    ),
    (.date, "2001-01-01", .real(0)), (.date, "2001-01-01T00:00:01Z", .real(1)),
    (.date, "2001-01-01 00:01", .real(60)), (.date, "2001-01-01T02:00:00.25+02:00", .real(0.25)),
    (.date, "2000-12-31T23:59:59.75Z", .real(-0.25)),
    (.date, "2000-12-31T23:59:59.7500Z", .real(-0.25)),
    (.date, "2000-12-31T23:59:59.00Z", .real(-1)), (.date, "2000-12-31T19:00-0500", .real(0)),
    (.date, "1970-01-01", .real(-978_307_200)), (.date, "2026-09-01", .real(809_913_600)),
    (.date, "2024-02-29", .real(730_857_600)), (.date, "+012026-01-01", .real(316_358_438_400)),
    (.json, #"{"a": [1, "é\u00e9", null]}"#, .text(#"{"a": [1, "é\u00e9", null]}"#)),
  ]

  @Test(arguments: readings)
  func theTypeDecidesHowTextIsRead(type: FieldType, text: String, wanted: SQLValue) {
    #expect(value(text, type) == wanted)
  }

  private static let misfits: [(FieldType, String)] = [
    (.integer, "9223372036854775808"), (.integer, "1.0"), (.integer, "1e3"), (.integer, "0x10"),
    (.integer, " 1"), (.integer, ""), (.integer, "abc"), (.integer, "1_000"), (.integer, "١"),
    (.real, "9007199254740993"), (.real, "12345678901234567890"),
    (.real, "-9223372036854775809"), (.real, "100000000000000000000000"),
    (.real, "1e400"), (.real, "nan"), (.real, "inf"),
    (.real, "0x1p3"), (.real, ""), (.real, "1,5"), (.real, "."), (.boolean, "2"), (.boolean, ""),
    (.blob, "x'0'"), (.blob, "x'0g'"), (.blob, "x'"), (.blob, "0aff"), (.blob, "base64:*"),
    (.uuid, "c0ffee00"), (.url, ""), (.decimal, "1e3"), (.decimal, "1."),
    (.decimal, "0.123456789012345678901234567890123456789012345"), (.decimal, "abc"),
    (.json, "{a: 1}"), (.json, ""), (.date, "2023-02-29"), (.date, "2026-9-1"),
    (.date, "2026-09-01T24:00:00Z"), (.date, "2026-09-01T12"), (.date, "2026-09-01Z"),
    (.date, "2026-13-01"), (.date, "1788220800"), (.date, "2026-09-01T12:00:00.Z"),
    (.date, "today"),
  ]

  @Test(arguments: misfits)
  func valuesThatDoNotFitAreRefused(type: FieldType, text: String) {
    #expect(value(text, type) == nil)
  }

  @Test func aNumericColumnKeepsIntegers() {
    #expect(
      value("9007199254740993", .real, declared: "NUMERIC(10,2)") == .integer(9_007_199_254_740_993)
    )
    #expect(value("0.99", .real, declared: "NUMERIC(10,2)") == .real(0.99))
  }

  @Test(arguments: [nil, "NUMERIC(10,2)", "REAL"])
  func digitsBeyond64BitsAreNotLostSilently(declared: String?) {
    let field = FieldSchema(name: "price", type: .real, declaredType: declared)
    let error = #expect(throws: StoreError.self) {
      try FieldText.parse("12345678901234567890", for: field)
    }
    #expect(
      error?.message
        == "price takes a number that a 64-bit real holds exactly, or a rounded one with a point "
        + "or an exponent; got “12345678901234567890”.")
  }

  @Test func refusalsNameTheFieldAndShortenTheText() {
    let field = FieldSchema(name: "age", type: .integer)
    let error = #expect(throws: StoreError.self) {
      try FieldText.parse(String(repeating: "9", count: 2_000_000), for: field)
    }
    #expect(error?.code == .invalidValue)
    #expect(error?.field == "age")
    #expect(
      error?.message
        == "age takes a whole number within 64 bits; got “\(String(repeating: "9", count: 39))…”.")
  }

  @Test func valuesAreShownByType() {
    let shown = [
      text(.null, .text), text(.integer(1), .boolean), text(.integer(0), .boolean),
      text(.integer(2), .boolean), text(.integer(1), .integer), text(.real(1), .real),
      text(.real(0.1), .real), text(.text("a"), .integer), text(.blob([0, 255]), .blob),
      text(.real(0), .date), text(.real(0.5), .date), text(.real(-0.25), .date),
      text(.real(809_959_800), .date), text(.integer(60), .date), text(.real(1e10), .date),
      text(.real(-1e11), .date), text(.real(.infinity), .date), text(.real(1e-7), .date),
    ]
    #expect(
      shown == [
        "", "true", "false", "2", "1", "1.0", "0.1", "a", "x'00ff'", "2001-01-01T00:00:00Z",
        "2001-01-01T00:00:00.5Z", "2000-12-31T23:59:59.75Z", "2026-09-01T12:50:00Z",
        "2001-01-01T00:01:00Z", "2317-11-21T17:46:40Z", "-001168-02-16T14:13:20Z", "inf",
        "2001-01-01T00:00:00.0000001Z",
      ])
  }

  @Test(arguments: [UInt64(3), 303])
  func datesComeBackBitForBit(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let seconds: Double =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Double.random(in: -1e11...1e11, using: &random)
        case 1: Double.random(in: -2...2, using: &random)
        case 2: Double(Int64.random(in: -70_000_000_000...300_000_000_000, using: &random))
        default:
          Double(
            sign: .plus, exponent: Int.random(in: -200...60, using: &random),
            significand: Double.random(in: 1..<2, using: &random))
            * (Bool.random(using: &random) ? 1 : -1)
        }
      let text = text(.real(seconds), .date)
      #expect(value(text, .date) == .real(seconds), "seed \(seed): \(seconds) \(text)")
    }
  }

  @Test func datesAgreeWithSQLitesCalendar() throws {
    var random = SeededGenerator(seed: 5)
    let connection = try QueryFixtures.scratchConnection()
    for _ in 0..<5_000 {
      // SQLite's calendar covers the years 0 to 9999.
      let seconds = Int64.random(in: -63_000_000_000...252_000_000_000, using: &random)
      let wanted = try connection.firstRow(
        "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', \(seconds) + 978307200, 'unixepoch')"
      ) { row in try row.text(at: 0) }
      #expect(text(.real(Double(seconds)), .date) == wanted)
    }
  }

  @Test(arguments: [
    ("{}", true), ("[]", true), (" [1, -0.5e+3, \"a\\n\", true, false, null, {\"b\":[]}] ", true),
    ("3", true), ("\"x\"", true), ("0", true), ("01", false), ("-", false), ("1.", false),
    (".5", false), ("1e", false), ("[1,]", false), ("{\"a\"}", false), ("{\"a\":1,}", false),
    ("{1:2}", false), ("\"a", false), ("\"\\x\"", false), ("\"\\u12g4\"", false),
    ("\"\u{1}\"", false),
    ("tru", false), ("nul", false), ("[1 2]", false), ("1 2", false), ("NaN", false),
    ("'a'", false),
    (String(repeating: "[", count: 500) + String(repeating: "]", count: 500), true),
    (String(repeating: "[", count: 100_000), false),
  ])
  func jsonIsRecognised(text: String, isJSON: Bool) {
    #expect(JSONSyntax.accepts(text) == isJSON)
  }
}
