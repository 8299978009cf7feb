/// A declarative rule for one field. It becomes a named CHECK in the file, so it binds every
/// writer, and carries a message for people. NULL passes every rule: `Optional` decides about NULL.
public struct FieldRule: Hashable, Sendable {
  private let label: String
  private let message: String
  /// The condition, cut where the quoted column belongs.
  private let condition: [String]

  /// - Parameters:
  ///   - label: Names the rule within its field: `Track.title.LABEL`.
  ///   - message: What is demanded, to follow the field's name: "must be positive".
  ///   - condition: An SQL expression with `{field}` for the field: `"{field} % 2 = 0"`. Only
  ///     deterministic built-in functions are allowed:
  ///     <https://sqlite.org/lang_createtable.html#check_constraints>.
  public static func sql(_ label: String, _ message: String, _ condition: String) -> FieldRule {
    var pieces = [""]
    var rest = condition[...]
    while let placeholder = rest.firstRange(of: "{field}") {
      pieces[pieces.count - 1] += rest[..<placeholder.lowerBound]
      pieces.append("")
      rest = rest[placeholder.upperBound...]
    }
    pieces[pieces.count - 1] += rest
    return FieldRule(label: label, message: message, condition: pieces)
  }

  /// Text with a number of characters (Unicode code points) in `range`.
  public static func length(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule(
      label: "length",
      message: "must have \(counted(range, "character"))",
      condition: ["length(", ") BETWEEN \(range.lowerBound) AND \(range.upperBound)"])
  }

  /// Text with at least `range.lowerBound` characters (Unicode code points).
  public static func length(_ range: PartialRangeFrom<Int>) -> FieldRule {
    FieldRule(
      label: "length", message: "must have at least \(counted(range.lowerBound, "character"))",
      condition: ["length(", ") >= \(range.lowerBound)"])
  }

  /// Text with at most `range.upperBound` characters (Unicode code points).
  public static func length(_ range: PartialRangeThrough<Int>) -> FieldRule {
    FieldRule(
      label: "length", message: "must have at most \(counted(range.upperBound, "character"))",
      condition: ["length(", ") <= \(range.upperBound)"])
  }

  /// Text or bytes that take a number of bytes in `range`: text as UTF-8.
  public static func byteLength(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule(
      label: "byteLength", message: "must take \(counted(range, "byte"))",
      condition: [
        "length(CAST(", " AS BLOB)) BETWEEN \(range.lowerBound) AND \(range.upperBound)",
      ])
  }

  /// Text or bytes that take at most `range.upperBound` bytes: text as UTF-8.
  public static func byteLength(_ range: PartialRangeThrough<Int>) -> FieldRule {
    FieldRule(
      label: "byteLength", message: "must take at most \(counted(range.upperBound, "byte"))",
      condition: ["length(CAST(", " AS BLOB)) <= \(range.upperBound)"])
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
  }

  private static func counted(_ range: ClosedRange<Int>, _ noun: String) -> String {
    range.lowerBound == range.upperBound
      ? "exactly \(counted(range.lowerBound, noun))"
      : "\(range.lowerBound) to \(counted(range.upperBound, noun))"
  }

  /// Text that is not empty and not only spaces.
  public static var notBlank: FieldRule {
    FieldRule(label: "notBlank", message: "must not be empty", condition: ["trim(", ") <> ''"])
  }

  /// A number in `range`, both ends included.
  public static func range<Number: _RuleNumber>(_ range: ClosedRange<Number>) -> FieldRule {
    FieldRule(
      label: "range", message: "must be \(range.lowerBound) to \(range.upperBound)",
      condition: [
        "", " BETWEEN \(range.lowerBound._ruleLiteral) AND \(range.upperBound._ruleLiteral)",
      ])
  }

  /// A number not below `range.lowerBound`.
  public static func range<Number: _RuleNumber>(_ range: PartialRangeFrom<Number>) -> FieldRule {
    FieldRule(
      label: "range", message: "must be \(range.lowerBound) or greater",
      condition: ["", " >= \(range.lowerBound._ruleLiteral)"])
  }

  /// A number not above `range.upperBound`.
  public static func range<Number: _RuleNumber>(_ range: PartialRangeThrough<Number>) -> FieldRule {
    FieldRule(
      label: "range", message: "must be \(range.upperBound) or less",
      condition: ["", " <= \(range.upperBound._ruleLiteral)"])
  }

  /// One of the given texts.
  public static func oneOf(_ texts: String...) -> FieldRule { oneOf(texts) }

  /// One of the given texts.
  public static func oneOf(_ texts: [String]) -> FieldRule {
    FieldRule(
      label: "oneOf", message: message(oneOf: texts.map { $0.isEmpty ? "''" : $0 }),
      condition: ["", " IN (\(texts.map(SQLText.literal).joined(separator: ", ")))"])
  }

  /// One of the given values, as they are stored: `1` is not `'1'`. NULL passes whether it is among
  /// them or not.
  public static func oneOf(values: [SQLValue]) -> FieldRule {
    // What is not in a list with a NULL is neither in it nor not.
    let literals = values.filter { $0 != .null }.map(\.description)
    return FieldRule(
      label: "oneOf", message: message(oneOf: literals),
      condition: ["", " IN (\(literals.joined(separator: ", ")))"])
  }

  private static func message(oneOf texts: [String]) -> String {
    texts.isEmpty ? "must have no value" : "must be one of: \(texts.joined(separator: ", "))"
  }

  /// One of the given numbers.
  public static func oneOf<Number: _RuleNumber>(_ numbers: Number...) -> FieldRule {
    FieldRule(
      label: "oneOf", message: message(oneOf: numbers.map { "\($0)" }),
      condition: ["", " IN (\(numbers.map(\._ruleLiteral).joined(separator: ", ")))"])
  }

  /// Text that matches a LIKE pattern, ASCII letters in either case:
  /// <https://sqlite.org/lang_expr.html#like>.
  public static func matches(like pattern: String) -> FieldRule {
    FieldRule(
      label: "like", message: "must look like \(pattern)",
      condition: ["", " LIKE \(SQLText.literal(pattern))"])
  }

  /// Text that matches a GLOB pattern, case included: <https://sqlite.org/lang_expr.html#glob>.
  public static func matches(glob pattern: String) -> FieldRule {
    FieldRule(
      label: "glob", message: "must look like \(pattern)",
      condition: ["", " GLOB \(SQLText.literal(pattern))"])
  }

  func schema(model: String, field: String, column: String) -> RuleSchema {
    RuleSchema(
      name: "\(model).\(field).\(label)", message: message,
      condition: condition.joined(separator: SQLText.quoted(column)))
  }
}

/// A number that a rule can name as an SQL literal.
public protocol _RuleNumber: Comparable, Sendable {
  var _ruleLiteral: String { get }
}

extension Int: _RuleNumber {
  public var _ruleLiteral: String { String(self) }
}

extension Double: _RuleNumber {
  public var _ruleLiteral: String {
    precondition(isFinite, "A rule's bound must be a finite number.")
    return description
  }
}
