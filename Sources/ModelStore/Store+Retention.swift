// How much the journal keeps.
extension ChangeJournal {
  /// Returns the status of the journal: what is recorded, how much is kept, and who reads it.
  ///
  /// - Complexity: Reads every page of the journal, to count its bytes.
  public func status() throws -> JournalStatus {
    let engine = try engine
    return try engine.connections.readers.sync { connection in
      try engine.read(connection) { tx in
        let connection = tx.access.connection
        // The triggers match the file's models, even if this process keeps an older form of a
        // model.
        return try JournalStatus(
          reading: connection, models: try engine.schema.filed(on: connection))
      }
    }
  }

  /// The models whose later changes may be missing from the journal, in name order, until their
  /// triggers are recreated: see ``JournalStatus/drift``.
  ///
  /// This is what the store knows so far. It checks when it opens and when it writes. While
  /// something is observed or ``growth(after:)`` is in use, it also checks after each commit of
  /// others. ``status()`` checks the file.
  public var damagedModels: [String] { store.engine.models.damagedJournals.sorted() }

  /// Removes the oldest entries that `retention` does not keep. It works in steps of about 1,000
  /// entries, each in a short transaction, and other writers get their turn in between.
  ///
  /// It removes whole transactions of stores, even large ones, and keeps the newest. The file does
  /// not shrink: later entries reuse the space. On a full disk the steps are smaller.
  ///
  /// - Parameter mode: ``WriteMode/preview`` removes nothing and returns what would be removed.
  /// - Returns: What was removed and what is kept. If other programs write meanwhile, as of the
  ///   end.
  /// - Throws: ``StoreError``. Earlier steps remain committed; the message then states how many
  ///   entries they removed.
  /// - Complexity: O(removed entries). With an age also O(later entries of other programs).
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
