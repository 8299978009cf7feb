// Reading the store's own objects in a file.
extension InstalledObjects {
  /// Returns the triggers, tables and indexes of bindings.
  static func ofBindings(in connection: Connection) throws -> InstalledObjects {
    try InstalledObjects(namedWith: [BindingTriggers.namePrefix], in: connection)
  }

  /// Returns the triggers, indexes and tables of added rules.
  static func ofRules(in connection: Connection) throws -> InstalledObjects {
    try InstalledObjects(
      namedWith: [RuleObjects.namePrefix, RuleEvictions.namePrefix], in: connection)
  }

  /// Returns the triggers of the change journal. The names of its tables have the same prefix.
  static func ofJournal(in connection: Connection) throws -> InstalledObjects {
    let named = try InstalledObjects(
      namedWith: [SchemaObject.Owner.journalPrefix], in: connection)
    return InstalledObjects(named.objects.filter { $0.kind == .trigger })
  }

  /// Returns all objects that the store created in the file, including its own tables.
  static func ofStore(in connection: Connection) throws -> InstalledObjects {
    try InstalledObjects(namedWith: ["_ms_"], in: connection)
  }

  /// Reads the objects whose names begin with one of `prefixes`, which only the store uses.
  private init(namedWith prefixes: [String], in connection: Connection) throws {
    let condition = prefixes.map { _ in "instr(name, ?) = 1" }.joined(separator: " OR ")
    let query = SQLText(
      sql: """
        SELECT type, name, sql, tbl_name FROM sqlite_schema
        WHERE sql IS NOT NULL AND (\(condition)) ORDER BY name
        """, arguments: prefixes.map { .text($0) })
    let objects = try connection.rows(query) { row in
      try SchemaObject.Kind(rawValue: row.text(at: 0)).map { kind in
        SchemaObject(
          kind: kind, name: try row.text(at: 1), sql: try row.text(at: 2),
          table: try row.text(at: 3))
      }
    }
    self.init(objects.compactMap(\.self))
  }
}
