/// One change of a CREATE TABLE text.
package enum TableEdit: Hashable, Sendable {
  /// Adds a column. The text is its definition.
  case addColumn(String)
  case removeColumn(String)
  case setType(column: String, String)
  case setOptional(column: String, Bool)
  /// A nil text removes the default.
  case setDefault(column: String, String?)
  /// A nil name removes the collation.
  case setCollation(column: String, String?)
  /// Adds a constraint to the column's definition. A table has no constraint before its columns.
  case addClause(column: String, String)
  case addConstraint(String)
  case removeReference(columns: [String], table: String)
  case removeUnique(columns: [String])
  case removeCheck(name: String?, condition: String)
  /// Gives a CHECK another name.
  case renameCheck(String, to: String)
}

extension TableEdit {
  /// Returns the text with all `edits`; nil if it cannot be edited safely.
  ///
  /// Each edit reads the text again, because it may be small but must be right.
  package static func apply(_ edits: [TableEdit], to text: String) -> String? {
    var text = text
    for edit in edits {
      guard let table = TableText(text), let edited = edit.applied(to: table) else { return nil }
      text = edited
    }
    return text
  }

  private func applied(to table: TableText) -> String? {
    switch self {
    case .addColumn(let definition):
      guard let last = table.items.last(where: { $0.column != nil }) else { return nil }
      return table.inserting(",\n  \(definition)", at: last.range.upperBound)
    case .removeColumn(let column):
      return table.removing(column: column)
    case .setType(let column, let type):
      guard let item = table.column(column) else { return nil }
      let new = item.typeRange.isEmpty ? " \(type)" : type
      return TableText.replacing([(item.typeRange, new)], in: table.text)
    case .setOptional(let column, let isOptional):
      return table.replacing([.notNull, .null], of: column, by: isOptional ? nil : "NOT NULL")
    case .setDefault(let column, let value):
      return table.replacing([.defaultValue], of: column, by: value.map { "DEFAULT \($0)" })
    case .setCollation(let column, let name):
      return table.replacing([.collate], of: column, by: name.map { "COLLATE \($0)" })
    case .addClause(let column, let clause):
      guard let item = table.column(column) else { return nil }
      return table.inserting(clause, at: item.range.upperBound)
    case .addConstraint(let constraint):
      guard let last = table.items.last else { return nil }
      return table.inserting(",\n  \(constraint)", at: last.range.upperBound)
    case .removeReference(let columns, let referenced):
      return table.removing { clause, column in
        let own = clause.kind == .references ? [column?.asciiFolded ?? ""] : clause.columns
        return [.references, .foreignKey].contains(clause.kind)
          && own == columns.map(\.asciiFolded)
          && clause.referencedTable == referenced.asciiFolded
      }
    case .removeUnique(let columns):
      return table.removing { clause, column in
        let own = column.map { [$0.asciiFolded] } ?? clause.columns
        return clause.kind == .unique && Set(own) == Set(columns.map(\.asciiFolded))
      }
    case .removeCheck(let name, let condition):
      let wanted = SQLTokens(condition).normalized
      return table.removing { clause, _ in
        clause.kind == .check && clause.name == name
          && SQLTokens(clause.condition).normalized == wanted
      }
    case .renameCheck(let name, let new): return table.renamingCheck(name, to: new)
    }
  }
}

extension TableText {
  fileprivate func inserting(_ new: String, at offset: Int) -> String {
    Self.replacing([(offset..<offset, new)], in: text)
  }

  /// Replaces the clauses of these kinds by one clause, or by none. A clause with more than a model
  /// can declare is not removed, so the result is nil.
  fileprivate func replacing(
    _ kinds: Set<Clause.Kind>, of column: String, by new: String?
  ) -> String? {
    guard let item = self.column(column) else { return nil }
    let old = item.clauses.filter { kinds.contains($0.kind) }
    guard old.allSatisfy({ !$0.hasExtras }) else { return nil }
    var edits = old.map { (range: removal(of: $0), new: "") }
    if let new {
      // Behind the type, and behind a generated column's or key's own words.
      let place = item.typeRange.isEmpty ? nameEnd(of: item) : item.typeRange.upperBound
      // A removal may begin there, too.
      if let index = edits.firstIndex(where: { $0.range.lowerBound == place }) {
        edits[index].new = " \(new)"
      } else {
        edits.append((place..<place, " \(new)"))
      }
    }
    return Self.replacing(edits, in: text)
  }

  /// - Returns: nil if there is no such CHECK, or more than one.
  fileprivate func renamingCheck(_ name: String, to new: String) -> String? {
    let named = items.flatMap(\.clauses).filter { $0.kind == .check && $0.name == name }
    let source = SQLTokens(text)
    guard named.count == 1, let start = named.first?.range.lowerBound,
      let index = source.significant.firstIndex(where: { $0.range.lowerBound == start }),
      source.isKeyword(source.significant[index], "CONSTRAINT"),
      source.significant.indices.contains(index + 1)
    else { return nil }
    let range = source.significant[index + 1].range
    return Self.replacing([(range, SQLText.quoted(new))], in: text)
  }

  /// The type of a column without one begins where its name ends.
  private func nameEnd(of item: Item) -> Int { item.typeRange.lowerBound }

  /// The clause with the blanks before it, up to the previous token or comment.
  private func removal(of clause: Clause) -> Range<Int> {
    var start = clause.range.lowerBound
    let bytes = Array(text.utf8)
    while start > 0, SQLText.isBlank(bytes[start - 1]) { start -= 1 }
    // A comment to the end of the line ends with the line.
    let hasLineComment = SQLTokens(text).tokens.contains {
      $0.kind == .comment && $0.range.upperBound == start
        && bytes[$0.range.lowerBound] == UInt8(ascii: "-")
    }
    return (hasLineComment ? clause.range.lowerBound : start)..<clause.range.upperBound
  }

  /// Removes every clause that `isMeant` accepts, with the item if nothing else is in it. It
  /// receives the column of the clause's item.
  ///
  /// - Returns: nil if there is none, or if one has more than a model can declare.
  fileprivate func removing(_ isMeant: (Clause, String?) -> Bool) -> String? {
    for item in items {
      guard let clause = item.clauses.first(where: { isMeant($0, item.column) }) else { continue }
      guard !clause.hasExtras else { return nil }
      let rest =
        item.column == nil && item.clauses.count == 1
        ? removing(item) : Self.replacing([(removal(of: clause), "")], in: text)
      guard let rest, let table = TableText(rest) else { return nil }
      // The same constraint may be there twice.
      return table.items.contains { item in item.clauses.contains { isMeant($0, item.column) } }
        ? table.removing(isMeant) : rest
    }
    return nil
  }

  /// Removes the item and one comma.
  private func removing(_ item: Item) -> String? {
    if let comma = item.comma {
      return Self.replacing([(item.range.lowerBound..<comma.upperBound, "")], in: text)
    }
    guard items.count > 1, let comma = items[items.count - 2].comma else { return nil }
    return Self.replacing([(comma, ""), (item.range, "")], in: text)
  }

  /// - Returns: nil if another part of the table names the column.
  fileprivate func removing(column: String) -> String? {
    guard let item = self.column(column) else { return nil }
    let folded = column.asciiFolded
    let source = SQLTokens(text)
    let isNamedElsewhere = source.significant.contains { token in
      !item.range.contains(token.range.lowerBound)
        && [.word, .quotedName, .string].contains(token.kind)
        && source.name(token).asciiFolded == folded
    }
    return isNamedElsewhere ? nil : removing(item)
  }
}
