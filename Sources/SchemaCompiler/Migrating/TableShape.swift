/// What counts when two tables are compared: all facts except the order of columns and the spelling
/// of the text.
package struct TableShape: Hashable {
  private let table: Table
  /// By folded name.
  private let columns: [String: Column]
  private let references: Set<ForeignKeyFacts>
  private let uniqueSets: Set<[IndexFacts.Column]>

  /// What belongs to no column, reference or unique set.
  private struct Table: Hashable {
    let kind: TableFacts.Kind
    let isStrict: Bool
    let isWithoutRowID: Bool
    let neverReusesKeys: Bool
    let checks: Set<Check>
    /// The index of the primary key; nil if that is the row number.
    let key: [IndexFacts.Column]?
    /// Clauses with more than the other facts contain: a conflict clause, DEFERRABLE.
    let extras: Set<String>
    /// Of a virtual table, or a text that is not understood.
    let text: String
  }

  private struct Column: Hashable {
    let facts: ColumnFacts
    let expression: String?
    /// As those of the table, in the column's definition.
    let extras: Set<String>
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
    func canonical(_ expression: String) -> String {
      SQLTokens.canonical(SQLTokens.unqualified(expression, in: table.name))
    }
    let extras = Self.extras(of: text)
    columns = Dictionary(
      table.columns.filter { isCounted($0.name) }.map { column in
        let facts = column.canonical
        return (
          facts.name,
          Column(
            facts: facts, expression: source.generated[facts.name].map(canonical),
            extras: extras[facts.name] ?? [])
        )
      }, uniquingKeysWith: { first, _ in first })
    references = Set(
      table.foreignKeys.filter { $0.columns.count > 1 || $0.columns.allSatisfy(isCounted) }
        .map(\.folded))
    uniqueSets = Set(
      table.indexes.filter { index in
        index.origin == .unique
          && (index.columns.count > 1
            || index.columns.allSatisfy { $0.name.map(isCounted) ?? true })
      }.map(\.foldedColumns))
    self.table = Table(
      kind: table.kind, isStrict: table.isStrict, isWithoutRowID: table.isWithoutRowID,
      neverReusesKeys: text?.hasAutoincrement ?? false,
      checks: Set(
        table.checks.filter { $0.column.map(isCounted) ?? true }.map {
          Check(name: $0.name, condition: canonical($0.condition))
        }),
      key: table.indexes.first { $0.origin == .primaryKey }?.foldedColumns,
      extras: extras[nil] ?? [],
      text: table.kind == .virtual || text == nil ? SQLTokens.canonical(table.sql) : "")
  }

  /// The clauses by folded names of columns; nil has those of the table.
  private static func extras(of text: TableText?) -> [String?: Set<String>] {
    guard let text else { return [:] }
    let source = SQLTokens(text.text)
    var extras: [String?: Set<String>] = [:]
    for item in text.items {
      for clause in item.clauses where clause.hasExtras {
        extras[item.column?.asciiFolded, default: []].insert(
          SQLTokens.canonical(source.text(clause.range)).asciiFolded)
      }
    }
    return extras
  }

  /// What counts of the table itself, to be compared.
  package var ofTable: AnyHashable { table }

  /// What counts of a column, to be compared; nil if it has none of that name.
  package func column(named name: String) -> AnyHashable? { columns[name.asciiFolded] }
}

extension ColumnFacts {
  /// The same column without comments, and with letters as SQLite compares them. NULL is no
  /// default.
  package var canonical: ColumnFacts {
    var column = self
    column.name = name.asciiFolded
    column.declaredType = SQLTokens.canonical(declaredType).asciiFolded
    column.defaultSQL = defaultSQL.map(SQLDefault.init).flatMap { value in
      value.isNull ? nil : SQLTokens.canonical(value.expression)
    }
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

extension IndexFacts {
  /// The columns, with letters as SQLite compares them.
  package var foldedColumns: [Column] {
    columns.map { column in
      var column = column
      column.name = column.name?.asciiFolded
      return column
    }
  }
}
