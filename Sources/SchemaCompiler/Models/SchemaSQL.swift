/// The SQL that creates a model's table and indexes, and adds a column. The text is formatted for
/// readers of `sqlite_schema`, and always the same for the same schema.
///
/// DDL takes no arguments. So each text is a finished string before it becomes ``SQLText``, whose
/// own interpolation would turn the names into arguments.
package struct SchemaSQL {
  package let schema: ModelSchema

  package init(_ schema: ModelSchema) {
    self.schema = schema
  }

  /// The table, then the indexes.
  package var objects: [SchemaObject] {
    [table] + schema.allIndexes.map(index)
  }

  private var table: SchemaObject {
    let lines = schema.fields.map(columnDefinition) + tableConstraints
    let options = schema.isWithoutRowID ? "STRICT, WITHOUT ROWID" : "STRICT"
    let sql = """
      CREATE TABLE \(SQLText.quoted(schema.table)) (
        \(lines.joined(separator: ",\n  "))
      ) \(options)
      """
    return SchemaObject(kind: .table, name: schema.table, owner: owner, sql: sql)
  }

  private var owner: SchemaObject.Owner { .model(schema.name) }

  package func index(_ index: IndexSchema) -> SchemaObject {
    let sql = """
      CREATE \(index.isUnique ? "UNIQUE INDEX" : "INDEX") \(SQLText.quoted(index.name))
      ON \(SQLText.quoted(schema.table)) (\(columns(index.fields)))
      """
    return SchemaObject(kind: .index, name: index.name, owner: owner, sql: sql)
  }

  package func addColumn(_ field: FieldSchema) -> SQLText {
    let sql = """
      ALTER TABLE \(SQLText.quoted(schema.table))
      ADD COLUMN \(columnDefinition(field))
      """
    return SQLText(sql: sql)
  }

  package func columnDefinition(_ field: FieldSchema) -> String {
    let isWholeKey = schema.key == [field.name]
    let isRowID = schema.rowIDFieldIndex.map { schema.fields[$0].name == field.name } ?? false
    var parts = [SQLText.quoted(field.column), field.columnType]
    // NOT NULL would have no effect on the rowid, because NULL there requests the next number.
    if !field.isOptional, !isRowID { parts.append("NOT NULL") }
    if isWholeKey { parts.append("PRIMARY KEY") }
    if field.isUnique, !isWholeKey { parts.append("UNIQUE") }
    if let value = defaultValue(of: field) { parts.append("DEFAULT \(value)") }
    if field.collation != .binary {
      parts.append("COLLATE \(collationName(field.collation))")
    }
    if let reference = field.reference { parts.append(references(reference)) }
    let checks = schema.rules(of: field).map { "\n    \(check($0))" }
    return parts.joined(separator: " ") + checks.joined()
  }

  private var tableConstraints: [String] {
    let key = schema.key.count > 1 ? ["PRIMARY KEY (\(columns(schema.key)))"] : []
    return key + schema.uniques.map(unique) + schema.rules.map(check)
  }

  func unique(_ fields: [String]) -> String { "UNIQUE (\(columns(fields)))" }

  /// The default of `field` as the text after DEFAULT; nil if it has none.
  func defaultValue(of field: FieldSchema) -> String? {
    field.defaultSQL.map { SQLDefault($0).isLiteral ? $0 : "(\($0))" }
  }

  func check(_ rule: RuleSchema) -> String {
    "CONSTRAINT \(SQLText.quoted(rule.name)) CHECK (\(rule.condition))"
  }

  func references(_ reference: ReferenceSchema) -> String {
    var text = "REFERENCES \(SQLText.quoted(reference.table))"
    if let column = reference.column { text += " (\(SQLText.quoted(column)))" }
    if reference.onDelete != .noAction { text += " ON DELETE \(reference.onDelete.rawValue)" }
    if reference.onUpdate != .noAction { text += " ON UPDATE \(reference.onUpdate.rawValue)" }
    return text
  }

  func collationName(_ collation: Collation) -> String {
    if case .custom(let name) = collation { return SQLText.quoted(name) }
    return collation.name
  }

  private func columns(_ fields: [String]) -> String {
    SQLText.quotedList(fields.map { schema.field(named: $0)?.column ?? $0 })
  }
}

/// The text after DEFAULT, parsed far enough to know how SQLite treats it.
struct SQLDefault {
  /// Whether it is one literal, with or without a sign, which needs no parentheses.
  package let isLiteral: Bool
  /// Whether the value is the same for every row. Then the column can be added to existing rows:
  /// <https://sqlite.org/lang_altertable.html#altertabaddcol>.
  let isConstant: Bool
  package let isNull: Bool
  /// The same default as an expression among names of columns. Directly after DEFAULT, a name is a
  /// text.
  package let expression: String

  init(_ sql: String) {
    let source = SQLTokens(sql)
    var tokens = source.significant[...]
    let text = tokens.first.flatMap { first in
      tokens.last.map { source.text(first.range.lowerBound..<$0.range.upperBound) }
    }
    let isSigned =
      tokens.count == 2
      && tokens.first.map { source.isSymbol($0, "-") || source.isSymbol($0, "+") } ?? false
    if isSigned { tokens.removeFirst() }
    guard tokens.count == 1, let token = tokens.first else {
      isLiteral = false
      isConstant = false
      isNull = false
      expression = text ?? sql
      return
    }
    func isWord(_ words: String...) -> Bool { words.contains { source.isKeyword(token, $0) } }
    isNull = isWord("NULL") && !isSigned
    isConstant =
      token.kind == .number
      || !isSigned
        && (token.kind == .string || token.kind == .blob || isWord("NULL", "TRUE", "FALSE"))
    isLiteral =
      isConstant || !isSigned && isWord("CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP")
    let isName = token.kind == .quotedName || token.kind == .word
    expression =
      isName && !isLiteral && !isSigned ? SQLText.literal(source.name(token)) : text ?? sql
  }
}

extension ModelSchema {
  /// Returns the rules of `field` in the file: the declared ones, and that a boolean is 0 or 1.
  package func rules(of field: FieldSchema) -> [RuleSchema] {
    // An adopted column has only the rules that were found in the file.
    guard field.type == .boolean, !isAdopted else { return field.rules }
    let boolean = RuleSchema(
      name: "\(name).\(field.name).boolean", message: "must be true or false",
      condition: "\(SQLText.quoted(field.column)) IN (0, 1)")
    return [boolean] + field.rules
  }

  /// Every rule in the file for this model, with the field that it concerns, if it is one field.
  package var allRules: [(field: FieldSchema?, rule: RuleSchema)] {
    fields.flatMap { field in rules(of: field).map { (field, $0) } } + rules.map { (nil, $0) }
  }

  /// The prefix of the names of indexes that the store adds for references.
  package static let referenceIndexPrefix = "_ms_index_"

  /// The declared indexes, and one for every reference that would otherwise have none. Deleting a
  /// referenced record searches for the records that refer to it. See
  /// <https://sqlite.org/foreignkeys.html#fk_indexes>.
  package var allIndexes: [IndexSchema] {
    let leading = Set(
      ([key] + uniques + indexes.map(\.fields)).compactMap(\.first)
        + fields.filter(\.isUnique).map(\.name))
    return indexes
      + fields.filter { $0.reference != nil && !leading.contains($0.name) }.map { field in
        IndexSchema(
          name: "\(Self.referenceIndexPrefix)\(table).\(field.column)", fields: [field.name])
      }
  }
}
