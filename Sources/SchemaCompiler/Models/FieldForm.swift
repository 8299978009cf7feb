/// The form in which a column of an adopted table stores the values of its type, if it differs from
/// the form in the store's own tables (``FieldType``).
///
/// | Raw value | The column holds |
/// |---|---|
/// | `YYYY-MM-DD`, `YYYY-MM-DD HH:MM:SS`, … | dates as text of this pattern, in UTC |
/// | `ISO-8601` | dates as text in several ISO-8601 forms, each kept as written |
/// | `unix` | dates as seconds since 1970-01-01 00:00:00 UTC |
/// | `unixms` | dates as whole milliseconds since then |
/// | `2001` | dates as seconds since 2001-01-01 00:00:00 UTC, as Core Data writes them |
/// | `julian` | dates as Julian day numbers, exact to the millisecond |
/// | `lowercase` | UUIDs as 36 lower-case characters |
/// | `anycase` | UUIDs as 36 characters in either case, each kept as written |
///
/// A pattern has a day, then optionally a space or `T` and `HH:MM` or `HH:MM:SS`, a fraction and a
/// zone. The fraction is `.SSS` for exactly three digits, `[.SSSSSS]` for six digits or none at
/// all, `.S*` for as many as the value needs. The zone is empty, `Z` or `+00:00`.
public struct FieldForm: RawRepresentable, Hashable, Sendable, Codable {
  /// The form's name or pattern, as the catalog stores it.
  public let rawValue: String
  package let kind: Kind

  package enum Kind: Hashable, Sendable {
    case dateText(DatePattern)
    case anyDateText
    /// Seconds since a moment that lies the given number of seconds before 2001-01-01 00:00:00 UTC.
    case seconds(before2001: Int64)
    case unixMilliseconds
    case julianDays
    case lowercase
    case anyCase
  }

  /// Creates a form from its name or pattern.
  ///
  /// - Returns: nil for any other text.
  public init?(rawValue: String) {
    let kind: Kind? =
      switch rawValue {
      case "ISO-8601": .anyDateText
      case "unix": .seconds(before2001: Self.unixEpochDistance)
      case "2001": .seconds(before2001: 0)
      case "unixms": .unixMilliseconds
      case "julian": .julianDays
      case "lowercase": .lowercase
      case "anycase": .anyCase
      default: DatePattern(rawValue).map { .dateText($0) }
      }
    guard let kind else { return nil }
    self.init(rawValue, kind)
  }

  private init(_ rawValue: String, _ kind: Kind) {
    self.rawValue = rawValue
    self.kind = kind
  }

  package init(_ pattern: DatePattern) {
    self.init(pattern.description, .dateText(pattern))
  }

  /// Seconds from 1970-01-01 to 2001-01-01.
  package static let unixEpochDistance: Int64 = 978_307_200

  /// Dates as text in several ISO-8601 forms, each kept as written.
  public static let anyDateText = FieldForm("ISO-8601", .anyDateText)
  /// Dates as seconds since 1970-01-01 00:00:00 UTC.
  public static let unixSeconds = FieldForm("unix", .seconds(before2001: unixEpochDistance))
  /// Dates as whole milliseconds since 1970-01-01 00:00:00 UTC.
  public static let unixMilliseconds = FieldForm("unixms", .unixMilliseconds)
  /// Dates as Julian day numbers.
  public static let julianDays = FieldForm("julian", .julianDays)
  /// UUIDs as lower-case text.
  public static let lowercase = FieldForm("lowercase", .lowercase)
  /// UUIDs as text in either case, each kept as written.
  public static let anyCase = FieldForm("anycase", .anyCase)

  /// Whether values are texts; otherwise they are numbers.
  package var isText: Bool {
    switch kind {
    case .dateText, .anyDateText, .lowercase, .anyCase: true
    case .seconds, .unixMilliseconds, .julianDays: false
    }
  }

  /// Returns whether values of `type` can have this form.
  package func suits(_ type: FieldType) -> Bool {
    kind == .lowercase || kind == .anyCase ? type == .uuid : type == .date
  }

  /// Returns whether a column of `target` may hold every value of a column of `source`. Both are
  /// forms of the same type.
  package static func holds(_ source: FieldForm?, in target: FieldForm?) -> Bool {
    switch target?.kind {
    case .anyDateText: source?.isText == true
    case .anyCase: true
    default: source == target
    }
  }

  /// The column type in a STRICT table.
  package var columnType: String {
    switch kind {
    case .dateText, .anyDateText, .lowercase, .anyCase: "TEXT"
    case .seconds, .julianDays: "REAL"
    case .unixMilliseconds: "INTEGER"
    }
  }
}

/// One way to write a date: its parts and their separators.
package struct DatePattern: Hashable, Sendable, CustomStringConvertible {
  package enum Fraction: Hashable, Sendable {
    case none
    case digits(Int)
    /// No fraction if it is zero, otherwise this number of digits.
    case optionalDigits(Int)
    /// As many digits as the value needs; no fraction if it is zero.
    case shortest
  }

  /// The separator of day and time; nil for a day alone.
  package var separator: Character?
  package var hasSeconds = false
  package var fraction = Fraction.none
  /// Empty, `Z` or `+00:00`.
  package var zone = ""

  package static let day = DatePattern()
  /// The pattern of `CURRENT_TIMESTAMP`.
  package static let second = DatePattern(separator: " ", hasSeconds: true)

  package init(
    separator: Character? = nil, hasSeconds: Bool = false, fraction: Fraction = .none,
    zone: String = ""
  ) {
    self.separator = separator
    self.hasSeconds = hasSeconds
    self.fraction = fraction
    self.zone = zone
  }

  /// Creates a pattern from a text such as `YYYY-MM-DD HH:MM:SS`.
  package init?(_ text: String) {
    var rest = text[...]
    func take(_ part: String) -> Bool {
      guard rest.hasPrefix(part) else { return false }
      rest = rest.dropFirst(part.count)
      return true
    }
    guard take("YYYY-MM-DD") else { return nil }
    if rest.isEmpty { return }
    separator = take(" ") ? " " : take("T") ? "T" : nil
    guard separator != nil, take("HH:MM") else { return nil }
    hasSeconds = take(":SS")
    if hasSeconds {
      let isOptional = take("[")
      if take(".S*") {
        fraction = .shortest
      } else if take(".") {
        let count = rest.prefix { $0 == "S" }.count
        guard (1...9).contains(count) else { return nil }
        rest = rest.dropFirst(count)
        fraction = isOptional ? .optionalDigits(count) : .digits(count)
      }
      if isOptional, fraction == .none || fraction == .shortest || !take("]") { return nil }
    }
    zone = take("Z") ? "Z" : take("+00:00") ? "+00:00" : ""
    guard rest.isEmpty else { return nil }
  }

  package var description: String {
    guard let separator else { return "YYYY-MM-DD" }
    func digits(_ count: Int) -> String { "." + String(repeating: "S", count: count) }
    let fraction =
      switch fraction {
      case .none: ""
      case .digits(let count): digits(count)
      case .optionalDigits(let count): "[\(digits(count))]"
      case .shortest: ".S*"
      }
    return "YYYY-MM-DD\(separator)HH:MM\(hasSeconds ? ":SS" : "")\(fraction)\(zone)"
  }
}
