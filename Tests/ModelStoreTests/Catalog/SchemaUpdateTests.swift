internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct SchemaUpdateTests {
  private func open(
    _ models: [ModelSchema], _ file: SchemaTestFile,
    allowing changes: StoreConfiguration.SchemaChanges
  ) throws {
    let connection = try file.connect()
    try connection.execute("BEGIN IMMEDIATE")
    let update = try SchemaUpdate(models, in: Catalog(reading: connection))
    try update.check(allowing: changes)
    try Reconciler(connection).apply(update.plan)
    try connection.execute("COMMIT")
  }

  private var models: [ModelSchema] {
    SchemaSamples.all.filter { $0.name != "Track" && $0.name != "Entry" }
  }

  @Test func missingTablesAreCreated() throws {
    let file = try SchemaTestFile()
    try open(models, file, allowing: .createTables)
    try open(models, file, allowing: .none)
    #expect(try file.catalog().tables.map(\.name) == ["Album", "Playlist"])
  }

  @Test func additiveDifferencesAreAppliedOnlyWhenRequested() throws {
    let file = try SchemaTestFile()
    try open(models, file, allowing: .createTables)
    try file.connect().execute("INSERT INTO Album (title) VALUES ('a'), ('b')")
    var changed = models
    changed[0].fields += [
      FieldSchema(name: "stars", type: .integer, defaultSQL: "3"),
      FieldSchema(
        name: "list", type: .uuid, isOptional: true, reference: ReferenceSchema(table: "Playlist")),
    ]
    let error = #expect(throws: StoreError.self) {
      try open(changed, file, allowing: .createTables)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.model == "Album")
    #expect(
      error?.message == """
        The file differs from the declared models; nothing was changed. The store can add \
        everything: open with schemaChanges = .additive, or write a migration.
        - Album.stars has no column in the table Album.
        - Album.list has no column in the table Album.
        - The index _ms_index_Album.list of the model Album does not exist.
        """)
    try open(changed, file, allowing: .additive)
    #expect(SchemaDifference.differences(of: changed, in: try file.catalog()) == [])
    #expect(
      try file.connect().lines("SELECT title, stars, list FROM Album ORDER BY title")
        == ["'a', 3, NULL", "'b', 3, NULL"])
  }

  @Test func oneDifferenceThatCannotBeAddedStopsAll() throws {
    let file = try SchemaTestFile()
    try open(models, file, allowing: .createTables)
    let before = try file.catalog()
    var changed = models
    changed[0].fields[1].collation = .binary
    changed[0].fields.append(FieldSchema(name: "note", type: .text, isOptional: true))
    let error = #expect(throws: StoreError.self) { try open(changed, file, allowing: .additive) }
    #expect(
      error?.message == """
        The file differs from the declared models; nothing was changed. Write a migration, or \
        change the models.
        - Album.title compares as BINARY; the column in Album compares as NOCASE.
        """)
    #expect(try file.catalog() == before)
  }

  @Test func aRuleThatRecordsBreakIsNotAdded() throws {
    let file = try SchemaTestFile()
    try open(models, file, allowing: .createTables)
    try file.connect().execute("INSERT INTO Album (title) VALUES ('a')")
    let before = try file.catalog()
    var changed = models
    changed[0].fields.append(
      FieldSchema(
        name: "stars", type: .integer, defaultSQL: "9",
        rules: [RuleSchema(name: "Album.stars.range", message: "", condition: "stars < 6")]))
    #expect(throws: SQLiteError.self) { try open(changed, file, allowing: .additive) }
    #expect(try file.catalog() == before)
  }

  @Test(arguments: [
    "t (a INTEGER PRIMARY KEY, \"b c\")", "t (a INTEGER PRIMARY KEY, \"b c\") WITHOUT ROWID",
  ])
  func rowsHoldTheDefaultOfAnAddedColumn(table: String) throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE \(table);
      CREATE TABLE touched (a);
      CREATE TRIGGER "t 2" AFTER UPDATE ON t BEGIN INSERT INTO touched VALUES (2); END;
      CREATE TRIGGER "t 1" BEFORE UPDATE ON t BEGIN INSERT INTO touched VALUES (1); END;
      INSERT INTO t VALUES (1, 'x'), (2, 'y');
      """)
    let connection = try file.connect()
    let triggers = try #require(try file.catalog().table(named: "t")).triggers
    try connection.execute("BEGIN IMMEDIATE")
    try AddedColumns.run("ALTER TABLE t ADD COLUMN d INTEGER DEFAULT 5", on: connection)
    try connection.execute("COMMIT")
    #expect(try connection.lines("SELECT * FROM touched") == [])
    #expect(try file.catalog().table(named: "t")?.triggers == triggers)
    // Without the rewriting, the hook reports NULL as the column's old value.
    let images = Images()
    connection.hooks.onRowChange { row in
      images.olds.append(Result { try row.old(at: .plain(2)) })
    }
    try connection.execute("DELETE FROM t")
    connection.hooks.onRowChange(nil)
    #expect(try images.olds.map { try $0.get() } == [.integer(5), .integer(5)])
  }

  private final class Images {
    var olds: [Result<SQLValue, any Error>] = []
  }
}
