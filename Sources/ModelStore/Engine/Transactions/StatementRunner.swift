/// The runner of a transaction's statements. It undoes a failed statement in the file, in the
/// capture and in the order of lists.
@usableFromInline
struct StatementRunner {
  let connection: Connection
  let models: ModelRegistry
  /// Present in a write transaction whose changes are observed or validated.
  let capture: CaptureSession?
  /// Present in a write transaction.
  let lists: ListOrders?
  let isWritable: Bool

  /// Runs one statement.
  ///
  /// A failure rolls the statement back, and the transaction can continue. If SQLite ended the
  /// whole transaction, no further statement runs.
  ///
  /// - Parameter schema: The model that an error names.
  func run<Result>(
    _ sql: String, of schema: @autoclosure () -> ModelSchema? = nil,
    _ body: (borrowing Statement) throws -> Result
  ) throws -> Result {
    if isWritable, !connection.isInTransaction {
      throw StoreError(
        .rejected,
        "An earlier failure rolled the transaction back. It cannot run further statements.")
    }
    try checkNotCancelled()
    let mark = capture?.savepoint
    let orders = lists?.savepoint
    do {
      return try connection.withStatement(sql, body)
    } catch {
      // The read begins again. Explaining why it was given up could wait.
      if CachedFileReads.isLimited { throw error }
      // After OR FAIL and RAISE(FAIL), SQLite keeps the rows changed before the failure, and counts
      // them. https://sqlite.org/lang_conflict.html
      if connection.changeCount == 0 {
        if let mark { capture?.rollBack(to: mark) }
        if let orders { lists?.rollBack(to: orders) }
      }
      let schema = schema()
      if let schema, let error = error as? SQLiteError, error.code.primary == .tooBig {
        throw try oversized(in: schema, error)
      }
      throw models.storeError(error, about: schema)
    }
  }

  /// Runs one statement for several records. If it is refused, the caller runs one for each.
  ///
  /// - Parameter bind: Binds the arguments. Returns false not to run the statement.
  /// - Returns: false if nothing was changed and the transaction can continue.
  func attempt(
    _ sql: String, of schema: @autoclosure () -> ModelSchema,
    binding bind: (borrowing Statement) throws -> Bool
  ) throws -> Bool {
    // What ends the transaction is reported by the statements for single records.
    guard connection.isInTransaction else { return false }
    try checkNotCancelled()
    let mark = capture?.savepoint
    let orders = lists?.savepoint
    do {
      return try connection.withStatement(sql) { statement in
        guard try bind(statement) else { return false }
        do {
          try statement.run()
          return true
        } catch {
          guard connection.isInTransaction, connection.changeCount == 0 else {
            throw AbortedStatement(error: models.storeError(error, about: schema()))
          }
          if let mark { capture?.rollBack(to: mark) }
          if let orders { lists?.rollBack(to: orders) }
          return false
        }
      }
    } catch let aborted as AbortedStatement {
      throw aborted.error
    } catch {
      // An argument that cannot be encoded or bound is reported for its own record.
      return false
    }
  }

  /// Runs an INSERT OR FAIL of one record. If it was refused after the record was stored, which no
  /// object of the store causes, rolls the transaction back, because SQLite cannot undo it alone.
  @inline(__always)
  func runOrFail(_ statement: borrowing Statement) throws {
    do {
      try statement.run()
    } catch {
      guard error.code.primary == .constraint, connection.changeCount > 0 else { throw error }
      throw connection.rollBack(after: error)
    }
  }

  /// A failure that is not undone.
  private struct AbortedStatement: Error {
    let error: any Error
  }

  /// Runs `body`. If it throws, undoes its changes and lets the transaction continue.
  func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    let mark = capture?.savepoint
    let orders = lists?.savepoint
    try run("SAVEPOINT body") { statement in try statement.run() }
    do {
      let result = try body()
      try run("RELEASE body") { statement in try statement.run() }
      return result
    } catch {
      if let mark { capture?.rollBack(to: mark) }
      if let orders { lists?.rollBack(to: orders) }
      if connection.isInTransaction {
        try connection.withStatement("ROLLBACK TO body") { statement in try statement.run() }
        try connection.withStatement("RELEASE body") { statement in try statement.run() }
      }
      throw error
    }
  }

  /// Throws if the task was cancelled between two statements, where SQLite has nothing to
  /// interrupt.
  func checkNotCancelled() throws(StoreError) {
    try Self.checkNotCancelled(connection)
  }

  static func checkNotCancelled(_ connection: Connection) throws(StoreError) {
    if connection.isInterrupted || StoppableCall.current?.request.isMade() == true {
      throw StoreError(.cancelled, "The task was cancelled. The transaction was rolled back.")
    }
  }
}
