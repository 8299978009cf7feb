import Testing

@testable import ModelStore

/// Rules whose triggers or index another program lost, edited or left behind.
@Suite(.tags(.unit)) struct UnkeptRuleTests {
  private static let late = Rule.required(\Booking.note)
  private static let once = Rule.unique("Booking.once", \Booking.room, \Booking.start)

  @Test func aFileThatKeepsItsRulesHasNoDriftedRules() throws {
    let hotel = try Hotel()
    for example in RuleTests.cases { try hotel.store.add(example.rule, existingViolations: .keep) }
    #expect(try hotel.store.schemaDrift(of: [.rules]) == [])
    #expect(try hotel.store.rebuildRules() == [])
  }

  @Test func everyMissingTriggerAndIndexOfARuleIsFoundAndRestored() throws {
    for example in RuleTests.cases {
      let hotel = try Hotel()
      try hotel.store.add(example.rule, existingViolations: .keep)
      let raw = try PlainDatabase(hotel.store.path)
      let query = """
        SELECT name, type, sql FROM sqlite_schema
        WHERE name LIKE '\\_ms\\_rule\\_%' ESCAPE '\\' ORDER BY name
        """
      let objects = try raw.rows(query)
      #expect(!objects.isEmpty)
      for object in objects {
        guard case .text(let name) = object[0], case .text(let kind) = object[1],
          let subject = SchemaDrift.Difference.Subject(rawValue: kind)
        else { continue }
        try raw.execute("DROP \(kind) \"\(name)\"")
        let unkept = [SchemaDrift(.rule(example.rule.name), [.init(subject, name, .missing)])]
        #expect(try hotel.store.schemaDrift(of: [.rules]) == unkept)
        #expect(try hotel.store.rebuildRules() == unkept)
        #expect(try raw.rows(query) == objects)
      }
    }
  }

  @Test func editedAndUnknownTriggersAreFoundByTheNameOfTheirRule() throws {
    let hotel = try Hotel()
    try hotel.store.add(Self.late, existingViolations: .keep)
    let raw = try PlainDatabase(hotel.store.path)
    try raw.execute(
      """
      DROP TRIGGER "_ms_rule_Booking.note.required_insert";
      CREATE TRIGGER "_ms_rule_Booking.note.required_insert" AFTER INSERT ON Booking
      BEGIN SELECT 1; END;
      CREATE TRIGGER "_ms_rule_gone_referenced_delete" AFTER DELETE ON Room
      BEGIN SELECT RAISE(ABORT, 'no'); END;
      """)
    let unkept = [
      SchemaDrift(
        .rule("Booking.note.required"),
        [.init(.trigger, "_ms_rule_Booking.note.required_insert", .changed)]),
      SchemaDrift(
        .rule("gone"), [.init(.trigger, "_ms_rule_gone_referenced_delete", .unexpected)]),
    ]
    #expect(try hotel.store.schemaDrift(of: [.rules]) == unkept)
    #expect(try hotel.store.rebuildRules() == unkept)
    #expect(try hotel.store.schemaDrift(of: [.rules]) == [])
    #expect(try hotel.shell("INSERT INTO Booking VALUES (9, 1, 'B', 0, 1, 1, NULL)") != nil)
    #expect(try hotel.shell("DELETE FROM Room WHERE id = 2") == nil)
  }

  @Test func anIndexWithoutARuleIsFoundByItsFullName() throws {
    let hotel = try Hotel()
    try PlainDatabase(hotel.store.path).execute(
      "CREATE UNIQUE INDEX \"_ms_rule_gone_update\" ON Booking (id)")
    #expect(
      try hotel.store.schemaDrift(of: [.rules])
        == [SchemaDrift(.rule("gone_update"), [.init(.index, "_ms_rule_gone_update", .unexpected)])]
    )
  }

  @Test func aRuleWhoseTriggerNameIsTakenIsRefused() throws {
    let hotel = try Hotel()
    let first = Rule("r", of: "Booking", fields: ["start"], .reference(model: "Room"))
    let second = Rule(
      "R_referenced", of: "Booking", fields: ["start"], .sumAtMost(limit: 90, per: ["room"]))
    try hotel.store.add(first, existingViolations: .keep)
    let error = failure { try hotel.store.add(second) }
    #expect(error?.code == .configurationConflict)
    #expect(
      error?.message.hasPrefix("The rules r and R_referenced would both have a trigger") == true)
    #expect(try hotel.store.rules() == [first])
    #expect(try hotel.store.schemaDrift(of: [.rules]) == [])
    // An index may be called like a trigger.
    try hotel.store.add(Rule("r_insert", of: "Booking", fields: ["id"], .unique(where: nil)))
    #expect(try hotel.store.schemaDrift(of: [.rules]) == [])
    try hotel.store.dropRule("r")
    #expect(try hotel.store.rules().map(\.name) == ["r_insert"])
    #expect(try hotel.store.schemaDrift(of: [.rules]) == [])
  }

  @Test func aUniqueIndexIsNotCreatedOverRecordsThatBreakIt() throws {
    let hotel = try Hotel()
    try hotel.store.add(Self.once)
    let raw = try PlainDatabase(hotel.store.path)
    try raw.execute("DROP INDEX \"_ms_rule_Booking.once\"; UPDATE Booking SET start = 0")
    let error = failure { try hotel.store.rebuildRules() }
    #expect(error?.code == .rejected)
    #expect(error?.violations.map(\.key) == [[.integer(1)], [.integer(2)]])
    #expect(
      try hotel.store.schemaDrift(of: [.rules])
        == [SchemaDrift(.rule("Booking.once"), [.init(.index, "_ms_rule_Booking.once", .missing)])])
  }

  @Test func aFileWithALostUniqueIndexAndDuplicateRecordsCanBeOpened() throws {
    let hotel = try Hotel()
    let path = hotel.store.path
    try hotel.store.add(Self.once)
    try hotel.store.add(Self.late, existingViolations: .keep)
    hotel.store.close()
    let raw = try PlainDatabase(path)
    try raw.execute(
      """
      DROP INDEX "_ms_rule_Booking.once"; DROP TRIGGER "_ms_rule_Booking.note.required_insert";
      UPDATE Booking SET start = 0
      """)
    let problems = Recorder<StoreError>()
    // A program that does not declare the rule can work, gets a report, and obeys the triggers that
    // exist.
    let store = try Store(at: path, models: Room.self, Booking.self, onError: { problems.add($0) })
    let told = problems.taken()
    #expect(told.map(\.code) == [.rejected])
    #expect(told.first?.violations.map(\.key) == [[.integer(1)], [.integer(2)]])
    #expect(told.first?.message.contains("Booking.once was not installed") == true)
    #expect(try store.rules().map(\.name) == ["Booking.note.required", "Booking.once"])
    #expect(try store.schemaDrift(of: [.rules]).map(\.owner.name) == ["Booking.once"])
    store.close()
    // A program that declares the rule relies on it.
    func open() throws -> Store {
      try Store(at: path, models: Room.self, Booking.self, rules: [Self.once])
    }
    let error = failure { try open() }
    #expect(error?.code == .rejected)
    #expect(error?.violationCount == 2)
    #expect(error?.violations.map(\.rule) == ["Booking.once", "Booking.once"])
    try raw.execute("UPDATE Booking SET start = id")
    let again = try open()
    #expect(try again.schemaDrift(of: [.rules]) == [])
    again.close()
  }

  @Test func noTriggerIsCreatedOnAChangedTable() throws {
    let hotel = try Hotel()
    try hotel.store.add(Self.late, existingViolations: .keep)
    try PlainDatabase(hotel.store.path).execute("ALTER TABLE Booking RENAME COLUMN note TO word")
    #expect(
      try hotel.store.schemaDrift(of: [.rules]).map(\.owner.name) == ["Booking.note.required"])
    // SQLite renamed the column in the trigger too, which works and is left alone.
    #expect(try hotel.store.rebuildRules() == [])
    #expect(try hotel.shell("UPDATE Booking SET word = 'x' WHERE id = 1") == nil)
  }

  @Test func namesAreUniqueAmongRulesInSwiftToo() throws {
    let validator = Validator("Booking.polite", over: Booking.self) { _, _ in [] }
    let hotel = try Hotel(validators: [validator])
    let rule = Rule.condition("booking.POLITE", of: Booking.self, "1 = 1", "must be")
    let attempts: [() throws -> RuleFinding?] = [
      { try hotel.store.finding(of: rule) }, { try hotel.store.add(rule) },
    ]
    for attempt in attempts {
      #expect(failure { try attempt() }?.code == .configurationConflict)
    }
    #expect(
      failure { _ = try Hotel(rules: [rule], validators: [validator]) }?.code
        == .configurationConflict)
  }

  @Test func aConditionDoesNotRaise() throws {
    let hotel = try Hotel()
    let rule = Rule.condition("r", of: Booking.self, "RAISE(ABORT, 'x')", "must be")
    #expect(failure { try hotel.store.add(rule) }?.code == .unsupportedSchema)
  }

  @Test func valuesAreComparedWithTheListAsStored() throws {
    let hotel = try Hotel()
    try hotel.store.add(
      .field(\Booking.note, .oneOf(values: [.text("1"), .blob([0]), .null])),
      existingViolations: .keep)
    #expect(try hotel.shell("UPDATE Booking SET note = '1' WHERE id = 1") == nil)
    #expect(try hotel.shell("UPDATE Booking SET note = 'one' WHERE id = 1") != nil)
  }

  @Test func progressIsReportedBeforeEachRead() throws {
    let hotel = try Hotel()
    var steps: [[Int]] = []
    _ = try hotel.store.findings(in: Room.schema) { done, all in steps.append([done, all]) }
    let count = try #require(steps.first?[1])
    #expect(steps == (0..<count).map { [$0, count] })
  }
}
