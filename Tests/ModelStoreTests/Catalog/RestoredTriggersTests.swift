import Foundation
import Testing

@testable import ModelStore

/// Migrations that rebuild a table in SQL: DROP TABLE drops the triggers of bindings, rules and the
/// journal, and the same transaction creates them again.
@Suite(.tags(.process)) struct RestoredTriggersTests {
  private static let model = ModelSchema(
    name: "Item",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "price", type: .integer, defaultSQL: "0"),
      FieldSchema(name: "double", type: .integer, isOptional: true),
    ], key: ["id"])

  /// SQLite's twelve steps, without the triggers and indexes at the end.
  private static let rebuild = """
    CREATE TABLE new_Item (
      id INTEGER NOT NULL PRIMARY KEY, price INTEGER NOT NULL DEFAULT 0, double INTEGER) STRICT;
    INSERT INTO new_Item SELECT * FROM Item;
    DROP TABLE Item;
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE new_Item RENAME TO Item;
    PRAGMA legacy_alter_table = OFF;
    """

  private let directory: TemporaryDirectory
  private var path: String { directory.file("items.store") }

  /// A file with one record, and a binding, a rule and the journal for its model.
  init() throws {
    directory = try TemporaryDirectory()
    let store = try Store(
      at: path,
      declaring: Declarations(
        models: [Self.model],
        bindings: [
          FieldBinding(
            BindingSchema(
              target: .init(model: "Item", field: "double"), formula: .derive(sql: "price * 2")))
        ],
        rules: [Rule("Item.unlike", of: "Item", fields: ["price"], .unique(where: nil))],
        changeJournal: .full),
      configuration: StoreConfiguration(), onError: { Issue.record($0) })
    try store.write { tx in
      try tx.insert(["id": .integer(1), "price": .integer(5)], into: Self.model)
    }
    store.close()
  }

  private static func apply(_ migrations: [Migration], to path: String) throws {
    let store = try Store(
      at: path, declaring: Declarations(), configuration: StoreConfiguration(), onError: { _ in })
    defer { store.close() }
    try FileMigrations(of: store, declared: migrations).apply()
  }

  /// What the file has: drift, the versions of its migrations, and a bound value after a write by a
  /// program that knows only SQL.
  private func state() throws -> [String] {
    let file = try PlainDatabase(path)
    try file.execute("INSERT OR IGNORE INTO Item (id, price) VALUES (2, 8)")
    let double = try file.rows("SELECT double FROM Item WHERE id = 2")
    let store = try Store(at: path, configuration: StoreConfiguration(access: .readOnly))
    defer { store.close() }
    let versions = try FileMigrations(of: store, declared: []).status().map(\.version)
    return try store.schemaDrift().map(\.owner.name).sorted()
      + ["versions \(versions)", "double \(double[0][0])"]
  }

  @Test func theyAreThereAfterARebuildInSQL() throws {
    try Self.apply([Migration(version: 1, name: "rebuild", sql: Self.rebuild)], to: path)
    #expect(try state() == ["versions [1]", "double 16"])
    #expect(throws: PlainDatabase.Failure.self) {
      try PlainDatabase(path).execute("INSERT INTO Item (id, price) VALUES (3, 8)")
    }
  }

  /// The control of the other tests: without the store, the rebuild loses all of them.
  @Test func aRebuildByAnotherProgramLosesThem() throws {
    try PlainDatabase(path).execute(Self.rebuild)
    #expect(try state() == ["Item", "Item.double", "Item.unlike", "versions []", "double NULL"])
  }

  @Test(.ownThreads) func aProcessKilledAfterTheMigrationLeavesThem() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try RestoredTriggersTests.apply(
        [
          Migration(version: 1, name: "rebuild", sql: RestoredTriggersTests.rebuild),
          Migration(version: 2, name: "die", onFreshFiles: .run) { _ in kill(getpid(), SIGKILL) },
        ], to: path)
    }
    #expect(try state() == ["versions [1]", "double 16"])
  }

  @Test(.ownThreads) func aProcessKilledInTheMigrationLeavesTheOldFile() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try RestoredTriggersTests.apply(
        [
          Migration(version: 1, name: "rebuild", onFreshFiles: .run) { tx in
            for statement in SQLTokens(RestoredTriggersTests.rebuild).statements {
              try tx.execute(SQLText(sql: statement))
            }
            kill(getpid(), SIGKILL)
          }
        ], to: path)
    }
    #expect(try state() == ["versions []", "double 16"])
  }

  @Test func valuesThatChangedMeanwhileAreUpdated() throws {
    try Self.apply(
      [
        Migration(
          version: 1, name: "dearer",
          sql: Self.rebuild + "UPDATE Item SET price = 70")
      ], to: path)
    #expect(try PlainDatabase(path).rows("SELECT double FROM Item") == [[.integer(140)]])
    #expect(try state() == ["versions [1]", "double 16"])
  }

  @Test func recordsThatBreakTheRuleRefuseTheMigration() throws {
    let double = Migration(
      version: 1, name: "twice", sql: Self.rebuild + "INSERT INTO Item (price) VALUES (5)")
    #expect(throws: StoreError.self) { try Self.apply([double], to: path) }
    #expect(try PlainDatabase(path).rows("SELECT count(*) FROM Item") == [[.integer(1)]])
    #expect(try state() == ["versions []", "double 16"])
  }

  @Test func whatHadDriftedBeforeStaysDrifted() throws {
    let file = try PlainDatabase(path)
    for row in try file.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '_ms_binding*'")
    {
      guard case .text(let name) = row[0] else { continue }
      try file.execute("DROP TRIGGER \"\(name)\"")
    }
    try Self.apply([Migration(version: 1, name: "rebuild", sql: Self.rebuild)], to: path)
    #expect(try state() == ["Item.double", "versions [1]", "double NULL"])
  }

  @Test func aBindingWithoutItsColumnWaits() throws {
    try Self.apply(
      [
        Migration(
          version: 1, name: "without price",
          sql: Self.rebuild.replacing("price INTEGER NOT NULL DEFAULT 0, ", with: "")
            .replacing("SELECT *", with: "SELECT id, double"))
      ], to: path)
    let store = try Store(at: path, configuration: StoreConfiguration(access: .readOnly))
    #expect(
      try store.schemaDrift(of: [.bindings]).map(\.owner.name) == ["Item.double"])
    #expect(
      try PlainDatabase(path).rows("SELECT count(*) FROM Item") == [[.integer(1)]])
  }
}
