/// The tokens of an SQL expression: enough to tell which names and literals are in it, and that it
/// is one expression that cannot leave the place it is put in. Not a parser: whether SQLite accepts
/// the expression, SQLite says.
struct SQLExpression: Hashable, Sendable {
  enum Token: Hashable, Sendable {
    /// An identifier or keyword, without its quotes.
    case name(String)
    /// A string literal's text.
    case string(String)
    case number(String)
    case blob(String)
    /// An operator's or separator's single character.
    case symbol(Unicode.Scalar)
  }

  /// Why the text is not one self-contained expression, to follow "the expression".
  struct Problem: Error, Hashable {
    let reason: String
  }

  let text: String
  let tokens: [Token]

  init(_ text: String) throws(Problem) {
    var reader = Reader(text)
    var tokens: [Token] = []
    var depth = 0
    while let token = try reader.next() {
      if token == .symbol("(") { depth += 1 }
      if token == .symbol(")") { depth -= 1 }
      if depth < 0 { throw Problem(reason: "closes a parenthesis that it did not open") }
      tokens.append(token)
    }
    if depth > 0 { throw Problem(reason: "leaves a parenthesis open") }
    if tokens.isEmpty { throw Problem(reason: "is empty") }
    self.text = text
    self.tokens = tokens
  }

  /// The names of the functions that are called, in lower case. Keywords that stand before a
  /// parenthesis, as in `x IN (1, 2)`, are among them.
  var calledNames: [String] {
    zip(tokens, tokens.dropFirst()).compactMap { token, next in
      if case .name(let name) = token, next == .symbol("(") { name.lowercased() } else { nil }
    }
  }

  /// The names that are not called, in lower case: columns, collations and keywords.
  var plainNames: [String] {
    tokens.indices.compactMap { index in
      guard case .name(let name) = tokens[index] else { return nil }
      let isCalled = index + 1 < tokens.count && tokens[index + 1] == .symbol("(")
      return isCalled ? nil : name.lowercased()
    }
  }

  /// Whether the expression is one literal, which has the same value for every record and always:
  /// a number with or without a sign, a string, a blob, NULL, TRUE or FALSE.
  var isLiteral: Bool {
    let bare = tokens.filter { ![.symbol("("), .symbol(")"), .symbol("+"), .symbol("-")].contains($0) }
    guard bare.count == 1 else { return false }
    return switch bare[0] {
    case .string, .number, .blob: true
    case .name(let name): ["null", "true", "false"].contains(name.lowercased())
    case .symbol: false
    }
  }

  /// What makes the value depend on more than the record, or nil.
  ///
  /// SQLite refuses `random()` where only deterministic functions are allowed, but finds the clock
  /// and the time zone in date functions only while running them:
  /// <https://sqlite.org/deterministic.html#special_case_processing_for_date_time_functions>.
  var clockDependency: String? {
    let dateFunctions: Set = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]
    let clockModifiers: Set = ["now", "localtime", "utc", "subsec", "subsecond"]
    for name in plainNames where ["current_date", "current_time", "current_timestamp"].contains(name) {
      return name.uppercased()
    }
    guard let function = calledNames.first(where: dateFunctions.contains) else { return nil }
    for case .string(let text) in tokens where clockModifiers.contains(text.lowercased()) {
      return "\(function)('\(text)')"
    }
    for index in tokens.indices.dropLast(2) {
      guard case .name(let name) = tokens[index], dateFunctions.contains(name.lowercased()),
        tokens[index + 1] == .symbol("("), tokens[index + 2] == .symbol(")")
      else { continue }
      return "\(name)()"
    }
    return nil
  }

  /// The collations named after COLLATE, as written.
  var collations: [String] {
    zip(tokens, tokens.dropFirst()).compactMap { token, next in
      guard case .name(let word) = token, word.lowercased() == "collate", case .name(let name) = next
      else { return nil }
      return name
    }
  }

  /// Reads tokens as SQLite does: <https://sqlite.org/lang_expr.html>.
  private struct Reader {
    private let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ text: String) {
      scalars = Array(text.unicodeScalars)
    }

    private var current: Unicode.Scalar? {
      position < scalars.count ? scalars[position] : nil
    }

    private var following: Unicode.Scalar? {
      position + 1 < scalars.count ? scalars[position + 1] : nil
    }

    mutating func next() throws(Problem) -> Token? {
      while let scalar = current, [" ", "\t", "\n", "\r", "\u{0C}"].contains(scalar) { position += 1 }
      guard let scalar = current else { return nil }
      switch scalar {
      case "'": return .string(try quoted(by: "'"))
      case "\"", "`": return .name(try quoted(by: scalar))
      case "[": return .name(try bracketed())
      case "x" where following == "'", "X" where following == "'":
        position += 1
        return .blob(try quoted(by: "'"))
      case "-" where following == "-", "/" where following == "*":
        throw Problem(reason: "holds a comment")
      case ";": throw Problem(reason: "holds a semicolon")
      case "?", ":", "@", "$", "#": throw Problem(reason: "holds a parameter")
      case "0"..."9": return .number(number())
      case "." where following.map { ("0"..."9").contains($0) } ?? false: return .number(number())
      case _ where isWordPart(scalar): return .name(word())
      case _ where scalar.value < 0x20:
        throw Problem(reason: "holds a control character")
      default:
        position += 1
        return .symbol(scalar)
      }
    }

    private mutating func quoted(by quote: Unicode.Scalar) throws(Problem) -> String {
      var text = String.UnicodeScalarView()
      position += 1
      while let scalar = current {
        position += 1
        if scalar == "\0" { throw Problem(reason: "holds a NUL") }
        guard scalar == quote else {
          text.append(scalar)
          continue
        }
        guard current == quote else { return String(text) }
        text.append(quote)
        position += 1
      }
      throw Problem(reason: "leaves a quote open")
    }

    private mutating func bracketed() throws(Problem) -> String {
      guard let end = scalars[position...].firstIndex(of: "]") else {
        throw Problem(reason: "leaves a bracket open")
      }
      defer { position = end + 1 }
      return String(String.UnicodeScalarView(scalars[position + 1..<end]))
    }

    private mutating func number() -> String {
      let start = position
      while let scalar = current, isWordPart(scalar) || scalar == "." || isExponentSign { position += 1 }
      return String(String.UnicodeScalarView(scalars[start..<position]))
    }

    private var isExponentSign: Bool {
      guard position > 0, let scalar = current, scalar == "+" || scalar == "-" else { return false }
      return scalars[position - 1] == "e" || scalars[position - 1] == "E"
    }

    private mutating func word() -> String {
      let start = position
      while let scalar = current, isWordPart(scalar) || scalar == "$" { position += 1 }
      return String(String.UnicodeScalarView(scalars[start..<position]))
    }

    private func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "_": true
      default: scalar.value > 0x7F
      }
    }
  }
}
