/// The application's tables, views, indexes and triggers in a file, in a form that does not depend
/// on how they came about: the order of columns, quotes, blanks and comments do not count.
struct SchemaContent {
  private var parts = SchemaParts()

  /// - Throws: ``SQLiteError``, ``ColumnError``, as for ``Catalog/init(reading:only:)``.
  init(reading connection: Connection) throws {
    try connection.inOneState {
      for table in try Catalog(reading: connection).tables where !Self.isOfSystem(table.name) {
        add(table)
      }
      try addTexts(reading: connection)
    }
  }

  /// One sentence for each part that only one of the two has, or that differs; in the order of
  /// names.
  func differences(from other: SchemaContent) -> [String] {
    parts.differences(from: other.parts).map { name in
      switch (parts[name], other.parts[name]) {
      case (nil, _): "This file lacks \(name)."
      case (_, nil): "Only this file has \(name)."
      case _: "The files differ in \(name)."
      }
    }
  }

  /// Whether SQLite or the store itself keeps it. Indexes that models declare count as theirs.
  private static func isOfSystem(_ name: String) -> Bool { SchemaSnapshot.isOfSystem(name) }

  private mutating func add(_ table: TableFacts) {
    switch table.kind {
    case .shadow: return
    case .view: parts["the view \(table.name)"] = Self.canonical(table.sql)
    case .virtual: parts["the virtual table \(table.name)"] = Self.canonical(table.sql)
    case .table:
      let shape = TableShape(table)
      parts["the table \(table.name)"] = shape.ofTable
      for column in table.columns {
        parts["the column \(table.name).\(column.name)"] = shape.column(named: column.name)
      }
      for key in table.foreignKeys {
        parts["the reference \(table.name) (\(key.columns.joined(separator: ", ")))"] = key.folded
      }
      for index in table.indexes where index.origin == .unique {
        let columns = index.columns.compactMap(\.name).joined(separator: ", ")
        parts["the unique set \(table.name) (\(columns))"] = index.foldedColumns
      }
    }
  }

  private mutating func addTexts(reading connection: Connection) throws {
    let rows = try connection.rows(
      "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql <> ''"
    ) { row in (try row.text(at: 0), try row.text(at: 1), try row.text(at: 2)) }
    for (type, name, sql) in rows where !Self.isOfSystem(name) {
      parts["the \(type) \(name)"] = Self.canonical(sql)
    }
  }

  private static func canonical(_ sql: String) -> String { SQLTokens.canonical(sql) }
}
