extension TriggerFacts {
  /// The tables and views that the trigger's own statements write, in lower case. Writes by foreign
  /// keys and other triggers are not included.
  ///
  /// A trigger body has four kinds of statements: <https://sqlite.org/lang_createtrigger.html>.
  package var writtenTables: Set<String> {
    let text = SQLTokens(sql)
    let tokens = text.significant
    let body = tokens.firstIndex { text.isKeyword($0, "BEGIN") } ?? tokens.endIndex
    var tables: Set<String> = []
    for index in tokens.indices[body...] {
      guard let target = Self.target(after: tokens[index...], in: text) else { continue }
      tables.insert(text.name(target).asciiFolded)
    }
    return tables
  }

  /// Returns the table name if `tokens` start a write: the name after INTO, DELETE FROM, or UPDATE
  /// with its conflict clause.
  private static func target(
    after tokens: ArraySlice<SQLTokens.Token>, in text: SQLTokens
  ) -> SQLTokens.Token? {
    var rest = tokens
    func skip(_ keyword: String) -> Bool {
      guard let first = rest.first, text.isKeyword(first, keyword) else { return false }
      rest = rest.dropFirst()
      return true
    }
    if skip("INTO") { return rest.first }
    if skip("DELETE") { return skip("FROM") ? rest.first : nil }
    guard skip("UPDATE") else { return nil }
    if skip("OR") { rest = rest.dropFirst() }
    // DO UPDATE SET in an upsert names no table; INTO already did.
    return rest.first.flatMap { text.isKeyword($0, "SET") ? nil : $0 }
  }
}

extension SQLTokens {
  /// Whether the text contains RAISE.
  package var raises: Bool {
    significant.contains { isKeyword($0, "RAISE") }
  }

  /// Whether the text contains ROLLBACK.
  package var rollsBack: Bool {
    significant.contains { isKeyword($0, "ROLLBACK") }
  }
}
