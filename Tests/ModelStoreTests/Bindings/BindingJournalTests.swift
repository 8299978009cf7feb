import Testing

@testable import ModelStore

/// Changes that a declared binding makes in records are attributed to this program.
@Suite(.tags(.unit)) struct BindingJournalTests {
  private static let tables = """
    CREATE TABLE Artist (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE Album (
      id INTEGER PRIMARY KEY, artistID INTEGER REFERENCES Artist (id), artistName TEXT
    );
    INSERT INTO Artist VALUES (1, 'Nina');
    INSERT INTO Album VALUES (1, 1, 'mine'), (2, 1, 'Nina'), (3, NULL, NULL);
    """

  private static let binding = FieldBinding(
    BindingSchema(
      target: .init(model: "Album", field: "artistName"),
      formula: .copy(source: .init(model: "Artist", field: "name"), through: "artistID")))

  private static func names(in world: JournalWorld) throws -> [SQLValue] {
    try world.other.rows("SELECT artistName FROM Album ORDER BY id").map { $0[0] }
  }

  /// The newest transaction that changed a record.
  private static func latest(in store: Store) throws -> JournalTransaction? {
    try store.changeJournal.newestTransactions(limit: 4).first { !$0.changes.isEmpty }
  }

  @Test func changesOfAnAddedBindingAreSignedAndUndoneAfterItIsDropped() throws {
    let world = try JournalWorld(Self.tables)
    #expect(try world.store.add(Self.binding) == 1)
    let added = try #require(try Self.latest(in: world.store))
    #expect(added.program == WritingProgram().name)
    #expect(added.changes.map(\.key) == [[.integer(1)]])
    #expect(added.gaps == [])
    try world.store.dropBinding("Album.artistName")
    #expect(try world.store.undo()?.reverted == added.id)
    #expect(try Self.names(in: world) == [.text("mine"), .text("Nina"), .null])
    #expect(world.errors.events == [])
  }

  @Test func whileTheBindingExistsUndoingItsChangesHasNoEffect() throws {
    let world = try JournalWorld(Self.tables)
    try world.store.add(Self.binding)
    #expect(try world.store.undo()?.changes.changes == [])
    #expect(try world.store.bindingFindings() == [])
    #expect(try world.store.undo() == nil)
  }

  @Test func aChangeOfTheCatalogAloneIsNotATransactionOfRecords() throws {
    let world = try JournalWorld(Self.tables)
    try world.other.execute("UPDATE Album SET artistName = 'Nina' WHERE id = 1")
    #expect(try world.store.add(Self.binding) == 0)
    #expect(try world.store.undo() == nil)
  }

  @Test func aPreviewReportsChangesAndMakesNone() throws {
    let world = try JournalWorld(Self.tables)
    let start = try world.store.changeJournal.position()
    #expect(try world.store.add(Self.binding, mode: .preview) == 1)
    let refused = failure {
      try world.store.add(
        FieldBinding(
          BindingSchema(
            target: .init(model: "Album", field: "artistName"),
            formula: .derive(sql: "nosuch(id)"))),
        mode: .preview)
    }
    #expect(refused?.code == .unsupportedSchema)
    #expect(refused?.message.contains("nosuch") == true)
    #expect(try world.store.bindings() == [])
    #expect(try world.store.changeJournal.position() == start)
    #expect(try Self.names(in: world) == [.text("mine"), .text("Nina"), .null])
    #expect(
      try world.other.rows("SELECT name FROM sqlite_schema WHERE name GLOB '_ms_binding_*'") == [])
    // The store continues to work as before.
    #expect(try world.store.add(Self.binding) == 1)
    #expect(try world.store.dropBinding("Album.artistName", mode: .preview) == 0)
    #expect(try world.store.bindings().map(\.name) == ["Album.artistName"])
    try world.other.execute("UPDATE Artist SET name = 'Simone'")
    #expect(try Self.names(in: world) == [.text("Simone"), .text("Simone"), .null])
  }

  @Test func changesOfTheBindingThatTakesOverAreCountedAndSigned() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE X (id INTEGER PRIMARY KEY, a TEXT, b TEXT, t TEXT, f INTEGER);
      INSERT INTO X VALUES (1, 'a1', 'b1', NULL, 1), (2, 'a2', 'b2', NULL, 3);
      """)
    func add(_ name: String, _ sql: String, when condition: String, _ priority: Int) throws {
      try world.store.add(
        FieldBinding(
          BindingSchema(
            name: name, target: .init(model: "X", field: "t"), formula: .derive(sql: sql),
            condition: condition, priority: priority)))
    }
    try add("high", "a", when: "f = 1", 2)
    try add("low", "b", when: "f < 5", 1)
    let values = "SELECT t FROM X ORDER BY id"
    #expect(try world.other.rows(values) == [[.text("a1")], [.text("b2")]])
    #expect(try world.store.dropBinding("high", mode: .preview) == 1)
    #expect(try world.other.rows(values) == [[.text("a1")], [.text("b2")]])
    #expect(try world.store.dropBinding("high") == 1)
    #expect(try world.other.rows(values) == [[.text("b1")], [.text("b2")]])
    let dropped = try #require(try Self.latest(in: world.store))
    #expect(!dropped.isForeign)
    #expect(dropped.changes.map(\.key) == [[.integer(1)]])
  }

  @Test func changesOfABindingAddedByOpeningAreSigned() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self, Album.self,
      configuration: configuration)
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Nina"))
      try tx.insert(Album(id: 1, title: "t", artistID: 1, artistName: "mine"))
    }
    store.close()
    let again = try Store(
      at: directory.file("a.store"), models: Artist.self, Album.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
      configuration: configuration)
    let opened = try #require(try Self.latest(in: again))
    #expect(!opened.isForeign)
    #expect(opened.changes.map(\.operation) == [.update])
    #expect(opened.changes.first?["artistName"]?.new == .text("Nina"))
  }
  @Test func changesOfABindingAreDerivedFromTheJournal() throws {
    let world = try JournalWorld(Self.tables)
    try world.store.add(Self.binding)
    func told(_ filter: JournalFilter = JournalFilter()) throws -> [String] {
      let found = try world.store.changeJournal.newestTransactions(matching: filter, limit: 1)
      return found.flatMap(\.changes).map { "\($0.model) \($0.key) \($0.binding ?? "nobody")" }
    }
    func line(_ model: String, _ key: Int64, _ binding: String) -> String {
      "\(model) \([SQLValue.integer(key)]) \(binding)"
    }
    // Updates made when it was declared are not a reaction to a change.
    #expect(
      try Self.latest(in: world.store)?.changes.map(\.binding) == [nil])
    try world.store.write { tx in try tx.execute("UPDATE Artist SET name = 'Simone'") }
    let follow = [line("Album", 1, "Album.artistName"), line("Album", 2, "Album.artistName")]
    #expect(try told() == [line("Artist", 1, "nobody")] + follow)
    // What set it off need not be asked for.
    #expect(try told(JournalFilter(model: "Album")) == follow)
    try world.other.execute("INSERT INTO Album VALUES (4, 1, NULL)")
    #expect(
      try told() == [line("Album", 4, "nobody"), line("Album", 4, "Album.artistName")])
    try world.store.write { tx in try tx.execute("UPDATE Album SET artistName = 'x' WHERE id = 3") }
    #expect(try told().first == line("Album", 3, "nobody"))
    let consumer = try world.store.consumer("reader", startingAt: .start)
    let batch = try #require(try consumer.next())
    #expect(batch.changes.filter { $0.binding == "Album.artistName" }.count == 3)
  }
}
