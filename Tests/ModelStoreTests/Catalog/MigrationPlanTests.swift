import Foundation
import Testing

@testable import ModelStore

/// Plans of schema changes, as values.
@Suite(.tags(.unit)) struct MigrationPlanTests {
  private typealias Files = MigratedFiles

  private static let list = ModelSchema(
    name: "List", fields: [FieldSchema(name: "id", type: .integer, isRowID: true)], key: ["id"])

  private static func todo(_ change: (inout ModelSchema) -> Void = { _ in }) -> ModelSchema {
    var model = ModelSchema(
      name: "Todo",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "title", type: .text, isOptional: true),
        FieldSchema(name: "list", type: .integer, isOptional: true),
      ], key: ["id"])
    change(&model)
    return model
  }

  private func plan(
    _ files: Files, _ models: [ModelSchema], access: StoreConfiguration.Access = .readOnly
  ) throws -> MigrationPlan {
    try Store.migrationPlan(
      at: files.path("a"), schemas: models, configuration: StoreConfiguration(access: access))
  }

  private func populated() throws -> Files {
    let files = try Files()
    try files.create(
      "a", [Self.todo()],
      "INSERT INTO Todo VALUES (1, 'a', 1), (7, NULL, 2), (9, 'b', NULL), (19, NULL, 1)",
      "CREATE INDEX app ON Todo (title) WHERE list > 1",
      "CREATE VIEW titles AS SELECT title FROM Todo",
      "CREATE TRIGGER noted AFTER DELETE ON Todo BEGIN SELECT 1; END")
    return files
  }

  @Test func aPlanListsStepsAsTheCommandPrintsThem() throws {
    let files = try populated()
    let models = [
      Self.list,
      Self.todo { todo in
        todo.fields[1].isOptional = false
        todo.fields[2].reference = ReferenceSchema(table: "List")
        todo.fields[2].defaultSQL = "0"
        todo.fields.append(FieldSchema(name: "due", type: .date, isOptional: true))
      },
    ]
    let before = try files.content("a")
    let plan = try plan(files, models)
    #expect(
      plan.description == """
        rebuild    Todo.list DEFAULT 0, Todo.due add optional date   4 rows, ~1 ms; keeps 1 index, 1 trigger, 1 view
        in place   List create table
        in place   Todo create index _ms_index_Todo.list
        blocked    Todo.title NOT NULL                            Records violate NOT NULL. 2 records: Todo 7; Todo 19
        blocked    Todo.list REFERENCES List                      Records refer to no record. 3 records: Todo 1; Todo 7; Todo 19
        """)
    #expect(plan.isBlocked && !plan.isSafe && !plan.losesData && !plan.isEmpty)
    #expect(try files.content("a") == before)
    let copy = try JSONDecoder().decode(
      MigrationPlan.self, from: JSONEncoder().encode(plan))
    #expect(copy == plan)
  }

  @Test func aRebuildNamesWhatItKeeps() throws {
    let files = try populated()
    let plan = try plan(files, [Self.todo { $0.fields[1].defaultSQL = "''" }])
    let rebuild = MigrationPlan.Rebuild(
      rowCount: 4,
      sql: """
        CREATE TABLE "Todo" (
          "id" INTEGER PRIMARY KEY,
          "title" TEXT DEFAULT '',
          "list" INTEGER
        ) STRICT
        """,
      indexes: ["app"], triggers: ["noted"], views: ["titles"])
    #expect(
      plan
        == MigrationPlan(steps: [
          MigrationPlan.Step(
            model: "Todo", table: "Todo", changes: ["Todo.title DEFAULT ''"],
            action: .rebuild(rebuild))
        ]))
    #expect(plan.isSafe)
    #expect(rebuild.estimatedSeconds == 4 / 250_000.0 * 1.25)
  }

  @Test func inPlaceStepsHaveTheirExactSQL() throws {
    let files = try populated()
    let plan = try plan(
      files,
      [Self.todo { $0.fields.append(FieldSchema(name: "due", type: .date, isOptional: true)) }])
    #expect(
      plan
        == MigrationPlan(steps: [
          MigrationPlan.Step(
            model: "Todo", table: "Todo", changes: ["Todo.due add optional date"],
            action: .inPlace(sql: ["ALTER TABLE \"Todo\"\nADD COLUMN \"due\" REAL"]))
        ]))
  }

  @Test func droppingAColumnLosesData() throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute("DROP VIEW titles; DROP INDEX app")
    let plan = try plan(files, [Self.todo { $0.fields.remove(at: 1) }])
    #expect(plan.losesData && !plan.isBlocked && !plan.isSafe)
    #expect(
      plan.description == """
        rebuild    Todo.title drop   4 rows, ~1 ms; keeps 1 trigger
          loses    The values of the column title in Todo.
        """)
  }

  @Test func aColumnThatOtherObjectsUseIsNotDropped() throws {
    let files = try populated()
    let plan = try plan(files, [Self.todo { $0.fields.remove(at: 1) }])
    #expect(
      plan.steps.map(\.action) == [
        .blocked(
          MigrationPlan.Obstacle(
            reason: "The index app may use the column title of Todo. Drop it first."))
      ])
  }

  @Test(arguments: [
    (
      FieldSchema(name: "n", type: .integer),
      "Records have no value for it, and it has no default.", 4
    ),
    (
      FieldSchema(name: "n", type: .integer, isUnique: true, defaultSQL: "3"),
      "Records would have the same default.", 4
    ),
    (
      FieldSchema(
        name: "n", type: .integer, defaultSQL: "3", reference: ReferenceSchema(table: "Todo")),
      "Records would refer to no record.", 4
    ),
    (
      FieldSchema(
        name: "n", type: .integer, defaultSQL: "3",
        rules: [RuleSchema(name: "Todo.n.low", message: "", condition: "n < 3")]),
      "Records violate Todo.n.low.", 4
    ),
  ])
  func aNewColumnThatRecordsCannotHaveIsBlocked(
    field: FieldSchema, reason: String, count: Int
  ) throws {
    let files = try populated()
    let plan = try plan(files, [Self.todo { $0.fields.append(field) }])
    let keys: [[SQLValue]] = [[.integer(1)], [.integer(7)], [.integer(9)], [.integer(19)]]
    #expect(
      plan.steps.last?.action
        == .blocked(MigrationPlan.Obstacle(reason: reason, keys: keys, count: count)))
  }

  @Test func aUniqueColumnMayHaveADefaultThatDiffers() throws {
    let files = try populated()
    func token(_ value: String) -> [ModelSchema] {
      [
        Self.todo {
          $0.fields.append(
            FieldSchema(name: "token", type: .text, isUnique: true, defaultSQL: value))
        }
      ]
    }
    let once = try plan(files, token("CURRENT_TIMESTAMP"))
    #expect(
      once.steps.last?.action
        == .blocked(
          MigrationPlan.Obstacle(
            reason: "Records have the same values.",
            keys: [[.integer(1)], [.integer(7)], [.integer(9)], [.integer(19)]], count: 4)))
    let random = token("hex(randomblob(16))")
    #expect(try plan(files, random).isSafe)
    try files.open("a", random) { $0.schemaChanges = .migrate }.close()
    let tokens = try PlainDatabase(files.path("a")).rows("SELECT DISTINCT token FROM Todo")
    #expect(tokens.count == 4)
  }

  @Test func duplicatesBlockAUniqueSet() throws {
    let files = try populated()
    let plan = try plan(files, [Self.todo { $0.fields[2].isUnique = true }])
    #expect(
      plan.description
        == "blocked    Todo.list UNIQUE   Records have the same values. 2 records: Todo 1; Todo 19")
  }

  @Test func aKeyChangesOnlyInAMigration() throws {
    let files = try populated()
    let plan = try plan(
      files,
      [
        Self.todo {
          $0.key = ["title"]
          $0.fields[1].isOptional = false
        }
      ])
    #expect(plan.isBlocked)
  }

  @Test func aFileThatFitsNeedsNothing() async throws {
    let files = try populated()
    #expect(try plan(files, [Self.todo()]) == MigrationPlan())
    #expect(MigrationPlan().description == "nothing to do")
    let store = try files.open("a", [Self.todo()])
    #expect(try await store.migrationPlan() == MigrationPlan())
    try PlainDatabase(files.path("a")).execute("ALTER TABLE Todo ADD COLUMN more TEXT")
    #expect(try store.planNow().steps.map(\.changes) == [["Todo.more drop"]])
  }
}

extension Store {
  /// The synchronous form, in an asynchronous test.
  fileprivate func planNow() throws -> MigrationPlan { try migrationPlan() }
}
