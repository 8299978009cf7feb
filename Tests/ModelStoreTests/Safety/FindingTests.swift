import Testing

@testable import ModelStore

/// What a store says about a file that another program has been at.
@Suite(.tags(.unit)) struct FindingTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open() throws -> Store {
    let store = try Store(
      at: directory.file("music.store"), models: Artist.self, Album.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)])
    try store.write { tx in
      guard try tx.count(Artist.all) == 0 else { return }
      try tx.insert(Artist(id: 1, name: "Miles"))
      for id in 1...3 { try tx.insert(Album(id: Int64(id), title: "Blue", artistID: 1)) }
    }
    return store
  }

  private func execute(_ sql: String) throws {
    try PlainDatabase(directory.file("music.store")).execute(sql)
  }

  @Test func bindingsThatHoldHaveNoFindings() throws {
    #expect(try open().bindingFindings() == [])
  }

  @Test func aLostTriggerAndItsConsequencesAreFound() throws {
    let store = try open()
    let trigger = "_ms_binding_Album.artistName_source_update"
    try execute("DROP TRIGGER \"\(trigger)\"")
    let lost = SchemaDrift(.binding("Album.artistName"), [.init(.trigger, trigger, .missing)])
    #expect(
      try store.bindingFindings() == [
        BindingFinding(binding: "Album.artistName", drift: lost, recordCount: 0, keys: [])
      ])
    try execute("UPDATE Artist SET name = 'Nobody'")
    #expect(
      try store.bindingFindings() == [
        BindingFinding(
          binding: "Album.artistName", drift: lost, recordCount: 3,
          keys: [[.integer(1)], [.integer(2)], [.integer(3)]])
      ])
  }

  @Test func aTriggerWithoutABindingIsFound() throws {
    let store = try open()
    let trigger = "_ms_binding_gone_target_insert"
    try execute("CREATE TRIGGER \"\(trigger)\" AFTER INSERT ON Album BEGIN SELECT 1; END")
    #expect(
      try store.bindingFindings()
        == [
          BindingFinding(
            binding: "gone",
            drift: SchemaDrift(.binding("gone"), [.init(.trigger, trigger, .unexpected)]),
            recordCount: 0, keys: [])
        ])
  }

  @Test func aCheckNamesAMissingTable() throws {
    let store = try open()
    #expect(try store.checkIntegrity() == [])
    try execute("DROP TABLE Album")
    #expect(try store.checkIntegrity() == ["The table Album of the model Album does not exist."])
  }

  @Test func textThatIsNotUTF8IsAFindingAndNamesTheRecordThatCannotBeRead() throws {
    let store = try open()
    try execute("UPDATE Album SET title = CAST(x'ff' AS TEXT) WHERE id > 1")
    #expect(
      try store.findings(in: Album.schema, maxKeyCount: 1) == [
        RuleFinding(
          violation: Violation(
            kind: .type, model: "Album", fields: ["title"], rule: "Album.title.encoding",
            message: "must be valid UTF-8"),
          count: 2, keys: [[.integer(2)]])
      ])
    let error = #expect(throws: StoreError.self) {
      try store.read { reads in try reads.forEach(StoreQuery<DynamicRecord>(Album.schema)) { _ in }
      }
    }
    #expect(error?.code == .invalidValue && error?.key == [.integer(2)])
  }

  @Test func columnNamesAreKnownWithoutRows() throws {
    let store = try open()
    let names = try store.read { reads in
      try reads.columnNames(of: "SELECT id, name AS n FROM Artist WHERE id < 0")
    }
    #expect(names == ["id", "n"])
    let error = #expect(throws: StoreError.self) {
      try store.read { reads in _ = try reads.columnNames(of: "DELETE FROM Artist") }
    }
    #expect(error?.code == .misuse)
  }

  @Test func aNewerFileCanBeReadWithoutDeclarations() throws {
    let path = directory.file("music.store")
    do { _ = try open() }
    try execute(
      "INSERT INTO _ms_migrations (scope, version, name, checksum, sql, applied_at) VALUES ('store', 99, 'later', 'x', '', '2040-01-01')"
    )
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    let store = try Store(at: path, configuration: configuration)
    #expect(store.schema.models.map(\.name) == ["Album", "Artist"])
    store.close()
    #expect(throws: StoreError.self) { try Store(at: path) }
  }

  @Test func droppingATriggerAndReopeningRepairsWrongValues() throws {
    var store = try open()
    // As a writer without triggers leaves it.
    let trigger = "_ms_binding_Album.artistName_target_update"
    let text = try PlainDatabase(store.path)
      .rows("SELECT sql FROM sqlite_schema WHERE name = '\(trigger)'")
    guard case .text(let sql) = text[0][0] else {
      Issue.record("There is no such trigger.")
      return
    }
    try execute(
      "DROP TRIGGER \"\(trigger)\"; UPDATE Album SET artistName = 'x' WHERE id = 2; \(sql)")
    store.close()
    store = try open()
    #expect(
      try store.bindingFindings() == [
        BindingFinding(
          binding: "Album.artistName", drift: nil, recordCount: 1, keys: [[.integer(2)]])
      ])
    try execute("DROP TRIGGER \"_ms_binding_Album.artistName_target_insert\"")
    store.close()
    store = try open()
    #expect(try store.bindingFindings() == [])
    #expect(try store.fetch(Album.all).map(\.artistName) == ["Miles", "Miles", "Miles"])
  }

  @Test func theErrorForAnUnreadableValueNamesItsRecord() throws {
    let store = try open()
    try execute("UPDATE Album SET title = CAST(x'ff' AS TEXT) WHERE id = 2")
    let key: [SQLValue] = [.integer(2)]
    let query = StoreQuery<DynamicRecord>(Album.schema)
    let errors = [
      failure { try store.fetch(Album.all) }, failure { try store.fetch(query) },
      failure { try store.find(Album.self, 2) },
      failure { try store.read { try $0.find(Album.schema, key: key) } },
      failure { try store.read { try $0.fetchFirst(query.filter(.sql("id = 2"))) } },
    ]
    #expect(errors.map(\.?.key) == Array(repeating: key, count: errors.count))
    #expect(errors.map(\.?.field) == Array(repeating: "title", count: errors.count))
  }

  @Test func bindingsAreCheckedInOneSnapshot() throws {
    try open().close()
    var configuration = StoreConfiguration()
    configuration.maxReaderCount = 1
    let store = try Store(at: directory.file("music.store"), configuration: configuration)
    let isInTransaction = Recorder<Bool>()
    func record(_ isRecording: Bool) throws {
      try store.engine.connections.readers.sync { connection in
        connection.hooks.onProgramStart(
          isRecording
            ? { [unowned connection] _ in isInTransaction.add(connection.isInTransaction) } : nil)
      }
    }
    try record(true)
    #expect(try store.bindingFindings() == [])
    try record(false)
    #expect(isInTransaction.events.count > 4)
    #expect(isInTransaction.events.drop { !$0 }.allSatisfy { $0 })
    #expect(isInTransaction.events.prefix { !$0 }.count == 1)
  }
}
