/// What a statement of a migration does to the objects of a file, as far as its first words say.
/// Names are in lower case, as SQLite compares them.
enum MigrationStatement: Hashable {
  /// Creates a table, virtual table or view. A table can be filled from others.
  case create(ExactText, from: Set<ExactText>)
  case createIndex(ExactText, on: ExactText)
  case createTrigger(ExactText, on: ExactText)
  /// Changes a table in another way than by a new name.
  case alter(ExactText)
  case rename(ExactText, to: ExactText)
  /// Drops a table, view, index or trigger.
  case drop(ExactText)
  case insert(into: ExactText, from: Set<ExactText>)
  /// Changes or deletes rows, and has no effect on a table without rows.
  case change(ExactText, from: Set<ExactText>)
  /// Sets a number in the file's header.
  case header
  /// Leaves nothing behind in the file's schema and records.
  case neutral
  case other

  init(_ statement: String) {
    var words = Words(statement)
    self = Self.read(&words) ?? .other
  }

  /// The objects that it changes, and the table that an index or trigger belongs to.
  var targets: Set<ExactText> {
    switch self {
    case .alter(let name), .drop(let name), .insert(let name, _), .change(let name, _),
      .createIndex(_, on: let name), .createTrigger(_, on: let name):
      [name]
    case .rename(let name, let new): [name, new]
    case .create, .header, .neutral, .other: []
    }
  }

  /// The tables from which it takes rows, and possibly other names.
  var sources: Set<ExactText> {
    switch self {
    case .create(_, let sources), .insert(_, let sources), .change(_, let sources): sources
    default: []
    }
  }

  /// Whether `statement` is CREATE TABLE … AS, which also creates rows.
  static func createsRows(_ statement: String) -> Bool {
    var words = Words(statement)
    guard words.take("CREATE", "TABLE") else { return false }
    _ = words.take("IF", "NOT", "EXISTS")
    return words.takeName() != nil && words.take("AS")
  }

  private static func read(_ words: inout Words) -> Self? {
    let sources = words.sources
    if words.take("CREATE") { return creation(&words, sources) }
    if words.take("ALTER", "TABLE") { return alteration(&words) }
    if words.take("DROP") {
      guard words.take(oneOf: "TABLE", "VIEW", "INDEX", "TRIGGER") else { return nil }
      _ = words.take("IF", "EXISTS")
      return words.takeName().map(drop)
    }
    if words.take("PRAGMA") {
      return words.take(oneOf: "LEGACY_ALTER_TABLE", "DEFER_FOREIGN_KEYS") ? neutral : header
    }
    if words.take(oneOf: "ANALYZE", "REINDEX") { return neutral }
    words.skipCommonTables()
    if words.take("UPDATE") {
      words.takeConflictClause()
      return words.takeName().map { change($0, from: sources) }
    }
    if words.take("DELETE", "FROM") { return words.takeName().map { change($0, from: sources) } }
    if words.take("INSERT") || words.take("REPLACE") {
      words.takeConflictClause()
      guard words.take("INTO") else { return nil }
      return words.takeName().map { insert(into: $0, from: sources) }
    }
    return words.take("SELECT") ? neutral : nil
  }

  private static func creation(_ words: inout Words, _ sources: Set<ExactText>) -> Self? {
    _ = words.take(oneOf: "UNIQUE", "VIRTUAL")
    let kinds = ["TABLE", "VIEW", "INDEX", "TRIGGER"]
    guard let kind = kinds.first(where: { words.take($0) }) else { return nil }
    _ = words.take("IF", "NOT", "EXISTS")
    guard let name = words.takeName() else { return nil }
    if kind == "TABLE" { return create(name, from: sources) }
    if kind == "VIEW" { return create(name, from: []) }
    guard words.skip(to: "ON"), let table = words.takeName() else { return nil }
    return kind == "INDEX" ? createIndex(name, on: table) : createTrigger(name, on: table)
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

  /// The tables that the statement reads, and possibly other names. Every token between FROM, JOIN
  /// or IN and the next clause counts, so no table is missing.
  var sources: Set<ExactText> {
    var found: Set<ExactText> = []
    var isSource = false
    for token in rest {
      if Self.beforeSources.contains(where: { source.isKeyword(token, $0) }) {
        isSource = true
      } else if Self.afterSources.contains(where: { source.isKeyword(token, $0) }) {
        isSource = false
      } else if isSource, token.kind != .symbol {
        found.insert(name(token))
      }
    }
    return found
  }

  private static let beforeSources = ["FROM", "JOIN", "IN"]
  private static let afterSources = [
    "GROUP", "HAVING", "LIMIT", "ON", "ORDER", "SELECT", "SET", "USING", "VALUES", "WHERE",
  ]

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

  /// Takes WITH and its tables, which are in parentheses.
  mutating func skipCommonTables() {
    guard take("WITH") else { return }
    var depth = 0
    while let first = rest.first {
      let text = source.text(first.range)
      if depth == 0, Self.verbs.contains(where: { source.isKeyword(first, $0) }) { return }
      if first.kind == .symbol { depth += text == "(" ? 1 : text == ")" ? -1 : 0 }
      rest.removeFirst()
    }
  }

  private static let verbs = ["DELETE", "INSERT", "REPLACE", "SELECT", "UPDATE"]

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
