import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct JournalHistoryTests {
  static let tables = """
    CREATE TABLE Item (id INTEGER PRIMARY KEY, name TEXT, n INTEGER);
    CREATE TABLE Tag (name TEXT PRIMARY KEY, colour);
    """

  /// Three transactions of the store, with another program's commits before the second and after
  /// the last.
  private static func world() throws -> (world: JournalWorld, start: JournalPosition) {
    let world = try JournalWorld(tables)
    let start = try world.store.changeJournal.position()
    try world.store.write { tx in
      tx.sign(author: "ann", tag: "import")
      try tx.execute("INSERT INTO Item VALUES (1, 'a', 1), (2, 'b', 2)")
    }
    try world.other.execute("UPDATE Item SET n = 10 WHERE id = 1; INSERT INTO Tag VALUES ('x', 1)")
    try world.store.write { tx in
      tx.sign(author: "bob")
      try tx.execute("UPDATE Item SET name = 'c' WHERE id = 2")
    }
    try world.store.write { tx in
      try tx.execute("UPDATE Item SET name = 'd', n = 3 WHERE id = 2")
      try tx.execute("DELETE FROM Item WHERE id = 1")
    }
    try world.other.execute("DELETE FROM Tag")
    return (world, start)
  }

  private static func lines(_ transactions: [JournalTransaction], from start: JournalPosition)
    -> [String]
  {
    transactions.map { transaction in
      let place = [transaction.positions.lowerBound, transaction.positions.upperBound]
        .map { "\($0.rawValue - start.rawValue)" }.joined(separator: "-")
      let who = transaction.isForeign ? "foreign" : transaction.signature.author ?? "nobody"
      let changes = transaction.changes.map { change in
        let fields = change.fields.map {
          "\($0.name): \($0.old?.description ?? "-") → \($0.new?.description ?? "-")"
        }
        return
          "\(change.operation) \(change.model) \(change.key[0]) (\(fields.joined(separator: ", ")))"
      }
      return ([place, who] + transaction.gaps.map { "gap \($0)" } + changes).joined(separator: " ")
    }
  }

  private static let all = [
    "1-3 ann insert Item 1 (name: - → 'a', n: - → 1) insert Item 2 (name: - → 'b', n: - → 2)",
    "4-5 foreign update Item 1 (n: 1 → 10) insert Tag 'x' (colour: - → 1)",
    "6-7 bob update Item 2 (name: 'b' → 'c')",
    "8-10 nobody update Item 2 (name: 'c' → 'd', n: 2 → 3) delete Item 1 (name: 'a' → -, n: 10 → -)",
    "11-11 foreign delete Tag 'x' (colour: 1 → -)",
  ]

  @Test func transactionsAreReadWholeInBothDirections() throws {
    let (world, start) = try Self.world()
    let journal = world.store.changeJournal
    let forward = try journal.transactions(after: start)
    #expect(Self.lines(forward, from: start) == Self.all)
    let backward = try journal.newestTransactions()
    #expect(Self.lines(backward.dropLast(), from: start) == Self.all.reversed())
    #expect(backward.last?.gaps == ["Item", "Tag"])
    #expect(backward.last?.changes == [])
    #expect(try journal.transactions() == backward.reversed())
    for limit in 0...6 {
      #expect(try journal.transactions(limit: limit) == Array(backward.reversed().prefix(limit)))
      #expect(try journal.newestTransactions(limit: limit) == Array(backward.prefix(limit)))
    }
    let mark = try #require(forward.first)
    #expect(mark.date != nil && mark.program?.isEmpty == false && mark.process ?? 0 > 0)
  }

  @Test func readingCanStartAtAnyPosition() throws {
    let (world, start) = try Self.world()
    let journal = world.store.changeJournal
    func position(_ offset: Int) -> JournalPosition {
      JournalPosition(rawValue: start.rawValue + Int64(offset))
    }
    // By offset: a store's transaction that began earlier is whole, and one that ends later is left
    // out.
    let firsts = [0, 0, 0, 1, -1, 2, 2, 3, 3, 3, 4, 5]
    for (offset, first) in firsts.enumerated() where first >= 0 {
      #expect(
        Self.lines(try journal.transactions(after: position(offset)), from: start)
          == Array(Self.all[first...]), "after \(offset)")
    }
    #expect(
      Self.lines(try journal.transactions(after: position(4)), from: start)
        == ["5-5 foreign insert Tag 'x' (colour: - → 1)"] + Self.all[2...])
    let ends = [0, 0, 0, 1, -1, 2, 2, 3, 3, 3, 4, 5]
    for (offset, end) in ends.enumerated() where end >= 0 {
      #expect(
        Self.lines(
          try journal.transactions(after: start, through: position(offset)), from: start)
          == Array(Self.all[..<end]), "through \(offset)")
      #expect(
        Self.lines(
          try journal.newestTransactions(before: position(offset + 1), limit: end), from: start)
          == Self.all[..<end].reversed(), "before \(offset)")
    }
  }

  @Test func filtersSelectTransactionsAndChanges() throws {
    let (world, start) = try Self.world()
    func told(_ filter: JournalFilter) throws -> [String] {
      let journal = world.store.changeJournal
      let forward = try journal.transactions(after: start, matching: filter)
      let backward = try journal.newestTransactions(matching: filter)
      #expect(backward.filter { $0.positions.lowerBound > start } == forward.reversed())
      return Self.lines(forward, from: start)
    }
    #expect(try told(JournalFilter(author: "ann")) == [Self.all[0]])
    #expect(try told(JournalFilter(tag: "import")) == [Self.all[0]])
    #expect(try told(JournalFilter(tag: "export")) == [])
    #expect(try told(JournalFilter(isForeignOnly: true)) == [Self.all[1], Self.all[4]])
    #expect(
      try told(JournalFilter(model: "Item", key: [.integer(1)])) == [
        "1-3 ann insert Item 1 (name: - → 'a', n: - → 1)",
        "4-5 foreign update Item 1 (n: 1 → 10)",
        "8-10 nobody delete Item 1 (name: 'a' → -, n: 10 → -)",
      ])
    #expect(
      try told(JournalFilter(model: "Item", field: "n", isForeignOnly: true)) == [
        "4-5 foreign update Item 1 (n: 1 → 10)"
      ])
    let own = try world.store.changeJournal.transactions(after: start).filter { !$0.isForeign }
    #expect(try told(JournalFilter(transaction: own[1].id)) == [Self.all[2]])
    #expect(try told(JournalFilter(transaction: own[1].id, author: "ann")) == [])
    #expect(try told(JournalFilter(program: own[0].program)).count == 3)
    let time = try #require(own[1].time)
    #expect(try told(JournalFilter(time: time..<time + 1)) == [Self.all[2]])
    #expect(Set(own.map(\.id)).count == 3)
  }

  @Test func partsOfARecordAreNotSplit() throws {
    let columns = (1...30).map { "f\($0)" }
    let world = try JournalWorld(
      "CREATE TABLE Wide (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))")
    let journal = world.store.changeJournal
    let start = try journal.position()
    let values = (1...30).map { "\($0)" }.joined(separator: ", ")
    try world.other.execute(
      "INSERT INTO Wide VALUES (1, \(values)); INSERT INTO Wide VALUES (2, \(values))")
    let end = try journal.position()
    #expect(end.rawValue - start.rawValue == 6)
    let counts = try (0..<Int64(6)).map { offset in
      let middle = JournalPosition(rawValue: start.rawValue + offset)
      return (
        try journal.transactions(after: middle).flatMap(\.changes).count,
        try journal.transactions(after: start, through: middle).flatMap(\.changes).count
      )
    }
    #expect(counts.map(\.0) == [2, 2, 2, 1, 1, 1])
    #expect(counts.map(\.1) == [0, 1, 1, 1, 2, 2])
    for change in try journal.transactions(after: start).flatMap(\.changes) {
      #expect(change.fields.map(\.new) == (1...30).map { .integer($0) })
    }
    let records = StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Wide"))
    for offset in 0...Int64(6) {
      let position = JournalPosition(rawValue: start.rawValue + offset)
      if offset % 3 == 0 {
        #expect(try world.store.fetch(records, at: position).count == Int(offset) / 3)
      } else {
        #expect(failure { try world.store.fetch(records, at: position) }?.code == .misuse)
      }
    }
  }

  @Test func trimmedEntriesAreReportedAsAGap() throws {
    let (world, start) = try Self.world()
    let journal = world.store.changeJournal
    try world.other.execute("DELETE FROM _ms_journal WHERE position <= \(start.rawValue + 5)")
    for offset in 0..<5 {
      let position = JournalPosition(rawValue: start.rawValue + Int64(offset))
      #expect(
        failure { try journal.transactions(after: position) }?.code == .journalTrimmed)
    }
    let rest = try journal.transactions(after: JournalPosition(rawValue: start.rawValue + 5))
    #expect(Self.lines(rest, from: start) == Array(Self.all[2...]))
    #expect(try journal.transactions() == rest)
    #expect(try journal.newestTransactions() == rest.reversed())
  }

  @Test func unreadableEntriesAreAGapUntilTheyAreTrimmed() throws {
    let (world, start) = try Self.world()
    let journal = world.store.changeJournal
    try world.other.execute("INSERT INTO _ms_journal (layout, entry) VALUES (99, 1)")
    let row = try journal.position()
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (9, 'i', 9)") }
    let error = failure { try journal.transactions(after: start) }
    #expect(error?.code == .journalGap)
    #expect(error?.message.contains("position \(row),") == true)
    #expect(
      try journal.trim(JournalRetention(maxEntryCount: 1, respectingConsumers: false)).kept
        == JournalPosition(rawValue: row.rawValue + 1)...JournalPosition(rawValue: row.rawValue + 2)
    )
    #expect(try journal.transactions().flatMap(\.changes).map(\.key) == [[.integer(9)]])
    #expect(failure { try journal.transactions(after: start) }?.code == .journalTrimmed)
  }

  @Test func keysAndGapsAreReported() throws {
    let world = try JournalWorld(Self.tables, detail: .keys)
    let journal = world.store.changeJournal
    let start = try journal.position()
    try world.store.write { tx in
      try tx.execute("INSERT INTO Item VALUES (1, 'a', 1)")
      try tx.execute("UPDATE Item SET n = 2")
    }
    try journal.disable(for: ["Item"])
    #expect(
      Self.lines(try journal.transactions(after: start), from: start) == [
        "1-3 nobody insert Item 1 () update Item 1 ()", "4-4 foreign gap Item",
      ])
    let changes = try journal.transactions(
      after: start, matching: JournalFilter(model: "Item", field: "n"))
    #expect(changes.flatMap(\.changes).map(\.detail) == [.keys, .keys])
  }

  @Test func foreignChangesComeInPartsAndCommitRecordsAreFoundByIndex() throws {
    let world = try JournalWorld(Self.tables)
    let start = try world.store.changeJournal.position()
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (-1, 'a', 0)") }
    let count = 2 * Int(JournalHistory.foreignRowCountMax) + 100
    try world.other.execute(
      """
      WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < \(count))
      INSERT INTO Item SELECT n, NULL, n FROM n
      """)
    try world.store.write { tx in try tx.execute("DELETE FROM Item WHERE id = -1") }
    let journal = world.store.changeJournal
    let forward = try journal.transactions(after: start)
    let sizes = [1, 4096, 4096, 100, 1]
    #expect(forward.map(\.changes.count) == sizes)
    #expect(forward.map(\.isForeign) == [false, true, true, true, false])
    #expect(
      forward.flatMap(\.changes).map { $0.key[0] }
        == [.integer(-1)] + (1...count).map { .integer(Int64($0)) } + [.integer(-1)])
    let backward = try journal.newestTransactions()
    #expect(backward.dropLast().map(\.changes.count) == [1, 4096, 4096, 100, 1])
    #expect(
      backward.reversed().flatMap(\.changes).map(\.position)
        == (try journal.transactions()).flatMap(\.changes).map(\.position))
    let consumer = try world.store.consumer("all", startingAt: .position(start))
    var given: [SQLValue] = []
    while let batch = try consumer.next(limit: 1000) {
      #expect(batch.changes.count <= 1000)
      given += batch.changes.map { $0.key[0] }
      try batch.acknowledge()
    }
    #expect(given == forward.flatMap(\.changes).map { $0.key[0] })
    try world.store.engine.connections.readers.sync { connection in
      for (operation, direction) in [(">", "ASC"), ("<=", "DESC")] {
        let text: SQLText = """
          SELECT position FROM _ms_journal
          WHERE position \(SQLText(sql: operation)) \(5) AND \(JournalMark.isMark)
          ORDER BY position \(SQLText(sql: direction)) LIMIT 1
          """
        let plan = try connection.rows(
          SQLText(sql: "EXPLAIN QUERY PLAN " + text.sql, arguments: text.arguments)
        ) { try $0.text(at: 3) }
        #expect(plan.count == 1 && plan[0].contains("_ms_journal_marks"), "\(plan)")
      }
    }
  }

  @Test func anyPositionAndLimitIsAccepted() throws {
    let (world, _) = try Self.world()
    let journal = world.store.changeJournal
    let ends = [JournalPosition(rawValue: .min), JournalPosition(rawValue: .max)]
    #expect(try journal.transactions(after: ends[1]) == [])
    #expect(try journal.newestTransactions(before: ends[0]) == [])
    #expect(try journal.newestTransactions(before: ends[1]) == journal.newestTransactions())
    let id = try #require(try journal.newestTransactions().compactMap(\.id).first)
    #expect(try journal.transactions(matching: JournalFilter(transaction: id), limit: 0) == [])
    #expect(try journal.transactions(matching: JournalFilter(transaction: id)).count == 1)
  }

  @Test func invalidUTF8IsReportedAndDoesNotStopReaders() throws {
    let world = try JournalWorld(Self.tables)
    let start = try world.store.changeJournal.position()
    let consumer = try world.store.consumer("all")
    try world.other.execute(
      """
      INSERT INTO Item VALUES (1, CAST(x'61ff' AS TEXT), 1);
      UPDATE Item SET name = 'whole' WHERE id = 1;
      UPDATE Item SET name = CAST(x'fe' AS TEXT) WHERE id = 1;
      INSERT INTO Tag VALUES (CAST(x'80' AS TEXT), 2);
      DELETE FROM Item;
      """)
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (2, 'b', 2)") }
    let changes = try world.store.changeJournal.transactions(after: start).flatMap(\.changes)
    #expect(
      changes.map(\.malformedTexts) == [
        [.new("name")], [.old("name")], [.new("name")], [.key(0)], [.old("name")], [],
      ])
    #expect(
      changes.compactMap { $0["name"] }.map { [$0.old, $0.new] } == [
        [nil, .blob([0x61, 0xff])], [.blob([0x61, 0xff]), .text("whole")],
        [.text("whole"), .blob([0xfe])], [.blob([0xfe]), nil], [nil, .text("b")],
      ])
    #expect(changes[3].key == [.blob([0x80])])
    #expect(try consumer.next()?.changes == changes)
    let foreign = try #require(try world.store.changeJournal.transactions(after: start).first)
    #expect(throws: StoreError.self) {
      try world.store.revert(after: start, through: foreign.positions.upperBound)
    }
    #expect(throws: StoreError.self) {
      try world.store.fetch(
        StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Item")), at: start)
    }
  }

  @Test func aTransactionWithoutRecordedChangesIsNotUndone() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    try world.store.changeJournal.enable(for: ["Item"])
    let id = try world.store.write { tx in
      try tx.execute("INSERT INTO Item VALUES (1, 'a', 1)")
      return tx.id
    }
    try world.store.write { tx in try tx.execute("INSERT INTO Tag VALUES ('x', 1)") }
    #expect(try world.store.undo()?.reverted == id)
    #expect(try world.store.redo() != nil)
    #expect(try world.store.undo() != nil)
    #expect(try world.store.undo() == nil)
  }

  /// A foreign commit counts as seen before observers are notified, and notifying them may fail.
  @Test func foreignChangesAreNotSignedEvenWhenObserversWereNotNotified() throws {
    let world = try JournalWorld(Self.tables)
    let start = try world.store.changeJournal.position()
    try world.other.execute("INSERT INTO Item VALUES (1, 'a', 1)")
    try world.store.engine.connections.writer.sync { writer in
      let isForeign = try writer.noticeForeignCommit()
      #expect(isForeign)
    }
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (2, 'b', 2)") }
    #expect(
      try world.entries(after: start)
        == ["insert Item 1 ('a', 1)", "insert Item 2 ('b', 2)", "transaction of 1"])
    let all = try world.store.changeJournal.transactions(after: start)
    #expect(all.map(\.isForeign) == [true, false])
  }

  @Test func withoutAJournalTheHistoryIsEmpty() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    #expect(try world.store.changeJournal.transactions() == [])
    #expect(try world.store.changeJournal.newestTransactions() == [])
  }
}
