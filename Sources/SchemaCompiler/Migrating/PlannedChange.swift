/// One change that a model needs, before the records of the file are consulted. A plain value.
package struct PlannedChange: Hashable, Sendable {
  /// How the file can be changed.
  package enum Means: Hashable, Sendable {
    /// Objects are created and dropped. No record is copied.
    case objects(SchemaPlan)
    /// ALTER TABLE adds the column of this field; a rebuild of the table can add it, too.
    case addColumn(field: String)
    /// The text of the table is edited, so the table is rebuilt.
    case edits([TableEdit])
    /// A sentence with the reason.
    case impossible(String)
  }

  /// Records that violate the new constraints.
  package struct Violation: Hashable, Sendable {
    /// A sentence: "Records violate NOT NULL."
    package let reason: String
    /// True for such a record, which is called ``recordName``.
    package let condition: String
  }

  /// The alias of the model's table in conditions.
  package static let recordName = "_ms_record"

  /// Begins with the model or field: `Todo.title NOT NULL`.
  package let phrase: String
  package let means: Means
  package var violations: [Violation] = []
  package var losses: [String] = []
}

/// One row of `sqlite_schema`.
package struct SchemaText: Hashable, Sendable {
  package let type: String
  package let name: String
  package let table: String
  /// Empty for the index of a constraint.
  package let sql: String

  package init(type: String, name: String, table: String, sql: String) {
    self.type = type
    self.name = name
    self.table = table
    self.sql = sql
  }

  /// Returns whether the text names each of these tables or columns, or something with that name.
  package func mentions(_ names: String...) -> Bool {
    let source = SQLTokens(sql)
    var found: Set<String> = []
    for token in source.significant where token.kind != .symbol && token.kind != .number {
      found.insert(source.name(token).asciiFolded)
    }
    return names.allSatisfy { found.contains($0.asciiFolded) }
  }
}
