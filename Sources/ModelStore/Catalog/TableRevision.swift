/// A table with an edited text, into which the records of the old one are copied.
///
/// It exists only if a scratch database proves two things: SQLite reads the text as intended, and
/// everything that the edits do not concern stays.
struct TableRevision {
  let model: String
  /// The table as it is now.
  let table: TableFacts
  let edits: [TableEdit]
  /// The new CREATE TABLE text.
  let sql: String

  /// - Parameters:
  ///   - remaining: The differences that other steps end.
  ///   - read: Returns the table as SQLite reads a text; nil if it does not accept it. See
  ///     ``ScratchTables``.
  /// - Returns: nil if the text cannot be edited safely.
  init?(
    of schema: ModelSchema, _ table: TableFacts, in catalog: Catalog, by edits: [TableEdit],
    leaving remaining: [SchemaDifference] = [],
    reading read: (_ name: String, _ sql: String) throws -> TableFacts?
  ) throws {
    model = schema.name
    self.table = table
    self.edits = edits
    guard table.kind == .table, let sql = TableEdit.apply(edits, to: table.sql) else { return nil }
    self.sql = sql
    guard let new = try read(table.name, sql), keeps(new) else { return nil }
    let allowed = Set(remaining)
    let found = SchemaDifference.differences(
      of: [schema], in: catalog.replacing(merged(new)))
    guard found.allSatisfy(allowed.contains) else { return nil }
  }

  /// The columns with values to copy. A generated column has none.
  var copiedColumns: [String] {
    let removed = Set(removedColumns.map(\.asciiFolded))
    return table.columns.filter { $0.generated == nil && !removed.contains($0.name.asciiFolded) }
      .map(\.name)
  }

  var removedColumns: [String] {
    edits.compactMap { if case .removeColumn(let name) = $0 { name } else { nil } }
  }

  /// Whether constraints with an index may be added or removed.
  var changesUniqueSets: Bool {
    edits.contains { edit in
      switch edit {
      case .addClause, .addConstraint, .addColumn, .removeUnique, .removeColumn: true
      case .setType, .setOptional, .setDefault, .setCollation, .removeReference, .removeCheck,
        .renameCheck:
        false
      }
    }
  }

  /// The rowid, which identifies records in other tables and keeps their order; nil if a column is
  /// the rowid, or if no name reaches it.
  var hiddenRowID: String? {
    guard !table.isWithoutRowID, table.rowIDColumn == nil else { return nil }
    let added = TableSQL.columnNames(sql)
    return TableFacts.rowIDName(besides: table.columns.map(\.name) + added)
  }

  /// The facts of the new table together with the indexes and triggers that are created again.
  private func merged(_ new: TableFacts) -> TableFacts {
    var merged = new
    merged.indexes += table.indexes.filter { $0.origin == .created }
    merged.triggers = table.triggers
    return merged
  }

  /// Whether everything that the edits do not concern is as before.
  private func keeps(_ new: TableFacts) -> Bool {
    let removed = Set(removedColumns.map(\.asciiFolded))
    let changed = Set(edits.compactMap(\.changedColumn).map(\.asciiFolded))
    let kept = table.columns.filter { !removed.contains($0.name.asciiFolded) }
    let hasColumns = kept.allSatisfy { column in
      let found = new.column(named: column.name)
      return changed.contains(column.name.asciiFolded)
        ? found?.keyPosition == column.keyPosition && found?.generated == column.generated
        : found == column
    }
    let order = new.columns.map(\.name).filter { table.column(named: $0) != nil }
    let old = TableSQL(table.sql)
    let text = TableSQL(sql)
    let references = table.foreignKeys.filter { key in
      !edits.contains { $0.removes(key) }
    }
    let checks = table.checks.filter { check in !edits.contains { $0.removes(check) } }
    return hasColumns && order == kept.map(\.name)
      && new.isStrict == table.isStrict && new.isWithoutRowID == table.isWithoutRowID
      && new.primaryKey.map(\.name) == table.primaryKey.map(\.name)
      && (new.rowIDColumn == nil) == (table.rowIDColumn == nil)
      && references.allSatisfy(new.foreignKeys.contains) && checks.allSatisfy(new.checks.contains)
      && old.generated.filter { !removed.contains($0.key) }
        .allSatisfy { text.generated[$0.key] == $0.value }
      && TableSQL.hasAutoincrement(sql) == TableSQL.hasAutoincrement(table.sql)
  }
}

extension TableEdit {
  /// The column whose own facts it changes.
  fileprivate var changedColumn: String? {
    switch self {
    case .setType(let column, _), .setOptional(let column, _), .setDefault(let column, _),
      .setCollation(let column, _):
      column
    case .addColumn, .removeColumn, .addClause, .addConstraint, .removeReference, .removeUnique,
      .removeCheck, .renameCheck:
      nil
    }
  }

  fileprivate func removes(_ key: ForeignKeyFacts) -> Bool {
    guard case .removeReference(let columns, let table) = self else { return false }
    return key.columns.map(\.asciiFolded) == columns.map(\.asciiFolded)
      && key.table.asciiFolded == table.asciiFolded
  }

  fileprivate func removes(_ check: TableSQL.Check) -> Bool {
    if case .renameCheck(let name, _) = self { return check.name == name }
    guard case .removeCheck(let name, let condition) = self else { return false }
    return check.name == name
      && SQLTokens(check.condition).normalized == SQLTokens(condition).normalized
  }
}
