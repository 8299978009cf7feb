/// Runs the statements of one transaction. What a failed one did is taken back everywhere: in the
/// file, in the capture and in the orders of lists.
struct StatementRunner {
  let connection: Connection
  let models: ModelRegistry
  /// Present in a writing transaction whose changes somebody wants to know.
  let capture: CaptureSession?
  /// Present in a writing transaction.
  let lists: ListOrders?
  let isWritable: Bool

  /// Runs one statement. A failure rolls that statement back and leaves the transaction as it was
  /// before, unless SQLite ended the whole transaction, after which nothing more runs.
  func run<Result>(
    _ sql: String, of schema: ModelSchema? = nil,
    _ body: (borrowing Statement) throws -> Result
  ) throws -> Result {
    if isWritable, !connection.isInTransaction {
      throw StoreError(
        .rejected,
        "The transaction was already rolled back by an earlier failure; nothing more runs in it.")
    }
    try checkNotCancelled()
    let mark = capture?.savepoint
    let orders = lists?.savepoint
    do {
      return try connection.withStatement(sql, body)
    } catch {
      // After OR FAIL and RAISE(FAIL) SQLite keeps the rows before, and counts them.
      // https://sqlite.org/lang_conflict.html
      if connection.changeCount == 0 {
        if let mark { capture?.rollBack(to: mark) }
        if let orders { lists?.rollBack(to: orders) }
      }
      if let schema, let error = error as? SQLiteError, error.code.primary == .tooBig {
        throw try oversized(in: schema, error)
      }
      throw models.storeError(error, about: schema)
    }
  }

  /// Runs `body`; when it throws, undoes what it did and lets the transaction go on.
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

  /// A task may be cancelled between two statements, where SQLite has nothing to interrupt.
  func checkNotCancelled() throws(StoreError) {
    try Self.checkNotCancelled(connection)
  }

  static func checkNotCancelled(_ connection: Connection) throws(StoreError) {
    if connection.isInterrupted || StoppableCall.current?.request.isMade() == true {
      throw StoreError(.cancelled, "The task was cancelled; nothing of the transaction is kept.")
    }
  }
}
