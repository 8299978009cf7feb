// What the journal keeps.
extension ChangeJournal {
  /// How the journal stands: what is entered, how much is kept, and who reads it.
  ///
  /// - Complexity: Reads every page of the journal, to count its bytes.
  public func status() throws -> JournalStatus {
    let engine = try engine
    return try engine.connections.readers.sync { connection in
      try engine.read(connection) { tx in
        let connection = tx.access.connection
        // The triggers follow the file, also where a model keeps its fields in this process.
        return try JournalStatus(
          reading: connection, models: try engine.schema.filed(on: connection))
      }
    }
  }

  /// The models whose changes are to be entered but may be missing from now on, in name order,
  /// until somebody makes their triggers anew: see ``JournalStatus/drift``.
  ///
  /// As far as this store has heard: it looks when it opens, when it writes, and after each commit
  /// of others while somebody observes or waits for ``growth(after:)``. ``status()`` looks at the
  /// file.
  public var damagedModels: [String] { store.engine.models.damagedJournals.sorted() }

  /// Removes the oldest entries that `retention` does not keep, in steps of about 1,000 that are
  /// each a short transaction of their own; other writers get their turn in between.
  ///
  /// Whole transactions of stores go, however large, and the newest one stays. The file does not
  /// shrink: what is entered next takes the place. On a full disk the steps are smaller.
  ///
  /// - Parameter mode: Whether nothing is removed: it tells what would be.
  /// - Returns: What went and what is kept. Where other programs write meanwhile, as of the end.
  /// - Throws: ``StoreError``. Steps before it stand; then the message says how many entries they
  ///   removed.
  /// - Complexity: O(what is removed). With an age also O(entries of other programs behind that).
  @discardableResult
  public func trim(
    _ retention: JournalRetention, mode: WriteMode = .commit
  ) throws -> JournalTrimming {
    let now = WritingProgram.now
    guard mode == .commit else {
      return JournalTrimming(
        try engine.connections.readers.sync { connection in
          try engine.read(connection) { tx in
            let connection = tx.access.connection
            guard try JournalLayouts(reading: connection) != nil else {
              return JournalTrimmer.Step()
            }
            return try JournalTrimmer(connection: connection, retention: retention, now: now)
              .preview()
          }
        })
    }
    var trimming = JournalTrimming(removedCount: 0)
    var stepRowCount = JournalTrimmer.stepRowCount
    while true {
      let step: JournalTrimmer.Step
      do {
        step = try engine.maintenance.makingSpace { connection in
          guard try JournalLayouts(reading: connection) != nil else { return JournalTrimmer.Step() }
          let trimmer = JournalTrimmer(
            connection: connection, retention: retention, now: now, stepRowCount: stepRowCount)
          return try trimmer.step()
        }
      } catch let error as StoreError {
        // A smaller step needs less room in the log.
        if error.code == .outOfSpace, stepRowCount > 1 {
          stepRowCount = max(1, stepRowCount / 4)
          continue
        }
        guard trimming.removedCount > 0 else { throw error }
        throw error.following(
          "\(trimming.removedCount) entries of the change journal were removed; removing more failed"
        )
      }
      let sum = trimming.removedCount
      trimming = JournalTrimming(step)
      trimming.removedCount += sum
      if step.removedCount == 0 { return trimming }
    }
  }
}

extension JournalTrimming {
  fileprivate init(_ step: JournalTrimmer.Step) {
    self.init(
      removedCount: Int(step.removedCount),
      kept: step.kept.map {
        JournalPosition(rawValue: $0.lowerBound)...JournalPosition(rawValue: $0.upperBound)
      }, heldBackBy: step.heldBackBy)
  }
}
