extension TableFacts {
  /// Reads the details that need their own PRAGMA. If SQLite cannot describe a table, its facts
  /// keep the reason.
  ///
  /// - Parameter partialIndexes: The texts of the file's partial indexes, by name.
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
    // "hidden" is 1 for a virtual table's hidden column, and 2 or 3 for virtual or stored generated
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
      SELECT i.name, i."unique", i.origin, i.partial, c.name, c.coll, c."desc"
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
          collation: Collation(name: row.isNull(at: 5) ? "BINARY" : try row.text(at: 5)),
          isDescending: try row.integer(at: 6) != 0)
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
