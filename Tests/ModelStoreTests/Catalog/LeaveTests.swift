import Testing

@testable import ModelStore

/// Undoing adoption.
@Suite(.tags(.unit)) struct LeaveTests {
  private static func schema(_ database: PlainDatabase) throws -> [[SQLValue]] {
    try database.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")
  }

  private static let before =
    RefreshWorld.tables + """
      CREATE UNIQUE INDEX own ON A (name);
      CREATE TRIGGER mine AFTER INSERT ON B BEGIN UPDATE A SET shout = 'new'; END;
      CREATE VIEW V AS SELECT * FROM A;
      CREATE TABLE D (id INTEGER PRIMARY KEY, n INTEGER);
      INSERT INTO D VALUES (1, 0);
      """

  private static func copied() -> FieldBinding {
    FieldBinding(
      BindingSchema(
        target: .init(model: "B", field: "aName"),
        formula: .copy(source: .init(model: "A", field: "name"), through: "a")))
  }

  @Test func removingTheLastModelRemovesAllTablesOfTheStore() throws {
    let plain = try SchemaTestFile(Self.before)
    let world = try RefreshWorld(Self.before, hasJournal: false)
    try world.opened { store throws in
      try store.changeJournal.enable()
      try store.add(Self.copied())
      try store.add(
        FieldBinding(
          BindingSchema(
            target: .init(model: "D", field: "n"),
            formula: .aggregate(
              .init(.count, model: "B", match: [.init(source: "a", target: "id")])))))
      try store.add(Rule("A.name.unique", of: "A", fields: ["name"], .unique(where: nil)))
      let departure = try store.leave(nil, losing: .accept)
      #expect(departure.models == ["A", "B", "D", "V"])
      #expect(departure.removed.map(\.name) == ["B.aName", "D.n", "A.name.unique"])
      #expect(departure.removesCatalog)
      #expect(store.schema.models == [])
      #expect(try store.leave().models == [])
    }
    let expected = try Self.schema(PlainDatabase(plain.path))
    #expect(try Self.schema(world.other) == expected)
    #expect(
      try world.other.rows("SELECT aName, n FROM B JOIN D ON a = D.id") == [
        [.text("one"), .integer(1)]
      ])
    // The file is an ordinary one: it opens, and can be adopted again.
    try world.opened { store throws in
      #expect(store.schema.models == [])
      #expect(try store.adopt().map(\.name) == ["A", "B", "D", "V"])
    }
  }

  @Test func aDryRunRemovesNothing() throws {
    let world = try RefreshWorld()
    let before = try Self.schema(world.other)
    let departure = try world.opened { try $0.leave(nil, losing: .accept, mode: .preview) }
    #expect(departure.models == ["A", "B"])
    #expect(try Self.schema(world.other) == before)
  }

  @Test func aModelThatOtherModelsNeedCannotLeave() throws {
    let world = try RefreshWorld()
    try world.opened { try $0.add(Self.copied()) }
    let before = try Self.schema(world.other)
    try world.opened { store throws in
      let error = failure { try store.leave(["A"]) }
      #expect(error?.code == .conflict)
      #expect(error?.message.contains("the binding B.aName needs them") == true)
    }
    #expect(try Self.schema(world.other) == before)
    try world.opened { store throws in
      let departure = try store.leave(["A"], losing: .accept)
      #expect(departure.models == ["A"])
      #expect(departure.removed.map(\.name) == ["B.aName"])
      #expect(!departure.removesCatalog)
    }
    try world.opened { store throws in
      #expect(store.schema.models.map(\.name) == ["B"])
      #expect(try store.bindings() == [])
      #expect(try store.changeJournal.details() == ["B": .full])
    }
    #expect(try world.triggers(on: "A") == [])
    let kept = try world.triggers(on: "B")
    #expect(!kept.isEmpty)
  }

  @Test func theJournalsHistoryIsOnlyDroppedOnRequest() throws {
    let world = try RefreshWorld()
    try world.opened { store throws in
      try store.write { tx in try tx.execute("UPDATE A SET name = 'two'") }
      try store.leave(["B"])
      let error = failure { try store.leave(["A"]) }
      #expect(error?.code == .conflict)
      #expect(error?.message.contains("the change journal and its 1 entries would be lost") == true)
      #expect(try store.leave(["A"], losing: .accept).lostEntryCount == 1)
    }
    #expect(try world.other.rows("SELECT 1 FROM sqlite_schema WHERE name LIKE '%ms%'") == [])
  }

  @Test func modelsOfAProgramDoNotLeave() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("music.store")
    let store = try Store(at: path, models: Artist.self)
    #expect(failure { try store.leave(["Artist"]) }?.code == .unsupportedSchema)
    #expect(failure { try store.leave(["Nothing"]) }?.code == .unknownModel)
    try PlainDatabase(path).execute("CREATE TABLE T (id INTEGER PRIMARY KEY)")
    try store.adopt(["T"])
    let departure = try store.leave()
    #expect(departure.models == ["T"])
    #expect(!departure.removesCatalog)
    #expect(store.schema.models.map(\.name) == ["Artist"])
  }

  @Test func anObservedModelDoesNotLeave() throws {
    let world = try RefreshWorld()
    try world.opened { store throws in
      let model = try store.schema.model(named: "A")
      let subscription = try store.liveQuery(StoreQuery<DynamicRecord>(model)).observe { _ in }
      #expect(failure { try store.leave(["A"]) }?.code == .configurationConflict)
      subscription.cancel()
    }
  }

  @Test func aListLeavesWithItsOwner() throws {
    let world = try AdoptedListWorld()
    let slots = "Playlist.tracks"
    #expect(failure { try world.store.leave([slots]) }?.code == .unsupportedSchema)
    let error = failure { try world.store.leave(["Track"]) }
    #expect(error?.code == .conflict)
    #expect(error?.message.contains("the list Playlist.tracks needs them") == true)
    let departure = try world.store.leave(["Playlist"])
    #expect(departure.models == ["Playlist", slots])
    #expect(world.store.schema.models.map(\.name) == ["Track"])
  }

  @Test func aFileThatWasNeverAdoptedIsLeftUnchanged() throws {
    let file = try SchemaTestFile("CREATE TABLE A (id INTEGER PRIMARY KEY)")
    let store = try Store(at: file.path)
    #expect(try store.leave().removesCatalog == false)
    store.close()
    #expect(
      try PlainDatabase(file.path).rows("SELECT name FROM sqlite_schema") == [[.text("A")]])
  }
}
