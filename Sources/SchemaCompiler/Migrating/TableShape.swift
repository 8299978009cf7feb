/// What counts when two tables are compared: all facts except the order of columns and the spelling
/// of the text.
package struct TableShape: Hashable {
  let kind: TableFacts.Kind
  private let isStrict: Bool
  private let isWithoutRowID: Bool
  private let neverReusesKeys: Bool
  private let columns: Set<Column>
  private let checks: Set<Check>
  private let references: Set<ForeignKeyFacts>
  private let uniqueSets: Set<[IndexFacts.Column]>
  /// Clauses with more than the other facts contain: a conflict clause, DEFERRABLE.
  private let extras: Set<String>
  /// Of a virtual table, or a text that is not understood.
  private let text: String

  private struct Column: Hashable {
    let facts: ColumnFacts
    let expression: String?
  }

  private struct Check: Hashable {
    let name: String?
    let condition: String
  }

  /// - Parameter ignored: The columns that do not count, with the constraints in their definitions.
  package init(_ table: TableFacts, without ignored: Set<String> = []) {
    let text = TableText(table.sql)
    let source = TableSQL(table.sql)
    let isCounted: (String) -> Bool = { !ignored.contains($0.asciiFolded) }
    kind = table.kind
    isStrict = table.isStrict
    isWithoutRowID = table.isWithoutRowID
    neverReusesKeys = text?.hasAutoincrement ?? false
    columns = Set(
      table.columns.filter { isCounted($0.name) }.map { column in
        let facts = column.canonical
        return Column(
          facts: facts,
          expression: source.generated[facts.name].map(SQLTokens.canonical))
      })
    checks = Set(
      table.checks.filter { $0.column.map(isCounted) ?? true }.map {
        Check(name: $0.name, condition: SQLTokens.canonical($0.condition))
      })
    references = Set(
      table.foreignKeys.filter { $0.columns.count > 1 || $0.columns.allSatisfy(isCounted) }
        .map(\.folded))
    uniqueSets = Set(
      table.indexes.filter { index in
        index.origin == .unique
          && (index.columns.count > 1
            || index.columns.allSatisfy { $0.name.map(isCounted) ?? true })
      }.map(\.columns))
    extras = Set(
      (text?.items ?? []).filter { $0.column.map(isCounted) ?? true }.flatMap { item in
        item.clauses.filter(\.hasExtras).map { clause in
          (item.column?.asciiFolded ?? "") + " "
            + SQLTokens.canonical(SQLTokens(table.sql).text(clause.range)).asciiFolded
        }
      })
    self.text = table.kind == .virtual || text == nil ? SQLTokens.canonical(table.sql) : ""
  }
}

extension ColumnFacts {
  /// The same column without comments, and with letters as SQLite compares them.
  package var canonical: ColumnFacts {
    var column = self
    column.name = name.asciiFolded
    column.declaredType = SQLTokens.canonical(declaredType).asciiFolded
    column.defaultSQL = defaultSQL.map(SQLTokens.canonical)
    return column
  }
}

extension ForeignKeyFacts {
  /// The same reference, with letters as SQLite compares them.
  package var folded: ForeignKeyFacts {
    var key = self
    key.table = table.asciiFolded
    key.columns = columns.map(\.asciiFolded)
    key.referencedColumns = referencedColumns?.map(\.asciiFolded)
    return key
  }
}
