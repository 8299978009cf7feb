import ModelStore

/// The SQL that creates the tables, views, indexes and triggers of a file, without what the store
/// itself keeps there.
struct SchemaScript {
  let text: String

  /// - Parameter models: Their tables and indexes alone; nil for everything in the file.
  init(of opened: OpenedStore, models: [ModelSchema]?) throws {
    let tables = models.map { models in
      Set(models.flatMap { [$0.table] + $0.lists.map(\.slotTable) }.map(\.asciiFolded))
    }
    let objects = try opened.read { reads in
      try reads.rows(
        """
        SELECT o.type, o.name, o.tbl_name, o.sql FROM sqlite_schema AS o
        LEFT JOIN pragma_table_list AS l ON l.schema = 'main' AND l.name = o.tbl_name
        WHERE o.sql <> '' AND ifnull(l.type, '') <> 'shadow'
        """)
    }
    let kinds = ["table", "index", "view", "trigger"]
    let statements = objects.compactMap { row -> (rank: Int, name: String, sql: String)? in
      guard case .text(let kind)? = row["type"], case .text(let name)? = row["name"],
        case .text(let table)? = row["tbl_name"], case .text(let sql)? = row["sql"],
        let rank = kinds.firstIndex(of: kind), !Self.isOfStore(name)
      else { return nil }
      if let tables, !tables.contains(table.asciiFolded) || rank > 2 { return nil }
      return (rank, name, sql)
    }
    text = statements.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }
      .map { $0.sql + ";\n" }.joined(separator: "\n")
  }

  /// Whether SQLite or the store creates the object itself. Indexes of references are the model's.
  private static func isOfStore(_ name: String) -> Bool {
    let folded = name.asciiFolded
    return folded.hasPrefix("sqlite_")
      || folded.hasPrefix("_ms_") && !folded.hasPrefix("_ms_index_")
  }
}
