/// One difference between the file and a declared model, with a sentence that describes it.
///
/// An adopted model uses a table that another program designed. For it, only differences that would
/// give wrong results count. Unknown columns, further constraints and other spellings of a type are
/// ignored.
package struct SchemaDifference: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case missingTable
    case wrongKind(found: TableFacts.Kind)
    case notStrict
    case withoutRowID(declared: Bool)
    case key(declared: [String], found: [String])
    /// The key is SQLite's row number in one and an ordinary column in the other.
    case rowID(field: String, declared: Bool)
    /// - Parameter obstacle: The reason why the column cannot be added in place; nil when it can.
    case missingColumn(field: String, obstacle: String?)
    case extraColumn(String)
    case type(field: String, declared: String, found: String)
    case nullability(field: String, declaredOptional: Bool)
    case defaultValue(field: String, declared: String?, found: String?)
    case collation(field: String, declared: String, found: String)
    case generated(field: String, declared: Bool)
    case missingReference(field: String, table: String)
    case reference(field: String, declared: ReferenceSchema, found: ReferenceSchema)
    case extraReference(columns: [String], table: String)
    case missingUnique(fields: [String])
    /// - Parameter index: The name of a created index; nil for the index of a constraint.
    case extraUnique(columns: [String], index: String?)
    case missingIndex(IndexSchema)
    case index(name: String)
    case missingRule(name: String)
    case rule(name: String)
    case extraRule(name: String)
  }

  package let model: String
  package let table: String
  package let kind: Kind
  /// Whether the missing part can be added without losing or rewriting other data.
  package let isAdditive: Bool

  init(_ kind: Kind, of schema: ModelSchema) {
    model = schema.name
    table = schema.table
    self.kind = kind
    isAdditive =
      switch kind {
      case .missingTable: schema.kind == .table && !schema.isAdopted
      case .missingColumn(_, let obstacle): obstacle == nil && !schema.isAdopted
      // A unique index can fail for existing records, so only a migration adds it.
      case .missingIndex(let index): !index.isUnique && !schema.isAdopted
      default: false
      }
  }

  /// Returns the differences between `catalog` and `models`, in the order of the models. Within one
  /// model the order is: the table, its columns in field order, unknown columns, references, unique
  /// sets, indexes, rules.
  package static func differences(
    of models: [ModelSchema], in catalog: Catalog
  ) -> [SchemaDifference] {
    models.flatMap { schema in
      guard let table = catalog.table(named: schema.table) else {
        return [SchemaDifference(.missingTable, of: schema)]
      }
      return TableComparison(schema: schema, table: table, catalog: catalog).differences
    }
  }
}

extension SchemaDifference {
  /// A full sentence: what differs and, if it cannot be added, what to do.
  package var sentence: String {
    switch kind {
    case .missingTable: "The table \(table) of the model \(model) does not exist."
    case .wrongKind(let found):
      "\(table) is \(found.phrase), which cannot hold the model \(model)."
    case .notStrict: looseTable
    case .withoutRowID(let declared):
      "The table \(table) is \(declared ? "not " : "")WITHOUT ROWID; the model \(model) declares otherwise."
    case .key(let declared, let found): otherKey(declared, found)
    case .rowID(let field, let declared): otherRowID(field, declared)
    case .missingColumn(let field, let obstacle): missingColumn(field, obstacle)
    case .extraColumn(let column):
      "The table \(table) has a column \(column) that the model \(model) does not declare."
    case .type(let field, let declared, let found): otherType(field, declared, found)
    case .nullability(let field, let isOptional): otherNullability(field, isOptional)
    case .defaultValue(let field, let declared, let found): otherDefault(field, declared, found)
    case .collation(let field, let declared, let found):
      "\(model).\(field) compares as \(declared); the column in \(table) compares as \(found)."
    case .generated(let field, let declared): otherComputation(field, declared)
    case .missingReference(let field, let table):
      "\(model).\(field) refers to \(table); the column in \(self.table) has no foreign key."
    case .reference(let field, let declared, let found):
      "\(model).\(field) declares \(declared.phrase); the column in \(table) has \(found.phrase)."
    case .extraReference(let columns, let table): extraReference(columns, table)
    case .missingUnique(let fields): missingUnique(fields)
    case .extraUnique(let columns, _): extraUnique(columns)
    case .missingIndex(let index):
      "The index \(index.name) of the model \(model) does not exist."
    case .index(let name):
      "The index \(name) covers other columns than the model \(model) declares."
    case .missingRule(let name):
      "The table \(table) has no rule \(name), which \(model) declares. Add it in a migration."
    case .rule(let name):
      "The rule \(name) in the table \(table) has another condition than \(model) declares."
    case .extraRule(let name):
      "The table \(table) has a rule \(name) that the model \(model) does not declare."
    }
  }

