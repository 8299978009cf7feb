extension TriggerFacts {
  /// The tables and views that the trigger's own statements write, in lower case; not those that
  /// follow from them by foreign keys and other triggers.
  ///
  /// Bodies know four statements: <https://sqlite.org/lang_createtrigger.html>.
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

  /// The name that `tokens` begin to write: after INTO, DELETE FROM and UPDATE with its conflict
  /// clause.
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
    // DO UPDATE SET, of an upsert, names no table: INTO did.
    return rest.first.flatMap { text.isKeyword($0, "SET") ? nil : $0 }
  }
}

extension SQLTokens {
  /// Whether RAISE stands in the text.
  package var raises: Bool {
    significant.contains { isKeyword($0, "RAISE") }
  }

  /// Whether ROLLBACK stands in the text.
  package var rollsBack: Bool {
    significant.contains { isKeyword($0, "ROLLBACK") }
  }
}
