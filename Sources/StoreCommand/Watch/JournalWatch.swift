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
    var damaged: Set<String> = []
    let follower = ringing(after: start)
    defer { follower.cancel() }
    var place = try Place(at: start, since: start, in: store.changeJournal)
    while !output.isFull {
      if Interruption.isRequested { return .interrupted }
      try store.checkUnchanged(selection.models ?? [])
      try writeDamage(told: &damaged, to: &output)
      if output.isFull { break }
      let end = try store.changeJournal.position()
      guard try end >= place.position && place.anchor.holds(in: store.changeJournal) else {
        past = end
        try writeEmptied(&place, to: &output)
        continue
      }
      guard place.position < end else {
        switch try bell.wait(until: deadline) {
        case .rung: continue
        case let waking: return waking
        }
      }
      do {
        if let waking = try writePage(from: &place, through: end, to: &output) { return waking }
      } catch let error as StoreError where error.code == .journalTrimmed {
        try writeTrimmed(&place, to: &output)
      }
    }
    return nil
  }

  /// How far a watch has come.
  private struct Place {
    var position: JournalPosition
    /// What a transaction did up to there is left out.
    let start: JournalPosition
    var anchor: JournalAnchor

    init(
      at position: JournalPosition, since start: JournalPosition, in journal: ChangeJournal
    ) throws {
      self.position = position
      self.start = start
      anchor = try JournalAnchor(at: position, in: journal)
    }
  }

  /// Writes the entries behind `place` that are read at once, and moves it there.
  ///
  /// - Returns: Why to end; nil to go on.
  private func writePage(
    from place: inout Place, through end: JournalPosition, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let journal = store.changeJournal
    let last = try journal.place(ofEntry: pageSize, after: place.position, through: end)
    let transactions = try journal.transactions(
      after: place.position, through: last, matching: JournalFilter(model: onlyModel))
    // What other programs did may end a few rows behind: an entry is told as a whole.
    let reached = max(last, transactions.last?.positions.upperBound ?? last)
    let next = try JournalAnchor(at: reached, in: journal)
    guard try place.anchor.holds(in: journal) else { return nil }
    for group in try groups(of: transactions, after: place.start) where !output.isFull {
      if let waking = reasonToStop(at: place.position, output) { return waking }
      try output.write(group.gaps)
      if output.isFull { break }
      try output.write(group.changes)
    }
    try output.flush()
    (place.position, place.anchor) = (reached, next)
    return isOver(at: place.position) && !output.isFull ? .timedOut : nil
  }

  /// Writes that the journal was emptied, and begins again with what is in it now.
  private func writeEmptied(_ place: inout Place, to output: inout WatchOutput) throws {
    let oldest = try store.changeJournal.oldestPlace()
    try output.write([
      StreamGap(
        reason: .emptied, side: .before, position: oldest, start: place.position,
        words: "somebody emptied the journal; what is in it now follows")
    ])
    try output.flush()
    place = try Place(at: oldest, since: oldest, in: store.changeJournal)
  }

  /// Writes that entries behind `place` were removed, and moves it behind them.
  private func writeTrimmed(_ place: inout Place, to output: inout WatchOutput) throws {
    let oldest = try store.changeJournal.oldestPlace()
    try output.write([.trimmed(from: place.position, to: oldest)])
    try output.flush()
    place = try Place(at: oldest, since: place.start, in: store.changeJournal)
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
      try store.checkUnchanged(selection.models ?? [])
      try writeDamage(told: &damaged, to: &output)
      if output.isFull { break }
      guard let batch = try consumer.next(limit: pageSize) else {
        switch try bell.wait(until: deadline) {
        case .rung: continue
        case let waking: return waking
        }
      }
      if batch.reset == .trimmed {
        let first = batch.transactions.first?.positions.lowerBound ?? batch.end
        try output.write([
          StreamGap(
            reason: .trimmed, side: .before, position: first,
            start: try consumer.status().position,
            words: "entries that were not acknowledged are trimmed")
        ])
        guard !output.isCut, !output.isFull else {
          return Interruption.isRequested ? .interrupted : nil
        }
        // Somebody may have emptied the journal.
        past = min(past, try store.changeJournal.position())
      }
      if let waking = try handOn(batch, to: &output) { return waking }
      if isOver(at: batch.end), !output.isFull { return .timedOut }
    }
    return nil
  }

  /// Writes a batch and acknowledges what of it is handed on.
  private func handOn(
    _ batch: ConsumerBatch, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    var done: JournalPosition?
    for group in try groups(of: batch.transactions, after: .start) where !group.isEmpty {
      let waking = reasonToStop(at: group.end, output)
      guard waking == nil, !output.isFull else {
        try output.flush()
        if let done { try batch.acknowledge(through: done) }
        return waking
      }
      try output.write(group.gaps)
      if !output.isFull { try output.write(group.changes) }
      // What was cut off comes again.
      guard !output.isCut else {
        try output.flush()
        if let done { try batch.acknowledge(through: done) }
        return Interruption.isRequested ? .interrupted : nil
      }
      if output.isStepwise {
        try output.flush()
        try batch.acknowledge(through: group.end)
      }
      done = group.end
    }
    try output.flush()
    try batch.acknowledge()
    return nil
  }

  /// Reports of which models changes may not be recorded from now on: once for as long as that is
  /// so.
  private func writeDamage(told: inout Set<String>, to output: inout WatchOutput) throws {
    let journal = store.changeJournal
    let damaged = Set(journal.damagedModels.filter(selection.includes))
    let gaps = try journal.damageGaps(of: damaged.subtracting(told))
    told = damaged
    guard !gaps.isEmpty else { return }
    try output.write(gaps)
    try output.flush()
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

  /// Where all models are watched, each change is written as its model is now.
  ///
  /// - Parameter start: What a transaction did up to there is left out.
  /// - Throws: ``CommandError`` when another program has changed a model that was named.
  private func groups(
    of transactions: [JournalTransaction], after start: JournalPosition
  ) throws -> [WatchSelection.Group] {
    try store.checkUnchanged(selection.models ?? [])
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
      let unknown = WatchSelection.Group(
        end: JournalPosition(rawValue: first.rawValue - 1),
        gaps: lost.flatMap { $0.streamGaps(after: start, of: selection.includes) } + [
          StreamGap(
            reason: .predicate, side: .before, position: last, start: first,
            models: selection.models?.map(\.name),
            words:
              "what met the predicate from position \(first) to \(last) is not known: \(gap.reason)"
          )
        ])
      return try [unknown] + (rest.isEmpty ? [] : knownGroups(of: rest, after: start))
    }
  }
}
