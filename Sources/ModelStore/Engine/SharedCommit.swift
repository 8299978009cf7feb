/// One transaction of several waiting writes, with one COMMIT and one sync.
///
/// Each write runs in a savepoint, in the order of calls, and takes every step of ``WriteCycle``
/// there: its statements, its net changes, its validators against its own state, its references,
/// its commit record. A write that is refused is undone alone. After the COMMIT, each write is
/// published as a commit of its own. The decision record 46 gives the reasons:
///
/// - The file is then newer than what observers of the first writes are notified of. So the first
///   write whose changes concern an observer that reads the file is the last of its transaction.
///   The observer then reads the state that is being published.
/// - If SQLite rolls the whole transaction back, or COMMIT fails, no write is kept. No body runs
///   twice.
/// - Cancelling a task never interrupts a statement that could roll back the writes before it.
struct SharedCommit {
  /// A write with the number of the delivery to wait for, or with its error.
  typealias Ended = (write: WaitingWrite, outcome: Result<UInt64, any Error>)

  /// A write that is kept if COMMIT succeeds.
  private struct Member {
    let waiting: WaitingWrite
    let write: OpenWrite
    let changes: [RecordChange]
    let edits: [ListIdentity: ListEdits]
  }

  let engine: StoreEngine
  let line: WriteLine
  /// The writes that took part, after ``run(from:on:)``.
  private(set) var ended: [Ended] = []
  /// Whether writes failed because of each other, so that they should not share a COMMIT again.
  private(set) var hasFailed = false
  private var members: [Member] = []
  private let validators: [Validator]
  private let cycle: WriteCycle
  private let images = EarlierImages()
  /// The turn among the members of a shared store; nil if the store is not shared.
  private var turn: MemberTurn?

  init(engine: StoreEngine, line: WriteLine) {
    self.engine = engine
    self.line = line
    validators = engine.schema.validators
    cycle = WriteCycle(engine: engine)
  }

  /// Runs `first` and the writes that wait behind it.
  mutating func run(from first: WaitingWrite, on writer: inout Writer) {
    let start = ContinuousClock.now
    let capture: OpenWrite.Capture
    do {
      turn = try engine.membership.beginTurn(of: writer)
      capture = try begin(for: first, &writer)
      do {
        try turn?.start(on: writer.connection)
      } catch {
        throw writer.failure(writer.connection.rollBack(after: error))
      }
    } catch {
      turn?.end(on: writer.connection)
      // The others wait for their own turns, as they would after a write alone.
      return end(first, with: error)
    }
    defer { turn?.end(on: writer.connection) }
    let orders = writer.lists.savepoint
    var next: WaitingWrite? = first
    while let waiting = next {
      if waiting !== first { waiting.timer?.beginTurn() }
      let mayFollow = add(waiting, capturing: capture, &writer)
      next = mayFollow ? line.next(after: members.count + ended.count, since: start) : nil
    }
    do {
      try commit(&writer)
    } catch {
      writer.lists.rollBack(to: orders)
      fail(with: writer.connection.rollBack(after: error), &writer)
      return
    }
    engine.maintenance.run(
      &writer, afterSchemaChange: members.last?.write.schemaChanged ?? false)  // 11
  }

  /// Steps 2 and 3, which the first write waits for. Cancelling its task ends the wait.
  private func begin(
    for first: WaitingWrite, _ writer: inout Writer
  ) throws -> OpenWrite.Capture {
    first.timer?.beginTurn()
    defer { first.timer?.end(.begin) }
    return try engine.connections.writer.interruptible(first.number, gently: false) {
      try first.checkNotCancelled()
      try engine.configuration.checkWritable()
      try writer.checkReady()
      do {
        return try cycle.beginTransaction(&writer, validators)
      } catch {
        throw writer.failure(writer.connection.rollBack(after: error))
      }
    }
  }

