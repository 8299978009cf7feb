import ModelStore

/// A field's rule in the terms in which it was declared, as far as its SQL shows them.
enum KnownRule {
  case length(ClosedRange<Int>)
  case lengthFrom(Int)
  case lengthThrough(Int)
  case byteLength(ClosedRange<Int>)
  case byteLengthThrough(Int)
  case notBlank
  case range(Bound, Bound)
  case rangeFrom(Bound)
  case rangeThrough(Bound)
  case oneOf([String])
  case oneOfNumbers([Bound])
  case like(String)
  case glob(String)

  /// A number as the rule writes it.
  enum Bound: Equatable {
    case integer(Int)
    case real(Double)

    init?(_ text: Substring) {
      if let number = Int(text) {
        self = .integer(number)
      } else if let number = Double(text), number.isFinite {
        self = .real(number)
      } else {
        return nil
      }
    }

    var real: Double {
      switch self {
      case .integer(let number): Double(number)
      case .real(let number): number
      }
    }
  }

  /// - Returns: nil if the rule has another form, or another message than such a rule has.
  init?(_ rule: RuleSchema, of field: FieldSchema, in model: ModelSchema) {
    let start = "\(model.name).\(field.name)."
    guard rule.name.hasPrefix(start),
      let known = Self.parsed(
        label: rule.name.dropFirst(start.count), Self.template(of: rule, field)),
      known.rule?.schema(model: model.name, field: field.name, column: field.column) == rule
    else { return nil }
    self = known
  }

  /// The condition, with `{field}` in the place of the column.
  static func template(of rule: RuleSchema, _ field: FieldSchema) -> String {
    rule.condition.replacing(SQLText.quoted(field.column), with: "{field}")
  }

  private static func parsed(label: Substring, _ template: String) -> KnownRule? {
    func numbers(after start: String) -> [Bound]? {
      guard template.hasPrefix(start) else { return nil }
      let parts = template.dropFirst(start.count).split(separator: " ").filter { $0 != "AND" }
      let bounds = parts.compactMap { Bound($0) }
      return bounds.count == parts.count ? bounds : nil
    }
    func count(after start: String) -> Int? {
      if case .integer(let count)? = numbers(after: start)?.first { count } else { nil }
    }
    func range(after start: String) -> ClosedRange<Int>? {
      guard let bounds = numbers(after: start), bounds.count == 2,
        case .integer(let low) = bounds[0], case .integer(let high) = bounds[1], low <= high
      else { return nil }
      return low...high
    }
    switch label {
    case "length":
      return range(after: "length({field}) BETWEEN ").map { .length($0) }
        ?? count(after: "length({field}) >= ").map { .lengthFrom($0) }
        ?? count(after: "length({field}) <= ").map { .lengthThrough($0) }
    case "byteLength":
      return range(after: "length(CAST({field} AS BLOB)) BETWEEN ").map { .byteLength($0) }
        ?? count(after: "length(CAST({field} AS BLOB)) <= ").map { .byteLengthThrough($0) }
    case "notBlank": return .notBlank
    case "range":
      if let bounds = numbers(after: "{field} BETWEEN "), bounds.count == 2 {
        return .range(bounds[0], bounds[1])
      }
      return numbers(after: "{field} >= ").flatMap { $0.first.map { .rangeFrom($0) } }
        ?? numbers(after: "{field} <= ").flatMap { $0.first.map { .rangeThrough($0) } }
    case "oneOf": return oneOf(template)
    case "like": return text(after: "{field} LIKE ", template).map { .like($0) }
    case "glob": return text(after: "{field} GLOB ", template).map { .glob($0) }
    default: return nil
    }
  }

  private static func oneOf(_ template: String) -> KnownRule? {
    let start = "{field} IN ("
    guard template.hasPrefix(start), template.hasSuffix(")") else { return nil }
    let list = String(template.dropFirst(start.count).dropLast())
    let cut = SQLTokens(list)
    let tokens = cut.significant.filter { cut.text($0.range) != "," }
    if tokens.allSatisfy({ $0.kind == .string }) { return .oneOf(tokens.map { cut.name($0) }) }
    let numbers = list.split(separator: ",").map { part in
      Bound(Substring(part.drop { $0 == " " }))
    }
    let known = numbers.compactMap(\.self)
    return known.count == numbers.count ? .oneOfNumbers(known) : nil
  }

  private static func text(after start: String, _ template: String) -> String? {
    guard template.hasPrefix(start) else { return nil }
    let cut = SQLTokens(String(template.dropFirst(start.count)))
    guard cut.tokens.count == 1, cut.tokens[0].kind == .string else { return nil }
    return cut.name(cut.tokens[0])
  }

  /// The rule that it declares; nil for bounds in the wrong order.
  private var rule: FieldRule? {
    switch self {
    case .length(let range): .length(range)
    case .lengthFrom(let least): .length(least...)
    case .lengthThrough(let most): .length(...most)
    case .byteLength(let range): .byteLength(range)
    case .byteLengthThrough(let most): .byteLength(...most)
    case .notBlank: .notBlank
    case .range(.integer(let low), .integer(let high)): low <= high ? .range(low...high) : nil
    case .range(let low, let high): low.real <= high.real ? .range(low.real...high.real) : nil
    case .rangeFrom(.integer(let low)): .range(low...)
    case .rangeFrom(let low): .range(low.real...)
    case .rangeThrough(.integer(let high)): .range(...high)
    case .rangeThrough(let high): .range(...high.real)
    case .oneOf(let texts): .oneOf(texts)
    case .oneOfNumbers(let bounds): Self.oneOf(bounds)
    case .like(let pattern): .matches(like: pattern)
    case .glob(let pattern): .matches(glob: pattern)
    }
  }

  private static func oneOf(_ bounds: [Bound]) -> FieldRule? {
    let integers = bounds.compactMap { if case .integer(let number) = $0 { number } else { nil } }
    guard integers.count == bounds.count else { return nil }
    return .oneOf(values: integers.map { .integer(Int64($0)) })
  }

  /// The rule in Swift.
  var swift: String {
    func number(_ bound: Bound) -> String {
      switch bound {
      case .integer(let number): number < 0 ? "(\(number))" : "\(number)"
      case .real(let number): number < 0 ? "(\(number))" : "\(number)"
      }
    }
    func range(_ low: Bound, _ high: Bound) -> String { ".range(\(number(low))...\(number(high)))" }
    return switch self {
    case .length(let range): ".length(\(range.lowerBound)...\(range.upperBound))"
    case .lengthFrom(let least): ".length(\(least)...)"
    case .lengthThrough(let most): ".length(...\(most))"
    case .byteLength(let range): ".byteLength(\(range.lowerBound)...\(range.upperBound))"
    case .byteLengthThrough(let most): ".byteLength(...\(most))"
    case .notBlank: ".notBlank"
    case .range(let low, let high): range(low, high)
    case .rangeFrom(let low): ".range(\(number(low))...)"
    case .rangeThrough(let high): ".range(...\(number(high)))"
    case .oneOf(let texts): ".oneOf([\(texts.map(SwiftText.literal).joined(separator: ", "))])"
    case .oneOfNumbers(let bounds):
      ".oneOf(values: [\(bounds.map { ".integer(\(number($0)))" }.joined(separator: ", "))])"
    case .like(let pattern): ".matches(like: \(SwiftText.literal(pattern)))"
    case .glob(let pattern): ".matches(glob: \(SwiftText.literal(pattern)))"
    }
  }
}
