/// The parts of a CREATE TABLE text, so that single clauses can be edited. What the
/// application wrote between and inside the parts stays as it is: comments, blanks, quotes.
///
/// Only texts that it understands completely have this value: nil means that editing is not safe.
///
/// See <https://sqlite.org/lang_createtable.html>.
struct TableText {
  /// One constraint of a column or of the table, with its name.
  struct Clause {
    enum Kind: Hashable {
      case primaryKey, notNull, null, unique, check, defaultValue, collate, references, generated
      /// FOREIGN KEY with the columns that refer.
      case foreignKey
    }

    var kind: Kind
    /// After CONSTRAINT.
    var name: String?
    /// From CONSTRAINT, if there is one, to the last token.
    var range: Range<Int>
    /// Of UNIQUE, PRIMARY KEY and FOREIGN KEY of a table; folded.
    var columns: [String] = []
    /// The condition of a CHECK, without the parentheses.
    var condition = ""
    /// The referenced table, folded.
    var referencedTable = ""
    /// Whether it has more than a model can declare: a conflict clause, MATCH, DEFERRABLE.
    var hasExtras = false
  }

  /// The definition of a column, or a part with constraints of the table.
  struct Item {
    /// The column's name; nil for constraints of the table.
    var column: String?
    /// The tokens of the type; empty after the name if there is none.
    var typeRange: Range<Int>
    var clauses: [Clause]
    /// From the first to the last token.
    var range: Range<Int>
    /// The comma behind it; nil for the last one.
    var comma: Range<Int>?
  }

  let text: String
  private(set) var items: [Item] = []
  private let name: String
  private let nameRange: Range<Int>
  let hasAutoincrement: Bool

  init?(_ text: String) {
    self.text = text
    let source = SQLTokens(text)
    let tokens = source.significant
    // sqlite_schema has CREATE TABLE, the name as it was written, and the rest.
    guard tokens.count > 4, source.isKeyword(tokens[0], "CREATE"),
      source.isKeyword(tokens[1], "TABLE"), tokens[2].isName, source.isSymbol(tokens[3], "(")
    else { return nil }
    name = source.name(tokens[2])
    nameRange = tokens[2].range
    hasAutoincrement = tokens.contains { source.isKeyword($0, "AUTOINCREMENT") }
    var reader = TableTextReader(source: source, tokens: tokens, position: 4)
    guard let items = reader.items() else { return nil }
    self.items = items
  }

  func column(_ name: String) -> Item? {
    let folded = name.asciiFolded
    return items.first { $0.column?.asciiFolded == folded }
  }

  /// The text with another name of the table. Expressions name its columns without it.
  func named(_ name: String) -> String {
    let source = SQLTokens(text)
    let rest = source.significant.drop { $0.range.lowerBound < nameRange.upperBound }
    let qualifiers = source.qualifiers(of: self.name, in: rest)
    return Self.replacing(
      [(nameRange, SQLText.quoted(name))] + qualifiers.map { ($0, "") }, in: text)
  }

