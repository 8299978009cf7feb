import Testing

@testable import ModelStore

/// What a journal keeps: by count, size, age and the slowest consumer, in steps.
@Suite(.tags(.unit)) struct RetentionTests {
  private static let tables = "CREATE TABLE Item (id INTEGER PRIMARY KEY, n);"

  private static func insert(_ count: Int, in world: JournalWorld) throws {
    try world.store.write { tx in
      try tx.execute(
        """
        WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO Item SELECT NULL, i FROM n
        """)
    }
  }

  /// The sizes of the transactions that are left; sizes of foreign transactions are negative.
  private static func sizes(_ world: JournalWorld) throws -> [Int] {
    try world.store.engine.connections.readers.sync { connection in
      let history = try #require(try JournalHistory(reading: connection))
      var sizes: [Int] = []
      try history.forEach(after: 0, through: .max) {
        sizes.append($0.mark == nil ? -$0.positions.count : $0.positions.count)
        return true
      }
      return sizes
    }
  }

  @Test func wholeTransactionsAreTrimmedAndTheNewestIsKept() throws {
    let world = try JournalWorld(Self.tables)
    for count in [1, 2, 3, 4] { try Self.insert(count, in: world) }
    let journal = world.store.changeJournal
    let end = try journal.position()
    #expect(try Self.sizes(world) == [-1, 2, 3, 4, 5])
    #expect(try journal.trim(JournalRetention()).removedCount == 0)
    let preview = try journal.trim(JournalRetention(maxEntryCount: 7), mode: .preview)
    #expect(try Self.sizes(world) == [-1, 2, 3, 4, 5])
    var trimming = try journal.trim(JournalRetention(maxEntryCount: 7))
    #expect(preview == trimming)
    #expect(try Self.sizes(world) == [4, 5])
    #expect(trimming.removedCount == 6)
    #expect(trimming.kept == JournalPosition(rawValue: 7)...end)
    #expect(trimming.heldBackBy == nil)
    trimming = try journal.trim(JournalRetention(maxEntryCount: 0))
    #expect(try Self.sizes(world) == [5])
    #expect(trimming.removedCount == 4)
    #expect(try journal.trim(JournalRetention(maxEntryCount: 0)).removedCount == 0)
    try Self.insert(1, in: world)
    #expect(try journal.position().rawValue == end.rawValue + 2)
    #expect(try Self.sizes(world) == [5, 2])
  }

  @Test func aStepIsShortUnlessATransactionIsLarge() throws {
    let world = try JournalWorld(Self.tables)
    for count in [300, 300, 300, 300, 2500, 300] { try Self.insert(count, in: world) }
    try world.other.execute(
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
      INSERT INTO Item SELECT NULL, i FROM n
      """)
    try Self.insert(1, in: world)
    var steps: [Int64] = []
    while true {
      let step = try world.store.engine.maintenance.transaction { connection in
        let trimmer = JournalTrimmer(
          connection: connection, retention: JournalRetention(maxEntryCount: 0), now: 0)
        return try trimmer.step()
      }
      if step.removedCount == 0 { break }
      steps.append(step.removedCount)
    }
    #expect(steps == [904, 301, 2501, 1000, 1000, 801])
    #expect(try Self.sizes(world) == [2])
  }

  @Test func recordsOfSeveralRowsAreNotSplitByTrimming() throws {
    let columns = (1...30).map { "f\($0)" }.joined(separator: ", ")
    let world = try JournalWorld("CREATE TABLE Wide (id INTEGER PRIMARY KEY, \(columns))")
    for id in 1...6 { try world.other.execute("INSERT INTO Wide (id) VALUES (\(id))") }
    for kept in stride(from: 18, through: 0, by: -1) {
      try world.store.changeJournal.trim(JournalRetention(maxEntryCount: kept))
      #expect(try world.entries().count == (kept + 2) / 3 + (kept == 0 ? 1 : 0))
    }
  }

  @Test func trimmingKeepsWhatAConsumerHasNotAcknowledged() throws {
    let world = try JournalWorld(Self.tables)
    let slow = try world.store.consumer("slow")
    _ = try world.store.consumer("slower", startingAt: .start)
    for count in [1, 2, 3] { try Self.insert(count, in: world) }
    let journal = world.store.changeJournal
    let all = JournalRetention(maxEntryCount: 0)
    #expect(try journal.trim(all).heldBackBy == "slower")
    #expect(try Self.sizes(world) == [-1, 2, 3, 4])
    try world.store.dropConsumer("slower")
    try #require(try slow.next(limit: 2)).acknowledge()
    let trimming = try journal.trim(all)
    #expect(trimming.heldBackBy == "slow")
    #expect(trimming.removedCount == 3)
    #expect(try Self.sizes(world) == [3, 4])
    #expect(try slow.next()?.reset == nil)
    #expect(
      try journal.trim(JournalRetention(maxEntryCount: 0, respectingConsumers: false)).heldBackBy
        == nil)
    #expect(try Self.sizes(world) == [4])
    #expect(try slow.next()?.reset == .trimmed)
  }

  @Test func ageIsThatOfTheNextTransactionOfAStore() throws {
    let world = try JournalWorld(Self.tables)
    try Self.insert(1, in: world)
    try world.other.execute("INSERT INTO Item VALUES (100, 0)")
    try Self.insert(2, in: world)
    try world.other.execute("INSERT INTO Item VALUES (200, 0)")
    let journal = world.store.changeJournal
    #expect(try journal.trim(JournalRetention(age: .seconds(3600))).removedCount == 0)
    let hour: Int64 = 3_600_000_000
    // The first two are two hours old, and so is what others did before the second.
    try world.other.execute(
      "UPDATE _ms_journal SET c2 = c2 - \(2 * hour) WHERE layout = 0 AND c1 > 1000")
    try Self.insert(3, in: world)
    try world.other.execute("INSERT INTO Item VALUES (300, 0)")
    #expect(try Self.sizes(world) == [-1, 2, -1, 3, -1, 4, -1])
    try journal.trim(JournalRetention(age: .seconds(3600)))
    // What others did after it may be younger.
    #expect(try Self.sizes(world) == [-1, 4, -1])
    try journal.trim(JournalRetention(age: .zero))
    #expect(try Self.sizes(world) == [-1])
  }

  @Test func theSizeLimitIsKeptApproximately() throws {
    let world = try JournalWorld(Self.tables)
    for _ in 0..<40 { try Self.insert(500, in: world) }
    let before = try world.store.changeJournal.status()
    try world.store.changeJournal.trim(JournalRetention(maxByteCount: Int(before.byteCount / 4)))
    let after = try world.store.changeJournal.status()
    let share = Double(after.entryCount) / Double(before.entryCount)
    #expect((0.15...0.35).contains(share), "\(share)")
  }

  @Test func theStatusReportsTheContentsOfTheJournal() throws {
    let world = try JournalWorld(Self.tables)
    try Self.insert(10, in: world)
    _ = try world.store.consumer("index")
    let status = try world.store.changeJournal.status()
    #expect(status.details == ["Item": .full])
    #expect(
      status.positions == JournalPosition(rawValue: 1)...(try world.store.changeJournal.position()))
    #expect(status.entryCount == 12)
    #expect(status.byteCount > 0 && status.byteCount % 4096 == 0)
    #expect(status.oldestTime.map { $0 <= WritingProgram.now } == true)
    #expect(status.consumers == (try world.store.consumers()))
  }

  @Test func aStoreTrimsAfterItsCommitsWhenAsked() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.changeJournal = .full
    configuration.journalRetention = JournalRetention(maxEntryCount: 1000)
    let store = try Store(
      at: directory.file("trimmed.store"), models: Artist.self, configuration: configuration)
    for id in 1...2000 as ClosedRange<Int64> {
      try store.write { tx in try tx.insert(Artist(id: id, name: "x")) }
    }
    var status = try store.changeJournal.status()
    #expect((1000...1500).contains(status.entryCount), "\(status.entryCount)")
    // After a large transaction it catches up.
    try store.write { tx in
      for id in 2001...8000 as ClosedRange<Int64> { try tx.insert(Artist(id: id, name: "x")) }
    }
    for id in 8001...9000 as ClosedRange<Int64> {
      try store.write { tx in try tx.insert(Artist(id: id, name: "x")) }
    }
    status = try store.changeJournal.status()
    #expect((1000...1500).contains(status.entryCount), "\(status.entryCount)")
    #expect(try store.checkIntegrity() == [])
  }

  @Test func anEventTakesAtMost32BytesInAdditionToItsValues() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY, n INTEGER, t TEXT);")
    let count = 60_000
    try world.other.execute(
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO Item SELECT i + 100000, i + 100000, 'twenty bytes of text' FROM n
      """)
    let inserted = try world.store.changeJournal.status()
    // A key of three bytes, a number of three and a text of twenty.
    let perInsertion = Double(inserted.byteCount) / Double(inserted.entryCount) - 26
    try world.other.execute("UPDATE Item SET n = n + 1")
    let updated = try world.store.changeJournal.status()
    let perUpdate =
      Double(updated.byteCount - inserted.byteCount)
      / Double(updated.entryCount - inserted.entryCount) - 9
    print("bytes beside the values: insertion \(perInsertion), update \(perUpdate)")
    #expect(perInsertion <= 32)
    #expect(perUpdate <= 32)
  }
}
