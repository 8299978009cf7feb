import Testing

@testable import ModelStore

/// Opening with `.migrate`: constraints that name other changes of the same plan, and constraints
/// that are not the model's own.
extension MigrateOnOpeningTests {
  // Constraints that belong together

  private static let due = FieldSchema(name: "due", type: .integer, defaultSQL: "7")

  @Test(arguments: [
    todo {
      $0.fields.append(due)
      $0.uniques = [["list", "due", "title"]]
    },
    todo {
      $0.fields.append(due)
      $0.rules = [RuleSchema(name: "Todo.later", message: "", condition: "due > list")]
    },
    todo {
      $0.fields.append(due)
      $0.indexes = [IndexSchema(name: "byDue", fields: ["due", "title"], isUnique: true)]
    },
    todo {
      $0.fields.append(
        due.with { field in
          field.rules = [RuleSchema(name: "Todo.due.x", message: "", condition: "due < later")]
        })
      $0.fields.append(FieldSchema(name: "later", type: .integer, defaultSQL: "9"))
    },
    todo {
      $0.fields[1].collation = .nocase
      $0.fields[1].isUnique = true
    },
    todo {
      $0.fields[3].type = .text
      $0.rules = [RuleSchema(name: "Todo.s", message: "", condition: "typeof(size) = 'text'")]
    },
  ])
  func aConstraintMayNameWhatTheSamePlanChanges(model: ModelSchema) throws {
    let files = try populated()
    let store = try open(files, [Self.list, model])
    #expect(try store.schemaDrift() == [])
    #expect(try rows(files).count == 3)
    let fresh = try Store(
      at: files.path("fresh"), declaring: Declarations(models: [Self.list, model]),
      configuration: StoreConfiguration(), onError: { Issue.record($0) })
    #expect(try store.schemaDifferences(from: fresh) == [])
  }

  @Test(arguments: [
    (
      todo {
        $0.fields.append(due)
        $0.uniques = [["list", "due"]]
      }, "Records have the same values.", [1, 3]
    ),
    (
      todo {
        $0.fields.append(due)
        $0.rules = [RuleSchema(name: "Todo.r", message: "", condition: "due > size + 3")]
      }, "Records violate Todo.r.", [2]
    ),
    (
      todo {
        $0.fields.append(due)
        $0.indexes = [IndexSchema(name: "byDue", fields: ["due", "size"], isUnique: true)]
      }, "Records have the same values.", [1, 3]
    ),
    (
      todo {
        $0.fields[3].type = .text
        $0.rules = [RuleSchema(name: "Todo.r", message: "", condition: "typeof(size) = 'integer'")]
      }, "Records violate Todo.r.", [1, 2, 3]
    ),
  ])
  func recordsThatViolateThemAreNamed(
    model: ModelSchema, reason: String, keys: [Int]
  ) throws {
    let files = try populated()
    let before = try files.content("a")
    let error = #expect(throws: StoreError.self) { try open(files, [Self.list, model]) }
    #expect(error?.code == .schemaMismatch)
    let obstacle = MigrationPlan.Obstacle(
      reason: reason, keys: keys.map { [.integer(Int64($0))] }, count: keys.count)
    #expect(error?.migrationPlan?.steps.contains { $0.action == .blocked(obstacle) } == true)
    #expect(try files.content("a") == before)
  }

