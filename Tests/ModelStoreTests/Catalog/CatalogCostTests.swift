import Testing

@testable import ModelStore

/// What opening, reading, writing and following cost in statements, for small and large catalogs:
/// a figure that no machine changes.
@Suite(.tags(.unit)) struct CatalogCostTests {
  /// A program with `modelCount` models that refer to one another, each with a binding.
  private static func declarations(_ modelCount: Int) -> Declarations {
    let models = (0..<modelCount).map { number in
      ModelSchema(
        name: "M\(number)",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: true),
          FieldSchema(name: "price", type: .integer, defaultSQL: "0"),
          FieldSchema(name: "double", type: .integer, isOptional: true),
          FieldSchema(
            name: "parent", type: .integer, isOptional: true,
            reference: number == 0 ? nil : ReferenceSchema(table: "M\(number - 1)")),
        ], key: ["id"])
    }
    let bindings = models.map { model in
      FieldBinding(
        BindingSchema(
          target: .init(model: model.name, field: "double"), formula: .derive(sql: "price * 2")))
    }
    return Declarations(models: models, bindings: bindings, changeJournal: .full)
  }

  /// A closed file of ``declarations(_:)``.
  private struct World {
    let directory: TemporaryDirectory
    let declarations: Declarations

    init(_ modelCount: Int) throws {
      directory = try TemporaryDirectory()
      declarations = CatalogCostTests.declarations(modelCount)
      let store = try open()
      let model = declarations.models[0]
      try store.write { tx in
        try tx.insert(["id": .integer(1), "price": .integer(1)], into: model)
      }
      store.close()
    }

    var path: String { directory.file("cost.store") }

    /// Opens it as the program that declares everything.
    func open() throws -> Store {
      try Store(
        at: path, declaring: declarations, configuration: StoreConfiguration(), onError: { _ in })
    }

    /// Opens it as a program that knows only what the file says.
    func openWithoutDeclarations() throws -> Store { try Store(at: path) }
  }

  /// How many statements the connection that writes has run since it was opened.
  private static func statementCount(of store: Store) throws -> Int {
    try store.engine.connections.writer.sync { $0.connection.statementCount }
  }

  /// The figures of a small and of a large catalog.
  private static func counts(_ body: (World) throws -> Int) throws -> [Int] {
    try [2, 40].map { try body(try World($0)) }
  }

  @Test func openingAFileInOrderTakesAsManyStatementsForEachCatalog() throws {
    let counts = try Self.counts { world in
      let store = try world.open()
      defer { store.close() }
      return try Self.statementCount(of: store)
    }
    #expect(counts[0] == counts[1])
    #expect(counts[0] < 50)
  }

  @Test func openingWithoutDeclarationsDecodesNoModel() throws {
    let decoded = try Self.counts { world in
      let store = try world.openWithoutDeclarations()
      defer { store.close() }
      return store.schema.decodedCount
    }
    #expect(decoded == [0, 0])
    let counts = try Self.counts { world in
      let store = try world.openWithoutDeclarations()
      defer { store.close() }
      return try Self.statementCount(of: store)
    }
    #expect(counts[0] == counts[1])
  }

  @Test func findingARecordDecodesOnlyItsModel() throws {
    let counts = try Self.counts { world in
      let store = try world.openWithoutDeclarations()
      defer { store.close() }
      let model = try store.schema.model(named: "M0")
      let before = try store.engine.connections.readers.sync { $0.statementCount }
      let record = try store.read { try $0.find(model, key: [.integer(1)]) }
      #expect(record?.values[2] == .integer(2))
      #expect(store.schema.decodedCount == 1)
      return try store.engine.connections.readers.sync { $0.statementCount } - before
    }
    #expect(counts[0] == counts[1])
  }

  @Test func aReportedUpdateTakesAsManyStatementsForEachCatalog() throws {
    let counts = try Self.counts { world in
      let store = try world.openWithoutDeclarations()
      defer { store.close() }
      let model = try store.schema.model(named: "M0")
      let before = try Self.statementCount(of: store)
      let changes = try store.writeReturningChanges { tx in
        try tx.update(model, key: [.integer(1)], set: ["price": .integer(5)])
      }.changes
      #expect(changes.changes.map { $0.new?[2] } == [.integer(10)])
      return try Self.statementCount(of: store) - before
    }
    #expect(counts[0] == counts[1])
  }

  @Test func aCommitOfAnotherProgramTakesAsManyStatementsForEachCatalog() throws {
    let counts = try Self.counts { world in
      let store = try world.openWithoutDeclarations()
      defer { store.close() }
      let model = try store.schema.model(named: "M0")
      let other = try PlainDatabase(world.path)
      var counts: [Int] = []
      for price in 2...4 {
        try other.execute("UPDATE M0 SET price = \(price)")
        let before = try Self.statementCount(of: store)
        let news = try store.engine.connections.writer.sync { writer in
          try writer.connection.inTransaction {
            _ = try writer.noticeForeignCommit()
            return try writer.foreignNews(of: [model]) { _, _ in
              [.integer(1), .integer(Int64(price)), .integer(Int64(price) * 2), .null]
            }
          }
        }
        #expect(news?.changes.map { $0.new?[1] } == [.integer(Int64(price))])
        counts.append(try Self.statementCount(of: store) - before)
      }
      #expect(counts[1] == counts[2])
      #expect(store.schema.decodedCount == 1)
      return counts[0]
    }
    // The first one reads the table of the observed model.
    #expect(counts[0] == counts[1])
  }

  // Changing tables.

  /// The models with a rule in each, for which every table is copied.
  private static func revised(_ models: [ModelSchema]) -> [ModelSchema] {
    models.map { model in
      var model = model
      model.rules = [
        RuleSchema(name: "\(model.name).priced", message: "", condition: "price < 1000")
      ]
      return model
    }
  }

  /// W20.
  @Test func planningTakesAFewStatementsForEachTableThatChanges() throws {
    func count(_ plan: (World, Store) throws -> MigrationPlan) throws -> [Int] {
      try Self.counts { world in
        let store = try Store(at: world.path, configuration: StoreConfiguration(maxReaderCount: 1))
        defer { store.close() }
        let before = try store.engine.connections.readers.sync { $0.statementCount }
        #expect(try plan(world, store).isBlocked == false)
        return try store.engine.connections.readers.sync { $0.statementCount } - before
      }
    }
    func plan(_ models: [ModelSchema], of store: Store) throws -> MigrationPlan {
      let engine = store.engine
      return try engine.look { connection in
        try engine.catalog.migrationDraft(for: models, on: connection).plan
      }
    }
    let settled = try count { world, store in
      let plan = try plan(world.declarations.models, of: store)
      #expect(plan.isEmpty)
      return plan
    }
    #expect(settled[1] - settled[0] <= 38 * 3, "\(settled)")
    let changed = try count { world, store in
      let plan = try plan(Self.revised(world.declarations.models), of: store)
      #expect(plan.steps.count == world.declarations.models.count)
      return plan
    }
    #expect(changed[1] - changed[0] <= 38 * 8, "\(changed)")
  }

  /// W19.
  @Test func aCopiedTableTakesAsManyStatementsForEachNumberOfRecords() throws {
    let counts = try [10, 10_000].map { recordCount in
      let world = try World(2)
      let first = try world.open()
      try first.write { tx in
        try tx.execute(
          """
          WITH RECURSIVE n (i) AS (
            VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < \(recordCount))
          INSERT INTO M0 (id, price) SELECT i, i % 100 FROM n
          """)
      }
      first.close()
      var declarations = world.declarations
      declarations.models = Self.revised(declarations.models)
      let store = try Store(
        at: world.path, declaring: declarations,
        configuration: StoreConfiguration(schemaChanges: .migrate), onError: { _ in })
      defer { store.close() }
      return try Self.statementCount(of: store)
    }
    #expect(counts[0] == counts[1])
    #expect(counts[0] <= 967, "\(counts)")
  }
}
