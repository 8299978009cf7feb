// Constraints that are added to a table or removed from it, and the records that violate them.
extension ModelChanges {
  // References

  func newReference(
    of name: String, replacing found: ReferenceSchema?, _ difference: SchemaDifference
  ) -> PlannedChange {
    let field = field(name)
    if let found, !hadReference([field.column], to: found.table) {
      return undeclared("a foreign key from (\(field.column)) to \(found.table)", difference)
    }
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
      violations: [
        .init(
          reason: "Records refer to no record.",
          condition: missing(reference, value: Self.column(field.column)))
      ])
  }

  func removal(
    ofReference columns: [String], to referenced: String, _ difference: SchemaDifference
  ) -> PlannedChange {
    let list = columns.joined(separator: ", ")
    guard hadReference(columns, to: referenced) else {
      return undeclared("a foreign key from (\(list)) to \(referenced)", difference)
    }
    return PlannedChange(
      phrase: "\(schema.name) drop the reference (\(list))",
      means: .edits([.removeReference(columns: columns, table: referenced)]))
  }

  /// The condition that no record of the referenced table has the value, which is not NULL.
  private func missing(_ reference: ReferenceSchema, value: String) -> String {
    let parent = catalog.table(named: reference.table)
    let key = reference.column ?? parent?.primaryKey.first?.name
    guard let parent, let key, parent.column(named: key) != nil else {
      return "\(value) IS NOT NULL"
    }
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
      ]), violations: duplicates(in: columns))
  }

  func removal(
    ofUnique columns: [String], _ name: String?, _ difference: SchemaDifference
  ) -> PlannedChange {
    let list = columns.joined(separator: ", ")
    if let name {
      let index = table.indexes.first { $0.name == name }
      guard index?.plainColumns != nil else {
        // A model cannot declare such an index, so it may be meant.
        return impossible(
          difference,
          "\(table.name) has a unique index \(name) over an expression or some records, which \(schema.name) cannot declare. Drop it if it is not needed."
        )
      }
    }
    guard hadUnique(columns, name) else {
      return undeclared(name.map { "a unique index \($0)" } ?? "UNIQUE (\(list))", difference)
    }
    if let referring = referringTable(to: columns) {
      return impossible(
        difference,
        "The table \(referring) refers to \(table.name) (\(list)), which has to stay unique. Drop its foreign key first."
      )
    }
    let phrase = "\(schema.name) drop UNIQUE (\(list))"
    guard let name else {
      return PlannedChange(phrase: phrase, means: .edits([.removeUnique(columns: columns)]))
    }
    let object = SchemaObject(kind: .index, name: name, sql: "", table: table.name)
    return PlannedChange(phrase: phrase, means: .objects(SchemaPlan(dropped: [object])))
  }

  /// The records with the same values in all `columns` as another record.
  ///
  /// - Parameter collations: How an index compares its columns, where that is not the column's own
  ///   collation.
  func duplicates(
    in columns: [String], collations: [Collation?] = []
  ) -> [PlannedChange.Violation] {
    let parts = columns.enumerated().map { position, column in
      let collation = collations.indices.contains(position) ? collations[position] : nil
      return SQLText.quoted(column)
        + (collation.map { " COLLATE \(sql.collationName($0))" } ?? "")
    }
    let own = parts.map { "\(PlannedChange.recordName).\($0)" }.joined(separator: ", ")
    let list = parts.joined(separator: ", ")
    let present = columns.map { "\(SQLText.quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
    return [
      .init(
        reason: "Records have the same values.",
        condition: """
          (\(own)) IN (SELECT \(list) FROM \(futureTable) WHERE \(present) \
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
      guard hadRule(old) else { return undeclared("a CHECK \(name)", difference) }
      edits.append(.removeCheck(name: old.name, condition: old.condition))
    }
    edits.append(
      field.map { .addClause(column: $0.column, "\n    \(sql.check(rule))") }
        ?? .addConstraint(sql.check(rule)))
    return PlannedChange(
      phrase: "\(schema.name) CHECK \(name)", means: .edits(edits),
      violations: [violation(of: rule)])
  }

  /// A CHECK accepts NULL as a result.
  func violation(of rule: RuleSchema) -> PlannedChange.Violation {
    .init(
      reason: "Records violate \(rule.name).", condition: "NOT (\(rule.condition))")
  }

  func removal(ofRule name: String, _ difference: SchemaDifference) -> PlannedChange {
    guard let check = table.checks.first(where: { ($0.name ?? $0.condition) == name }) else {
      return impossible(difference)
    }
    guard hadRule(check) else { return undeclared("a CHECK \(name)", difference) }
    return PlannedChange(
      phrase: "\(schema.name) drop CHECK \(name)",
      means: .edits([.removeCheck(name: check.name, condition: check.condition)]))
  }

  // New columns and types

  /// The records that the constraints of a new column refuse.
  func violations(adding field: FieldSchema) -> [PlannedChange.Violation] {
    let value = field.defaultSQL.map { SQLDefault($0) }
    let isNull = value?.isNull ?? true
    var violations: [PlannedChange.Violation] = []
    if isNull, !field.isOptional {
      violations.append(
        .init(reason: "Records have no value for it, and it has no default.", condition: "1"))
    }
    violations += schema.rules(of: field).map(violation)
    guard !isNull else { return violations }
    if field.isUnique {
      let all = "SELECT count(*) FROM main.\(SQLText.quoted(table.name))"
      violations.append(
        .init(reason: "Records would have the same default.", condition: "(\(all)) > 1"))
    }
    if let reference = field.reference {
      violations.append(
        .init(
          reason: "Records would refer to no record.",
          condition: missing(reference, value: Self.column(field.column))))
    }
    return violations
  }

  /// Returns the records whose value would change with the column's type; nil if the new type does
  /// not include the old one.
  func violationsOfWidening(
    from found: String, to field: FieldSchema
  ) -> [PlannedChange.Violation]? {
    if field.type == .any { return [] }
    guard ["int", "integer"].contains(found) else { return nil }
    switch field.type {
    case .text, .decimal: return []
    case .real:
      // Beyond, not every whole number is a Double.
      let column = Self.column(Self.formerName(of: field.column))
      return [
        .init(
          reason: "Records have a number that a real value cannot hold.",
          condition: "\(column) NOT BETWEEN -9007199254740992 AND 9007199254740992")
      ]
    default: return nil
    }
  }
}
