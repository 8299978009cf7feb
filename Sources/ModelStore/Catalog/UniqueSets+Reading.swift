extension UniqueSets {
  /// Reads the unique sets of the file. An index can have another collation than its column only if
  /// COLLATE occurs in the text.
  init(on connection: Connection) throws {
    let rows = try connection.rows(
      """
      SELECT t.tbl_name, i.name, c.name, c.coll
      FROM (
        SELECT DISTINCT tbl_name FROM main.sqlite_schema WHERE instr(lower(sql), 'collate') > 0
      ) AS t
      JOIN pragma_index_list(t.tbl_name, 'main') AS i ON i."unique" = 1 AND i.partial = 0
      JOIN pragma_index_xinfo(i.name, 'main') AS c ON c.key = 1
      ORDER BY t.tbl_name, i.name, c.seqno
      """
    ) { row in
      (
        table: try row.text(at: 0).asciiFolded, index: try row.text(at: 1),
        column: row.isNull(at: 2)
          ? nil
          : Column(
            name: try row.text(at: 2).asciiFolded, collation: Collation(name: try row.text(at: 3)))
      )
    }
    var indexes: [(table: String, name: String, columns: [Column?])] = []
    for row in rows {
      if indexes.last.map({ $0.table != row.table || $0.name != row.index }) ?? true {
        indexes.append((row.table, row.index, []))
      }
      indexes[indexes.count - 1].columns.append(row.column)
    }
    self.init(
      indexes.compactMap { index in
        let columns = index.columns.compactMap(\.self)
        return columns.count == index.columns.count ? (index.table, columns) : nil
      })
  }
}
