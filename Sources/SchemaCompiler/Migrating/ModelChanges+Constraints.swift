// Constraints that are added to a table or removed from it, and the records that break them.
extension ModelChanges {
  // References

  func newReference(of name: String, replacing found: ReferenceSchema?) -> PlannedChange {
    let field = field(name)
    guard let reference = field.reference else {
      preconditionFailure("A field without a reference lacks none: \(name).")
    }
    let removal = found.map {
      [TableEdit.removeReference(columns: [field.column], table: $0.table)]
    }
    let clause = " " + sql.references(reference)
    return PlannedChange(
      phrase: "\(path(name)) REFERENCES \(reference.table)",
      means: .edits((removal ?? []) + [.addClause(column: field.column, clause)]),
      offences: [
        .init(
          reason: "refer to no record:",
          condition: missing(reference, value: Self.column(field.column)))
      ])
  }

  /// The condition that no record of the referenced table has the value, which is not NULL.
  private func missing(_ reference: ReferenceSchema, value: String) -> String {
    let parent = catalog.table(named: reference.table)
    let key = reference.column ?? parent?.primaryKey.first?.name
    guard let parent, let key else { return "\(value) IS NOT NULL" }
    // The comparison of a foreign key: with the parent's affinity and collation.
    // https://sqlite.org/foreignkeys.html#fk_indexes
    return """
      \(value) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM main.\(SQLText.quoted(parent.name)) \
      AS _ms_parent WHERE _ms_parent.\(SQLText.quoted(key)) = +(\(value)))
      """
  }

  // Unique sets

  func newUnique(_ fields: [String]) -> PlannedChange {
    let columns = columns(of: fields)
    let isColumn = fields.count == 1 && field(fields[0]).isUnique
    return PlannedChange(
      phrase: isColumn
        ? "\(path(fields[0])) UNIQUE" : "\(schema.name) UNIQUE (\(fields.joined(separator: ", ")))",
      means: .edits([
        isColumn
          ? .addClause(column: columns[0], " UNIQUE") : .addConstraint(sql.unique(fields))
      ]), offences: duplicates(in: columns))
  }

  func removal(
    ofUnique columns: [String], _ difference: SchemaDifference
  ) -> PlannedChange {
    let wanted = Set(columns.map(\.asciiFolded))
    let index = table.indexes.first { index in
      index.isUnique && index.origin != .primaryKey
        && index.plainColumns.map { Set($0.map(\.asciiFolded)) } == wanted
    }
    guard let index else {
      // A model cannot declare such an index, so it may be meant.
      return impossible(
        difference,
        "\(table.name) has a unique index over an expression or some records, which \(schema.name) cannot declare. Drop it if it is not needed."
      )
    }
    let phrase = "\(schema.name) drop UNIQUE (\(columns.joined(separator: ", ")))"
    guard index.origin == .created else {
      return PlannedChange(phrase: phrase, means: .edits([.removeUnique(columns: columns)]))
    }
    let object = SchemaObject(kind: .index, name: index.name, sql: "", table: table.name)
    return PlannedChange(phrase: phrase, means: .objects(SchemaPlan(dropped: [object])))
  }

  /// The records with the same values in all `columns` as another record.
  ///
  /// - Parameters:
  ///   - changed: The column that will compare as `collation`.
  func duplicates(
    in columns: [String], comparing changed: String? = nil, as collation: String = ""
  ) -> [PlannedChange.Offence] {
    let parts = columns.map { column in
      SQLText.quoted(column)
        + (column.asciiFolded == changed?.asciiFolded ? " COLLATE \(collation)" : "")
    }
    let own = parts.map { "\(PlannedChange.recordName).\($0)" }.joined(separator: ", ")
    let list = parts.joined(separator: ", ")
    let present = columns.map { "\(SQLText.quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
    return [
      .init(
        reason: "have the same values:",
        condition: """
          (\(own)) IN (SELECT \(list) FROM main.\(SQLText.quoted(table.name)) WHERE \(present) \
          GROUP BY \(list) HAVING count(*) > 1)
          """)
    ]
  }

  // Rules

  func newRule(_ name: String, _ difference: SchemaDifference) -> PlannedChange {
    guard let (field, rule) = schema.allRules.first(where: { $0.rule.name == name }) else {
      return impossible(difference)
    }
    var edits: [TableEdit] = []
    if let old = table.checks.first(where: { $0.name == name }) {
      edits.append(.removeCheck(name: old.name, condition: old.condition))
    }
    edits.append(
      field.map { .addClause(column: $0.column, "\n    \(sql.check(rule))") }
        ?? .addConstraint(sql.check(rule)))
    return PlannedChange(
      phrase: "\(schema.name) CHECK \(name)", means: .edits(edits), offences: [offence(of: rule)])
  }

  /// A CHECK accepts NULL as a result.
  private func offence(of rule: RuleSchema, adding columns: String = "") -> PlannedChange.Offence {
    .init(
      reason: "break \(rule.name):", condition: "NOT (\(rule.condition))", addedColumns: columns)
  }

  func removal(ofRule name: String, _ difference: SchemaDifference) -> PlannedChange {
    guard let check = table.checks.first(where: { ($0.name ?? $0.condition) == name }) else {
      return impossible(difference)
    }
    return PlannedChange(
      phrase: "\(schema.name) drop CHECK \(name)",
      means: .edits([.removeCheck(name: check.name, condition: check.condition)]))
  }

  // New columns and types

  /// The records that the constraints of a new column refuse.
  func offences(adding field: FieldSchema) -> [PlannedChange.Offence] {
    let value = field.defaultSQL.map { SQLDefault($0) }
    let isNull = value?.isNull ?? true
    var offences: [PlannedChange.Offence] = []
    if isNull, !field.isOptional {
      offences.append(
        .init(reason: "have no value for it, and it has no default:", condition: "1"))
    }
    let expression = value?.expression ?? "NULL"
    let added = ", (\(expression)) AS \(SQLText.quoted(field.column))"
    offences += schema.rules(of: field).map { offence(of: $0, adding: added) }
    guard !isNull else { return offences }
    if field.isUnique {
      let all = "SELECT count(*) FROM main.\(SQLText.quoted(table.name))"
      offences.append(
        .init(reason: "would have the same default:", condition: "(\(all)) > 1"))
    }
    if let reference = field.reference {
      offences.append(
        .init(
          reason: "would refer to no record:", condition: missing(reference, value: expression)))
    }
    return offences
  }

  /// Returns the records whose value would change with the column's type; nil if the new type does
  /// not include the old one.
  func offencesOfWidening(
    from found: String, to field: FieldSchema
  ) -> [PlannedChange.Offence]? {
    if field.type == .any { return [] }
    guard ["int", "integer"].contains(found) else { return nil }
    switch field.type {
    case .text, .decimal: return []
    case .real:
      // Beyond, not every whole number is a Double.
      let column = Self.column(field.column)
      return [
        .init(
          reason: "have a number that a real value cannot hold:",
          condition: "\(column) NOT BETWEEN -9007199254740992 AND 9007199254740992")
      ]
    default: return nil
    }
  }
}
