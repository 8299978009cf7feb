import Testing

@testable import ModelStore

/// Migrations on files without tables, and on files of earlier versions: both end in one schema.
@Suite(.tags(.unit)) struct FreshFileTests {
  private typealias Files = MigratedFiles
  private static let member = Files.member(Files.name)
  private static let tag = Files.member(Files.name, table: "Tag")

  /// A change from a version without migrations.
  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let old: [ModelSchema]
    let new: [ModelSchema]
    /// One migration each.
    let migrations: [String]
  }

  static let changes: [Change] = [
    Change(
      testDescription: "a field is added", old: [member],
      new: [Files.member(Files.name, Files.email)],
      migrations: ["ALTER TABLE Member ADD COLUMN email TEXT NOT NULL DEFAULT ''"]),
    Change(
      testDescription: "a field is added and filled", old: [member],
      new: [Files.member(Files.name, Files.email)],
      migrations: [
        """
        ALTER TABLE main.Member ADD COLUMN email TEXT NOT NULL DEFAULT '';
        UPDATE Member SET email = name || '@example.org';
        """, "UPDATE OR IGNORE Member SET name = upper(name)",
      ]),
    Change(
      testDescription: "a field is renamed after it was indexed", old: [member],
      new: [Files.member(Files.title)],
      migrations: [
        "ALTER TABLE member RENAME COLUMN name TO title", "CREATE INDEX by_title ON Member (title)",
      ]),
    Change(
      testDescription: "a field is dropped, with an index of that time", old: [member],
      new: [Files.member()],
      migrations: ["DROP INDEX IF EXISTS by_name", "ALTER TABLE \"Member\" DROP COLUMN name"]),
    Change(
      testDescription: "a model is renamed twice", old: [member], new: [tag],
      migrations: [
        "ALTER TABLE Member RENAME TO Person", "ALTER TABLE Person ADD COLUMN age INTEGER",
        "ALTER TABLE Person DROP COLUMN age; ALTER TABLE Person RENAME TO Tag",
      ]),
    Change(
      testDescription: "a model is dropped after a change", old: [member, tag], new: [tag],
      migrations: ["ALTER TABLE Member ADD COLUMN age INTEGER", "DROP TABLE Member"]),
    Change(
      testDescription: "a table is rebuilt", old: [member],
      new: [Files.member(Files.name, Files.email)],
      migrations: [
        """
        CREATE TABLE new_Member (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL DEFAULT ''
        ) STRICT;
        INSERT INTO new_Member SELECT id, name, '' FROM Member;
        DROP TABLE Member;
        ALTER TABLE new_Member RENAME TO Member;
        """
      ]),
    Change(
      testDescription: "a table is rebuilt the other way", old: [member],
      new: [Files.member(Files.title)],
      migrations: [
        """
        PRAGMA legacy_alter_table = ON;
        ALTER TABLE Member RENAME TO old_Member;
        CREATE TABLE Member (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT;
        INSERT INTO Member (id, title) SELECT id, name FROM old_Member;
        DROP TABLE old_Member;
        """
      ]),
    Change(
      testDescription: "a reference and its index are added", old: [member, tag],
      new: [
        tag,
        ModelSchema(
          name: "Member",
          fields: [
            FieldSchema(name: "id", type: .integer, isRowID: true), Files.name,
            FieldSchema(
              name: "tag", type: .integer, isOptional: true,
              reference: ReferenceSchema(table: "Tag")),
          ], key: ["id"]),
      ],
      migrations: [
        """
        ALTER TABLE Member ADD COLUMN tag INTEGER REFERENCES Tag;
        CREATE INDEX "_ms_index_Member.tag" ON Member (tag);
        """
      ]),
    Change(
      testDescription: "a model and its seeds come with an index", old: [member],
      new: [member, tag],
      migrations: [
        "CREATE INDEX tag_by_name ON Tag (name)", "INSERT INTO Tag VALUES (1, 'first')",
        "UPDATE Tag SET name = upper(name)",
      ]),
    Change(
      testDescription: "a table, a view, a trigger and a full text index are added", old: [member],
      new: [Files.member(Files.name, Files.email)],
      migrations: [
        "CREATE TABLE log (n INTEGER); INSERT INTO log SELECT count(*) FROM log",
        "ALTER TABLE Member ADD COLUMN email TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE log ADD COLUMN who TEXT; CREATE VIEW names AS SELECT name, email FROM Member",
        """
        CREATE TRIGGER counted AFTER INSERT ON Member BEGIN INSERT INTO log VALUES (new.id, 'x'); END;
        CREATE VIRTUAL TABLE words USING fts5(name);
        """, "PRAGMA user_version = 7",
      ]),
    Change(
      testDescription: "a later model has a table of a migration", old: [member],
      new: [Files.member(Files.name, Files.email), tag],
      migrations: [
        "CREATE TABLE Tag (id INTEGER PRIMARY KEY, label TEXT NOT NULL) STRICT",
        "ALTER TABLE Tag RENAME COLUMN label TO name",
        "ALTER TABLE Member ADD COLUMN email TEXT NOT NULL DEFAULT ''",
      ]),
    Change(
      testDescription: "a field moves to a model of its own", old: [member],
      new: [Files.member(), tag],
      migrations: [
        """
        CREATE TABLE Tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
        INSERT INTO Tag SELECT id, name FROM Member;
        ALTER TABLE Member DROP COLUMN name;
        """
      ]),
  ]

  private static func numbered(_ texts: [String]) -> [Migration] {
    texts.enumerated().map { Migration(version: Int64($0 + 1), name: "step", sql: $1) }
  }

  @Test(arguments: changes)
  func freshAndOldFilesEndInTheSameSchema(change: Change) throws {
    let files = try Files()
    let migrations = Self.numbered(change.migrations)
    try files.create("old", change.old)
    let old = try files.open("old", change.new, migrations)
    let fresh = try files.open("fresh", change.new, migrations)
    #expect(try old.schemaDifferences(from: fresh) == [])
    #expect(try files.ledger("old") == files.ledger("fresh"))
    #expect(try files.ledger("old").count == migrations.count)
    #expect(try old.contentHash() == fresh.contentHash())
    #expect(try old.schemaDrift() == [])
    // A later opening finds nothing to do.
    fresh.close()
    #expect(try files.open("fresh", change.new, migrations).schemaDifferences(from: old) == [])
  }

  @Test func oldRecordsAreKept() throws {
    let files = try Files()
    try files.create("old", [Self.member], "INSERT INTO Member VALUES (1, 'Ada')")
    let store = try files.open(
      "old", Self.changes[1].new, Self.numbered(Self.changes[1].migrations))
    #expect(
      try store.read { tx in try tx.rows("SELECT * FROM Member").map(\.values) }
        == [[.integer(1), .text("ADA"), .text("Ada@example.org")]])
  }

  @Test func aSchemaOfMigrationsAloneIsReplayed() throws {
    let files = try Files()
    let texts = [
      "CREATE TABLE Member (id INTEGER PRIMARY KEY, fullName TEXT NOT NULL) STRICT",
      "INSERT INTO Member VALUES (1, 'Ada')",
      "ALTER TABLE Member RENAME COLUMN fullName TO name",
      """
      CREATE TABLE new_Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO new_Member SELECT * FROM Member;
      DROP TABLE Member;
      ALTER TABLE new_Member RENAME TO Member;
      """,
    ]
    let store = try files.open("a", [Self.member], Self.numbered(texts)) {
      $0.schemaChanges = .none
    }
    #expect(
      try store.read { tx in try tx.rows("SELECT name FROM Member").map(\.values) }
        == [[.text("Ada")]])
    let other = try files.open("b", [Self.member], Self.numbered(texts))
    #expect(try store.schemaDifferences(from: other) == [])
    #expect(try store.contentHash() == other.contentHash())
  }

  @Test func aVersionBetweenMayBeLeftOut() throws {
    let files = try Files()
    // Version 2 adds the model Tag, version 3 changes it; this file was last opened by version 1.
    try files.create("old", [Self.member], "INSERT INTO Member VALUES (1, 'Ada')")
    let tag = Files.member(Files.title, table: "Tag")
    let migrations = Self.numbered([
      "ALTER TABLE Tag RENAME COLUMN name TO title", "UPDATE Member SET name = 'B'",
    ])
    let old = try files.open("old", [Self.member, tag], migrations)
    let fresh = try files.open("fresh", [Self.member, tag], migrations)
    #expect(try old.schemaDifferences(from: fresh) == [])
    #expect(try files.ledger("old") == files.ledger("fresh"))
    #expect(
      try old.read { tx in try tx.rows("SELECT name FROM Member").map(\.values) }
        == [[.text("B")]])
  }
}

