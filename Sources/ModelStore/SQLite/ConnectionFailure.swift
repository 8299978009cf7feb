/// A failure after which nothing more may run on a writing connection.
struct ConnectionFailure: Error {
  enum Moment: Hashable, Sendable {
    /// It is unknown whether the transaction was committed.
    case commit
    /// The transaction was not committed, but the rollback failed.
    case rollback
  }

  let moment: Moment
  /// SQLite's error.
  let failure: SQLiteError
  /// Why the transaction was being rolled back; nil for a COMMIT.
  let cause: (any Error)?
}

extension SQLiteError {
  /// Whether a COMMIT with this error certainly did not take effect. A log frame that found no
  /// space breaks the chain of checksums, so recovery stops before the commit. Any other error,
  /// such as a failed sync, may occur after the commit frame was written:
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
  /// Commits a transaction, and distinguishes three outcomes. It returns if the transaction was
  /// committed.
  ///
  /// - Throws: ``SQLiteError`` if nothing was committed; ``ConnectionFailure`` if the outcome is
  ///   unknown.
  func commitTellingOutcome() throws {
    try linkLog()
    do {
      try commit()
    } catch let error as SQLiteError {
      throw outcome(ofFailedCommit: error)
    }
  }

  /// Returns the error to throw after a COMMIT failed with `error`: the same error if nothing was
  /// committed, or a ``ConnectionFailure``.
  private func outcome(ofFailedCommit error: SQLiteError) -> any Error {
    // A failed sync may still reach the disk. Only reopening the file shows the outcome.
    if isInTransaction || error.leavesNoCommit { return error }
    return ConnectionFailure(moment: .commit, failure: error, cause: nil)
  }

  /// As ``outcome(ofFailedCommit:)``, for work that SQLite commits by itself, so that `error` may
  /// also come from before the COMMIT.
  func outcome(ofFailedWork error: SQLiteError) -> any Error {
    // Only these errors can occur after the beginning of a COMMIT.
    guard [.ioFailure, .outOfMemory].contains(error.code.primary) else { return error }
    var error = error
    if error.code == .ioWrite, error.systemErrno == 0 { error.systemErrno = logErrno }
    return outcome(ofFailedCommit: error)
  }

  /// Rolls back a transaction after `error`.
  ///
  /// - Returns: The error to throw: `error`, or a ``ConnectionFailure`` that contains it if the
  ///   rollback failed.
  func rollBack(after error: any Error) -> any Error {
    // A failed ROLLBACK is not tried again.
    guard !(error is ConnectionFailure) else { return error }
    do {
      try rollBack()
      return error
    } catch let failure {
      return ConnectionFailure(moment: .rollback, failure: failure, cause: error)
    }
  }

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT, and rolls back if it throws.
  ///
  /// - Parameter isKept: Whether to commit. If it is false, the transaction is rolled back, and an
  ///   error that COMMIT would cause is thrown.
  /// - Throws: The error of `body`, ``SQLiteError``, or ``ConnectionFailure``.
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

  /// Runs `body`, which only reads, in one state of the file: in the open transaction, or in its
  /// own.
  ///
  /// - Throws: The error of `body`, ``SQLiteError``, or ``ConnectionFailure`` if the transaction
  ///   could not be ended.
  func inOneState<Result>(_ body: () throws -> Result) throws -> Result {
    guard !isInTransaction else { return try body() }
    try execute("BEGIN")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // SQLite may have ended the transaction already, which is not another failure.
      throw rollBack(after: error)
    }
  }
}
