// A binding and the records of a file.
extension BindingTriggers {
  /// Puts every record right that is not.
  ///
  /// - Parameters:
  ///   - stepRowCount: The most records that one statement looks at.
  ///   - onProgress: Called before each statement and after the last one, with records looked at
  ///     and all that are to be.
  /// - Returns: How many were not right.
  func synchronise(
    on connection: Connection, stepRowCount: Int = 16_384,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> Int {
    for sql in clearings { try connection.run(SQLText(sql: sql)) }
    let counts = try passes.map { pass in
      try count("SELECT count(*) FROM \(SQLText.quoted(pass.model.table))", on: connection)
    }
    let all = counts.reduce(0, +)
    var earlier = 0
    var changeCount = 0
    for (pass, count) in zip(passes, counts) {
      changeCount = try pass.run(on: connection, stepRowCount: stepRowCount) { done in
        try onProgress(earlier + min(done, count), all)
      }
      earlier += count
      try checkTotals(on: connection)
    }
    try onProgress(all, all)
    return changeCount
  }

  /// Where values are no whole numbers, or sums of steps too large, SQLite goes on with reals.
  private func checkTotals(on connection: Connection) throws {
    guard let table = auditedTable.map(SQLText.quoted),
      try count(
        "SELECT EXISTS (SELECT 1 FROM \(table) WHERE typeof(total) <> 'integer')", on: connection)
        > 0
    else { return }
    throw refusal(
      "a sum of the records that are there is no whole number of 64 bits. Correct their values.")
  }

  /// How many records do not hold their right value.
  func driftingRecordCount(on connection: Connection) throws -> Int {
    try count(driftCount, on: connection)
  }

  func driftingKeys(_ countMax: Int, on connection: Connection) throws -> [[SQLValue]] {
    try connection.rows(SQLText(sql: driftKeys, arguments: [.integer(Int64(countMax))])) { row in
      try row.values()
    }
  }

  /// How many records a two-way binding would bring back changed.
  func lossyRecordCount(on connection: Connection) throws -> Int {
    guard let lossCount else { return 0 }
    return try count(lossCount, on: connection)
  }

  func isStorageWrong(on connection: Connection) throws -> Bool {
    guard let storageAudit else { return false }
    return try count("SELECT EXISTS (\(storageAudit))", on: connection) > 0
  }

  /// What SQLite says of a table or column that the binding names and the file does not have under
  /// that name; nil when it finds them all.
  func namingProblem(on connection: Connection) throws -> SQLiteError? {
    for sql in [driftCount, storageAudit].compactMap(\.self) {
      if let problem = try connection.compilationError(of: sql) { return problem }
    }
    return nil
  }

  /// Whether the file has the tables that values are compared with; indexes only make it faster.
  func hasStorage(in found: InstalledObjects) -> Bool {
    storage.filter { $0.kind == .table }.allSatisfy(found.holds)
  }

  /// Fills the binding's own tables.
  func fillStorage(on connection: Connection) throws {
    for sql in clearings { try connection.run(SQLText(sql: sql)) }
    for pass in passes.dropLast() {
      _ = try pass.run(on: connection, stepRowCount: 16_384) { _ in }
    }
  }

  /// Makes sure that records have kept the values that they were given. A trigger of the
  /// application may have answered with changes of its own.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema`.
  func checkValues(on connection: Connection) throws {
    guard try driftingRecordCount(on: connection) > 0 else { return }
    throw refusal(
      "\(binding.target) does not keep the value that it is given. A trigger changes it, or the "
        + "column cannot hold it, such as a whole number beyond 2^53 in a REAL one. Remove the "
        + "trigger, or derive what the column can hold.")
  }

  private func count(_ sql: String, on connection: Connection) throws -> Int {
    Int(try connection.firstRow(SQLText(sql: sql)) { row in try row.integer(at: 0) } ?? 0)
  }

  /// A function that the binding calls and that `connection` does not have.
  func missingFunction(on connection: Connection) throws -> String? {
    guard let functions = binding.functions else { return nil }
    let known = Set(
      try connection.rows("SELECT DISTINCT lower(name) FROM pragma_function_list") { row in
        try row.text(at: 0)
      })
    return functions.first { !known.contains($0) }
  }

  /// Asks SQLite whether it accepts the expressions where only what every writer has is allowed,
  /// and what the binding says that it calls.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and SQLite's reason.
  func checkExpressions(on connection: Connection) throws {
    let allowed = Set(binding.functions ?? [])
    let called = Set(expressions.flatMap(\.expression.calledNames))
    if let name = allowed.subtracting(called).min() {
      throw refusal("it does not call the function \(name). Leave it out of calling(_:).")
    }
    try translating {
      for expression in expressions {
        try expression.expression.probe(in: expression.model, on: connection)
        if let name = try expression.expression.registeredFunction(
          on: connection, besides: allowed)
        {
          throw refusal(
            "other writers do not have the function \(name). Use functions built into SQLite. Or "
              + "say by calling(_:) that only programs which have it may write.")
        }
      }
    }
  }

  /// Asks SQLite whether at most one record is found where there must be only one.
  func checkFinders(on connection: Connection) throws {
    for finder in finders {
      if let problem = try finder.problem(on: connection) { throw refusal(problem) }
    }
  }

  /// Asks SQLite whether it finds every table and column.
  func checkNames(on connection: Connection) throws {
    // CREATE TRIGGER takes a body that names what is not there; it fails when it fires:
    // https://sqlite.org/lang_createtrigger.html
    try translating { try connection.withStatement(driftCount) { _ in } }
  }

  private func translating(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SQLiteError {
      throw refusal("SQLite says: \(error.message). Check the names and the expression.")
    }
  }

  private func refusal(_ reason: String) -> StoreError {
    StoreError(
      .unsupportedSchema, "The binding \(binding.name) cannot be kept: \(reason)",
      model: binding.target.model, field: binding.target.field)
  }
}

extension SQLiteError {
  /// Whether reading failed because of what one binding reads, so that others can be read.
  var concernsOneBinding: Bool { isAboutMissingObject || code.primary == .tooBig }
}
