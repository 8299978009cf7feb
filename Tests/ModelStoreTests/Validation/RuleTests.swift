import Testing

@testable import ModelStore

/// Rules that are added to a file in use.
@Suite(.tags(.unit)) struct RuleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: Rule
    /// A statement of another program that breaks it, and one that does not.
    let bad: String
    let good: String
    let kind: Violation.Kind
    let fields: [String]
    let message: String

    var testDescription: String { rule.name }
  }

  static let cases = [
    Case(
      rule: .required(\Booking.note), bad: "INSERT INTO Booking VALUES (9, 1, 'B', 0, 1, 1, NULL)",
      good: "INSERT INTO Booking VALUES (9, 1, 'B', 0, 1, 1, 'n')", kind: .required,
      fields: ["note"], message: "must have a value"),
    Case(
      rule: .field(\Booking.note, .length(2...)),
      bad: "UPDATE Booking SET note = 'n' WHERE id = 1",
      good: "UPDATE Booking SET note = 'no' WHERE id = 1", kind: .check, fields: ["note"],
      message: "must have at least 2 characters"),
    Case(
      rule: .field(\Booking.guest, .byteLength(...4)),
      bad: "UPDATE Booking SET guest = 'ÄÄÄ' WHERE id = 1",
      good: "UPDATE Booking SET guest = 'ÄÄ' WHERE id = 1", kind: .check, fields: ["guest"],
      message: "must take at most 4 bytes"),
    Case(
      rule: .field(\Booking.start, .oneOf(0, 5, 7)), bad: "UPDATE Booking SET start = 6",
      good: "UPDATE Booking SET start = 7", kind: .check, fields: ["start"],
      message: "must be one of: 0, 5, 7"),
    Case(
      rule: .field(\Booking.guest, .matches(like: "a%")), bad: "UPDATE Booking SET guest = 'Bo'",
      good: "UPDATE Booking SET guest = 'ALAN'", kind: .check, fields: ["guest"],
      message: "must look like a%"),
    Case(
      rule: .condition(
        "Booking.forward", of: Booking.self, "\"end\" > start", "must end after it begins",
        fields: [\.start, \.end]), bad: "UPDATE Booking SET \"end\" = 0 WHERE id = 1",
      good: "UPDATE Booking SET \"end\" = 1 WHERE id = 1", kind: .check,
      fields: ["start", "end"], message: "must end after it begins"),
    Case(
      rule: .unique("Booking.once", \Booking.room, \Booking.start),
      bad: "UPDATE Booking SET start = 0 WHERE id = 2",
      good: "UPDATE Booking SET start = 1 WHERE id = 2", kind: .unique, fields: ["room", "start"],
      message: "must be unique together"),
    Case(
      rule: .unique("Booking.oneLate", \Booking.room, where: "note = 'late'"),
      bad: "UPDATE Booking SET note = 'late' WHERE id = 1",
      good: "UPDATE Booking SET note = 'late' WHERE id = 3", kind: .unique, fields: ["room"],
      message: "must be unique where note = 'late'"),
    Case(
      rule: .reference(\Booking.start, to: Room.self),
      bad: "INSERT INTO Booking VALUES (9, 1, 'B', 7, 8, 1, NULL)",
      good: "INSERT INTO Booking VALUES (9, 1, 'B', 2, 8, 1, NULL)", kind: .reference,
      fields: ["start"], message: "must name an existing Room"),
    Case(
      rule: .immutable(\Booking.guest), bad: "UPDATE Booking SET guest = 'Eve' WHERE id = 1",
      good: "UPDATE Booking SET guest = 'Ada', price = 3", kind: .immutable, fields: ["guest"],
      message: "must not change"),
    Case(
      rule: .atMost(2, of: Booking.self, per: \Booking.room, name: "Booking.perRoom"),
      bad: "INSERT INTO Booking VALUES (9, 1, 'B', 20, 21, 1, NULL)",
      good: "INSERT INTO Booking VALUES (9, NULL, 'B', 20, 21, 1, NULL)", kind: .records,
      fields: ["room"], message: "must not be the same in more than 2 records"),
    Case(
      rule: .sum(\Booking.price, atMost: 25, per: \Booking.room, name: "Booking.budget"),
      bad: "UPDATE Booking SET price = 15.5 WHERE id = 1",
      good: "UPDATE Booking SET price = 15 WHERE id = 1", kind: .records, fields: ["price"],
      message: "must add up to at most 25 for each room"),
    Case(
      rule: .noOverlap(
        from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "Booking.apart"),
      bad: "UPDATE Booking SET \"end\" = 6 WHERE id = 1",
      good: "UPDATE Booking SET room = NULL WHERE id = 1", kind: .records,
      fields: ["start", "end"], message: "must not overlap with another record with the same room"),
  ]

  @Test(arguments: cases)
  func everyWriterObeysARuleAndTheErrorNamesIt(example: Case) throws {
    let hotel = try Hotel()
    // Some of the cases' records break their rule already; what is not touched stays.
    try hotel.store.add(
      example.rule, existingViolations: example.rule.kind != .unique ? .keep : .refuse)
    #expect(try hotel.store.rules() == [example.rule])
    let told = try hotel.shell(example.bad)
    let isUnique = example.kind == .unique
    #expect(
      told?.hasSuffix(isUnique ? "" : "\(example.message) (rule \(example.rule.name))") == true)
    let violations = try hotel.violations { tx in try tx.execute(SQLText(sql: example.bad)) }
    // A statement over several records may break it in each.
    #expect(
      Set(violations.map { [$0.kind.rawValue, $0.model, $0.rule, $0.message] + $0.fields })
        == [
          [example.kind.rawValue, "Booking", example.rule.name, example.message] + example.fields
        ])
    #expect(try hotel.shell(example.good) == nil)
    try hotel.store.dropRule(example.rule.name)
    #expect(try hotel.store.rules() == [])
    #expect(try hotel.shell("DELETE FROM Booking WHERE id = 9") == nil)
    #expect(try hotel.shell(example.bad) == nil)
  }

  @Test(arguments: cases)
  func aRuleSurvivesAProgramThatDoesNotDeclareIt(example: Case) throws {
    let hotel = try Hotel()
    try hotel.store.add(
      example.rule, existingViolations: example.rule.kind != .unique ? .keep : .refuse)
    let path = hotel.store.path
    hotel.store.close()
    let store = try Store(at: path, models: Room.self, Booking.self)
    #expect(try store.rules() == [example.rule])
    let error = failure { try store.write { tx in try tx.execute(SQLText(sql: example.bad)) } }
    #expect(Set(error?.violations.map(\.rule) ?? []) == [example.rule.name])
    store.close()
    let bare = try Store(at: path)
    #expect(try bare.checkIntegrity() == [])
    #expect(try bare.rules() == [example.rule])
  }

  private static let forward = Rule.condition(
    "Booking.forward", of: Booking.self, "\"end\" > start", "must end after it begins",
    fields: [\.start, \.end])

  @Test func existingViolationsAreCountedAndTheRuleIsRefusedOrAddedByChoice() throws {
    let hotel = try Hotel()
    #expect(try hotel.shell("UPDATE Booking SET start = 9 WHERE id > 1") == nil)
    let finding = RuleFinding(
      violation: Self.forward.violation, count: 2, keys: [[.integer(2)], [.integer(3)]])
    #expect(try hotel.store.finding(of: Self.forward) == finding)
    let error = failure { try hotel.store.add(Self.forward) }
    #expect(error?.code == .rejected)
    #expect(error?.violationCount == 2)
    #expect(error?.violations.map(\.key) == [[.integer(2)], [.integer(3)]])
    #expect(error?.message.contains("2 records break it already") == true)
    #expect(try hotel.store.rules() == [])
    #expect(try hotel.store.add(Self.forward, existingViolations: .keep) == finding)
    #expect(try hotel.store.findings(in: Booking.schema) == [finding])
    // Existing violations can still be read and corrected.
    try hotel.store.write { tx in try tx.set(\Booking.price, to: 1, for: 2) }
    let violations = try hotel.violations { tx in try tx.set(\Booking.end, to: 8, for: 2) }
    #expect(violations.map(\.rule) == ["Booking.forward"])
    try hotel.store.write { tx in try tx.set(\Booking.end, to: 20, for: 2) }
    #expect(try hotel.store.findings(in: Booking.schema).map(\.count) == [1])
  }

  @Test func aUniqueRuleIsNeverAddedToRecordsThatBreakIt() throws {
    let hotel = try Hotel()
    let rule = Rule.unique("Booking.guests", \Booking.guest)
    let error = failure { try hotel.store.add(rule, existingViolations: .keep) }
    #expect(error?.violationCount == 3)
    #expect(try hotel.store.rules() == [])
  }

  @Test func aWarningRefusesNothingAndIsReportedByChecks() throws {
    let hotel = try Hotel()
    var rule = Self.forward
    rule.severity = .warning
    try hotel.store.add(rule)
    #expect(try hotel.shell("UPDATE Booking SET start = 9 WHERE id = 2") == nil)
    let finding = try #require(try hotel.store.findings(in: Booking.schema).first)
    #expect(finding.violation.severity == .warning)
    #expect(finding.keys == [[.integer(2)]])
  }

  @Test func addingARuleAgainChangesIt() throws {
    let hotel = try Hotel()
    try hotel.store.add(.atMost(2, of: Booking.self, per: \Booking.room, name: "Booking.perRoom"))
    try hotel.store.add(.atMost(3, of: Booking.self, per: \Booking.room, name: "Booking.perRoom"))
    #expect(try hotel.store.rules().map(\.demand) == [.countAtMost(count: 3, per: ["room"])])
    try hotel.store.write { tx in _ = try tx.insert(Booking(id: 4, start: 30, end: 31)) }
    let violations = try hotel.violations { tx in
      try tx.insert(Booking(id: 5, start: 40, end: 41))
    }
    #expect(violations.map(\.message) == ["must not be the same in more than 3 records"])
  }

  @Test func addingChangingAndDroppingRulesKeepsEverythingElse() throws {
    let hotel = try Hotel()
    #expect(
      try hotel.shell(
        """
        CREATE TABLE log (what TEXT);
        CREATE TABLE ticket (id INTEGER PRIMARY KEY AUTOINCREMENT, booking REFERENCES Booking);
        INSERT INTO ticket VALUES (7, 1); DELETE FROM ticket; INSERT INTO ticket VALUES (NULL, 1);
        CREATE TRIGGER watch AFTER UPDATE ON Booking BEGIN INSERT INTO log VALUES (NEW.id); END;
        CREATE INDEX byGuest ON Booking (guest, start DESC);
        CREATE VIEW late AS SELECT id FROM Booking WHERE note = 'late';
        """) == nil)
    func everything() throws -> [[SQLValue]] {
      let file = try PlainDatabase(hotel.store.path)
      return try file.rows(
        """
        SELECT type, name, sql, rootpage FROM sqlite_schema
        WHERE instr(name, '_ms_rule') = 0 AND instr(tbl_name, '_ms_') = 0 ORDER BY name
        """)
        + file.rows("SELECT * FROM late") + file.rows("SELECT * FROM ticket")
        + file.rows("SELECT * FROM sqlite_sequence") + file.rows("SELECT * FROM Booking")
        + file.rows("SELECT * FROM log")
    }
    let before = try everything()
    for example in Self.cases {
      try hotel.store.add(
        example.rule, existingViolations: example.rule.kind != .unique ? .keep : .refuse)
    }
    #expect(try everything() == before)
    #expect(try hotel.store.checkIntegrity() == [])
    for example in Self.cases { try hotel.store.dropRule(example.rule.name) }
    #expect(try everything() == before)
    let left = try PlainDatabase(hotel.store.path).rows(
      "SELECT name FROM sqlite_schema WHERE instr(name, '_ms_rule_') = 1")
    #expect(left == [])
  }

  @Test func declaringARuleThatRecordsBreakIsRefused() throws {
    let hotel = try Hotel(rules: [Self.forward])
    let path = hotel.store.path
    #expect(try hotel.violations { tx in try tx.set(\Booking.end, to: 0, for: 1) }.count == 1)
    hotel.store.close()
    let tight = Rule.atMost(1, of: Booking.self, per: \Booking.room, name: "Booking.perRoom")
    let error = failure {
      try Store(at: path, models: Room.self, Booking.self, rules: [Self.forward, tight])
    }
    #expect(error?.code == .rejected)
    #expect(error?.violationCount == 2)
    let store = try Store(at: path, models: Room.self, Booking.self, rules: [Self.forward])
    #expect(try store.rules().map(\.name) == ["Booking.forward"])
  }

  @Test func aLostTriggerComesBackWhenTheStoreIsOpened() throws {
    let hotel = try Hotel(rules: [Self.forward])
    let path = hotel.store.path
    #expect(try hotel.shell("DROP TRIGGER \"_ms_rule_Booking.forward_update\"") == nil)
    hotel.store.close()
    let store = try Store(at: path, models: Room.self, Booking.self)
    let error = failure { try store.write { tx in try tx.set(\Booking.end, to: 0, for: 1) } }
    #expect(error?.violations.map(\.rule) == ["Booking.forward"])
  }

  @Test(arguments: [
    (Rule("", of: "Booking", fields: ["note"], .required), StoreError.Code.unsupportedSchema),
    (Rule("r", of: "Nobody", fields: ["note"], .required), .unknownModel),
    (Rule("r", of: "Booking", fields: ["nothing"], .required), .unknownField),
    (Rule("r", of: "Booking", .required), .unsupportedSchema),
    (Rule("r", of: "Booking", .condition(sql: "random() > 0")), .unsupportedSchema),
    (Rule("r", of: "Booking", .condition(sql: "start > (SELECT 1)")), .unsupportedSchema),
    (Rule("r", of: "Booking", .condition(sql: "start > 1) --")), .unsupportedSchema),
    (Rule("r", of: "Booking", .condition(sql: "nowhere > 1")), .unsupportedSchema),
    (Rule("r", of: "Booking", .condition(sql: "note < date('now')")), .unsupportedSchema),
    (Rule("r", of: "Booking", fields: ["start"], .reference(model: "Nobody")), .unknownModel),
    (Rule("r", of: "Booking", fields: ["start"], .noOverlap(per: [])), .unsupportedSchema),
    (
      Rule("Booking.price.range", of: "Booking", fields: ["note"], .required),
      .configurationConflict
    ),
  ])
  func aRuleThatCannotBeKeptIsRefused(rule: Rule, code: StoreError.Code) throws {
    let hotel = try Hotel()
    #expect(failure { try hotel.store.add(rule) }?.code == code)
    #expect(try hotel.store.rules() == [])
  }

  @Test func onlyAddedRulesCanBeDropped() throws {
    let hotel = try Hotel()
    #expect(failure { try hotel.store.dropRule("nothing") }?.code == .unknownRule)
    #expect(failure { try hotel.store.dropRule("Booking.price.range") }?.code == .unsupportedSchema)
  }

  @Test func aReferencedRecordCannotBeDeletedWhileARuleNeedsIt() throws {
    let hotel = try Hotel()
    try hotel.store.write { tx in try tx.execute("UPDATE Booking SET start = 2 WHERE room = 1") }
    try hotel.store.write { tx in _ = try tx.delete(Booking.self, 3) }
    try hotel.store.add(.reference(\Booking.start, to: Room.self))
    let violations = try hotel.violations { tx in _ = try tx.delete(Room.self, 2) }
    #expect(
      violations == [
        Violation(
          kind: .reference, model: "Room", fields: [], rule: "Booking.start.exists",
          message: "is still referred to through Booking.start",
          remedy: "Delete or change those records first.")
      ])
    try hotel.store.write { tx in try tx.execute("UPDATE Booking SET start = 1") }
    try hotel.store.write { tx in _ = try tx.delete(Room.self, 2) }
  }

  @Test func aNegativePartOfASumCannotBeRemovedIfTheSumBecomesTooLarge() throws {
    let hotel = try Hotel()
    // A table without the CHECK on prices.
    try hotel.store.add(
      Rule(
        "Booking.balance", of: "Booking", fields: ["start"], .sumAtMost(limit: 5, per: ["room"])))
    #expect(try hotel.shell("INSERT INTO Booking VALUES (4, 1, 'B', -3, 0, 1, NULL)") == nil)
    #expect(try hotel.shell("UPDATE Booking SET start = 8 WHERE id = 2") == nil)
    #expect(try hotel.shell("DELETE FROM Booking WHERE id = 4")?.contains("balance") == true)
    #expect(
      try hotel.shell("UPDATE Booking SET room = 2 WHERE id = 4")?.contains("balance") == true)
    #expect(try hotel.shell("DELETE FROM Booking WHERE id = 2") == nil)
  }
}
