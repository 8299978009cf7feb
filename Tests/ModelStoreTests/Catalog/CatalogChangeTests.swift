import Testing

@testable import ModelStore

/// The file's description of its models, changed while stores are open on it.
@Suite(.tags(.unit)) struct CatalogChangeTests {
  private static let account = """
    CREATE TABLE account (id INTEGER PRIMARY KEY, is_active BOOLEAN, note TEXT);
    INSERT INTO account VALUES (1, 1, 'x');
    """

  /// What another program does when it changes an entry of the catalog.
  private static func change(_ definition: String, in file: PlainDatabase) throws {
    try file.execute(
      """
      BEGIN;
      UPDATE _ms_models SET definition = \(definition) WHERE name = 'account';
      CREATE VIEW changed AS SELECT 1;
      DROP VIEW changed;
      COMMIT;
      """)
  }

  private static func choice(_ type: FieldType) -> TypeChoice {
    TypeChoice(model: "account", field: "is_active", type: type)
  }

  private static func type(in store: Store) throws -> FieldType? {
    try store.schema.model(named: "account").field(named: "is_active")?.type
  }

  /// The types of an adopted table changed, and no other program noticed.
  @Test func everyChangeOfTheCatalogChangesTheSchemaVersion() throws {
    let file = try SchemaTestFile(Self.account)
    let store = try Store(at: file.path)
    let other = try PlainDatabase(file.path)
    func version() throws -> [[SQLValue]] { try other.rows("PRAGMA schema_version") }
    try store.adopt(["account"])
    let adopted = try version()
    try store.adopt([], types: [Self.choice(.any)])
    let retyped = try version()
    #expect(retyped != adopted)
    try store.adopt([], types: [Self.choice(.any)])
    #expect(try version() == retyped)
    #expect(try other.rows("SELECT name FROM sqlite_schema WHERE type = 'view'") == [])
  }

  @Test func openingAFileThatIsUpToDateWritesNothing() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("music.store")
    try Store(at: path, models: Artist.self).close()
    let other = try PlainDatabase(path)
    func versions() throws -> [[[SQLValue]]] {
      [try other.rows("PRAGMA data_version"), try other.rows("PRAGMA schema_version")]
    }
    let before = try versions()
    let store = try Store(at: path, models: Artist.self)
    #expect(try versions() == before)
    store.close()
  }

  /// An open store kept the types that it had read first, and stored values that do not fit.
  @Test func aTypeSetByAnotherProgramHoldsFromTheNextWrite() throws {
    let file = try SchemaTestFile(Self.account)
    let store = try Store(at: file.path)
    try store.adopt(["account"], types: [Self.choice(.any)])
    try Self.change(
      "replace(definition, '\"type\":\"any\"', '\"type\":\"boolean\"')",
      in: try PlainDatabase(file.path))
    try store.write { _ in }
    #expect(try Self.type(in: store) == .boolean)
  }

  @Test func anotherStoreOnTheFileReadsTheCatalog() throws {
    let file = try SchemaTestFile(Self.account)
    let store = try Store(at: file.path)
    try store.adopt(["account"], types: [Self.choice(.any)])
    try Self.change(
      "replace(definition, '\"type\":\"any\"', '\"type\":\"boolean\"')",
      in: try PlainDatabase(file.path))
    let second = try Store(at: file.path)
    #expect(try Self.type(in: second) == .boolean)
    #expect(try Self.type(in: store) == .boolean)
  }

  /// Programs, queries and observers that hold the model address its fields by position.
  @Test(arguments: [true, false])
  func aModelKeepsTheOrderOfItsFields(isObserved: Bool) throws {
    let file = try SchemaTestFile(Self.account)
    let store = try Store(at: file.path)
    try store.adopt(["account"])
    let model = try store.schema.model(named: "account")
    let subscription =
      isObserved ? try store.liveQuery(StoreQuery<DynamicRecord>(model)).observe { _ in } : nil
    func stored() throws -> [SQLValue]? {
      try store.read { reads in try reads.find(model, key: [.integer(1)])?.values }
    }
    try Self.change(
      """
      json_set(
        definition, '$.fields',
        json_array(
          json_extract(definition, '$.fields[0]'), json_extract(definition, '$.fields[2]'),
          json_extract(definition, '$.fields[1]')))
      """, in: try PlainDatabase(file.path))
    var expected = try #require(try stored())
    try store.write { tx in
      try tx.update(model, key: [.integer(1)], set: ["note": .text("new")])
    }
    store.waitForDelivery()
    #expect(try store.schema.model(named: "account") == model)
    expected[try #require(model.fields.firstIndex { $0.name == "note" })] = .text("new")
    #expect(try stored() == expected)
    subscription?.cancel()
  }

  @Test func aModelOfAProgramStaysAsTheProgramDeclaresIt() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("music.store")
    let store = try Store(at: path, models: Artist.self)
    try PlainDatabase(path).execute(
      """
      UPDATE _ms_models SET definition = json_set(definition, '$.fields[1].name', 'title');
      CREATE VIEW changed AS SELECT 1;
      """)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Miles")) }
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "Miles")])
    #expect(try store.schema.model(named: "Artist") == Artist.schema)
  }

  /// The binding was committed, and adding it threw `cancelled`.
  @Test func aStopRequestAfterTheCommitHasNoEffect() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("many.store")
    // Enough tables that reading the schema takes SQLite more steps than there are between two
    // progress callbacks.
    let tables = (1...60).map { "CREATE TABLE t\($0) (id INTEGER PRIMARY KEY, a, b TEXT);" }
    try PlainDatabase(path).execute("PRAGMA journal_mode = WAL;" + tables.joined())
    var configuration = StoreConfiguration()
    configuration.stopRequest = StopRequest {
      do {
        let found = try PlainDatabase(path).rows("SELECT name FROM _ms_bindings")
        return !found.isEmpty
      } catch {
        // There is no catalog yet.
        return false
      }
    }
    let errors = Recorder<StoreError>()
    let store = try Store(at: path, configuration: configuration, onError: { errors.add($0) })
    try store.adopt(["t1"])
    try store.add(
      FieldBinding(
        BindingSchema(target: .init(model: "t1", field: "b"), formula: .derive(sql: "upper(id)"))))
    #expect(errors.events.map(\.code) == [])
    #expect(
      try PlainDatabase(path).rows("SELECT name FROM _ms_bindings") == [[.text("t1.b")]])
  }
}
