/// The ISO-8601 text of a date field's stored form, seconds since 2001-01-01 00:00:00 UTC, and
/// back.
///
/// The text has as many digits of the second as the number needs. Reading it gives the same number
/// again, bit for bit (−0.0 becomes 0). Leap seconds do not exist in this count.
enum DateText {
  /// Returns `2026-09-01T12:30:00.25Z`, always UTC. Years outside 0…9999 have a sign and 6 or more
  /// digits.
  ///
  /// - Returns: nil for a number that is not finite or more than 95 billion years away.
  static func text(of seconds: Double) -> String? {
    DecimalSeconds(seconds).map { text(of: Moment(whole: $0.whole, fraction: $0.fraction)) }
  }

  /// Returns the moment in the same form.
  static func text(of moment: Moment) -> String {
    let (day, second) = moment.whole.quotientAndRemainder(floored: secondsPerDay)
    let date = CivilDate(daysSince2001: day)
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }
    let fraction = moment.fraction.isEmpty ? "" : "." + moment.fraction
    return "\(date.text)T\(time.joined(separator: ":"))\(fraction)Z"
  }

  /// Reads a day, or a day and a time with or without a zone, with `T` or a space between them.
  /// Without a zone it is UTC.
  ///
  /// - Returns: nil for anything else, such as the 30th of February.
  static func seconds(from text: String) -> Double? {
    moment(from: text).flatMap { DecimalSeconds(whole: $0.whole, fraction: $0.fraction).double }
  }

  /// A moment with the precision of its text.
  struct Moment: Hashable {
    /// Seconds since 2001-01-01 00:00:00 UTC, rounded down.
    var whole: Int64
    /// The digits after the point of the second; empty if there are none.
    var fraction = ""
    /// The pattern of the text; nil if no pattern matches it.
    var pattern: DatePattern?

    /// The fraction without zeros at its end.
    var shortFraction: Substring {
      fraction.prefix(fraction.utf8.reversed().drop { $0 == 0x30 }.count)
    }
  }

  /// Reads the same texts as ``seconds(from:)``, with every digit.
  static func moment(from text: String) -> Moment? {
    var scanner = Scanner(text)
    guard let date = scanner.takeDate() else { return nil }
    var moment = Moment(whole: date.daysSince2001 * secondsPerDay)
    let hasPlainYear = text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
    if scanner.isAtEnd {
      moment.pattern = hasPlainYear ? .day : nil
      return moment
    }
    var pattern = DatePattern()
    pattern.separator = scanner.take("T") ? "T" : scanner.take(" ") ? " " : nil
    guard pattern.separator != nil || scanner.take("t"),
      let hour = scanner.takeNumber(digits: 2), hour < 24, scanner.take(":"),
      let minute = scanner.takeNumber(digits: 2), minute < 60
    else { return nil }
    moment.whole += hour * 3600 + minute * 60
    if scanner.take(":") {
      guard let second = scanner.takeNumber(digits: 2), second < 60 else { return nil }
      moment.whole += second
      pattern.hasSeconds = true
      if scanner.take(".") {
        moment.fraction = scanner.takeDigits()
        if moment.fraction.isEmpty { return nil }
        pattern.fraction = .digits(moment.fraction.utf8.count)
      }
    }
    pattern.zone = scanner.remaining
    guard let offset = scanner.takeZone(), scanner.isAtEnd else { return nil }
    moment.whole -= offset
    let isPlain =
      hasPlainYear && pattern.separator != nil && ["", "Z", "+00:00"].contains(pattern.zone)
      && moment.fraction.utf8.count <= 9
    moment.pattern = isPlain ? pattern : nil
    return moment
  }

  /// Returns the moment as `pattern` writes it.
  ///
  /// - Returns: nil when the pattern cannot express a part of it, or the year.
  static func text(of moment: Moment, as pattern: DatePattern) -> String? {
    let (day, second) = moment.whole.quotientAndRemainder(floored: secondsPerDay)
    let date = CivilDate(daysSince2001: day)
    let digits = moment.shortFraction
    guard (0...9999).contains(date.year) else { return nil }
    guard let separator = pattern.separator else {
      return second == 0 && digits.isEmpty ? date.text : nil
    }
    var text = date.text + String(separator) + padded(second / 3600, 2)
    text += ":" + padded(second / 60 % 60, 2)
    if pattern.hasSeconds {
      text += ":" + padded(second % 60, 2)
    } else if second % 60 != 0 {
      return nil
    }
    let width: Int
    switch pattern.fraction {
    case .none: width = 0
    case .digits(let count): width = count
    case .optionalDigits(let count): width = digits.isEmpty ? 0 : count
    case .shortest: width = digits.utf8.count
    }
    guard digits.utf8.count <= width else { return nil }
    if width > 0 {
      text += "." + digits + String(repeating: "0", count: width - digits.utf8.count)
    }
    return text + pattern.zone
  }

  private static let secondsPerDay: Int64 = 86_400

  fileprivate static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// A number of seconds in decimal: the whole seconds and the digits after the point. Every bit is
/// preserved because no arithmetic on Doubles is involved.
struct DecimalSeconds {
  var whole: Int64
  var fraction: String

