import Testing

@testable import ModelStore

/// Running a refused statement once more without rules, to find all records that break them.
@Suite(.tags(.unit)) struct StatementOffendersTests {
  private static let bad: SQLText = "UPDATE Booking SET price = -1"

  @Test func noSecondRunWhileAnotherStatementIsActive() throws {
    let hotel = try Hotel()
    try hotel.store.write { tx in
      let alone = failure { try tx.execute(Self.bad) }
      #expect(alone?.violationCount == 3)
      try tx.forEach(Room.where { $0.id == 1 }) { _ in
        let within = failure { try tx.execute(Self.bad) }
        #expect(within?.violationCount == 1)
        #expect(within?.violations.map(\.rule) == ["Booking.price.range"])
      }
      #expect(failure { try tx.execute(Self.bad) }?.violationCount == 3)
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let rule: Rule
    var before: SQLText = "SELECT 1"
    let bad: SQLText
    var model = "Booking"
    /// The keys of the records that are reported to break the rule.
    let keys: [Int64]

    var testDescription: String { rule.name + ": " + bad.sql }
  }

  static let cases = [
    // Records that already have no note stay unchanged.
    Case(
      rule: .required(\Booking.note), before: "UPDATE Booking SET note = 'n' WHERE id < 3",
      bad: "UPDATE Booking SET note = NULL", keys: [1, 2]),
    // Nor are they blamed for another field's change.
    Case(
      rule: .required(\Booking.note), bad: "UPDATE Booking SET price = price + 1, note = NULL",
      keys: [2]),
    Case(
      rule: .field(\Booking.start, .oneOf(0, 5, 7)), bad: "UPDATE Booking SET start = id + 1",
      keys: [1, 2, 3]),
    // A record that moves from one valid value to another, and an unchanged record.
    Case(
      rule: .field(\Booking.start, .range(0...5)),
      bad: "UPDATE Booking SET start = start + id - 1", keys: [2]),
    Case(
      rule: .immutable(\Booking.guest), before: "UPDATE Booking SET guest = 'Bo' WHERE id = 2",
      bad: "UPDATE Booking SET guest = 'Ada!' WHERE id < 3", keys: [1, 2]),
    Case(
      rule: .reference(\Booking.start, to: Room.self), bad: "UPDATE Booking SET start = id + 1",
      keys: [2, 3]),
    Case(
      rule: .reference(\Booking.start, to: Room.self),
      before: "UPDATE Booking SET room = NULL, start = (id + 1) / 2",
      bad: "DELETE FROM Room", model: "Room", keys: [1, 2]),
    // The second and the third are too many when they come; in the end each of them is.
    Case(
      rule: .atMost(3, of: Booking.self, per: \Booking.room, name: "Booking.perRoom"),
      bad: """
        INSERT INTO Booking
        SELECT id + 10, 1, guest, start + 20, "end" + 20, price, note FROM Booking
        """, keys: [11, 12, 13]),
    Case(
      rule: .sum(\Booking.price, atMost: 25, per: \Booking.room, name: "Booking.budget"),
      bad: "UPDATE Booking SET price = 20", keys: [1, 2]),
    Case(
      rule: Rule(
        "Booking.balance", of: "Booking", fields: ["start"], .sumAtMost(limit: 5, per: ["room"])),
      before: "UPDATE Booking SET start = CASE id WHEN 1 THEN -3 WHEN 2 THEN 8 ELSE -4 END",
      bad: "DELETE FROM Booking WHERE start < 0", keys: [1]),
    Case(
      rule: Rule(
        "Booking.balance", of: "Booking", fields: ["start"], .sumAtMost(limit: 5, per: ["room"])),
      before: "UPDATE Booking SET start = CASE id WHEN 1 THEN -3 WHEN 2 THEN 8 ELSE -4 END",
      bad: "UPDATE Booking SET room = NULL WHERE start < 0", keys: [1]),
    Case(
      rule: .noOverlap(
        from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "Booking.apart"),
      bad: "UPDATE Booking SET start = 0, \"end\" = 9", keys: [1, 2]),
  ]

  @Test(arguments: cases)
  func everyRecordOfAStatementThatBreaksAnAddedRuleIsReported(example: Case) throws {
    let hotel = try Hotel()
    try hotel.store.write { tx in try tx.execute(example.before) }
    try hotel.store.add(example.rule, existingViolations: .keep)
    for _ in 1...2 {
      let violations = try hotel.violations { tx in try tx.execute(example.bad) }
      #expect(violations.map(\.key) == example.keys.map { [.integer($0)] })
      #expect(Set(violations.map(\.rule)) == [example.rule.name])
      #expect(Set(violations.map(\.model)) == [example.model])
    }
    // The rule holds again.
    #expect(try hotel.shell(example.bad.sql)?.contains(example.rule.name) == true)
  }

  @Test func violationsBeyondTheLimitAreCountedRecordByRecord() throws {
    let hotel = try Hotel(rules: [
      .field(\Booking.start, .range(0...)), .immutable(\Booking.guest),
    ])
    try hotel.store.write { tx in
      for id in 4...10_000 { try tx.insert(Booking(id: Int64(id), room: nil)) }
    }
    let error = failure {
      try hotel.store.write { tx in
        try tx.execute("UPDATE Booking SET price = -1, start = -1, guest = 'Bo'")
      }
    }
    #expect(error?.violationCount == 30_000)
    #expect(error?.violations.count == 100)
    #expect(
      error?.violations.prefix(4).map { [$0.rule, $0.key.map { "\($0)" } ?? ""] } == [
        ["Booking.price.range", "[1]"], ["Booking.start.range", "[1]"],
        ["Booking.guest.immutable", "[1]"], ["Booking.price.range", "[2]"],
      ])
    #expect(error?.message.hasSuffix("(and 29999 more).") == true)
  }

  @Test func aRefusalWithoutViolationsAtTheEndIsReportedAsBySQLite() throws {
    let hotel = try Hotel(rules: [
      .noOverlap(from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "Booking.apart")
    ])
    let violations = try hotel.violations { tx in
      try tx.execute("UPDATE Booking SET start = start + 4, \"end\" = \"end\" + 4 WHERE room = 1")
    }
    #expect(violations.map(\.rule) == ["Booking.apart"])
    #expect(violations.map(\.key) == [nil])
    let both = failure {
      try hotel.store.write { tx in
        try tx.execute(
          """
          UPDATE Booking SET start = start + 4, "end" = "end" + 4, price = 0 - (id = 2)
          WHERE room = 1
          """)
      }
    }
    #expect(both?.violations.map(\.rule) == ["Booking.apart", "Booking.price.range"])
    #expect(both?.violationCount == 2)
  }

  @Test func aRefusalFromAnotherSourceIsReportedAlone() throws {
    let hotel = try Hotel(rules: [.field(\Booking.start, .range(0...))])
    #expect(
      try hotel.shell(
        """
        CREATE TRIGGER third BEFORE UPDATE ON Booking WHEN NEW.id = 3
        BEGIN SELECT RAISE(ABORT, 'not the third'); END
        """) == nil)
    let violations = try hotel.violations { tx in try tx.execute("UPDATE Booking SET start = -1") }
    #expect(violations.map(\.rule) == ["Booking.start.range"])
    #expect(violations.map(\.key) == [nil])
  }

  @Test func observersReceiveNothingFromTheSecondRun() throws {
    let hotel = try Hotel(rules: [.field(\Booking.start, .range(0...))])
    let heard = Recorder<[[SQLValue]]>()
    let watching = try hotel.store.observe(Booking.self) { heard.add($0.changes.map(\.change.key)) }
    try hotel.store.write { tx in
      #expect(failure { try tx.execute("UPDATE Booking SET start = -1") }?.violationCount == 3)
      try tx.set(\Booking.price, to: 3, for: 2)
      #expect(failure { try tx.execute("UPDATE Booking SET start = -1") }?.violationCount == 3)
    }
    hotel.store.waitForDelivery()
    #expect(heard.taken() == [[[.integer(2)]]])
    watching.cancel()
  }

  @Test func bindingsFollowInTheSecondRunToo() throws {
    let hotel = try Hotel()
    // Repairs what the rule requires.
    #expect(
      try hotel.shell(
        """
        CREATE TRIGGER mend AFTER UPDATE OF start ON Booking WHEN NEW.id = 2
        BEGIN UPDATE Booking SET "end" = NEW.start + 1 WHERE id = NEW.id; END
        """) == nil)
    try hotel.store.add(
      .condition("Booking.forward", of: Booking.self, "\"end\" > start", "must end later"))
    let violations = try hotel.violations { tx in try tx.execute("UPDATE Booking SET start = 30") }
    #expect(violations.map(\.key) == [[.integer(1)], [.integer(3)]])
  }

  @Test func writesOfTriggersBeforeTheRefusalDoNotAffectTheSecondRun() throws {
    let hotel = try Hotel()
    #expect(
      try hotel.shell(
        """
        CREATE TABLE log (n);
        CREATE TRIGGER note AFTER UPDATE ON Booking BEGIN INSERT INTO log VALUES (NEW.id); END
        """) == nil)
    let violations = try hotel.violations { tx in
      try tx.execute("UPDATE Booking SET price = CASE id WHEN 1 THEN 1 ELSE -1 END")
    }
    #expect(violations.map(\.key) == [[.integer(2)], [.integer(3)]])
  }

  @Test func recordsKeptByOrFailAreNotReportedAsViolations() throws {
    let hotel = try Hotel()
    // The first becomes 4 and stays; taken down once more it would be -2.
    let violations = try hotel.violations { tx in
      try tx.execute(
        "UPDATE OR FAIL Booking SET price = price - CASE id WHEN 1 THEN 6 ELSE 11 END")
    }
    #expect(violations.map(\.rule) == ["Booking.price.range"])
    #expect(violations.map(\.key) == [nil])
    let all = try hotel.violations { tx in
      try tx.execute("UPDATE OR FAIL Booking SET price = -1")
    }
    #expect(all.map(\.key) == [[.integer(1)], [.integer(2)], [.integer(3)]])
  }

  @Test func forAStatementThatChangesTooManyRowsTheFirstRefusalIsReported() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.refusals.heldChangeCountMax = 3
    let store = try Store(
      at: directory.file("hotel.store"), models: Room.self, Booking.self,
      configuration: configuration)
    try store.write { tx in
      for id in Int64(1)...3 { try tx.insert(Booking(id: id, room: nil)) }
    }
    let three = failure { try store.write { tx in try tx.execute(Self.bad) } }
    #expect(three?.violations.map(\.key) == [[.integer(1)], [.integer(2)], [.integer(3)]])
    try store.write { tx in
      try tx.insert(Booking(id: 4, room: nil))
      let four = failure { try tx.execute(Self.bad) }
      #expect(four?.violationCount == 1)
      #expect(four?.violations.map(\.rule) == ["Booking.price.range"])
      #expect(four?.message.hasSuffix("There may be more violations.") == true)
      // Nothing of the second run remains, and the transaction continues.
      try tx.set(\Booking.price, to: 3, for: 2)
    }
    #expect(try store.fetch(Booking.all).map(\.price) == [10, 3, 10, 10])
  }

  private static func table() throws -> Connection {
    let connection = try Connection(
      path: ":memory:", role: .writer, policy: StoreConfiguration().connectionPolicy)
    try connection.execute("CREATE TABLE t (n INTEGER CHECK (n > 0)); INSERT INTO t VALUES (1)")
    return connection
  }

  @Test func anInterruptLeavesChecksOnAndTheFileUnchanged() throws {
    let connection = try Self.table()
    let bad: SQLText = "UPDATE t SET n = -1"
    try connection.execute("BEGIN")
    for _ in 1...100 {
      connection.interrupt()
      let count = try connection.rollingBack {
        connection.interrupt()
        try connection.runUnchecked(bad, leavingOutTriggers: "none")
        return connection.changeCount
      }
      #expect(count == 1)
      #expect(throws: SQLiteError.self) { try connection.run(bad) }
      #expect(try connection.rows("SELECT n FROM t") { try $0.integer(at: 0) } == [1])
    }
    try connection.rollBack()
  }

  @Test func aStatementThatDoesNotCompileLeavesChecksOn() throws {
    let connection = try Self.table()
    #expect(throws: SQLiteError.self) {
      try connection.runUnchecked("UPDATE nowhere SET n = 1", leavingOutTriggers: "none")
    }
    #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (-1)") }
  }

  @Test func aStatementThatMayEndTheTransactionIsNotRunTwice() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("u.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE u (
        id INTEGER PRIMARY KEY, u INTEGER UNIQUE ON CONFLICT ROLLBACK, n INTEGER CHECK (n > 0));
      INSERT INTO u VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1);
      """)
    let store = try Store(at: path)
    try store.adopt()
    try store.write { tx in
      try tx.execute("INSERT INTO u VALUES (4, 4, 4)")
      #expect(failure { try tx.execute("UPDATE u SET n = n - 1, u = 9") }?.code == .rejected)
    }
    #expect(
      try PlainDatabase(path).rows("SELECT id FROM u WHERE n > 3") == [[.integer(4)]])
  }
}
