extension SQLExpression {
  /// Returns a function in the expression that a program has registered, so that other writers lack
  /// it; nil if all functions are built into SQLite.
  ///
  /// - Parameter allowed: Names to ignore, with ASCII letters in lower case.
  func registeredFunction(
    on connection: Connection, besides allowed: Set<String> = []
  ) throws -> String? {
    let registered = Set(
      try connection.rows(
        "SELECT DISTINCT lower(name) FROM pragma_function_list WHERE NOT builtin"
      ) { row in try row.text(at: 0) })
    // REGEXP and MATCH call functions of the same names without parentheses.
    let operators = plainNames.filter { $0 == "regexp" || $0 == "match" }
    return (calledNames + operators).first {
      registered.contains($0) && !allowed.contains($0)
    }
  }

  /// Has SQLite compile the expression, without running it. Only deterministic functions and the
  /// columns of `model` are allowed.
  ///
  /// It compiles a generated column, which has the same restrictions as a CHECK:
  /// <https://sqlite.org/gencol.html#limitations>.
  ///
  /// - Throws: ``SQLiteError``.
  func probe(in model: ModelSchema, on connection: Connection) throws {
    try connection.withStatement(probeText(in: model)) { _ in }
  }
}
