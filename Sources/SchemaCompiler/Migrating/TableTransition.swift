/// The statements that give a table another form, for a migration to run. A plain value.
///
/// Records stay: values of columns that both forms have are copied. What that loses, or what may
/// fail for records that the file has, is listed.
package struct TableTransition {
  private let old: TableFacts
  private let new: TableFacts
  /// The name of the copy before it gets that of the table.
  private let temporary: String
  /// The indexes and triggers of the old table that stay.
  private let attached: [SchemaText]

  /// - Parameter temporary: A name that nothing has.
  package init(
    from old: TableFacts, to new: TableFacts, copyingInto temporary: String,
    keeping attached: [SchemaText]
  ) {
    self.old = old
    self.new = new
    self.temporary = temporary
    self.attached = attached
  }

  private var added: [ColumnFacts] { new.columns.filter { old.column(named: $0.name) == nil } }
  private var dropped: [ColumnFacts] { old.columns.filter { new.column(named: $0.name) == nil } }

  /// The columns of both forms that can be written. Computed values are copied into one that is no
  /// longer computed.
  private var common: [(old: ColumnFacts, new: ColumnFacts)] {
    new.columns.compactMap { column in
      guard column.generated == nil, let former = old.column(named: column.name) else { return nil }
      return (former, column)
    }
  }

  /// The columns with values of their own that will be computed.
  private var overwritten: [ColumnFacts] {
    old.columns.filter { column in
      column.generated == nil && new.column(named: column.name)?.generated != nil
    }
  }

  // What it does

  /// Each change as a phrase that begins with the table or column: `Todo.due add`.
  package var changes: [String] {
    let name = new.name
    let phrases =
      dropped.map { "\(name).\($0.name) drop" } + added.map { "\(name).\($0.name) add" }
      + new.columns.compactMap { column in
        old.column(named: column.name).flatMap { Self.phrase("\(name).\(column.name)", $0, column) }
      } + constraintPhrases
    return phrases.isEmpty ? ["\(name) change"] : phrases
  }

  private static func phrase(_ name: String, _ old: ColumnFacts, _ new: ColumnFacts) -> String? {
    var parts: [String] = []
    if old.canonical.declaredType != new.canonical.declaredType {
      parts.append("\(old.declaredType.nonEmpty) -> \(new.declaredType.nonEmpty)")
    }
    if old.isNotNull != new.isNotNull { parts.append(new.isNotNull ? "NOT NULL" : "optional") }
    if old.canonical.defaultSQL != new.canonical.defaultSQL {
      parts.append(new.defaultSQL.map { "DEFAULT \($0)" } ?? "no default")
    }
    if old.collation != new.collation { parts.append("COLLATE \(new.collation.name)") }
    if old.keyPosition != new.keyPosition { parts.append("key") }
    if old.generated != new.generated { parts.append(new.generated == nil ? "stored" : "computed") }
    return parts.isEmpty ? nil : "\(name) \(parts.joined(separator: ", "))"
  }

  private var constraintPhrases: [String] {
    let (before, after) = (Self.constraints(of: old), Self.constraints(of: new))
    let (known, wanted) = (Set(before.map(\.key)), Set(after.map(\.key)))
    return after.filter { !known.contains($0.key) }.map { "\(new.name) \($0.phrase)" }
      + before.filter { !wanted.contains($0.key) }.map { "\(new.name) drop \($0.phrase)" }
  }

  /// The constraints of a table, and what they are compared by.
  private static func constraints(of table: TableFacts) -> [(key: String, phrase: String)] {
    let checks = table.checks.map { check in
      (
        key: "CHECK \(SQLTokens.canonical(SQLTokens.unqualified(check.condition, in: table.name)))",
        phrase: "CHECK (\(SQLTokens(check.condition).normalized))"
      )
    }
    let others =
      table.indexes.filter { $0.origin == .unique }.map {
        "UNIQUE (\($0.columns.compactMap(\.name).joined(separator: ", ")))"
      }
      + table.foreignKeys.map {
        "(\($0.columns.joined(separator: ", "))) REFERENCES \($0.table)"
      }
    return checks + (others + orderOfKey(of: table)).map { (key: $0.asciiFolded, phrase: $0) }
  }

  /// The primary key of a table, if it has an order or collation of its own.
  private static func orderOfKey(of table: TableFacts) -> [String] {
    table.indexes.filter { $0.origin == .primaryKey }.compactMap { index in
      let columns = index.columns.map { column in
        let name = column.name ?? ""
        let isOwn = table.column(named: name)?.collation != column.collation
        return name + (isOwn ? " COLLATE \(column.collation.name)" : "")
          + (column.isDescending ? " DESC" : "")
      }
      let isPlain = columns == index.columns.map { $0.name ?? "" }
      return isPlain ? nil : "PRIMARY KEY (\(columns.joined(separator: ", ")))"
    }
  }

  package var losses: [SchemaLoss] {
    (dropped.filter { $0.generated == nil } + overwritten).map { .column($0.name, of: new.name) }
  }

  /// One sentence for each reason why the statements may fail for records that a file has.
  package var warnings: [String] {
    let missing = added.filter { column in
      column.generated == nil && column.isNotNull && !isRowID(column)
        && column.defaultSQL.map { SQLDefault($0).isNull } ?? true
    }
    return missing.map {
      """
      \(new.name).\($0.name) is new, must have a value and has no default: it fails if \(new.name) \
      has records. Add a DEFAULT, or a value in the INSERT.
      """
    }
      + common.filter { !$0.old.isNotNull && $0.new.isNotNull && !isRowID($0.new) }.map {
        "It fails for records without a value in \(new.name).\($0.new.name). Update them first."
      }
      + common.filter { $0.old.canonical.declaredType != $0.new.canonical.declaredType }.map {
        """
        The values of \(new.name).\($0.new.name) are copied as SQLite converts \
        \($0.old.declaredType.nonEmpty) to \($0.new.declaredType.nonEmpty).
        """
      }
  }

  private func isRowID(_ column: ColumnFacts) -> Bool { new.rowIDColumn?.name == column.name }

  // In place

  /// The statements of ALTER TABLE; nil if only a copy gives the table its new form. SQLite may
  /// still refuse to drop a column, so try them in an empty database first.
  ///
  /// See <https://sqlite.org/lang_altertable.html>.
  package var statementsInPlace: [String]? {
    guard old.kind == .table, new.kind == .table, let text = TableText(new.sql) else { return nil }
    let names = { (columns: [ColumnFacts]) in Set(columns.map(\.name.asciiFolded)) }
    guard
      TableShape(old, without: names(dropped)) == TableShape(new, without: names(added)),
      added.allSatisfy(canBeAdded), dropped.allSatisfy({ $0.keyPosition == 0 })
    else { return nil }
    let table = SQLText.quoted(new.name)
    let source = SQLTokens(new.sql)
    let definitions = added.compactMap { column in text.column(column.name).map(\.range) }
    guard definitions.count == added.count else { return nil }
    return definitions.map { "ALTER TABLE \(table) ADD COLUMN \(source.text($0))" }
      + dropped.map { "ALTER TABLE \(table) DROP COLUMN \(SQLText.quoted($0.name))" }
  }

  private func canBeAdded(_ column: ColumnFacts) -> Bool {
    let isInUniqueSet = new.indexes.contains { index in
      index.origin != .created
        && index.columns.contains { $0.name?.asciiFolded == column.name.asciiFolded }
    }
    guard column.generated != .stored, column.keyPosition == 0, !isInUniqueSet else { return false }
    let value = column.defaultSQL.map(SQLDefault.init)
    let hasValue = value.map { $0.isConstant && !$0.isNull } ?? false
    if let value, !value.isConstant { return false }
    if column.isNotNull, !hasValue, column.generated == nil { return false }
    let refers = new.foreignKeys.contains { key in
      key.columns.contains { $0.asciiFolded == column.name.asciiFolded }
    }
    return !refers || !hasValue
  }

  // By a copy

  /// The statements that copy the records into a new table and give it the name of the old one:
  /// <https://sqlite.org/lang_altertable.html#otheralter>. Nil if the text of the new table is not
  /// understood.
  ///
  /// Foreign keys are off while a migration runs, so dropping the old table deletes nothing else.
  package var statementsOfRebuild: [String]? {
    guard old.kind == .table, new.kind == .table,
      let creation = TableSQL.renaming(new.sql, to: temporary)
    else { return nil }
    let name = SQLText.quoted(new.name)
    let columns = SQLText.quotedList(
      (hiddenRowID.map { [$0] } ?? []) + common.map(\.new.name))
    var statements = [creation]
    if !common.isEmpty {
      // A conflict clause of the table could leave records out.
      statements.append(
        """
        INSERT OR ABORT INTO \(SQLText.quoted(temporary)) (\(columns))
        SELECT \(columns) FROM \(name)
        """)
    }
    if TableSQL.hasAutoincrement(old.sql), TableSQL.hasAutoincrement(new.sql) {
      statements += statementsKeepingSequence
    }
    return statements + [
      "DROP TABLE \(name)",
      // Views, triggers and references of other tables keep the name.
      "PRAGMA legacy_alter_table = ON",
      "ALTER TABLE \(SQLText.quoted(temporary)) RENAME TO \(name)",
      "PRAGMA legacy_alter_table = OFF",
    ] + attached.map(\.sql)
  }

  /// The name of the row number, if neither form has it as a column.
  private var hiddenRowID: String? {
    guard !old.isWithoutRowID, !new.isWithoutRowID, old.rowIDColumn == nil, new.rowIDColumn == nil
    else { return nil }
    return TableFacts.rowIDName(besides: old.columns.map(\.name) + new.columns.map(\.name))
  }

  /// The highest key that the table ever had would be lost with the old table.
  private var statementsKeepingSequence: [String] {
    let (copy, name) = (SQLText.literal(temporary), SQLText.literal(new.name))
    return [
      "DELETE FROM sqlite_sequence WHERE name = \(copy)",
      """
      INSERT INTO sqlite_sequence (name, seq)
      SELECT \(copy), seq FROM sqlite_sequence WHERE name = \(name)
      """,
    ]
  }
}

extension String {
  /// The type of a column, for people.
  fileprivate var nonEmpty: String { isEmpty ? "no type" : self }
}
