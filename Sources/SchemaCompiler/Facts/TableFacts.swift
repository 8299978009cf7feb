/// One table or view in the file.
package struct TableFacts: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case table, view, virtual
    /// The storage of a virtual table, which only that table writes:
    /// <https://sqlite.org/vtab.html#xshadowname>.
    case shadow
  }

  package var name: String
  package var kind: Kind
  package var isWithoutRowID = false
  package var isStrict = false
  /// In column order, including generated columns, without a virtual table's hidden columns.
  package var columns: [ColumnFacts] = []
  /// In the order of creation.
  package var indexes: [IndexFacts] = []
  /// In the order of declaration.
  package var foreignKeys: [ForeignKeyFacts] = []
  /// In the order of creation.
  package var triggers: [TriggerFacts] = []
  package var checks: [TableSQL.Check] = []
  /// The text in `sqlite_schema`.
  package var sql = ""
  /// The reason why SQLite cannot read the columns: a view over a missing table, or a virtual table
  /// without its module.
  package var unreadableReason: String?

  package init(
    name: String, kind: Kind, isWithoutRowID: Bool = false, isStrict: Bool = false,
    columns: [ColumnFacts] = [], indexes: [IndexFacts] = [], foreignKeys: [ForeignKeyFacts] = [],
    triggers: [TriggerFacts] = [], checks: [TableSQL.Check] = [], sql: String = "",
    unreadableReason: String? = nil
  ) {
    self.name = name
    self.kind = kind
    self.isWithoutRowID = isWithoutRowID
    self.isStrict = isStrict
    self.columns = columns
    self.indexes = indexes
    self.foreignKeys = foreignKeys
    self.triggers = triggers
    self.checks = checks
    self.sql = sql
    self.unreadableReason = unreadableReason
  }

  package func column(named name: String) -> ColumnFacts? {
    let folded = name.asciiFolded
    return columns.first { $0.name.asciiFolded == folded }
  }

  /// The primary key's columns, in key order; empty when there is none.
  package var primaryKey: [ColumnFacts] {
    columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }
  }

  /// The column that is an alias of the rowid. A rowid table enforces any other primary key by an
  /// index, so a primary key without an index is the rowid. This also holds for the exception
  /// `INTEGER PRIMARY KEY DESC`. See <https://sqlite.org/lang_createtable.html#rowid>.
  package var rowIDColumn: ColumnFacts? {
    guard kind == .table, !isWithoutRowID, primaryKey.count == 1,
      !indexes.contains(where: { $0.origin == .primaryKey })
    else { return nil }
    return primaryKey[0]
  }

  /// Returns a usable name of a table's rowid, because a column called rowid hides it. Nil when
  /// columns use all of its names: <https://sqlite.org/rowidtable.html>.
  package static func rowIDName(besides columns: [String]) -> String? {
    let taken = Set(columns.map(\.asciiFolded))
    return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
  }
}

/// One column of a table or view in the file.
package struct ColumnFacts: Hashable, Sendable {
  package var name: String
  /// The declared type; empty when there is none.
  package var declaredType = ""
  package var isNotNull = false
  /// The default's expression as written, or nil for none.
  package var defaultSQL: String?
  /// The position from 1 in key order; 0 outside the primary key.
  package var keyPosition = 0
  package var generated: FieldSchema.Generated?
  package var collation = Collation.binary

  package init(
    name: String, declaredType: String = "", isNotNull: Bool = false, defaultSQL: String? = nil,
    keyPosition: Int = 0, generated: FieldSchema.Generated? = nil, collation: Collation = .binary
  ) {
    self.name = name
    self.declaredType = declaredType
    self.isNotNull = isNotNull
    self.defaultSQL = defaultSQL
    self.keyPosition = keyPosition
    self.generated = generated
    self.collation = collation
  }
}

/// One index of a table in the file.
package struct IndexFacts: Hashable, Sendable {
  package enum Origin: String, Hashable, Sendable {
    /// Created by CREATE INDEX.
    case created = "c"
    /// Created for a UNIQUE constraint.
    case unique = "u"
    case primaryKey = "pk"
  }

  package struct Column: Hashable, Sendable {
    /// The column's name, or nil for an expression or the rowid.
    package var name: String?
    package var collation: Collation
    package var isDescending: Bool

    package init(name: String? = nil, collation: Collation, isDescending: Bool = false) {
      self.name = name
      self.collation = collation
      self.isDescending = isDescending
    }
  }

  /// The rows that an index contains.
  package enum Rows: Hashable, Sendable {
    case all
    case meeting(IndexCondition)
    /// Some rows, by a condition that a trigger cannot evaluate.
    case unknown
  }

  package var name: String
  package var isUnique: Bool
  package var rows = Rows.all
  package var origin: Origin
  /// The indexed columns, without the key columns that SQLite appends.
  package var columns: [Column]

  package init(name: String, isUnique: Bool, rows: Rows = .all, origin: Origin, columns: [Column]) {
    self.name = name
    self.isUnique = isUnique
    self.rows = rows
    self.origin = origin
    self.columns = columns
  }

  package var isPartial: Bool { rows != .all }

  /// The names of the columns, or nil when the index covers only some rows or an expression.
  var plainColumns: [String]? {
    guard !isPartial else { return nil }
    let names = columns.compactMap(\.name)
    return names.count == columns.count ? names : nil
  }
}

/// One foreign key of a table in the file.
package struct ForeignKeyFacts: Hashable, Sendable {
  package var table: String
  package var columns: [String]
  /// The referenced columns, or nil for the referenced table's primary key.
  package var referencedColumns: [String]?
  package var onDelete: ReferenceSchema.Action
  package var onUpdate: ReferenceSchema.Action

  package init(
    table: String, columns: [String], referencedColumns: [String]? = nil,
    onDelete: ReferenceSchema.Action, onUpdate: ReferenceSchema.Action
  ) {
    self.table = table
    self.columns = columns
    self.referencedColumns = referencedColumns
    self.onDelete = onDelete
    self.onUpdate = onUpdate
  }
}

/// One trigger of a table in the file.
package struct TriggerFacts: Hashable, Sendable {
  package var name: String
  package var sql: String

  package init(name: String, sql: String) {
    self.name = name
    self.sql = sql
  }
}
