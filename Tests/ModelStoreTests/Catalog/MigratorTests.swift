internal import Foundation
internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct MigratorTests {
  private static let steps = [
    Migration(
      version: 1, name: "people", sql: "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);"),
    Migration(
      version: 20_260_820_101_500, name: "age",
      sql: """
        ALTER TABLE person ADD COLUMN age INTEGER NOT NULL DEFAULT 30; -- years
        INSERT INTO person (name) VALUES ('Ada; the first');
        CREATE TRIGGER person_touch AFTER UPDATE ON person BEGIN
          SELECT 1;
        END;
        """),
  ]

  private func migrator(
    _ file: SchemaTestFile, scope: MigrationLedger.Scope = .app
  ) throws -> Migrator {
    Migrator(connection: try file.connect(), scope: scope)
  }

  private func ledger(_ file: SchemaTestFile) throws -> [String] {
    try file.connect().lines("SELECT scope, version, name, checksum FROM _ms_migrations")
  }

  private func message(_ body: () throws -> Void) -> String? {
    let error = #expect(throws: StoreError.self, performing: body)
    return error.map { "\($0.code.rawValue): \($0.message)" }
  }

  @Test func migrationsAreAppliedOnceInTheOrderOfVersions() throws {
    let file = try SchemaTestFile()
    #expect(try migrator(file).pending(Self.steps) == Self.steps)
    #expect(try migrator(file).apply(Self.steps.reversed()) == Self.steps)
    #expect(try migrator(file).apply(Self.steps) == [])
    #expect(try migrator(file).pending(Self.steps) == [])
    #expect(
      try ledger(file) == [
        "'app', 1, 'people', '\(Self.steps[0].checksum)'",
        "'app', 20260820101500, 'age', '\(Self.steps[1].checksum)'",
      ])
    #expect(try file.connect().lines("SELECT * FROM person") == ["1, 'Ada; the first', 30"])
  }

  @Test func nothingPendingTakesNoWriteLock() throws {
    let file = try SchemaTestFile()
    try migrator(file).apply(Self.steps)
    let other = try file.connect()
    try other.execute("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
    #expect(try migrator(file).apply(Self.steps) == [])
    try other.execute("ROLLBACK")
  }

  @Test func aFileWithoutMigrationsGetsNoLedger() throws {
    let file = try SchemaTestFile()
    #expect(try migrator(file).apply([]) == [])
    #expect(try file.catalog().tables == [])
  }

  @Test func scopesHaveNumbersOfTheirOwn() throws {
    let file = try SchemaTestFile()
    #expect(try migrator(file, scope: .store).apply(StoreMigrations.all) == StoreMigrations.all)
    #expect(try migrator(file).apply(Self.steps) == Self.steps)
    #expect(try migrator(file, scope: .store).apply(StoreMigrations.all) == [])
    #expect(
      try file.catalog().tables.map(\.name)
        == [
          "_ms_bindings", "_ms_dead_letters", "_ms_journal", "_ms_journal_consumers",
          "_ms_journal_evicted", "_ms_journal_layouts", "_ms_log", "_ms_migrations", "_ms_models",
          "_ms_reconciled", "_ms_rules", "_ms_validators", "_ms_workers", "person",
        ])
  }

  @Test func everyFileOfMigrationsIsCompiledIn() throws {
    var directory = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { directory.deleteLastPathComponent() }
    directory.appendPathComponent("Migrations")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      .filter { $0.hasSuffix(".sql") }.sorted()
    let listed = StoreMigrations.all.map { migration in
      let digits = String(migration.version)
      return String(repeating: "0", count: 4 - digits.count) + digits + "_\(migration.name).sql"
    }
    #expect(names == listed)
    #expect(StoreMigrations.all.map(\.version) == (1...Int64(names.count)).map { $0 })
    for (name, migration) in zip(names, StoreMigrations.all) {
      let text = try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
      #expect(migration.sql == text)
    }
  }

  @Test func aChangedMigrationIsRefused() throws {
    let file = try SchemaTestFile()
    try migrator(file).apply([Self.steps[0]])
    let edited = Migration(version: 1, name: "people", sql: "CREATE TABLE person (id)")
    #expect(
      message { try migrator(file).apply([edited]) } == """
        migrationConflict: The migration 1 people was changed after it was applied (checksum \
        \(Self.steps[0].checksum) then, \(edited.checksum) now). Restore its text and write a new \
        migration; nothing was changed.
        """)
  }

  @Test func reformattingAMigrationIsNotAChange() throws {
    let file = try SchemaTestFile()
    try migrator(file).apply([Self.steps[0]])
    let formatted = Migration(
      version: 1, name: "people",
      sql: "-- People.\r\nCREATE TABLE person (id INTEGER PRIMARY KEY,\r\n    name TEXT);  \r\n\r\n"
    )
    #expect(try migrator(file).apply([formatted]) == [])
  }

  @Test(arguments: [
    ("SELECT 'a'", "SELECT 'a '"), ("SELECT '-- a'", "SELECT '-- b'"),
    ("SELECT 'a\nb'", "SELECT 'a\r\nb'"), ("SELECT 1", "SELECT 2"),
    ("SELECT \"a  b\"", "SELECT \"a b\""),
  ])
  func aChangeOfMeaningChangesTheChecksum(left: String, right: String) {
    let sums = [left, right].map { Migration(version: 1, name: "", sql: $0).checksum }
    #expect(sums[0] != sums[1])
  }

  // Every file in use holds these: the sum of a text must never change.
  @Test(arguments: [
    ("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), (" foobar\r\n-- x", "85944171f73967e8"),
  ])
  func checksumsAreTheSameForever(sql: String, expected: String) {
    #expect(Migration(version: 1, name: "", sql: sql).checksum == expected)
  }

  @Test func aLateLowerVersionIsRefused() throws {
    let file = try SchemaTestFile()
    try migrator(file).apply(Self.steps)
    let late = Migration(version: 7, name: "late", sql: "SELECT 1")
    #expect(
      message { try migrator(file).apply(Self.steps + [late]) } == """
        migrationConflict: The migration 7 late comes too late: 20260820101500 age was applied \
        before it. Give it a version above 20260820101500; nothing was changed.
        """)
  }

  @Test func aMissingMigrationIsRefused() throws {
    let file = try SchemaTestFile()
    try migrator(file).apply(Self.steps)
    #expect(
      message { try migrator(file).apply([Self.steps[1]]) } == """
        migrationConflict: The file has had the migration 1 people, which is missing here. \
        Restore it; nothing was changed.
        """)
  }

  @Test(arguments: [
    (MigrationLedger.Scope.store, "this ModelStore"), (.app, "this program"),
  ])
  func aNewerFileIsRefused(scope: MigrationLedger.Scope, reader: String) throws {
    let file = try SchemaTestFile()
    try migrator(file, scope: scope).apply(Self.steps)
    #expect(
      message { _ = try migrator(file, scope: scope).pending([Self.steps[0]]) } == """
        newerFormat: The file has migrations up to 20260820101500 (age); \(reader) knows only \
        those up to 1 (\(Self.steps[0].name)). Update this program; nothing was changed.
        """)
    #expect(
      message { _ = try migrator(file, scope: scope).pending([]) } == """
        newerFormat: The file has migrations up to 20260820101500 (age); \(reader) knows none. \
        Update this program; nothing was changed.
        """)
  }

  @Test func aLedgerOfAnotherFormIsRefused() throws {
    let file = try SchemaTestFile("CREATE TABLE _ms_migrations (version, digest)")
    #expect(
      message { _ = try migrator(file).pending(Self.steps) } == """
        newerFormat: The file's list of migrations has a format that this version of ModelStore \
        does not support. Update this program; nothing was changed.
        """)
  }

  @Test func duplicateAndUnusableVersionsAreRefused() throws {
    let file = try SchemaTestFile()
    let twin = Migration(version: 1, name: "twin", sql: "SELECT 1")
    #expect(
      message { try migrator(file).apply([Self.steps[0], twin]) }
        == "migrationConflict: Two migrations have the version 1: people and twin.")
    #expect(
      message { try migrator(file).apply([Migration(version: 0, name: "zero", sql: "SELECT 1")]) }
        == "migrationConflict: The migration 0 zero must have a version above 0.")
  }

  @Test func aFailingMigrationLeavesNothingBehind() throws {
    let file = try SchemaTestFile()
    let failing = Migration(
      version: 2, name: "bad", sql: "CREATE TABLE a (x); INSERT INTO b VALUES (1); SELECT 1")
    #expect(
      message { try migrator(file).apply([Self.steps[0], failing]) } == """
        invalidQuery: Migration 2 bad, statement 2: SQLite refused the statement: no such table: b \
        in: INSERT INTO b VALUES (1) The migration was rolled back.
        """)
    #expect(try ledger(file) == ["'app', 1, 'people', '\(Self.steps[0].checksum)'"])
    #expect(try file.catalog().table(named: "a") == nil)
  }

  @Test(arguments: [
    "BEGIN", "commit", "END TRANSACTION", "ROLLBACK", "SAVEPOINT a", "RELEASE a", "VACUUM",
    "ATTACH 'x' AS y", "DETACH y", "PRAGMA foreign_keys = OFF", "PRAGMA journal_mode(delete)",
  ])
  func aMigrationThatEndsItsTransactionIsRefused(statement: String) throws {
    let file = try SchemaTestFile()
    let migration = Migration(
      version: 2, name: "bad", sql: "CREATE TABLE a (x); /* here */ \(statement); SELECT 1")
    let text = message { try migrator(file).apply([Self.steps[0], migration]) }
    #expect(text?.hasPrefix("migrationConflict: Migration 2 bad, statement 2: ") == true)
    #expect(try file.catalog().tables == [])
  }

  @Test func theUsersVersionNumbersStay() throws {
    let file = try SchemaTestFile("PRAGMA user_version = 7; PRAGMA application_id = 8")
    try migrator(file, scope: .store).apply(StoreMigrations.all)
    let connection = try file.connect()
    #expect(
      try connection.lines("PRAGMA user_version") + connection.lines("PRAGMA application_id")
        == ["7", "8"])
    let migration = Migration(version: 1, name: "version", sql: "PRAGMA user_version = 9")
    try migrator(file).apply([migration])
    #expect(try file.connect().lines("PRAGMA user_version") == ["9"])
  }

  @Test func rebuildingATableKeepsTheRowsThatReferToIt() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY, x);
      CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE CASCADE);
      INSERT INTO parent VALUES (1, 'a'), (2, 'b');
      INSERT INTO child VALUES (1, 1), (2, 2);
      """)
    let rebuild = Migration(
      version: 1, name: "rebuild",
      sql: """
        CREATE TABLE new_parent (id INTEGER PRIMARY KEY, x TEXT NOT NULL);
        INSERT INTO new_parent SELECT * FROM parent;
        DROP TABLE parent;
        ALTER TABLE new_parent RENAME TO parent;
        """)
    let connection = try file.connect()
    try Migrator(connection: connection, scope: .app).apply([rebuild])
    #expect(try connection.lines("SELECT * FROM child") == ["1, 1", "2, 2"])
    #expect(try connection.lines("PRAGMA foreign_keys") == ["1"])
  }

  @Test func aMigrationMayNotBreakReferences() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent);
      CREATE TABLE odd (x REFERENCES parent (absent));
      INSERT INTO parent VALUES (1);
      INSERT INTO child VALUES (1, 1);
      PRAGMA foreign_keys = OFF;
      INSERT INTO child VALUES (2, 77);
      """)
    let connection = try file.connect()
    let breaking = Migration(version: 1, name: "break", sql: "DELETE FROM parent")
    #expect(
      message { try Migrator(connection: connection, scope: .app).apply([breaking]) } == """
        rejected: Migration 1 break: it leaves 1 broken references (from child to parent). The \
        migration was rolled back.
        """)
    #expect(try connection.lines("SELECT id FROM parent") == ["1"])
    #expect(try connection.lines("PRAGMA foreign_keys") == ["1"])
    // What was broken before is not the migration's doing.
    let harmless = Migration(version: 1, name: "add", sql: "INSERT INTO parent VALUES (5)")
    try Migrator(connection: connection, scope: .app).apply([harmless])
  }

  @Test func writersThatStartTogetherApplyEachMigrationOnce() async throws {
    let file = try SchemaTestFile("PRAGMA journal_mode = WAL")
    let migrations = (1...20).map {
      Migration(
        version: Int64($0), name: "step",
        sql: "CREATE TABLE IF NOT EXISTS log (n); INSERT INTO log VALUES (\($0))")
    }
    let path = file.path
    let applied = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for _ in 0..<4 {
        group.addTask {
          let connection = try Connection(
            path: path, role: .writer,
            policy: Connection.Policy(
              durability: .normal, busyTimeout: .seconds(60), cacheSize: 1 << 20,
              statementCacheCapacity: 8))
          return try Migrator(connection: connection, scope: .app).apply(migrations).map(\.version)
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(applied.sorted() == migrations.map(\.version))
    #expect(
      try file.connect().lines("SELECT n FROM log ORDER BY rowid")
        == migrations.map { "\($0.version)" })
  }

  @Test func addedColumnsAreWrittenIntoTheRows() throws {
    let file = try SchemaTestFile("CREATE TABLE old (a); INSERT INTO old VALUES (1), (2)")
    let migration = Migration(
      version: 1, name: "defaults",
      sql: """
        ALTER TABLE old RENAME TO person;
        ALTER TABLE person ADD COLUMN b DEFAULT 'x';
        """)
    let connection = try file.connect()
    try Migrator(connection: connection, scope: .app).apply([migration])
    let olds = Olds()
    connection.hooks.onRowChange { row in olds.values.append(Result { try row.old(at: .plain(1)) })
    }
    try connection.execute("UPDATE person SET a = a + 1")
    connection.hooks.onRowChange(nil)
    #expect(try olds.values.map { try $0.get() } == [.text("x"), .text("x")])
  }

  private final class Olds {
    var values: [Result<SQLValue, any Error>] = []
  }
}

