// Dates in the forms of other designs.
extension FieldText {
  /// Returns the stored value of a date given as text. A column of numbers also accepts a number
  /// that is a date in its own unit.
  static func parseDate(
    _ text: String, for field: FieldSchema
  ) throws(StoreError) -> SQLValue {
    if let moment = DateText.moment(from: text) {
      if let value = storedDate(moment, writtenAs: text, form: field.form) { return value }
    } else if let form = field.form, let number = number(text), isDate(number, in: form) {
      return number
    }
    let example = "a date such as 2026-09-01 or 2026-09-01T12:30:00Z"
    if field.form == .anyDateText, number(text) != nil {
      throw refusal(
        text, field,
        "\(example). For numbers, set the unit with adopt --type TABLE.\(field.name)=date:unix, "
          + "date:unixms or date:julian")
    }
    throw refusal(
      text, field,
      field.form.map { "\(example), which the column stores as \($0.rawValue)" } ?? example)
  }

  /// - Returns: nil when the form cannot hold a part of the moment.
  private static func storedDate(
    _ moment: DateText.Moment, writtenAs text: String, form: FieldForm?
  ) -> SQLValue? {
    let fraction = moment.shortFraction
    switch form?.kind {
    case .dateText(let pattern): return DateText.text(of: moment, as: pattern).map { .text($0) }
    case .anyDateText: return .text(text)
    case .seconds(let distance):
      let whole = moment.whole + distance
      if fraction.isEmpty { return .integer(whole) }
      return DecimalSeconds(whole: whole, fraction: String(fraction)).double.map { .real($0) }
    case .unixMilliseconds: return unixMilliseconds(of: moment).map { .integer($0) }
    case .julianDays:
      guard let milliseconds = unixMilliseconds(of: moment) else { return nil }
      // As SQLite's julianday() computes it, so that the two give the same number.
      let (sum, overflows) = milliseconds.addingReportingOverflow(julianEpochDistance)
      return overflows ? nil : .real(Double(sum) / 86_400_000)
    case .lowercase, .anyCase: return nil
    case nil:
      return DecimalSeconds(whole: moment.whole, fraction: moment.fraction).double
        .map { .real($0) }
    }
  }

  private static func unixMilliseconds(of moment: DateText.Moment) -> Int64? {
    let fraction = moment.shortFraction
    guard fraction.utf8.count <= 3 else { return nil }
    let padded = fraction + String(repeating: "0", count: 3 - fraction.utf8.count)
    guard let part = Int64(padded) else { return nil }
    let (seconds, isTooLate) = moment.whole.addingReportingOverflow(FieldForm.unixEpochDistance)
    // Rounded up, so that the smallest number of milliseconds is reached with its fraction.
    let (whole, isTooFar) = (seconds + (seconds < 0 ? 1 : 0)).multipliedReportingOverflow(by: 1000)
    let (sum, overflows) = whole.addingReportingOverflow(seconds < 0 ? part - 1000 : part)
    return isTooLate || isTooFar || overflows ? nil : sum
  }

  /// Milliseconds from the beginning of Julian day 0 to 1970-01-01.
  private static let julianEpochDistance: Int64 = 210_866_760_000_000

  /// Returns a moment of the clock in this form, to the second.
  ///
  /// - Parameter seconds: Since 2001-01-01 00:00:00 UTC.
  /// - Returns: nil when the form cannot hold a part of the moment.
  static func date(at seconds: Double, form: FieldForm) -> SQLValue? {
    Int64(exactly: seconds.rounded(.down)).flatMap {
      storedDate(DateText.Moment(whole: $0), writtenAs: "", form: form)
    }
  }

