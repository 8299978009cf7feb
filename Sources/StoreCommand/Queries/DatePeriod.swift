import ModelStore

/// A part of the calendar by which dates are grouped, in UTC.
enum DatePeriod: String, CaseIterable, Hashable, Sendable {
  case year
  case month
  case week
  case day
  case hour

  /// Returns the SQL for the period of a date as text: `2026`, `2026-09`, `2026-09-01T12`; a week
  /// is the day of its Monday. NULL for what is not a date.
  ///
  /// - Returns: nil if `field` has no dates, or only days where hours are wanted.
  func expression(for field: FieldSchema) -> String? {
    guard field.type == .date else { return nil }
    let column = SQLText.quoted(field.column)
    switch field.form?.kind {
    case nil, .seconds(before2001: 0):
      return formatted("\(Self.floored(column)) + \(FieldForm.unixEpochDistance), 'unixepoch'")
    case .seconds:
      return formatted("\(Self.floored(column)), 'unixepoch'")
    case .unixMilliseconds:
      return formatted("\(Self.floored("(\(column) / 1000.0)")), 'unixepoch'")
    case .julianDays: return formatted(column)
    case .dateText(let pattern):
      guard self != .hour || pattern.separator != nil else { return nil }
      return ofText(column)
    case .anyDateText: return formatted(Self.withoutFraction(column))
    case .lowercase, .anyCase: return nil
    }
  }

  /// SQLite would round a moment to the nearest millisecond, which may belong to the next day.
  private static func floored(_ number: String) -> String {
    "(CAST(\(number) AS INTEGER) - (\(number) < CAST(\(number) AS INTEGER)))"
  }

  /// - Parameter arguments: A time value of SQLite, and modifiers.
  private func formatted(_ arguments: String) -> String {
    switch self {
    case .year: "strftime('%Y', \(arguments))"
    case .month: "strftime('%Y-%m', \(arguments))"
    // The next Sunday, or this one, and six days back.
    case .week: "strftime('%Y-%m-%d', \(arguments), 'weekday 0', '-6 days')"
    case .day: "strftime('%Y-%m-%d', \(arguments))"
    case .hour: "strftime('%Y-%m-%dT%H', \(arguments))"
    }
  }

  /// The period of a text in UTC, whose beginning is the period.
  private func ofText(_ column: String) -> String {
    let text =
      switch self {
      case .year: "substr(\(column), 1, 4)"
      case .month: "substr(\(column), 1, 7)"
      case .week: formatted("substr(\(column), 1, 10)")
      case .day: "substr(\(column), 1, 10)"
      case .hour: "substr(\(column), 1, 10) || 'T' || substr(\(column), 12, 2)"
      }
    return "CASE WHEN \(column) GLOB '\(Self.dayPattern)*' THEN \(text) END"
  }

  private static let dayPattern =
    ["[0-9][0-9][0-9][0-9]", "[0-1][0-9]", "[0-3][0-9]"].joined(separator: "-")

  /// A text of ISO-8601 in any zone as SQLite reads it, without the digits behind the second, which
  /// it would round.
  private static func withoutFraction(_ column: String) -> String {
    let text = "replace(\(column), 't', 'T')"
    return """
      CASE WHEN \(column) NOT GLOB '\(dayPattern)*' THEN NULL \
      WHEN substr(\(text), 20, 1) = '.' AND substr(\(text), 17, 1) = ':' \
      THEN substr(\(text), 1, 19) || ltrim(substr(\(text), 21), '0123456789') ELSE \(text) END
      """
  }
}
