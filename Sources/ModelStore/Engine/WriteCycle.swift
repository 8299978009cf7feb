/// One write, from `BEGIN` to the upkeep after `COMMIT`.
///
/// This file is the whole path of a write, with the step numbers of ARCHITECTURE.md. ``run(on:_:)``
/// is steps 2 to 11. ``WriterTurns`` adds the first step and the last two. ``SharedCommit`` runs
/// the same steps for writes that share a COMMIT.
struct WriteCycle {
  /// Whether the transaction is committed if every step succeeded.
  enum Ending { case commit, rollback }

  /// The changes that the transaction captures.
  enum Demand {
    /// The fields that observers and validators use.
    case observed
    /// Every field of every model.
    case everything
  }

  /// The place of a write among the writes of its COMMIT.
  enum Place {
    /// It has a COMMIT of its own.
    ///
    /// - Parameter isHeld: Whether the connection keeps reading the state of the commit.
    case own(isHeld: Bool)
    /// Later writes of the same COMMIT are published after it.
    case followed
    /// - Parameter changedRows: Whether any write of the COMMIT changed a row.
    case last(changedRows: Bool)
  }

  let engine: StoreEngine
  var ending = Ending.commit
  var demand = Demand.observed
  /// The subscribers that do not receive this commit.
  var suppressed: [any Outlet] = []
  /// Times the write; nil while no monitor listens.
  var timer: WriteTimer?

  /// Runs `body` as one transaction, publishes its changes, and does the upkeep that is due.
  ///
  /// - Returns: The value that `body` returned, and the captured net changes.
  /// - Throws: The error that `body` threw, or ``StoreError``. The write is rolled back and no
  ///   observer is notified. After `outcomeUnknown` the file may contain the write.
  /// - Precondition: Step 1: the caller has its turn of the writer.
  func run<Result>(
    on writer: inout Writer, _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    try engine.configuration.checkWritable()
    try Wave.current.checkRounds()
    let validators = engine.schema.validators
    let value: Result
    let published: ChangeSet
    timer?.beginTurn()
    let turn = try turn(of: writer)  //  1 among members
    defer { turn?.end(on: writer.connection) }
    let write = try begin(&writer, validators)  //  2 BEGIN, 3 foreign commits
    timer?.end(.begin)
    do {
      try turn?.start(on: writer.connection)
      let changes: [RecordChange]
      (value, changes) = try judged(write, by: validators, body)  // 4 to 8
      try turn?.check(write)
      guard ending == .commit else {
        try write.rollBack()
        return (value, ChangeSet(version: 0, changes: changes))
      }
      try write.sign(taggedBy: timer)  //  9 commit record
      try turn?.append(write)  //  9 the ledger has it
      // Most observers follow a commit from its changes alone.
      let isHeld =
        write.schemaChanged
        || engine.broker.mayRead(changes, knownObserver: write.knownObserver)
      published = try writer.connection.withHeldState(isHeld) {
        let edits = try write.commit(lending: writer.reserve)  //  9 COMMIT
        timer?.committed(write, sharingCount: 1)
        if !write.schemaChanged { writer.noteLatestContent() }
        defer { timer?.end(.publishing) }
        return publish(changes, edits, of: write, &writer, at: .own(isHeld: isHeld))  // 10
      }
    } catch {
      throw turn.failure(writer.failure(write.rollBack(after: error)))
    }
    engine.maintenance.run(&writer, afterSchemaChange: write.schemaChanged)  // 11
    return (value, published)
  }

  private func turn(of writer: Writer) throws -> MemberTurn? {
    ending == .commit ? try engine.membership.beginTurn(of: writer) : nil
  }

