import Testing

@testable import ModelStore

/// Opening with `.migrate`: what the application made, and what the values mean.
extension MigrateOnOpeningTests {
  private func planned(_ files: Files, _ models: [ModelSchema]) throws -> MigrationPlan {
    try Store.migrationPlan(
      at: files.path("a"), schemas: models, configuration: StoreConfiguration())
  }

  private func blocked(_ reason: String, _ keys: [Int64] = []) -> [MigrationPlan.Action] {
    [
      .blocked(
        MigrationPlan.Obstacle(
          reason: reason, keys: keys.map { [.integer($0)] }, count: keys.count))
    ]
  }

  // A new column

  private static let due = FieldSchema(name: "due", type: .date, isOptional: true)

  @Test(arguments: [
    (
      """
      CREATE TABLE copy (a, b, c, d, e);
      CREATE TRIGGER fine AFTER INSERT ON Todo BEGIN SELECT new.title; END;
      CREATE TRIGGER copies AFTER INSERT ON Todo BEGIN
        INSERT INTO copy SELECT * FROM Todo WHERE id = new.id;
      END;
      CREATE TRIGGER other AFTER INSERT ON Todo BEGIN SELECT new.size; END
      """,
      "The trigger copies on Todo would fail: table copy has 5 columns but 6 values were supplied."
    ),
    (
      """
      CREATE TRIGGER begins AFTER UPDATE ON List BEGIN
        INSERT INTO Todo VALUES (NULL, 'first', new.id, 0, '');
      END
      """,
      "The trigger begins on List would fail: table Todo has 6 columns but 5 values were supplied."
    ),
    (
      "CREATE VIEW five (a, b, c, d, e) AS SELECT * FROM Todo",
      "The view five would fail: expected 5 columns for 'five' but got 6."
    ),
    (
      """
      CREATE VIEW all_todos AS SELECT * FROM Todo;
      CREATE VIEW padded AS SELECT * FROM all_todos UNION SELECT 1, 2, 3, 4, 5
      """,
      """
      The view padded would fail: SELECTs to the left and right of UNION do not have the same \
      number of result columns.
      """
    ),
    (
      """
      CREATE TABLE copy (a, b, c, d, e);
      CREATE VIEW lists AS SELECT id FROM List;
      CREATE TRIGGER through INSTEAD OF DELETE ON lists BEGIN
        INSERT INTO copy SELECT * FROM Todo WHERE list = old.id;
      END
      """,
      "The trigger through on lists would fail: table copy has 5 columns but 6 values were supplied."
    ),
  ])
  func aNewColumnThatBreaksAnObjectOfTheApplicationIsRefused(
    script: String, problem: String
  ) throws {
    let files = try populated(bindings: [Self.binding], journal: .full)
    try PlainDatabase(files.path("a")).execute(script)
    let before = try files.content("a")
    let models = Self.models { $0.fields.append(Self.due) }
    let rebuilt = models.map { model in
      model.with { if $0.name == "Todo" { $0.fields[1].defaultSQL = "''" } }
    }
    for (models, changes) in [
      (models, StoreConfiguration.SchemaChanges.migrate), (models, .additive), (rebuilt, .migrate),
    ] {
      let error = #expect(throws: StoreError.self) {
        try open(files, models, bindings: [Self.binding], journal: .full, changes: changes)
      }
      #expect(error?.code == .schemaMismatch)
      #expect(
        error?.message == """
          Changing the tables would break what the application made; nothing was changed. \
          \(problem) Drop it first, and create it again for the new columns.
          """)
      #expect((error?.migrationPlan == nil) == (changes == .additive))
    }
    #expect(try files.content("a") == before)
  }

  @Test func whatWorksOrWasBrokenBeforeDoesNotStandInTheWay() throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute(
      """
      CREATE VIEW all_todos AS SELECT * FROM Todo;
      CREATE VIEW broken AS SELECT missing FROM Todo;
      CREATE TRIGGER lost AFTER DELETE ON Todo BEGIN INSERT INTO nowhere VALUES (old.id); END;
      CREATE TRIGGER named AFTER INSERT ON List BEGIN
        INSERT INTO Todo (title, list) VALUES ('first', new.id);
      END;
      """)
    try open(files, Self.models { $0.fields.append(Self.due) }).close()
    #expect(try rows(files).map(\.count) == [6, 6, 6])
  }

  // Another type or collation

  private static let sized = "may use the column size of Todo, and the values get another type."
  private static let first = "Drop it first, or write a migration."

  @Test(arguments: [
    ("CREATE VIEW big AS SELECT id FROM Todo WHERE size > 4", "The view big \(sized) \(first)"),
    (
      """
      CREATE VIEW all_todos AS SELECT * FROM Todo;
      CREATE VIEW big AS SELECT id FROM all_todos WHERE size > 4
      """, "The view big \(sized) \(first)"
    ),
    (
      """
      CREATE TRIGGER limits BEFORE INSERT ON Todo WHEN new.size > 9 BEGIN
        SELECT RAISE(ABORT, 'big');
      END
      """, "The trigger limits \(sized) \(first)"
    ),
  ])
  func aTypeThatTheApplicationReadsStays(script: String, reason: String) throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute(script)
    for type in [FieldType.real, .text] {
      let plan = try planned(files, Self.models { $0.fields[3].type = type })
      #expect(plan.steps.map(\.action) == blocked(reason))
    }
  }

  @Test func anIndexDoesNotKeepAType() throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute(
      "CREATE INDEX big ON Todo (size) WHERE size > 4; CREATE VIEW ids AS SELECT id FROM Todo")
    #expect(try planned(files, Self.models { $0.fields[3].type = .text }).isSafe)
  }

  @Test(arguments: [
    Rule("limit", of: "Todo", .condition(sql: "size < 99")),
    Rule("limit", of: "Todo", fields: ["size"], .sumAtMost(limit: 99, per: [])),
    Rule("limit", of: "Todo", .countAtMost(count: 9, per: ["size"])),
    Rule("limit", of: "Todo", fields: ["title"], .unique(where: "size > 4")),
  ])
  func aTypeThatARuleReadsStays(rule: Rule) throws {
    let files = try populated()
    let store = try open(files, Self.models())
    try store.add(rule)
    store.close()
    let plan = try planned(files, Self.models { $0.fields[3].type = .text })
    #expect(
      plan.steps.map(\.action)
        == blocked(
          "The rule limit may use Todo.size, and the values get another type. \(Self.first)"))
  }

  @Test func aRuleThatOnlyNeedsAValueKeepsNoType() throws {
    let files = try populated()
    let store = try open(files, Self.models())
    try store.add(Rule("some", of: "Todo", fields: ["size"], .required))
    store.close()
    #expect(try planned(files, Self.models { $0.fields[3].type = .text }).isSafe)
  }

  @Test func aCollationByWhichTheApplicationComparesStays() throws {
    let nocase = Self.models { $0.fields[1].collation = .nocase }
    let files = try populated()
    try PlainDatabase(files.path("a")).execute("CREATE VIEW titles AS SELECT title FROM Todo")
    #expect(try planned(files, nocase).isSafe)
    try PlainDatabase(files.path("a")).execute(
      "CREATE VIEW sorted AS SELECT title FROM Todo ORDER BY title")
    #expect(
      try planned(files, nocase).steps.map(\.action)
        == blocked(
          """
          The view sorted may use the column title of Todo, and its values compare in another \
          way. \(Self.first)
          """))
    try PlainDatabase(files.path("a")).execute("DROP VIEW sorted")
    let store = try open(files, Self.models())
    try store.add(Rule("fixed", of: "Todo", fields: ["title"], .immutable))
    store.close()
    #expect(
      try planned(files, nocase).steps.map(\.action)
        == blocked(
          "The rule fixed may use Todo.title, and its values compare in another way. \(Self.first)"
        ))
  }

  // Another meaning

  private func meaning(_ from: String, _ to: String) -> String {
    "Records have \(from) values, and nothing converts them to \(to). Convert them in a migration."
  }

  @Test(arguments: [FieldType.uuid, .url, .decimal, .json])
  func anotherMeaningOfValuesIsBlocked(type: FieldType) throws {
    let files = try populated()
    let models = Self.models { $0.fields[1].type = type }
    let before = try files.content("a")
    let error = #expect(throws: StoreError.self) { try open(files, models) }
    #expect(error?.code == .schemaMismatch)
    let actions = blocked(meaning("text", type.rawValue), [1, 2, 3])
    #expect(error?.migrationPlan?.steps.map(\.action) == actions)
    #expect(try planned(files, models).steps.map(\.action) == actions)
    #expect(try files.content("a") == before)
    // Without values there is nothing to convert.
    try PlainDatabase(files.path("a")).execute("UPDATE Todo SET title = NULL")
    try open(files, models).close()
    #expect(try planned(files, models) == MigrationPlan())
  }

  @Test func aMigrationConvertsValues() throws {
    func models(_ type: FieldType, _ change: (inout ModelSchema) -> Void = { _ in })
      -> [ModelSchema]
    {
      Self.models {
        $0.fields[3].type = type
        change(&$0)
      }
    }
    let files = try Files()
    try open(files, models(.real)).close()
    try PlainDatabase(files.path("a")).execute(
      "INSERT INTO List VALUES (1, 'home'); INSERT INTO Todo (id, list, size) VALUES (1, 1, 5)")
    #expect(try planned(files, models(.date)).steps.map(\.changes) == [["Todo.size real to date"]])
    let convert = [
      Migration(
        version: 1, name: "dates", sql: "UPDATE Todo SET size = size - 978307200",
        onFreshFiles: .skip)
    ]
    try files.open("a", models(.date), convert) { $0.schemaChanges = .migrate }.close()
    #expect(try rows(files).map { $0[3] } == [.real(5 - 978_307_200)])
    // The next change of type is compared with the new one.
    #expect(
      try planned(files, models(.real)).steps.map(\.action)
        == blocked(meaning("date", "real"), [1]))
  }

  @Test func aMigrationOfSomethingElseDoesNotConvertLaterTypes() throws {
    let files = try populated()
    let other = [Migration(version: 1, name: "other", sql: "CREATE INDEX other ON Todo (size)")]
    try files.open("a", Self.models(), other) { $0.schemaChanges = .migrate }.close()
    #expect(try planned(files, Self.models { $0.fields[1].type = .uuid }).isBlocked)
  }

  @Test func aNumberBecomesABooleanIfItIsOne() throws {
    let files = try populated()
    let flags = Self.models { $0.fields[3].type = .boolean }
    #expect(
      try planned(files, flags).steps.map(\.action)
        == blocked("Records violate Todo.size.boolean.", [1, 2, 3]))
    try PlainDatabase(files.path("a")).execute("UPDATE Todo SET size = id = 1")
    try open(files, flags).close()
    #expect(try rows(files).map { $0[3] } == [.integer(1), .integer(0), .integer(0)])
  }

  @Test func aTypeWithMoreValuesNeedsNothing() throws {
    let files = try Files()
    let flags = Self.models {
      $0.fields[3].type = .boolean
      $0.fields[1].type = .decimal
    }
    try open(files, flags).close()
    try PlainDatabase(files.path("a")).execute(
      "INSERT INTO List VALUES (1, 'a'); INSERT INTO Todo (title, list, size) VALUES ('1.5', 1, 1)")
    try open(files, Self.models()).close()
    #expect(try planned(files, Self.models()) == MigrationPlan())
  }
}
