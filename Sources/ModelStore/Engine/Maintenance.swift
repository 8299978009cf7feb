/// Upkeep of the file: repairing the journal's triggers, trimming the journal, and checkpoints.
///
/// It also runs transactions that change the journal's own tables but no records.
final class Maintenance: Sendable {
  private let turns: WriterTurns
  private let schema: CurrentSchema
  private let foreignSync: ForeignSync
  private let reports: SharedReport
  private let membership: Membership?
  private let configuration: StoreConfiguration

  init(
    turns: WriterTurns, schema: CurrentSchema, foreignSync: ForeignSync,
    reports: SharedReport, membership: Membership?, configuration: StoreConfiguration
  ) {
    self.turns = turns
    self.schema = schema
    self.foreignSync = foreignSync
    self.reports = reports
    self.membership = membership
    self.configuration = configuration
  }

  /// Step 11 of a write: does what is due after a commit. A failure is reported; the commit is
  /// complete.
  ///
  /// - Parameter schemaChanged: Whether the commit changed the file's schema.
  func run(_ writer: inout Writer, afterSchemaChange schemaChanged: Bool) {
    repairJournal(&writer, afterOwnChange: schemaChanged, waiting: false)
    reporting("trimming the change journal") { try writer.trimIfNeeded() }
    checkpointIfNeeded(&writer)
  }

  /// Copies the log into the database if it is long.
  func checkpointIfNeeded(_ writer: inout Writer) {
    reporting("copying the write-ahead log into the database") {
      try monitoringCheckpoint(&writer) { writer in try writer.checkpointIfNeeded() }
    }
  }

  /// Copies the log into the database, which also truncates it, after another connection of this
  /// store has written much. If a reader or another program is in the way, the next commit tries
  /// again.
  func checkpoint(_ writer: inout Writer) {
    guard writer.connection.hasLog else { return }
    reporting("copying the write-ahead log into the database") {
      do {
        try monitoringCheckpoint(&writer) { writer in
          try writer.connection.hooks.withoutWaiting { try writer.checkpoint() }
          return true
        }
      } catch let error as SQLiteError where error.code.primary == .busy {
        return
      }
    }
  }

  /// Runs `body`, which returns whether it copied the log, and reports the checkpoint to monitors.
  func monitoringCheckpoint(
    _ writer: inout Writer, _ body: (inout Writer) throws -> Bool
  ) throws {
    guard reports.monitors.isActive else {
      _ = try body(&writer)
      return
    }
    let start = ContinuousClock.now
    let pageCount = writer.connection.hooks.walFrameCount
    guard try body(&writer) else { return }
    reports.monitors.send(
      .checkpoint(CheckpointReport(pageCount: pageCount, duration: start.duration(to: .now))))
  }

