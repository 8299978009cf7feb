import Foundation
import Testing

@testable import ModelStore

/// When a file counts as found in order, and when opening checks it again.
@Suite(.tags(.unit)) struct FiledCatalogTests {
  private static let artist = ModelSchema(
    name: "Artist",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "name", type: .text, defaultSQL: "''"),
      FieldSchema(name: "slug", type: .text, isOptional: true),
    ], key: ["id"])

  private static let slug = FieldBinding(
    BindingSchema(
      target: .init(model: "Artist", field: "slug"), formula: .derive(sql: "lower(name)")))

  private static let rule = Rule(
    "Artist.named", of: "Artist", fields: ["name"], .condition(sql: "name <> ''"))

  private static let declarations = Declarations(
    models: [artist], bindings: [slug], rules: [rule], changeJournal: .full)

  /// A file in a directory of its own.
  private final class File {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
      directory = try TemporaryDirectory()
      path = directory.file("music.store")
      try open(FiledCatalogTests.declarations)
    }

    /// Opens and closes it as a program with `declarations`.
    func open(
      _ declarations: Declarations, functions: Set<SQLFunction> = []
    ) throws {
      var configuration = StoreConfiguration()
      configuration.functions = functions
      try Store(
        at: path, declaring: declarations, configuration: configuration, onError: { _ in }
      ).close()
    }

    /// Whether opening it with `declarations` has nothing to check.
    func isInOrder(
      for declarations: Declarations, functions: Set<SQLFunction> = []
    ) throws -> Bool {
      let connection = try Connection(
        path: path, role: .reader,
        policy: .init(
          durability: .normal, busyTimeout: .seconds(30), cacheSize: 1 << 20,
          statementCacheCapacity: 16))
      guard let filed = try FiledCatalog(reading: connection) else { return false }
      return try filed.vouches(for: FiledCatalog.file)
        && filed.vouches(for: declarations.digest(with: functions))
    }

    /// What the file has beside records.
    func objects() throws -> [[SQLValue]] {
      try PlainDatabase(path).rows("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
    }
  }

  @Test func aFileMatchesTheDeclarationsThatCreatedIt() throws {
    let file = try File()
    #expect(try file.isInOrder(for: Self.declarations))
    #expect(try !file.isInOrder(for: Declarations(models: [Self.artist])))
  }

  @Test(arguments: [
    "CREATE TABLE other (x)",
    "CREATE INDEX other ON Artist (name)",
    "DROP TRIGGER \"_ms_journal_Artist_insert\"",
    "DROP TRIGGER \"_ms_binding_Artist.slug_target_insert\"",
    "UPDATE _ms_models SET definition = definition || ' '",
    "UPDATE _ms_bindings SET definition = definition || ' '",
    "UPDATE _ms_rules SET definition = definition || ' '",
    "UPDATE _ms_journal_layouts SET definition = definition || ' '",
    "VACUUM",
    "DELETE FROM _ms_reconciled",
  ])
  func aChangeOfAnotherProgramIsCheckedOnce(script: String) throws {
    let file = try File()
    let before = try file.objects()
    try PlainDatabase(file.path).execute(script)
    #expect(try !file.isInOrder(for: Self.declarations))
    try file.open(Self.declarations)
    #expect(try file.isInOrder(for: Self.declarations))
    let own = try file.objects().filter { object in before.contains { $0[1] == object[1] } }
    #expect(own == before)
  }

  @Test func anEntryOfANewerLibraryIsRefusedThoughTheSchemaVersionIsTheSame() throws {
    let file = try File()
    try PlainDatabase(file.path).execute("DELETE FROM _ms_validators")
    try PlainDatabase(file.path).execute(
      "INSERT INTO _ms_validators (name, format, definition) VALUES ('later', 99, '{}')")
    #expect(failure { try file.open(Self.declarations) }?.code == .newerFormat)
    #expect(failure { try Store(at: file.path).close() }?.code == .newerFormat)
  }

  @Test func aMigrationThatANewerProgramAppliedIsRefused() throws {
    let file = try File()
    var newer = Self.declarations
    newer.migrations = [Migration(version: 1, name: "names", sql: "UPDATE Artist SET name = name")]
    try file.open(newer)
    #expect(failure { try file.open(Self.declarations) }?.code == .newerFormat)
  }

  @Test func aRestoredBackupIsBroughtUpToDate() throws {
    let file = try File()
    let backup = file.directory.file("backup.store")
    try FileManager.default.copyItem(atPath: file.path, toPath: backup)
    var later = Self.declarations
    later.models.append(
      ModelSchema(
        name: "Album", fields: [FieldSchema(name: "id", type: .integer, isRowID: true)],
        key: ["id"]))
    try file.open(later)
    #expect(try file.isInOrder(for: later))
    try FileManager.default.removeItem(atPath: file.path)
    try FileManager.default.copyItem(atPath: backup, toPath: file.path)
    #expect(try file.isInOrder(for: Self.declarations))
    #expect(try !file.isInOrder(for: later))
    try file.open(later)
    #expect(
      try PlainDatabase(file.path).rows("SELECT name FROM _ms_models ORDER BY name")
        == [[.text("Album")], [.text("Artist")]])
  }

  @Test func programsThatTakeTurnsWriteNothing() throws {
    let file = try File()
    let other = Declarations(
      models: [
        ModelSchema(
          name: "Album", fields: [FieldSchema(name: "id", type: .integer, isRowID: true)],
          key: ["id"])
      ])
    for _ in 0..<2 {
      try file.open(other)
      try file.open(Self.declarations)
    }
    let watcher = try PlainDatabase(file.path)
    func version() throws -> [[SQLValue]] { try watcher.rows("PRAGMA data_version") }
    let before = try version()
    for _ in 0..<2 {
      #expect(try file.isInOrder(for: other) && file.isInOrder(for: Self.declarations))
      try file.open(other)
      try file.open(Self.declarations)
    }
    #expect(try version() == before)
  }

  @Test func readingUsesWhatIsRecordedAndRecordsNothing() throws {
    let file = try File()
    try PlainDatabase(file.path).execute("CREATE TABLE other (x)")
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    try Store(
      at: file.path, declaring: Self.declarations, configuration: configuration, onError: { _ in }
    ).close()
    #expect(try !file.isInOrder(for: Self.declarations))
  }

  @Test func functionsAreDeclarations() throws {
    let function = SQLFunction("slug") { $0[0] }
    let digests = try [[], [function]].map { try Self.declarations.digest(with: Set($0)) }
    #expect(digests[0] != digests[1])
  }

  @Test func theDigestIsTheSameInEveryProcess() {
    var hash = StableHash()
    hash.add("a binding, Größe")
    hash.add(true)
    hash.add(7)
    #expect(hash.value == 7_845_046_208_556_470_800)
  }
}
