extension SQLExpression {
  /// A function in the expression that a program has registered, so that other writers do not have
  /// it; nil when all come with SQLite.
  ///
  /// - Parameter allowed: Names that do not count, ASCII letters in lower case.
  func registeredFunction(
    on connection: Connection, besides allowed: Set<String> = []
  ) throws -> String? {
    let registered = Set(
      try connection.rows(
        "SELECT DISTINCT lower(name) FROM pragma_function_list WHERE NOT builtin"
      ) { row in try row.text(at: 0) })
    // REGEXP and MATCH call functions of the same names without a parenthesis.
    let operators = plainNames.filter { $0 == "regexp" || $0 == "match" }
    return (calledNames + operators).first {
      registered.contains($0) && !allowed.contains($0)
    }
  }

  /// Has SQLite compile the expression, without running it, where only deterministic functions and
  /// the columns of `model` are allowed: a generated column obeys the same rules as a CHECK, and
  /// SQLite checks them while it compiles: <https://sqlite.org/gencol.html#limitations>.
  ///
  /// - Throws: ``SQLiteError``.
  func probe(in model: ModelSchema, on connection: Connection) throws {
    try connection.withStatement(probeText(in: model)) { _ in }
  }
}
