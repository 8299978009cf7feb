import Testing

@testable import ModelStore

// What the store does not decide, and which files are fresh.
extension FreshFileTests {
  private static let seeds =
    "statement 1 changes a table into which an earlier migration inserts rows. To decide, pass"

  private static let others = "tables of earlier migrations. Split it, or pass"

  private static func more(_ statement: Int) -> String {
    "statement \(statement) does more. Move that statement to a migration of its own, or pass"
  }

  static let undecided: [(text: String, reason: String)] = [
    ("ALTER TABLE Member RENAME COLUMN a TO name; CREATE INDEX i ON Member (name)", more(2)),
    ("ALTER TABLE Member RENAME COLUMN a TO name; INSERT INTO Member VALUES (1, 'x')", more(2)),
    ("ALTER TABLE Member RENAME COLUMN a TO name; CREATE TABLE extra (x)", more(2)),
    ("CREATE VIEW v AS SELECT 1; DROP TABLE Member", more(1)),
    ("ALTER TABLE Member RENAME COLUMN a TO name; PRAGMA user_version = 3", more(2)),
    ("UPDATE log SET x = 1; ALTER TABLE Member RENAME COLUMN a TO name", more(1)),
    ("ALTER TABLE Member RENAME COLUMN a TO name; ALTER TABLE log ADD COLUMN y", others),
    ("UPDATE seeded SET name = 'z'; ALTER TABLE seeded RENAME COLUMN a TO name", seeds),
    ("ALTER TABLE seeded RENAME COLUMN a TO name", seeds),
    (
      """
      CREATE TABLE new_Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO new_Member VALUES (1, 'admin');
      DROP TABLE Member;
      ALTER TABLE new_Member RENAME TO Member;
      """, more(2)
    ),
    (
      "ALTER TABLE Member RENAME COLUMN a TO name; DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT 1",
      more(3)
    ),
    // A string that is equal to a table's name is not that table.
    (
      """
      CREATE TABLE new_Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO new_Member VALUES (1, 'member');
      DROP TABLE Member;
      ALTER TABLE new_Member RENAME TO Member;
      """, more(2)
    ),
  ]

  @Test(arguments: undecided)
  func aMigrationThatDoesBothMustSayWhatItDoes(text: String, reason: String) throws {
    let files = try Files()
    let models = [Self.member, Files.member(Files.name, table: "seeded")]
    let first = [
      Migration(version: 1, name: "log", sql: "CREATE TABLE log (x)"),
      Migration(version: 2, name: "seed", sql: "INSERT INTO seeded VALUES (1, 'a')"),
    ]
    let error = failure {
      try files.open(
        "fresh", models, first + [Migration(version: 3, name: "both", sql: text)])
    }
    #expect(error?.code == .migrationConflict)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    #expect(try files.content("fresh") == [])
    let skipping = Migration(version: 3, name: "both", sql: text, onFreshFiles: .skip)
    _ = try files.open("fresh", models, first + [skipping])
    #expect(try files.ledger("fresh").count == 3)
    // The declaration is not part of what is frozen.
    _ = try files.open("fresh", models, first + [Migration(version: 3, name: "both", sql: text)])
  }

