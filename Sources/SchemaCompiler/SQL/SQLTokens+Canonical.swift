extension SQLTokens {
  /// Returns the statement `sql` with its semicolon, for a script. It stands on a line of its own
  /// if a comment would swallow it.
  package static func terminated(_ sql: String) -> String {
    let last = SQLTokens(sql).tokens.last { $0.kind != .space }
    return last?.kind == .comment ? sql + "\n;" : sql + ";"
  }

  /// Returns `sql` with one space between tokens, and without quotes around names that mean the
  /// same without them.
  package static func canonical(_ sql: String) -> String {
    let source = SQLTokens(sql)
    return source.significant.map { token in
      guard token.kind == .quotedName else { return source.text(token.range) }
      let name = source.name(token)
      return isBare(name) ? name : SQLText.quoted(name)
    }.joined(separator: " ")
  }

  /// Whether `name` is one word that is not a value, as NULL is.
  private static func isBare(_ name: String) -> Bool {
    let source = SQLTokens(name)
    guard source.tokens.count == 1, source.tokens[0].kind == .word else { return false }
    return !valueWords.contains { source.isKeyword(source.tokens[0], $0) }
  }

  private static let valueWords = [
    "NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP",
  ]

  /// Returns an expression of a table, without the table's name before those of its columns. It
  /// says nothing there, because the expression can use no other table.
  static func unqualified(_ sql: String, in table: String) -> String {
    let source = SQLTokens(sql)
    return TableText.replacing(
      source.qualifiers(of: table, in: source.significant[...]).map { ($0, "") }, in: sql)
  }

  /// The places of the name of `table` before a column's, each with the point.
  func qualifiers(of table: String, in tokens: ArraySlice<Token>) -> [Range<Int>] {
    let folded = table.asciiFolded
    return zip(tokens, tokens.dropFirst()).filter { name, point in
      (name.kind == .word || name.kind == .quotedName) && isSymbol(point, ".")
        && self.name(name).asciiFolded == folded
    }.map { $0.range.lowerBound..<$1.range.upperBound }
  }
}
