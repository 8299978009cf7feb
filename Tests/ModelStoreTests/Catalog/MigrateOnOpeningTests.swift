import Testing

@testable import ModelStore

/// Opening a store with `.migrate`: each kind of change on tables with records.
@Suite(.tags(.unit)) struct MigrateOnOpeningTests {
  typealias Files = MigratedFiles

  static let list = ModelSchema(
    name: "List",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "name", type: .text),
    ], key: ["id"])

  static func todo(_ change: (inout ModelSchema) -> Void = { _ in }) -> ModelSchema {
    var model = ModelSchema(
      name: "Todo",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "title", type: .text, isOptional: true),
        FieldSchema(
          name: "list", type: .integer,
          reference: ReferenceSchema(table: "List", onDelete: .cascade)),
        FieldSchema(name: "size", type: .integer, isOptional: true),
        FieldSchema(name: "listName", type: .text, isOptional: true),
      ], key: ["id"])
    change(&model)
    return model
  }

  static func models(_ change: (inout ModelSchema) -> Void = { _ in }) -> [ModelSchema] {
    [list, todo(change)]
  }

  static let binding = FieldBinding.copy(
    from: "List.name", to: "Todo.listName", through: "Todo.list")

  func open(
    _ files: Files, _ models: [ModelSchema], bindings: [FieldBinding] = [],
    journal: JournalDetail? = nil,
    changes: StoreConfiguration.SchemaChanges = .migrate
  ) throws -> Store {
    try Store(
      at: files.path("a"),
      declaring: Declarations(models: models, bindings: bindings, changeJournal: journal),
      configuration: StoreConfiguration(schemaChanges: changes, changeJournal: journal),
      onError: { Issue.record($0) })
  }

  func populated(
    bindings: [FieldBinding] = [], journal: JournalDetail? = nil
  ) throws -> Files {
    let files = try Files()
    let store = try open(files, Self.models(), bindings: bindings, journal: journal)
    try store.write { tx in
      try tx.execute("INSERT INTO List VALUES (1, 'home'), (2, 'work')")
      try tx.execute(
        "INSERT INTO Todo (id, title, list, size) VALUES (1, 'a', 1, 3), (2, 'b', 2, 5), (3, 'c', 1, 3)"
      )
    }
    store.close()
    return files
  }

  func rows(_ files: Files, _ table: String = "Todo") throws -> [[SQLValue]] {
    try PlainDatabase(files.path("a")).rows("SELECT * FROM \(table) ORDER BY id")
  }

  @Test(arguments: [
    todo { $0.fields[1].isOptional = false },
    todo { $0.fields[1].isUnique = true },
    todo { $0.fields[1].defaultSQL = "'none'" },
    todo { $0.fields[1].collation = .nocase },
    todo { $0.fields[2].isOptional = true },
    todo { $0.fields[2].reference = nil },
    todo { $0.fields[2].reference?.onDelete = .restrict },
    todo { $0.fields[3].defaultSQL = "CURRENT_TIMESTAMP" }.with { $0.fields[3].defaultSQL = "-1" },
    todo { $0.uniques = [["list", "title"]] },
    todo { $0.rules = [RuleSchema(name: "Todo.both", message: "", condition: "size > list")] },
    todo {
      $0.fields[1].rules = [
        RuleSchema(name: "Todo.title.x", message: "", condition: "title <> 'x'")
      ]
    },
    todo { $0.indexes = [IndexSchema(name: "byTitle", fields: ["title"], isUnique: true)] },
    todo { $0.fields.append(FieldSchema(name: "n", type: .integer, defaultSQL: "7")) },
    todo {
      $0.fields.append(FieldSchema(name: "u", type: .text, isOptional: true, isUnique: true))
    },
  ])
  func aSafeChangeIsAppliedAndKeepsEverything(model: ModelSchema) throws {
    let files = try populated(bindings: [Self.binding])
    try PlainDatabase(files.path("a")).execute(
      """
      CREATE TABLE log (id INTEGER PRIMARY KEY, text);
      CREATE TRIGGER app AFTER DELETE ON List BEGIN INSERT INTO log (text) SELECT title FROM Todo; END;
      CREATE TRIGGER app2 AFTER DELETE ON Todo BEGIN INSERT INTO log (text) VALUES (old.title); END;
      """)
    let before = try rows(files)
    let store = try open(files, [Self.list, model], bindings: [Self.binding])
    let now = try rows(files)
    #expect(now.map { Array($0.prefix(5)) } == before)
    #expect(try rows(files, "log") == [])
    #expect(try store.migrationPlan() == MigrationPlan())
    #expect(try store.schemaDrift() == [])
    #expect(try store.checkIntegrity() == [])
    let fresh = try Store(
      at: files.path("fresh"),
      declaring: Declarations(models: [Self.list, model], bindings: [Self.binding]),
      configuration: StoreConfiguration(), onError: { Issue.record($0) })
    #expect(
      try store.schemaDifferences(from: fresh) == [
        "Only this file has the column log.id.", "Only this file has the column log.text.",
        "Only this file has the table log.", "Only this file has the trigger app.",
        "Only this file has the trigger app2.",
      ])
    // The binding goes on.
    try store.write { tx in try tx.execute("UPDATE List SET name = 'shed' WHERE id = 1") }
    #expect(try rows(files).map { $0[4] } == [.text("shed"), .text("work"), .text("shed")])
    store.close()
    // Opening again finds nothing to do.
    let version = try PlainDatabase(files.path("a")).rows("PRAGMA schema_version")
    try open(files, [Self.list, model], bindings: [Self.binding]).close()
    #expect(try PlainDatabase(files.path("a")).rows("PRAGMA schema_version") == version)
  }

  @Test func aTableThatOthersReferToKeepsTheirRecords() throws {
    let files = try populated()
    let before = try rows(files)
    var list = Self.list
    list.fields[1].isUnique = true
    let store = try open(files, [list, Self.todo()])
    #expect(try rows(files) == before)
    #expect(try rows(files, "List").count == 2)
    // References work again.
    try store.write { tx in try tx.execute("DELETE FROM List WHERE id = 1") }
    #expect(try rows(files).map { $0[0] } == [.integer(2)])
  }

  @Test func aWiderTypeKeepsTheValues() throws {
    let files = try populated()
    try open(files, Self.models { $0.fields[3].type = .real }).close()
    #expect(try rows(files).map { $0[3] } == [.real(3), .real(5), .real(3)])
    try open(files, Self.models { $0.fields[3].type = .real }, changes: .none).close()
  }

  @Test func aNumberThatDoesNotFitTheWiderTypeBlocks() throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute(
      "UPDATE Todo SET size = 9007199254740993 WHERE id = 2")
    let error = #expect(throws: StoreError.self) {
      try open(files, Self.models { $0.fields[3].type = .real })
    }
    #expect(
      error?.migrationPlan?.steps.map(\.action) == [
        .blocked(
          MigrationPlan.Obstacle(
            reason: "Records have a number that a real value cannot hold.", keys: [[.integer(2)]],
            count: 1)
        )
      ])
  }

  @Test func anUnsafePlanIsRefusedWithThePlan() throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute("UPDATE Todo SET title = NULL WHERE id = 3")
    let before = try files.content("a")
    let models = Self.models {
      $0.fields[1].isOptional = false
      $0.fields.remove(at: 3)
    }
    let error = #expect(throws: StoreError.self) { try open(files, models) }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.migrationPlan
        == (try Store.migrationPlan(
          at: files.path("a"), schemas: models, configuration: StoreConfiguration())))
    #expect(
      error?.message == """
        The file differs from the declared models; nothing was changed. A step is blocked. Write a \
        migration, or change the models or records.
        rebuild    Todo.size drop        3 rows, ~1 ms; keeps 1 index
          loses    The values of the column size in Todo.
        blocked    Todo.title NOT NULL   Records violate NOT NULL. 1 record: Todo 3
        """)
    #expect(try files.content("a") == before)
  }

  @Test func anAdoptedTableIsPlannedButNotChanged() throws {
    let files = try populated()
    try PlainDatabase(files.path("a")).execute(
      "CREATE TABLE theirs (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO theirs VALUES (1, 'x')")
    let theirs = ModelSchema(
      name: "theirs",
      fields: [
        FieldSchema(name: "id", type: .integer, declaredType: "INTEGER", isRowID: true),
        FieldSchema(name: "a", type: .text, declaredType: "TEXT"),
      ], key: ["id"], isAdopted: true)
    let before = try files.content("a")
    let error = #expect(throws: StoreError.self) { try open(files, [theirs]) }
    #expect(
      error?.message == """
        The file differs from the declared models; nothing was changed. A step is blocked. Write a \
        migration, or change the models or records.
        blocked    theirs.a NOT NULL   Another program designed the table, so opening never changes it.
        """)
    #expect(try files.content("a") == before)
  }

  @Test func otherSettingsNeverRebuild() throws {
    let files = try populated()
    for changes in [StoreConfiguration.SchemaChanges.createTables, .additive, .none] {
      let before = try files.content("a")
      let error = #expect(throws: StoreError.self) {
        try open(files, Self.models { $0.fields[1].isUnique = true }, changes: changes)
      }
      #expect(error?.code == .schemaMismatch)
      #expect(error?.migrationPlan == nil)
      #expect(try files.content("a") == before)
    }
  }

  @Test func anOlderProgramFailsWithNewerFormat() throws {
    let files = try populated()
    let newer = Self.models {
      $0.fields[1].isOptional = false
      $0.fields.append(FieldSchema(name: "due", type: .date, isOptional: true))
    }
    try open(files, newer).close()
    let before = try files.content("a")
    for changes in [StoreConfiguration.SchemaChanges.migrate, .additive, .none] {
      let error = #expect(throws: StoreError.self) {
        try open(files, Self.models(), changes: changes)
      }
      #expect(error?.code == .newerFormat)
      #expect(error?.model == "Todo")
    }
    #expect(try files.content("a") == before)
    // A third version goes on from there.
    let third = Self.models {
      $0.fields[1].isOptional = false
      $0.fields[1].isUnique = true
      $0.fields.append(FieldSchema(name: "due", type: .date, isOptional: true))
    }
    try open(files, third).close()
    for models in [Self.models(), newer] {
      let error = #expect(throws: StoreError.self) { try open(files, models) }
      #expect(error?.code == .newerFormat)
    }
  }

  @Test func twoStoresThatOpenAtOnceMigrateOnce() async throws {
    let files = try populated()
    let models = Self.models { $0.uniques = [["list", "title"]] }
    let paths = try await withThrowingTaskGroup(of: [[SQLValue]].self) { group in
      for _ in 0..<4 {
        group.addTask {
          try Self.openAndClose(files.path("a"), models)
          return try PlainDatabase(files.path("a")).rows("SELECT id, title FROM Todo ORDER BY id")
        }
      }
      var results: [[[SQLValue]]] = []
      for try await result in group { results.append(result) }
      return results
    }
    #expect(Set(paths).count == 1)
    #expect(paths[0].count == 3)
  }

  private static func openAndClose(_ path: String, _ models: [ModelSchema]) throws {
    try Store(
      at: path, declaring: Declarations(models: models),
      configuration: StoreConfiguration(schemaChanges: .migrate), onError: { Issue.record($0) }
    ).close()
  }

  // The journal

  private func notes(_ files: Files) throws -> [[SQLValue]] {
    try PlainDatabase(files.path("a")).rows(
      """
      SELECT l.model, j.entry FROM _ms_journal AS j JOIN _ms_journal_layouts AS l ON l.number = j.c0
      WHERE j.layout = 0 AND j.entry IN (2, 3) ORDER BY j.position
      """)
  }

  @Test func theJournalContinuesWhereFieldsStay() throws {
    let files = try populated(journal: .full)
    let before = try PlainDatabase(files.path("a")).rows("SELECT * FROM _ms_journal")
    let models = Self.models {
      $0.fields[1].isOptional = false
      $0.fields[1].isUnique = true
      $0.rules = [RuleSchema(name: "Todo.both", message: "", condition: "size > list")]
    }
    #expect(
      try Store.migrationPlan(
        at: files.path("a"), schemas: models, configuration: StoreConfiguration()
      ).journalGaps == [])
    let store = try open(files, models, journal: .full)
    let count = try store.changeJournal.transactions().count
    #expect(try PlainDatabase(files.path("a")).rows("SELECT * FROM _ms_journal") == before)
    try store.write { tx in try tx.execute("UPDATE Todo SET title = 'z' WHERE id = 1") }
    #expect(try store.changeJournal.transactions().count == count + 1)
    #expect(try store.schemaDrift() == [])
  }

  @Test func theJournalHasAGapWhereFieldsChange() throws {
    let files = try populated(journal: .full)
    let before = try notes(files)
    let models = Self.models {
      $0.fields[1].isOptional = false
      $0.fields.append(FieldSchema(name: "due", type: .date, isOptional: true))
    }
    let plan = try Store.migrationPlan(
      at: files.path("a"), schemas: models, configuration: StoreConfiguration())
    #expect(plan.journalGaps == ["Todo"])
    #expect(plan.description.hasSuffix("\ngap        Todo: the change journal begins again"))
    try open(files, models, journal: .full).close()
    #expect(try notes(files) == before + [[.text("Todo"), .integer(2)]])
  }

  @Test func aRecordedFieldKeepsItsType() throws {
    let files = try populated(journal: .full)
    let error = #expect(throws: StoreError.self) {
      try open(files, Self.models { $0.fields[3].type = .real }, journal: .full)
    }
    #expect(error?.migrationPlan?.isBlocked == true)
  }
}

extension ModelSchema {
  /// The same model after another change.
  func with(_ change: (inout ModelSchema) -> Void) -> ModelSchema {
    var model = self
    change(&model)
    return model
  }
}
