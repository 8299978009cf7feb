/// One table or view of the file, as found.
struct TableFacts: Hashable, Sendable {
  enum Kind: String, Hashable, Sendable {
    case table, view, virtual
    /// Storage of a virtual table, written only by it: <https://sqlite.org/vtab.html#xshadowname>.
    case shadow
  }

  var name: String
  var kind: Kind
  var isWithoutRowID = false
  var isStrict = false
  /// In column order, generated columns included, a virtual table's hidden columns not.
  var columns: [ColumnFacts] = []
  /// In the order of creation.
  var indexes: [IndexFacts] = []
  /// In the order of declaration.
  var foreignKeys: [ForeignKeyFacts] = []
  /// In the order of creation.
  var triggers: [TriggerFacts] = []
  var checks: [TableSQL.Check] = []
  /// The text in `sqlite_schema`.
  var sql = ""
  /// Why SQLite cannot tell the columns: a view over a missing table, a virtual table without its
  /// module.
  var unreadableReason: String?

  func column(named name: String) -> ColumnFacts? {
    let folded = name.asciiFolded
    return columns.first { $0.name.asciiFolded == folded }
  }

  /// The primary key's columns, in key order; empty when there is none.
  var primaryKey: [ColumnFacts] {
    columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }
  }

  /// The column that is another name of the rowid. A rowid table enforces any other primary key
  /// by an index of its own, so the one without is the rowid; that also holds for the exception
  /// `INTEGER PRIMARY KEY DESC`. See <https://sqlite.org/lang_createtable.html#rowid>.
  var rowIDColumn: ColumnFacts? {
    guard kind == .table, !isWithoutRowID, primaryKey.count == 1,
      !indexes.contains(where: { $0.origin == .primaryKey })
    else { return nil }
    return primaryKey[0]
  }

  /// What the rowid of a table is called: a column may be called rowid and hide it. Nil when all
  /// of its names are taken: <https://sqlite.org/rowidtable.html>.
  static func rowIDName(besides columns: [String]) -> String? {
    let taken = Set(columns.map(\.asciiFolded))
    return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
  }
}

/// One column of a table or view, as found.
struct ColumnFacts: Hashable, Sendable {
  var name: String
  /// As declared; empty when it has no type.
  var declaredType = ""
  var isNotNull = false
  /// The default's expression as written, or nil for none.
  var defaultSQL: String?
  /// From 1 in key order; 0 outside the primary key.
  var keyPosition = 0
  var generated: FieldSchema.Generated?
  var collation = Collation.binary
}

/// One index of a table, as found.
struct IndexFacts: Hashable, Sendable {
  enum Origin: String, Hashable, Sendable {
    /// By CREATE INDEX.
    case created = "c"
    /// By a UNIQUE constraint.
    case unique = "u"
    case primaryKey = "pk"
  }

  struct Column: Hashable, Sendable {
    /// The column's name, or nil for an expression or the rowid.
    var name: String?
    var collation: Collation
  }

  /// Which rows are in an index.
  enum Rows: Hashable, Sendable {
    case all
    case meeting(IndexCondition)
    /// Some, and no trigger can ask which.
    case unknown
  }

  var name: String
  var isUnique: Bool
  var rows = Rows.all
  var origin: Origin
  /// The indexed columns, without the key columns that SQLite appends.
  var columns: [Column]

  var isPartial: Bool { rows != .all }

  /// The names of the columns, or nil when the index covers only some rows or an expression.
  var plainColumns: [String]? {
    guard !isPartial else { return nil }
    let names = columns.compactMap(\.name)
    return names.count == columns.count ? names : nil
  }
}

/// One foreign key of a table, as found.
struct ForeignKeyFacts: Hashable, Sendable {
  var table: String
  var columns: [String]
  /// The referenced columns, or nil for the referenced table's primary key.
  var referencedColumns: [String]?
  var onDelete: ReferenceSchema.Action
  var onUpdate: ReferenceSchema.Action
}

/// One trigger of a table, as found.
struct TriggerFacts: Hashable, Sendable {
  var name: String
  var sql: String
}

