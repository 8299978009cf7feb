import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
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

  /// A time as ISO-8601 in UTC, for programs. Many lines contain one, so it is built
  /// from bytes.
  static func iso(_ time: Int64) -> String {
    let (whole, microseconds) = split(time)
    var seconds = time_t(whole)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text: [UInt8] = []
    text.reserveCapacity(isoWidth)
    append(Int64(parts.tm_year) + 1900, to: 4, "-", &text)
    append(Int64(parts.tm_mon) + 1, to: 2, "-", &text)
    append(Int64(parts.tm_mday), to: 2, "T", &text)
    append(Int64(parts.tm_hour), to: 2, ":", &text)
    append(Int64(parts.tm_min), to: 2, ":", &text)
    append(Int64(parts.tm_sec), to: 2, ".", &text)
    append(microseconds, to: 6, "Z", &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Of a year of four digits.
  private static let isoWidth = 27

  /// Appends `number` as ``padded(_:to:)`` writes it, and `end`.
  private static func append(
    _ number: Int64, to width: Int, _ end: Unicode.Scalar, _ text: inout [UInt8]
  ) {
    var divisor: Int64 = 1
    for _ in 1..<width { divisor *= 10 }
    if (0..<divisor * 10).contains(number) {
      while divisor > 0 {
        text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
        divisor /= 10
      }
    } else {
      text.append(contentsOf: padded(number, to: width).utf8)
    }
    text.append(UInt8(ascii: end))
  }

  /// Whole seconds and the microseconds above them, before 1970 too.
  private static func split(_ time: Int64) -> (seconds: Int64, microseconds: Int64) {
    let (quotient, remainder) = time.quotientAndRemainder(dividingBy: 1_000_000)
    return remainder < 0 ? (quotient - 1, remainder + 1_000_000) : (quotient, remainder)
  }

  private static func date(_ parts: tm) -> String {
    padded(Int64(parts.tm_year) + 1900, to: 4)
      + [parts.tm_mon + 1, parts.tm_mday].map { "-" + padded(Int64($0), to: 2) }.joined()
  }

  private static func timeOfDay(_ parts: tm) -> String {
    [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int64($0), to: 2) }
      .joined(separator: ":")
  }

  /// How long ago `time` was, for a person: `2 s ago`.
  static func ago(_ time: Int64, now: Int64 = TimeText.now) -> String {
    // Another program may have stored any time.
    let (distance, isTooLong) = now.subtractingReportingOverflow(time)
    let seconds = (isTooLong ? (time < 0 ? .max : 0) : distance) / 1_000_000
    switch seconds {
    case ..<1: return "now"
    case ..<60: return "\(seconds) s ago"
    case ..<3600: return "\(seconds / 60) m ago"
    case ..<86_400: return "\(seconds / 3600) h ago"
    default: return "\(seconds / 86_400) d ago"
    }
  }

  /// The time of day where the person is, `12:01:07.412`, with the date when that is not today.
  static func clock(_ time: Int64, now: Int64 = TimeText.now) -> String {
    let (seconds, microseconds) = split(time)
    let parts = local(seconds)
    let clock = timeOfDay(parts) + "." + padded(microseconds / 1000, to: 3)
    let isToday = date(parts) == date(local(split(now).seconds))
    return isToday ? clock : date(parts) + " " + clock
  }

  /// Text as wide as a time of day, for an unknown time.
  static let noClock = "--:--:--.---"

  private static func local(_ seconds: Int64) -> tm {
    var seconds = time_t(seconds)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return parts
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
