/// The rows of a file without the row that they refer to, and the foreign keys that cannot be
/// checked. A migration may find broken references, but not add any.
struct BrokenReferences {
  /// A broken reference, identified by the key that it looks for. It is not identified by its row,
  /// because a table need not have rowids, and a migration may change them. Nor by its columns,
  /// which a migration may rename.
  private struct Break: Hashable {
    let table: ExactText
    let parent: ExactText
    /// The bytes of the missing key.
    var missingKey: [[UInt8]] = []
    /// Why the foreign keys of the table cannot be checked at all; nil for a missing key.
    var problem: String?
  }

  /// The number of rows for each broken reference.
  private var counts: [Break: Int] = [:]

  var isEmpty: Bool { counts.isEmpty }

  /// The number of rows and of tables that cannot be checked.
  var count: Int { counts.values.reduce(0, +) }

  /// One text for each pair of tables and each problem, in order.
  var reasons: [String] {
    Set(counts.keys.map { $0.problem ?? "from \($0.table.text) to \($0.parent.text)" }).sorted()
  }

  /// - Throws: ``SQLiteError``; ``ColumnError`` if a name in the file is not UTF-8.
  init(in connection: Connection) throws {
    // Without the word, a table has no foreign key. Reading all tables for each of many migrations
    // would take most of their time.
    let names = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND instr(upper(sql), 'REFERENCES') > 0"
    ) { row in try row.text(at: 0) }
    guard !names.isEmpty else { return }
    for table in try Catalog(reading: connection, only: names).tables
    where !table.foreignKeys.isEmpty {
      do {
        for key in try Self.brokenKeys(of: table, on: connection) {
          let parents = try Catalog(reading: connection, only: [key.table])
          try count(key, of: table, in: parents, on: connection)
        }
      } catch let error as SQLiteError where error.code.primary == .error {
        // The parent's columns are not unique: https://sqlite.org/foreignkeys.html#fk_indexes
        let unchecked = Break(
          table: ExactText(table.name), parent: ExactText(""), problem: error.message)
        counts[unchecked] = 1
      }
    }
  }

  /// Returns the references that are broken here and were not broken in `earlier`.
  func subtracting(_ earlier: BrokenReferences) -> BrokenReferences {
    var rest = self
    for (known, count) in earlier.counts {
      guard let here = rest.counts[known] else { continue }
      rest.counts[known] = here > count ? here - count : nil
    }
    return rest
  }

  private static func brokenKeys(
    of table: TableFacts, on connection: Connection
  ) throws -> [ForeignKeyFacts] {
    try connection.rows(
      "SELECT DISTINCT fkid FROM pragma_foreign_key_check(\(table.name), 'main') ORDER BY fkid"
    ) { row in
      // SQLite numbers foreign keys from the last one declared.
      let place = table.foreignKeys.count - 1 - Int(try row.integer(at: 0))
      return table.foreignKeys.indices.contains(place) ? table.foreignKeys[place] : nil
    }.compactMap { $0 }
  }

  private mutating func count(
    _ key: ForeignKeyFacts, of table: TableFacts, in catalog: Catalog, on connection: Connection
  ) throws {
    let missing = try connection.rows(Self.missingKeys(key, of: table, in: catalog)) { row in
      try key.columns.indices.map { try row.blob(at: $0) }
    }
    for missingKey in missing {
      let found = Break(
        table: ExactText(table.name), parent: ExactText(key.table), missingKey: missingKey)
      counts[found, default: 0] += 1
    }
  }

  /// Returns the keys that rows of `table` refer to and that do not exist. `PRAGMA
  /// foreign_key_check` is not enough: it identifies rows by rowid, which not every table has.
  private static func missingKeys(
    _ key: ForeignKeyFacts, of table: TableFacts, in catalog: Catalog
  ) -> SQLText {
    let columns = key.columns.map { "_ms_child.\(SQLText.quoted($0))" }
    let values = columns.map { "CAST(\($0) AS BLOB)" }.joined(separator: ", ")
    // A NULL is not a reference.
    var conditions = columns.map { "\($0) IS NOT NULL" }
    if let parent = catalog.table(named: key.table) {
      let referenced = key.referencedColumns ?? parent.primaryKey.map(\.name)
      // The comparison of a foreign key: with the parent's affinity, which the plus operator leaves
      // unchanged, and its collation: https://sqlite.org/foreignkeys.html#fk_indexes
      let isSame = zip(referenced, columns)
        .map { "_ms_parent.\(SQLText.quoted($0)) = +\($1)" }.joined(separator: " AND ")
      conditions.append(
        "NOT EXISTS (SELECT 1 FROM main.\(SQLText.quoted(parent.name)) AS _ms_parent WHERE \(isSame))"
      )
    }
    return SQLText(
      sql: """
        SELECT \(values)
        FROM main.\(SQLText.quoted(table.name)) AS _ms_child
        WHERE \(conditions.joined(separator: " AND "))
        """)
  }
}
