import ModelStore

/// Follows the change journal: every change of every program, with who made it.
struct JournalWatch {
  let store: Store
  let model: String?
  let bell: Bell
  let deadline: ContinuousClock.Instant?
  let context: CommandContext

  /// Entries that are read at once.
  private static let pageSize: Int64 = 4096

  /// Writes what follows `start` until there is a reason to end; nil when enough was written.
  func follow(
    after start: JournalPosition, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let journal = store.changeJournal
    let follower = ringing(after: start)
    defer { follower.cancel() }
    var position = start
    while !output.isFull {
      guard !Interruption.isRequested else { return .interrupted }
      let end = try journal.position()
      guard position < end else {
        switch try bell.wait(until: deadline) {
        case .rung: continue
        case let waking: return waking
        }
      }
      let last = min(end, JournalPosition(rawValue: position.rawValue + Self.pageSize))
      do {
        let transactions = try journal.transactions(
          after: position, through: last, matching: JournalFilter(model: model))
        try write(transactions, after: start, to: &output)
        position = last
        if isOver, !output.isFull { return .timedOut }
      } catch let error as StoreError where error.code == .journalTrimmed {
        let oldest = try journal.oldestPlace()
        try context.console.say("gap: the entries from seq \(position) to \(oldest) are trimmed")
        position = oldest
      }
    }
    return nil
  }

  /// Writes what the consumer has not acknowledged yet, and acknowledges what is written.
  func follow(_ consumer: Consumer, to output: inout WatchOutput) throws -> Bell.Waking? {
    let start = try consumer.status().position
    let follower = ringing(after: start)
    defer { follower.cancel() }
    while !output.isFull {
      guard !Interruption.isRequested else { return .interrupted }
      // One transaction at a time where counting may end between two.
      guard let batch = try consumer.next(limit: output.isCounting ? 1 : 500) else {
        switch try bell.wait(until: deadline) {
        case .rung: continue
        case let waking: return waking
        }
      }
      if batch.reset == .trimmed {
        try context.console.say("gap: entries that were not acknowledged are trimmed")
      }
      try write(batch.transactions, after: .start, to: &output)
      // What was cut off by the count comes again.
      if !output.isCut { try batch.acknowledge() }
      if isOver, !output.isFull { return .timedOut }
    }
    return nil
  }

  /// Whether the time is over: others may write faster than this reads.
  private var isOver: Bool { deadline.map { $0 <= ContinuousClock.Instant.now } ?? false }

  /// Rings whenever there are new entries.
  private func ringing(after position: JournalPosition) -> Task<Void, Never> {
    let growth = store.changeJournal.growth(after: position)
    return Task { [bell] in
      do {
        for try await _ in growth { bell.ring() }
      } catch {
        bell.fail(error)
      }
    }
  }

  /// - Parameter start: What a transaction did up to there is left out.
  private func write(
    _ transactions: [JournalTransaction], after start: JournalPosition, to output: inout WatchOutput
  ) throws {
    let now = TimeText.now
    let schema = store.schema
    for transaction in transactions {
      if !transaction.gaps.isEmpty {
        try context.console.say(
          "gap: changes of \(transaction.gaps.joined(separator: ", ")) may be missing at seq "
            + "\(transaction.positions.lowerBound) or before")
      }
    }
    let lines = JournalLine.lines(of: transactions, in: schema)
      .filter { $0.position > start && (model == nil || $0.change.model == model) }
    try output.write(
      lines.lazy.map { WatchedChange(change: $0.change, logged: $0, time: now) })
  }
}
