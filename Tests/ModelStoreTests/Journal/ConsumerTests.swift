import Testing

@testable import ModelStore

/// Durable readers: what they receive, where they continue, and what acknowledging does.
@Suite(.tags(.unit)) struct ConsumerTests {
  static let tables = """
    CREATE TABLE Item (id INTEGER PRIMARY KEY, n);
    CREATE TABLE Sum (id INTEGER PRIMARY KEY, total INTEGER NOT NULL);
    INSERT INTO Sum VALUES (1, 0);
    """

  /// A store that records changes of items, and not of sums.
  private static func world() throws -> JournalWorld {
    let world = try JournalWorld(tables, detail: nil)
    try world.store.changeJournal.enable(for: ["Item"])
    return world
  }

  private static func insert(_ ids: ClosedRange<Int>, in store: Store) throws {
    try store.write { tx in
      for id in ids { try tx.execute("INSERT INTO Item VALUES (\(id), \(id))") }
    }
  }

  private static func keys(_ batch: ConsumerBatch?) -> [SQLValue] {
    batch?.changes.map { $0.key[0] } ?? []
  }

  @Test func aNewConsumerStartsAtTheEndAndContinuesAfterItsAcknowledgement() throws {
    let world = try Self.world()
    try Self.insert(1...2, in: world.store)
    let consumer = try world.store.consumer("index")
    #expect(try consumer.next() == nil)
    try Self.insert(3...4, in: world.store)
    try world.other.execute("INSERT INTO Item VALUES (5, 5)")
    let batch = try consumer.next()
    #expect(Self.keys(batch) == [.integer(3), .integer(4), .integer(5)])
    #expect(batch?.transactions.map(\.isForeign) == [false, true])
    #expect(batch?.reset == nil)
    // Not acknowledged, so it comes again: to another program too.
    let twin = try world.store.consumer("index", startingAt: .start)
    #expect(Self.keys(try twin.next()) == Self.keys(batch))
    try batch?.acknowledge()
    #expect(try consumer.next() == nil)
    #expect(try twin.next() == nil)
    #expect(try consumer.status().lag == 0)
  }

  @Test func batchesAreWholeTransactionsUpToTheLimit() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    for ids in [1...2, 3...3, 4...9, 10...10] { try Self.insert(ids, in: world.store) }
    var sizes: [[Int]] = []
    while let batch = try consumer.next(limit: 5) {
      sizes.append(batch.transactions.map(\.changes.count))
      try batch.acknowledge()
    }
    #expect(sizes == [[2, 1], [6], [1]])
    try world.other.execute("DELETE FROM Item")
    sizes = []
    while let batch = try consumer.next(limit: 4) {
      sizes.append(batch.transactions.map(\.changes.count))
      try batch.acknowledge()
    }
    #expect(sizes == [[4], [4], [2]])
  }

  /// Positions with holes, as trimming by hand and rolled back transactions leave them.
  @Test func partOfABatchCanBeAcknowledged() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    for ids in [1...2, 3...30, 31...33, 34...35] { try Self.insert(ids, in: world.store) }
    try world.other.execute("INSERT INTO Item VALUES (36, 36), (37, 37)")
    let all = try #require(try consumer.next()).transactions.map(\.positions)
    try world.other.execute(
      """
      DELETE FROM _ms_journal
      WHERE position BETWEEN \(all[1].lowerBound) AND \(all[1].upperBound)
      """)
    let batch = try #require(try consumer.next())
    let places = batch.transactions.map(\.positions)
    #expect(batch.transactions.map(\.changes.count) == [2, 3, 2, 2])
    /// What comes after acknowledging through `position`.
    func rest(_ position: JournalPosition) throws -> [SQLValue] {
      try batch.acknowledge(through: position)
      return Self.keys(try consumer.next())
    }
    let ids = ([31, 32, 33, 34, 35, 36, 37] as [Int64]).map { SQLValue.integer($0) }
    #expect(try rest(places[0].upperBound) == ids)
    // Not a part of a transaction, and not back.
    #expect(try rest(places[1].lowerBound) == ids)
    #expect(try rest(.start) == ids)
    #expect(try rest(places[1].upperBound) == Array(ids[3...]))
    // What other programs did has no transactions that could be split.
    #expect(try rest(places[3].lowerBound) == Array(ids[6...]))
    #expect(try rest(JournalPosition(rawValue: batch.end.rawValue + 1000)) == [])
    #expect(try consumer.status().position == batch.end)
    // The next entries are not acknowledged with it.
    try Self.insert(40...40, in: world.store)
    #expect(try rest(batch.end) == [.integer(40)])
  }

  /// Its own acknowledgement is a commit too, of which the journal holds nothing but that it was.
  @Test func aConsumerThatAcknowledgesInItsOwnTransactionHasCaughtUp() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    try Self.insert(1...3, in: world.store)
    #expect(try consumer.lag > 0)
    let batch = try #require(try consumer.next())
    try world.store.write { tx in
      try tx.execute("UPDATE Sum SET id = id + 1")
      try tx.acknowledge(batch)
    }
    #expect(try consumer.next() == nil)
    #expect(try consumer.lag == 0)
    #expect(try world.store.consumers().map(\.lag) == [0])
    #expect(try world.store.changeJournal.status().consumers.map(\.lag) == [0])
    try Self.insert(4...4, in: world.store)
    #expect(try consumer.lag > 0)
  }

  @Test func aConsumerAdvancesPastUnrelatedChanges() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    let start = try consumer.status().position
    for count in [900, 100] {
      #expect(try consumer.next() == nil)
      #expect(try consumer.lag == 0)
      for _ in 0..<count { try world.store.write { tx in try tx.execute("UPDATE Sum SET id = 1") } }
    }
    #expect(try consumer.status().position == start)
    // Nothing has to be written, so this does not wait for another program's write.
    try world.other.execute("BEGIN IMMEDIATE")
    #expect(try consumer.next() == nil)
    #expect(try consumer.status().position == start)
    try world.other.execute("COMMIT")
    #expect(try consumer.next() == nil)
    #expect(try consumer.status().position == world.store.changeJournal.position())
    #expect(try consumer.status().acknowledgementTime == nil)
    #expect(world.errors.events == [])
    try Self.insert(1...1, in: world.store)
    #expect(Self.keys(try consumer.next()) == [.integer(1)])
  }

  @Test func aConsumerThatIsAdvancedPastUnrelatedChangesKeepsItsBatch() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    for _ in 0..<3 { try world.store.write { tx in try tx.execute("UPDATE Sum SET id = 1") } }
    try Self.insert(1...2, in: world.store)
    let batch = try #require(try consumer.next())
    /// The action of another process that read the cursor at an earlier time.
    func pass(_ count: Int64) throws -> Bool {
      try world.store.engine.maintenance.transaction { connection in
        let consumers = JournalConsumers(connection: connection)
        let cursor = try #require(try consumers.cursor(of: "index"))
        return try consumers.acknowledge(
          "index", through: cursor.position + count, from: cursor.position...cursor.position,
          epoch: cursor.epoch, time: nil)
      }
    }
    #expect(try pass(2))
    try world.store.write { tx in try tx.acknowledge(batch) }
    #expect(try consumer.next() == nil)
    // A cursor inside the batch means that another process worked on the same changes.
    try Self.insert(3...4, in: world.store)
    let next = try #require(try consumer.next())
    #expect(try pass(1))
    #expect(failure { try world.store.write { tx in try tx.acknowledge(next) } }?.code == .conflict)
  }

  @Test func anEmptiedJournalIsAGapForAConsumerBeyondItsEnd() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    try Self.insert(1...5, in: world.store)
    try #require(try consumer.next()).acknowledge()
    let place = try consumer.status().position
    try world.other.execute("DELETE FROM _ms_journal; INSERT INTO Item VALUES (70, 0), (71, 0)")
    #expect(try consumer.lag == 2)
    #expect(try world.store.consumers().map(\.lag) == [2])
    let batch = try #require(try consumer.next())
    #expect(batch.reset == .trimmed)
    #expect(Self.keys(batch) == [.integer(70), .integer(71)])
    #expect(batch.end < place)
    try batch.acknowledge()
    try batch.acknowledge()
    #expect(try consumer.status().position == batch.end)
    #expect(try consumer.next() == nil)
    try Self.insert(6...6, in: world.store)
    let next = try #require(try consumer.next())
    #expect(next.reset == nil)
    #expect(Self.keys(next) == [.integer(6)])
    // An empty journal reports the gap too, and the gap is acknowledged with the work that it
    // requires.
    try world.other.execute("DELETE FROM _ms_journal")
    #expect(try consumer.lag == 0)
    let empty = try #require(try consumer.next())
    #expect(empty.reset == .trimmed)
    #expect(empty.transactions == [])
    try world.store.write { tx in try tx.acknowledge(empty) }
    #expect(try consumer.next() == nil)
    #expect(try consumer.status().position == .start)
  }

  @Test func acknowledgementsOnlyMoveForward() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    try Self.insert(1...1, in: world.store)
    let first = try #require(try consumer.next())
    try Self.insert(2...2, in: world.store)
    let both = try #require(try consumer.next())
    try both.acknowledge()
    let status = try consumer.status()
    try first.acknowledge()
    try both.acknowledge()
    #expect(try consumer.status() == status)
    #expect(try consumer.next() == nil)
    // Put back by hand: what was read before cannot be acknowledged any more.
    try world.store.resetConsumer("index", to: .position(first.end))
    try both.acknowledge()
    #expect(Self.keys(try consumer.next()) == [.integer(2)])
    try world.store.resetConsumer("index", to: .start)
    #expect(Self.keys(try consumer.next()) == [.integer(1), .integer(2)])
    try world.store.resetConsumer("index", to: .end)
    #expect(try consumer.next() == nil)
  }

  @Test func workAndAcknowledgementAreOneTransaction() throws {
    let world = try Self.world()
    let store = world.store
    let consumer = try store.consumer("sum")
    try Self.insert(1...3, in: store)
    let batch = try #require(try consumer.next())
    func add(_ batch: ConsumerBatch, _ tx: borrowing WriteTransaction) throws {
      for case .integer(let number) in batch.changes.map({ $0.key[0] }) {
        try tx.execute("UPDATE Sum SET total = total + \(number)")
      }
      try tx.acknowledge(batch)
    }
    func total() throws -> [[SQLValue]] { try world.other.rows("SELECT total FROM Sum") }
    #expect(throws: StoreError.self) {
      try store.write { tx in
        try add(batch, tx)
        throw StoreError(.rejected, "Given up.")
      }
    }
    #expect(try total() == [[.integer(0)]])
    #expect(try consumer.next()?.end == batch.end)
    try store.write { tx in try add(batch, tx) }
    #expect(try total() == [[.integer(6)]])
    // Once more, as another process with the same batch would.
    #expect(failure { try store.write { tx in try add(batch, tx) } }?.code == .conflict)
    #expect(try total() == [[.integer(6)]])
    // Its own transaction recorded nothing that concerns this consumer.
    #expect(try consumer.next() == nil)
    let other = try Self.world()
    #expect(failure { try other.store.write { tx in try tx.acknowledge(batch) } }?.code == .misuse)
    #expect(failure { try store.write { _ in try batch.acknowledge() } }?.code == .misuse)
  }

  @Test func anAcknowledgementAloneIsNotSigned() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    try Self.insert(1...1, in: world.store)
    let position = try world.store.changeJournal.position()
    let batch = try #require(try consumer.next())
    try world.store.write { tx in try tx.acknowledge(batch) }
    #expect(try world.store.changeJournal.position() == position)
    #expect(try consumer.status().position == position)
  }

  @Test func aGapReportsWhatATrimmedConsumerMissed() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    for id in 1...5 { try Self.insert(id...id, in: world.store) }
    try world.store.changeJournal.trim(
      JournalRetention(maxEntryCount: 4, respectingConsumers: false))
    let batch = try #require(try consumer.next())
    #expect(batch.reset == .trimmed)
    #expect(Self.keys(batch) == [.integer(4), .integer(5)])
    try batch.acknowledge()
    try Self.insert(6...6, in: world.store)
    #expect(try consumer.next()?.reset == nil)
  }

  @Test func aJournalThatWasOffIsReportedAsAGap() throws {
    let world = try Self.world()
    let consumer = try world.store.consumer("index")
    try world.store.changeJournal.disable()
    try Self.insert(1...1, in: world.store)
    try world.store.changeJournal.enable(for: ["Item"])
    try Self.insert(2...2, in: world.store)
    let batch = try #require(try consumer.next())
    #expect(batch.reset == .gap(models: ["Item"]))
    #expect(Self.keys(batch) == [.integer(2)])
  }

  @Test func consumersAreListedAndDropped() throws {
    let world = try Self.world()
    let end = try world.store.changeJournal.position().rawValue
    let consumer = try world.store.consumer("b", startingAt: .start)
    _ = try world.store.consumer("a")
    try Self.insert(1...2, in: world.store)
    let listed = try world.store.consumers()
    #expect(listed.map(\.name) == ["a", "b"])
    #expect(listed.map(\.lag) == [3, 3 + end])
    #expect(listed.map(\.acknowledgementTime) == [nil, nil])
    let batch = try #require(try consumer.next())
    try batch.acknowledge()
    #expect(try consumer.status().acknowledgementTime != nil)
    try world.store.dropConsumer("b")
    #expect(try world.store.consumers().map(\.name) == ["a"])
    for attempt in [
      failure { try consumer.next() }, failure { try batch.acknowledge() },
      failure { try world.store.write { tx in try tx.acknowledge(batch) } },
      failure { try world.store.dropConsumer("b") },
      failure { try world.store.resetConsumer("b", to: .end) },
    ] { #expect(attempt?.code == .unknownConsumer) }
    // A new one of the same name is another one.
    _ = try world.store.consumer("b", startingAt: .start)
    try batch.acknowledge()
    #expect(
      try world.store.consumers().map(\.position) == [JournalPosition(rawValue: end), .start])
  }

  @Test func aStoreOpenedForReadingHasTheConsumersOfTheFile() throws {
    let world = try Self.world()
    _ = try world.store.consumer("index")
    try Self.insert(1...1, in: world.store)
    world.store.close()
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    let store = try Store(at: world.directory.file("journal.store"), configuration: configuration)
    let batch = try #require(try store.consumer("index").next())
    #expect(Self.keys(batch) == [.integer(1)])
    #expect(failure { try batch.acknowledge() }?.code == .readOnly)
    #expect(failure { try store.consumer("new") }?.code == .readOnly)
  }

  @Test func aFileThatNoStoreHasWrittenToGetsItsFirstConsumer() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("empty.store"))
    #expect(try store.consumers().isEmpty)
    #expect(try store.changeJournal.status() == JournalStatus())
    #expect(failure { try store.dropConsumer("x") }?.code == .unknownConsumer)
    #expect(try store.consumer("index").next() == nil)
    #expect(try store.consumers().map(\.name) == ["index"])
  }
}

