internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct CatalogEntriesTests {
  private func file() throws -> SchemaTestFile {
    let file = try SchemaTestFile()
    try Migrator(connection: try file.connect(), scope: .store).apply(StoreMigrations.all)
    return file
  }

  private let models = CatalogEntries<ModelSchema>.models

  @Test func modelsAreReadAsTheyWereWritten() throws {
    let file = try file()
    var list = SchemaSamples.playlist
    list.lists = [
      ListSchema(name: "tracks", elementTable: "Track", slotTable: "_ms_list_Playlist_tracks")
    ]
    let all = [SchemaSamples.track, SchemaSamples.album, SchemaSamples.entry, list]
    #expect(try models.write(all, on: file.connect()) == ["Track", "Album", "Entry", "Playlist"])
    #expect(
      try models.read(on: file.connect())
        == [SchemaSamples.album, SchemaSamples.entry, list, SchemaSamples.track])
  }

  @Test func anEntryIsStableText() throws {
    #expect(
      try CatalogText.text(of: SchemaSamples.playlist) == """
        {"fields":[{"collation":"BINARY","column":"id","isOptional":false,"isRowID":false,\
        "isUnique":false,"name":"id","rules":[],"type":"uuid"}],"indexes":[],"isAdopted":false,\
        "isWithoutRowID":false,"key":["id"],"kind":"table","lists":[],"name":"Playlist",\
        "rules":[],"table":"Playlist","uniques":[]}
        """)
  }

  @Test func unchangedEntriesCauseNoWrite() throws {
    let file = try file()
    try models.write(SchemaSamples.all, on: file.connect())
    let connection = try file.connect()
    let version = try connection.dataVersion()
    #expect(try models.write(SchemaSamples.all, on: file.connect(role: .reader)) == [])
    #expect(try connection.dataVersion() == version)
    var changed = SchemaSamples.album
    changed.isAdopted = true
    #expect(try models.write([changed, SchemaSamples.entry], on: file.connect()) == ["Album"])
    #expect(try models.read(on: file.connect()).map(\.isAdopted) == [true, false, false, false])
  }

  @Test func entriesOfOthersStayUntilRemoved() throws {
    let file = try file()
    try models.write([SchemaSamples.album], on: file.connect())
    try models.write([SchemaSamples.entry], on: file.connect())
    #expect(try models.read(on: file.connect()).map(\.name) == ["Album", "Entry"])
    try models.remove(["Album", "Nobody"], on: file.connect())
    #expect(try models.read(on: file.connect()).map(\.name) == ["Entry"])
  }

  @Test func validatorsAreListed() throws {
    let file = try file()
    let validators = CatalogEntries<ValidatorSchema>.validators
    let entry = ValidatorSchema(name: "credit limit", model: "Customer")
    try validators.write([entry], on: file.connect())
    #expect(try validators.read(on: file.connect()) == [entry])
  }

  @Test func aFileWithoutACatalogHasNoEntries() throws {
    let file = try SchemaTestFile("CREATE TABLE t (a)")
    #expect(try models.read(on: file.connect()) == [])
  }

  @Test(arguments: [
    ("UPDATE _ms_models SET format = 2", "format 2"),
    (
      "UPDATE _ms_models SET definition = json_set(definition, '$.colour', 1)", "unknown key colour"
    ),
    (
      "UPDATE _ms_models SET definition = json_set(definition, '$.fields[1].unit', json('[{}]'))",
      "unknown key fields.unit"
    ),
    (
      "UPDATE _ms_models SET definition = json_set(definition, '$.fields[0].type', 'vector')",
      "unknown value at fields.Index 0.type"
    ),
    (
      "UPDATE _ms_models SET definition = json_remove(definition, '$.key')",
      "unknown value at key"
    ),
  ])
  func newerEntriesAreNeitherReadNorOverwritten(sql: String, reason: String) throws {
    let file = try file()
    try models.write([SchemaSamples.album], on: file.connect())
    try file.connect().execute(sql)
    let error = #expect(throws: StoreError.self) { try models.read(on: file.connect()) }
    #expect(error?.code == .newerFormat)
    #expect(
      error?.message == """
        The entry of the model Album has a format that this version of ModelStore does not \
        support (\(reason)). Update this program; nothing was changed.
        """)
    var changed = SchemaSamples.album
    changed.isAdopted = true
    #expect(throws: StoreError.self) { try models.write([changed], on: file.connect()) }
  }

  @Test func anEntryThatIsNotJSONIsDamageAndIsNotOverwritten() throws {
    let file = try file()
    try models.write([SchemaSamples.album], on: file.connect())
    try file.connect().execute("UPDATE _ms_models SET definition = '{'")
    let error = #expect(throws: StoreError.self) { try models.read(on: file.connect()) }
    #expect(error?.code == .corrupt)
    #expect(
      error?.message == """
        The entry of the model Album in _ms_models is not JSON. The file was damaged or \
        edited by hand. Restore a backup; nothing was changed.
        """)
    var changed = SchemaSamples.album
    changed.isAdopted = true
    #expect(throws: StoreError.self) { try models.write([changed], on: file.connect()) }
  }
}
