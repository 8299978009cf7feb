#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One pass over a predicate's tokens: a recursive descent parser with one token of lookahead.
/// ``PredicateReading/value(of:for:)`` interprets literals.
struct PredicateReading {
  typealias Token = PredicateLexer.Token

  /// One side of an operator.
  enum Operand {
    case field(Int, Substring)
    case literal(Literal)

    var source: Substring {
      switch self {
      case .field(_, let source): source
      case .literal(let literal): literal.source
      }
    }
  }

  /// A literal whose meaning depends on the field beside it.
  struct Literal {
    var content: Token.Content
    /// As written, with its sign.
    var source: Substring

    var isNull: Bool { content == .keyword(.null) }

    /// A number without the space that may follow its sign.
    var numeral: String { String(source.filter { !$0.isWhitespace }) }
  }

  let text: String
  let schema: ModelSchema
  /// Seconds since 2001-01-01 00:00:00 UTC.
  let now: Double
  /// Whether values are allowed in the text. An order contains only fields.
  private var takesValues = true
  private let tokens: [Token]
  private var position = 0
  private var depth = 0
  /// The first of the deepest parentheses and nots so far.
  private var deepest: (opening: Token, depth: Int)?

  init(_ text: String, schema: ModelSchema, now: Date) throws(PredicateTextError) {
    self.text = text
    self.schema = schema
    self.now = now.timeIntervalSinceReferenceDate
    func failure(_ kind: PredicateTextError.Kind, _ message: String, _ source: Substring)
      -> PredicateTextError
    {
      PredicateTextError(kind, message, at: source, of: text, schema: schema)
    }
    guard text.utf8.count <= PredicateParser.textLengthMax else {
      throw failure(
        .tooLarge, "The text is longer than \(PredicateParser.textLengthMax) bytes.",
        text.prefix(0))
    }
    do {
      tokens = try PredicateLexer.tokens(of: text)
    } catch {
      throw failure(.syntax, error.message, error.source)
    }
    let literals = tokens.lazy.filter(\.isLiteral)
    if let excess = literals.dropFirst(PredicateParser.literalCountMax).first {
      throw failure(
        .tooLarge, "The text contains more than \(PredicateParser.literalCountMax) values.",
        excess.source)
    }
  }

  mutating func wholeCondition() throws(PredicateTextError) -> Condition {
    let condition = try disjunction()
    guard current.content == .end else { throw expected("and, or, or the end") }
    guard condition.depth.isReadable else {
      throw error(
        .tooLarge, "The condition is nested too deeply for SQLite; use fewer parentheses.",
        at: (deepest?.opening ?? tokens[0]).source)
    }
    return condition
  }

  mutating func wholeOrder() throws(PredicateTextError) -> [QueryOrdering] {
    takesValues = false
    var orderings: [QueryOrdering] = []
    repeat {
      let isDescending = take(.symbol(.minus))
      if !isDescending { _ = take(.symbol(.plus)) }
      guard let (index, source) = try takeField() else { throw expected("a field to order by") }
      if schema.fields[index].type == .decimal {
        throw error(
          .value,
          "\(schema.fields[index].name) is a decimal, which is stored as text and cannot be ordered by size.",
          at: source)
      }
      orderings.append(
        QueryOrdering(fieldIndex: index, direction: isDescending ? .descending : .ascending))
    } while take(.symbol(.comma))
    guard current.content == .end else { throw expected("a comma or the end") }
    return orderings
  }

