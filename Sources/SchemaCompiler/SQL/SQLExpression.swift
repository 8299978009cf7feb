/// An SQL expression as its tokens. That is enough to find its names and literals, and to check
/// that it is one expression that cannot affect the surrounding SQL. It is not a parser: only
/// SQLite decides whether it accepts the expression.
package struct SQLExpression: Hashable, Sendable {
  package enum Token: Hashable, Sendable {
    /// An identifier or keyword, without its quotes, in lower case as far as SQLite folds it.
    case name(String)
    /// A string literal's text.
    case string(String)
    /// A number or a blob.
    case constant
    /// One character of an operator or of punctuation.
    case symbol(String)
  }

  /// Why the text is not one self-contained expression, worded to follow "the expression".
  package struct Problem: Error, Hashable {
    package let reason: String
  }

  package let text: String
  package let tokens: [Token]

  package init(_ text: String) throws(Problem) {
    let blanks: [Unicode.Scalar] = ["\t", "\n", "\r", "\u{0C}"]
    if text.unicodeScalars.contains(where: { $0.value < 0x20 && !blanks.contains($0) }) {
      throw Problem(reason: "holds a control character")
    }
    let cut = SQLTokens(text)
    var tokens: [Token] = []
    var depth = 0
    for token in cut.tokens where token.kind != .space {
      let found = try Self.token(token, of: cut)
      if found == .symbol("(") { depth += 1 }
      if found == .symbol(")") { depth -= 1 }
      if depth < 0 { throw Problem(reason: "closes a parenthesis that it did not open") }
      tokens.append(found)
    }
    if depth > 0 { throw Problem(reason: "leaves a parenthesis open") }
    if tokens.isEmpty { throw Problem(reason: "is empty") }
    self.text = text
    self.tokens = tokens
  }

  private static func token(
    _ token: SQLTokens.Token, of cut: SQLTokens
  ) throws(Problem) -> Token {
    let text = cut.text(token.range)
    switch token.kind {
    case .quotedName, .string, .blob:
      guard isClosed(text.utf8) else { throw Problem(reason: "leaves a quote open") }
      if token.kind == .blob { return .constant }
      let name = cut.name(token)
      return token.kind == .string ? .string(name) : .name(name.asciiFolded)
    case .word: return .name(text.asciiFolded)
    case .number: return .constant
    case .comment: throw Problem(reason: "holds a comment")
    case .parameter: throw Problem(reason: "holds a parameter")
    case .symbol where text == ";": throw Problem(reason: "holds a semicolon")
    case .symbol, .space: return .symbol(text)
    }
  }

  /// Returns whether a token that begins with a quote, or with `x` and a quote, also ends with it.
  private static func isClosed(_ token: String.UTF8View) -> Bool {
    let isBlob = token.first.map { $0 | 0x20 } == UInt8(ascii: "x")
    guard let quote = token.dropFirst(isBlob ? 1 : 0).first else { return false }
    guard quote != UInt8(ascii: "[") else { return token.last == UInt8(ascii: "]") }
    // A quote inside is doubled, so a closed token contains an even number of them.
    return token.last == quote && token.count { $0 == quote }.isMultiple(of: 2)
  }

  /// The names of the called functions. Keywords before a parenthesis, as in `x IN (1, 2)`, are
  /// included.
  package var calledNames: [String] {
    zip(tokens, tokens.dropFirst()).compactMap { token, next in
      if case .name(let name) = token, next == .symbol("(") { name } else { nil }
    }
  }

  /// The names that are not called: columns, collations and keywords.
  package var plainNames: [String] {
    tokens.indices.compactMap { index in
      guard case .name(let name) = tokens[index] else { return nil }
      let isCalled = index + 1 < tokens.count && tokens[index + 1] == .symbol("(")
      return isCalled ? nil : name
    }
  }

  /// Whether the expression is one literal, which always has the same value: a number with or
  /// without a sign, a string, a blob, NULL, TRUE or FALSE.
  package var isLiteral: Bool {
    let signs: Set<Token> = [.symbol("("), .symbol(")"), .symbol("+"), .symbol("-")]
    let bare = tokens.filter { !signs.contains($0) }
    guard bare.count == 1 else { return false }
    return switch bare[0] {
    case .string, .constant: true
    case .name(let name): ["null", "true", "false"].contains(name)
    case .symbol: false
    }
  }

  /// The part that makes the value depend on more than the record, or nil.
  ///
  /// SQLite refuses `random()` if only deterministic functions are allowed. But it detects the
  /// clock and the time zone in date functions only while running them:
  /// <https://sqlite.org/deterministic.html#special_case_processing_for_date_time_functions>.
  var clockDependency: String? {
    let clocks: Set = ["current_date", "current_time", "current_timestamp"]
    if let name = plainNames.first(where: clocks.contains) { return name }
    let functions: Set = [
      "date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff",
    ]
    let modifiers: Set = ["now", "localtime", "utc", "subsec", "subsecond"]
    guard let function = calledNames.first(where: functions.contains) else { return nil }
    for case .string(let text) in tokens where modifiers.contains(text.asciiFolded) {
      return "\(function)('\(text)')"
    }
    if let function = functionOfNow { return function }
    for index in tokens.indices.dropLast(2) {
      guard case .name(let name) = tokens[index], functions.contains(name),
        tokens[index + 1] == .symbol("("), tokens[index + 2] == .symbol(")")
      else { continue }
      return "\(name)()"
    }
    return nil
  }

  /// A call of strftime with only a format, which uses the current time.
  private var functionOfNow: String? {
    for index in tokens.indices.dropLast(2)
    where tokens[index] == .name("strftime") && tokens[index + 1] == .symbol("(") {
      var depth = 0
      for token in tokens[(index + 1)...] {
        if token == .symbol("(") { depth += 1 }
        if token == .symbol(")") { depth -= 1 }
        if token == .symbol(","), depth == 1 { break }
        if depth == 0 { return "strftime() without a time" }
      }
    }
    return nil
  }

  /// The collations named after COLLATE.
  package var collations: [String] {
    zip(tokens, tokens.dropFirst()).compactMap { token, next in
      guard token == .name("collate"), case .name(let name) = next else { return nil }
      return name
    }
  }
}

