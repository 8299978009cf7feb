import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

/// What a program brings to a store that may be open already.
@Suite(.tags(.unit)) struct DeclaringTests {
  private static func rejecting(_ name: String, _ message: String) -> Validator {
    Validator(name, Artist.self) { _, _ in .reject(message, \Artist.name) }
  }

  private static func refusal(_ store: Store) -> [String]? {
    failure { try store.write { tx in try tx.insert(Artist(id: 9, name: "x")) } }?
      .violations.map(\.message)
  }

  @Test func aValidatorOfAnUnknownModelIsRefused() throws {
    let directory = try TemporaryDirectory()
    let error = failure {
      try Store(
        at: directory.file("a.store"), models: Artist.self,
        validators: [Validator("Album.ok", Album.self) { _, _ in .accept }])
    }
    #expect(error?.code == .unknownModel)
    #expect(error?.model == "Album")
    // Nothing of the declaration stays behind.
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    #expect(try store.declaredValidators().map(\.name) == [])
  }

  @Test func aValidatorOfAViewIsRefused() throws {
    let world = try ViewWorld()
    let error = failure {
      try Store(
        at: world.path, validators: [Validator("ok", ArtistName.self) { _, _ in .accept }])
    }
    #expect(error?.code == .unsupportedSchema)
  }

  @Test func twoValidatorsOfOneNameAreRefused() throws {
    let directory = try TemporaryDirectory()
    let error = failure {
      try Store(
        at: directory.file("a.store"), models: Artist.self,
        validators: [Self.rejecting("twice", "one"), Self.rejecting("twice", "two")])
    }
    #expect(error?.code == .configurationConflict)
  }

  @Test func aLaterStoreReplacesAValidatorOfItsNameAndModel() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let first = try Store(
      at: path, models: Artist.self,
      validators: [Self.rejecting("a", "one"), Self.rejecting("b", "two")])
    #expect(Self.refusal(first) == ["one", "two"])
    let second = try Store(
      at: path, models: Artist.self, validators: [Self.rejecting("a", "three")])
    #expect(Self.refusal(first) == ["three", "two"])
    #expect(Self.refusal(second) == ["three", "two"])
    let error = failure {
      try Store(
        at: path, models: Artist.self, Album.self,
        validators: [Validator("a", Album.self) { _, _ in .accept }])
    }
    #expect(error?.code == .configurationConflict)
  }

  @Test func writesOfOpeningResetTheObservers() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    let live = try store.liveQuery(Artist.all)
    let resets = Recorder<Bool>()
    let subscription = try live.observe { resets.add($0.isReset) }
    let second = try Store(
      at: path, models: Artist.self,
      migrations: [
        Migration(version: 1, name: "more artists", sql: "INSERT INTO \"Artist\" VALUES (2, 'b')")
      ])
    second.waitForDelivery()
    #expect(live.count == 2)
    #expect(resets.events == [true])
    subscription.cancel()
  }

  @Test func aCommitThatFailsHalfwayWhileDeclaringIsUnknownAndStopsTheWriter() throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
    var configuration = StoreConfiguration()
    configuration.busyTimeout = .milliseconds(50)
    configuration.fileSystem = "fault"
    let fault = fault_vfs_arm(.sync, faulty.path + "-wal", 1, ExtendedCode.ioSync, .none, .once)
    let declare = {
      try Store(
        at: faulty.path, models: Artist.self, Album.self, configuration: configuration)
    }
    #expect(failure(declare)?.code == .outcomeUnknown)
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    #expect(failure { try store.write { _ in } }?.code == .outcomeUnknown)
    #expect(failure(declare)?.code == .outcomeUnknown)
    store.close()
    #expect(try declare().fetch(Artist.all) == [Artist(id: 1, name: "kept")])
  }

  /// Has SQLite refuse every ROLLBACK of the store's writer.
  private static func refuseRollbacks(in store: Store) throws {
    _ = try store.engine.connections.writer.sync { writer in
      sqlite3_set_authorizer(
        writer.connection.handle,
        { _, action, verb, _, _, _ in
          let refused =
            action == SQLITE_TRANSACTION && verb.map { String(cString: $0) } == "ROLLBACK"
          return refused ? SQLITE_DENY : SQLITE_OK
        }, nil)
    }
  }

  @Test func aCheckpointThatCannotReleaseItsLockStopsTheWriter() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    try Self.refuseRollbacks(in: store)
    failure { try store.checkpoint() }
    let later = failure { try store.write { _ in } }
    #expect(later?.code == .ioFailure)
    #expect(later?.message.hasPrefix("Rolling a transaction back failed") == true)
  }

  @Test func aReaderThatCannotEndItsTransactionThrowsAStoreError() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    let failed = SQLiteError(code: .ioFailure, message: "disk I/O error")
    let errors = [nil, failed].map { (cause: SQLiteError?) in
      failure {
        try store.engine.connections.readers.sync { _ in
          throw ConnectionFailure(moment: .rollback, failure: failed, cause: cause)
        }
      }
    }
    #expect(errors.map(\.?.code) == [.ioFailure, .ioFailure])
  }

  @Test func aRollbackThatFailsKeepsTheCauseAndStopsTheWriter() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let store = try Store(at: path, models: Artist.self)
    try Self.refuseRollbacks(in: store)
    struct Cause: Error {}
    #expect(throws: Cause.self) {
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "a"))
        throw Cause()
      }
    }
    #expect(failure { try store.write { _ in } }?.code == .ioFailure)
    store.close()
    #expect(try Store(at: path, models: Artist.self).fetch(Artist.all) == [])
  }
}