  private mutating func disjunction() throws(PredicateTextError) -> Condition {
    var parts = [try conjunction()]
    while take(.keyword(.or)) { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction() throws(PredicateTextError) -> Condition {
    var parts = [try negation()]
    while take(.keyword(.and)) { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws(PredicateTextError) -> Condition {
    let opening = current
    guard take(.keyword(.not)) else { return try primary() }
    try descend(from: opening)
    defer { depth -= 1 }
    return .not(try negation())
  }

  private mutating func primary() throws(PredicateTextError) -> Condition {
    let opening = current
    guard take(.symbol(.open)) else { return try comparison() }
    try descend(from: opening)
    defer { depth -= 1 }
    let condition = try disjunction()
    guard take(.symbol(.close)) else { throw expected("and, or, or )") }
    return condition
  }

  private mutating func descend(from opening: Token) throws(PredicateTextError) {
    depth += 1
    guard depth <= PredicateParser.depthMax else {
      throw error(
        .tooLarge, "Parentheses and nots are nested deeper than \(PredicateParser.depthMax).",
        at: opening.source)
    }
    if depth > deepest?.depth ?? 0 { deepest = (opening, depth) }
  }

  private mutating func comparison() throws(PredicateTextError) -> Condition {
    let left = try operand(else: "a condition")
    let condition: Condition
    switch current.content {
    case .comparison(let comparison):
      advance()
      condition = try compare(left, comparison, try operand(else: "a value or a field"))
    case .keyword(.is):
      advance()
      let comparison: Condition.Comparison = take(.keyword(.not)) ? .isDistinct : .isIdentical
      condition = try compare(left, comparison, try operand(else: "null, a value or a field"))
    case .keyword(.not):
      advance()
      guard let test = try membership(of: left) else {
        throw expected("in, between, like or glob")
      }
      condition = .not(test)
    default:
      if let test = try membership(of: left) {
        condition = test
      } else {
        return try alone(left)
      }
    }
    switch current.content {
    case .comparison, .keyword(.is):
      throw error(
        .syntax, "Comparisons do not chain; join them with and, or use between.",
        at: current.source)
    default: return condition
    }
  }

  /// Returns a condition made of one operand: a boolean field, true, false or null.
  private func alone(_ operand: Operand) throws(PredicateTextError) -> Condition {
    switch operand {
    case .field(let index, _) where schema.fields[index].type == .boolean:
      return .comparison(.field(index), .notEqual, .value(.integer(0)))
    case .literal(let literal):
      switch literal.content {
      case .keyword(.true): return .constant(true)
      case .keyword(.false): return .constant(false)
      case .keyword(.null): return .constant(nil)
      default: break
      }
    case .field: break
    }
    throw expected("a comparison after \(operand.source)")
  }

  /// Reads `in`, `between`, `like` or `glob` with its operands; nil when none of them follows.
  private mutating func membership(of left: Operand) throws(PredicateTextError) -> Condition? {
    let keyword = current
    switch keyword.content {
    case .keyword(.in), .keyword(.between), .keyword(.like), .keyword(.glob): advance()
    default: return nil
    }
    guard case .field(let index, _) = left else {
      throw error(.syntax, "\(keyword.source) must follow a field.", at: left.source)
    }
    switch keyword.content {
    case .keyword(.in):
      return .isIn(.field(index), try list(for: index))
    case .keyword(.between):
      let lower = try operand(else: "the lower bound")
      guard take(.keyword(.and)) else { throw expected("and with the upper bound") }
      let upper = try operand(else: "the upper bound")
      return .between(
        .field(index), lower: try converted(lower, beside: index, .greaterOrEqual),
        upper: try converted(upper, beside: index, .lessOrEqual))
    case .keyword(.like):
      return .like(.field(index), pattern: try pattern(for: index))
    default:
      return .glob(.field(index), pattern: try pattern(for: index))
    }
  }

  private mutating func list(for index: Int) throws(PredicateTextError) -> [SQLValue] {
    guard take(.symbol(.open)) else { throw expected("( and a list of values") }
    if take(.symbol(.close)) { return [] }
    var values: [SQLValue] = []
    repeat {
      let element = try operand(else: "a value")
      guard case .literal(let literal) = element else {
        throw error(
          .syntax, "A list contains values, not fields; put text in single quotes.",
          at: element.source)
      }
      if literal.isNull {
        throw error(
          .value,
          "null in a list matches nothing. After the list, add “or \(schema.fields[index].name) is null”; after a list of not in, “and \(schema.fields[index].name) is not null”.",
          at: literal.source)
      }
      values.append(try value(of: literal, for: index))
    } while take(.symbol(.comma))
    guard take(.symbol(.close)) else { throw expected("a comma or )") }
    return values
  }

  private mutating func pattern(for index: Int) throws(PredicateTextError) -> String {
    let field = schema.fields[index]
    guard case .text(let pattern) = current.content else {
      throw expected("a pattern between single quotes")
    }
    switch field.type {
    case .text, .uuid, .url, .decimal, .json, .any, .integer: break
    case .date where field.form?.isText == true: break
    case .real, .blob, .boolean, .date:
      throw error(
        .value, "\(field.name) has type \(field.type.rawValue); patterns match text.",
        at: current.source)
    }
    // SQLite reads a pattern up to its first NUL, so the rest would be ignored.
    if pattern.utf8.contains(0) {
      throw error(.value, "A pattern cannot contain NUL.", at: current.source)
    }
    advance()
    return pattern
  }

  /// Reads a field or a literal. If neither follows, the error says that `wanted` is missing.
  private mutating func operand(else wanted: String) throws(PredicateTextError) -> Operand {
    if let (index, source) = try takeField() { return .field(index, source) }
    let token = current
    switch token.content {
    case .number, .text, .blob, .keyword(.true), .keyword(.false), .keyword(.null),
      .keyword(.today), .keyword(.now):
      advance()
      return .literal(Literal(content: token.content, source: token.source))
    case .symbol(.minus), .symbol(.plus):
      advance()
      guard current.content == .number else { throw expected("a number after \(token.source)") }
      let number = current
      advance()
      return .literal(
        Literal(
          content: .number, source: text[token.source.startIndex..<number.source.endIndex]))
    default:
      throw expected(wanted)
    }
  }

  private mutating func takeField() throws(PredicateTextError) -> (Int, Substring)? {
    guard case .name(let name) = current.content else { return nil }
    let source = current.source
    guard let index = fieldIndex(named: name) else {
      let candidates = Spelling.suggestions(for: name, among: schema.fields.map(\.name))
      // If a value is allowed and the word is similar to no field, it was probably meant as text.
      let remedy = candidates.isEmpty && takesValues ? "; put text in single quotes" : ""
      var failure = error(
        .unknownField, "\(schema.name) has no field \(name)\(remedy).", at: source)
      failure.candidates = candidates
      throw failure
    }
    advance()
    return (index, source)
  }

  /// Returns the field with exactly that name, or the only one whose name differs just in case.
  private func fieldIndex(named name: String) -> Int? {
    if let index = schema.fieldIndex(named: name) { return index }
    let folded = name.lowercased()
    let matches = schema.fields.indices.filter { schema.fields[$0].name.lowercased() == folded }
    return matches.count == 1 ? matches[0] : nil
  }

  private var current: Token { tokens[position] }

  private mutating func advance() {
    if position < tokens.count - 1 { position += 1 }
  }

  private mutating func take(_ content: Token.Content) -> Bool {
    guard current.content == content else { return false }
    advance()
    return true
  }

  private func expected(_ wanted: String) -> PredicateTextError {
    let found = current.source.isEmpty ? "the text ends here" : "found \(current.source)"
    return error(.syntax, "Expected \(wanted); \(found).", at: current.source)
  }

  func error(
    _ kind: PredicateTextError.Kind, _ message: String, at source: Substring
  ) -> PredicateTextError {
    PredicateTextError(kind, message, at: source, of: text, schema: schema)
  }
}

extension PredicateTextError {
  /// - Parameter source: A part of `text`; its position is that of the error.
  fileprivate init(
    _ kind: Kind, _ message: String, at source: Substring, of text: String, schema: ModelSchema
  ) {
    self.init(
      kind: kind, message: message,
      utf8Offset: text.utf8.distance(from: text.startIndex, to: source.startIndex),
      characterOffset: text.distance(from: text.startIndex, to: source.startIndex),
      token: String(source), candidates: [], model: schema.name)
  }
}