  /// Returns `text` with each of the ranges replaced. The ranges do not overlap.
  static func replacing(
    _ edits: [(range: Range<Int>, new: String)], in text: String
  ) -> String {
    var bytes = Array(text.utf8)
    for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
      bytes.replaceSubrange(edit.range, with: Array(edit.new.utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension SQLTokens.Token {
  /// Whether SQLite may read it as a name.
  fileprivate var isName: Bool { [.word, .quotedName, .string].contains(kind) }
}

/// Reads the items of a CREATE TABLE text from its first item on.
private struct TableTextReader {
  let source: SQLTokens
  let tokens: [SQLTokens.Token]
  var position: Int

  private static let tableWords = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
  private static let columnWords = [
    "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES",
    "GENERATED", "AS",
  ]

  private var token: SQLTokens.Token? { position < tokens.count ? tokens[position] : nil }

  private func isAt(_ words: String...) -> Bool { isAt(words) }

  private func isAt(_ words: [String]) -> Bool {
    token.map { token in words.contains { source.isKeyword(token, $0) } } ?? false
  }

  private func isAt(symbol: Character) -> Bool {
    token.map { source.isSymbol($0, symbol) } ?? false
  }

  private mutating func take(_ word: String) -> Bool {
    guard isAt(word) else { return false }
    position += 1
    return true
  }

  private mutating func takeName() -> String? {
    guard let token, token.isName else { return nil }
    position += 1
    return source.name(token)
  }

  private var lastEnd: Int { tokens[position - 1].range.upperBound }

  /// Returns all items; nil for anything that it does not know.
  mutating func items() -> [TableText.Item]? {
    var items: [TableText.Item] = []
    while true {
      guard var item = item() else { return nil }
      if isAt(symbol: ",") {
        item.comma = token?.range
        position += 1
        items.append(item)
      } else if isAt(symbol: ")") {
        position += 1
        items.append(item)
        return hasKnownOptions ? items : nil
      } else {
        return nil
      }
    }
  }

  private var hasKnownOptions: Bool {
    let words = ["STRICT", "WITHOUT", "ROWID"]
    return tokens[position...].allSatisfy { token in
      source.isSymbol(token, ",") || words.contains { source.isKeyword(token, $0) }
    }
  }

  private mutating func item() -> TableText.Item? {
    guard let first = token else { return nil }
    let start = first.range.lowerBound
    if first.kind == .word, isAt(Self.tableWords) {
      guard let clauses = clauses(ofColumn: false) else { return nil }
      return TableText.Item(
        column: nil, typeRange: start..<start, clauses: clauses, range: start..<lastEnd)
    }
    guard let column = takeName() else { return nil }
    let typeRange = type()
    guard let clauses = clauses(ofColumn: true) else { return nil }
    return TableText.Item(
      column: column, typeRange: typeRange, clauses: clauses, range: start..<lastEnd)
  }

  /// Reads names and one list in parentheses, such as `NVARCHAR(160)`.
  private mutating func type() -> Range<Int> {
    var range = lastEnd..<lastEnd
    while let token, token.isName, !isAt(Self.columnWords) {
      range = (range.isEmpty ? token.range.lowerBound : range.lowerBound)..<token.range.upperBound
      position += 1
    }
    if !range.isEmpty, isAt(symbol: "("), skipParentheses() {
      range = range.lowerBound..<lastEnd
    }
    return range
  }

  /// Moves behind the closing parenthesis.
  private mutating func skipParentheses() -> Bool {
    guard isAt(symbol: "(") else { return false }
    var depth = 0
    while let token {
      if source.isSymbol(token, "(") { depth += 1 }
      if source.isSymbol(token, ")") { depth -= 1 }
      position += 1
      if depth == 0 { return true }
    }
    return false
  }

  private mutating func clauses(ofColumn isColumn: Bool) -> [TableText.Clause]? {
    var clauses: [TableText.Clause] = []
    while token != nil, !isAt(symbol: ","), !isAt(symbol: ")") {
      guard let clause = clause(ofColumn: isColumn) else { return nil }
      clauses.append(clause)
    }
    return clauses
  }

  private mutating func clause(ofColumn isColumn: Bool) -> TableText.Clause? {
    guard let start = token?.range.lowerBound else { return nil }
    var name: String?
    if take("CONSTRAINT") {
      guard let constraint = takeName() else { return nil }
      name = constraint
    }
    guard var clause = isColumn ? columnClause() : tableClause() else { return nil }
    clause.name = name
    clause.range = start..<lastEnd
    return clause
  }

  private func made(_ kind: TableText.Clause.Kind) -> TableText.Clause {
    TableText.Clause(kind: kind, range: 0..<0)
  }

  private mutating func columnClause() -> TableText.Clause? {
    if take("PRIMARY") {
      guard take("KEY") else { return nil }
      if !take("ASC") { _ = take("DESC") }
      let conflict = conflict()
      _ = take("AUTOINCREMENT")
      return conflict.map { made(.primaryKey, $0) }
    }
    if take("NOT") { return take("NULL") ? conflict().map { made(.notNull, $0) } : nil }
    if take("NULL") { return conflict().map { made(.null, $0) } }
    if take("UNIQUE") { return conflict().map { made(.unique, $0) } }
    if isAt("CHECK") { return check() }
    if take("DEFAULT") { return defaultValue() ? made(.defaultValue) : nil }
    if take("COLLATE") { return takeName() == nil ? nil : made(.collate) }
    if isAt("REFERENCES") { return references(made(.references)) }
    if take("GENERATED"), !take("ALWAYS") { return nil }
    guard take("AS"), skipParentheses() else { return nil }
    if !take("STORED") { _ = take("VIRTUAL") }
    return made(.generated)
  }

  private mutating func tableClause() -> TableText.Clause? {
    if take("PRIMARY") { return take("KEY") ? overColumns(.primaryKey) : nil }
    if take("UNIQUE") { return overColumns(.unique) }
    if isAt("CHECK") { return check() }
    guard take("FOREIGN"), take("KEY"), let columns = columns() else { return nil }
    var clause = made(.foreignKey)
    clause.columns = columns
    return references(clause)
  }

  private func made(_ kind: TableText.Clause.Kind, _ hasExtras: Bool) -> TableText.Clause {
    var clause = made(kind)
    clause.hasExtras = hasExtras
    return clause
  }

  private mutating func overColumns(_ kind: TableText.Clause.Kind) -> TableText.Clause? {
    guard let columns = columns(), let hasConflict = conflict() else { return nil }
    var clause = made(kind, hasConflict)
    clause.columns = columns
    return clause
  }

  /// Returns the folded names in a list of columns, in which names may have a collation and an
  /// order.
  private mutating func columns() -> [String]? {
    guard isAt(symbol: "(") else { return nil }
    position += 1
    var names: [String] = []
    while let name = takeName() {
      names.append(name.asciiFolded)
      while let token, !source.isSymbol(token, ","), !source.isSymbol(token, ")") {
        guard token.isName else { return nil }
        position += 1
      }
      let isEnd = isAt(symbol: ")")
      position += 1
      if isEnd { return names }
    }
    return nil
  }

  /// Returns whether there is a conflict clause; nil if it is not complete.
  private mutating func conflict() -> Bool? {
    guard isAt("ON") else { return false }
    position += 1
    return take("CONFLICT") && takeName() != nil ? true : nil
  }

  private mutating func check() -> TableText.Clause? {
    position += 1
    guard let start = token?.range.upperBound, skipParentheses() else { return nil }
    var clause = made(.check)
    clause.condition = source.text(start..<tokens[position - 1].range.lowerBound)
    return clause
  }

  private mutating func defaultValue() -> Bool {
    if isAt(symbol: "(") { return skipParentheses() }
    if isAt(symbol: "-") || isAt(symbol: "+") { position += 1 }
    guard let token, token.kind != .symbol, token.kind != .parameter else { return false }
    position += 1
    return true
  }

  private mutating func references(_ clause: TableText.Clause) -> TableText.Clause? {
    guard take("REFERENCES"), let table = takeName() else { return nil }
    var clause = clause
    clause.referencedTable = table.asciiFolded
    if isAt(symbol: "("), columns() == nil { return nil }
    while isAt("ON", "MATCH", "NOT", "DEFERRABLE") {
      if take("ON") {
        guard take("DELETE") || take("UPDATE") || take("INSERT"), action() else { return nil }
        continue
      }
      // NOT may also begin NOT NULL, which is a clause of its own.
      if isAt("NOT"), !isNext("DEFERRABLE") { break }
      clause.hasExtras = true
      if take("MATCH") {
        guard takeName() != nil else { return nil }
        continue
      }
      _ = take("NOT")
      guard take("DEFERRABLE") else { return nil }
      if take("INITIALLY"), !take("DEFERRED"), !take("IMMEDIATE") { return nil }
    }
    return clause
  }

  private func isNext(_ word: String) -> Bool {
    position + 1 < tokens.count && source.isKeyword(tokens[position + 1], word)
  }

  private mutating func action() -> Bool {
    if take("SET") { return take("NULL") || take("DEFAULT") }
    if take("NO") { return take("ACTION") }
    return take("CASCADE") || take("RESTRICT")
  }
}

extension TableSQL {
  /// Returns the names of the columns in a CREATE TABLE text; empty if it is not understood.
  package static func columnNames(_ sql: String) -> [String] {
    TableText(sql)?.items.compactMap(\.column) ?? []
  }

  /// Returns whether a CREATE TABLE text says that keys are never used again.
  package static func hasAutoincrement(_ sql: String) -> Bool {
    TableText(sql)?.hasAutoincrement ?? false
  }

  /// Returns a CREATE TABLE text with another name of the table; nil if it is not understood.
  package static func renaming(_ sql: String, to name: String) -> String? {
    TableText(sql)?.named(name)
  }
}
