extension ChangeJournal {
  /// The position of the newest entry, whenever there are newer ones, whoever wrote them: what to
  /// wait for to read on.
  ///
  /// ```swift
  /// for try await end in store.changeJournal.growth(after: position) {
  ///   let news = try store.changeJournal.transactions(after: position, through: end)
  ///   position = end
  /// }
  /// ```
  ///
  /// Several commits may come as one; only the newest position counts. One that is smaller than the
  /// one before says that somebody emptied the journal by hand; when it has grown beyond that place
  /// since, only something else stands there. It ends when the task is cancelled, and when the
  /// store closes or is dropped. Unlike a ``Consumer`` it keeps nothing in the file, so it needs no
  /// right to write, and the journal may be trimmed past it.
  ///
  /// The same position again says that ``ChangeJournal/damagedModels`` has grown: what comes next
  /// may not be entered.
  ///
  /// - Parameter position: Where the reader stands: what is there beyond it already comes first.
  public func growth(after position: JournalPosition)
    -> some AsyncSequence<JournalPosition, any Error> & Sendable
  {
    JournalGrowth(
      lease: store.lease, position: position, damagedModels: store.engine.models.damagedJournals)
  }
}

/// The end of a change journal as it moves on: ``ChangeJournal/growth(after:)``.
package struct JournalGrowth: AsyncSequence, Sendable {
  package typealias Element = JournalPosition

  let lease: StoreLease
  let position: JournalPosition
  /// When it began.
  let damagedModels: Set<String>

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      lease: lease, position: position, damagedModels: damagedModels,
      listener: JournalListeners.Listener(lease))
  }

  /// Waits for one growth at a time.
  package struct AsyncIterator: AsyncIteratorProtocol {
    let lease: StoreLease
    var position: JournalPosition
    var damagedModels: Set<String>
    let listener: JournalListeners.Listener

    /// The next other position, waited for, or the same when more models are damaged; nil when the
    /// task was cancelled, or the store closed or dropped.
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
