import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Times of the change journal, in microseconds since 1970-01-01 00:00:00 UTC, and spans of time.
enum TimeText {
  private static let field = FieldSchema(name: "time", type: .date)
  /// Where the dates of fields begin, 2001-01-01 00:00:00 UTC, in seconds since 1970.
  private static let fieldEpoch = Date.timeIntervalBetween1970AndReferenceDate

  /// Now, by the system's clock.
  static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)) }

  /// A time as ISO-8601 in UTC, for programs.
  static func iso(_ time: Int64) -> String {
    FieldText.text(of: .real(Double(time) / 1_000_000 - fieldEpoch), for: field)
  }

  /// How long ago `time` was, for a person: `2 s ago`.
  static func ago(_ time: Int64, now: Int64 = TimeText.now) -> String {
    let seconds = (now - time) / 1_000_000
    switch seconds {
    case ..<1: return "now"
    case ..<60: return "\(seconds) s ago"
    case ..<3600: return "\(seconds / 60) m ago"
    case ..<86_400: return "\(seconds / 3600) h ago"
    default: return "\(seconds / 86_400) d ago"
    }
  }

  /// The time of day where the person is: `12:01:07.412`.
  static func clock(_ time: Int64) -> String {
    var seconds = time_t(time / 1_000_000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    let milliseconds = time / 1000 % 1000
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int64($0), to: 2) }
      .joined(separator: ":") + "." + padded(milliseconds, to: 3)
  }

  private static func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// The microseconds of a span such as `10m` or `1.5h`; nil for any other text.
  static func span(_ text: String) -> Int64? {
    guard let unit = text.last, let size = units[unit], let count = Double(text.dropLast()),
      count.isFinite, count >= 0
    else { return nil }
    return Int64(exactly: (count * size).rounded())
  }

  /// The time that a date such as `2026-09-01T12:30` means; nil for any other text.
  static func time(_ text: String) -> Int64? {
    do {
      guard case .real(let seconds) = try FieldText.parse(text, for: field) else { return nil }
      return Int64(exactly: ((seconds + fieldEpoch) * 1_000_000).rounded())
    } catch {
      return nil
    }
  }

  private static let units: [Character: Double] = [
    "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000,
    "w": 604_800_000_000,
  ]
}
