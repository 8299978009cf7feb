import Foundation
import ModelStore
import Testing

@testable import StoreCommand

/// The periods of dates in each form in which a column may hold them.
@Suite(.tags(.unit)) struct DatePeriodTests {
  private func period(_ period: DatePeriod, _ value: String, _ form: FieldForm?) throws -> String? {
    let field = FieldSchema(name: "at", type: .date, form: form)
    let sql = try #require(period.expression(for: field))
    let store = try Store.inMemory()
    return try store.read { reads in
      try reads.rows(SQLText(sql: "SELECT \(sql) FROM (SELECT \(value) AS at)")).first?.values.first
        .flatMap { value in
          if case .text(let text) = value { text } else { nil }
        }
    }
  }

  @Test(arguments: [
    ("0", nil), ("978307200", "unix"), ("978307200000", "unixms"), ("2451910.5", "julian"),
    ("0", "2001"), ("'2001-01-01'", "YYYY-MM-DD"), ("'2001-01-01 00:00:00'", "YYYY-MM-DD HH:MM:SS"),
    ("'2001-01-01T02:00+02:00'", "ISO-8601"),
  ])
  func everyFormHasTheSamePeriods(value: String, form: String?) throws {
    let form = form.flatMap { FieldForm(rawValue: $0) }
    func found(_ kind: DatePeriod) throws -> String? { try period(kind, value, form) }
    #expect(try found(.year) == "2001")
    #expect(try found(.month) == "2001-01")
    #expect(try found(.week) == "2001-01-01")
    #expect(try found(.day) == "2001-01-01")
    if form?.rawValue != "YYYY-MM-DD" { #expect(try found(.hour) == "2001-01-01T00") }
  }

  /// The last moment of a day: SQLite alone would round it to the next day.
  @Test(arguments: [
    ("-0.0001", nil), ("978307199.9999", "unix"), ("-0.0001", "2001"),
    ("'2000-12-31 23:59:59.9999'", "YYYY-MM-DD HH:MM:SS.S*"),
    ("'2000-12-31T23:59:59.9999999Z'", "ISO-8601"),
    ("'2001-01-01T00:59:59.9999999+01:00'", "ISO-8601"),
  ])
  func noMomentIsRoundedIntoTheNextPeriod(value: String, form: String?) throws {
    let form = form.flatMap { FieldForm(rawValue: $0) }
    #expect(try period(.day, value, form) == "2000-12-31")
    #expect(try period(.hour, value, form) == "2000-12-31T23")
    #expect(try period(.week, value, form) == "2000-12-25")
    #expect(try period(.year, value, form) == "2000")
  }

  @Test func whatIsNoDateHasNoPeriod() throws {
    #expect(try period(.day, "'soon'", .anyDateText) == nil)
    #expect(try period(.day, "'2460000.5'", .anyDateText) == nil)
    #expect(try period(.month, "'x'", FieldForm(rawValue: "YYYY-MM-DD")) == nil)
    #expect(DatePeriod.day.expression(for: FieldSchema(name: "n", type: .integer)) == nil)
    #expect(
      DatePeriod.hour.expression(
        for: FieldSchema(name: "n", type: .date, form: FieldForm(rawValue: "YYYY-MM-DD"))) == nil)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func daysAndHoursAreTheBeginningOfTheDate(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let field = FieldSchema(name: "at", type: .date)
    for _ in 0..<50 {
      let seconds = Double.random(in: -3e10...1e10, using: &generator)
      let text = FieldText.text(of: .real(seconds), for: field)
      #expect(try period(.day, "\(seconds)", nil) == String(text.prefix(10)), "seed \(seed)")
      #expect(try period(.hour, "\(seconds)", nil) == String(text.prefix(13)), "seed \(seed)")
    }
  }
}