extension MigratorTests {
  @Test(arguments: [
    "CREATE TEMP TABLE person (id)", "CREATE VIEW temp.person AS SELECT 1",
  ])
  func temporaryObjectsAreRefused(sql: String) throws {
    let file = try SchemaTestFile()
    let migration = Migration(version: 1, name: "hide", sql: sql)
    let error = #expect(throws: StoreError.self) {
      try Migrator(connection: file.connect(), scope: .app).apply([migration])
    }
    #expect(error?.code == .migrationConflict)
  }

  @Test func aSecondBrokenReferenceOfTheSameRowIsDetected() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (
        id TEXT PRIMARY KEY, a REFERENCES parent, b REFERENCES parent
      ) WITHOUT ROWID;
      INSERT INTO parent VALUES (1), (2);
      PRAGMA foreign_keys = OFF;
      INSERT INTO child VALUES ('x', 7, 1), ('y', 2, 2);
      """)
    let connection = try file.connect()
    for sql in ["UPDATE child SET b = 8 WHERE id = 'x'", "UPDATE child SET a = 9 WHERE id = 'y'"] {
      let error = #expect(throws: StoreError.self) {
        try Migrator(connection: connection, scope: .app).apply([
          Migration(version: 1, name: "break", sql: sql)
        ])
      }
      #expect(error?.code == .rejected)
      #expect(error?.message.contains("leaves 1 broken references") ?? false)
    }
    try Migrator(connection: connection, scope: .app).apply([
      Migration(version: 1, name: "add", sql: "INSERT INTO child VALUES ('z', NULL, 1)")
    ])
  }

  @Test func legacyRenamingEndsWithItsMigration() throws {
    let file = try SchemaTestFile()
    let connection = try file.connect()
    try Migrator(connection: connection, scope: .app).apply([
      Migration(
        version: 1, name: "legacy",
        sql: "PRAGMA legacy_alter_table = ON; CREATE TABLE a (x); CREATE VIEW v AS SELECT x FROM a"),
      Migration(version: 2, name: "rename", sql: "ALTER TABLE a RENAME TO b"),
    ])
    #expect(
      try connection.lines("SELECT sql FROM sqlite_schema WHERE name = 'v'")
        == [#"'CREATE VIEW v AS SELECT x FROM "b"'"#])
  }

  private func message(applying sql: String, to file: SchemaTestFile) throws -> String? {
    let connection = try file.connect()
    do {
      try Migrator(connection: connection, scope: .app).apply([
        Migration(version: 1, name: "change", sql: sql)
      ])
      return nil
    } catch let error as StoreError {
      return error.message
    }
  }

  @Test(arguments: ["", " WITHOUT ROWID"])
  func repairingOneReferenceDoesNotExcuseBreakingAnother(storage: String) throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (id TEXT PRIMARY KEY, p REFERENCES parent)\(storage);
      INSERT INTO parent VALUES (1);
      PRAGMA foreign_keys = OFF;
      INSERT INTO child VALUES ('a', 1), ('b', 77);
      """)
    let refusal = """
      Migration 1 change: it leaves 1 broken references (from child to parent). The migration \
      was rolled back.
      """
    #expect(
      try message(applying: "UPDATE child SET p = CASE id WHEN 'a' THEN 9 ELSE 1 END", to: file)
        == refusal)
    // As many rows refer to 77 as before, and one more.
    #expect(try message(applying: "INSERT INTO child VALUES ('c', 77)", to: file) == refusal)
    #expect(try message(applying: "UPDATE child SET p = 1", to: file) == nil)
  }

  @Test func renamingAColumnIgnoresReferencesThatWereBrokenBefore() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent);
      PRAGMA foreign_keys = OFF;
      INSERT INTO child VALUES (1, 77);
      """)
    #expect(try message(applying: "ALTER TABLE child RENAME COLUMN p TO q", to: file) == nil)
  }

  @Test func missingKeysAreComparedAsForeignKeysCompare() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE parent (id TEXT COLLATE NOCASE PRIMARY KEY, n TEXT, UNIQUE (n, id));
      CREATE TABLE child (
        a TEXT REFERENCES parent, b INTEGER REFERENCES parent, c BLOB, d TEXT,
        FOREIGN KEY (c, d) REFERENCES parent (n, id));
      CREATE TABLE lost (x REFERENCES nowhere);
      INSERT INTO parent VALUES ('x', 'y'), ('1', NULL), ('02', 'z');
      PRAGMA foreign_keys = OFF;
      INSERT INTO child VALUES ('X', 1, 'y', 'X'), ('q', 2, 'Y', 'x'), (NULL, NULL, NULL, 'no');
      INSERT INTO lost VALUES (5), (NULL), (CAST(x'ff' AS TEXT));
      """)
    let connection = try file.connect()
    let found = try BrokenReferences(in: connection)
    #expect(found.count == 5)
    #expect(found.reasons == ["from child to parent", "from lost to nowhere"])
    #expect(try connection.lines("SELECT count(*) FROM pragma_foreign_key_check") == ["5"])
  }
}
