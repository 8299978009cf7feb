// What a table needs that only the program that created it has.
extension TableFacts {
  /// The collations of columns and indexes that are not built into SQLite. A store registers none,
  /// so its connections lack them.
  var missingCollations: [MissingObject] {
    var names: Set<String> = []
    let used = columns.map(\.collation) + indexes.flatMap { $0.columns.map(\.collation) }
    return used.compactMap { collation in
      guard case .custom(let name) = collation, names.insert(name.asciiFolded).inserted else {
        return nil
      }
      return .collation(name)
    }
  }

  /// Returns what is missing to read rows of the table or view.
  ///
  /// - Complexity: Compiles one statement and runs nothing.
  func missingForReading(on connection: Connection) throws -> [MissingObject] {
    guard unreadableReason == nil else { return [] }
    return try missingCollations
      + missing(for: "SELECT * FROM \(SQLText.quoted(name))", on: connection)
  }

  /// Returns what is additionally missing to insert, update or delete rows: functions of triggers,
  /// of indexes over expressions, of generated columns and of CHECKs.
  ///
  /// - Complexity: Compiles three statements, and one for each CHECK, and runs nothing.
  func missingForWriting(on connection: Connection) throws -> [MissingObject] {
    guard kind == .table, unreadableReason == nil else { return [] }
    let table = SQLText.quoted(name)
    let assignments = columns.filter { $0.generated == nil }
      .map { "\(SQLText.quoted($0.name)) = \(SQLText.quoted($0.name))" }
    var found = try missing(for: "INSERT INTO \(table) DEFAULT VALUES", on: connection)
    if !assignments.isEmpty {
      found += try missing(
        for: "UPDATE \(table) SET \(assignments.joined(separator: ", "))", on: connection)
    }
    found += try missing(for: "DELETE FROM \(table)", on: connection)
    // A read-only connection leaves CHECKs out of the statements above.
    for check in checks {
      found += try missing(for: "SELECT \(check.condition) FROM \(table)", on: connection)
    }
    var seen: Set<MissingObject> = []
    return found.filter { seen.insert($0).inserted }
  }

  private func missing(for sql: String, on connection: Connection) throws -> [MissingObject] {
    guard let error = try connection.compilationError(of: sql) else { return [] }
    return MissingObject(error).map { [$0] } ?? []
  }
}

extension Catalog {
  /// Whether the definition of a table, view or trigger names `function`.
  func mentions(function: String) -> Bool {
    let name = function.asciiFolded
    return tables.contains { table in
      table.sql.asciiFolded.contains(name)
        || table.triggers.contains { $0.sql.asciiFolded.contains(name) }
    }
  }
}
