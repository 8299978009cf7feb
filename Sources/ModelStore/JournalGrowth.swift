extension ChangeJournal {
  /// Returns the position of the newest entry each time that the journal grows, from any writer.
  /// Use it to wait for new entries.
  ///
  /// ```swift
  /// for try await end in store.changeJournal.growth(after: position) {
  ///   let news = try store.changeJournal.transactions(after: position, through: end)
  ///   position = end
  /// }
  /// ```
  ///
  /// Several commits may be reported once, with the newest position. A smaller position than the
  /// previous one means that a program emptied the journal by hand. If the journal has grown past
  /// that position since, this cannot be detected. The sequence ends when the task is cancelled,
  /// and when the store is closed or dropped. Unlike a ``Consumer`` it stores nothing in the file.
  /// So it needs no right to write, and the journal may be trimmed past it.
  ///
  /// The same position again means that ``ChangeJournal/damagedModels`` has grown: later changes
  /// may not be recorded.
  ///
  /// - Parameter position: The position of the reader. If entries exist after it, they are reported
  ///   first.
  public func growth(after position: JournalPosition)
    -> some AsyncSequence<JournalPosition, any Error> & Sendable
  {
    JournalGrowth(
      lease: store.lease, position: position, damagedModels: store.engine.models.damagedJournals)
  }
}

/// The growing end of a change journal: ``ChangeJournal/growth(after:)``.
package struct JournalGrowth: AsyncSequence, Sendable {
  package typealias Element = JournalPosition

  let lease: StoreLease
  let position: JournalPosition
  /// The damaged models when the sequence began.
  let damagedModels: Set<String>

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      lease: lease, position: position, damagedModels: damagedModels,
      listener: JournalListeners.Listener(lease))
  }

  /// An iterator that waits for one growth at a time.
  package struct AsyncIterator: AsyncIteratorProtocol {
    let lease: StoreLease
    var position: JournalPosition
    var damagedModels: Set<String>
    let listener: JournalListeners.Listener

    /// Waits for and returns the next position that differs, or the same position when more models
    /// are damaged. Returns nil when the task was cancelled, or the store was closed or dropped.
    ///
    /// - Throws: ``StoreError`` when the journal cannot be read.
    package mutating func next() async throws -> JournalPosition? {
      let news = try await listener.first {
        let engine = try lease.open
        let end = try await engine.connections.readers.async { connection in
          try ChangeJournal.position(on: connection)
        }
        let damaged = engine.models.damagedJournals
        let isNews = end != position || !damaged.isSubset(of: damagedModels)
        return isNews ? (end: end, damaged: damaged) : nil
      }
      guard let news else { return nil }
      (position, damagedModels) = news
      return position
    }
  }
}
