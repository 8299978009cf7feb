import Testing

@testable import ModelStore

/// Dates and UUIDs as columns of other designs hold them.
@Suite(.tags(.unit)) struct FieldFormTests {
  private func field(_ form: String, _ declaredType: String = "DATETIME") throws -> FieldSchema {
    let form = try #require(FieldForm(rawValue: form))
    return FieldSchema(
      name: "f", type: form.suits(.uuid) ? .uuid : .date, form: form, declaredType: declaredType)
  }

  @Test(arguments: [
    ("YYYY-MM-DD", "2021-02-03", SQLValue.text("2021-02-03")),
    ("YYYY-MM-DD", "2021-02-03T00:00Z", .text("2021-02-03")),
    ("YYYY-MM-DD HH:MM:SS", "2021-02-03", .text("2021-02-03 00:00:00")),
    ("YYYY-MM-DD HH:MM:SS", "2021-02-03T06:05:06+02:00", .text("2021-02-03 04:05:06")),
    ("YYYY-MM-DDTHH:MM:SS.SSSZ", "2021-02-03 04:05", .text("2021-02-03T04:05:00.000Z")),
    ("YYYY-MM-DD HH:MM:SS[.SSSSSS]", "2021-02-03 04:05:06.5", .text("2021-02-03 04:05:06.500000")),
    ("YYYY-MM-DD HH:MM:SS.S*", "2021-02-03 04:05:06.500", .text("2021-02-03 04:05:06.5")),
    ("ISO-8601", "2021-02-03T06:05+02:00", .text("2021-02-03T06:05+02:00")),
    ("unix", "2020-09-13T12:26:40Z", .integer(1_600_000_000)),
    ("unix", "2020-09-13T12:26:40.25Z", .real(1_600_000_000.25)),
    ("unix", "1969-12-31T23:59:59.75Z", .real(-0.25)), ("unix", "12", .integer(12)),
    ("unixms", "2020-09-13T12:26:40.25Z", .integer(1_600_000_000_250)),
    ("unixms", "1969-12-31T23:59:59.995Z", .integer(-5)),
    ("julian", "2000-01-01T12:00:00Z", .real(2_451_545)),
    ("2001", "2001-01-01T00:00:01Z", .integer(1)),
    (
      "lowercase", "C0FFEE00-0000-4000-8000-00000000000A",
      .text("c0ffee00-0000-4000-8000-00000000000a")
    ),
    (
      "anycase", "C0ffee00-0000-4000-8000-00000000000A",
      .text("C0ffee00-0000-4000-8000-00000000000A")
    ),
  ])
  func aTextBecomesTheColumnsOwnForm(form: String, text: String, value: SQLValue) throws {
    let field = try field(form)
    #expect(try FieldText.parse(text, for: field) == value)
    #expect(FieldText.fits(value, field))
    #expect(try FieldText.parse(FieldText.text(of: value, for: field), for: field) == value)
  }

  /// Another program may have stored any number in a column of dates. The text of a number that is
  /// not a date is refused.
  @Test(arguments: ["unix", "unixms", "julian", "2001"])
  func everyStoredNumberHasATextThatIsReadOnlyWhereItIsADate(form: String) throws {
    let field = try field(form)
    let numbers: [SQLValue] = [
      .integer(.min), .integer(.min + 807), .integer(.min + 1000), .integer(.max),
      .real(-1e300), .real(1e300),
    ]
    for number in numbers {
      let text = FieldText.text(of: number, for: field)
      guard FieldText.fits(number, field) else {
        #expect(throws: StoreError.self, "\(text)") { try FieldText.parse(text, for: field) }
        continue
      }
      #expect(try FieldText.parse(text, for: field) == number, "\(text)")
    }
  }

  @Test(arguments: ["unix", "unixms", "julian", "2001"])
  func aYearBeyondTheColumnsNumbersIsRefusedOrKept(form: String) throws {
    let field = try field(form)
    for text in ["+99999999999-01-01", "-99999999999-01-01"] {
      do {
        _ = try FieldText.parse(text, for: field)
      } catch {
        #expect(error.code == .invalidValue, "\(error)")
      }
    }
  }

  @Test(arguments: [
    ("YYYY-MM-DD", "2021-02-30"), ("YYYY-MM-DD", "2021-02-03T04:05"), ("YYYY-MM-DD", "12"),
    ("YYYY-MM-DD HH:MM", "2021-02-03 04:05:06"), ("YYYY-MM-DD HH:MM:SS", "2021-02-03 04:05:06.5"),
    ("YYYY-MM-DD HH:MM:SS.SSS", "2021-02-03 04:05:06.1234"), ("ISO-8601", "2021-02-30"),
    ("ISO-8601", "soon"), ("unix", "abc"), ("unix", "2021-02-30"), ("unix", "1e999"),
    ("unixms", "2021-02-03 04:05:06.1234"), ("julian", "2021-02-03 04:05:06.1234"),
    ("YYYY-MM-DD", "+012026-01-01"), ("unix", "1e300"), ("unix", "12345678901234567890"),
    ("unixms", "1.5"), ("unixms", "1e300"), ("julian", "1e10"), ("julian", "-1"), ("2001", "1e300"),
  ])
  func valuesThatTheFormCannotHoldAreRefused(form: String, text: String) throws {
    let field = try field(form)
    let error = #expect(throws: StoreError.self) { try FieldText.parse(text, for: field) }
    #expect(
      error?.message
        == "f takes a date such as 2026-09-01 or 2026-09-01T12:30:00Z, which the column stores as "
        + "\(form); got “\(text)”.")
  }

  /// Nothing says in which unit a column without values counts.
  @Test(arguments: ["1600000000", "2459106.5", "20210203", "-1"])
  func aColumnOfISO8601TextRefusesNumbersAndSaysWhatToDo(text: String) throws {
    let error = #expect(throws: StoreError.self) {
      try FieldText.parse(text, for: try field("ISO-8601"))
    }
    #expect(
      error?.message
        == "f takes a date such as 2026-09-01 or 2026-09-01T12:30:00Z. For numbers, set the unit "
        + "with adopt --type TABLE.f=date:unix, date:unixms or date:julian; got “\(text)”.")
  }

  @Test(arguments: [
    ("unix", SQLValue.integer(-12), true), ("unix", .real(0.25), true),
    ("unix", .integer(.max), false), ("unix", .real(.infinity), false),
    ("unixms", .integer(12), true), ("unixms", .real(12), true), ("unixms", .real(1.5), false),
    ("unixms", .real(1e300), false), ("julian", .integer(0), true),
    ("julian", .real(2_459_107.123456789), true), ("julian", .integer(-1), false),
    ("julian", .real(1e10), false), ("2001", .real(-1e300), false),
  ])
  func aNumberFitsWhereItIsADateInTheColumnsUnit(
    form: String, number: SQLValue, fits: Bool
  ) throws {
    #expect(FieldText.fits(number, try field(form)) == fits)
  }

  @Test func aTextThatIsNotAUUIDIsRefused() throws {
    for form in ["anycase", "lowercase"] {
      #expect(throws: StoreError.self) { try FieldText.parse("c0ffee", for: try field(form)) }
    }
  }

  @Test(arguments: [
    "", "YYYY", "YYYY-MM-DD ", "YYYY-MM-DD HH", "YYYY-MM-DDZ", "YYYY-MM-DD HH:MM:SS.",
    "YYYY-MM-DD HH:MM:SS[.S*]", "YYYY-MM-DD HH:MM:SS[.SSS", "YYYY-MM-DD HH:MM:SS.SSSSSSSSSS",
    "YYYY-MM-DD HH:MM.SSS", "DD.MM.YYYY", "Unix",
  ])
  func anUnknownFormIsRefused(text: String) {
    #expect(FieldForm(rawValue: text) == nil)
  }

  @Test(arguments: [
    ("unix", SQLValue.real(.infinity), "inf"), ("unix", .real(1e300), "1e+300"),
    ("unix", .integer(.max), "9223372036854775807"), ("unixms", .real(0.5), "0.5"),
    ("julian", .real(2_451_545.000_000_001), "2451545.000000001"), ("julian", .integer(-1), "-1"),
    ("YYYY-MM-DD", .integer(20_210_203), "20210203"), ("YYYY-MM-DD", .text("soon"), "soon"),
    ("YYYY-MM-DD", .text("2021-02-03 04:05:06"), "2021-02-03 04:05:06"),
  ])
  func aValueInAnotherFormIsShownUnchanged(form: String, value: SQLValue, text: String) throws {
    let field = try field(form)
    #expect(FieldText.text(of: value, for: field) == text)
  }

  /// A number shown as a date is the number that the text gives back.
  @Test(arguments: [UInt64(7), 707])
  func numbersComeBackBitForBit(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let forms = try ["unix", "2001", "unixms", "julian"].map { try field($0, "REAL") }
    var shownCount = 0
    for _ in 0..<5_000 {
      let value: SQLValue =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .real(Double.random(in: -1e11...1e11, using: &random))
        case 1: .integer(Int64.random(in: -1 << 50...1 << 50, using: &random))
        case 2:
          .real(Double(Int64.random(in: 0...464_269_060_799_999, using: &random)) / 86_400_000)
        default: .real(Double.random(in: -2...2, using: &random))
        }
      for field in forms {
        guard FieldText.fits(value, field) else { continue }
        let text = FieldText.text(of: value, for: field)
        if text.contains("T") { shownCount += 1 }
        let again = try FieldText.parse(text, for: field)
        #expect(field.affinity.isSame(again, value), "seed \(seed): \(value) \(text)")
      }
    }
    #expect(shownCount > 5_000)
  }

  /// Julian day numbers equal the results of SQLite's own functions.
  @Test func julianDaysAgreeWithSQLite() throws {
    var random = SeededGenerator(seed: 9)
    let connection = try QueryFixtures.scratchConnection()
    let field = try field("julian")
    for _ in 0..<2_000 {
      // Eighths of a second are exact in binary, where SQLite computes them.
      let milliseconds =
        Int64.random(in: -480_000_000_000...2_000_000_000_000, using: &random) * 125
      let text = FieldText.text(of: .integer(milliseconds), for: try self.field("unixms"))
      let days = try connection.firstRow("SELECT julianday(\(text))") { row in
        try row.real(at: 0)
      }
      #expect(try FieldText.parse(text, for: field) == .real(try #require(days)), "\(text)")
    }
  }
}
