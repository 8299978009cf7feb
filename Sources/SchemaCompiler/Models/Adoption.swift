/// The derivation of models from tables that another program made. It never changes the file.
///
/// A table needs a key: a primary key, or a UNIQUE constraint over columns that are NOT NULL. Types
/// follow the affinity rules; `StoredTypes` decides the cases that these leave open.
package struct Adoption {
  package let catalog: Catalog

  package init(catalog: Catalog) {
    self.catalog = catalog
  }

  /// Returns the model of the slots of a list in a table of another design. Its fields are named
  /// like the columns. Its key is the row number, whatever other keys the table has.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and the reason.
  package func slots(of list: ListSchema, of owner: ModelSchema) throws(StoreError) -> ModelSchema {
    let name = list.slotModelName(of: owner)
    func refused(_ reason: String) -> StoreError {
      StoreError(
        .unsupportedSchema, "\(name) cannot be a list. \(reason)", model: owner.name,
        field: list.name)
    }
    guard let table = catalog.table(named: list.slotTable), let columns = list.columns else {
      throw refused("There is no table \(list.slotTable).")
    }
    let reading = TableReading(table: table, catalog: catalog)
    if let reason = reading.refusal ?? reading.obstacle(toSlotsIn: columns) {
      throw refused(reason)
    }
    guard let slots = reading.slots(named: name) else {
      throw refused("\(table.name) has columns with all the names of the row number.")
    }
    return slots
  }
}