  @Test func aCollationIsComparedWithTheConstraintsOfItsColumn() throws {
    let files = try populated()
    let plain = try PlainDatabase(files.path("a"))
    try plain.execute("UPDATE Todo SET title = 'A' WHERE id = 3")
    let error = #expect(throws: StoreError.self) {
      try open(
        files,
        Self.models {
          $0.fields[1].collation = .nocase
          $0.fields[1].isUnique = true
        })
    }
    let same = MigrationPlan.Action.blocked(
      MigrationPlan.Obstacle(
        reason: "Records have the same values.", keys: [[.integer(1)], [.integer(3)]], count: 2))
    #expect(error?.migrationPlan?.steps.map(\.action).last == same)
    // A rule that the table has already.
    let ruled = Self.todo {
      $0.rules = [RuleSchema(name: "Todo.r", message: "", condition: "title <> 'a' OR id = 1")]
    }
    try open(files, [Self.list, ruled]).close()
    let plan = try Store.migrationPlan(
      at: files.path("a"), schemas: [Self.list, ruled.with { $0.fields[1].collation = .nocase }],
      configuration: StoreConfiguration())
    #expect(
      plan.steps.map(\.action) == [
        .blocked(
          MigrationPlan.Obstacle(
            reason: "Records violate Todo.r.", keys: [[.integer(3)]], count: 1))
      ])
  }

  @Test func aReferenceToANewColumnFindsNoRecord() throws {
    let files = try populated()
    var list = Self.list
    list.fields.append(FieldSchema(name: "code", type: .integer, isOptional: true, isUnique: true))
    let plan = try Store.migrationPlan(
      at: files.path("a"),
      schemas: [
        list,
        Self.todo { $0.fields[3].reference = ReferenceSchema(table: "List", column: "code") },
      ], configuration: StoreConfiguration())
    #expect(
      plan.steps.contains {
        $0.action
          == .blocked(
            MigrationPlan.Obstacle(
              reason: "Records refer to no record.",
              keys: [[.integer(1)], [.integer(2)], [.integer(3)]], count: 3))
      })
  }

  @Test func valuesThatANewTypeRefusesAreAMismatch() throws {
    let files = try populated()
    // The table has no such value for the plan, and the default is no number.
    let models = Self.models {
      $0.fields[3].defaultSQL = "0"
      $0.fields.append(FieldSchema(name: "n", type: .integer, defaultSQL: "'x'"))
    }
    let before = try files.content("a")
    let error = #expect(throws: StoreError.self) { try open(files, models) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.migrationPlan?.steps.count == 1)
    #expect(error?.message.contains("_ms_new_") == false)
    #expect(try files.content("a") == before)
  }

  // What the application made

  @Test(arguments: [
    ("CREATE UNIQUE INDEX app ON Todo (title)", "a unique index app"),
    (
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ', CONSTRAINT app CHECK (size < 99)) STRICT') WHERE name = 'Todo'; PRAGMA schema_version = 9999",
      "a CHECK app"
    ),
    (
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ', FOREIGN KEY (size) REFERENCES List) STRICT') WHERE name = 'Todo'; PRAGMA schema_version = 9999",
      "a foreign key from (size) to List"
    ),
  ])
  func aConstraintOfTheApplicationIsNotDropped(script: String, name: String) throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute(script)
    let before = try files.content("a")
    let error = #expect(throws: StoreError.self) { try open(files, Self.models()) }
    #expect(
      error?.migrationPlan?.steps.map(\.action) == [
        .blocked(
          MigrationPlan.Obstacle(
            reason:
              "The table Todo has \(name), which no version of Todo declared. Declare it, or drop it in a migration."
          ))
      ])
    #expect(try files.content("a") == before)
  }

  @Test func aUniqueSetToWhichAnotherTableRefersStays() throws {
    let files = try populated()
    let models = Self.models { $0.fields[1].isUnique = true }
    try open(files, models).close()
    try PlainDatabase(files.path("a")).execute(
      "CREATE TABLE theirs (t TEXT REFERENCES Todo (title))")
    let error = #expect(throws: StoreError.self) {
      try open(files, Self.models { $0.fields[1].defaultSQL = "'q'" })
    }
    #expect(
      error?.migrationPlan?.steps.map(\.action).last
        == .blocked(
          MigrationPlan.Obstacle(
            reason:
              "The table theirs refers to Todo (title), which has to stay unique. Drop its foreign key first."
          )))
  }

  @Test func twoDeclaredIndexesOverOneSetAreBothDropped() throws {
    let files = try populated()
    let indexed = Self.models {
      $0.indexes = [
        IndexSchema(name: "one", fields: ["title"], isUnique: true),
        IndexSchema(name: "two", fields: ["title"], isUnique: true),
      ]
    }
    try open(files, indexed).close()
    let store = try open(
      files, Self.models { $0.fields.append(FieldSchema(name: "d", type: .text, isOptional: true)) }
    )
    #expect(try store.schemaDrift() == [])
    #expect(
      try PlainDatabase(files.path("a")).rows(
        "SELECT name FROM sqlite_schema WHERE name IN ('one', 'two')") == [])
  }

  // Going back

  @Test func goingBackNeedsAMigration() throws {
    let files = try populated()
    let second = Self.models {
      $0.indexes = [IndexSchema(name: "u", fields: ["title"], isUnique: true)]
    }
    try open(files, second).close()
    let plan = try Store.migrationPlan(
      at: files.path("a"), schemas: Self.models(), configuration: StoreConfiguration())
    #expect(!plan.isSafe)
    #expect(
      plan.steps.map(\.action) == [
        .blocked(
          MigrationPlan.Obstacle(
            reason:
              "A newer version of this program replaced this form of the model. To go back to it on purpose, write a migration."
          ))
      ])
    let error = #expect(throws: StoreError.self) { try open(files, Self.models()) }
    #expect(error?.code == .newerFormat)
    #expect(error?.message.contains("write a migration") == true)
    let back = [Migration(version: 1, name: "dropU", sql: "DROP INDEX u")]
    try files.open("a", Self.models(), back) { $0.schemaChanges = .migrate }.close()
    // It is the current form again.
    let forms = try PlainDatabase(files.path("a")).rows("SELECT form FROM _ms_superseded")
    #expect(forms == [])
    // The second version lacks the migration.
    let older = #expect(throws: StoreError.self) { try open(files, second) }
    #expect(older?.code == .newerFormat)
  }

  // Cascades

  @Test func aReferenceWithoutColumnsConcernsTheKeyAlone() throws {
    let files = try populated(bindings: [Self.binding])
    try PlainDatabase(files.path("a")).execute(
      "CREATE TABLE theirs (t INTEGER REFERENCES Todo ON UPDATE CASCADE)")
    // A new binding fills a field while the table is copied.
    let binding = FieldBinding.copy(from: "List.id", to: "Todo.size", through: "Todo.list")
    let models = Self.models { $0.fields[1].defaultSQL = "'q'" }
    try open(files, models, bindings: [Self.binding, binding]).close()
    #expect(try rows(files).map { $0[3] } == [.integer(1), .integer(2), .integer(1)])
  }
}

extension FieldSchema {
  fileprivate func with(_ change: (inout FieldSchema) -> Void) -> FieldSchema {
    var field = self
    change(&field)
    return field
  }
}
