// Transactions that change what the journal keeps, and no record.
extension StoreCore {
  /// Runs `body` as a transaction that changes neither records nor the schema. It is not signed and
  /// nobody is told.
  ///
  /// - Parameter isWaiting: Whether to wait for another process's write.
  func maintaining<Result>(
    waiting isWaiting: Bool = true, _ body: (Connection) throws -> Result
  ) throws -> Result {
    try settled { writer in try maintain(&writer, waiting: isWaiting, body) }
  }

  /// As ``maintaining(waiting:_:)``, on the writer's thread: no other one waits for its turn.
  func maintainingOnQueue<Result: Sendable>(
    waiting isWaiting: Bool, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let (result, count) = try await writer.async { [self] writer in
      try countingAwaited { try maintain(&writer, waiting: isWaiting, body) }
    }
    await broker.settle(count)
    return result
  }

  private func maintain<Result>(
    _ writer: inout Writer, waiting isWaiting: Bool, _ body: (Connection) throws -> Result
  ) throws -> Result {
    guard configuration.access != .readOnly else {
      throw StoreError(.readOnly, "The store was opened read-only.")
    }
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

  /// Tidies up after a commit, whatever becomes of it.
  func checkpointIfNeeded(_ writer: inout Writer) {
    do {
      try writer.checkpointIfNeeded()
    } catch {
      report(StoreError(reporting: models.storeError(error, about: nil)))
    }
  }

  /// Makes the change journal's triggers anew where somebody has changed them or their table, which
  /// is a gap for its readers: at each such change of the store's own, and once for other programs.
  /// While another process writes this does nothing: the next commit tries again.
  ///
  /// - Parameter isWaiting: Whether to wait for another process's write.
  func mendJournalIfNeeded(
    _ writer: inout Writer, afterOwnChange isOwn: Bool, waiting isWaiting: Bool = false
  ) {
    guard let damaged = writer.journal?.damaged, !damaged.isEmpty, isOwn || writer.mayMendJournal
    else { return }
    let connection = writer.connection
    do {
      func mend() throws {
        try connection.inTransaction { try self.alignJournal(keeping: nil, on: connection) }
      }
      try isWaiting ? mend() : connection.hooks.withoutWaiting(mend)
      try reloadSchema(&writer)
      let left = writer.journal?.damaged ?? []
      let mended = damaged.subtracting(left)
      if !mended.isEmpty {
        if !isOwn { writer.hasMendedJournal = true }
        announceReset(&writer)
        report(
          StoreError(
            .journalGap,
            "The change journal's triggers of \(mended.sorted().joined(separator: ", ")) were missing, changed or older than their tables, so changes may be missing in it. They were made anew."
          ))
      }
      guard !left.isEmpty, writer.noteUnfitJournal() else { return }
      report(
        StoreError(
          .journalGap,
          "Changes of \(left.sorted().joined(separator: ", ")) are not entered in the change journal: the table is gone, or lacks columns of the model."
        ))
    } catch let error as SQLiteError where error.code.primary == .busy {
      return
    } catch {
      writer.hasMendedJournal = true
      report(StoreError(reporting: models.storeError(writer.noting(error), about: nil)))
    }
  }

  /// As ``mendJournalIfNeeded(_:afterOwnChange:waiting:)`` before a write, which waits for another
  /// process's write anyway.
  func mendJournalFirst(_ writer: inout Writer) {
    // Cut short by who cancels the write, it would not be tried again.
    self.writer.shield()
    defer { self.writer.unshield() }
    mendJournalIfNeeded(&writer, afterOwnChange: false, waiting: true)
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
