/// The changes that bring one table in line with its model. It works on values and never reads the
/// file.
package struct ModelChanges {
  package let schema: ModelSchema
  package let table: TableFacts
  let catalog: Catalog
  /// The rows of `sqlite_schema`.
  let texts: [SchemaText]
  /// All declared models.
  let models: [ModelSchema]
  /// The model as the file's catalog has it: what an earlier version of the program declared. The
  /// application made every other constraint itself.
  let filed: ModelSchema?

  /// - Returns: nil if `catalog` lacks the table of `schema`.
  package init?(
    schema: ModelSchema, catalog: Catalog, texts: [SchemaText], models: [ModelSchema],
    filed: [ModelSchema]
  ) {
    guard let table = catalog.table(named: schema.table) else { return nil }
    self.schema = schema
    self.table = table
    self.catalog = catalog
    self.texts = texts
    self.models = models
    self.filed = filed.first { $0.table.asciiFolded == table.name.asciiFolded }
  }

  var sql: SchemaSQL { SchemaSQL(schema) }

  /// Returns the changes that create the table of `schema`.
  package static func creating(_ schema: ModelSchema) -> PlannedChange {
    guard schema.kind == .table, !schema.isAdopted else {
      return PlannedChange(
        phrase: "\(schema.name) \(schema.kind.rawValue)",
        means: .impossible("\(schema.table) is not in the file."))
    }
    return PlannedChange(
      phrase: "\(schema.name) create table",
      means: .objects(SchemaPlan(created: SchemaSQL(schema).objects)))
  }

  /// Returns one change for each of `differences`, in their order.
  package func changes(for differences: [SchemaDifference]) -> [PlannedChange] {
    differences.map { difference in
      change(for: difference)
    }
  }

  private func change(for difference: SchemaDifference) -> PlannedChange {
    switch difference.kind {
    case .missingTable: Self.creating(schema)
    case .missingColumn(let name, let obstacle): addition(of: name, obstacle, difference)
    case .extraColumn(let column): removal(ofColumn: column, difference)
    case .type(let name, _, let found): retyping(name, from: found, difference)
    case .nullability(let name, let isOptional): nullability(of: name, isOptional)
    case .defaultValue(let name, _, _): newDefault(of: name)
    case .collation(let name, _, _): newCollation(of: name, difference)
    case .missingReference(let name, _): newReference(of: name, replacing: nil, difference)
    case .reference(let name, _, let found): newReference(of: name, replacing: found, difference)
    case .extraReference(let columns, let referenced):
      removal(ofReference: columns, to: referenced, difference)
    case .missingUnique(let fields): newUnique(fields)
    case .extraUnique(let columns, let index): removal(ofUnique: columns, index, difference)
    case .missingIndex(let index): newIndex(index, isReplacement: false)
    case .index(let name):
      schema.allIndexes.first { $0.name == name }.map { newIndex($0, isReplacement: true) }
        ?? impossible(difference)
    case .missingRule(let name): newRule(name, difference)
    case .rule(let name): newRule(name, difference)
    case .extraRule(let name): removal(ofRule: name, difference)
    case .wrongKind, .notStrict, .withoutRowID, .key, .rowID, .generated:
      impossible(difference)
    }
  }

  /// A change that only a migration can make, with the difference as the reason.
  func impossible(_ difference: SchemaDifference, _ reason: String? = nil) -> PlannedChange {
    let remedy = schema.isAdopted ? "Another program designed the table." : "Write a migration."
    return PlannedChange(
      phrase: schema.name, means: .impossible(reason ?? "\(difference.sentence) \(remedy)"))
  }

  func field(_ name: String) -> FieldSchema {
    guard let field = schema.field(named: name) else {
      preconditionFailure("A difference names a field of its model: \(name).")
    }
    return field
  }

  func path(_ field: String) -> String { "\(schema.name).\(field)" }

  /// A column of a record that may violate a new constraint.
  static func column(_ name: String) -> String {
    "\(PlannedChange.recordName).\(SQLText.quoted(name))"
  }

  // Indexes

  private func newIndex(_ index: IndexSchema, isReplacement: Bool) -> PlannedChange {
    let object = sql.index(index)
    var change = PlannedChange(
      phrase: "\(schema.name) \(isReplacement ? "change" : "create") index \(index.name)",
      means: .objects(
        SchemaPlan(dropped: isReplacement ? [object] : [], created: [object])))
    if index.isUnique { change.violations = duplicates(in: columns(of: index.fields)) }
    return change
  }

  /// The store's own indexes for references that no longer need them. A file may keep them, but a
  /// table that changes anyway loses them.
  package var removalsOfIndexes: [PlannedChange] {
    let wanted = Set(schema.allIndexes.map(\.name.asciiFolded))
    let obsolete = table.indexes.filter { index in
      index.origin == .created && index.name.hasPrefix(ModelSchema.referenceIndexPrefix)
        && !wanted.contains(index.name.asciiFolded)
    }
    return schema.isAdopted
      ? []
      : obsolete.map { index in
        let object = SchemaObject(kind: .index, name: index.name, sql: "", table: table.name)
        return PlannedChange(
          phrase: "\(schema.name) drop index \(index.name)",
          means: .objects(SchemaPlan(dropped: [object])))
      }
  }

  func columns(of fields: [String]) -> [String] { fields.map { field($0).column } }

  // Columns

  private func addition(
    of name: String, _ obstacle: String?, _ difference: SchemaDifference
  ) -> PlannedChange {
    let field = field(name)
    guard !schema.isAdopted, !schema.key.contains(name) else { return impossible(difference) }
    let kind = field.isOptional ? "optional \(field.type.rawValue)" : field.type.rawValue
    return PlannedChange(
      phrase: "\(path(name)) add \(kind)",
      means: obstacle == nil
        ? .addColumn(field: name) : .edits([.addColumn(sql.columnDefinition(field))]),
      violations: violations(adding: field))
  }

  private func removal(ofColumn column: String, _ difference: SchemaDifference) -> PlannedChange {
    guard !schema.isAdopted else { return impossible(difference) }
    // The store's own triggers are brought in line afterwards.
    let users = texts.filter { text in
      guard text.name.asciiFolded != table.name.asciiFolded, !text.name.hasPrefix("_ms_") else {
        return false
      }
      return text.mentions(table.name, column)
    }
    if let user = users.first {
      return impossible(
        difference,
        "The \(user.type) \(user.name) may use the column \(column) of \(table.name). Drop it first."
      )
    }
    return PlannedChange(
      phrase: "\(path(column)) drop", means: .edits([.removeColumn(column)]),
      losses: ["The values of the column \(column) in \(table.name)."])
  }

  private func retyping(
    _ name: String, from found: String, _ difference: SchemaDifference
  ) -> PlannedChange {
    let field = field(name)
    guard !schema.isAdopted, !isReference(field), !schema.key.contains(name),
      let violations = violationsOfWidening(from: found.asciiFolded, to: field)
    else { return impossible(difference) }
    return PlannedChange(
      phrase: "\(path(name)) \(found) to \(field.columnType)",
      means: .edits([.setType(column: field.column, field.columnType)]),
      violations: violations + violationsOfRules(naming: field.column))
  }

  /// Whether the column refers to another one, or another one refers to it. Both need one type.
  private func isReference(_ field: FieldSchema) -> Bool {
    let column = field.column.asciiFolded
    return field.reference != nil
      || table.foreignKeys.contains { $0.columns.map(\.asciiFolded).contains(column) }
      || isReferenced(field)
  }

  private func isReferenced(_ field: FieldSchema) -> Bool {
    let column = field.column.asciiFolded
    return catalog.tables.contains { other in
      other.foreignKeys.contains { key in
        key.table.asciiFolded == table.name.asciiFolded
          && (key.referencedColumns ?? table.primaryKey.map(\.name)).map(\.asciiFolded)
            .contains(column)
      }
    }
  }

  private func nullability(of name: String, _ isOptional: Bool) -> PlannedChange {
    let column = field(name).column
    var change = PlannedChange(
      phrase: "\(path(name)) \(isOptional ? "optional" : "NOT NULL")",
      means: .edits([.setOptional(column: column, isOptional)]))
    if !isOptional {
      change.violations = [
        .init(reason: "Records violate NOT NULL.", condition: "\(Self.column(column)) IS NULL")
      ]
    }
    return change
  }

  private func newDefault(of name: String) -> PlannedChange {
    let field = field(name)
    let value = sql.defaultValue(of: field)
    return PlannedChange(
      phrase: "\(path(name)) \(value.map { "DEFAULT \($0)" } ?? "no default")",
      means: .edits([.setDefault(column: field.column, value)]))
  }

  private func newCollation(
    of name: String, _ difference: SchemaDifference
  ) -> PlannedChange {
    let field = field(name)
    // A reference is compared by the collation of the referenced column.
    guard !isReferenced(field) else { return impossible(difference) }
    let collation = field.collation == .binary ? nil : sql.collationName(field.collation)
    var change = PlannedChange(
      phrase: "\(path(name)) COLLATE \(field.collation.name)",
      means: .edits([.setCollation(column: field.column, collation)]))
    let column = field.column.asciiFolded
    change.violations = table.indexes.filter { $0.isUnique && !$0.isPartial }.flatMap { index in
      let columns = index.columns.compactMap(\.name)
      guard columns.count == index.columns.count,
        columns.contains(where: { $0.asciiFolded == column })
      else { return [PlannedChange.Violation]() }
      // An index may compare otherwise than its column.
      let own = index.columns.map { part in
        part.name.flatMap { table.column(named: $0) }?.collation == part.collation
          ? nil : part.collation
      }
      return duplicates(in: columns, collations: own)
    }
    change.violations += violationsOfRules(naming: field.column)
    return change
  }
}
