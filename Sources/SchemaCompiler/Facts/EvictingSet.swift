/// Columns of a table whose values together are unique in the file: the cause of evictions by
/// REPLACE.
package struct EvictingSet: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package let name: String
    package let collation: Collation
    /// Whether the column itself compares by another collation.
    let isCollated: Bool
    /// The value that REPLACE stores instead of NULL, as SQL. Nil when it keeps or rejects NULL,
    /// and when some program may not be able to evaluate the value.
    package let replacement: String?

    package init(_ column: ColumnFacts, collation: Collation) {
      name = column.name
      self.collation = collation
      isCollated = collation != column.collation
      replacement = column.hasUnforeseenReplacement ? nil : column.replacement?.expression
    }

    /// The value of NEW in the column as it will be stored, as SQL.
    package var stored: String {
      let new = "NEW.\(SQLText.quoted(name))"
      return replacement.map { "ifnull(\(new), \($0))" } ?? new
    }
  }

  package let columns: [Column]
  /// The records that have to be unique.
  package let rows: IndexFacts.Rows

  /// nil when all records have to be unique, or when a trigger cannot evaluate the condition.
  package var condition: IndexCondition? {
    if case .meeting(let condition) = rows { condition } else { nil }
  }

  /// Returns the sets that a trigger can use in every program, sorted by their columns. Sets with
  /// an unknown condition or a custom collation are excluded.
  package static func sets(of table: TableFacts) -> [EvictingSet] {
    all(of: table).filter { $0.rows != .unknown && !$0.isCustom }
      .sorted { $0.sortText < $1.sortText }
  }

  /// Returns the sets of the primary key and the unique indexes. Indexes over an expression are
  /// excluded.
  package static func all(of table: TableFacts) -> [EvictingSet] {
    var sets: [EvictingSet] = []
    if !table.primaryKey.isEmpty {
      sets.append(
        EvictingSet(
          columns: table.primaryKey.map { Column($0, collation: $0.collation) }, rows: .all))
    }
    for index in table.indexes where index.isUnique {
      let columns = index.columns.compactMap { indexed in
        indexed.name.flatMap { table.column(named: $0) }.map { column in
          Column(column, collation: indexed.collation)
        }
      }
      guard columns.count == index.columns.count else { continue }
      let set = EvictingSet(columns: columns, rows: index.rows)
      if !sets.contains(set) { sets.append(set) }
    }
    return sets
  }

  private var isCustom: Bool {
    columns.contains { if case .custom = $0.collation { true } else { false } }
  }

  private var sortText: String {
    (columns.flatMap { [$0.name, $0.collation.name] } + [condition?.sql ?? ""])
      .joined(separator: "\u{0}")
  }

  /// Returns a condition that is true for the records of `table`, a quoted name, that NEW collides
  /// with.
  package func conflict(in table: String) -> String {
    // The condition lets SQLite find the records through the index.
    ((condition.map { ["(\($0.sql))"] } ?? [])
      + columns.map { column in
        let name = "\(table).\(SQLText.quoted(column.name))"
        guard !column.isCollated else { return column.collation.isEqual(name, to: column.stored) }
        return "\(name) = \(column.stored) COLLATE \(SQLText.quoted(column.collation.name))"
      }).joined(separator: " AND ")
  }

  /// Returns the columns of `sets` with the same value in a row's BEFORE and AFTER trigger.
  /// Generated columns may not be computed yet, and the replacement of NULL may be unknown.
  package static func identity(of sets: [EvictingSet], in table: TableFacts) -> [Column] {
    var columns: [Column] = []
    for column in sets.flatMap(\.columns) {
      guard let facts = table.column(named: column.name), facts.generated == nil,
        !facts.hasUnforeseenReplacement, !columns.contains(where: { $0.name == column.name })
      else { continue }
      columns.append(column)
    }
    return columns
  }

  private var names: [String] { columns.map(\.name) + (condition?.columns.sorted() ?? []) }

  /// Returns the updates that may evict records: `UPDATE OF …`.
  package static func updates(of sets: [EvictingSet], in table: TableFacts) -> TriggerSQL.Event {
    let names = sets.flatMap(\.names)
    // The SET clause of an UPDATE never contains a generated column.
    guard names.allSatisfy({ table.column(named: $0)?.generated == nil }) else { return .anyUpdate }
    let rowID = table.rowIDColumn?.name
    return .update(of: names, includingRowID: names.contains { $0 == rowID })
  }

  /// Returns the first statement in the body of a BEFORE UPDATE trigger when `sets` have generated
  /// columns.
  package static func computing(_ sets: [EvictingSet], in table: TableFacts) -> [String] {
    TriggerMoment.computing(from: columnsComputing(sets, in: table))
  }

  /// Returns the columns that generated columns of `sets` are computed from.
  package static func columnsComputing(_ sets: [EvictingSet], in table: TableFacts) -> [String] {
    let isComputed = sets.contains { set in
      set.columns.contains { table.column(named: $0.name)?.generated != nil }
    }
    return isComputed ? table.writtenColumns : []
  }
}

/// The tables whose records REPLACE may evict, with the unique indexes that the file should have.
package struct EvictionTables {
  private var tables: [String: TableFacts] = [:]

  /// Creates the tables of an unknown file: no record is evicted.
  package init() {}

  /// - Parameters:
  ///   - rules: All rules that the file should have. The indexes of unique rules count, whether
  ///     they are already in the file or not.
  ///   - kept: The names of indexes of other rules that stay in the file.
  package init(_ catalog: Catalog, for rules: [ResolvedRule], leaving kept: Set<String>) {
    for rule in rules where rule.rule.asksEvicted {
      let model = rule.referenced ?? rule.model
      guard var table = catalog.table(named: model.table) else { continue }
      table.indexes.removeAll { index in
        index.name.hasPrefix(RuleObjects.namePrefix) && !kept.contains(index.name)
      }
      for unique in rules where unique.model.table == model.table {
        if let index = IndexFacts(of: unique, on: table) { table.indexes.append(index) }
      }
      tables[model.table.asciiFolded] = table
    }
  }

  package subscript(model: ModelSchema) -> TableFacts? { tables[model.table.asciiFolded] }
}

extension IndexFacts {
  /// Creates the index that enforces a unique rule; nil for other rules and for warnings.
  fileprivate init?(of rule: ResolvedRule, on table: TableFacts) {
    guard rule.rule.severity == .error, rule.rule.kind == .unique,
      let object = RuleObjects(rule).objects.first
    else { return nil }
    self.init(
      name: object.name, isUnique: true,
      rows: rule.expression == nil
        ? .all : IndexCondition(ofIndex: object.sql, on: table).map { .meeting($0) } ?? .unknown,
      origin: .created,
      columns: rule.fields.map { field in
        Column(
          name: field.column, collation: table.column(named: field.column)?.collation ?? .binary)
      })
  }
}

extension TableFacts {
  /// The name of a rowid that is not a column. An insertion with this rowid may evict a record too.
  package var hiddenRowIDName: String? {
    guard kind == .table, !isWithoutRowID, rowIDColumn == nil else { return nil }
    return Self.rowIDName(besides: columns.map(\.name))
  }
}