extension SQLExpression {
  /// Returns the expression with each column of `model` replaced by the result of `cell`, for
  /// places where bare names have another meaning.
  ///
  /// Keywords are not columns, and neither are names after COLLATE or AS. A name after a table's
  /// name stays as it is, so that SQLite refuses it there.
  package func spelling(
    columnsOf model: ModelSchema, as cell: (FieldSchema) -> String
  ) -> String {
    spelling(columnsOf: model) { field, _ in cell(field) }
  }

  /// As ``spelling(columnsOf:as:)``. `cell` also receives the column as it is written.
  func spelling(
    columnsOf model: ModelSchema, as cell: (FieldSchema, _ written: String) -> String
  ) -> String {
    let columns = Dictionary(
      model.fields.map { (ExactText($0.column.asciiFolded), $0) }
    ) { first, _ in first }
    let cut = SQLTokens(text)
    let significant = cut.significant
    var result = ""
    var end = 0
    for (index, token) in significant.enumerated() {
      guard token.kind == .word || token.kind == .quotedName,
        let field = columns[ExactText(cut.name(token).asciiFolded)],
        !isCall(significant, index, cut), !isNoColumn(significant, index, cut),
        !Self.isKeyword(significant, index, cut)
      else { continue }
      result += cut.text(end..<token.range.lowerBound)
      result += cell(field, cut.text(token.range))
      end = token.range.upperBound
    }
    return result + cut.text(end..<text.utf8.count)
  }

  private func isCall(_ tokens: [SQLTokens.Token], _ index: Int, _ cut: SQLTokens) -> Bool {
    index + 1 < tokens.count && cut.isSymbol(tokens[index + 1], "(")
      && tokens[index].kind == .word
  }

  private func isNoColumn(_ tokens: [SQLTokens.Token], _ index: Int, _ cut: SQLTokens) -> Bool {
    guard index > 0 else { return false }
    let previous = tokens[index - 1]
    return cut.isKeyword(previous, "COLLATE") || cut.isKeyword(previous, "AS")
      || cut.isSymbol(previous, ".")
  }
}
