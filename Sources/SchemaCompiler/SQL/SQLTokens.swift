/// SQL text split into tokens as SQLite does it: <https://sqlite.org/lang_keywords.html>,
/// <https://sqlite.org/lang_comment.html>. It is not a parser: it recognizes strings and comments,
/// but not the meaning of a statement.
///
/// The tokens cover the text without gaps, so joining them returns the text.
package struct SQLTokens {
  package struct Token: Hashable {
    package enum Kind: Hashable {
      /// A keyword or a bare identifier.
      case word
      /// An identifier in double quotes, backticks or brackets.
      case quotedName
      case string
      case blob
      case number
      case parameter
      /// One byte of an operator or punctuation.
      case symbol
      case space
      case comment
    }

    package let kind: Kind
    /// Byte offsets in the text.
    package let range: Range<Int>
  }

  package let tokens: [Token]
  private let bytes: [UInt8]

  package init(_ sql: String) {
    let bytes = Array(sql.utf8)
    var tokens: [Token] = []
    var scanner = Scanner(bytes: bytes)
    while let token = scanner.next() { tokens.append(token) }
    self.bytes = bytes
    self.tokens = tokens
  }

  /// The tokens without spaces and comments.
  package var significant: [Token] {
    tokens.filter { $0.kind != .space && $0.kind != .comment }
  }

  package func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// Whether `token` is the bare word `keyword`, given in upper case.
  package func isKeyword(_ token: Token, _ keyword: String) -> Bool {
    guard token.kind == .word, token.range.count == keyword.utf8.count else { return false }
    return zip(bytes[token.range], keyword.utf8).allSatisfy { byte, wanted in
      upperCased(byte) == wanted
    }
  }

  /// Whether `token` is this byte of an operator or punctuation.
  package func isSymbol(_ token: Token, _ symbol: Character) -> Bool {
    token.kind == .symbol && bytes[token.range.lowerBound] == symbol.asciiValue
  }

  /// Returns the name in `token`: a bare word as it is, a quoted name without its quotes.
  ///
  /// SQLite also accepts a string where it expects a name:
  /// <https://sqlite.org/quirks.html#dblquote>.
  package func name(_ token: Token) -> String {
    guard token.kind == .quotedName || token.kind == .string else { return text(token.range) }
    let quote = bytes[token.range.lowerBound]
    let inner = bytes[token.range].dropFirst().dropLast()
    guard quote != UInt8(ascii: "[") else { return String(decoding: inner, as: UTF8.self) }
    var name: [UInt8] = []
    var isSecondQuote = false
    for byte in inner {
      isSecondQuote = byte == quote && !isSecondQuote
      if !isSecondQuote { name.append(byte) }
    }
    return String(decoding: name, as: UTF8.self)
  }

  /// The text with every run of blanks, line ends and comments as one space, and none at either
  /// end. Strings and quoted names stay as they are. Two texts with the same normal form have the
  /// same meaning in SQLite.
  package var normalized: String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var isGap = false
    for token in tokens {
      if token.kind == .space || token.kind == .comment {
        isGap = true
        continue
      }
      if isGap, !result.isEmpty { result.append(UInt8(ascii: " ")) }
      isGap = false
      result += bytes[token.range]
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The statements of a script, each without its semicolon. The body of a CREATE TRIGGER stays
  /// whole: it ends at an END between two semicolons, as in sqlite3_complete():
  /// <https://sqlite.org/c3ref/complete.html>.
  package var statements: [String] {
    var statements: [String] = []
    var current: [Token] = []
    for token in significant {
      guard isSymbol(token, ";") else {
        current.append(token)
        continue
      }
      if isInsideTrigger(current) {
        current.append(token)
        continue
      }
      if let statement = joined(current) { statements.append(statement) }
      current = []
    }
    if let statement = joined(current) { statements.append(statement) }
    return statements
  }

  /// The positions in ``tokens`` of the comments of a script that are inside neither parentheses
  /// nor a CREATE TRIGGER.
  package var outerComments: [Int] {
    var found: [Int] = []
    var current: [Token] = []
    var depth = 0
    for (index, token) in tokens.enumerated() where token.kind != .space {
      let isInside = isInsideTrigger(current)
      guard token.kind != .comment else {
        if depth == 0, !isInside { found.append(index) }
        continue
      }
      if isSymbol(token, ";"), !isInside {
        current = []
        // Nothing in parentheses goes on behind a semicolon.
        depth = 0
        continue
      }
      if isSymbol(token, "(") { depth += 1 }
      if isSymbol(token, ")"), depth > 0 { depth -= 1 }
      current.append(token)
    }
    return found
  }

  /// Whether the tokens begin a CREATE TRIGGER that is not complete.
  private func isInsideTrigger(_ tokens: [Token]) -> Bool {
    isTriggerStart(tokens) && !endsTrigger(tokens)
  }

  private func joined(_ tokens: [Token]) -> String? {
    guard let first = tokens.first, let last = tokens.last else { return nil }
    return text(first.range.lowerBound..<last.range.upperBound)
  }

  private func isTriggerStart(_ tokens: [Token]) -> Bool {
    var words = tokens.prefix(3)[...]
    guard let create = words.popFirst(), isKeyword(create, "CREATE") else { return false }
    if let word = words.first, isKeyword(word, "TEMP") || isKeyword(word, "TEMPORARY") {
      words.removeFirst()
    }
    return words.first.map { isKeyword($0, "TRIGGER") } ?? false
  }

  private func endsTrigger(_ tokens: [Token]) -> Bool {
    guard let end = tokens.last, isKeyword(end, "END") else { return false }
    return tokens.dropLast().last.map { isSymbol($0, ";") } ?? false
  }
}

private func upperCased(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
}

private func isDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

/// Returns whether the byte is a letter, digit, `_`, `$` or part of a character beyond ASCII.
private func isNameByte(_ byte: UInt8) -> Bool {
  let upper = upperCased(byte)
  return isDigit(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(upper)
    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
}

private struct Scanner {
  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func next() -> SQLTokens.Token? {
    guard position < bytes.count else { return nil }
    let start = position
    let kind = scan()
    return SQLTokens.Token(kind: kind, range: start..<position)
  }

  private func byte(at index: Int) -> UInt8? {
    index < bytes.count ? bytes[index] : nil
  }

  private mutating func skip(while condition: (UInt8) -> Bool) {
    while let byte = byte(at: position), condition(byte) { position += 1 }
  }

  private mutating func scan() -> SQLTokens.Token.Kind {
    let first = bytes[position]
    let second = byte(at: position + 1)
    switch first {
    case _ where SQLText.isBlank(first):
      skip(while: SQLText.isBlank)
      return .space
    // A byte order mark is a space to SQLite, at any position between tokens.
    case 0xEF where second == 0xBB && byte(at: position + 2) == 0xBF:
      position += 3
      return .space
    case UInt8(ascii: "-") where second == UInt8(ascii: "-"):
      skip { $0 != 0x0A }
      return .comment
    case UInt8(ascii: "/") where second == UInt8(ascii: "*"):
      skipBlockComment()
      return .comment
    case UInt8(ascii: "'"):
      skipQuoted(by: first)
      return .string
    case UInt8(ascii: "\""), UInt8(ascii: "`"):
      skipQuoted(by: first)
      return .quotedName
    case UInt8(ascii: "["):
      skip { $0 != UInt8(ascii: "]") }
      position = min(position + 1, bytes.count)
      return .quotedName
    case UInt8(ascii: "x") where second == UInt8(ascii: "'"),
      UInt8(ascii: "X") where second == UInt8(ascii: "'"):
      position += 1
      skipQuoted(by: UInt8(ascii: "'"))
      return .blob
    case _ where isDigit(first),
      UInt8(ascii: ".") where second.map(isDigit) ?? false:
      skipNumber()
      return .number
    case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "#"),
      UInt8(ascii: "$"):
      position += 1
      skip(while: isNameByte)
      return .parameter
    case _ where isNameByte(first):
      skip(while: isNameByte)
      return .word
    default:
      position += 1
      return .symbol
    }
  }

  private mutating func skipBlockComment() {
    position = min(position + 2, bytes.count)
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "*"), byte(at: position + 1) == UInt8(ascii: "/") {
        position += 2
        return
      }
      position += 1
    }
  }

  /// Moves past a quoted token, in which a doubled quote stands for itself. Moves to the end if the
  /// quote is not closed.
  private mutating func skipQuoted(by quote: UInt8) {
    position += 1
    while let byte = byte(at: position) {
      position += 1
      guard byte == quote else { continue }
      guard self.byte(at: position) == quote else { return }
      position += 1
    }
  }

  private mutating func skipNumber() {
    while let byte = byte(at: position) {
      let isExponentSign =
        (byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
        && upperCased(bytes[position - 1]) == UInt8(ascii: "E") && isDecimalExponent
      guard isNameByte(byte) || byte == UInt8(ascii: ".") || isExponentSign else { return }
      position += 1
    }
  }

  /// Whether the number so far is decimal and has digits before its E: `1e` but not `0x1e`.
  private var isDecimalExponent: Bool {
    var start = position - 1
    while start > 0, isNameByte(bytes[start - 1]) || bytes[start - 1] == UInt8(ascii: ".") {
      start -= 1
    }
    return
      !(bytes[start] == UInt8(ascii: "0")
      && byte(at: start + 1).map(upperCased) == UInt8(ascii: "X"))
  }
}