  private var looseTable: String {
    """
    The table \(table) is not STRICT, so another program made it; adopt it, or give the model \
    \(model) a table of its own.
    """
  }

  private func otherKey(_ declared: [String], _ found: [String]) -> String {
    """
    The key of \(model) is (\(declared.joined(separator: ", "))); the table \(table) has \
    \(found.isEmpty ? "none" : "(\(found.joined(separator: ", ")))").
    """
  }

  private func otherRowID(_ field: String, _ isDeclared: Bool) -> String {
    """
    \(model).\(field) is \(isDeclared ? "" : "not ")declared as SQLite's row number; \
    the column in \(table) is \(isDeclared ? "not" : "one").
    """
  }

  private func missingColumn(_ field: String, _ obstacle: String?) -> String {
    "\(model).\(field) has no column in the table \(table)"
      + (obstacle.map { ", and only a migration can add it: \($0)." } ?? ".")
  }

  private func otherType(_ field: String, _ declared: String, _ found: String) -> String {
    """
    The model declares \(model).\(field) as \(declared); the file's column in \(table) \
    \(found.isEmpty ? "has no type" : "is \(found)").
    """
  }

  private func otherNullability(_ field: String, _ isDeclaredOptional: Bool) -> String {
    isDeclaredOptional
      ? "\(model).\(field) is optional; the column in \(table) is NOT NULL."
      : "\(model).\(field) is not optional; the column in \(table) accepts NULL."
  }

  private func otherDefault(_ field: String, _ declared: String?, _ found: String?) -> String {
    """
    \(model).\(field) declares \(declared.map { "the default \($0)" } ?? "no default"); \
    the column in \(table) has \(found.map { "the default \($0)" } ?? "none").
    """
  }

  private func otherComputation(_ field: String, _ isDeclared: Bool) -> String {
    isDeclared
      ? "\(model).\(field) is declared as computed; the column in \(table) is not."
      : "The column of \(model).\(field) in \(table) is computed by SQLite, so it cannot be written."
  }

  private func extraReference(_ columns: [String], _ referenced: String) -> String {
    """
    The table \(table) has a foreign key from (\(columns.joined(separator: ", "))) to \
    \(referenced) that the model \(model) does not declare.
    """
  }

  private func missingUnique(_ fields: [String]) -> String {
    """
    \(model) declares (\(fields.joined(separator: ", "))) unique; the table \(table) does not. \
    Add it in a migration.
    """
  }

  private func extraUnique(_ columns: [String]) -> String {
    """
    The table \(table) has (\(columns.joined(separator: ", "))) unique; the model \(model) does \
    not declare it.
    """
  }
}

extension TableFacts.Kind {
  /// The kind with its article, for a sentence.
  package var phrase: String {
    switch self {
    case .table: "a table"
    case .view: "a view"
    case .virtual: "a virtual table"
    case .shadow: "the storage of a virtual table"
    }
  }
}

extension ReferenceSchema {
  fileprivate var phrase: String {
    let target = column.map { "\(table) (\($0))" } ?? table
    return
      "a reference to \(target), ON DELETE \(onDelete.rawValue), ON UPDATE \(onUpdate.rawValue)"
  }
}