  private func reporting(_ work: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      reports.send(error, afterCommit: work, schema.models)
    }
  }

  // Repairing the journal

  /// Repairs the journal before a write, which waits for another process's write anyway. See
  /// ``repairJournal(_:afterOwnChange:waiting:)``.
  func repairJournal(before writer: inout Writer) {
    // If a cancelled write interrupted the repair, the repair would not be tried again.
    turns.writer.shield()
    defer { turns.writer.unshield() }
    repairJournal(&writer, afterOwnChange: false, waiting: true)
  }

  /// Recreates the change journal's triggers where another program has changed them or their table.
  /// Readers of the journal see a gap then.
  ///
  /// A repair follows each such change. Triggers of the same text are repaired only once, because a
  /// library of another version may keep writing them. While another process writes, nothing
  /// happens: the next commit tries again.
  ///
  /// - Parameter isWaiting: Whether to wait for another process's write.
  private func repairJournal(
    _ writer: inout Writer, afterOwnChange isOwn: Bool, waiting isWaiting: Bool
  ) {
    guard let head = writer.journal, !head.damaged.isEmpty, isOwn || writer.mayRepairJournal
    else { return }
    let connection = writer.connection
    let journal = JournalEditor(schema: schema)
    do {
      func repair() throws -> Bool {
        try connection.inTransaction {
          // The triggers of a member are those of all members.
          guard try MemberRecord(reading: connection) == nil else { return false }
          try journal.align(keeping: nil, on: connection)
          return true
        }
      }
      guard try isWaiting ? repair() : connection.hooks.withoutWaiting(repair) else { return }
      try connection.hooks.withoutStopping { try schema.reload(&writer) }
      reportRepair(of: head, &writer, afterOwnChange: isOwn)
    } catch let error as SQLiteError where error.code.primary == .busy {
      return
    } catch {
      _ = writer.noteUnfitJournal()
      reports.send(
        writer.noting(error), afterCommit: "repairing the change journal's triggers",
        schema.models)
    }
  }

  private func reportRepair(
    of head: JournalHead, _ writer: inout Writer, afterOwnChange isOwn: Bool
  ) {
    let left = writer.journal?.damaged ?? []
    let repaired = head.damaged.subtracting(left)
    if !repaired.isEmpty {
      if !isOwn { writer.noteReplacement(of: head) }
      foreignSync.publishReset(&writer)
      reports.send(
        StoreError(
          .journalGap,
          "The change journal's triggers of \(repaired.sorted().joined(separator: ", ")) were missing, changed or older than their tables, so changes may be missing in it. They were recreated."
        ))
    }
    guard !left.isEmpty, writer.noteUnfitJournal() else { return }
    reports.send(
      StoreError(
        .journalGap,
        "Changes of \(left.sorted().joined(separator: ", ")) are not recorded in the change journal: the table is gone, or lacks columns of the model."
      ))
  }

  // Transactions of its own

  /// Whether a transaction waits while another process writes.
  enum Patience {
    case waits
    /// Throws `busy` immediately.
    case doesNotWait
  }

  /// Runs `body` as a transaction that changes neither records nor the schema. It has no commit
  /// record, and observers do not receive it.
  func transaction<Result>(
    _ patience: Patience = .waits, _ body: (Connection) throws -> Result
  ) throws -> Result {
    try turns.take { writer in try transaction(&writer, patience, body) }
  }

  /// Runs ``transaction(_:_:)`` on the writer's thread, so that no other thread blocks for its
  /// turn.
  func transactionOnQueue<Result: Sendable>(
    _ patience: Patience, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await turns.takeOnQueue { [self] writer in try transaction(&writer, patience, body) }
  }

  /// Runs ``transaction(_:_:)`` for a `body` that frees space in the file. On a full disk it can
  /// use the reserve.
  func makingSpace<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try turns.take { writer in
      writer.reserve.lend()
      // After a success, the checkpoint has already taken it back.
      defer { writer.reserve.takeBack() }
      return try transaction(&writer, .waits, of: .file, body)
    }
  }

  /// Whose content a transaction changes.
  private enum Reach {
    /// That of every member of a shared store.
    case members
    /// That of this file only.
    case file
  }

  private func transaction<Result>(
    _ writer: inout Writer, _ patience: Patience, of reach: Reach = .members,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try configuration.checkWritable()
    try writer.checkReady()
    let connection = writer.connection
    let turn = reach == .members ? try membership.beginTurn(of: writer) : nil
    defer { turn?.end(on: connection) }
    let result: Result
    do {
      func work() throws -> Result {
        try connection.inTransaction {
          try turn?.start(on: connection)
          // Publishes foreign commits before `body` could trim them.
          try self.foreignSync.catchUp(&writer)
          let result = try body(connection)
          if let turn {
            // Cancelling the task must not keep this file from what the ledger has.
            turns.writer.shield()
            try turn.append(.make(first: nil), on: connection)
          }
          return result
        }
      }
      switch patience {
      case .waits: result = try work()
      case .doesNotWait: result = try connection.hooks.withoutWaiting(work)
      }
    } catch {
      throw turn.failure(writer.failure(error))
    }
    checkpointIfNeeded(&writer)
    return result
  }
}