  /// Steps 4 to 9 of one write, up to COMMIT.
  ///
  /// - Returns: Whether another write may follow in the same transaction.
  private mutating func add(
    _ waiting: WaitingWrite, capturing capture: OpenWrite.Capture, _ writer: inout Writer
  ) -> Bool {
    guard let work = waiting.takeWork() else { preconditionFailure("A write runs once.") }
    let connection = writer.connection
    do {
      // Before the first write there is nothing that an interruption could undo.
      let isGentle = !members.isEmpty
      let member = try engine.connections.writer.interruptible(waiting.number, gently: isGentle) {
        try waiting.checkNotCancelled()
        return try Wave.running(in: waiting.wave) {
          try Wave.current.checkRounds()
          return try run(work.body, of: waiting, capturing: capture, writer)
        }
      }
      members.append(member)
      return !endsTransaction(member)
    } catch {
      end(waiting, with: writer.failure(error))
      // If a refused write could not be undone, nothing of the transaction may be kept.
      return connection.isInTransaction && writer.isUsable
    }
  }

  private func run(
    _ body: (borrowing WriteTransaction) throws -> Void, of waiting: WaitingWrite,
    capturing capture: OpenWrite.Capture, _ writer: Writer
  ) throws -> Member {
    let connection = writer.connection
    try connection.beginShare()
    let write: OpenWrite
    do {
      write = try OpenWrite(
        writer, capture, after: images, refusals: engine.configuration.refusals)
    } catch {
      throw connection.rollBackShare(after: error)
    }
    var cycle = cycle
    cycle.timer = waiting.timer
    do {
      let (_, changes) = try cycle.judged(write, by: validators, body)  // 4 to 8
      try turn?.check(write)
      try write.sign(taggedBy: waiting.timer)  //  9 commit record
      return Member(waiting: waiting, write: write, changes: changes, edits: try write.keep())
    } catch {
      throw write.undo(after: error)
    }
  }

  /// Whether no write may follow: an observer reads the file to follow this one, or the schema that
  /// later writes would use has changed.
  private func endsTransaction(_ member: Member) -> Bool {
    member.write.schemaChanged || engine.broker.hasReader(of: member.changes)
  }

  /// Steps 9 and 10: COMMIT, then each write is published in order.
  private mutating func commit(_ writer: inout Writer) throws {
    let connection = writer.connection
    guard connection.isInTransaction else { throw Self.lost }
    try writer.checkUsable()
    guard let last = members.last else { return try connection.rollBack() }
    try turn?.append(last.write)
    if members.allSatisfy({ $0.write.access.notes.onlyRemoves }) { writer.reserve.lend() }
    try connection.withHeldState(last.write.isObserved) {
      for member in members { member.waiting.timer?.skip() }
      try connection.commitTellingOutcome()
      for member in members {
        member.waiting.timer?.committed(member.write, sharingCount: members.count)
      }
      if !last.write.schemaChanged { writer.noteLatestContent() }
      let changedRows = members[0].write.changedRows
      for member in members.dropLast() { publish(member, .followed, &writer) }
      publish(last, .last(changedRows: changedRows), &writer)
    }
  }

  /// Step 10 of one write.
  private mutating func publish(
    _ member: Member, _ place: WriteCycle.Place, _ writer: inout Writer
  ) {
    member.waiting.timer?.skip()
    let (_, awaited) = engine.turns.countingAwaited {
      _ = Wave.running(in: member.waiting.wave) {
        cycle.publish(member.changes, member.edits, of: member.write, &writer, at: place)
      }
    }
    member.waiting.timer?.end(.publishing)
    ended.append((member.waiting, .success(awaited)))
  }

  /// Ends all writes that would have been kept.
  private mutating func fail(with error: any Error, _ writer: inout Writer) {
    hasFailed = !members.isEmpty
    // Without a write that the error ends, the writer still has to know it.
    if members.isEmpty { _ = writer.failure(error) }
    for member in members {
      end(
        member.waiting, with: turn.failure(writer.failure(member.write.outcome(of: error))))
    }
  }

  private mutating func end(_ waiting: WaitingWrite, with error: any Error) {
    let named = (error as? StoreError)?.naming(engine.file.path) ?? error
    ended.append((waiting, waiting.seen(.failure(named))))
  }

  private static let lost = StoreError(
    .busy,
    "Another write that shared the COMMIT failed, and SQLite rolled back the whole transaction. Nothing was changed; try again."
  )
}
