/// The declaration of one model as a plain value: its table, fields, key and rules.
///
/// The same value describes a Swift model, a table adopted from an existing database, and a view.
/// The file's catalog stores it as JSON. So a program without the Swift type, such as `storecli`,
/// knows the model too.
public struct ModelSchema: Hashable, Sendable, Codable {
  /// What holds the records.
  package enum Kind: String, Hashable, Sendable, Codable {
    /// A table, which can be queried and written.
    case table
    /// A view, which can be queried but not written.
    case view
  }

  /// Unique in the store.
  public var name: String
  /// The table or view in the file. Equal to ``name`` unless declared otherwise.
  public var table: String
  /// Whether it is a table or a view.
  package var kind: Kind
  /// In column order. A record's values always come in this order.
  public var fields: [FieldSchema]
  /// The names of the key's fields, in key order; at least one, except for views.
  public var key: [String]
  /// Whether the table has no hidden rowid: <https://sqlite.org/withoutrowid.html>.
  package var isWithoutRowID: Bool
  /// Sets of fields whose values must be unique together, in addition to the key.
  package var uniques: [[String]]
  package var indexes: [IndexSchema]
  /// Rules over several fields of one record.
  package var rules: [RuleSchema]
  /// The ordered lists that each record owns.
  package var lists: [ListSchema]
  /// Whether another program created the table and the store adopted it. Opening never changes such
  /// a table.
  public var isAdopted: Bool

  /// Describes a model without checking it; opening a store checks it.
  package init(
    name: String, table: String? = nil, kind: Kind = .table, fields: [FieldSchema], key: [String],
    isWithoutRowID: Bool = false, uniques: [[String]] = [], indexes: [IndexSchema] = [],
    rules: [RuleSchema] = [], lists: [ListSchema] = [], isAdopted: Bool = false
  ) {
    self.name = name
    self.table = table ?? name
    self.kind = kind
    self.fields = fields
    self.key = key
    self.isWithoutRowID = isWithoutRowID
    self.uniques = uniques
    self.indexes = indexes
    self.rules = rules
    self.lists = lists
    self.isAdopted = isAdopted
  }

  /// Returns the position of the field called `name`, or nil.
  package func fieldIndex(named name: String) -> Int? {
    fields.firstIndex { $0.name == name }
  }

  /// Returns the field called `name`, or nil.
  public func field(named name: String) -> FieldSchema? {
    fields.first { $0.name == name }
  }

  /// The positions of the key's fields, in key order.
  package var keyIndices: [Int] {
    key.compactMap { fieldIndex(named: $0) }
  }

  /// The position of the field that is SQLite's own row number, which a draft may omit. It is a key
  /// of one field declared `INTEGER PRIMARY KEY`. See
  /// <https://sqlite.org/lang_createtable.html#rowid>.
  package var rowIDFieldIndex: Int? {
    guard key.count == 1, !isWithoutRowID, kind == .table else { return nil }
    return fields.firstIndex { $0.name == key[0] && $0.isRowID }
  }

  /// Whether the key is the row number of a table that has no column for it. Such numbers are valid
  /// while the file is open. VACUUM may change them: <https://sqlite.org/lang_vacuum.html>.
  package var hasHiddenRowID: Bool {
    isAdopted && rowIDFieldIndex.map { fields[$0].declaredType == nil } ?? false
  }
}

/// One field of a model: one column.
public struct FieldSchema: Hashable, Sendable, Codable {
  /// When a generated column is computed: <https://sqlite.org/gencol.html>.
  package enum Generated: String, Hashable, Sendable, Codable {
    /// Computed whenever it is read; it takes no space and is in no row image.
    case virtual
    /// Computed whenever its record is written.
    case stored
  }

  /// Unique in the model.
  public var name: String
  /// The column's name. Equal to ``name`` unless declared otherwise.
  public var column: String
  /// The meaning of its values.
  public var type: FieldType
  /// The form in which the column stores its values; nil for the form of ``FieldType``. Only
  /// columns of adopted tables have another form.
  public var form: FieldForm?
  /// The type that the file declares, for adopted columns: `NVARCHAR(160)`. Empty for a column
  /// without a declared type whose stored values determined ``type``.
  package var declaredType: String?
  /// Whether it may be NULL.
  public var isOptional: Bool
  /// Whether values other than NULL are unique.
  public var isUnique: Bool
  /// Whether the column is the table's rowid.
  package var isRowID: Bool
  /// The default as an SQL expression, or nil for none.
  package var defaultSQL: String?
  /// The collation for comparing its texts.
  package var collation: Collation
  /// The reference of a foreign key over this field alone.
  public var reference: ReferenceSchema?
  /// Set for a column that SQLite computes; it is never written. See
  /// <https://sqlite.org/gencol.html>.
  package var generated: Generated?
  /// Rules on this field. A boolean's rule, 0 or 1, is implied and not listed.
  package var rules: [RuleSchema]

