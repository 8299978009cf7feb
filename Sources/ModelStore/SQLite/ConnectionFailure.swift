/// A failure after which nothing more may run on a connection that writes.
struct ConnectionFailure: Error {
  enum Moment: Hashable, Sendable {
    /// Whether the transaction was kept is not known.
    case commit
    /// Nothing was kept, but the transaction could not be ended either.
    case rollback
  }

  let moment: Moment
  /// What SQLite said.
  let failure: SQLiteError
  /// Why the transaction was to be rolled back; nil for a COMMIT.
  let cause: (any Error)?
}

extension SQLiteError {
  /// Whether a COMMIT that failed this way certainly did not happen. A frame of the log that found
  /// no space breaks the chain of checksums, so that recovery stops before the commit. Anything
  /// else, such as a failed sync, may come after the commit frame was written:
  /// <https://sqlite.org/walformat.html#wal_file_format>.
  fileprivate var leavesNoCommit: Bool {
    switch code.primary {
    case .full, .constraint, .busy: true
    case .ioFailure: code == .ioWrite && isForWantOfSpace
    default: false
    }
  }
}

extension Connection {
  /// Ends a transaction and keeps it, telling three outcomes apart: it returns when the transaction
  /// is kept, and throws when it is not or when nobody can say.
  ///
  /// - Throws: ``SQLiteError`` when nothing was kept; ``ConnectionFailure`` when that is not known.
  func commitTellingOutcome() throws {
    try linkLog()
    do {
      try commit()
    } catch let error as SQLiteError {
      // A failed sync may still reach the disk: only reopening can tell.
      if isInTransaction || error.leavesNoCommit { throw error }
      throw ConnectionFailure(moment: .commit, failure: error, cause: nil)
    }
  }

  /// Ends a transaction that `error` has made useless.
  ///
  /// - Returns: What to throw: `error`, or a ``ConnectionFailure`` with it when the transaction
  ///   could not be ended.
  func rollBack(after error: any Error) -> any Error {
    // A ROLLBACK that failed is not tried again.
    guard !(error is ConnectionFailure) else { return error }
    do {
      try rollBack()
      return error
    } catch let failure {
      return ConnectionFailure(moment: .rollback, failure: failure, cause: error)
    }
  }

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT; rolls back when it throws.
  ///
  /// - Parameter isKept: Whether it ends with COMMIT; otherwise it is rolled back, and throws what
  ///   COMMIT would have refused.
  /// - Throws: What `body` threw, ``SQLiteError``, or ``ConnectionFailure``.
  func inTransaction<Result>(
    isKept: Bool = true, _ body: () throws -> Result
  ) throws -> Result {
    try beginWriting()
    do {
      let result = try body()
      if isKept {
        try commitTellingOutcome()
      } else if hasUnresolvedReferences {
        throw SQLiteError(code: .constraintForeignKey, message: "FOREIGN KEY constraint failed")
      } else {
        try rollBack()
      }
      return result
    } catch {
      throw rollBack(after: error)
    }
  }

  /// Runs `body`, which only reads, in one state of the file: in the transaction that is open, or
  /// in one of its own.
  ///
  /// - Throws: What `body` threw, ``SQLiteError``, or ``ConnectionFailure`` when the transaction
  ///   could not be ended.
  func inOneState<Result>(_ body: () throws -> Result) throws -> Result {
    guard !isInTransaction else { return try body() }
    try execute("BEGIN")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // SQLite may have ended the transaction already, which is no failure of its own.
      throw rollBack(after: error)
    }
  }
}
