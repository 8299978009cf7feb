extension SchemaObject {
  /// Drops `objects`, triggers first.
  ///
  /// - Precondition: A write transaction is open.
  static func drop(_ objects: [SchemaObject], from connection: Connection) throws {
    for kind in Kind.allCases.reversed() {
      for object in objects where object.kind == kind {
        try connection.execute(
          "DROP \(kind.rawValue.uppercased()) \(SQLText.quoted(object.name))")
      }
    }
  }
}

extension InstalledObjects {
  /// Reads those whose names begin with one of `prefixes`, which only the store gives.
  init(namedWith prefixes: [String], in connection: Connection) throws {
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

extension SchemaDrift {
  /// Drops and creates, each in the order that its kind needs.
  ///
  /// - Precondition: A write transaction is open.
  func apply(to connection: Connection) throws {
    try SchemaObject.drop(dropped, from: connection)
    for object in created { try connection.execute(object.sql) }
  }
}
