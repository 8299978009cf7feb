import Testing

@testable import ModelStore

/// What belongs to a model stays with it when a migration renames its table or a column.
@Suite(.tags(.unit)) struct RenameTests {
  private static let id = FieldSchema(name: "id", type: .integer, isRowID: true)
  private static let name = FieldSchema(name: "name", type: .text)

  /// A model with everything that has a name: a rule, a Boolean, a reference and its index.
  private static func task(
    _ model: String, table: String? = nil, title: String = "title", column: String? = nil
  ) -> ModelSchema {
    ModelSchema(
      name: model, table: table,
      fields: [
        id,
        FieldSchema(
          name: title, column: column ?? title, type: .text,
          rules: [
            RuleSchema(
              name: "\(model).\(title).length", message: "must not be empty",
              condition: "length(\"\(column ?? title)\") > 0")
          ]),
        FieldSchema(name: "done", type: .boolean, defaultSQL: "0"),
        FieldSchema(
          name: "projectID", type: .integer, isOptional: true,
          reference: ReferenceSchema(table: "Project")),
        FieldSchema(name: "label", type: .text, isOptional: true),
      ], key: ["id"])
  }

  /// A model that counts the tasks and has a list of them.
  private static func project(of model: String, table: String? = nil) -> ModelSchema {
    ModelSchema(
      name: "Project",
      fields: [id, name, FieldSchema(name: "count", type: .integer, defaultSQL: "0")],
      key: ["id"],
      lists: [ListSchema(name: "tasks", elementTable: table ?? model, slotTable: "Project_tasks")])
  }

  private static func binding(_ model: String, _ title: String) -> FieldBinding {
    .derive(to: "\(model).label", from: "upper(\(title))")
  }

  private func files() throws -> MigratedFiles { try MigratedFiles() }

  private func open(
    _ files: MigratedFiles, _ name: String, _ models: [ModelSchema], _ migrations: [Migration] = [],
    _ changes: StoreConfiguration.SchemaChanges = .createTables
  ) throws -> Store {
    try Store(
      at: files.path(name),
      declaring: Declarations(migrations: migrations, models: models, changeJournal: .full),
      configuration: StoreConfiguration(schemaChanges: changes), onError: { Issue.record($0) })
  }

  private func rows(_ store: Store, _ sql: SQLText) throws -> [[SQLValue]] {
    try store.read { tx in try tx.rows(sql).map(\.values) }
  }

  /// Creates a file in which a todo was inserted and then changed.
  ///
  /// - Returns: The position between the two.
  private func create(
    _ files: MigratedFiles, _ todo: ModelSchema = task("Todo"),
    project: ModelSchema = project(of: "Todo"),
    title: String = "title"
  ) throws -> JournalPosition {
    let store = try open(files, "old", [project, todo])
    defer { store.close() }
    try store.add(Self.binding(todo.name, title))
    try store.add(
      Rule(
        "\(todo.name).\(title).short", of: todo.name, fields: [title],
        .condition(sql: "length(\(title)) < 20")))
    try store.write { tx in
      try tx.execute("INSERT INTO Project (id, name) VALUES (7, 'p')")
      try tx.execute(
        "INSERT INTO \(identifier: todo.table) (id, \(identifier: title), projectID) VALUES (1, 'a', 7)"
      )
      try tx.execute(
        "INSERT INTO \(identifier: project.lists[0].slotTable) (owner, label, element) VALUES (7, 5, 1)"
      )
    }
    let position = try store.changeJournal.position()
    try store.write { tx in
      try tx.execute("UPDATE \(identifier: todo.table) SET \(identifier: title) = 'b' WHERE id = 1")
    }
    return position
  }

  /// Checks that a file has everything under the new names, and that its journal has no gap.
  private func expectEverything(
    in store: Store, as model: ModelSchema, _ title: String, at position: JournalPosition,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let transactions = try store.changeJournal.transactions()
    #expect(transactions.flatMap(\.gaps) == [], sourceLocation: sourceLocation)
    let changes = transactions.flatMap(\.changes).filter { $0.key == [.integer(1)] }
      .filter { !$0.model.contains(".") }
    #expect(Set(changes.map(\.model)) == [model.name], sourceLocation: sourceLocation)
    #expect(
      changes.flatMap(\.fields).map(\.name).contains(title), sourceLocation: sourceLocation)
    let schema = try store.schema.model(named: model.name)
    let past = try store.find(schema, key: [.integer(1)], at: position)
    #expect(past?[title] == .text("a"), sourceLocation: sourceLocation)
    #expect(
      try store.bindings().map(\.description) == ["\(model.name).label = upper(\(title))"],
      sourceLocation: sourceLocation)
    #expect(
      try store.rules().map(\.name) == ["\(model.name).\(title).short"],
      sourceLocation: sourceLocation)
    #expect(try store.schemaDrift() == [], sourceLocation: sourceLocation)
    #expect(try store.bindingFindings() == [], sourceLocation: sourceLocation)
    // Triggers, rules and the journal work.
    try store.write { tx in
      try tx.execute(
        "UPDATE \(identifier: model.table) SET \(identifier: title) = 'c' WHERE id = 1")
    }
    #expect(
      try rows(store, "SELECT label FROM \(identifier: model.table)") == [[.text("C")]],
      sourceLocation: sourceLocation)
    for bad in ["", "12345678901234567890"] {
      let error = failure {
        try store.write { tx in
          try tx.execute("UPDATE \(identifier: model.table) SET \(identifier: title) = \(bad)")
        }
      }
      #expect(error?.model == model.name, "\(error?.message ?? "")", sourceLocation: sourceLocation)
    }
    // Both transactions can be taken back, the one before the renaming, too.
    try store.undo()
    try store.undo()
    #expect(
      try rows(store, "SELECT \(identifier: title) FROM \(identifier: model.table)") == [
        [.text("a")]
      ],
      sourceLocation: sourceLocation)
  }

  @Test func aRenamedModelAndFieldKeepEverything() throws {
    let files = try files()
    let position = try create(files)
    let task = Self.task("Task", title: "name")
    let models = [Self.project(of: "Task"), task]
    let migration = Migration(
      version: 1, name: "rename",
      sql: """
        ALTER TABLE Todo RENAME TO Task;
        ALTER TABLE "Task" RENAME COLUMN "title" TO name;
        """)
    let store = try open(files, "old", models, [migration])
    let fresh = try open(files, "fresh", models, [migration])
    #expect(try store.schemaDifferences(from: fresh) == [])
    #expect(store.schema.models.map(\.name).sorted() == ["Project", "Project.tasks", "Task"])
    #expect(
      try rows(store, "SELECT owner, label, element FROM Project_tasks")
        == [[.integer(7), .integer(5), .integer(1)]])
    try expectEverything(in: store, as: task, "name", at: position)
  }

  @Test func aFieldThatSwiftRenamesKeepsEverything() throws {
    let files = try files()
    let position = try create(files)
    let todo = Self.task("Todo", title: "name")
    let migration = Migration(version: 1, name: "rename", onFreshFiles: .skip) { tx in
      _ = try tx.rows("ALTER TABLE Todo RENAME COLUMN title TO name")
    }
    let store = try open(files, "old", [Self.project(of: "Todo"), todo], [migration])
    try expectEverything(in: store, as: todo, "name", at: position)
  }

  /// The program decides about the names where they are not those of the table.
  @Test(arguments: ["todos", "tasks"])
  func aModelWithAnotherNameThanItsTableKeepsEverything(newTable: String) throws {
    let files = try files()
    let old = Self.task("Todo", table: "todos", column: "title")
    let position = try create(files, old, project: Self.project(of: "Todo", table: "todos"))
    let task = Self.task("Task", table: newTable, title: "headline", column: "title")
    let models = [Self.project(of: "Task", table: newTable), task]
    let migration = Migration(
      version: 1, name: "rename",
      sql: newTable == "todos" ? "SELECT 1" : "ALTER TABLE todos RENAME TO tasks")
    let store = try open(files, "old", models, [migration])
    #expect(
      try store.schemaDifferences(from: open(files, "fresh", models, [migration])) == [])
    let transactions = try store.changeJournal.transactions()
    #expect(transactions.flatMap(\.gaps) == [])
    let changes = transactions.flatMap(\.changes).filter { $0.model == "Task" }
    #expect(Set(changes.flatMap(\.fields).map(\.name)).isSuperset(of: ["headline", "label"]))
    #expect(!transactions.flatMap(\.changes).contains { $0.model == "Todo" })
    #expect(
      try store.find(task, key: [.integer(1)], at: position)?["headline"] == .text("a"))
    #expect(try store.bindings().map(\.description) == ["Task.label = upper(title)"])
    #expect(try store.schemaDrift() == [])
  }

  @Test func aModelIsRenamedWithoutAMigration() throws {
    let files = try files()
    let old = Self.task("Todo", table: "todos")
    let position = try create(files, old, project: Self.project(of: "Todo", table: "todos"))
    let task = Self.task("Task", table: "todos")
    let store = try open(
      files, "old", [Self.project(of: "Task", table: "todos"), task], [], .migrate)
    try expectEverything(in: store, as: task, "title", at: position)
  }

  @Test func twoModelsExchangeTheirTables() throws {
    let files = try files()
    let models = ["A", "B"].map {
      ModelSchema(name: $0, fields: [Self.id, Self.name], key: ["id"])
    }
    let old = try open(files, "old", models)
    try old.write { tx in
      try tx.execute("INSERT INTO A VALUES (1, 'in a')")
      try tx.execute("INSERT INTO B VALUES (1, 'in b')")
    }
    let position = try old.changeJournal.position()
    try old.write { tx in try tx.execute("UPDATE A SET name = 'new a'") }
    old.close()
    let swap = Migration(
      version: 1, name: "swap",
      sql: """
        ALTER TABLE A RENAME TO tmp;
        ALTER TABLE B RENAME TO A;
        ALTER TABLE tmp RENAME TO B;
        """, onFreshFiles: .skip)
    let store = try open(files, "old", models, [swap])
    #expect(try store.changeJournal.transactions().flatMap(\.gaps) == [])
    #expect(
      try store.changeJournal.transactions().flatMap(\.changes).map(\.model) == ["B", "A", "B"])
    #expect(try store.find(models[1], key: [.integer(1)], at: position)?["name"] == .text("in a"))
    #expect(try store.find(models[0], key: [.integer(1)], at: position)?["name"] == .text("in b"))
    try store.undo()
    #expect(try rows(store, "SELECT name FROM B") == [[.text("in a")]])
  }

  @Test func columnsExchangeTheirNames() throws {
    let files = try files()
    let model = ModelSchema(
      name: "A", fields: [Self.id, Self.name, FieldSchema(name: "other", type: .text)], key: ["id"])
    let old = try open(files, "old", [model])
    try old.write { tx in try tx.execute("INSERT INTO A VALUES (1, 'name', 'other')") }
    let position = try old.changeJournal.position()
    old.close()
    let swap = Migration(
      version: 1, name: "swap",
      sql: """
        ALTER TABLE A RENAME name TO tmp;
        ALTER TABLE A RENAME other TO name;
        ALTER TABLE A RENAME tmp TO other;
        """, onFreshFiles: .skip)
    let fields = [model.fields[0], model.fields[2], model.fields[1]]
    let store = try open(
      files, "old", [ModelSchema(name: "A", fields: fields, key: ["id"])], [swap])
    #expect(try store.changeJournal.transactions().flatMap(\.gaps) == [])
    let past = try store.find(store.schema.model(named: "A"), key: [.integer(1)], at: position)
    #expect(past?["name"] == .text("other"))
    #expect(past?["other"] == .text("name"))
  }

  @Test func theListsOfARenamedOwnerMoveWithIt() throws {
    let files = try files()
    func owner(_ name: String) -> ModelSchema {
      ModelSchema(
        name: name, fields: [Self.id, Self.name], key: ["id"],
        lists: [ListSchema(name: "items", elementTable: "Item", slotTable: "\(name)_items")])
    }
    let item = ModelSchema(name: "Item", fields: [Self.id, Self.name], key: ["id"])
    let old = try open(files, "old", [owner("Group"), item])
    try old.write { tx in
      try tx.execute("INSERT INTO \"Group\" VALUES (1, 'g')")
      try tx.execute("INSERT INTO Item VALUES (2, 'i')")
      try tx.execute("INSERT INTO Group_items (owner, label, element) VALUES (1, 5, 2)")
    }
    old.close()
    let models = [owner("Team"), item]
    let rename = Migration(
      version: 1, name: "rename", sql: "ALTER TABLE main.[Group] RENAME TO Team")
    let store = try open(files, "old", models, [rename])
    #expect(
      try rows(store, "SELECT owner, label, element FROM Team_items")
        == [[.integer(1), .integer(5), .integer(2)]])
    #expect(
      try store.changeJournal.transactions().flatMap(\.changes).map(\.model)
        == ["Team", "Item", "Team.items"])
    #expect(try store.changeJournal.transactions().flatMap(\.gaps) == [])
    #expect(try store.schemaDifferences(from: open(files, "fresh", models, [rename])) == [])
  }

  @Test func anAdoptedModelFollowsItsTable() throws {
    let files = try files()
    let shell = try PlainDatabase(files.path("old"))
    try shell.execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE person (id INTEGER PRIMARY KEY, nick TEXT);
      INSERT INTO person VALUES (1, 'a');
      """)
    let store = try open(files, "old", [])
    _ = try store.adopt(["person"])
    try store.changeJournal.enable()
    try store.write { tx in try tx.execute("UPDATE person SET nick = 'b'") }
    let migrations = FileMigrations(
      of: store,
      declared: [
        Migration(
          version: 1, name: "rename",
          sql: """
            ALTER TABLE person RENAME COLUMN nick TO name;
            ALTER TABLE person RENAME TO people;
            """)
      ])
    try migrations.apply()
    #expect(store.schema.models.map(\.name) == ["people"])
    #expect(store.schema.models[0].isAdopted)
    #expect(try store.adoptedDrift() == [])
    #expect(try store.schemaDrift() == [])
    let last = try store.changeJournal.transactions().flatMap(\.changes).last
    #expect(last?.model == "people")
    #expect(last?["name"]?.old == .text("a"))
    #expect(try store.undo() != nil)
    #expect(try rows(store, "SELECT name FROM people") == [[.text("a")]])
  }

  /// What the statements before do not explain is a gap, and nothing is mixed.
  @Test func aMigrationThatChangesRecordsLeavesAGap() throws {
    let files = try files()
    _ = try create(files)
    let migration = Migration(
      version: 1, name: "rename",
      sql: "ALTER TABLE Todo RENAME TO Task; UPDATE Task SET title = 'x'")
    let store = try open(
      files, "old", [Self.project(of: "Task"), Self.task("Task")], [migration])
    #expect(try store.changeJournal.transactions().flatMap(\.gaps).contains("Task"))
    #expect(failure { try store.undo() } != nil)
  }

  @Test func aRemovedModelIsNotMixedWithTheOneThatTakesItsName() throws {
    let files = try files()
    let models = ["A", "B"].map {
      ModelSchema(name: $0, fields: [Self.id, Self.name], key: ["id"])
    }
    let old = try open(files, "old", models)
    try old.write { tx in
      try tx.execute("INSERT INTO A VALUES (1, 'in a')")
      try tx.execute("INSERT INTO B VALUES (1, 'in b')")
    }
    old.close()
    let migration = Migration(
      version: 1, name: "replace", sql: "DROP TABLE B; ALTER TABLE A RENAME TO B")
    let store = try open(files, "old", [models[1]], [migration])
    #expect(
      try store.changeJournal.transactions().flatMap(\.changes).map(\.model) == ["B", "B (former)"])
  }

  @Test func aRebuiltTableKeepsItsModel() throws {
    let files = try files()
    let model = ModelSchema(name: "A", fields: [Self.id, Self.name], key: ["id"])
    let old = try open(files, "old", [model])
    try old.write { tx in try tx.execute("INSERT INTO A VALUES (1, 'a')") }
    old.close()
    let rebuild = Migration(
      version: 1, name: "rebuild",
      sql: """
        ALTER TABLE A RENAME TO old_A;
        CREATE TABLE new_A (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
        INSERT INTO new_A SELECT * FROM old_A;
        ALTER TABLE new_A RENAME TO A;
        """)
    let store = try open(files, "old", [model], [rebuild])
    #expect(store.schema.models.map(\.name) == ["A"])
    #expect(try store.changeJournal.transactions().flatMap(\.gaps) == ["A"])
    #expect(try rows(store, "SELECT name FROM A") == [[.text("a")]])
  }

  @Test func aFailingRenamingLeavesEverythingAsItWas() throws {
    let files = try files()
    _ = try create(files)
    let before = try PlainDatabase(files.path("old")).rows(
      "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
    let layouts = "SELECT model, is_current, definition FROM _ms_journal_layouts ORDER BY number"
    let journal = try PlainDatabase(files.path("old")).rows(layouts)
    let migration = Migration(
      version: 1, name: "rename",
      sql: "ALTER TABLE Todo RENAME TO Task; INSERT INTO nowhere VALUES (1)")
    #expect(
      failure {
        try open(files, "old", [Self.project(of: "Task"), Self.task("Task")], [migration])
      }?.message.contains("no such table") == true)
    let after = try PlainDatabase(files.path("old")).rows(
      "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
    #expect(after == before)
    #expect(try PlainDatabase(files.path("old")).rows(layouts) == journal)
  }

  @Test(arguments: [
    ("ALTER TABLE a RENAME TO b", "a rename(\"b\")"),
    ("alter table main.\"a b\" rename to [c]", "a b rename(\"c\")"),
    ("ALTER TABLE a RENAME b TO c", "a renameColumn(\"b\", to: \"c\")"),
    ("ALTER TABLE a RENAME COLUMN to TO c", "a renameColumn(\"to\", to: \"c\")"),
    ("ALTER TABLE a RENAME COLUMN TO c", "a renameColumn(\"COLUMN\", to: \"c\")"),
    ("ALTER TABLE a DROP c", "a dropColumn(\"c\")"),
    ("ALTER TABLE a DROP COLUMN column", "a dropColumn(\"column\")"),
    ("ALTER TABLE a ADD COLUMN c", "nil"), ("DROP TABLE a", "nil"),
  ])
  func alterationsAreRead(statement: String, expected: String) {
    let found = TableAlteration(statement).map { "\($0.table) \($0.change)" } ?? "nil"
    #expect(found == expected)
  }
}
