import Testing

@testable import ModelStore

/// Migrations on files without tables, and on files of earlier versions: both end in one schema.
@Suite(.tags(.unit)) struct FreshFileTests {
  typealias Files = MigratedFiles
  static let member = Files.member(Files.name)
  static let tag = Files.member(Files.name, table: "Tag")

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
      testDescription: "records are changed before a field is renamed", old: [member],
      new: [Files.member(Files.title)],
      migrations: [
        "UPDATE Member SET name = trim(name); DELETE FROM Member WHERE name = ''",
        "ALTER TABLE Member RENAME COLUMN name TO title",
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

  /// Migrations that replace a view or a full text index, or insert rows in ways other than INSERT.
  static let laterChanges: [Change] = [
    Change(
      testDescription: "a view is replaced twice", old: [member],
      new: [Files.member(Files.title)],
      migrations: [
        "DROP VIEW IF EXISTS names; CREATE VIEW names AS SELECT name AS title FROM Member",
        "DROP VIEW IF EXISTS names", "ALTER TABLE Member RENAME COLUMN name TO title",
        "DROP VIEW IF EXISTS names; CREATE VIEW names AS SELECT title FROM Member",
        "DROP VIEW IF EXISTS names; CREATE VIEW names AS SELECT id, title FROM Member",
      ]),
    Change(
      testDescription: "a full text index is replaced", old: [member], new: [member],
      migrations: ["DROP TABLE IF EXISTS words; CREATE VIRTUAL TABLE words USING fts5(name)"]),
    Change(
      testDescription: "a trigger and an index are replaced", old: [member], new: [member],
      migrations: [
        """
        DROP TRIGGER IF EXISTS t;
        CREATE TRIGGER t AFTER INSERT ON Member BEGIN DELETE FROM Member WHERE name = ''; END;
        """, "DROP INDEX IF EXISTS i; CREATE INDEX i ON Member (name)",
      ]),
    Change(
      testDescription: "a table is rebuilt after what an earlier attempt left", old: [member],
      new: [Files.member(Files.title)],
      migrations: [
        """
        DROP TABLE IF EXISTS new_Member;
        CREATE TABLE new_Member (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT;
        INSERT INTO new_Member SELECT id, name FROM Member;
        DROP TABLE Member;
        ALTER TABLE new_Member RENAME TO Member;
        """
      ]),
    Change(
      testDescription: "a former table is rebuilt and then dropped", old: [member, tag], new: [tag],
      migrations: [
        """
        CREATE TABLE new_Member (id INTEGER PRIMARY KEY, title TEXT) STRICT;
        INSERT INTO new_Member SELECT id, name FROM Member;
        DROP TABLE Member;
        ALTER TABLE new_Member RENAME TO Member;
        """, "DROP TABLE Member",
      ]),
    Change(
      testDescription: "seeds come from a common table expression", old: [member],
      new: [member, tag],
      migrations: [
        "WITH x(id, name) AS (SELECT 1, 'a') INSERT INTO Tag SELECT id, name FROM x",
        "UPDATE Tag SET name = 'red' WHERE name = 'a'",
      ]),
    Change(
      testDescription: "seeds come from a trigger", old: [member], new: [member, tag],
      migrations: [
        """
        CREATE TABLE log (x);
        CREATE TRIGGER t AFTER INSERT ON log BEGIN INSERT INTO Tag VALUES (new.x, 'a'); END;
        """, "INSERT INTO log VALUES (1)", "UPDATE Tag SET name = 'red'",
      ]),
  ]

  static func numbered(_ texts: [String]) -> [Migration] {
    texts.enumerated().map { Migration(version: Int64($0 + 1), name: "step", sql: $1) }
  }

  @Test(arguments: changes + laterChanges)
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
    #expect(old.schema.models.map(\.name) == fresh.schema.models.map(\.name))
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

  /// Changes of the model Tag after the version that added it.
  static let tagChanges: [(field: FieldSchema, migrations: [Migration])] = [
    (
      Files.title,
      numbered(["UPDATE Tag SET name = trim(name)", "ALTER TABLE Tag RENAME COLUMN name TO title"])
    ),
    (
      Files.name,
      [
        Migration(version: 1, name: "seed", sql: "INSERT INTO Tag (id, name) VALUES (1, 'a')"),
        Migration(
          version: 2, name: "add",
          sql: "ALTER TABLE Tag ADD COLUMN name TEXT NOT NULL DEFAULT '' REFERENCES Member",
          onFreshFiles: .skip),
      ]
    ),
    (
      Files.title,
      [
        Migration(
          version: 1, name: "seed", sql: "INSERT INTO Tag (id, name) VALUES (1, 'member')",
          onFreshFiles: .skip),
        Migration(
          version: 2, name: "both",
          sql: "ALTER TABLE Tag RENAME COLUMN name TO title; CREATE INDEX i ON Tag (title)",
          onFreshFiles: .skip),
        Migration(version: 3, name: "i", sql: "CREATE INDEX IF NOT EXISTS i ON Tag (title)"),
        Migration(
          version: 4, name: "again", sql: "INSERT OR IGNORE INTO Tag VALUES (1, 'member')"),
      ]
    ),
    (
      Files.title,
      numbered([
        """
        PRAGMA legacy_alter_table = ON;
        ALTER TABLE Tag RENAME TO old_Tag;
        CREATE TABLE Tag (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT;
        INSERT INTO Tag (id, title) SELECT id, name FROM old_Tag;
        DROP TABLE old_Tag;
        """
      ])
    ),
  ]

  @Test(arguments: tagChanges)
  func aFileMaySkipTheVersionThatAddedAModel(
    field: FieldSchema, migrations: [Migration]
  ) throws {
    let files = try Files()
    try files.create("old", [Self.member], "INSERT INTO Member VALUES (1, 'Ada')")
    let models = [Self.member, Files.member(field, table: "Tag")]
    let old = try files.open("old", models, migrations)
    let fresh = try files.open("fresh", models, migrations)
    #expect(try old.schemaDifferences(from: fresh) == [])
    #expect(try files.ledger("old") == files.ledger("fresh"))
    func tags(_ store: Store) throws -> [[SQLValue]] {
      try store.read { tx in try tx.rows("SELECT * FROM Tag").map(\.values) }
    }
    #expect(try tags(old) == tags(fresh))
  }

  @Test func aFileThatSkippedAVersionMovesItsRecords() throws {
    let files = try Files()
    try files.create("old", [Self.member], "INSERT INTO Member VALUES (1, 'Ada')")
    // On fresh files there is nothing to copy. This file has a record in Member.
    let copy = "INSERT INTO Tag (id, name) SELECT id, name FROM Member"
    let store = try files.open(
      "old", [Files.member(), Self.tag],
      [
        Migration(version: 1, name: "copy", sql: copy, onFreshFiles: .skip),
        Migration(version: 2, name: "drop", sql: "ALTER TABLE Member DROP COLUMN name"),
      ])
    #expect(
      try store.read { tx in try tx.rows("SELECT name FROM Tag").map(\.values) }
        == [[.text("Ada")]])
  }

  @Test func rowsOfSwiftCodeAreChangedByALaterMigration() throws {
    let files = try Files()
    let seed = Migration(version: 1, name: "seed", onFreshFiles: .run) { tx in
      try tx.execute("INSERT INTO Tag VALUES (1, 'a')")
    }
    let change = Migration(version: 2, name: "c", sql: "UPDATE Tag SET name = 'red'")
    let store = try files.open("fresh", [Self.tag], [seed, change])
    #expect(
      try store.read { tx in try tx.rows("SELECT name FROM Tag").map(\.values) }
        == [[.text("red")]])
    let both = Migration(
      version: 2, name: "both",
      sql: "ALTER TABLE Tag RENAME COLUMN label TO name; UPDATE Tag SET name = 'red'")
    let error = failure { try files.open("other", [Self.tag], [seed, both]) }
    #expect(error?.code == .migrationConflict)
    #expect(
      error?.message.contains(
        "it changes Tag, and statement 2 changes a table into which an earlier migration may insert rows. To decide, pass"
      ) == true, "\(error?.message ?? "")")
  }
}
