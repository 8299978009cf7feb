// The table as a plan leaves it, and what an earlier version of the program declared for it.
extension ModelChanges {
  /// The records as the plan leaves them, as the source of a query called
  /// ``PlannedChange/recordName``: with new columns and their defaults, and with new types and
  /// collations. A changed column also has its present value: ``formerName(of:)``.
  ///
  /// Constraints are checked against it, because they may name columns that are still to come.
  package var futureTable: String {
    let comparison = TableComparison(schema: schema, table: table, catalog: catalog)
    var parts: [String] = []
    for column in table.columns {
      let name = SQLText.quoted(column.name)
      let field = schema.fields.first { $0.column.asciiFolded == column.name.asciiFolded }
      var value = name
      if let field, column.generated == nil {
        if !comparison.isTypeKept(field, in: column) { value = Self.cast(value, to: field) }
        if field.collation != column.collation {
          value += " COLLATE \(sql.collationName(field.collation))"
        }
      }
      if value != name {
        parts.append("\(name) AS \(SQLText.quoted(Self.formerName(of: column.name)))")
      }
      parts.append("\(value) AS \(name)")
    }
    for field in schema.fields where table.column(named: field.column) == nil {
      parts.append("\(newValue(of: field)) AS \(SQLText.quoted(field.column))")
    }
    let source = "main.\(SQLText.quoted(table.name)) AS \(PlannedChange.recordName)"
    return
      "(SELECT \(parts.joined(separator: ", ")) FROM \(source)) AS \(PlannedChange.recordName)"
  }

  /// The name under which ``futureTable`` has the present value of a column that changes.
  static func formerName(of column: String) -> String { "_ms_former_\(column.asciiFolded)" }

  private static func cast(_ value: String, to field: FieldSchema) -> String {
    field.columnType.asciiFolded == "any" ? value : "CAST(\(value) AS \(field.columnType))"
  }

  private func newValue(of field: FieldSchema) -> String {
    let rowID = TableFacts.rowIDName(besides: table.columns.map(\.name))
    if field.isRowID, !table.isWithoutRowID, field.column == rowID {
      return SQLText.quoted(field.column)
    }
    let value = field.defaultSQL.map { SQLDefault($0).expression } ?? "NULL"
    let collation =
      field.collation == .binary ? "" : " COLLATE \(sql.collationName(field.collation))"
    return Self.cast("(\(value))", to: field) + collation
  }

  /// The records that violate a rule which the table has already, because a column that it names
  /// changes.
  func violationsOfRules(naming column: String) -> [PlannedChange.Violation] {
    guard !schema.isAdopted else { return [] }
    return schema.allRules.map(\.rule).filter { $0.mentions(column) }.map(violation)
  }

  // What was declared

  /// The application made the constraint, so it may be meant.
  func undeclared(_ constraint: String, _ difference: SchemaDifference) -> PlannedChange {
    impossible(
      difference,
      "The table \(table.name) has \(constraint), which no version of \(schema.name) declared. Declare it, or drop it in a migration."
    )
  }

  func hadReference(_ columns: [String], to referenced: String) -> Bool {
    filed?.fields.contains { field in
      columns.map(\.asciiFolded) == [field.column.asciiFolded]
        && field.reference?.table.asciiFolded == referenced.asciiFolded
    } ?? false
  }

  func hadRule(_ check: TableSQL.Check) -> Bool {
    filed?.allRules.contains { _, rule in
      rule.name == check.name
        && SQLTokens(rule.condition).normalized == SQLTokens(check.condition).normalized
    } ?? false
  }

  /// - Parameter index: The name of a created index; nil for a constraint.
  func hadUnique(_ columns: [String], _ index: String?) -> Bool {
    guard let filed else { return false }
    if let index {
      return filed.indexes.contains { $0.isUnique && $0.name.asciiFolded == index.asciiFolded }
    }
    let sets = filed.fields.filter(\.isUnique).map { [$0.name] } + filed.uniques
    let wanted = Set(columns.map(\.asciiFolded))
    return sets.contains { names in
      Set(names.map { (filed.field(named: $0)?.column ?? $0).asciiFolded }) == wanted
    }
  }

  /// Returns a table with a foreign key to exactly these columns that no model drops.
  func referringTable(to columns: [String]) -> String? {
    let wanted = Set(columns.map(\.asciiFolded))
    return catalog.tables.first { other in
      other.foreignKeys.contains { key in
        key.table.asciiFolded == table.name.asciiFolded
          && key.referencedColumns.map { Set($0.map(\.asciiFolded)) } == wanted
          && isKept(key, of: other)
      }
    }?.name
  }

  private func isKept(_ key: ForeignKeyFacts, of other: TableFacts) -> Bool {
    let model = models.first { $0.table.asciiFolded == other.name.asciiFolded }
    guard let model, !model.isAdopted else { return true }
    return model.fields.contains { field in
      key.columns.map(\.asciiFolded) == [field.column.asciiFolded]
        && field.reference?.table.asciiFolded == table.name.asciiFolded
    }
  }
}
