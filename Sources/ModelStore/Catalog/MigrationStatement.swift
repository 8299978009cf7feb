/// What a statement of a migration does to the objects of a file, as far as its first words say.
/// Names are in lower case, as SQLite compares them.
enum MigrationStatement: Hashable {
  /// Creates a table, virtual table or view.
  case create(ExactText)
  /// Creates an index or trigger on a table.
  case createDependent(ExactText, on: ExactText)
  /// Changes a table in another way than by a new name.
  case alter(ExactText)
  case rename(ExactText, to: ExactText)
  /// Drops a table, view, index or trigger.
  case drop(ExactText)
  /// - Parameter names: All names and keywords of the statement, for the tables that it reads.
  case insert(into: ExactText, names: Set<ExactText>)
  /// Changes or deletes rows, and has no effect on a table without rows.
  case change(ExactText)
  /// Leaves nothing behind in the file's schema and records.
  case neutral
  case other

  init(_ statement: String) {
    var words = Words(statement)
    self = Self.read(&words) ?? .other
  }

  private static func read(_ words: inout Words) -> Self? {
    if words.take("CREATE") { return creation(&words) }
    if words.take("ALTER", "TABLE") { return alteration(&words) }
    if words.take("DROP") {
      guard words.take(oneOf: "TABLE", "VIEW", "INDEX", "TRIGGER") else { return nil }
      _ = words.take("IF", "EXISTS")
      return words.takeName().map(drop)
    }
    if words.take("UPDATE") {
      words.takeConflictClause()
      return words.takeName().map(change)
    }
    if words.take("DELETE", "FROM") { return words.takeName().map(change) }
    if words.take("INSERT") || words.take("REPLACE") {
      let names = words.names
      words.takeConflictClause()
      guard words.take("INTO") else { return nil }
      return words.takeName().map { insert(into: $0, names: names) }
    }
    if words.take("PRAGMA") {
      return words.take(oneOf: "LEGACY_ALTER_TABLE", "DEFER_FOREIGN_KEYS") ? neutral : nil
    }
    return words.take(oneOf: "SELECT", "ANALYZE", "REINDEX") ? neutral : nil
  }

  private static func creation(_ words: inout Words) -> Self? {
    _ = words.take(oneOf: "UNIQUE", "VIRTUAL")
    let isDependent = words.take(oneOf: "INDEX", "TRIGGER")
    guard isDependent || words.take(oneOf: "TABLE", "VIEW") else { return nil }
    _ = words.take("IF", "NOT", "EXISTS")
    guard let name = words.takeName() else { return nil }
    guard isDependent else { return create(name) }
    guard words.skip(to: "ON") else { return nil }
    return words.takeName().map { createDependent(name, on: $0) }
  }

  private static func alteration(_ words: inout Words) -> Self? {
    guard let name = words.takeName() else { return nil }
    // RENAME to TO other renames a column called "to".
    guard words.count == 3, words.take("RENAME", "TO") else { return alter(name) }
    return words.takeName().map { rename(name, to: $0) }
  }
}

/// The tokens of a statement, taken from its front.
private struct Words {
  private let source: SQLTokens
  private var rest: ArraySlice<SQLTokens.Token>

  init(_ statement: String) {
    source = SQLTokens(statement)
    rest = source.significant[...]
  }

  var count: Int { rest.count }

  /// What the tokens name. A string could be a value, so it does not count.
  var names: Set<ExactText> { Set(rest.filter { $0.kind != .string }.map(name)) }

  private func name(_ token: SQLTokens.Token) -> ExactText {
    ExactText(source.name(token).asciiFolded)
  }

  /// Takes all of `keywords`, or nothing.
  mutating func take(_ keywords: String...) -> Bool {
    guard rest.count >= keywords.count,
      zip(rest, keywords).allSatisfy({ source.isKeyword($0, $1) })
    else { return false }
    rest.removeFirst(keywords.count)
    return true
  }

  mutating func take(oneOf keywords: String...) -> Bool {
    guard let first = rest.first, keywords.contains(where: { source.isKeyword(first, $0) })
    else { return false }
    rest.removeFirst()
    return true
  }

  /// Takes a name and the name of a schema before it.
  mutating func takeName() -> ExactText? {
    guard let first = rest.popFirst() else { return nil }
    guard let dot = rest.first, dot.kind == .symbol, source.text(dot.range) == "." else {
      return name(first)
    }
    rest.removeFirst()
    return rest.popFirst().map(name)
  }

  /// Takes OR REPLACE and the like.
  mutating func takeConflictClause() {
    if take("OR") { rest = rest.dropFirst() }
  }

  /// Takes everything up to and with `keyword`.
  mutating func skip(to keyword: String) -> Bool {
    rest = rest.drop { !source.isKeyword($0, keyword) }
    return rest.popFirst() != nil
  }
}
