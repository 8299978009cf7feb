import ModelStore
import Testing

/// Each recipe is tried on a file of the version before and on a fresh file.
@Suite(.tags(.unit)) struct MigrationCookbookExample {
  private typealias Files = MigratedFiles

  private static let tag = Files.member(Files.name, table: "Tag")

  /// Creates a file with `old`, then opens it and a fresh file with `new` and the migrations.
  ///
  /// - Returns: The rows of `query` in the two files.
  private func rows(
    _ query: SQLText, changing old: [ModelSchema], inserting insertion: SQLText,
    to new: [ModelSchema], by migrations: [Migration]
  ) throws -> (old: [[SQLValue]], fresh: [[SQLValue]]) {
    let files = try Files()
    try files.create("old", old, insertion)
    let migrated = try files.open("old", new, migrations)
    let fresh = try files.open("fresh", new, migrations)
    #expect(try migrated.schemaDifferences(from: fresh) == [])
    #expect(try files.ledger("old") == files.ledger("fresh"))
    #expect(try files.ledger("old").count == migrations.count)
    func values(_ store: Store) throws -> [[SQLValue]] {
      try store.read { tx in try tx.rows(query).map(\.values) }
    }
    return try (values(migrated), values(fresh))
  }

  @Test func theFirstMigrationRenamesAField() throws {
    let files = try Files()
    let path = files.path("old")
    let copyOfVersion1 = files.path("copy")
    let freshPath = files.path("fresh")
    for name in ["old", "copy"] {
      try files.create(
        name, [Files.member(FieldSchema(name: "fullName", type: .text))],
        "INSERT INTO Member VALUES (1, 'Ada Lovelace')")
    }
    // snippet: cookbook-rename-field
    struct Member: Model {
      var id: Int64
      var name: String  // fullName in version 1

      static let definition = ModelDefinition<Member>(
        "Member", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])

      var key: Int64 { id }

      init(row: borrowing RowView) throws {
        id = try row.decode(at: 0)
        name = try row.decode(at: 1)
      }

      func encode(to arguments: inout ArgumentWriter) throws {
        try id.encode(to: &arguments, at: 0)
        try name.encode(to: &arguments, at: 1)
      }
    }

    let migrations = [
      Migration(
        version: 1, name: "shorten name",
        sql: "ALTER TABLE Member RENAME COLUMN fullName TO name")
    ]
    let store = try Store(at: path, models: Member.self, migrations: migrations)
    let names = try store.fetch(Member.all).map(\.name)
    // names: ["Ada Lovelace"]
    // end
    #expect(names == ["Ada Lovelace"])
    // snippet: cookbook-test
    let migrated = try Store(at: copyOfVersion1, models: Member.self, migrations: migrations)
    let fresh = try Store(at: freshPath, models: Member.self, migrations: migrations)
    let differences = try migrated.schemaDifferences(from: fresh)
    // differences: []
    // end
    #expect(differences == [])
    #expect(try fresh.fetch(Member.all).map(\.name) == [])
    #expect(try files.ledger("copy") == files.ledger("fresh"))
  }

  @Test func aFieldIsAddedAndFilled() throws {
    // snippet: cookbook-add-field
    let addEmail = Migration(
      version: 2, name: "add email",
      sql: """
        ALTER TABLE Member ADD COLUMN email TEXT NOT NULL DEFAULT '';
        UPDATE Member SET email = lower(name) || '@example.org';
        """)
    // end
    let found = try rows(
      "SELECT email FROM Member", changing: [Files.member(Files.name)],
      inserting: "INSERT INTO Member VALUES (1, 'Ada')",
      to: [Files.member(Files.name, Files.email)], by: [addEmail])
    #expect(found.old == [[.text("ada@example.org")]])
    #expect(found.fresh == [])
  }

  @Test func aModelIsRenamed() throws {
    // snippet: cookbook-rename-model
    let renameMember = Migration(
      version: 2, name: "rename Member", sql: "ALTER TABLE Member RENAME TO Tag")
    // end
    let found = try rows(
      "SELECT name FROM Tag", changing: [Files.member(Files.name)],
      inserting: "INSERT INTO Member VALUES (1, 'Ada')", to: [Self.tag], by: [renameMember])
    #expect(found.old == [[.text("Ada")]])
    #expect(found.fresh == [])
  }

  @Test func aFieldAndAModelAreRemoved() throws {
    // snippet: cookbook-remove
    let removeEmail = Migration(
      version: 2, name: "remove email", sql: "ALTER TABLE Member DROP COLUMN email")
    let removeTag = Migration(version: 3, name: "remove Tag", sql: "DROP TABLE Tag")
    // end
    let found = try rows(
      "SELECT * FROM Member", changing: [Files.member(Files.name, Files.email), Self.tag],
      inserting: "INSERT INTO Member VALUES (1, 'Ada', 'a@example.org')",
      to: [Files.member(Files.name)], by: [removeEmail, removeTag])
    #expect(found.old == [[.integer(1), .text("Ada")]])
    #expect(found.fresh == [])
  }

  @Test func aTableIsRebuilt() throws {
    // snippet: cookbook-rebuild
    let ageIsANumber = Migration(
      version: 2, name: "age is a number",
      sql: """
        CREATE TABLE new_Member (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER
        ) STRICT;
        INSERT INTO new_Member (id, name, age)
          SELECT id, name, CAST(age AS INTEGER) FROM Member;
        DROP TABLE Member;
        ALTER TABLE new_Member RENAME TO Member;
        """)
    // end
    let found = try rows(
      "SELECT age FROM Member ORDER BY id",
      changing: [Files.member(Files.name, FieldSchema(name: "age", type: .text, isOptional: true))],
      inserting: "INSERT INTO Member VALUES (1, 'Ada', '36'), (2, 'Bob', NULL)",
      to: [Files.member(Files.name, FieldSchema(name: "age", type: .integer, isOptional: true))],
      by: [ageIsANumber])
    #expect(found.old == [[.integer(36)], [.null]])
    #expect(found.fresh == [])
  }

  @Test func swiftConvertsValues() throws {
    // snippet: cookbook-swift
    let splitName = Migration(version: 2, name: "split name", onFreshFiles: .skip) { tx in
      try tx.execute("ALTER TABLE Member ADD COLUMN lastName TEXT")
      for row in try tx.rows("SELECT id, name FROM Member") {
        guard case .integer(let id)? = row["id"], case .text(let name)? = row["name"],
          let space = name.lastIndex(of: " ")
        else { continue }
        let first = String(name[..<space])
        let last = String(name[space...].dropFirst())
        try tx.execute("UPDATE Member SET name = \(first), lastName = \(last) WHERE id = \(id)")
      }
    }
    // end
    let found = try rows(
      "SELECT name, lastName FROM Member ORDER BY id", changing: [Files.member(Files.name)],
      inserting: "INSERT INTO Member VALUES (1, 'Ada King Lovelace'), (2, 'Plato')",
      to: [
        Files.member(Files.name, FieldSchema(name: "lastName", type: .text, isOptional: true))
      ], by: [splitName])
    #expect(
      found.old == [[.text("Ada King"), .text("Lovelace")], [.text("Plato"), .null]])
    #expect(found.fresh == [])
  }

  @Test func aFieldMovesIntoAModelOfItsOwn() throws {
    // snippet: cookbook-move-field
    let moveNumber = Migration(
      version: 2, name: "move number",
      sql: """
        INSERT INTO Phone (id, number) SELECT id, number FROM Member WHERE number IS NOT NULL;
        ALTER TABLE Member DROP COLUMN number;
        """, onFreshFiles: .skip)
    // end
    let number = FieldSchema(name: "number", type: .text, isOptional: true)
    let phone = Files.member(FieldSchema(name: "number", type: .text), table: "Phone")
    let found = try rows(
      "SELECT * FROM Phone", changing: [Files.member(Files.name, number)],
      inserting: "INSERT INTO Member VALUES (1, 'Ada', '555-1'), (2, 'Bob', NULL)",
      to: [Files.member(Files.name), phone], by: [moveNumber])
    #expect(found.old == [[.integer(1), .text("555-1")]])
    #expect(found.fresh == [])
  }

  @Test func recordsAndIndexesReachEveryFile() throws {
    // snippet: cookbook-seed
    let firstTags = Migration(
      version: 2, name: "first tags",
      sql: "INSERT OR IGNORE INTO Tag (id, name) VALUES (1, 'new'), (2, 'regular')")
    let indexNames = Migration(
      version: 3, name: "index names", sql: "CREATE INDEX Member_name ON Member (name)")
    // end
    let found = try rows(
      "SELECT name FROM Tag UNION ALL SELECT name FROM sqlite_schema WHERE name = 'Member_name'",
      changing: [Files.member(Files.name)],
      inserting: "INSERT INTO Member VALUES (1, 'Ada')",
      to: [Files.member(Files.name), Self.tag], by: [firstTags, indexNames])
    let expected: [[SQLValue]] = [[.text("new")], [.text("regular")], [.text("Member_name")]]
    #expect(found.old == expected)
    #expect(found.fresh == expected)
  }

  @Test func aMigrationThatDoesBothIsSplit() throws {
    // snippet: cookbook-undecided
    let text = """
      ALTER TABLE Member RENAME COLUMN fullName TO name;
      CREATE INDEX Member_name ON Member (name);
      """
    let both = Migration(version: 2, name: "shorten name", sql: text)
    // Opening a fresh file throws migrationConflict.
    // end
    let files = try Files()
    let first = [Files.member(FieldSchema(name: "fullName", type: .text))]
    let second = [Files.member(Files.name)]
    #expect(failure { try files.open("refused", second, [both]) }?.code == .migrationConflict)
    // snippet: cookbook-split
    let split = [
      Migration(
        version: 2, name: "shorten name",
        sql: "ALTER TABLE Member RENAME COLUMN fullName TO name"),
      Migration(
        version: 3, name: "index names",
        sql: "CREATE INDEX Member_name ON Member (name)"),
    ]
    // end
    let index: SQLText = "SELECT name FROM sqlite_schema WHERE name = 'Member_name'"
    let found = try rows(
      index, changing: first, inserting: "INSERT INTO Member VALUES (1, 'Ada')", to: second,
      by: split)
    #expect(found.old == [[.text("Member_name")]])
    #expect(found.fresh == [[.text("Member_name")]])
    // snippet: cookbook-shipped
    let shipped = [
      Migration(version: 2, name: "shorten name", sql: text, onFreshFiles: .skip),
      Migration(
        version: 3, name: "index names",
        sql: "CREATE INDEX IF NOT EXISTS Member_name ON Member (name)"),
    ]
    // end
    try files.create("shipped", first)
    try files.open("shipped", second, [both]).close()
    let migrated = try files.open("shipped", second, shipped)
    let fresh = try files.open("fresh", second, shipped)
    #expect(try migrated.schemaDifferences(from: fresh) == [])
    #expect(try fresh.read { tx in try tx.rows(index).count } == 1)
  }

  @Test func aTableIsSplit() throws {
    // snippet: cookbook-split-table
    let splitMember = Migration(
      version: 2, name: "split Member",
      sql: """
        INSERT INTO Guest (id, name) SELECT id, name FROM Member WHERE kind = 'guest';
        DELETE FROM Member WHERE kind = 'guest';
        ALTER TABLE Member DROP COLUMN kind;
        """, onFreshFiles: .skip)
    // end
    let found = try rows(
      "SELECT 'm', name FROM Member UNION ALL SELECT 'g', name FROM Guest",
      changing: [Files.member(Files.name, FieldSchema(name: "kind", type: .text))],
      inserting: "INSERT INTO Member VALUES (1, 'Ada', 'staff'), (2, 'Bob', 'guest')",
      to: [Files.member(Files.name), Files.member(Files.name, table: "Guest")], by: [splitMember])
    #expect(found.old == [[.text("m"), .text("Ada")], [.text("g"), .text("Bob")]])
    #expect(found.fresh == [])
  }

  @Test func twoTablesAreMerged() throws {
    // snippet: cookbook-merge-tables
    let mergeGuests = Migration(
      version: 2, name: "merge Guest",
      sql: """
        ALTER TABLE Member ADD COLUMN kind TEXT NOT NULL DEFAULT 'staff';
        INSERT INTO Member (name, kind) SELECT name, 'guest' FROM Guest ORDER BY id;
        DROP TABLE Guest;
        """, onFreshFiles: .skip)
    // end
    let kind = FieldSchema(name: "kind", type: .text, defaultSQL: "'staff'")
    let found = try rows(
      "SELECT id, name, kind FROM Member ORDER BY id",
      changing: [Files.member(Files.name), Files.member(Files.name, table: "Guest")],
      inserting: "INSERT INTO Guest VALUES (1, 'Bob')",
      to: [Files.member(Files.name, kind)], by: [mergeGuests])
    #expect(found.old == [[.integer(1), .text("Bob"), .text("guest")]])
    #expect(found.fresh == [])
  }

  @Test func aColumnIsFilledInBatches() throws {
    // snippet: cookbook-backfill
    let fillInitials = Migration(version: 2, name: "fill initials", onFreshFiles: .skip) { tx in
      try tx.execute("ALTER TABLE Member ADD COLUMN initials TEXT")
      try tx.forEachBatch(
        of: "Member", columns: ["id", "name"], size: 500,
        progress: { done, all in print("\(done) of \(all) members") }
      ) { rows in
        for row in rows {
          let words = try row.decode("name", as: String.self).split(separator: " ")
          let initials = String(words.compactMap(\.first))
          let id = try row.decode("id", as: Int64.self)
          try tx.execute("UPDATE Member SET initials = \(initials) WHERE id = \(id)")
        }
      }
    }
    // end
    let found = try rows(
      "SELECT initials FROM Member", changing: [Files.member(Files.name)],
      inserting: "INSERT INTO Member VALUES (1, 'Ada Lovelace')",
      to: [Files.member(Files.name, FieldSchema(name: "initials", type: .text, isOptional: true))],
      by: [fillInitials])
    #expect(found.old == [[.text("AL")]])
    #expect(found.fresh == [])
  }

  @Test func aMigrationIsReverted() throws {
    let files = try Files()
    let path = files.path("old")
    let first = Migration(version: 1, name: "first", sql: "SELECT 1")
    try files.open("old", [Files.member(Files.name)], [first]).close()
    // snippet: cookbook-reverse
    let addEmail = Migration(
      version: 2, name: "add email",
      sql: "ALTER TABLE Member ADD COLUMN email TEXT NOT NULL DEFAULT ''",
      reverse: "ALTER TABLE Member DROP COLUMN email")
    // end
    try files.open("old", [Files.member(Files.name, Files.email)], [first, addEmail]).close()
    // snippet: cookbook-revert
    let reverted = try Store.revertMigrations(at: path, to: 1)
    // reverted: [2]
    // end
    #expect(reverted == [2])
    let store = try files.open("old", [Files.member(Files.name)], [first])
    #expect(try store.read { tx in try tx.rows("SELECT * FROM Member").count } == 0)
  }

  @Test func severalMigrationsBecomeOne() throws {
    let files = try Files()
    let earlier = [
      Migration(
        version: 1, name: "create", sql: "CREATE TABLE Member (id INTEGER PRIMARY KEY) STRICT"),
      Migration(version: 2, name: "name", sql: "ALTER TABLE Member ADD COLUMN name TEXT"),
      Migration(version: 3, name: "index", sql: "CREATE INDEX Member_name ON Member (name)"),
    ]
    // snippet: cookbook-squash
    let squashed = Migration(
      version: 3, name: "members",
      sql: """
        CREATE TABLE Member (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        CREATE INDEX Member_name ON Member (name);
        """, replaces: [1, 2, 3])
    // end
    let model = Files.member(FieldSchema(name: "name", type: .text, isOptional: true))
    try files.open("old", [model], earlier).close()
    let migrated = try files.open("old", [model], [squashed])
    let fresh = try files.open("fresh", [model], [squashed])
    #expect(try migrated.schemaDifferences(from: fresh) == [])
    #expect(try files.ledger("old") == files.ledger("fresh"))
    #expect(try files.ledger("old").count == 1)
  }

  @Test func aFileOfAnotherToolGetsABaseline() throws {
    let files = try Files()
    let path = files.path("old")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO Member VALUES (1, 'Ada');
      """)
    // snippet: cookbook-baseline
    let migrations = [
      Migration(
        version: 1, name: "create Member",
        sql: "CREATE TABLE Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT"),
      Migration(
        version: 2, name: "index names", sql: "CREATE INDEX Member_name ON Member (name)"),
    ]
    let recorded = try Store.baselineMigrations(at: path, to: 1, migrations: migrations)
    // recorded: [1]
    // end
    #expect(recorded == [1])
    let store = try files.open("old", [Files.member(Files.name)], migrations)
    #expect(try files.ledger("old").count == 2)
    #expect(try store.read { tx in try tx.rows("SELECT name FROM Member").count } == 1)
  }
}