/// Waiting for batches: woken by commits, ended by cancellation and by closing.
@Suite(.tags(.unit)) struct ConsumerWaitingTests {
  private static func world() throws -> JournalWorld { try JournalWorld(ConsumerTests.tables) }

  /// Runs a consumer as a program would, and reports the keys it was given.
  private static func follow(_ consumer: Consumer, limit: Int = 10) -> (
    Task<Void, any Error>, AsyncStream<[SQLValue]>
  ) {
    let (stream, continuation) = AsyncStream.makeStream(of: [SQLValue].self)
    let task = Task {
      defer { continuation.finish() }
      for try await batch in consumer.batches(of: limit) {
        try await batch.acknowledge()
        continuation.yield(batch.changes.map { $0.key[0] })
      }
    }
    return (task, stream)
  }

  @Test(.timeLimit(.minutes(30))) func ownAndForeignCommitsWakeAConsumer() async throws {
    let world = try Self.world()
    let consumer = try await world.store.consumer("index")
    let (task, stream) = Self.follow(consumer)
    var batches = stream.makeAsyncIterator()
    for id in 1...20 {
      if id % 3 == 0 {
        try world.other.execute("INSERT INTO Item VALUES (\(id), 0)")
        try await world.store.refresh()
      } else {
        try await world.store.write { tx in
          try tx.execute("INSERT INTO Item VALUES (\(id), 0)")
        }
      }
      #expect(await batches.next() == [.integer(Int64(id))])
    }
    task.cancel()
    try await task.value
    #expect(await batches.next() == nil)
    #expect(world.store.engine.journalListeners.waitingCount == 0)
    while !world.store.engine.journalListeners.isEmpty { await Task.yield() }
    #expect(try await consumer.status().lag == 0)
  }

  @Test(.timeLimit(.minutes(30))) func theGrowthOfTheJournalIsItsNewestPosition() async throws {
    let world = try Self.world()
    let journal = world.store.changeJournal
    let start = try await journal.position().rawValue
    var growth = journal.growth(after: .start).makeAsyncIterator()
    #expect(try await growth.next()?.rawValue == start)
    try await world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (1, 0)") }
    #expect(try await growth.next()?.rawValue == start + 2)
    try world.other.execute("INSERT INTO Item VALUES (2, 0)")
    try await world.store.refresh()
    #expect(try await growth.next()?.rawValue == start + 3)
    try world.other.execute("DELETE FROM _ms_journal; INSERT INTO Item VALUES (3, 0)")
    #expect(try await growth.next()?.rawValue == 1)
    await world.store.close()
    #expect(try await growth.next()?.rawValue == nil)
  }

  @Test(.timeLimit(.minutes(30))) func damagedTriggersAreReportedToWaitingConsumers() async throws {
    let world = try Self.world()
    let journal = world.store.changeJournal
    let start = try await journal.position()
    var growth = journal.growth(after: start).makeAsyncIterator()
    #expect(journal.damagedModels == [])
    try world.other.execute("DROP TRIGGER _ms_journal_Item_update")
    try await world.store.refresh()
    #expect(try await growth.next() == start)
    #expect(journal.damagedModels == ["Item"])
    try await journal.enable(for: ["Item"])
    #expect(try await growth.next() == JournalPosition(rawValue: start.rawValue + 1))
    #expect(journal.damagedModels == [])
  }

  @Test(.timeLimit(.minutes(30))) func closingEndsEveryConsumer() async throws {
    let world = try Self.world()
    let listeners = world.store.engine.journalListeners
    let tasks = try ["a", "b", "c"].map { Self.follow(try world.store.consumer($0)).0 }
    while listeners.waitingCount < 3 { await Task.yield() }
    await world.store.close()
    for task in tasks { try await task.value }
    #expect(listeners.waitingCount == 0)
    while !listeners.isEmpty { await Task.yield() }
  }

  @Test(.timeLimit(.minutes(30))) func cancellationNeverLeavesAContinuation() async throws {
    let listeners = JournalListeners()
    let audience = Recorder<Bool>()
    listeners.onAudienceChange { audience.add(listeners.isEmpty) }
    for round in 0..<2000 {
      await Self.waitOnce(listeners, round)
      #expect(listeners.waitingCount == 0)
      // A task's closure is released a little after the task has ended.
      while !listeners.isEmpty { await Task.yield() }
    }
    #expect(audience.events.count == 4000)
    #expect(audience.events.first == false && audience.events.last == true)
  }

  private static func waitOnce(_ listeners: JournalListeners, _ round: Int) async {
    let listener = JournalListeners.Listener(listeners)
    let count = listener.ringCount
    let task = Task { await listener.wait(beyond: count) }
    if round % 3 == 0 { await Task.yield() }
    if round % 2 == 0 { task.cancel() } else { listeners.ring() }
    await task.value
  }

  @Test(.timeLimit(.minutes(30))) func waitingAfterTheEndReturnsAtOnce() async throws {
    let listeners = JournalListeners()
    let listener = JournalListeners.Listener(listeners)
    let count = listener.ringCount
    listeners.ring()
    await listener.wait(beyond: count)
    listeners.end()
    await listener.wait(beyond: listener.ringCount)
    #expect(listener.hasEnded)
  }

  @Test(.timeLimit(.minutes(30))) func aConsumerDroppedWhileItWaitsIsNotified() async throws {
    let world = try Self.world()
    let (task, _) = await Self.follow(try world.store.consumer("index"))
    while world.store.engine.journalListeners.waitingCount < 1 { await Task.yield() }
    try await world.store.dropConsumer("index")
    await #expect(throws: StoreError.self) { try await task.value }
  }
}