/// One table of the catalog, read as a model.
package struct TableReading {
  package let table: TableFacts
  package let catalog: Catalog

  package init(table: TableFacts, catalog: Catalog) {
    self.table = table
    self.catalog = catalog
  }

  package func refused(_ reason: String, notes: [String] = []) -> AdoptableTable {
    AdoptableTable(name: table.name, result: .refused(reason: reason), notes: notes)
  }

  /// The reason why the table cannot be a model whatever its key, or nil.
  package var refusal: String? {
    let name = table.name
    if name.asciiFolded.hasPrefix("_ms_") { return "\(name) is one of the store's own tables." }
    if name.asciiFolded.hasPrefix("sqlite_") { return "\(name) is one of SQLite's own tables." }
    switch table.kind {
    case .virtual:
      if let problem = table.unreadableReason {
        return "\(name) is a virtual table that SQLite cannot open here: \(problem)."
      }
      return "\(name) is a virtual table: its changes cannot be observed."
    case .shadow:
      return "\(name) is the storage of a virtual table, and only the virtual table may write it."
    case .table, .view: break
    }
    if let owner = unopenedOwner {
      return """
        \(name) may be the storage of the virtual table \(owner.name), which SQLite cannot open \
        here: \(owner.unreadableReason ?? "").
        """
    }
    if let problem = table.unreadableReason {
      return "SQLite cannot read \(name): \(problem)."
    }
    if name.isEmpty || table.columns.contains(where: \.name.isEmpty) {
      return "\(name.isEmpty ? "A table" : name) has an empty name or a column with one; rename it."
    }
    return nil
  }

  /// The virtual table that the table belongs to by its name. Only the virtual table's module knows
  /// its storage tables, and that module is missing: <https://sqlite.org/vtab.html#xshadowname>.
  private var unopenedOwner: TableFacts? {
    guard table.kind == .table else { return nil }
    let name = table.name.asciiFolded
    return catalog.tables.first { owner in
      owner.kind == .virtual && owner.unreadableReason != nil
        && name.hasPrefix(owner.name.asciiFolded + "_")
    }
  }

  package func view(notes: [String]) -> AdoptableTable {
    AdoptableTable(
      name: table.name,
      result: .model(
        ModelSchema(
          name: table.name, kind: .view,
          fields: table.columns.map { column in
            FieldSchema(
              name: column.name, type: type(of: column), declaredType: declaredType(of: column),
              isOptional: true)
          },
          key: [], isAdopted: true)), notes: notes)
  }

  /// The columns of the primary key that accept NULL.
  package var nullableKey: [String] {
    table.isWithoutRowID || table.isStrict || table.rowIDColumn != nil
      ? [] : table.primaryKey.filter { !$0.isNotNull }.map(\.name)
  }

  package func table(nullableKey: [String], holdsNull: Bool, warnings: [String]) -> AdoptableTable {
    var notes = warnings + notes
    let primaryKey = primaryKey
    let key: [String]
    if let primaryKey, !holdsNull {
      key = primaryKey
      if !nullableKey.isEmpty {
        notes.insert(
          """
          The key column \(quotedList(nullableKey)) of \(table.name) accepts NULL. No row \
          has NULL there now. A row in which another program stores NULL would have no key.
          """, at: 0)
      }
    } else if let unique = uniqueKey {
      key = unique
      notes.insert(
        "\(table.name) has no usable primary key; its UNIQUE \(quotedList(unique)) serves as the key.",
        at: 0)
    } else {
      return refused(missingKeyReason(nullableKey: holdsNull ? nullableKey : []))
    }
    return AdoptableTable(name: table.name, result: .model(schema(key: key)), notes: notes)
  }

  private func missingKeyReason(nullableKey: [String]) -> String {
    let name = table.name
    if !nullableKey.isEmpty {
      return """
        The primary key column \(quotedList(nullableKey)) of \(name) holds NULL, so some rows have \
        no key. Give them one, then adopt the table.
        """
    }
    if !table.primaryKey.isEmpty {
      return """
        The primary key of \(name) compares by another collation than its columns, so it does not \
        distinguish the records.
        """
    }
    return """
      \(name) has no primary key, and no UNIQUE constraint over columns that are NOT NULL. Add a \
      unique index over such columns, then adopt the table.
      """
  }

  private func schema(key: [String]) -> ModelSchema {
    let uniqueColumns = uniqueConstraints.filter { $0 != key }
    let single = Set(uniqueColumns.filter { $0.count == 1 }.map { $0[0] })
    return ModelSchema(
      name: table.name,
      fields: table.columns.map { field($0, key: key, isUnique: single.contains($0.name)) },
      key: key, isWithoutRowID: table.isWithoutRowID,
      uniques: uniqueColumns.filter { $0.count > 1 },
      indexes: foreignIndexes.filter { $0.origin == .created }.compactMap { index in
        index.plainColumns.map {
          IndexSchema(name: index.name, fields: names($0), isUnique: index.isUnique)
        }
      },
      rules: rules.filter { $0.check.column == nil }.map(\.rule), isAdopted: true)
  }

  /// Returns the reason why rows of the table cannot be slots, or nil.
  package func obstacle(toSlotsIn columns: ListSchema.Columns) -> String? {
    let name = table.name
    if table.kind != .table { return "\(name) is \(table.kind.phrase)." }
    if table.isWithoutRowID { return "\(name) is WITHOUT ROWID, so its rows have no number." }
    var used = Set(table.rowIDColumn.map { [$0.name] } ?? [])
    for wanted in [columns.owner, columns.element, columns.position] {
      guard let column = table.column(named: wanted) else {
        return "\(name) has no column \(wanted)."
      }
      if column.generated != nil { return "The column \(wanted) of \(name) is computed." }
      guard used.insert(column.name).inserted else {
        return "The column \(wanted) of \(name) cannot have two roles."
      }
    }
    if let position = table.column(named: columns.position), type(of: position) != .integer {
      return "The column \(columns.position) of \(name) is not declared to hold integers."
    }
    let needed = table.columns.first { column in
      column.isNotNull && column.defaultSQL == nil && column.generated == nil
        && !used.contains(column.name)
    }
    return needed.map {
      "The column \($0.name) of \(name) is NOT NULL without a default, so no slot could be added."
    }
  }

  /// - Returns: nil when all names of the row number are taken.
  package func slots(named name: String) -> ModelSchema? {
    let names = table.columns.map(\.name)
    guard let rowID = table.rowIDColumn?.name ?? TableFacts.rowIDName(besides: names) else {
      return nil
    }
    var slots = schema(key: [rowID])
    slots.name = name
    if table.rowIDColumn == nil {
      slots.fields.insert(FieldSchema(name: rowID, type: .integer, isRowID: true), at: 0)
    }
    return slots
  }

  private func field(_ column: ColumnFacts, key: [String], isUnique: Bool) -> FieldSchema {
    let isRowID = column.name == table.rowIDColumn?.name
    return FieldSchema(
      name: column.name, type: type(of: column), declaredType: declaredType(of: column),
      isOptional: !column.isNotNull && !key.contains(column.name), isUnique: isUnique,
      isRowID: isRowID && key == [column.name], defaultSQL: column.defaultSQL,
      collation: column.collation, reference: reference(of: column), generated: column.generated,
      rules: rules.filter { $0.check.column?.asciiFolded == column.name.asciiFolded }.map(\.rule))
  }

  private func type(of column: ColumnFacts) -> FieldType {
    guard table.isStrict else {
      return ColumnAffinity(declaredType: column.declaredType).fieldType
    }
    return switch column.declaredType.asciiFolded {
    case "int", "integer": .integer
    case "real": .real
    case "text": .text
    case "blob": .blob
    default: .any
    }
  }

  private func declaredType(of column: ColumnFacts) -> String? {
    column.declaredType.isEmpty ? nil : column.declaredType
  }

  private func reference(of column: ColumnFacts) -> ReferenceSchema? {
    let own = table.foreignKeys.first { key in
      key.columns.count == 1 && key.columns[0].asciiFolded == column.name.asciiFolded
    }
    return own.map { key in
      ReferenceSchema(
        table: key.table, column: key.referencedColumns?.first, onDelete: key.onDelete,
        onUpdate: key.onUpdate)
    }
  }

  /// The CHECK constraints. Those without a name are numbered: `Track.check1`.
  private var rules: [(check: TableSQL.Check, rule: RuleSchema)] {
    var unnamedCount = 0
    return table.checks.map { check in
      if check.name == nil { unnamedCount += 1 }
      let name = check.name ?? "\(table.name).check\(unnamedCount)"
      return (
        check,
        RuleSchema(
          name: name, message: "must satisfy \(check.condition)", condition: check.condition)
      )
    }
  }

  /// The primary key's columns if they distinguish all records, or nil.
  private var primaryKey: [String]? {
    let key = table.primaryKey
    guard !key.isEmpty else { return nil }
    let index = table.indexes.first { $0.origin == .primaryKey }
    guard index.map(tellsRecordsApart) ?? true else { return nil }
    return key.map(\.name)
  }

  /// The shortest unique set over columns that are NOT NULL; the oldest of equally short ones.
  private var uniqueKey: [String]? {
    let candidates = foreignIndexes.filter { index in
      guard index.isUnique, index.origin != .primaryKey, let columns = index.plainColumns else {
        return false
      }
      return tellsRecordsApart(index)
        && columns.allSatisfy { name in
          table.column(named: name).map { $0.isNotNull && $0.generated == nil } ?? false
        }
    }
    let shortest = candidates.map(\.columns.count).min()
    return candidates.first { $0.columns.count == shortest }?.plainColumns.map(names)
  }

  /// Returns whether values that differ for the index also differ for the column, because a search
  /// by key compares as the column. The index must be at least as coarse as its column.
  private func tellsRecordsApart(_ index: IndexFacts) -> Bool {
    index.columns.allSatisfy { part in
      guard let column = part.name.flatMap({ table.column(named: $0) }) else { return false }
      return column.collation == .binary
        || column.collation.name.asciiFolded == part.collation.name.asciiFolded
    }
  }

  /// The indexes except the store's own, which belong to added rules and bindings.
  private var foreignIndexes: [IndexFacts] {
    table.indexes.filter { !$0.name.asciiFolded.hasPrefix("_ms_") }
  }

  private var uniqueConstraints: [[String]] {
    table.indexes.filter { $0.origin == .unique }.compactMap { $0.plainColumns.map(names) }
  }

  /// Constraints that the file enforces but the model does not contain.
  private var notes: [String] {
    let keys = table.foreignKeys.filter { $0.columns.count > 1 }.map { key in
      """
      The foreign key \(quotedList(key.columns)) of \(table.name) to \(key.table) has several \
      columns; SQLite enforces it, but the model does not contain it.
      """
    }
    let indexes = foreignIndexes.filter { $0.plainColumns == nil }.map { index in
      """
      The index \(index.name) of \(table.name) covers \
      \(index.isPartial ? "only some rows" : "an expression"); SQLite uses it, but the model does \
      not contain it.
      """
    }
    return keys + indexes
  }

  /// Returns the columns' names as the table spells them, regardless of the spelling in an index or
  /// key.
  private func names(_ columns: [String]) -> [String] {
    columns.map { table.column(named: $0)?.name ?? $0 }
  }

  private func quotedList(_ names: [String]) -> String {
    "(\(names.joined(separator: ", ")))"
  }
}