  @Test func aMistakenNameIsReportedOnFreshFiles() throws {
    let files = try Files()
    let error = failure {
      try files.open(
        "fresh", [Self.member], Self.numbered(["ALTER TABLE Membr ADD COLUMN name TEXT"]))
    }
    #expect(
      error?.message.hasPrefix(
        "Migration 1 step, statement 1: SQLite refused the statement: no such table: Membr")
        == true,
      "\(error?.message ?? "")")
    #expect(try files.content("fresh") == [])
  }

  @Test func aMigrationRunsWhereItSaysSo() throws {
    let files = try Files()
    let seed = "INSERT OR IGNORE INTO Member VALUES (1, 'admin')"
    func open(_ name: String, _ choice: Migration.FreshFiles?) throws -> [[SQLValue]] {
      let store = try files.open(
        name, [Self.member], [Migration(version: 1, name: "s", sql: seed, onFreshFiles: choice)])
      return try store.read { tx in try tx.rows("SELECT name FROM Member").map(\.values) }
    }
    #expect(try open("a", nil) == [[.text("admin")]])
    #expect(try open("b", .run) == [[.text("admin")]])
    #expect(try open("c", .skip) == [])
    try files.create("old", [Self.member])
    #expect(try open("old", .skip) == [[.text("admin")]])
  }

  @Test func aFailureOnAFreshFileLeavesItFresh() throws {
    let files = try Files()
    let migrations = Self.numbered(["CREATE TABLE log (x)", "INSERT INTO nowhere VALUES (1)"])
    #expect(failure { try files.open("a", [Self.member], migrations) }?.code == .invalidQuery)
    #expect(try files.content("a") == [])
    _ = try files.open("a", [Self.member], [migrations[0]])
    #expect(try files.ledger("a").count == 1)
  }

  @Test func noTableIsCreatedWhereOpeningMayNot() throws {
    let files = try Files()
    let error = failure {
      try files.open("a", [Self.member], Self.numbered(["CREATE TABLE log (x)"])) {
        $0.schemaChanges = .none
      }
    }
    #expect(error?.code == .schemaMismatch)
    #expect(
      try files.content("a").filter { $0[0] == .text("table") }.map { $0[1] } == [.text("log")])
  }

  @Test func aFileOfAnotherProgramIsNotFresh() throws {
    let files = try Files()
    try PlainDatabase(files.path("a"))
      .execute("PRAGMA journal_mode = WAL; CREATE TABLE other (x)")
    let store = try files.open(
      "a", [Self.member],
      [Migration(version: 1, name: "o", sql: "DROP TABLE other", onFreshFiles: .skip)])
    #expect(
      try store.read { tx in try tx.rows("SELECT name FROM sqlite_schema WHERE name = 'other'") }
        == [])
  }

  @Test func storesThatOpenAFreshFileTogetherSeedItOnce() async throws {
    for round in 0..<10 {
      let files = try Files()
      let path = try DatabaseFile(path: files.path("a")).path
      let migrations = Self.numbered([
        "INSERT INTO Tag (name) VALUES ('\(round)')", "CREATE INDEX by_name ON Tag (name)",
        "DROP TABLE Member",
      ])
      let applied = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let connection = try Connection(path: path, role: .writer, policy: .scratch())
            try connection.execute("PRAGMA busy_timeout = 60000")
            return try Migrator(connection: connection, scope: .app)
              .apply(migrations, creating: [Self.tag]).count
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(applied.sorted() == [0, 0, 0, 3])
      #expect(try PlainDatabase(path).rows("SELECT count(*) FROM Tag") == [[.integer(1)]])
    }
  }

  @Test func aReaderOfAnOldFileIsRefused() throws {
    let files = try Files()
    try files.create("old", [Self.member])
    let before = try files.content("old")
    let error = failure {
      try files.open("old", Self.changes[0].new, Self.numbered(Self.changes[0].migrations)) {
        $0.access = .readOnly
      }
    }
    #expect(error?.code == .schemaMismatch)
    #expect(try files.content("old") == before)
  }

  @Test func anOlderProgramIsRefusedByAFreshFile() throws {
    let files = try Files()
    try files.open("a", Self.changes[1].new, Self.numbered(Self.changes[1].migrations)).close()
    let older = Array(Self.numbered(Self.changes[1].migrations).prefix(1))
    #expect(failure { try files.open("a", Self.changes[1].new, older) }?.code == .newerFormat)
    #expect(failure { try files.open("a", [Self.member]) }?.code == .newerFormat)
  }

  @Test func tablesAreAdoptedInAFileWithMigrations() throws {
    let files = try Files()
    let migrations = Self.numbered(["CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT)"])
    let store = try files.open("a", [Self.member], migrations)
    #expect(try store.adopt(["log"]).map(\.name) == ["log"])
    store.close()
    // Through a store without declarations, as storecli opens it.
    let plain = try Store(at: files.path("a"))
    try PlainDatabase(files.path("a")).execute("CREATE VIEW logged AS SELECT text FROM log")
    #expect(try plain.adopt(["logged"]).map(\.name) == ["logged"])
    plain.close()
    #expect(
      failure { try files.open("a", [Self.member]) }?.code == .newerFormat,
      "What adopting found in order says nothing about a program without migrations.")
    #expect(
      try files.open("a", [Self.member], migrations).schema.models.map(\.name)
        == ["Member", "log", "logged"])
  }
}
