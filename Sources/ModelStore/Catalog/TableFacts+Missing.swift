// What a table needs that only the program that made it has.
extension TableFacts {
  /// The collations of columns and indexes that SQLite does not bring along. A store registers
  /// none, so no connection of it has them.
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

  /// What is missing to read rows of the table or view.
  ///
  /// - Complexity: Compiles one statement and runs nothing.
  func missingForReading(on connection: Connection) throws -> [MissingObject] {
    guard unreadableReason == nil else { return [] }
    return try missingCollations
      + missing(for: "SELECT * FROM \(SQLText.quoted(name))", on: connection)
  }

  /// What is missing to insert, update or delete rows besides: functions of triggers, of indexes
  /// over expressions, of generated columns and of CHECKs.
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
    // A connection that only reads leaves CHECKs out of the statements above.
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
