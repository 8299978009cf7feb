/// A declarative rule for one field. It becomes a named CHECK in the file, so it applies to every
/// writer, and has a message for people. NULL passes every rule. To refuse NULL, make the field not
/// optional.
public struct FieldRule: Hashable, Sendable {
  private let label: String
  private let message: String
  /// The condition, split at each place of the quoted column.
  private let condition: [String]

  /// - Parameters:
  ///   - label: The rule's name within its field: `Track.title.LABEL`.
  ///   - message: The requirement, worded to follow the field's name: "must be positive".
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

  /// Requires a text with a number of characters (Unicode code points) in `range`.
  public static func length(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule(
      label: "length",
      message: "must have \(counted(range, "character"))",
      condition: ["length(", ") BETWEEN \(range.lowerBound) AND \(range.upperBound)"])
  }

  /// Requires a text with at least `range.lowerBound` characters (Unicode code points).
  public static func length(_ range: PartialRangeFrom<Int>) -> FieldRule {
    FieldRule(
      label: "length", message: "must have at least \(counted(range.lowerBound, "character"))",
      condition: ["length(", ") >= \(range.lowerBound)"])
  }

  /// Requires a text with at most `range.upperBound` characters (Unicode code points).
  public static func length(_ range: PartialRangeThrough<Int>) -> FieldRule {
    FieldRule(
      label: "length", message: "must have at most \(counted(range.upperBound, "character"))",
      condition: ["length(", ") <= \(range.upperBound)"])
  }

  /// Requires a text or blob with a number of bytes in `range`; for a text, in UTF-8.
  public static func byteLength(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule(
      label: "byteLength", message: "must take \(counted(range, "byte"))",
      condition: [
        "length(CAST(", " AS BLOB)) BETWEEN \(range.lowerBound) AND \(range.upperBound)",
      ])
  }

  /// Requires a text or blob with at most `range.upperBound` bytes; for a text, in UTF-8.
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

  /// Requires a text that is not empty and not only spaces.
  public static var notBlank: FieldRule {
    FieldRule(label: "notBlank", message: "must not be empty", condition: ["trim(", ") <> ''"])
  }

  /// Requires a number in `range`, both ends included.
  public static func range<Number: _RuleNumber>(_ range: ClosedRange<Number>) -> FieldRule {
    FieldRule(
      label: "range", message: "must be \(range.lowerBound) to \(range.upperBound)",
      condition: [
        "", " BETWEEN \(range.lowerBound._ruleLiteral) AND \(range.upperBound._ruleLiteral)",
      ])
  }

  /// Requires a number of at least `range.lowerBound`.
  public static func range<Number: _RuleNumber>(_ range: PartialRangeFrom<Number>) -> FieldRule {
    FieldRule(
      label: "range", message: "must be \(range.lowerBound) or greater",
      condition: ["", " >= \(range.lowerBound._ruleLiteral)"])
  }

  /// Requires a number of at most `range.upperBound`.
  public static func range<Number: _RuleNumber>(_ range: PartialRangeThrough<Number>) -> FieldRule {
    FieldRule(
      label: "range", message: "must be \(range.upperBound) or less",
      condition: ["", " <= \(range.upperBound._ruleLiteral)"])
  }

  /// Requires one of the given texts.
  public static func oneOf(_ texts: String...) -> FieldRule { oneOf(texts) }

  /// Requires one of the given texts.
  public static func oneOf(_ texts: [String]) -> FieldRule {
    FieldRule(
      label: "oneOf", message: message(oneOf: texts.map { $0.isEmpty ? "''" : $0 }),
      condition: ["", " IN (\(texts.map(SQLText.literal).joined(separator: ", ")))"])
  }

  /// Requires one of the given values, as stored: `1` is not `'1'`. NULL passes in any case.
  public static func oneOf(values: [SQLValue]) -> FieldRule {
    // With NULL in the list, a value that is not in it would make the condition unknown.
    let literals = values.filter { $0 != .null }.map(\.description)
    return FieldRule(
      label: "oneOf", message: message(oneOf: literals),
      condition: ["", " IN (\(literals.joined(separator: ", ")))"])
  }

  private static func message(oneOf texts: [String]) -> String {
    texts.isEmpty ? "must have no value" : "must be one of: \(texts.joined(separator: ", "))"
  }

  /// Requires one of the given numbers.
  public static func oneOf<Number: _RuleNumber>(_ numbers: Number...) -> FieldRule {
    FieldRule(
      label: "oneOf", message: message(oneOf: numbers.map { "\($0)" }),
      condition: ["", " IN (\(numbers.map(\._ruleLiteral).joined(separator: ", ")))"])
  }

  /// Requires a text that matches a LIKE pattern, ASCII letters in either case:
  /// <https://sqlite.org/lang_expr.html#like>.
  public static func matches(like pattern: String) -> FieldRule {
    FieldRule(
      label: "like", message: "must look like \(pattern)",
      condition: ["", " LIKE \(SQLText.literal(pattern))"])
  }

  /// Requires a text that matches a GLOB pattern, case-sensitively:
  /// <https://sqlite.org/lang_expr.html#glob>.
  public static func matches(glob pattern: String) -> FieldRule {
    FieldRule(
      label: "glob", message: "must look like \(pattern)",
      condition: ["", " GLOB \(SQLText.literal(pattern))"])
  }

  package func schema(model: String, field: String, column: String) -> RuleSchema {
    RuleSchema(
      name: "\(model).\(field).\(label)", message: message,
      condition: condition.joined(separator: SQLText.quoted(column)))
  }
}

/// A number that a rule can write as an SQL literal.
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