  /// Steps 2 and 3. Begins the transaction, catches up with other connections, and starts to
  /// capture.
  ///
  /// If triggers of the change journal have drifted, they are repaired first, so that the journal
  /// records the whole write. The repair has a transaction of its own: ROLLBACK, repair, BEGIN.
  /// Observers then receive a resync. If the repair fails, the error is reported and the write goes
  /// on. The next write tries again.
  private func begin(_ writer: inout Writer, _ validators: [Validator]) throws -> OpenWrite {
    try writer.checkReady()
    do {
      let capture = try beginTransaction(&writer, validators)
      return try OpenWrite(writer, capture, refusals: engine.configuration.refusals)
    } catch {
      throw writer.failure(writer.connection.rollBack(after: error))
    }
  }

  /// As ``begin(_:_:)``, without starting to capture.
  ///
  /// - Returns: What to capture in the transaction.
  /// - Throws: ``SQLiteError``, ``StoreError`` or ``ConnectionFailure``. The transaction may be
  ///   open.
  func beginTransaction(
    _ writer: inout Writer, _ validators: [Validator]
  ) throws -> OpenWrite.Capture {
    try engine.foreignSync.beginWrite(&writer)
    if ending == .commit, writer.needsJournalRepair {
      try writer.connection.rollBack()
      engine.maintenance.repairJournal(before: &writer)
      // If the outcome of the repair's COMMIT is unknown, the store must not write again.
      try writer.checkReady()
      try engine.foreignSync.beginWrite(&writer)
    }
    // Read before the plan is made. The plan does not cover observers that begin later.
    let latestObserver = demand == .observed ? engine.broker.latestObserver : .max
    let plan = try writer.plan(
      demand, generation: engine.schema.captureGeneration(with: engine.broker),
      // A validator judges every change. With a rollback journal, a snapshot may be locked out.
      concerns: validators.isEmpty && engine.connections.usesWriteAheadLog
        ? engine.broker.concern : nil
    ) {
      engine.schema.interests(of: validators, and: engine.broker)
    }
    return OpenWrite.Capture(plan: plan, latestObserver: latestObserver)
  }

  /// Steps 4 to 8: the body, the net changes and the validators. From its return until the end of
  /// the turn, cancelling the caller's task has no effect.
  func judged<Result>(
    _ write: OpenWrite, by validators: [Validator],
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> (value: Result, changes: [RecordChange]) {
    let value = try timer.timingBody(on: write.access.connection) {
      try write.run(body)  //  4 statements, 5 triggers, 6 first images
    }
    let changes = try write.netChanges(before: engine.connections.snapshots)  //  7
    try write.validate(changes, by: validators)  //  8
    timer?.endValidation(changedRowCount: write.changedRowCount)
    try write.access.runner.checkNotCancelled()
    engine.connections.writer.shield()
    try write.access.runner.checkNotCancelled()
    return (value, changes)
  }

  /// Step 10. Passes the commit to the broker while the connection still reads its state. Nothing
  /// throws from here on, because the transaction is committed.
  ///
  func publish(
    _ changes: [RecordChange], _ edits: [ListIdentity: ListEdits], of write: OpenWrite,
    _ writer: inout Writer, at place: Place
  ) -> ChangeSet {
    if let position = write.journalPosition { writer.passJournal(to: position) }
    if write.schemaChanged {
      do {
        try writer.connection.hooks.withoutStopping { try engine.schema.reload(&writer) }
      } catch {
        // The next write detects the changed schema version and reads the schema again.
        engine.reports.send(error, afterCommit: "reading the changed schema", engine.models)
      }
    }
    var isFollowed = false
    var isHeld = true
    var knownObserver = write.knownObserver
    switch place {
    case .own(let held): isHeld = held
    case .followed: isFollowed = true
    case .last(let changedRows): knownObserver = changedRows ? write.latestObserver : .max
    }
    let announcement = ChangeBroker.Announcement(
      changes: changes, edits: edits, isReset: write.schemaChanged,
      knownObserver: knownObserver, wave: Wave.current, suppressed: suppressed,
      isFollowed: isFollowed, isHeld: isHeld)
    let published = engine.foreignSync.refusingReads(isFollowed || !isHeld) {
      engine.broker.publish(announcement)
    }
    // An observer that began after `mayRead` was asked.
    if !isHeld, engine.broker.hasFailed { engine.foreignSync.refetch(&writer) }
    if write.journalPosition != nil { engine.journalListeners.ring() }
    if write.schemaChanged { engine.monitors.send(.resync) }
    return published
  }
}

// How a write begins.
extension StoreEngine {
  var turns: WriterTurns { WriterTurns(writer: connections.writer, broker: broker) }