extension DeclaringTests {
  private static func model(
    _ name: String, table: String? = nil, _ fields: [FieldSchema] = []
  ) -> ModelSchema {
    ModelSchema(
      name: name, table: table,
      fields: [FieldSchema(name: "id", type: .integer, isRowID: true)] + fields, key: ["id"])
  }

  private static func declare(
    _ models: [ModelSchema], bindings: [FieldBinding] = [], in store: Store
  ) throws {
    try store.engine.catalog.declare(
      Declarations(migrations: [], models: models, bindings: bindings, validators: []),
      allowing: .additive)
  }

  @Test func aTableHasOneModel() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    var store = try Store(at: path)
    try Self.declare([Self.model("Old", table: "things")], in: store)
    store.close()
    store = try Store(at: path)
    try Self.declare([Self.model("New", table: "Things")], in: store)
    #expect(store.schema.models.map(\.name) == ["New"])
    #expect(
      try PlainDatabase(path).rows("SELECT name FROM _ms_models") == [[.text("New")]])
    let error = failure {
      try Self.declare([Self.model("A", table: "t"), Self.model("B", table: "T")], in: store)
    }
    #expect(error?.code == .unsupportedSchema)
  }

  @Test func textsThatDifferInBytesAreWrittenToTheCatalog() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    func note(_ message: String) -> ModelSchema {
      var model = Self.model("Note")
      model.rules = [RuleSchema(name: "Note.ok", message: message, condition: "id > 0")]
      return model
    }
    let store = try Store(at: path)
    try Self.declare([note("\u{E9}")], in: store)
    try Self.declare([note("e\u{301}")], in: store)
    let found = try PlainDatabase(path).rows(
      "SELECT instr(definition, char(0x301)) > 0 FROM _ms_models")
    #expect(found == [[.integer(1)]])
  }

  @Test func tablesWhoseNamesDifferInBytesAreDistinguished() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let store = try Store(at: path)
    try store.write { tx in
      try tx.execute("CREATE TABLE \(identifier: "caf\u{E9}") (id INTEGER PRIMARY KEY, a TEXT)")
      try tx.execute("CREATE TABLE \(identifier: "cafe\u{301}") (id INTEGER PRIMARY KEY)")
    }
    #expect(try Store(at: path).adoptableTables().count == 2)
    #expect(try Set(store.adoptableTables().map { $0.schema?.fields.count }) == [1, 2])
  }

  @Test func aTableIsAdoptedByItsExactName() throws {
    let directory = try TemporaryDirectory()
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    let store = try Store(at: directory.file("a.store"))
    try store.write { tx in
      try tx.execute("CREATE TABLE \(identifier: composed) (id INTEGER PRIMARY KEY, a TEXT)")
      try tx.execute("CREATE TABLE \(identifier: decomposed) (id INTEGER PRIMARY KEY)")
    }
    let both = failure { try store.adopt() }
    #expect(both?.code == .unsupportedSchema)
    let adopted = try store.adopt([decomposed])
    #expect(adopted.map { Array($0.table.utf8) } == [Array(decomposed.utf8)])
    #expect(adopted.map(\.fields.count) == [1])
    #expect(try store.adoptableTables().map { Array($0.name.utf8) } == [Array(composed.utf8)])
    let twin = failure { try store.adopt([composed]) }
    #expect(twin?.code == .unsupportedSchema)
    #expect(twin?.message.contains("in other bytes") == true)
    #expect(store.schema.models.map(\.fields.count) == [1])
  }

  @Test func aTableOfAnOpenStoresModelKeepsThatModel() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let store = try Store(at: path)
    try Self.declare([Self.model("Old", table: "things")], in: store)
    let live = try store.liveQuery(StoreQuery<DynamicRecord>(try store.schema.model(named: "Old")))
    let error = failure {
      try Self.declare([Self.model("New", table: "things")], in: try Store(at: path))
    }
    #expect(error?.code == .configurationConflict)
    #expect(error?.message.contains("Old") == true)
    try store.write { tx in try tx.execute("INSERT INTO things VALUES (1)") }
    #expect(live.count == 1)
    #expect(store.schema.models.map(\.name) == ["Old"])
  }

  @Test func aTableWhoseModelIsObservedKeepsThatModel() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    var store = try Store(at: path)
    try Self.declare([Self.model("Old", table: "things")], in: store)
    store.close()
    // Known from the file alone.
    store = try Store(at: path)
    let live = try store.liveQuery(StoreQuery<DynamicRecord>(try store.schema.model(named: "Old")))
    let error = failure { try Self.declare([Self.model("New", table: "things")], in: store) }
    #expect(error?.code == .configurationConflict)
    #expect(live.count == 0)
  }

  @Test(arguments: [
    (ReferenceSchema(table: "Missing"), "there is no such table"),
    (ReferenceSchema(table: "Pair"), "its key is not of one column"),
    (ReferenceSchema(table: "Pair", column: "c"), "it has no column c"),
    (ReferenceSchema(table: "Pair", column: "a"), "its column a is not unique"),
  ])
  func aReferenceThatCannotBeFollowedIsRefused(
    reference: ReferenceSchema, reason: String
  ) throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"))
    let pair = ModelSchema(
      name: "Pair",
      fields: [
        FieldSchema(name: "a", type: .integer), FieldSchema(name: "b", type: .integer),
        FieldSchema(name: "u", type: .text, isUnique: true, collation: .nocase),
      ], key: ["a", "b"])
    let child = Self.model(
      "Child", [FieldSchema(name: "parent", type: .integer, reference: reference)])
    let error = failure { try Self.declare([pair, child], in: store) }
    #expect(error?.code == .unsupportedSchema)
    #expect(error?.field == "parent")
    #expect(error?.message.contains(reason) ?? false)
    #expect(
      try store.read { tx in
        try tx.value(Int64.self, "SELECT count(*) FROM sqlite_schema WHERE name = 'Child'")
      } == 0)
    let good = Self.model(
      "Child",
      [
        FieldSchema(
          name: "parent", type: .text, reference: ReferenceSchema(table: "Pair", column: "U")),
        FieldSchema(
          name: "next", type: .integer, isOptional: true,
          reference: ReferenceSchema(table: "child")),
      ])
    try Self.declare([pair, good], in: store)
  }

  @Test func anUndeclaredBindingIsReplacedAndFollowsARenamedField() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let low = FieldSchema(name: "low", type: .text)
    let name = FieldSchema(name: "name", type: .text)
    var store = try Store(at: path)
    try Self.declare(
      [Self.model("T", [name, low])],
      bindings: [
        .derive(to: "T.low", from: "lower(name)", name: "first")
      ], in: store)
    func bindings() throws -> [[SQLValue]] {
      try PlainDatabase(path).rows(
        """
        SELECT name, (SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'trigger')
        FROM _ms_bindings
        """)
    }
    #expect(try bindings() == [[.text("first"), .integer(1)]])
    store = try Store(at: path)
    try Self.declare(
      [Self.model("T", [name, low])],
      bindings: [.derive(to: "T.low", from: "upper(name)", name: "second")], in: store)
    #expect(try bindings() == [[.text("second"), .integer(1)]])
    // A program that knows the field under another name.
    store = try Store(at: path)
    let renamed = FieldSchema(name: "lowered", column: "low", type: .text)
    try Self.declare([Self.model("T", [name, renamed])], in: store)
    #expect(try bindings() == [[.text("second"), .integer(1)]])
    #expect(
      try store.bindings().map(\.description) == ["T.lowered = upper(name)"])
  }
}
