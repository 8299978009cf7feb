/// The comparison of one model with the table that should hold it. It works on values and never
/// reads the file.
package struct TableComparison {
  package let schema: ModelSchema
  package let table: TableFacts
  package let catalog: Catalog

  package init(schema: ModelSchema, table: TableFacts, catalog: Catalog) {
    self.schema = schema
    self.table = table
    self.catalog = catalog
  }

  /// In the order that ``SchemaDifference/differences(of:in:)`` documents.
  package var differences: [SchemaDifference] {
    guard isRightKind else { return [difference(.wrongKind(found: table.kind))] }
    guard schema.kind == .table else {
      return schema.fields.filter { table.column(named: $0.column) == nil }.map {
        difference(.missingColumn(field: $0.name, obstacle: "\(table.name) is a view"))
      }
    }
    let kinds =
      tableKinds + schema.fields.flatMap(columnKinds) + extraColumnKinds + referenceKinds
      + uniqueKinds + indexKinds + ruleKinds
    return kinds.map(difference)
  }

  private func difference(_ kind: SchemaDifference.Kind) -> SchemaDifference {
    SchemaDifference(kind, of: schema)
  }

  private var isRightKind: Bool {
    switch schema.kind {
    case .table: table.kind == .table
    case .view: table.kind == .view
    }
  }

  private func columnName(_ field: String) -> String {
    (schema.field(named: field)?.column ?? field).asciiFolded
  }

  /// The fields that have a column.
  private var presentFields: [FieldSchema] {
    schema.fields.filter { table.column(named: $0.column) != nil }
  }

  // Whether all of `fields` have a column. A part that needs a missing column is not reported
  // again.
  private func arePresent(_ fields: [String]) -> Bool {
    fields.allSatisfy { table.column(named: columnName($0)) != nil }
  }

  private var tableKinds: [SchemaDifference.Kind] {
    var kinds: [SchemaDifference.Kind] = []
    if !table.isStrict, !schema.isAdopted { kinds.append(.notStrict) }
    if table.isWithoutRowID != schema.isWithoutRowID {
      kinds.append(.withoutRowID(declared: schema.isWithoutRowID))
    }
    if hidesRowID { return kinds }
    let found = table.primaryKey.map(\.name)
    if found.map(\.asciiFolded) != schema.key.map(columnName), !isOtherwiseUnique(schema.key) {
      kinds.append(.key(declared: schema.key, found: found))
    } else if let field = schema.key.first.flatMap({ schema.field(named: $0) }) {
      let isRowID = table.rowIDColumn?.name.asciiFolded == field.column.asciiFolded
      let isDeclared = schema.rowIDFieldIndex != nil
      if isRowID != isDeclared { kinds.append(.rowID(field: field.name, declared: isDeclared)) }
    }
    return kinds
  }

  /// Whether the key is the table's row number, which no column holds.
  private var hidesRowID: Bool {
    guard schema.hasHiddenRowID, !table.isWithoutRowID, table.rowIDColumn == nil,
      let name = TableFacts.rowIDName(besides: table.columns.map(\.name))
    else { return false }
    return schema.rowIDFieldIndex.map { schema.fields[$0].column == name } ?? false
  }

  /// Returns whether a table of another design identifies its records by these fields, without
  /// declaring them as its primary key.
  private func isOtherwiseUnique(_ fields: [String]) -> Bool {
    let columns = fields.map(columnName)
    return schema.isAdopted && columns.allSatisfy { table.column(named: $0)?.isNotNull ?? false }
      && uniqueSets.contains { Set($0) == Set(columns) }
  }

  private func columnKinds(_ field: FieldSchema) -> [SchemaDifference.Kind] {
    guard let column = table.column(named: field.column) else {
      if field.isRowID, hidesRowID { return [] }
      return [.missingColumn(field: field.name, obstacle: obstacle(to: field))]
    }
    var kinds: [SchemaDifference.Kind] = []
    if !isTypeKept(field, in: column) {
      let found = column.declaredType
      kinds.append(.type(field: field.name, declared: field.columnType, found: found))
    }
    if (field.generated != nil) != (column.generated != nil) {
      kinds.append(.generated(field: field.name, declared: field.generated != nil))
    }
    if isNullabilityDifferent(field, column) {
      kinds.append(.nullability(field: field.name, declaredOptional: field.isOptional))
    }
    if field.collation != column.collation {
      let declared = field.collation.name
      if field.collation.name.asciiFolded != column.collation.name.asciiFolded {
        kinds.append(
          .collation(field: field.name, declared: declared, found: column.collation.name))
      }
    }
    if !schema.isAdopted, field.defaultSQL.map(normalized) != column.defaultSQL.map(normalized) {
      kinds.append(
        .defaultValue(field: field.name, declared: field.defaultSQL, found: column.defaultSQL))
    }
    return kinds
  }

  /// Returns whether the column stores every value of the field unchanged.
  package func isTypeKept(_ field: FieldSchema, in column: ColumnFacts) -> Bool {
    let found = column.declaredType.asciiFolded
    if schema.isAdopted, !table.isStrict {
      return ColumnAffinity(declaredType: found).keeps(field)
    }
    if schema.isAdopted, field.type == .any || found == "any" { return true }
    return (found == "int" ? "integer" : found) == field.columnType.asciiFolded
  }

  private func isNullabilityDifferent(_ field: FieldSchema, _ column: ColumnFacts) -> Bool {
    // A key never reads as NULL: SQLite numbers the rowid, and adoption checks other keys.
    if schema.key.contains(field.name), schema.isAdopted || column.name == table.rowIDColumn?.name {
      return false
    }
    // A table of another design may be stricter: it rejects the write, which gives no wrong result.
    if schema.isAdopted { return !field.isOptional && !column.isNotNull }
    return field.isOptional == column.isNotNull
  }

  /// Returns the reason why ALTER TABLE cannot add the column:
  /// <https://sqlite.org/lang_altertable.html#altertabaddcol>.
  private func obstacle(to field: FieldSchema) -> String? {
    let value = field.defaultSQL.map { SQLDefault($0) }
    if schema.isAdopted { return "the table is adopted, and opening never changes it" }
    if schema.key.contains(field.name) { return "it is part of the key" }
    if field.isUnique { return "it is unique" }
    if field.generated != nil { return "it is computed by SQLite" }
    if let value, !value.isConstant { return "its default is not a constant" }
    if !field.isOptional, value?.isNull ?? true {
      return "it is not optional and has no default for the records that exist"
    }
    if field.reference != nil, value?.isNull == false {
      return "it is a reference with a default"
    }
    let others = schema.fields.filter { other in
      other.name != field.name && table.column(named: other.column) == nil
    }
    if schema.rules(of: field).contains(where: { rule in
      others.contains { rule.mentions($0.column) }
    }) {
      return "its rule names another new field"
    }
    return nil
  }

  private var extraColumnKinds: [SchemaDifference.Kind] {
    let known = Set(schema.fields.map(\.column.asciiFolded))
    let extra = table.columns.filter { !known.contains($0.name.asciiFolded) }
    let disturbing = extra.filter { column in
      // In a table of another design an unknown column matters only if an insert must set it.
      !schema.isAdopted
        || column.isNotNull && column.defaultSQL == nil && column.generated == nil
          && column.name != table.rowIDColumn?.name
    }
    return disturbing.map { .extraColumn($0.name) }
  }

  private var referenceKinds: [SchemaDifference.Kind] {
    var kinds: [SchemaDifference.Kind] = []
    var declared: Set<String> = []
    for field in presentFields {
      guard let reference = field.reference else { continue }
      let column = field.column.asciiFolded
      declared.insert(column)
      let candidates = table.foreignKeys.filter { $0.columns.map(\.asciiFolded) == [column] }
      if candidates.isEmpty {
        kinds.append(.missingReference(field: field.name, table: reference.table))
      } else if !candidates.contains(where: { isSame(reference, $0) }) {
        kinds.append(
          .reference(field: field.name, declared: reference, found: Self.schema(of: candidates[0])))
      }
    }
    guard !schema.isAdopted else { return kinds }
    return kinds
      + table.foreignKeys.filter { key in
        key.columns.count != 1 || !declared.contains(key.columns[0].asciiFolded)
      }.map { .extraReference(columns: $0.columns, table: $0.table) }
  }

  private static func schema(of key: ForeignKeyFacts) -> ReferenceSchema {
    ReferenceSchema(
      table: key.table, column: key.referencedColumns?.first, onDelete: key.onDelete,
      onUpdate: key.onUpdate)
  }

  private func isSame(_ declared: ReferenceSchema, _ found: ForeignKeyFacts) -> Bool {
    func target(_ column: String?) -> String? {
      let key = catalog.table(named: declared.table)?.primaryKey ?? []
      return (column ?? (key.count == 1 ? key[0].name : nil))?.asciiFolded
    }
    return declared.table.asciiFolded == found.table.asciiFolded
      && target(declared.column) == target(found.referencedColumns?.first)
      && declared.onDelete == found.onDelete && declared.onUpdate == found.onUpdate
  }

  /// The columns of each index that makes them unique in all rows, folded, in index order.
  private var uniqueSets: [[String]] {
    table.indexes.filter { $0.isUnique && $0.origin != .primaryKey }.compactMap { index in
      index.plainColumns?.map(\.asciiFolded)
    }
  }

  private var uniqueKinds: [SchemaDifference.Kind] {
    let key = schema.key
    // A new column is added without the sets of several columns that it is part of.
    let isComplete = !schema.isAdopted
    let declared =
      presentFields.filter { $0.isUnique && key != [$0.name] }.map { [$0.name] }
      + schema.uniques.filter { isComplete || arePresent($0) }
    let found = Set(uniqueSets.map { Set($0) })
    let missing = declared.filter { !found.contains(Set($0.map(columnName))) }
    guard !schema.isAdopted else { return missing.map { .missingUnique(fields: $0) } }
    let known = Set(
      (declared + schema.indexes.filter(\.isUnique).map(\.fields)).map { Set($0.map(columnName)) })
    let extra = table.indexes.filter { index in
      // The index of an added rule belongs to the catalog, not to the declaration.
      guard index.isUnique, index.origin != .primaryKey,
        !index.name.hasPrefix(RuleObjects.namePrefix)
      else { return false }
      guard let columns = index.plainColumns else { return true }
      return !known.contains(Set(columns.map(\.asciiFolded)))
        && !schema.indexes.contains { $0.name.asciiFolded == index.name.asciiFolded }
    }
    return missing.map { .missingUnique(fields: $0) }
      + extra.map { index in
        .extraUnique(
          columns: index.columns.map { $0.name ?? "an expression" },
          index: index.origin == .created ? index.name : nil)
      }
  }

  private var indexKinds: [SchemaDifference.Kind] {
    // Indexes of another design affect speed, not results.
    guard !schema.isAdopted else { return [] }
    return schema.allIndexes.compactMap { declared in
      let name = declared.name.asciiFolded
      guard let found = table.indexes.first(where: { $0.name.asciiFolded == name }) else {
        return .missingIndex(declared)
      }
      let columns = found.plainColumns?.map(\.asciiFolded)
      let isSame = columns == declared.fields.map(columnName) && found.isUnique == declared.isUnique
      return isSame ? nil : .index(name: declared.name)
    }
  }

  private var ruleKinds: [SchemaDifference.Kind] {
    var kinds: [SchemaDifference.Kind] = []
    var known: Set<TableSQL.Check> = []
    for (field, rule) in schema.allRules {
      // Adding a missing column also adds its rules.
      if let field, table.column(named: field.column) == nil { continue }
      let condition = normalized(rule.condition)
      let named = table.checks.first { $0.name == rule.name }
      let isUnnamed = schema.isAdopted && named == nil
      let check =
        isUnnamed ? table.checks.first { normalized($0.condition) == condition } : named
      if let check {
        known.insert(check)
        if normalized(check.condition) != condition { kinds.append(.rule(name: rule.name)) }
      } else {
        kinds.append(.missingRule(name: rule.name))
      }
    }
    guard !schema.isAdopted else { return kinds }
    return kinds
      + table.checks.filter { !known.contains($0) }.map {
        .extraRule(name: $0.name ?? $0.condition)
      }
  }

  private func normalized(_ sql: String) -> String { SQLTokens(sql).normalized }
}

extension RuleSchema {
  /// Returns whether the condition names the column, or something with that name.
  func mentions(_ column: String) -> Bool {
    let source = SQLTokens(condition)
    return source.significant.contains { token in
      token.kind != .symbol && token.kind != .number
        && source.name(token).asciiFolded == column.asciiFolded
    }
  }
}
