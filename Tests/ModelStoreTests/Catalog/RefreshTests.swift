import Testing

@testable import ModelStore

/// A file of another program with two adopted tables, which that program then changes.
struct RefreshWorld {
  let file: SchemaTestFile
  let other: PlainDatabase
  let errors = Recorder<StoreError>()

  init(_ script: String = Self.tables, hasJournal: Bool = true) throws {
    file = try SchemaTestFile("PRAGMA journal_mode = WAL; \(script)")
    other = try PlainDatabase(file.path)
    let store = try Store(at: file.path)
    try store.adopt()
    if hasJournal { try store.changeJournal.enable() }
    store.close()
  }

  static let tables = """
    CREATE TABLE A (id INTEGER PRIMARY KEY, name TEXT, shout TEXT);
    CREATE TABLE B (id INTEGER PRIMARY KEY, a INTEGER REFERENCES A, aName TEXT);
    INSERT INTO A VALUES (1, 'one', NULL);
    INSERT INTO B VALUES (1, 1, NULL);
    """

  func open() throws -> Store {
    try Store(at: file.path, onError: { [errors] in errors.add($0) })
  }

  /// Opens the store, calls `body` and closes the store again.
  @discardableResult
  func opened<Result>(_ body: (Store) throws -> Result) throws -> Result {
    let store = try open()
    defer { store.close() }
    return try body(store)
  }

  func fields(_ model: String) throws -> [String]? {
    try opened { store throws in
      store.schema.models.first { $0.name == model }?.fields.map(\.name)
    }
  }

  /// The names of the store's own triggers on `table`.
  func triggers(on table: String) throws -> [String] {
    try other.rows(
      """
      SELECT name FROM sqlite_schema
      WHERE type = 'trigger' AND tbl_name = '\(table)' AND name LIKE '\\_ms\\_%' ESCAPE '\\'
      ORDER BY name
      """
    ).compactMap { if case .text(let name) = $0[0] { name } else { nil } }
  }
}