  /// Describes a field without checking it; opening a store checks it.
  package init(
    name: String, column: String? = nil, type: FieldType, form: FieldForm? = nil,
    declaredType: String? = nil, isOptional: Bool = false, isUnique: Bool = false,
    isRowID: Bool = false, defaultSQL: String? = nil, collation: Collation = .binary,
    reference: ReferenceSchema? = nil, generated: Generated? = nil, rules: [RuleSchema] = []
  ) {
    self.name = name
    self.column = column ?? name
    self.type = type
    self.form = form
    self.declaredType = declaredType
    self.isOptional = isOptional
    self.isUnique = isUnique
    self.isRowID = isRowID
    self.defaultSQL = defaultSQL
    self.collation = collation
    self.reference = reference
    self.generated = generated
    self.rules = rules
  }

  /// The column type in a STRICT table of the store.
  package var columnType: String { form?.columnType ?? type.columnType }
}

/// The meaning of a field, which determines its text form and its storage class.
public enum FieldType: String, Hashable, Sendable, Codable, CaseIterable {
  case integer, real, text, blob
  /// INTEGER, 0 or 1.
  case boolean
  /// REAL: seconds since 2001-01-01 00:00:00 UTC, so that no bit of a `Date` is lost. Readable in
  /// SQL as `datetime(x + 978307200, 'unixepoch')`.
  case date
  /// TEXT: 36 characters, upper case.
  case uuid
  /// TEXT: the absolute string.
  case url
  /// TEXT: plain decimal digits, so that no digit is lost. Decimals cannot be ordered.
  case decimal
  /// TEXT: JSON with sorted keys.
  case json
  /// Any storage class, for a column without a declared type.
  case any

  /// The column type in a STRICT table: <https://sqlite.org/stricttables.html>.
  package var columnType: String {
    switch self {
    case .integer, .boolean: "INTEGER"
    case .real, .date: "REAL"
    case .text, .uuid, .url, .decimal, .json: "TEXT"
    case .blob: "BLOB"
    case .any: "ANY"
    }
  }
}

/// A foreign key of one field.
public struct ReferenceSchema: Hashable, Sendable, Codable {
  /// The effect on the referring record: <https://sqlite.org/foreignkeys.html#fk_actions>.
  public enum Action: String, Hashable, Sendable, Codable {
    case noAction = "NO ACTION"
    case restrict = "RESTRICT"
    case cascade = "CASCADE"
    case setNull = "SET NULL"
    case setDefault = "SET DEFAULT"
  }

  /// The referenced table.
  public var table: String
  /// The referenced column, or nil for the referenced table's primary key.
  public var column: String?
  /// The action when the referenced record is deleted.
  public var onDelete: Action
  /// The action when the referenced record's key changes.
  public var onUpdate: Action

  /// Describes a reference.
  public init(
    table: String, column: String? = nil, onDelete: Action = .noAction,
    onUpdate: Action = .noAction
  ) {
    self.table = table
    self.column = column
    self.onDelete = onDelete
    self.onUpdate = onUpdate
  }
}

/// An index that is not implied by the key or a unique set.
package struct IndexSchema: Hashable, Sendable, Codable {
  /// Unique among the file's tables and indexes.
  package var name: String
  /// In index order.
  package var fields: [String]
  /// Whether the values together are unique, except in records where one of them is NULL.
  package var isUnique: Bool

  /// Describes an index.
  package init(name: String, fields: [String], isUnique: Bool = false) {
    self.name = name
    self.fields = fields
    self.isUnique = isUnique
  }
}

/// A declarative rule: an SQL condition that every record must satisfy, with a message for users.
/// The file stores it as a named CHECK, so it applies to every writer.
public struct RuleSchema: Hashable, Sendable, Codable {
  /// The constraint's name in the file, unique in the store: `Track.title.length`.
  package var name: String
  /// The requirement, suitable for a form: "must have 1 to 200 characters".
  package var message: String
  /// The condition over the model's columns; true or NULL for valid records.
  package var condition: String

  /// Describes a rule.
  public init(name: String, message: String, condition: String) {
    self.name = name
    self.message = message
    self.condition = condition
  }
}

extension ModelSchema {
  /// Whether the model is a view. Its records can only be read and have no key.
  public var isView: Bool { kind == .view }
}

extension StoreError {
  /// Creates the error for a name that is not a field of `schema`.
  package init(unknownField name: String, of schema: ModelSchema) {
    let names = schema.fields.map(\.name).joined(separator: ", ")
    self.init(
      .unknownField, "\(schema.name) has no field \(name). The fields are: \(names).",
      model: schema.name, field: name)
  }
}