// What the store does not decide.
extension FreshFileTests {
  static let undecided: [(String, Int?)] = [
    ("ALTER TABLE Member RENAME COLUMN a TO name; CREATE INDEX i ON Member (name)", 2),
    ("ALTER TABLE Member RENAME COLUMN a TO name; INSERT INTO Member VALUES (1, 'x')", 2),
    ("ALTER TABLE Member RENAME COLUMN a TO name; CREATE TABLE extra (x)", 2),
    ("CREATE VIEW v AS SELECT 1; DROP TABLE Member", 1),
    ("ALTER TABLE Member RENAME COLUMN a TO name; PRAGMA user_version = 3", 2),
    ("UPDATE log SET x = 1; ALTER TABLE Member RENAME COLUMN a TO name", 1),
    ("ALTER TABLE Member RENAME COLUMN a TO name; ALTER TABLE log ADD COLUMN y", nil),
    ("UPDATE seeded SET name = 'z'; ALTER TABLE seeded RENAME COLUMN a TO name", 1),
    (
      """
      CREATE TABLE new_Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO new_Member VALUES (1, 'admin');
      DROP TABLE Member;
      ALTER TABLE new_Member RENAME TO Member;
      """, 2
    ),
    // A string that is equal to a table's name is not that table.
    (
      """
      CREATE TABLE new_Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO new_Member VALUES (1, 'member');
      DROP TABLE Member;
      ALTER TABLE new_Member RENAME TO Member;
      """, 2
    ),
  ]

  @Test(arguments: undecided)
  func aMigrationThatDoesBothMustSayWhatItDoes(text: String, statement: Int?) throws {
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
    let reason =
      statement.map {
        "statement \($0) does more. Move that statement to a migration of its own"
      } ?? "tables of earlier migrations. Split it"
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
    try PlainDatabase(files.path("a")).execute("CREATE TABLE other (x)")
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
