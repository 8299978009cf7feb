import Testing

@testable import ModelStore

/// Rows of the journal that another program wrote, with numbers that mean something to its readers:
/// every reader ends after as many steps as there are rows, with the changes it can read or an
/// error.
@Suite(.tags(.unit)) struct HostileJournalTests {
  private static func world() throws -> JournalWorld {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY, n)")
    for id in 1...3 {
      try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (\(id), 0)") }
    }
    return world
  }

  /// The results of reading the journal in every way.
  private static func readings(_ world: JournalWorld) -> [String] {
    let journal = world.store.changeJournal
    func outcome(_ read: () throws -> Int) -> String {
      do {
        return "\(try read())"
      } catch let error as StoreError {
        return "\(error.code)"
      } catch {
        return "\(error)"
      }
    }
    return [
      outcome { try journal.transactions().count },
      outcome { try journal.newestTransactions().count },
      outcome {
        let consumer = try world.store.consumer("reader", startingAt: .start)
        defer { do { try world.store.dropConsumer("reader") } catch { Issue.record(error) } }
        var count = 0
        while let batch = try consumer.next(limit: 100) {
          count += batch.transactions.count
          try batch.acknowledge()
        }
        return count
      },
      outcome {
        try journal.trim(JournalRetention(maxEntryCount: 2), mode: .preview).kept == nil ? 0 : 1
      },
      outcome { try journal.status().entryCount > 0 ? 1 : 0 },
      outcome { try world.store.previewUndo(1) == nil ? 0 : 1 },
    ]
  }

  @Test func positionsFarApartAreReadWithoutCountingUpToThem() throws {
    for position in [1_000_000, 1 << 40, 1 << 61] as [Int64] {
      let world = try Self.world()
      let before = Self.readings(world)
      let newest = try world.store.changeJournal.position()
      try world.other.execute(
        "UPDATE _ms_journal SET position = \(position) WHERE position = \(newest)")
      #expect(Self.readings(world) == before)
      try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (9, 0)") }
      #expect(try world.store.undo() != nil)
      // Changes of other programs lie in between.
      try world.other.execute("INSERT INTO Item VALUES (10, 0)")
      let foreign = try world.store.changeJournal.position()
      try world.other.execute(
        "UPDATE _ms_journal SET position = position + 5000000 WHERE position = \(foreign)")
      #expect(try world.store.changeJournal.transactions().last?.changes.count == 1)
      #expect(try world.store.changeJournal.newestTransactions(limit: 1).first?.changes.count == 1)
      try world.store.changeJournal.trim(JournalRetention(maxEntryCount: 1))
      #expect(try world.store.changeJournal.transactions().count == 1)
    }
  }

  @Test(arguments: [Int64(1 << 62) + 1, .max])
  func aPositionBeyondAllIsRefusedUntilItIsTrimmed(position: Int64) throws {
    let world = try Self.world()
    try world.other.execute(
      "INSERT INTO _ms_journal (position, layout, entry, c0) VALUES (\(position), 0, 2, 1)")
    #expect(
      Self.readings(world)
        == ["journalGap", "journalGap", "journalGap", "1", "1", "journalGap"])
    // Records can still be written.
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (4, 0)") }
    try world.store.changeJournal.trim(JournalRetention())
    #expect(try world.store.changeJournal.transactions().last?.isForeign == true)
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (5, 0)") }
    #expect(try world.store.undo() != nil)
  }

  /// A row in the last readable places is followed by rows that cannot be read.
  @Test(arguments: [(Int64(1 << 62) - 1, 3), (Int64(1 << 62), 2), (Int64(1 << 62) + 1, 2)])
  func aPositionNextToAllIsTrimmedForGood(position: Int64, count: Int) throws {
    let world = try Self.world()
    let journal = world.store.changeJournal
    let newest = try journal.position()
    try world.other.execute(
      "UPDATE _ms_journal SET position = \(position) WHERE position = \(newest)")
    // Its commit record finds no place behind the highest position.
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (4, 0)") }
    #expect(failure { try journal.transactions() }?.code == .journalGap)
    let retention = JournalRetention(maxEntryCount: 100)
    #expect(try journal.trim(retention, mode: .preview).removedCount == count)
    #expect(try journal.trim(retention).removedCount == count)
    #expect(try journal.transactions().last?.gaps == ["Item"])
    #expect(try journal.position() == newest)
    for id in 5...20 {
      try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (\(id), 0)") }
      let newest = try journal.newestTransactions(limit: 1).first
      #expect(newest?.changes.map(\.key) == [[.integer(Int64(id))]])
    }
    #expect(try world.store.undo() != nil)
    #expect(try journal.trim(retention).removedCount == 0)
  }

  /// Such a row can still be read, but not what follows.
  @Test func aPositionNextToAllIsTrimmedBeforeAnythingFollows() throws {
    let world = try Self.world()
    let newest = try world.store.changeJournal.position()
    try world.other.execute(
      "UPDATE _ms_journal SET position = \(Int64(1 << 62) - 1) WHERE position = \(newest)")
    #expect(try world.store.changeJournal.trim(JournalRetention()).removedCount == 1)
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (4, 0)") }
    #expect(try world.store.changeJournal.transactions().last?.changes.count == 1)
  }

  @Test func rowsAreCountedAndNotPositions() throws {
    let world = try Self.world()
    let journal = world.store.changeJournal
    let newest = try journal.position()
    try world.other.execute(
      "UPDATE _ms_journal SET position = \(1 << 40) WHERE position = \(newest)")
    let count = Int(newest.rawValue)
    #expect(try journal.status().entryCount == count)
    #expect(try journal.trim(JournalRetention(maxEntryCount: count)).removedCount == 0)
    #expect(try journal.trim(JournalRetention(maxByteCount: 1_000_000)).removedCount == 0)
    // The transaction to which the fourth row belongs stays whole.
    let trimming = try journal.trim(JournalRetention(maxEntryCount: 3))
    #expect(trimming.removedCount == count - 4)
    #expect(try journal.status().entryCount == 4)
    #expect(trimming.kept == JournalPosition(rawValue: 4)...JournalPosition(rawValue: 1 << 40))
  }

  /// The next trimming is due at a position, which such a row must not move out of reach.
  @Test(arguments: [Int64(1 << 62) - 1, Int64(1 << 62), Int64(1 << 62) + 1, .max])
  func aPositionBeyondAllDoesNotEndTrimming(position: Int64) throws {
    let world = try Self.world()
    let path = world.store.path
    world.store.close()
    var configuration = StoreConfiguration()
    configuration.journalRetention = JournalRetention(maxEntryCount: 5)
    let store = try Store(at: path, configuration: configuration, onError: { _ in })
    try world.other.execute(
      "INSERT INTO _ms_journal (position, layout, entry, c0) VALUES (\(position), 0, 2, 1)")
    for number in 1...1500 {
      try store.write { tx in try tx.execute("UPDATE Item SET n = \(number) WHERE id = 1") }
    }
    #expect(
      try world.other.rows("SELECT count(*) < 1500 FROM _ms_journal") == [[.integer(1)]])
  }

  @Test func positionsBelowTheFirstDoNotCount() throws {
    let world = try Self.world()
    let before = Self.readings(world)
    try world.other.execute(
      """
      INSERT INTO _ms_journal (position, layout, entry)
      VALUES (\(Int64.min), 0, 1), (-1, 7, 8), (0, 0, 2)
      """)
    #expect(Self.readings(world) == before)
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (4, 0)") }
    #expect(try world.store.undo() != nil)
  }

  private static let hostileValues: [SQLValue] = [
    .integer(.max), .integer(.min), .integer(-1), .integer(0), .integer(1 << 40), .real(1e300),
    .text("9"), .blob([0, 1]), .null,
  ]

  /// Each column of an insertion, an update, a commit record and a start of recording in turn.
  @Test func aHostileValueInAnyColumnEndsEveryReader() throws {
    let columns = ["layout", "entry"] + (0..<JournalLayout.columnCount).map { "c\($0)" }
    let world = try Self.world()
    try world.store.write { tx in try tx.execute("UPDATE Item SET n = 1") }
    let end = try world.store.changeJournal.position().rawValue
    let before = Self.readings(world)
    for column in columns {
      for value in Self.hostileValues {
        for position in [1, 2, end - 1, end] {
          guard value != .null || column.hasPrefix("c") else { continue }
          try world.other.execute(
            """
            CREATE TEMP TABLE saved AS SELECT * FROM _ms_journal WHERE position = \(position)
            """)
          try world.store.engine.maintenance.transaction { connection in
            try connection.run(
              """
              UPDATE _ms_journal
              SET \(SQLText(sql: column)) = \(value)
              WHERE position = \(position)
              """)
          }
          let readings = Self.readings(world)
          #expect(readings.count == 6, "\(column) \(value) \(position)")
          try world.other.execute(
            "REPLACE INTO _ms_journal SELECT * FROM saved; DROP TABLE saved")
        }
      }
    }
    #expect(Self.readings(world) == before)
  }

  /// A text that is not UTF-8 is reported with the field whose value it is. A column of no field
  /// has none.
  @Test func aMalformedTextInAColumnOfNoFieldIsDamage() throws {
    for column in 2..<JournalLayout.columnCount {
      let world = try Self.world()
      try world.other.execute(
        "UPDATE _ms_journal SET c\(column) = CAST(x'ff' AS TEXT) WHERE position = 2")
      let found = failure { try world.store.changeJournal.transactions() }
      #expect(found?.code == .journalGap, "c\(column)")
    }
  }

  /// Where SQLite cannot count the bytes, they are estimated from the positions.
  @Test func anEstimateOfTheSizeEndsAtTheLargestNumber() {
    #expect(JournalSize.estimate(rowCount: 100, rowSize: 28.5) == 2850)
    #expect(JournalSize.estimate(rowCount: 1 << 62, rowSize: 28.5) == .max)
  }

  /// Retention with the shortest and the longest spans.
  @Test func everySpanIsANumberOfMicroseconds() {
    let spans: [Duration] = [
      .seconds(1.5), .seconds(-1), .seconds(9_223_372_036_854), .seconds(Int64.max),
      .seconds(Int64.min),
    ]
    let limit = Int64.max / 2
    let wanted: [Int64] = [1_500_000, -1_000_000, limit, limit, -limit]
    #expect(spans.map(\.microseconds) == wanted)
  }

  /// Otherwise each of them would be handed out with all rows before it.
  @Test func aCommitRecordThatClaimsAnothersRowsIsRefused() throws {
    let world = try Self.world()
    let journal = world.store.changeJournal
    let end = try journal.position()
    try world.other.execute("UPDATE _ms_journal SET c0 = 1 WHERE layout = 0 AND entry = 1")
    let before = JournalPosition(rawValue: end.rawValue - 1)
    #expect(failure { try journal.transactions(after: before) }?.code == .journalGap)
  }

  @Test(
    arguments: [
      "UPDATE _ms_journal_layouts SET number = 9223372036854775807",
      "UPDATE _ms_journal_layouts SET number = -1",
      "UPDATE _ms_journal_layouts SET definition = json_set(definition, '$.key', json_array())",
      """
      UPDATE _ms_journal_layouts SET definition = json_set(definition, '$.key', json(
        '[' || rtrim(replace(hex(zeroblob(20)), '00', '{"name":"a","column":"a"},'), ',') || ']'))
      """,
    ])
  func aLayoutThatNoJournalHasIsDamage(statement: String) throws {
    let world = try Self.world()
    try world.other.execute(statement)
    #expect(failure { try world.store.changeJournal.transactions() }?.code == .corrupt)
  }

  @Test func aConsumerAtAnyPositionContinues() throws {
    for position in [Int64.min, -1, 1 << 40, Int64.max] {
      let world = try Self.world()
      let consumer = try world.store.consumer("reader", startingAt: .start)
      try world.other.execute("UPDATE _ms_journal_consumers SET position = \(position)")
      #expect(try consumer.lag > 0)
      let batch = try #require(try consumer.next())
      #expect(batch.reset == .trimmed)
      try batch.acknowledge()
      #expect(try consumer.next() == nil)
    }
  }
}
