import ModelStore

/// Follows the change journal: every change of every program, with who made it.
///
/// It reads a stretch of the journal when the one before is handed on, so who takes the changes may
/// be as slow as they like.
struct JournalWatch {
  let store: Store
  /// Up to there nobody knows when it was entered that does not say so.
  private(set) var past: JournalPosition
  let selection: WatchSelection
  let bell: Bell
  let deadline: ContinuousClock.Instant?
  /// Whether everything up to ``past`` is told, however long that takes.
  let drains: Bool
  let context: CommandContext

  /// Entries that are read at once. With a predicate more: each time, what came since is read too.
  private var pageSize: Int { selection.filter == nil ? 4096 : 32_768 }

  /// Writes what follows `start` until there is a reason to end; nil when enough was written.
  mutating func follow(
    after start: JournalPosition, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let journal = store.changeJournal
    var damaged: Set<String> = []
    let follower = ringing(after: start)
    defer { follower.cancel() }
    var (start, position) = (start, start)
    var anchor = try JournalAnchor(at: position, in: journal)
    while !output.isFull {
      if Interruption.isRequested { return .interrupted }
      try sayDamage(told: &damaged)
      let end = try journal.position()
      guard try end >= position && anchor.holds(in: journal) else {
        try context.console.say("gap: somebody emptied the journal; what is in it now follows")
        (past, position) = (end, try journal.oldestPlace())
        start = position
        anchor = try JournalAnchor(at: position, in: journal)
        continue
      }
      guard position < end else {
        switch try bell.wait(until: deadline) {
        case .rung: continue
        case let waking: return waking
        }
      }
      let last = min(end, JournalPosition(rawValue: position.rawValue + Int64(pageSize)))
      do {
        let transactions = try journal.transactions(
          after: position, through: last, matching: JournalFilter(model: onlyModel))
        // What other programs did may end a few rows behind: an entry is told as a whole.
        let reached = max(last, transactions.last?.positions.upperBound ?? last)
        let next = try JournalAnchor(at: reached, in: journal)
        guard try anchor.holds(in: journal) else { continue }
        for group in try groups(of: transactions, after: start) where !output.isFull {
          if let waking = reasonToStop(at: position, output) { return waking }
          try output.write(group.changes)
        }
        try output.flush()
        (position, anchor) = (reached, next)
        if isOver(at: position), !output.isFull { return .timedOut }
      } catch let error as StoreError where error.code == .journalTrimmed {
        let oldest = try journal.oldestPlace()
        try context.console.say("gap: the entries from seq \(position) to \(oldest) are trimmed")
        position = oldest
        anchor = try JournalAnchor(at: position, in: journal)
      }
    }
    return nil
  }

  /// Writes what the consumer has not acknowledged yet, and acknowledges what is handed on.
  mutating func follow(
    _ consumer: Consumer, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let start = try consumer.status().position
    var damaged: Set<String> = []
    let follower = ringing(after: start)
    defer { follower.cancel() }
    while !output.isFull {
      if Interruption.isRequested { return .interrupted }
      try sayDamage(told: &damaged)
      guard let batch = try consumer.next(limit: pageSize) else {
        switch try bell.wait(until: deadline) {
        case .rung: continue
        case let waking: return waking
        }
      }
      if batch.reset == .trimmed {
        try context.console.say("gap: entries that were not acknowledged are trimmed")
        // Somebody may have emptied the journal.
        past = min(past, try store.changeJournal.position())
      }
      if let waking = try handOn(batch, of: consumer, to: &output) { return waking }
      if isOver(at: batch.end), !output.isFull { return .timedOut }
    }
    return nil
  }

  /// Writes a batch and acknowledges what of it is handed on.
  private func handOn(
    _ batch: ConsumerBatch, of consumer: Consumer, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    var done: JournalPosition?
    for group in try groups(of: batch.transactions, after: .start) where !group.changes.isEmpty {
      let waking = reasonToStop(at: group.end, output)
      guard waking == nil, !output.isFull else {
        try output.flush()
        if let done { try acknowledge(batch, through: done, by: consumer) }
        return waking
      }
      try output.write(group.changes)
      // What was cut off comes again.
      guard !output.isCut else { return .interrupted }
      if output.isStepwise {
        try output.flush()
        try acknowledge(batch, through: group.end, by: consumer)
      }
      done = group.end
    }
    try output.flush()
    try batch.acknowledge()
    return nil
  }

  /// Acknowledges what of `whole` leads up to `end`, a place between two transactions.
  private func acknowledge(
    _ whole: ConsumerBatch, through end: JournalPosition, by consumer: Consumer
  ) throws {
    var position = try consumer.status().position
    if whole.reset == .trimmed, let first = whole.transactions.first?.positions.lowerBound,
      position > end || position < first
    {
      // It stands where the journal is no more, and goes on where the batch began.
      position = JournalPosition(rawValue: first.rawValue - 1)
    }
    guard position < end else { return }
    // So many entries end there: a batch never splits a transaction.
    let batch = try consumer.next(limit: Int(end.rawValue - position.rawValue))
    if let batch, batch.end <= end { try batch.acknowledge() }
  }

  /// Says of which models changes may not be entered from now on: once for as long as that is so.
  private func sayDamage(told: inout Set<String>) throws {
    let journal = store.changeJournal
    let damaged = Set(journal.damagedModels.filter(selection.includes))
    try context.console.sayDamage(of: damaged.subtracting(told), in: journal)
    told = damaged
  }

  private var onlyModel: String? {
    selection.models.flatMap { $0.count == 1 ? $0[0].name : nil }
  }

  /// Whether the time is over: others may write faster than this reads.
  private func isOver(at position: JournalPosition) -> Bool {
    guard let deadline, !drains || position >= past else { return false }
    return deadline <= ContinuousClock.Instant.now
  }

  /// Why to end in the middle of what was read. Lines are written so fast that the time is looked
  /// at behind them.
  private func reasonToStop(
    at position: JournalPosition, _ output: WatchOutput
  ) -> Bell.Waking? {
    if Interruption.isRequested { return .interrupted }
    return output.hasHandler && !drains && isOver(at: position) ? .timedOut : nil
  }

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
  private func groups(
    of transactions: [JournalTransaction], after start: JournalPosition
  ) throws -> [WatchSelection.Group] {
    for transaction in transactions {
      for gap in transaction.gapWords(of: selection.includes) { try context.console.say(gap) }
    }
    return try knownGroups(of: transactions[...], after: start)
  }

  /// The groups of what can be held against the predicate: where not all can, of what came wholly
  /// behind the last gap.
  private func knownGroups(
    of transactions: ArraySlice<JournalTransaction>, after start: JournalPosition
  ) throws -> [WatchSelection.Group] {
    do {
      return try selection.groups(
        of: Array(transactions), after: start, past: past, in: store)
    } catch let gap as WatchFilter.Gap {
      let end = transactions.lastIndex { $0.gaps.contains(where: selection.includes) }
      let (lost, rest) =
        end.map { (transactions[...$0], transactions[($0 + 1)...]) }
        ?? (transactions, [])
      let first = lost.first?.positions.lowerBound ?? start
      let last = lost.last?.positions.upperBound ?? start
      try context.console.say(
        "gap: what met the predicate from seq \(first) to \(last) is not known: \(gap.reason)")
      return rest.isEmpty ? [] : try knownGroups(of: rest, after: start)
    }
  }
}
