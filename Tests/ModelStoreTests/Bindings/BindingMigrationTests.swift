import Testing

@testable import ModelStore

/// Bindings when tables are rebuilt, and when databases are attached.
@Suite(.tags(.law)) struct BindingMigrationTests {
  private static let bindings: [FieldBinding] = [
    .copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)
  ]

  private static func rebuild(_ table: String, _ definition: String) -> Migration {
    let new = definition.replacing("\"\(table)\"", with: "\"\(table)_new\"")
    return Migration(
      version: 1, name: "rebuild",
      sql: """
        PRAGMA legacy_alter_table = ON;
        \(new);
        INSERT INTO "\(table)_new" SELECT * FROM "\(table)";
        DROP TABLE "\(table)";
        ALTER TABLE "\(table)_new" RENAME TO "\(table)";
        """)
  }

  /// Rebuilding drops a table's triggers, and the triggers of other tables name it meanwhile: so
  /// the pragma, or SQLite would not find what they name.
  @Test(arguments: ["Artist", "Album"])
  func bindingsSurviveAMigrationThatRebuildsATable(table: String) throws {
    let shop = try MusicShop()
    let path = shop.directory.file("shop.store")
    shop.store.close()
    let shell = try PlainDatabase(path)
    let objects =
      "SELECT name, sql FROM sqlite_schema WHERE name GLOB '_ms_binding_*' ORDER BY name"
    let before = try shell.rows(objects)
    guard
      case .text(let definition)? = try shell.rows(
        "SELECT sql FROM sqlite_schema WHERE name = '\(table)'"
      ).first?.first
    else {
      Issue.record("There is no table \(table).")
      return
    }
    var configuration = StoreConfiguration()
    // The index that went with the table.
    configuration.schemaChanges = .additive
    let store = try Store(
      at: path, models: Artist.self, Album.self, migrations: [Self.rebuild(table, definition)],
      bindings: Self.bindings, configuration: configuration)
    #expect(try shell.rows(objects) == before)
    #expect(try store.bindingFindings() == [])
    #expect(
      try store.fetch(Album.all.order { $0.id }).map(\.artistName) == ["Miles", "Miles", nil])
    let told = Recorder<String>()
    let subscription = try store.observe(Album.self) { event in
      told.add("\(event.isReset) \(event.changes.map { "\($0.change.key) \($0.origin)" })")
    }
    try store.write { tx in try tx.set(\Artist.name, to: "Davis", for: 1) }
    store.waitForDelivery()
    let origin = Origin.binding("Album.artistName")
    let keys = ([1, 2] as [Int64]).map { "\([SQLValue.integer($0)]) \(origin)" }
    #expect(told.taken() == ["false \(keys)"])
    // And for every other program.
    try shell.execute("UPDATE Artist SET name = 'Shell' WHERE id = 1")
    #expect(
      try store.fetch(Album.all.order { $0.id }).map(\.artistName) == ["Shell", "Shell", nil])
    subscription.cancel()
  }

  @Test func aMigrationThatMovesValuesIsFollowed() throws {
    let shop = try MusicShop()
    let path = shop.directory.file("shop.store")
    shop.store.close()
    let store = try Store(
      at: path, models: Artist.self, Album.self,
      migrations: [
        Migration(version: 1, name: "shout", sql: "UPDATE Artist SET name = upper(name)")
      ], bindings: Self.bindings)
    #expect(
      try store.fetch(Album.all.order { $0.id }).map(\.artistName) == ["MILES", "MILES", nil])
    #expect(try store.bindingFindings() == [])
  }

  @Test(arguments: ["other.Artist.name", "temp.Artist.name"])
  func fieldsOfOtherDatabasesAreRefused(source: String) throws {
    let shop = try MusicShop()
    let before = try shop.store.bindings()
    let error = failure {
      try shop.store.add(.copy(from: source, to: "Album.title", through: "Album.artistID"))
    }
    #expect(
      error?.message
        == "A binding names \(source), whose model the store does not have. Write Model.field.")
    let attach = failure {
      try shop.store.write { tx in try tx.execute("ATTACH ':memory:' AS other") }
    }
    #expect(attach?.message.contains("ATTACH") == true, "\(attach)")
    #expect(try shop.store.bindings() == before)
  }

  /// A trigger names tables of its own database, whatever the writer calls that.
  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func bindingsHoldWhereAnotherProgramAttachesTheFile() throws {
    let shop = try MusicShop()
    let path = shop.directory.file("shop.store")
    let result = try Shell.run(
      """
      CREATE TABLE Artist (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE Album (id INTEGER PRIMARY KEY, title TEXT, artistID INTEGER, artistName TEXT);
      INSERT INTO Artist VALUES (1, 'decoy');
      INSERT INTO Album VALUES (1, 'decoy', 1, 'decoy');
      ATTACH '\(path)' AS store;
      UPDATE store.Artist SET name = 'Attached' WHERE id = 1;
      SELECT artistName FROM main.Album;
      """, on: ":memory:")
    #expect(result == .init(output: ["decoy"], errors: []))
    #expect(
      try shop.store.fetch(Album.all.order { $0.id }).map(\.artistName)
        == ["Attached", "Attached", nil])
    #expect(try shop.store.bindingFindings() == [])
  }
}