extension TableFacts {
  /// Fills in what takes a PRAGMA of its own. A table that SQLite cannot explain keeps the reason.
  ///
  /// - Parameter partialIndexes: The texts of the file's partial indexes, by their names.
  mutating func readDetails(
    _ connection: Connection, partialIndexes: [ExactText: String]
  ) throws {
    do {
      columns = try readColumns(connection)
    } catch let error as SQLiteError where error.code.primary == .error && kind != .table {
      unreadableReason = error.message
      return
    }
    guard kind == .table else { return }
    let text = TableSQL(sql)
    checks = text.checks
    for index in columns.indices {
      columns[index].collation = text.collations[columns[index].name.asciiFolded] ?? .binary
    }
    indexes = try readIndexes(connection, partialIndexes)
    foreignKeys = try readForeignKeys(connection)
  }

  private func readColumns(_ connection: Connection) throws -> [ColumnFacts] {
    // "hidden" is 1 for a virtual table's hidden column, 2 and 3 for virtual and stored generated
    // ones: https://sqlite.org/pragma.html#pragma_table_xinfo
    try connection.rows(
      """
      SELECT name, type, "notnull", dflt_value, pk, hidden
      FROM pragma_table_xinfo(\(name), 'main')
      WHERE hidden <> 1
      ORDER BY cid
      """
    ) { row in
      let hidden = try row.integer(at: 5)
      return ColumnFacts(
        name: try row.text(at: 0), declaredType: try row.text(at: 1),
        isNotNull: try row.integer(at: 2) != 0,
        defaultSQL: row.isNull(at: 3) ? nil : try row.text(at: 3),
        keyPosition: Int(try row.integer(at: 4)),
        generated: hidden == 2 ? .virtual : hidden == 3 ? .stored : nil)
    }
  }

  private func readIndexes(
    _ connection: Connection, _ partialIndexes: [ExactText: String]
  ) throws -> [IndexFacts] {
    func coverage(of name: String, isPartial: Bool) -> IndexFacts.Rows {
      guard isPartial else { return .all }
      return partialIndexes[ExactText(name)]
        .flatMap { IndexCondition(ofIndex: $0, on: self) }
        .map { .meeting($0) } ?? .unknown
    }
    let rows = try connection.rows(
      """
      SELECT i.name, i."unique", i.origin, i.partial, c.name, c.coll
      FROM pragma_index_list(\(name), 'main') AS i
      JOIN pragma_index_xinfo(i.name, 'main') AS c
      WHERE c.key = 1
      ORDER BY i.seq DESC, c.seqno
      """
    ) { row in
      (
        index: IndexFacts(
          name: try row.text(at: 0), isUnique: try row.integer(at: 1) != 0,
          rows: coverage(of: try row.text(at: 0), isPartial: try row.integer(at: 3) != 0),
          origin: IndexFacts.Origin(rawValue: try row.text(at: 2)) ?? .created, columns: []),
        column: IndexFacts.Column(
          name: row.isNull(at: 4) ? nil : try row.text(at: 4),
          collation: Collation(name: row.isNull(at: 5) ? "BINARY" : try row.text(at: 5)))
      )
    }
    var indexes: [IndexFacts] = []
    for row in rows {
      if indexes.last?.name != row.index.name { indexes.append(row.index) }
      indexes[indexes.count - 1].columns.append(row.column)
    }
    return indexes
  }

  private func readForeignKeys(_ connection: Connection) throws -> [ForeignKeyFacts] {
    let rows = try connection.rows(
      """
      SELECT id, "table", "from", "to", on_delete, on_update
      FROM pragma_foreign_key_list(\(name), 'main')
      ORDER BY id DESC, seq
      """
    ) { row in
      (
        id: try row.integer(at: 0), table: try row.text(at: 1), column: try row.text(at: 2),
        referenced: row.isNull(at: 3) ? nil : try row.text(at: 3),
        onDelete: ReferenceSchema.Action(rawValue: try row.text(at: 4)) ?? .noAction,
        onUpdate: ReferenceSchema.Action(rawValue: try row.text(at: 5)) ?? .noAction
      )
    }
    return Dictionary(grouping: rows, by: \.id).sorted { $0.key > $1.key }.map { _, parts in
      let referenced = parts.compactMap(\.referenced)
      return ForeignKeyFacts(
        table: parts[0].table, columns: parts.map(\.column),
        referencedColumns: referenced.count == parts.count ? referenced : nil,
        onDelete: parts[0].onDelete, onUpdate: parts[0].onUpdate)
    }
  }
}