  /// Runs a transaction on the calling thread, commits it and publishes its changes.
  func write<Result>(_ body: (borrowing WriteTransaction) throws -> Result) throws -> Result {
    var value: Result?
    try commit { transaction in value = try body(transaction) }
    guard let value else { preconditionFailure("A write that succeeds has run its body.") }
    return value
  }

  /// As ``write(_:)``, without a result, so that the compiler specializes the whole path.
  func commit(
    suppressing suppressed: [any Outlet] = [],
    _ body: (borrowing WriteTransaction) throws -> Void
  ) throws {
    let cycle = WriteCycle(engine: self, suppressed: suppressed, timer: monitors.timeWrite())
    try cycle.timer.reporting {
      try turns.take { writer in _ = try cycle.run(on: &writer, body) }
    }
  }

  /// Runs ``write(_:)`` on the writer's thread, in a transaction of its own. Writes
  /// that may share a COMMIT go through ``WriteLine``.
  func writeOnQueue<Result: Sendable>(
    suppressing suppressed: [any Outlet] = [],
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> Result {
    let cycle = WriteCycle(engine: self, suppressed: suppressed, timer: monitors.timeWrite())
    return try await cycle.timer.reportingOnQueue {
      try await turns.takeOnQueue { writer in try cycle.run(on: &writer, body).value }
    }
  }

  /// Runs ``writeOnQueue(suppressing:_:)``.
  ///
  /// - Returns: The version of the commit.
  func commitOnQueue(
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void
  ) async throws -> UInt64 {
    let cycle = WriteCycle(engine: self, timer: monitors.timeWrite())
    return try await cycle.timer.reportingOnQueue {
      try await turns.takeOnQueue { writer in
        try cycle.run(on: &writer, body).changes.version
      }
    }
  }

  /// Runs a transaction and rolls it back.
  func preview<Result>(
    capturing demand: WriteCycle.Demand = .observed,
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    let cycle = WriteCycle(engine: self, ending: .rollback, demand: demand)
    return try connections.writer.sync { writer in try cycle.run(on: &writer, body) }
  }
}

/// Steps 1, 12 and 13 of a write: a turn of the writer in the order of calls, the delivery on the
/// broker's queue, and the wait for observers that requested it.
struct WriterTurns: Sendable {
  let writer: ConnectionQueue<Writer>
  let broker: ChangeBroker

  /// Runs `body` on the calling thread.
  func take<Result>(_ body: (inout Writer) throws -> Result) throws -> Result {
    let (result, awaited) = try writer.sync { writer in
      try countingAwaited { try body(&writer) }
    }
    broker.settle(awaited)
    return result
  }

  /// Runs `body` on the writer's thread. Cancelling the task interrupts it.
  func takeOnQueue<Result: Sendable>(
    _ body: @escaping @Sendable (inout Writer) throws -> Result
  ) async throws -> Result {
    let wave = Wave.current
    let (result, awaited) = try await writer.async { [self] writer in
      try countingAwaited { try Wave.running(in: wave) { try body(&writer) } }
    }
    await broker.settle(awaited)
    return result
  }

  /// Also returns the number of the delivery to wait for after the writer is free; 0 for none.
  func countingAwaited<Result>(
    _ body: () throws -> Result
  ) rethrows -> (result: Result, awaited: UInt64) {
    let before = broker.awaitedCount
    let result = try body()
    let count = broker.awaitedCount
    return (result, count > before ? count : 0)
  }
}