  init(whole: Int64, fraction: String) {
    self.whole = whole
    self.fraction = fraction
  }

  /// The number's shortest decimal form that reads back as the same number.
  init?(_ number: Double) {
    guard number.isFinite, abs(number) < 3e18 else { return nil }
    let parts = abs(number).description.split(separator: "e")
    guard let mantissa = parts.first else { return nil }
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let pieces = mantissa.split(separator: ".", omittingEmptySubsequences: false)
    var digits = pieces.joined()
    var point = pieces[0].count + exponent
    if point < 0 {
      digits = String(repeating: "0", count: -point) + digits
      point = 0
    }
    digits += String(repeating: "0", count: max(0, point - digits.count))
    var fraction = String(digits.dropFirst(point))
    while fraction.last == "0" { fraction.removeLast() }
    guard let magnitude = point == 0 ? 0 : Int64(digits.prefix(point)) else { return nil }
    if number < 0 {
      self.init(
        whole: fraction.isEmpty ? -magnitude : -magnitude - 1, fraction: complement(fraction))
    } else {
      self.init(whole: magnitude, fraction: fraction)
    }
  }

  var double: Double? {
    if fraction.isEmpty || whole >= 0 { return Double("\(whole).\(fraction)0") }
    if fraction.allSatisfy({ $0 == "0" }) { return Double(whole) }
    return Double("-\(-(whole + 1)).\(complement(fraction))")
  }
}

/// Returns the digits after the point of 1 − 0.`fraction`, with the same length; empty if there are
/// none.
private func complement(_ fraction: String) -> String {
  var digits = fraction.utf8.map { 0x39 - $0 + 0x30 }
  var position = digits.count - 1
  while position >= 0 {
    if digits[position] < 0x39 {
      digits[position] += 1
      break
    }
    digits[position] = 0x30
    position -= 1
  }
  return String(decoding: digits, as: UTF8.self)
}

/// A day of the Gregorian calendar, extended to all years.
private struct CivilDate {
  var year: Int64
  var month: Int64
  var day: Int64

  // Years are counted from March, so that the leap day comes last and months before it have fixed
  // lengths; 400 years are always 146,097 days.
  private static let daysPerEra: Int64 = 146_097
  /// Days from 0000-03-01 to 2001-01-01.
  private static let epoch: Int64 = 730_791

  init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  init(daysSince2001 days: Int64) {
    let (era, dayOfEra) = (days + Self.epoch).quotientAndRemainder(floored: Self.daysPerEra)
    let leapDays = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / 146_096
    let yearOfEra = (dayOfEra - leapDays) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  var daysSince2001: Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = marchYear.quotientAndRemainder(floored: 400)
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * Self.daysPerEra + dayOfEra - Self.epoch
  }

  /// Whether the day exists in the calendar.
  var exists: Bool {
    guard (1...12).contains(month), day >= 1 else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let length: Int64 =
      switch month {
      case 2: isLeap ? 29 : 28
      case 4, 6, 9, 11: 30
      default: 31
      }
    return day <= length
  }

  var text: String {
    let digits = DateText.padded(abs(year), (0...9999).contains(year) ? 4 : 6)
    let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
    return "\(sign)\(digits)-\(DateText.padded(month, 2))-\(DateText.padded(day, 2))"
  }
}

/// Reads the parts of a date from the beginning of a text.
private struct Scanner {
  private var rest: Substring.UTF8View

  init(_ text: String) {
    rest = text[...].utf8
  }

  var isAtEnd: Bool { rest.isEmpty }

  var remaining: String { String(Substring(rest)) }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func takeDigits() -> String {
    let digits = rest.prefix { (0x30...0x39).contains($0) }
    rest = rest.dropFirst(digits.count)
    return String(Substring(digits))
  }

  mutating func takeNumber(digits count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    rest = rest.dropFirst(count)
    return Int64(Substring(digits))
  }

  mutating func takeDate() -> CivilDate? {
    let sign: Int64? = take("-") ? -1 : take("+") ? 1 : nil
    let yearDigits = takeDigits()
    // Eleven digits keep the seconds within 64 bits, and write every year that text(of:) does.
    guard sign == nil ? yearDigits.count == 4 : (4...11).contains(yearDigits.count),
      let year = Int64(yearDigits), take("-"), let month = takeNumber(digits: 2), take("-"),
      let day = takeNumber(digits: 2)
    else { return nil }
    let date = CivilDate(year: (sign ?? 1) * year, month: month, day: day)
    return date.exists ? date : nil
  }

  /// Returns the seconds east of UTC, 0 when no zone is given; nil if the text is not a zone.
  mutating func takeZone() -> Int64? {
    if isAtEnd || take("Z") || take("z") { return 0 }
    let sign: Int64
    if take("+") {
      sign = 1
    } else if take("-") {
      sign = -1
    } else {
      return nil
    }
    guard let hours = takeNumber(digits: 2), hours < 24 else { return nil }
    if isAtEnd { return sign * hours * 3600 }
    _ = take(":")
    guard let minutes = takeNumber(digits: 2), minutes < 60 else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }
}

extension Int64 {
  /// Returns the quotient, rounded down, and the remainder from 0 to `divisor - 1`.
  func quotientAndRemainder(floored divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
