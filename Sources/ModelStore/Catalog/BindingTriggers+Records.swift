// Updating and checking the records of a binding.
extension BindingTriggers {
  /// Updates every record whose value differs from the binding's.
  ///
  /// - Parameters:
  ///   - stepRowCount: The most records that one statement reads.
  ///   - onProgress: Called before each statement and after the last, with the number of processed
  ///     records and the total.
  /// - Returns: The number of updated records.
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

  /// If values are not integers, or partial sums overflow, SQLite continues with reals.
  private func checkTotals(on connection: Connection) throws {
    guard let table = auditedTable.map(SQLText.quoted),
      try count(
        "SELECT EXISTS (SELECT 1 FROM \(table) WHERE typeof(total) <> 'integer')", on: connection)
        > 0
    else { return }
    throw refusal(
      "a sum of existing records is not an integer of 64 bits. Correct the values of these records."
    )
  }

  /// Returns the number of records whose value differs from the binding's.
  func driftingRecordCount(on connection: Connection) throws -> Int {
    try count(driftCount, on: connection)
  }

  func driftingKeys(_ countMax: Int, on connection: Connection) throws -> [[SQLValue]] {
    try connection.rows(SQLText(sql: driftKeys, arguments: [.integer(Int64(countMax))])) { row in
      try row.values()
    }
  }

  /// Returns the number of records that a two-way binding would convert with loss.
  func lossyRecordCount(on connection: Connection) throws -> Int {
    guard let lossCount else { return 0 }
    return try count(lossCount, on: connection)
  }

  func isStorageWrong(on connection: Connection) throws -> Bool {
    guard let storageAudit else { return false }
    return try count("SELECT EXISTS (\(storageAudit))", on: connection) > 0
  }

  /// Returns SQLite's error for a missing table or column that the binding names; nil if all exist.
  func namingProblem(on connection: Connection) throws -> SQLiteError? {
    for sql in [driftCount, storageAudit].compactMap(\.self) {
      if let problem = try connection.compilationError(of: sql) { return problem }
    }
    return nil
  }

  /// Whether the file has the tables that values are compared with. Indexes are optional, for
  /// speed.
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

  /// Checks that records still have the values that the binding wrote. An application's trigger may
  /// have changed them.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema`.
  func checkValues(on connection: Connection) throws {
    guard try driftingRecordCount(on: connection) > 0 else { return }
    throw refusal(
      "\(binding.target) does not keep the value that the binding writes. A trigger changes it, or the "
        + "column cannot store it, such as an integer beyond 2^53 in a REAL column. Remove the "
        + "trigger, or compute a value that the column can store.")
  }

  private func count(_ sql: String, on connection: Connection) throws -> Int {
    Int(try connection.firstRow(SQLText(sql: sql)) { row in try row.integer(at: 0) } ?? 0)
  }

  /// Returns a function that the binding calls and `connection` does not have.
  func missingFunction(on connection: Connection) throws -> String? {
    guard let functions = binding.functions else { return nil }
    let known = Set(
      try connection.rows("SELECT DISTINCT lower(name) FROM pragma_function_list") { row in
        try row.text(at: 0)
      })
    return functions.first { !known.contains($0) }
  }

  /// Has SQLite compile the expressions. They may call only functions that every writer has, or
  /// that the binding declares.
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
              + "declare it with calling(_:), so that only programs that have it can write.")
        }
      }
    }
  }

  /// Checks that each finder matches at most one record, if only one is allowed.
  func checkFinders(on connection: Connection) throws {
    for finder in finders {
      if let problem = try finder.problem(on: connection) { throw refusal(problem) }
    }
  }

  /// Has SQLite look up every table and column.
  func checkNames(on connection: Connection) throws {
    // CREATE TRIGGER accepts a body with missing names, and the trigger fails when it fires:
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
  /// Whether reading failed because of one binding's data, so that other bindings can still be
  /// read.
  var concernsOneBinding: Bool { isAboutMissingObject || code.primary == .tooBig }
}
