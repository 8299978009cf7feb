// Which names of an expression are keywords. SQLite decides by the grammar: a column may be called
// END or LIKE, if it is in quotes or in a place where only an operand is possible.
extension SQLExpression {
  /// Returns the names in `text`, an expression, that may refer to columns, with ASCII letters in
  /// lower case. Function names and keywords are not included.
  package static func columnNames(in text: String) -> Set<String> {
    let cut = SQLTokens(text)
    let tokens = cut.significant
    var names: Set<String> = []
    for (index, token) in tokens.enumerated()
    where token.kind == .word || token.kind == .quotedName {
      let isCalled =
        token.kind == .word && index + 1 < tokens.count && cut.isSymbol(tokens[index + 1], "(")
      if !isCalled, !isKeyword(tokens, index, cut) {
        names.insert(cut.name(token).asciiFolded)
      }
    }
    return names
  }

  /// Returns whether the token at `index` of `tokens` is a keyword there.
  package static func isKeyword(
    _ tokens: [SQLTokens.Token], _ index: Int, _ cut: SQLTokens
  ) -> Bool {
    guard tokens[index].kind == .word else { return false }
    let word = cut.name(tokens[index]).asciiFolded
    return reserved.contains(word)
      || operators.contains(word) && endsOperand(tokens, index - 1, cut)
  }

  /// Returns whether an operand is complete with the token at `index`, so that no other operand can
  /// follow.
  private static func endsOperand(
    _ tokens: [SQLTokens.Token], _ index: Int, _ cut: SQLTokens
  ) -> Bool {
    guard index >= 0 else { return false }
    switch tokens[index].kind {
    case .number, .string, .blob, .quotedName, .parameter: return true
    case .symbol, .space, .comment: return cut.isSymbol(tokens[index], ")")
    case .word: break
    }
    let word = cut.name(tokens[index]).asciiFolded
    // As in a NOT LIKE b.
    if word == "not" { return endsOperand(tokens, index - 1, cut) }
    if reserved.contains(word) { return ["null", "isnull", "notnull"].contains(word) }
    return word == "end" || !isKeyword(tokens, index, cut)
  }

  /// Keywords of operators that SQLite reads as names if an operand is missing.
  private static let operators: Set<String> = ["end", "like", "glob", "regexp", "match"]

  /// Keywords that name a column only in quotes: some of <https://sqlite.org/lang_keywords.html>.
  /// SQLite accepts the others as names.
  private static let reserved: Set<String> = [
    "add", "all", "alter", "and", "as", "autoincrement", "between", "case", "check", "collate",
    "cast", "commit", "constraint", "create", "current_date", "current_time",
    "current_timestamp", "default", "deferrable", "delete", "distinct", "drop", "else", "escape",
    "except", "exists", "foreign", "from", "group", "having", "in", "index", "insert",
    "intersect", "into", "is", "isnull", "join", "limit", "not", "nothing", "notnull", "null",
    "on", "or", "order", "primary", "raise", "references", "returning", "select", "set", "table",
    "then", "to", "transaction", "union", "unique", "update", "using", "values", "when", "where",
  ]
}
