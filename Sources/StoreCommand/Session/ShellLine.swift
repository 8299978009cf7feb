import ModelStore

/// One command of a session.
enum ShellLine: Equatable {
  case begin
  case commit
  case rollback
  case exit
  case help([String])
  /// `watch on` and `watch off`.
  case watch(isOn: Bool)
  /// An SQL statement that reads.
  case reading(String)
  /// An SQL statement that changes records.
  case writing(String)
  case command([ShellWords.Word])
  /// What other programs call something else.
  case habit(Habit)

  /// The commands of an input.
  static func lines(of text: String) -> [ShellLine] {
    // In words, a backslash takes the next character literally.
    let raw = text.split(whereSeparator: \.isWhitespace).map(String.init)
    if text.first == "\\", let habit = Habit(raw) { return [.habit(habit)] }
    // A comment of SQL on a line of its own.
    if raw.first == "--" { return [] }
    guard isSQL(text) else { return ShellWords(text).commands.map(line) }
    return SQLTokens(text).statements.flatMap { statement in
      isSQL(statement) ? [sql(statement)] : ShellWords(statement).commands.map(line)
    }
  }

  /// What an input lacks: a quote, a parenthesis, a comment's end (`*`), the line behind a `\`, or
  /// the `;` of an SQL statement. nil if it is finished.
  static func open(in text: String) -> Character? {
    guard isSQL(text) else { return ShellWords(text).open }
    let tokens = SQLTokens(text)
    if let last = tokens.tokens.last, let open = unfinished(last, tokens) { return open }
    guard let last = tokens.significant.last else { return nil }
    if tokens.isSymbol(last, ";") { return nil }
    let depth = tokens.significant.reduce(0) { depth, token in
      if tokens.isSymbol(token, "(") { return depth + 1 }
      return tokens.isSymbol(token, ")") ? depth - 1 : depth
    }
    return depth > 0 ? "(" : ";"
  }

  /// The opening character of a quoted text or comment without its end.
  private static func unfinished(_ token: SQLTokens.Token, _ tokens: SQLTokens) -> Character? {
    let text = tokens.text(token.range)
    switch token.kind {
    case .string, .quotedName, .blob:
      guard let quote = text.first(where: { "'\"`[".contains($0) }) else { return nil }
      if quote == "[" { return text.last == "]" ? nil : quote }
      return text.count { $0 == quote }.isMultiple(of: 2) ? nil : quote
    case .comment:
      return text.hasPrefix("/*") && !(text.count >= 4 && text.hasSuffix("*/")) ? "*" : nil
    default: return nil
    }
  }

  /// Whether an input begins an SQL statement. `insert`, `update` and `delete` are also commands,
  /// so they begin SQL if they are written in capitals or as SQL goes on.
  static func isSQL(_ text: String) -> Bool {
    let tokens = SQLTokens(text)
    let words = tokens.significant.prefix(3).map { tokens.text($0.range) }
    guard let first = words.first else { return false }
    func has(_ keyword: String, at place: Int) -> Bool {
      words.indices.contains(place) && words[place].uppercased() == keyword
    }
    switch first.uppercased() {
    case "SELECT", "WITH", "EXPLAIN", "PRAGMA", "VALUES", "REPLACE": return true
    case "INSERT": return first == "INSERT" || has("INTO", at: 1) || has("OR", at: 1)
    case "DELETE": return first == "DELETE" || has("FROM", at: 1)
    case "UPDATE": return first == "UPDATE" || has("SET", at: 2) || has("OR", at: 1)
    default: return false
    }
  }

  private static func sql(_ statement: String) -> ShellLine {
    switch SQLText.firstKeyword(of: statement) {
    case "INSERT", "UPDATE", "DELETE", "REPLACE": .writing(statement)
    case "WITH": writesAfterWith(statement) ? .writing(statement) : .reading(statement)
    default: .reading(statement)
    }
  }

  /// Whether the statement behind the common table expressions changes records.
  private static func writesAfterWith(_ statement: String) -> Bool {
    let tokens = SQLTokens(statement)
    var depth = 0
    for token in tokens.significant {
      if tokens.isSymbol(token, "(") { depth += 1 }
      if tokens.isSymbol(token, ")") { depth -= 1 }
      guard depth == 0, token.kind == .word else { continue }
      switch tokens.text(token.range).uppercased() {
      case "SELECT", "VALUES": return false
      case "INSERT", "UPDATE", "DELETE", "REPLACE": return true
      default: continue
      }
    }
    return false
  }

  private static func line(_ words: [ShellWords.Word]) -> ShellLine {
    // A command that is copied from a message begins with the program's name.
    let words = words.count > 1 && words[0].text == Program.name ? Array(words.dropFirst()) : words
    let texts = words.map(\.text)
    let first = texts[0].lowercased()
    let endings: Set = ["transaction", "work", "immediate", "deferred", "exclusive"]
    if ["begin", "commit", "rollback"].contains(first),
      texts.dropFirst().allSatisfy({ endings.contains($0.lowercased()) })
    {
      return first == "begin" ? .begin : first == "commit" ? .commit : .rollback
    }
    switch first {
    case "exit" where words.count == 1: return .exit
    case "help": return .help(Array(texts.dropFirst()))
    case "watch" where words.count == 2 && ["on", "off"].contains(texts[1]):
      return .watch(isOn: texts[1] == "on")
    default: return Habit(texts).map { .habit($0) } ?? .command(words)
    }
  }
}
