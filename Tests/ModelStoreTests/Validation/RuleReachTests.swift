import Testing

@testable import ModelStore

/// What else touches a rule's records and the rule itself: keys that change, other programs.
@Suite(.tags(.unit)) struct RuleReachTests {
  @Test func aLimitOnAllRecordsIsKept() throws {
    let hotel = try Hotel()
    try hotel.store.add(.atMost(4, of: Booking.self, name: "Booking.few"))
    #expect(try hotel.shell("INSERT INTO Booking VALUES (4, 1, 'B', 20, 21, 1, NULL)") == nil)
    #expect(
      try hotel.shell("INSERT INTO Booking VALUES (5, 1, 'B', 30, 31, 1, NULL)")?.hasSuffix(
        "Booking must have at most 4 records (rule Booking.few)") == true)
    #expect(try hotel.shell("UPDATE Booking SET id = id + 100, room = 2") == nil)
    let violations = try hotel.violations { tx in try tx.insert(Booking(id: 5)) }
    #expect(violations.map(\.message) == ["must have at most 4 records"])
  }

  @Test(arguments: [true, false])
  func aTriggerThatChangesTheKeyDoesNotHideARecord(isOlder: Bool) throws {
    let hotel = try Hotel()
    let rule = Rule.required(\Booking.note)
    if !isOlder { try hotel.store.add(rule, existingViolations: .keep) }
    #expect(
      try hotel.shell(
        """
        CREATE TRIGGER renumber AFTER INSERT ON Booking WHEN NEW.id < 100
        BEGIN UPDATE Booking SET id = NEW.id + 100 WHERE id = NEW.id; END
        """) == nil)
    if isOlder { try hotel.store.add(rule, existingViolations: .keep) }
    #expect(
      try hotel.shell("INSERT INTO Booking VALUES (9, 1, 'B', 20, 21, 1, NULL)")?.contains(
        rule.name) == true)
    #expect(try hotel.shell("INSERT INTO Booking VALUES (9, 1, 'B', 20, 21, 1, 'n')") == nil)
  }

  @Test func aRuleThatAnotherProgramAddedIsKeptAndCanBeDeclaredToo() throws {
    let rule = Rule.required(\Booking.note)
    let place = try TemporaryDirectory()
    let store = try Store(at: place.file("rooms.store"), models: Room.self)
    // What another process leaves behind when it declares Booking.
    let hotel = try Hotel()
    try hotel.store.add(rule, existingViolations: .keep)
    let file = try PlainDatabase(store.path)
    let made = try PlainDatabase(hotel.store.path).rows(
      """
      SELECT sql FROM sqlite_schema
      WHERE tbl_name = 'Booking' AND sql IS NOT NULL ORDER BY type <> 'table'
      """)
    for row in made {
      guard case .text(let sql) = row[0] else { continue }
      try file.execute(sql)
    }
    let entries = try PlainDatabase(hotel.store.path).rows(
      """
      SELECT 'INSERT INTO _ms_models (name, format, definition) VALUES ('
        || quote(name) || ',' || format || ',' || quote(definition) || ')'
      FROM _ms_models WHERE name = 'Booking'
      UNION ALL
      SELECT 'INSERT INTO _ms_rules (name, format, definition) VALUES ('
        || quote(name) || ',' || format || ',' || quote(definition) || ')'
      FROM _ms_rules
      """)
    #expect(entries.count == 2)
    for row in entries {
      guard case .text(let sql) = row[0] else { continue }
      try file.execute(sql)
    }
    func triggers() throws -> [[SQLValue]] {
      try file.rows(
        "SELECT name, sql FROM sqlite_schema WHERE instr(name, '\(rule.name)') > 0 ORDER BY name")
    }
    let before = try triggers()
    #expect(before.count == 2)
    let few = Rule.atMost(2, of: Booking.self, name: "Booking.few")
    try store.add(few)
    try store.add(.immutable(\Room.name))
    try store.dropRule("Room.name.immutable")
    #expect(try triggers() == before)
    #expect(try store.rules().map(\.name) == ["Booking.few", rule.name])
    try store.dropRule(few.name)
    try store.dropRule(rule.name)
    #expect(try triggers() == [])
  }

  @Test func triggersOfARuleThatCannotBeReadStayUnchanged() throws {
    let kept = Rule("Gone.note.required", of: "Gone", fields: ["note"], .required)
    let installation = try CompiledRules(
      [], in: [Booking.schema], leaving: [kept], catalog: nil)
    func found(_ name: String) -> SchemaObject {
      SchemaObject(kind: .trigger, name: name, sql: "")
    }
    let others = [found("_ms_rule_Gone.note.required2_insert"), found("_ms_rule_Gone.note_update")]
    #expect(
      installation.plan(
        from: InstalledObjects(
          [
            found("_ms_rule_Gone.note.required_insert"), found("_ms_rule_Gone.note.required"),
          ] + others)) == SchemaPlan(dropped: others))
  }

  @Test func aRefusalWithOneViolationNamesTheRecord() throws {
    let hotel = try Hotel()
    let violations = try hotel.violations { tx in try tx.set(\Booking.price, to: -1, for: 2) }
    #expect(
      violations == [
        Violation(
          kind: .check, model: "Booking", key: [.integer(2)], fields: ["price"],
          rule: "Booking.price.range", message: "must be 0 or greater", remedy: "Change the value.")
      ])
  }

  @Test(SQLiteShell.isNeeded, arguments: RuleTests.cases)
  func theSQLiteShellObeysTheRuleAndReportsIt(example: RuleTests.Case) throws {
    let hotel = try Hotel()
    try hotel.store.add(
      example.rule, existingViolations: example.rule.kind != .unique ? .keep : .refuse)
    let before = try hotel.contents()
    let told = try SQLiteShell.complaint(about: example.bad, in: hotel.store.path)
    #expect(
      told.contains(
        example.kind == .unique
          ? "UNIQUE constraint failed" : "\(example.message) (rule \(example.rule.name))"))
    #expect(try hotel.contents() == before)
    #expect(try SQLiteShell.complaint(about: example.good, in: hotel.store.path) == "")
  }

  @Test func searchingForViolationsReportsProgressAndCanBeStopped() throws {
    let hotel = try Hotel(rules: [.field(\Booking.start, .range(0...))])
    var told: [[Int]] = []
    let found = try hotel.store.findings(in: Booking.schema) { done, all in
      told.append([done, all])
    }
    #expect(found == [])
    // One reading for each rule, and one for texts that are none.
    #expect(told.count > 2)
    #expect(told == told.indices.map { [$0, told.count] })
    #expect(throws: CancellationError.self) {
      try hotel.store.findings(in: Booking.schema) { done, _ in
        if done == 1 { throw CancellationError() }
      }
    }
    // Nothing of it stays behind.
    try hotel.store.write { tx in try tx.set(\Booking.price, to: 3, for: 1) }
  }

  @Test func theBrokenOneOfSeveralRulesIsNamed() throws {
    let rules = [
      Rule.field(\Booking.start, .range(0...)), .field(\Booking.note, .length(2...)),
    ]
    let hotel = try Hotel(rules: rules)
    for (rule, bad) in zip(rules, ["start = -1", "note = 'n'"]) {
      let violations = try hotel.violations { tx in
        try tx.execute(SQLText(sql: "UPDATE Booking SET \(bad) WHERE id = 1"))
      }
      #expect(violations.map(\.rule) == [rule.name])
    }
  }

  @Test func generatedColumnsAreNotReportedAsMissing() throws {
    let place = try TemporaryDirectory()
    let path = place.file("invoices.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Invoice (
        id INTEGER PRIMARY KEY, net INTEGER NOT NULL,
        gross INTEGER NOT NULL GENERATED ALWAYS AS (net * 2) STORED)
      """)
    let store = try Store(at: path)
    let invoice = try #require(try store.adopt().first)
    try store.add(Rule("Invoice.net.positive", of: "Invoice", .condition(sql: "net > 0")))
    try store.add(Rule("Invoice.gross.few", of: "Invoice", .condition(sql: "gross < 100")))
    func refusals(_ values: [String: SQLValue]) -> [String]? {
      failure { try store.write { tx in _ = try tx.insert(values, into: invoice) } }?
        .violations.map(\.rule)
    }
    #expect(refusals(["id": .integer(1), "net": .integer(0)]) == ["Invoice.net.positive"])
    #expect(refusals(["id": .integer(1), "net": .integer(50)]) == ["Invoice.gross.few"])
    #expect(refusals(["id": .integer(1), "net": .null]) == ["Invoice.net.required"])
    try store.write { tx in
      _ = try tx.insert(["id": .integer(1), "net": .integer(49)], into: invoice)
    }
  }

  /// Only SQLite can compute the value of a generated column; once it counted as NULL.
  @Test func sumsOverGeneratedColumnsAreLeftToTheFile() throws {
    let place = try TemporaryDirectory()
    let path = place.file("invoices.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Invoice (
        id INTEGER PRIMARY KEY, net INTEGER NOT NULL,
        gross INTEGER NOT NULL GENERATED ALWAYS AS (net * 2) STORED);
      INSERT INTO Invoice (id, net) VALUES (1, 60);
      """)
    let store = try Store(at: path)
    let invoice = try #require(try store.adopt().first)
    try store.add(
      Rule("Invoice.budget", of: "Invoice", fields: ["gross"], .sumAtMost(limit: 100, per: [])),
      existingViolations: .keep)
    func refusals(_ net: SQLValue) -> [String]? {
      failure {
        try store.write { tx in
          _ = try tx.insert(["id": .integer(2), "net": net], into: invoice)
        }
      }?.violations.map(\.rule)
    }
    #expect(refusals(.null) == ["Invoice.net.required"])
    #expect(refusals(.integer(1)) == ["Invoice.budget"])
  }
}
