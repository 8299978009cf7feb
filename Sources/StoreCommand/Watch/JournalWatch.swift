import ModelStore

/// Follows the change journal: every change of every program, and who made it.
///
/// It reads the next part of the journal after it wrote the part before, so a slow reader costs no
/// memory.
struct JournalWatch {
  let store: Store
  /// Up to this position, entries of programs without ModelStore have an unknown time.
  private(set) var past: JournalPosition
  let selection: WatchSelection
  let bell: Bell
  let deadline: ContinuousClock.Instant?
  /// Whether all changes up to ``past`` are written, even after the timeout.
  let drains: Bool
  let context: CommandContext

  /// The number of entries read at once. A predicate needs more, because each read also reads later
  /// changes.
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
      try writeDamage(reported: &damaged, to: &output)
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

  /// The position of a watch.
  private struct Place {
    var position: JournalPosition
    /// A transaction's changes up to this position are left out.
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

  /// Reads and writes the next entries after `place`, and moves it to their end.
  ///
  /// - Returns: Why to end; nil to go on.
  private func writePage(
    from place: inout Place, through end: JournalPosition, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let journal = store.changeJournal
    let last = try journal.place(ofEntry: pageSize, after: place.position, through: end)
    let transactions = try journal.transactions(
      after: place.position, through: last, matching: JournalFilter(model: onlyModel))
    // An entry of another program may end a few rows later; it is written as a whole.
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

  /// Writes a gap for an emptied journal, and begins again with its present entries.
  private func writeEmptied(_ place: inout Place, to output: inout WatchOutput) throws {
    let oldest = try store.changeJournal.oldestPlace()
    try output.write([
      StreamGap(
        reason: .emptied, side: .before, position: oldest, start: place.position,
        words: "another program emptied the journal; its present entries follow")
    ])
    try output.flush()
    place = try Place(at: oldest, since: oldest, in: store.changeJournal)
  }

  /// Writes a gap for removed entries after `place`, and moves it past them.
  private func writeTrimmed(_ place: inout Place, to output: inout WatchOutput) throws {
    let oldest = try store.changeJournal.oldestPlace()
    try output.write([.trimmed(from: place.position, to: oldest)])
    try output.flush()
    place = try Place(at: oldest, since: place.start, in: store.changeJournal)
  }

  /// Writes what the consumer has not acknowledged yet, and acknowledges what is written.
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
      try writeDamage(reported: &damaged, to: &output)
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
        // Another program may have emptied the journal.
        past = min(past, try store.changeJournal.position())
      }
      if let waking = try handOn(batch, to: &output) { return waking }
      if isOver(at: batch.end), !output.isFull { return .timedOut }
    }
    return nil
  }

  /// Writes a batch and acknowledges the part that is written.
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
      // The rest comes again in the next batch.
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

  /// Reports models whose changes may not be recorded from now on, once until that ends.
  private func writeDamage(reported: inout Set<String>, to output: inout WatchOutput) throws {
    let journal = store.changeJournal
    let damaged = Set(journal.damagedModels.filter(selection.includes))
    let gaps = try journal.damageGaps(of: damaged.subtracting(reported))
    reported = damaged
    guard !gaps.isEmpty else { return }
    try output.write(gaps)
    try output.flush()
  }

  private var onlyModel: String? {
    selection.models.flatMap { $0.count == 1 ? $0[0].name : nil }
  }

  /// Whether the timeout has passed; other programs may write faster than this reads.
  private func isOver(at position: JournalPosition) -> Bool {
    guard let deadline, !drains || position >= past else { return false }
    return deadline <= ContinuousClock.Instant.now
  }

  /// Why to end within a batch. Writing lines is fast, so the time is checked after them.
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

  /// If all models are watched, each change is written with its model's present definition.
  ///
  /// - Parameter start: A transaction's changes up to this position are left out.
  /// - Throws: ``CommandError`` if another program has changed a named model.
  private func groups(
    of transactions: [JournalTransaction], after start: JournalPosition
  ) throws -> [WatchSelection.Group] {
    try store.checkUnchanged(selection.models ?? [])
    return try knownGroups(of: transactions[...], after: start)
  }

  /// The groups whose changes can be compared with the predicate. If some cannot, only the groups
  /// after the last gap.
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
              "which records met the predicate from position \(first) to \(last) is not known: \(gap.reason)"
          )
        ])
      return try [unknown] + (rest.isEmpty ? [] : knownGroups(of: rest, after: start))
    }
  }
}
