// Transactions that change what the journal keeps, and no record.
extension StoreCore {
  /// Runs `body` as a transaction that changes neither records nor the schema. It is not signed and
  /// nobody is told.
  ///
  /// - Parameter isWaiting: Whether to wait for another process's write.
  func maintaining<Result>(
    waiting isWaiting: Bool = true, _ body: (Connection) throws -> Result
  ) throws -> Result {
    guard configuration.access != .readOnly else {
      throw StoreError(.readOnly, "The store was opened read-only.")
    }
    return try settled { writer in
      try writer.checkUsable()
      try file.checkPresence()
      let result: Result
      do {
        let connection = writer.connection
        func work() throws -> Result {
          try connection.inTransaction {
            // Told before it could be trimmed.
            try self.tellWhatOthersDid(&writer)
            return try body(connection)
          }
        }
        result = try isWaiting ? work() : connection.hooks.withoutWaiting(work)
      } catch {
        throw models.storeError(writer.noting(error), about: nil)
      }
      checkpointIfNeeded(&writer)
      return result
    }
  }

  /// Tidies up after a commit, whatever becomes of it.
  func checkpointIfNeeded(_ writer: inout Writer) {
    do {
      try writer.checkpointIfNeeded()
    } catch {
      report(StoreError(reporting: models.storeError(error, about: nil)))
    }
  }

  /// Removes what the change journal is not to keep, when it is time for a step.
  func trimIfNeeded(_ writer: inout Writer) {
    do {
      try writer.trimIfNeeded()
    } catch {
      report(StoreError(reporting: models.storeError(error, about: nil)))
    }
  }
}
