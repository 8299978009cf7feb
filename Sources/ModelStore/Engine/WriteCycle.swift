/// One write: from a turn of the writer to the events that observers receive.
///
/// ``run(on:_:)`` is the whole path of a write, with the step numbers of ARCHITECTURE.md.
/// ``WriterTurns`` adds the first step and the last two.
struct WriteCycle {
  /// Whether the transaction is committed if every step succeeded.
  enum Ending { case commit, rollback }

  /// The changes that the transaction captures.
  enum Demand {
    /// The fields that observers and validators ask for.
    case observed
    /// Every field of every model.
    case everything
  }

  let engine: StoreEngine
  var ending = Ending.commit
  var demand = Demand.observed
  /// The subscribers that do not receive this commit.
  var suppressed: [any Outlet] = []

  /// Runs `body` as one transaction, publishes its changes, and does the upkeep that is due.
  ///
  /// If it throws, nothing is published and nothing is committed. With the code `outcomeUnknown`
  /// the file may contain the write.
  ///
  /// - Returns: The result of `body`, and the captured net changes.
  /// - Throws: What `body` threw; ``StoreError``.
  /// - Precondition: Step 1: the caller has its turn of the writer.
  func run<Result>(
    on writer: inout Writer, _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    try engine.configuration.checkWritable()
    try Wave.current.checkRounds()
    let validators = engine.schema.validators
    let value: Result
    let published: ChangeSet
    var write = try begin(&writer, validators)  //  2 BEGIN, 3 foreign commits
    do {
      value = try write.run(body)  //  4 statements, 5 triggers, 6 first images
      let changes = try write.netChanges(before: engine.connections.snapshots)  //  7
      try write.validate(changes, by: validators)  //  8
      // From here on, cancelling the task of an asynchronous write has no effect.
      engine.connections.writer.shield()
      try write.access.runner.checkNotCancelled()
      guard ending == .commit else {
        try write.rollBack()
        return (value, ChangeSet(version: 0, changes: changes))
      }
      try write.sign()  //  9 commit record
      published = try writer.connection.withHeldState(write.isObserved) {
        let edits = try write.commit(lending: writer.reserve)  //  9 COMMIT
        return publish(changes, edits, of: write, &writer)  // 10
      }
    } catch {
      throw writer.failure(write.rollBack(after: error))
    }
    engine.maintenance.run(&writer, afterSchemaChange: write.schemaChanged)  // 11
    return (value, published)
  }

  /// Steps 2 and 3. Begins the transaction, catches up with other connections, and starts to
  /// capture.
  ///
  /// Drifted triggers of the change journal are repaired first, in a separate transaction, so that
  /// the write is recorded completely. Observers then receive a resync. If the repair fails, the
  /// error is reported and the write continues; the next write tries again.
  private func begin(_ writer: inout Writer, _ validators: [Validator]) throws -> OpenWrite {
    try writer.checkReady()
    do {
      try engine.foreignSync.beginWrite(&writer)
      if ending == .commit, writer.needsJournalRepair {
        try writer.connection.rollBack()
        engine.maintenance.repairJournal(before: &writer)
        // The outcome of the repair's COMMIT may be unknown. In that case nothing may be written.
        try writer.checkReady()
        try engine.foreignSync.beginWrite(&writer)
      }
      // Read before the plan is made: the plan does not cover observers that are added from now on.
      let latestObserver = demand == .observed ? engine.broker.latestObserver : .max
      let plan = try writer.plan(
        demand, generation: engine.schema.captureGeneration(with: engine.broker)
      ) {
        engine.schema.interests(of: validators, and: engine.broker)
      }
      return try OpenWrite(
        writer, plan: plan, latestObserver: latestObserver,
        refusals: engine.configuration.refusals)
    } catch {
      throw writer.failure(writer.connection.rollBack(after: error))
    }
  }

  /// Step 10. Passes the commit to the broker while the connection still reads its state. Nothing
  /// throws from here on: the commit is complete.
  private func publish(
    _ changes: [RecordChange], _ edits: [ListIdentity: ListEdits], of write: OpenWrite,
    _ writer: inout Writer
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
    let published = engine.broker.publish(
      ChangeBroker.Announcement(
        changes: changes, edits: edits, isReset: write.schemaChanged,
        knownObserver: write.changedRows ? write.latestObserver : .max, wave: Wave.current,
        suppressed: suppressed))
    if write.journalPosition != nil { engine.journalListeners.ring() }
    return published
  }
}
