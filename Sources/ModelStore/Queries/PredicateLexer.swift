/// Splits a predicate's text into tokens.
struct PredicateLexer {
  struct Token: Hashable, Sendable {
    enum Content: Hashable, Sendable {
      /// A word that the grammar reserves, or its sign: `&&`, `||`, `!`.
      case keyword(Keyword)
      /// A field's name, bare or from double quotes.
      case name(String)
      case text(String)
      /// Digits with an optional point and exponent, unsigned.
      case number
      /// The whole of `x'0aff'`.
      case blob
      case comparison(Condition.Comparison)
      case symbol(Symbol)
      case end
    }

    var content: Content
    /// The token as written.
    var source: Substring

    var isLiteral: Bool {
      switch content {
      case .text, .number, .blob: true
      case .keyword, .name, .comparison, .symbol, .end: false
      }
    }
  }

  enum Keyword: String, CaseIterable {
    case and, or, not, `is`, null, `in`, between, like, glob, `true`, `false`, today, now
  }

  enum Symbol: Character {
    case open = "("
    case close = ")"
    case comma = ","
    case minus = "-"
    case plus = "+"
  }

  /// The reason and place of text that is not a token.
  struct Failure: Error {
    var message: String
    var source: Substring
  }

  private var rest: Substring.UnicodeScalarView

  init(_ text: String) {
    rest = text[...].unicodeScalars
  }

  /// All tokens, the last one being ``Token/Content/end``.
  static func tokens(of text: String) throws(Failure) -> [Token] {
    var lexer = PredicateLexer(text)
    var tokens: [Token] = []
    while true {
      let token = try lexer.next()
      tokens.append(token)
      if token.content == .end { return tokens }
    }
  }

  private mutating func next() throws(Failure) -> Token {
    while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
    let start = rest
    guard let first = rest.popFirst() else { return Token(content: .end, source: Substring(start)) }
    let content: Token.Content
    switch first {
    case "'":
      content = .text(try takeQuoted(by: "'", from: start, named: "text"))
    case "\"":
      content = .name(try takeQuoted(by: "\"", from: start, named: "name"))
    case "x" where rest.first == "'", "X" where rest.first == "'":
      rest.removeFirst()
      _ = try takeQuoted(by: "'", from: start, named: "blob")
      content = .blob
    case "0"..."9":
      content = try takeNumber(from: start)
    case ".":
      guard let digit = rest.first, ("0"..."9").contains(digit) else {
        throw Failure(
          message: "A point must follow or precede a digit.", source: written(since: start))
      }
      content = try takeNumber(from: start)
    case _ where Self.isWordStart(first):
      content = takeWord(from: start)
    default:
      content = try takeSymbol(first, from: start)
    }
    return Token(content: content, source: written(since: start))
  }

  private mutating func takeSymbol(
    _ first: Unicode.Scalar, from start: Substring.UnicodeScalarView
  ) throws(Failure) -> Token.Content {
    switch first {
    case "=":
      take("=")
      return .comparison(.equal)
    case "!":
      return take("=") ? .comparison(.notEqual) : .keyword(.not)
    case "<":
      if take("=") { return .comparison(.lessOrEqual) }
      return .comparison(take(">") ? .notEqual : .less)
    case ">":
      return .comparison(take("=") ? .greaterOrEqual : .greater)
    case "&":
      if take("&") { return .keyword(.and) }
      throw Failure(message: "Write && or and.", source: written(since: start))
    case "|":
      if take("|") { return .keyword(.or) }
      throw Failure(message: "Write || or or.", source: written(since: start))
    default:
      if let symbol = Symbol(rawValue: Character(first)) { return .symbol(symbol) }
      throw Failure(
        message: "The character \(first.escaped(asASCII: false)) has no meaning here.",
        source: written(since: start))
    }
  }

  @discardableResult
  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == scalar else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads up to the closing quote; a doubled quote stands for one quote.
  private mutating func takeQuoted(
    by quote: Unicode.Scalar, from start: Substring.UnicodeScalarView, named kind: String
  ) throws(Failure) -> String {
    var content = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar == quote {
        if !take(quote) { return String(content) }
      }
      content.append(scalar)
    }
    throw Failure(message: "The \(kind) has no closing \(quote).", source: Substring(start))
  }

  private mutating func takeNumber(
    from start: Substring.UnicodeScalarView
  ) throws(Failure) -> Token.Content {
    var previous: Unicode.Scalar = "0"
    while let scalar = rest.first {
      let isSign = (scalar == "+" || scalar == "-") && (previous == "e" || previous == "E")
      guard Self.isWordPart(scalar) || scalar == "." || isSign else { break }
      rest.removeFirst()
      previous = scalar
    }
    let source = written(since: start)
    guard source.unicodeScalars.allSatisfy({ "0123456789.eE+-".unicodeScalars.contains($0) }),
      Double(source) != nil
    else {
      throw Failure(
        message: "\(source) is not a number; put text in single quotes.", source: source)
    }
    return .number
  }

  private mutating func takeWord(from start: Substring.UnicodeScalarView) -> Token.Content {
    while let scalar = rest.first, Self.isWordPart(scalar) { rest.removeFirst() }
    let word = written(since: start)
    return Keyword(rawValue: word.lowercased()).map { .keyword($0) } ?? .name(String(word))
  }

  private func written(since start: Substring.UnicodeScalarView) -> Substring {
    Substring(start[..<rest.startIndex])
  }

  private static func isWordStart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar == "_" || scalar.value > 0x7F
  }

  private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    isWordStart(scalar) || ("0"..."9").contains(scalar) || scalar == "$"
  }
}
