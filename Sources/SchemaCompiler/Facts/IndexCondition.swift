/// The condition of a partial index, if a trigger can evaluate it with the same meaning in every
/// program.
///
/// Not every condition qualifies. In an index SQLite reads `"open"` as a text if there is no such
/// column, whatever a program's settings are. It also ignores the names of databases there:
/// <https://sqlite.org/quirks.html#dblquote>. And a program that lacks one of its functions or
/// collations can still write rows that do not touch the index. So every word in the condition must
/// be known.
package struct IndexCondition: Hashable, Sendable {
  /// The condition as written in the index's definition, without comments around it.
  package let sql: String
  /// The columns that the condition uses, and possibly others, as the table spells them.
  package let columns: Set<String>

  /// - Parameters:
  ///   - definition: The text of the index in `sqlite_schema`.
  ///   - table: Its table with the known columns.
  /// - Returns: nil if the condition may fail or have another meaning in a trigger.
  package init?(ofIndex definition: String, on table: TableFacts) {
    let source = SQLTokens(definition)
    let tokens = source.indexCondition
    guard let first = tokens.first, let last = tokens.last else { return nil }
    let words = ConditionWords(source: source, tokens: tokens, table: table)
    var columns: Set<String> = []
    for place in tokens.indices {
      switch words.meaning(at: place) {
      case .column(let name): columns.insert(name)
      case .plain: continue
      case .unknown: return nil
      }
    }
    sql = source.text(first.range.lowerBound..<last.range.upperBound)
    self.columns = columns
  }
}

extension SQLTokens {
  /// The tokens after the WHERE of a CREATE INDEX statement, without spaces and comments.
  fileprivate var indexCondition: [Token] {
    let significant = significant
    var depth = 0
    for (place, token) in significant.enumerated() {
      if isSymbol(token, "(") { depth += 1 }
      if isSymbol(token, ")") { depth -= 1 }
      if depth == 0, isKeyword(token, "WHERE") { return Array(significant[(place + 1)...]) }
    }
    return []
  }
}

/// The meaning of the words in a condition that SQLite has accepted for an index.
private struct ConditionWords {
  let source: SQLTokens
  let tokens: [SQLTokens.Token]
  let table: TableFacts

  enum Meaning {
    case column(String)
    /// The same meaning everywhere.
    case plain
    case unknown
  }

  func meaning(at place: Int) -> Meaning {
    let token = tokens[place]
    switch token.kind {
    case .number, .blob: return .plain
    // In `t.'a'` the string is a name.
    case .string:
      return isSymbol(".", at: place - 1) || isSymbol(".", at: place + 1) ? .unknown : .plain
    case .symbol:
      let isArrow = source.isSymbol(token, "-") && isSymbol(">", at: place + 1)
      return !isArrow && Self.symbols.contains(source.text(token.range)) ? .plain : .unknown
    case .word, .quotedName: return meaning(ofName: token, at: place)
    case .parameter, .space, .comment: return .unknown
    }
  }

  private func meaning(ofName token: SQLTokens.Token, at place: Int) -> Meaning {
    let name = source.name(token).asciiFolded
    let isBare = token.kind == .word
    if isSymbol("(", at: place + 1) {
      let isKnown = Self.keywords.contains(name) || SQLExpression.coreFunctions.contains(name)
      return isBare && isKnown ? .plain : .unknown
    }
    if isSymbol(".", at: place + 1) {
      let isTable = ExactText(name) == ExactText(table.name.asciiFolded)
      return isTable && !isSymbol(".", at: place - 1) ? .plain : .unknown
    }
    // After COLLATE, the name of a built-in collation counts as a keyword.
    if place > 0, source.isKeyword(tokens[place - 1], "COLLATE") {
      return isBare && Self.collations.contains(name) ? .plain : .unknown
    }
    let column = table.columns.first { ExactText($0.name.asciiFolded) == ExactText(name) }
    if let column {
      if case .custom = column.collation { return .unknown }
      return .column(column.name)
    }
    return isBare && Self.keywords.contains(name) ? .plain : .unknown
  }

  private func isSymbol(_ symbol: Character, at place: Int) -> Bool {
    tokens.indices.contains(place) && source.isSymbol(tokens[place], symbol)
  }

  private static let symbols: Set<String> = [
    "(", ")", ",", ".", "=", "<", ">", "!", "+", "-", "*", "/", "%", "|", "&", "~",
  ]

  private static let collations: Set<String> = ["binary", "nocase", "rtrim"]

  /// Without REGEXP and MATCH, which call functions that an application defines.
  private static let keywords: Set<String> = [
    "and", "or", "not", "is", "null", "isnull", "notnull", "distinct", "from", "true", "false",
    "in", "between", "like", "glob", "escape", "collate",
    "case", "when", "then", "else", "end",
    "cast", "as", "integer", "int", "real", "text", "numeric", "blob",
  ]
}