/// Adopted models whose tables another program changes.
@Suite(.tags(.unit)) struct RefreshTests {
  private static func derive(_ target: String, in model: String, _ sql: String) -> FieldBinding {
    FieldBinding(
      BindingSchema(target: .init(model: model, field: target), formula: .derive(sql: sql)))
  }

  @Test func openingReportsOutdatedModelsOnce() throws {
    let world = try RefreshWorld()
    try world.other.execute("ALTER TABLE A ADD COLUMN rank INTEGER")
    try world.opened { store throws in
      try store.write { tx in try tx.execute("UPDATE B SET a = a") }
      #expect(
        try store.adoptedDrift() == [
          SchemaDrift(
            .model("A"),
            [.init(.column, "rank", .unexpected, sentence: "The column rank is new.")])
        ])
    }
    #expect(
      world.errors.taken() == [
        StoreError(
          .outdatedModel,
          """
          The table of an adopted model has changed. A: The column rank is new. Refresh the model \
          with Store.refreshAdopted or storecli adopt --refresh.
          """, model: "A")
      ])
    try world.opened { store in try store.refreshAdopted() }
    #expect(world.errors.taken().map(\.code) == [.outdatedModel])
    try world.opened { _ in }
    #expect(world.errors.taken() == [])
  }

  @Test func aDryRunWritesNothing() throws {
    let world = try RefreshWorld()
    try world.other.execute(
      "ALTER TABLE A ADD COLUMN at DATETIME; UPDATE A SET at = '2024-01-02'")
    func versions() throws -> [[[SQLValue]]] {
      [try world.other.rows("PRAGMA data_version"), try world.other.rows("PRAGMA schema_version")]
    }
    let before = try versions()
    let refreshes = try world.opened { try $0.modelRefreshes(mode: .preview) }
    #expect(try versions() == before)
    #expect(refreshes.map(\.name) == ["A"])
    #expect(
      refreshes.first?.decisions == [
        TypeDecision(
          field: "at", declaredType: "DATETIME", type: .date,
          form: FieldForm(rawValue: "YYYY-MM-DD"), valueCount: 1)
      ])
    #expect(try world.opened { try $0.modelRefreshes() } == refreshes)
    #expect(try world.fields("A") == ["id", "name", "shout", "at"])
  }

  @Test func theJournalRecordsNewColumnsAndReportsAGap() throws {
    let world = try RefreshWorld()
    try world.other.execute(
      "UPDATE A SET name = 'before'; ALTER TABLE A ADD COLUMN rank INTEGER; UPDATE A SET rank = 1")
    try world.opened { try $0.refreshAdopted() }
    let position = try world.opened { try $0.changeJournal.position() }
    try world.other.execute("UPDATE A SET rank = 2")
    try world.opened { store throws in
      let model = try store.schema.model(named: "A")
      let past = try store.find(model, key: [.integer(1)], at: position)
      #expect(past?.values == [.integer(1), .text("before"), .null, .integer(1)])
      let gap = failure { try store.find(model, key: [.integer(1)], at: .start) }
      #expect(gap?.code == .journalGap)
      #expect(try store.changeJournal.status().drift == [])
    }
  }

  @Test func bindingsAndRulesFollowARebuiltTable() throws {
    let world = try RefreshWorld()
    try world.opened { store throws in
      try store.add(Self.derive("shout", in: "A", "upper(name)"))
      try store.add(
        Rule("A.name.required", of: "A", fields: ["name"], .required),
        existingViolations: false ? .keep : .refuse)
    }
    let before = try world.triggers(on: "A")
    try world.other.execute(
      """
      PRAGMA foreign_keys = OFF;
      CREATE TABLE A2 (id INTEGER PRIMARY KEY, name TEXT, rank INTEGER, shout TEXT);
      INSERT INTO A2 (id, name) SELECT id, name FROM A;
      DROP TABLE A;
      ALTER TABLE A2 RENAME TO A;
      """)
    #expect(try world.triggers(on: "A") == [])
    try world.opened { try $0.refreshAdopted() }
    #expect(try world.triggers(on: "A") == before)
    #expect(try world.other.rows("SELECT shout FROM A") == [[.text("ONE")]])
    try world.opened { store throws in
      #expect(try store.bindingFindings() == [])
      #expect(try store.schemaDrift(of: [.rules]) == [])
    }
  }

  @Test(arguments: [
    ("ALTER TABLE A RENAME COLUMN name TO title", ["A.shout", "B.aName", "A.name.required"]),
    ("PRAGMA foreign_keys = OFF; DROP TABLE A", ["B.aName"]),
  ])
  func aRefreshIsRefusedWhileABindingOrRuleNeedsAMissingPart(change: String, dependents: [String])
    throws
  {
    let world = try RefreshWorld()
    try world.opened { store throws in
      try store.add(Self.derive("shout", in: "A", "upper(name)"))
      try store.add(
        FieldBinding(
          BindingSchema(
            target: .init(model: "B", field: "aName"),
            formula: .copy(source: .init(model: "A", field: "name"), through: "a"))))
      try store.add(
        Rule("A.name.required", of: "A", fields: ["name"], .required),
        existingViolations: false ? .keep : .refuse)
    }
    try world.other.execute(change)
    let schema = try world.other.rows("SELECT * FROM sqlite_schema")
    try world.opened { store throws in
      #expect(
        try store.modelRefreshes(mode: .preview).flatMap(\.dependents).map(\.name) == dependents)
      let error = failure { try store.modelRefreshes() }
      #expect(error?.code == .unsupportedSchema)
      for name in dependents { #expect(error?.message.contains(name) == true) }
    }
    #expect(try world.other.rows("SELECT * FROM sqlite_schema") == schema)
    try world.opened { store throws in
      for name in dependents {
        if name.hasSuffix("required") {
          try store.dropRule(name)
        } else {
          try store.dropBinding(name)
        }
      }
      let refreshes = try store.modelRefreshes()
      #expect(refreshes.flatMap(\.dependents) == [])
    }
    try world.opened { store throws in
      #expect(try store.adoptedDrift() == [])
      #expect(try store.bindings() == [])
      #expect(try store.rules() == [])
    }
  }

  @Test func aModelWithoutItsTableIsRemovedWithItsBindingsAndRules() throws {
    let world = try RefreshWorld()
    try world.opened { store throws in
      try store.add(Self.derive("shout", in: "A", "upper(name)"))
      try store.add(
        Rule("A.name.required", of: "A", fields: ["name"], .required),
        existingViolations: false ? .keep : .refuse)
    }
    try world.other.execute("PRAGMA foreign_keys = OFF; ALTER TABLE A RENAME TO A2")
    try world.opened { store throws in
      let refreshes = try store.modelRefreshes()
      #expect(refreshes.map(\.name) == ["A", "B"])
      #expect(refreshes.map { $0.schema == nil } == [true, false])
      #expect(refreshes[0].removed.map(\.name) == ["A.shout", "A.name.required"])
      #expect(store.schema.models.map(\.name) == ["B"])
      #expect(try store.changeJournal.details() == ["B": .full])
    }
    #expect(try world.triggers(on: "A2") == [])
    try world.other.execute("INSERT INTO A2 VALUES (2, NULL, NULL)")
    #expect(
      try world.opened { store in try store.adopt(["A2"]).map(\.name) } == ["A2"])
  }

  /// Its observers would wait for changes that never come.
  @Test func anObservedModelStaysUntilItsObservationEnds() throws {
    let world = try RefreshWorld()
    try world.opened { store throws in
      func observe(_ name: String) throws -> ObservationToken {
        let model = try store.schema.model(named: name)
        return try store.liveQuery(StoreQuery<DynamicRecord>(model)).observe { _ in }
      }
      let (left, changed) = (try observe("A"), try observe("B"))
      try world.other.execute(
        "PRAGMA foreign_keys = OFF; ALTER TABLE A RENAME TO A2; ALTER TABLE B ADD COLUMN more TEXT")
      let schema = try world.other.rows("SELECT * FROM sqlite_schema")
      let refused = failure { try store.refreshAdopted() }
      #expect(refused?.code == .configurationConflict)
      #expect(refused?.model == "A")
      #expect(try world.other.rows("SELECT * FROM sqlite_schema") == schema)
      #expect(try store.adoptedDrift().map(\.owner) == [.model("A"), .model("B")])
      left.cancel()
      #expect(try store.refreshAdopted().map(\.owner) == [.model("A"), .model("B")])
      #expect(store.schema.models.map(\.name) == ["B"])
      changed.cancel()
    }
  }

  @Test func onlyTheNamedModelsAreRefreshed() throws {
    let world = try RefreshWorld()
    try world.other.execute(
      "ALTER TABLE A ADD COLUMN more TEXT; ALTER TABLE B ADD COLUMN more TEXT")
    try world.opened { store throws in
      #expect(try store.modelRefreshes(["B"]).map(\.name) == ["B"])
      #expect(try store.adoptedDrift().map(\.owner) == [.model("A")])
      #expect(failure { try store.modelRefreshes(["C"]) }?.code == .unknownModel)
    }
  }

  @Test func modelsOfAProgramAreNotRefreshed() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("music.store"), models: Artist.self)
    #expect(failure { try store.modelRefreshes(["Artist"]) }?.code == .unsupportedSchema)
    #expect(try store.modelRefreshes() == [])
  }

  /// The triggers of the journal follow the file, though a store that is open keeps its fields.
  @Test func aStoreThatIsOpenLeavesRefreshedTriggersUnchanged() throws {
    let world = try RefreshWorld()
    let store = try world.open()
    let model = try store.schema.model(named: "A")
    try world.other.execute("ALTER TABLE A ADD COLUMN rank INTEGER")
    try store.refreshAdopted()
    let triggers = try world.other.rows(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name")
    try store.write { tx in
      try tx.update(model, key: [.integer(1)], set: ["name": .text("new")])
    }
    #expect(try store.schema.model(named: "A") == model)
    #expect(try store.changeJournal.status().drift == [])
    #expect(
      try world.other.rows(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name") == triggers)
    store.close()
    #expect(world.errors.taken() == [])
    #expect(try world.fields("A") == ["id", "name", "shout", "rank"])
  }

  @Test func aChosenTypeStaysWhenTheModelIsRefreshed() throws {
    let world = try RefreshWorld(
      "CREATE TABLE A (id INTEGER PRIMARY KEY, isOpen INTEGER); INSERT INTO A VALUES (1, 1)")
    try world.opened { store throws in
      try store.adopt([], types: [TypeChoice(model: "A", field: "isOpen", type: .boolean)])
    }
    try world.other.execute("ALTER TABLE A ADD COLUMN more TEXT")
    try world.opened { try $0.refreshAdopted() }
    try world.opened { store throws in
      let model = try store.schema.model(named: "A")
      #expect(model.fields.map(\.type) == [.integer, .boolean, .text])
    }
  }
}

/// What another program does to one adopted table.
@Suite(.tags(.unit)) struct BrokenModelTests {
  static let changes = [
    "ALTER TABLE A ADD COLUMN more TEXT", "ALTER TABLE A RENAME COLUMN name TO title",
    "DROP TABLE A; CREATE TABLE A (id INTEGER PRIMARY KEY)",
    "DROP TABLE A; CREATE TABLE A (id INTEGER PRIMARY KEY, name BLOB, shout REAL)",
    "ALTER TABLE A RENAME TO A2", "DROP TABLE A",
    "DROP TABLE A; CREATE VIEW A AS SELECT 1 AS id, 'x' AS name, 'X' AS shout",
  ]

  private static let tables = RefreshWorld.tables + "CREATE TABLE C (id INTEGER PRIMARY KEY, n, m);"

  /// A program with models and bindings of its own opens the file and writes.
  @Test(arguments: changes)
  func oneOutdatedModelDoesNotBlockTheOthers(change: String) throws {
    let world = try RefreshWorld(Self.tables)
    try world.opened { store throws in
      try store.add(
        FieldBinding(
          BindingSchema(
            target: .init(model: "A", field: "shout"), formula: .derive(sql: "upper(name)"))))
      try store.add(
        FieldBinding(
          BindingSchema(
            target: .init(model: "B", field: "aName"),
            formula: .copy(source: .init(model: "A", field: "name"), through: "a"))))
    }
    try world.other.execute("PRAGMA foreign_keys = OFF; \(change)")
    let errors = Recorder<StoreError>()
    let store = try Store(
      at: world.file.path, models: Artist.self,
      bindings: [
        FieldBinding(
          BindingSchema(
            target: .init(model: "C", field: "m"), formula: .derive(sql: "n || '!'")))
      ], onError: { errors.add($0) })
    let model = try store.schema.model(named: "C")
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Miles"))
      try tx.insert(["id": .integer(1), "n": .text("x"), "m": .null], into: model)
    }
    #expect(
      try store.fetch(StoreQuery<DynamicRecord>(model)).map(\.values) == [
        [.integer(1), .text("x"), .text("x!")]
      ])
    #expect(try store.bindings().map(\.name) == ["A.shout", "B.aName", "C.m"])
    try store.changeJournal.enable()
    #expect(try store.changeJournal.details()["C"] == .full)
    #expect(try store.changeJournal.details()["Artist"] == .full)
    #expect(errors.taken().first?.code == .outdatedModel)
    store.close()
  }

  @Test(arguments: [
    (changes[1], "A: The column name is gone. The column title is new."),
    (changes[2], "A: The column name is gone. The column shout is gone."),
    (changes[4], "A: The table A is called A2 now."), (changes[5], "A: The table A is gone."),
  ])
  func theErrorOfAStatementNamesTheMissingColumn(change: String, words: String) throws {
    let world = try RefreshWorld(Self.tables)
    try world.other.execute("PRAGMA foreign_keys = OFF; \(change)")
    try world.opened { store throws in
      let model = try store.schema.model(named: "A")
      let found = [
        failure { try store.fetch(StoreQuery<DynamicRecord>(model)) },
        failure {
          try store.write { tx in
            try tx.update(model, key: [.integer(1)], set: ["name": .text("y")])
          }
        },
      ]
      for error in found {
        #expect(error?.code == .outdatedModel)
        #expect(error?.model == "A")
        #expect(error?.message.contains(words) == true)
      }
    }
  }

  /// A wrong word of the caller stays one.
  @Test func anUnknownColumnInAQueryIsNotReportedAsDrift() throws {
    let world = try RefreshWorld(Self.tables)
    try world.other.execute("ALTER TABLE A ADD COLUMN more TEXT")
    try world.opened { store throws in
      let model = try store.schema.model(named: "A")
      let query = StoreQuery<DynamicRecord>(model, where: .sql(SQLText(sql: "nonsense = 1")))
      #expect(failure { try store.fetch(query) }?.code == .invalidQuery)
    }
  }
}
