/// The facts of a table that only its CREATE TABLE text contains: the CHECK constraints, the
/// columns' collations and the expressions of generated columns. No PRAGMA lists them; all other
/// facts come from ``Catalog``'s PRAGMAs.
///
/// See <https://sqlite.org/lang_createtable.html>.
package struct TableSQL: Hashable {
  package struct Check: Hashable, Sendable {
    /// The constraint's name, or nil for a CHECK without one.
    package let name: String?
    /// The expression as written, without the parentheses and the blanks next to them. SQLite's
    /// error for an unnamed CHECK contains this text.
    package let condition: String
    /// The column whose definition contains the CHECK, or nil for a constraint of the table.
    package let column: String?
  }

  /// In the order of the text.
  package private(set) var checks: [Check] = []
  /// By folded column name; columns without a COLLATE are missing.
  package private(set) var collations: [String: Collation] = [:]
  /// The expressions of generated columns as written, by folded column name.
  package private(set) var generated: [String: String] = [:]

  /// - Parameter sql: The table's text in `sqlite_schema`.
  package init(_ sql: String) {
    let source = SQLTokens(sql)
    let tokens = source.significant
    guard let open = tokens.firstIndex(where: { source.isSymbol($0, "(") }) else { return }
    var item: [Int] = []
    var depth = 1
    for index in tokens.indices[(open + 1)...] {
      if source.isSymbol(tokens[index], "(") { depth += 1 }
      if source.isSymbol(tokens[index], ")") { depth -= 1 }
      if depth == 0 || (depth == 1 && source.isSymbol(tokens[index], ",")) {
        read(item.map { tokens[$0] }, of: source)
        item = []
        if depth == 0 { return }
      } else {
        item.append(index)
      }
    }
  }

  /// Reads a column definition or a table constraint, up to the comma.
  private mutating func read(_ tokens: [SQLTokens.Token], of source: SQLTokens) {
    guard let first = tokens.first else { return }
    let constraintWords = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
    let isConstraint = constraintWords.contains { source.isKeyword(first, $0) }
    let column = isConstraint ? nil : source.name(first)
    var constraintName: String?
    var depth = 0
    var index = isConstraint ? 0 : 1
    while index < tokens.count {
      let token = tokens[index]
      let next = index + 1 < tokens.count ? tokens[index + 1] : nil
      if source.isSymbol(token, "(") { depth += 1 }
      if source.isSymbol(token, ")") { depth -= 1 }
      if depth == 0, let next {
        // A constraint name applies until the next comma, whatever constraint it precedes.
        if source.isKeyword(token, "CONSTRAINT") {
          constraintName = source.name(next)
          index += 1
        } else if source.isKeyword(token, "COLLATE"), let column {
          collations[column.asciiFolded] = Collation(name: source.name(next))
          index += 1
        } else if source.isKeyword(token, "AS"), source.isSymbol(next, "("), let column {
          let close = closing(of: index + 1, in: tokens, of: source)
          generated[column.asciiFolded] = trimmed(
            source.text(next.range.upperBound..<tokens[close].range.lowerBound))
          index = close
        } else if source.isKeyword(token, "CHECK"), source.isSymbol(next, "(") {
          let close = closing(of: index + 1, in: tokens, of: source)
          let inner = next.range.upperBound..<tokens[close].range.lowerBound
          checks.append(
            Check(name: constraintName, condition: trimmed(source.text(inner)), column: column))
          index = close
        }
      }
      index += 1
    }
  }

  private func closing(
    of open: Int, in tokens: [SQLTokens.Token], of source: SQLTokens
  ) -> Int {
    var depth = 0
    for index in tokens.indices[open...] {
      if source.isSymbol(tokens[index], "(") { depth += 1 }
      if source.isSymbol(tokens[index], ")") { depth -= 1 }
      if depth == 0 { return index }
    }
    return tokens.count - 1
  }

  private func trimmed(_ text: String) -> String {
    let isBlank: (Unicode.Scalar) -> Bool = { " \t\n\u{0B}\u{0C}\r".unicodeScalars.contains($0) }
    let scalars = text.unicodeScalars
    guard let start = scalars.firstIndex(where: { !isBlank($0) }),
      let end = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(scalars[start...end])
  }
}
