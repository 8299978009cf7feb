/// A table whose rows every member of a shared store has. It is a class, so that a commit copies
/// none of its texts.
final class SharedTable: Sendable {
  let name: String
  /// The columns that are not generated, in their order.
  let columns: [String]
  /// For each of ``columns``, where the preupdate hook finds it; nil if it cannot read it.
  let storedColumns: [StoredColumn?]
  /// The places in ``columns`` whose NULL in the hook may stand for a default: rows older than an
  /// ALTER TABLE ADD COLUMN do not store it.
  let columnsWithDefault: Set<Int>
  /// The name by which SQL finds the rowid; nil for a table without one.
  let rowIDName: String?
  /// The places in ``columns`` of the primary key of a table without rowid, in key order.
  let key: [Int]
  /// Whether an UPDATE of one row can conflict with another row that the same commit changes later.
  let hasUniqueIndex: Bool

  /// Reads the columns of the row with an identity.
  let selectText: String
  /// Inserts a row: its rowid, if the table has one, then its columns.
  let insertText: String
  /// Sets the columns of the row with an identity: the columns, then the identity.
  let updateText: String
  /// Deletes the row with an identity.
  let deleteText: String

  init(
    name: String, columns: [(name: String, stored: StoredColumn?, hasDefault: Bool)],
    rowIDName: String?, key: [Int], hasUniqueIndex: Bool
  ) {
    self.name = name
    self.columns = columns.map(\.name)
    storedColumns = columns.map(\.stored)
    columnsWithDefault = Set(columns.indices.filter { columns[$0].hasDefault })
    self.rowIDName = rowIDName
    self.key = key
    self.hasUniqueIndex = hasUniqueIndex
    let table = "main.\(SQLText.quoted(name))"
    let quoted = columns.map { SQLText.quoted($0.name) }
    let condition =
      rowIDName.map { "\($0) = ?" }
      ?? key.map { "\(quoted[$0]) IS ?" }.joined(separator: " AND ")
    let inserted = (rowIDName.map { [$0] } ?? []) + quoted
    let places = Array(repeating: "?", count: inserted.count).joined(separator: ", ")
    let sets = quoted.map { "\($0) = ?" }.joined(separator: ", ")
    selectText = "SELECT \(quoted.joined(separator: ", ")) FROM \(table) WHERE \(condition)"
    insertText =
      "INSERT INTO \(table) (\(inserted.joined(separator: ", "))) VALUES (\(places))"
    updateText = "UPDATE \(table) SET \(sets) WHERE \(condition)"
    deleteText = "DELETE FROM \(table) WHERE \(condition)"
  }

  /// The values by which ``selectText``, ``updateText`` and ``deleteText`` find a row.
  static func arguments(of identity: ChangeCapture.RowIdentity) -> [SQLValue] {
    switch identity {
    case .rowID(let number): [.integer(number)]
    case .key(let values): values
    }
  }
}

/// The tables of a shared store.
struct SharedTables: Sendable {
  /// The store's own tables that each member has for itself: the link of its log, which
  /// declarations its programs found in order, its place among the commits, and rows that exist
  /// only during a statement.
  static let ofMemberOnly: Set<String> = [
    "_ms_log", "_ms_reconciled", "_ms_journal_evicted", MemberRecord.table,
  ]

  let all: [SharedTable]
  /// The names of ``all``, as the preupdate hook knows them.
  let names: HookedNames
  /// Whether the file keeps numbers of AUTOINCREMENT.
  let hasSequences: Bool
  private let places: [String: Int]

  /// Reads the tables of the file.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` for a virtual table, or for a table
  ///   whose rows have no name in SQL.
  init(reading connection: Connection) throws {
    if let virtual = try connection.firstRow(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'",
      { try $0.text(at: 0) })
    {
      throw StoreError(
        .unsupportedSchema,
        "The table \(virtual) is a virtual table, and its content cannot be shared. Drop it, or do not share the store."
      )
    }
    let unique = try connection.rows(
      """
      SELECT DISTINCT lower(l.name)
      FROM pragma_table_list AS l
      JOIN pragma_index_list(l.name, 'main') AS i
      WHERE l.schema = 'main' AND l.type = 'table' AND i."unique"
      """
    ) { try $0.text(at: 0) }
    let columns = try Self.columns(on: connection)
    all = try Dictionary(grouping: columns, by: \.table).sorted { $0.key < $1.key }.map {
      try Self.table($0.key, $0.value, hasUniqueIndex: unique.contains($0.key.asciiFolded))
    }
    names = HookedNames(all.map(\.name))
    hasSequences =
      try connection.firstRow(
        "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'", { _ in true }) ?? false
    places = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.name, $0) })
  }

  subscript(name: String) -> SharedTable? { places[name].map { all[$0] } }

  private struct Column {
    let table: String
    let isWithoutRowID: Bool
    let name: String
    let isGenerated: Bool
    let hasDefault: Bool
    let stored: StoredColumn.Facts
  }

  private static func columns(on connection: Connection) throws -> [Column] {
    try connection.rows(
      """
      SELECT l.name, l.wr, c.name, c.type, c.hidden, c.pk, c.dflt_value IS NOT NULL
      FROM pragma_table_list AS l
      JOIN pragma_table_xinfo(l.name, 'main') AS c
      WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND c.hidden <> 1
      ORDER BY l.name, c.cid
      """
    ) { row in
      let hidden = try row.integer(at: 4)
      return Column(
        table: try row.text(at: 0), isWithoutRowID: try row.integer(at: 1) != 0,
        name: try row.text(at: 2), isGenerated: hidden != 0,
        hasDefault: try row.integer(at: 6) != 0,
        stored: StoredColumn.Facts(
          declaredType: try row.text(at: 3), isVirtual: hidden == 2,
          keyPosition: Int(try row.integer(at: 5))))
    }
    .filter { !ofMemberOnly.contains($0.table) }
  }

  private static func table(
    _ name: String, _ all: [Column], hasUniqueIndex: Bool
  ) throws -> SharedTable {
    let isWithoutRowID = all[0].isWithoutRowID
    let rowIDName = TableFacts.rowIDName(besides: all.map(\.name))
    guard isWithoutRowID || rowIDName != nil else {
      throw StoreError(
        .unsupportedSchema,
        "The table \(name) has columns with all three names of its rowid, so its rows cannot be shared. Rename one of the columns rowid, _rowid_ and oid."
      )
    }
    let stored = StoredColumn.all(of: all.map(\.stored), isWithoutRowID: isWithoutRowID)
    let kept = zip(all, stored).map { (column: $0, stored: $1) }.filter { !$0.column.isGenerated }
    let key = kept.indices.filter { kept[$0].column.stored.keyPosition > 0 }
      .sorted { kept[$0].column.stored.keyPosition < kept[$1].column.stored.keyPosition }
    return SharedTable(
      name: name,
      columns: kept.map { ($0.column.name, $0.stored, $0.column.hasDefault) },
      rowIDName: isWithoutRowID ? nil : rowIDName, key: isWithoutRowID ? key : [],
      hasUniqueIndex: hasUniqueIndex)
  }
}