  /// Returns the ISO-8601 text for a number in a date field.
  ///
  /// - Returns: nil if the column does not hold dates as numbers, and for a number that cannot be
  ///   read back from the text.
  static func dateText(of value: SQLValue, in field: FieldSchema) -> String? {
    guard let form = field.form else {
      switch value {
      case .integer(let number): return DateText.text(of: Double(number))
      case .real(let number): return DateText.text(of: number)
      case .null, .text, .blob: return nil
      }
    }
    guard let moment = moment(of: value, in: form) else { return nil }
    let text = DateText.text(of: moment)
    guard let again = storedDate(moment, writtenAs: text, form: form) else { return nil }
    return field.affinity.isSame(again, value) ? text : nil
  }

  /// Returns whether a number is a date in the unit of the form. ISO-8601 text need not preserve
  /// every bit of it: a Julian day may be finer than a millisecond.
  private static func isDate(_ number: SQLValue, in form: FieldForm) -> Bool {
    moment(of: number, in: form) != nil
  }

  private static func moment(of value: SQLValue, in form: FieldForm) -> DateText.Moment? {
    // Beyond this many seconds there are no years to write.
    let farthest: Int64 = 1_000_000_000_000_000
    switch (form.kind, value) {
    case (.seconds(let distance), .integer(let number)):
      guard number.magnitude < farthest else { return nil }
      return DateText.Moment(whole: number - distance)
    case (.seconds(let distance), .real(let number)):
      guard let seconds = DecimalSeconds(number), seconds.whole.magnitude < farthest
      else { return nil }
      return DateText.Moment(whole: seconds.whole - distance, fraction: seconds.fraction)
    case (.unixMilliseconds, .integer(let number)):
      return moment(unixMilliseconds: number)
    case (.unixMilliseconds, .real(let number)):
      // A column of REAL affinity has no integers.
      return Int64(exactly: number).map { moment(unixMilliseconds: $0) }
    case (.julianDays, .integer(let days)):
      return moment(julianDays: Double(days))
    case (.julianDays, .real(let days)):
      return moment(julianDays: days)
    default:
      return nil
    }
  }

  private static func moment(julianDays days: Double) -> DateText.Moment? {
    // The years 0 to 9999, as in SQLite.
    guard days >= 0, days < 5_373_484.5 else { return nil }
    return moment(
      unixMilliseconds: Int64((days * 86_400_000).rounded()) - julianEpochDistance)
  }

  private static func moment(unixMilliseconds number: Int64) -> DateText.Moment {
    let (whole, part) = number.quotientAndRemainder(floored: 1000)
    let digits = String(1000 + part).dropFirst()
    return DateText.Moment(
      whole: whole - FieldForm.unixEpochDistance, fraction: part == 0 ? "" : String(digits))
  }
}

extension ColumnAffinity {
  /// Returns whether a column of this affinity stores both values as one. For example, it may store
  /// a whole number as an integer or a real.
  package func isSame(_ written: SQLValue, _ stored: SQLValue) -> Bool {
    switch (converting(written), stored) {
    case (.integer(let left), .real(let right)) where isNumeric: Double(exactly: left) == right
    case (.real(let left), .integer(let right)) where isNumeric: left == Double(exactly: right)
    case (let left, let right): left == right
    }
  }
}

extension FieldText {
  /// Returns whether the field's type contains `value`: whether ``parse(_:for:)`` reads its text as
  /// the same stored value. True for NULL.
  ///
  /// In a table of another design a column can hold other values, such as a text among numbers.
  /// They stay as they are.
  package static func fits(_ value: SQLValue, _ field: FieldSchema) -> Bool {
    switch (value, field.type) {
    case (.null, _), (_, .any), (.text, .text), (.blob, .blob), (.integer, .integer): return true
    case (.real, .real): return true
    case (.integer, .real): return field.affinity.isNumeric
    case (.blob, _), (.text, .integer), (.text, .real), (.text, .boolean): return false
    case (.text, .date) where field.form?.isText != true: return false
    case (.integer, .date), (.real, .date):
      if let form = field.form { return isDate(value, in: form) }
    default: break
    }
    do throws(StoreError) {
      return field.affinity.isSame(try parse(text(of: value, for: field), for: field), value)
    } catch {
      return false
    }
  }
}
