import Testing

@testable import ModelStore

/// Migrations whose steps are Swift code.
@Suite(.tags(.unit)) struct SwiftMigrationTests {
  private typealias Files = MigratedFiles
  private static let member = Files.member(Files.name)
  private static let titled = Files.member(Files.title)

  private struct Failed: Error {}

  private static let split = Migration(version: 1, name: "title", onFreshFiles: .skip) { tx in
    try tx.execute("ALTER TABLE Member RENAME COLUMN name TO title")
    for row in try tx.rows("SELECT id, title FROM Member") {
      guard case .text(let title)? = row["title"], let id = row["id"] else { throw Failed() }
      try tx.execute("UPDATE Member SET title = \(String(title.reversed())) WHERE id = \(id)")
    }
  }

  private func titles(_ store: Store) throws -> [[SQLValue]] {
    try store.read { tx in try tx.rows("SELECT title FROM Member ORDER BY id").map(\.values) }
  }

  @Test func itChangesRowsOfOldFilesOnceAndIsSkippedOnFreshFiles() throws {
    let files = try Files()
    try files.create(
      "old", [Self.member], "INSERT INTO Member VALUES (1, 'Ada'), (2, '')")
    for _ in 1...2 {
      let old = try files.open("old", [Self.titled], [Self.split])
      #expect(try titles(old) == [[.text("adA")], [.text("")]])
      old.close()
    }
    let fresh = try files.open("fresh", [Self.titled], [Self.split])
    #expect(
      try files.open("old", [Self.titled], [Self.split]).schemaDifferences(from: fresh) == [])
    let entry: [SQLValue] = [.integer(1), .text("title"), .text(""), .text("")]
    #expect(try files.ledger("old") == [entry])
    #expect(try files.ledger("fresh") == [entry])
  }

  @Test func itRunsOnFreshFilesWhereItSaysSo() throws {
    let files = try Files()
    let seed = Migration(version: 1, name: "seed", onFreshFiles: .run) { tx in
      for title in ["a", "b"] { try tx.execute("INSERT INTO Member (title) VALUES (\(title))") }
    }
    #expect(
      try titles(files.open("fresh", [Self.titled], [seed])) == [[.text("a")], [.text("b")]])
  }

  @Test(arguments: [Migration.FreshFiles.run, .skip])
  func theTableOfANewModelExistsBeforeItRuns(onFreshFiles: Migration.FreshFiles) throws {
    let files = try Files()
    try files.create("old", [Self.member], "INSERT INTO Member VALUES (1, 'Ada')")
    let tag = Files.member(Files.title, table: "Tag")
    let migrations = [
      Migration(version: 1, name: "upper", sql: "UPDATE Member SET name = upper(name)"),
      Migration(version: 2, name: "copy", onFreshFiles: onFreshFiles) { tx in
        for row in try tx.rows("SELECT name FROM Member") {
          guard let name = row["name"] else { throw Failed() }
          try tx.execute("INSERT INTO Tag (title) VALUES (\(name))")
        }
      },
      Migration(version: 3, name: "rename", sql: "ALTER TABLE Tag RENAME COLUMN name TO title"),
    ]
    let old = try files.open("old", [Self.member, tag], migrations)
    let fresh = try files.open("fresh", [Self.member, tag], migrations)
    let sql: SQLText = "SELECT title FROM Tag"
    #expect(try old.read { tx in try tx.rows(sql).map(\.values) } == [[.text("ADA")]])
    #expect(try fresh.read { tx in try tx.rows(sql) } == [])
    #expect(try old.schemaDifferences(from: fresh) == [])
    #expect(try files.ledger("old") == files.ledger("fresh"))
  }

  @Test func codeThatCreatesATableOfAModelFailsOnEveryFile() throws {
    let files = try Files()
    try files.create("old", [Self.member])
    let tag = Files.member(Files.title, table: "Tag")
    let creating = Migration(version: 1, name: "tag", onFreshFiles: .run) { tx in
      try tx.execute("CREATE TABLE Tag (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT")
    }
    for name in ["old", "fresh"] {
      let error = failure { try files.open(name, [Self.member, tag], [creating]) }
      #expect(
        error?.message.hasPrefix(
          "Migration 1 tag: SQLite refused the statement: table Tag already exists") == true,
        "\(error?.message ?? "")")
      #expect(try files.ledger(name) == [])
    }
  }

  @Test func aFailureLeavesTheFileAsItWas() throws {
    let files = try Files()
    try files.create("old", [Self.member], "INSERT INTO Member VALUES (1, 'Ada')")
    let before = try files.content("old")
    let failing = Migration(version: 1, name: "bad", onFreshFiles: .run) { tx in
      try tx.execute("CREATE TABLE extra (x)")
      try tx.execute("DELETE FROM Member")
      throw Failed()
    }
    #expect(throws: Failed.self) { try files.open("old", [Self.member], [failing]) }
    #expect(try files.content("old") == before)
    #expect(throws: Failed.self) { try files.open("fresh", [Self.member], [failing]) }
    #expect(try files.content("fresh") == [])
    // Of the migrations of an old file, those before stay.
    let first = Migration(version: 1, name: "first", sql: "UPDATE Member SET name = 'B'")
    let second = Migration(version: 2, name: "bad", onFreshFiles: .run) { tx in
      try tx.execute("INSERT INTO nowhere VALUES (1)")
    }
    let error = failure { try files.open("old", [Self.member], [first, second]) }
    #expect(
      error?.message.hasPrefix("Migration 2 bad: SQLite refused the statement: no such table")
        == true
        && error?.message.hasSuffix("The migration was rolled back.") == true,
      "\(error?.message ?? "")")
    #expect(try files.ledger("old").map { $0[1] } == [.text("first")])
  }

  private final class Olds {
    var values: [Result<SQLValue, any Error>] = []
  }

  @Test(arguments: [false, true])
  func anAddedColumnIsWrittenIntoTheRows(readsRows: Bool) throws {
    let file = try SchemaTestFile("CREATE TABLE old (a); INSERT INTO old VALUES (1)")
    let connection = try file.connect()
    let sql: SQLText = "ALTER TABLE old ADD COLUMN b DEFAULT 'x'"
    try Migrator(connection: connection, scope: .app).apply([
      Migration(version: 1, name: "b", onFreshFiles: .run) { tx in
        if readsRows { #expect(try tx.rows(sql) == []) } else { try tx.execute(sql) }
      }
    ])
    let olds = Olds()
    connection.hooks.onRowChange { row in
      olds.values.append(Result { try row.old(at: .plain(1)) })
    }
    try connection.execute("UPDATE old SET a = 2")
    connection.hooks.onRowChange(nil)
    #expect(try olds.values.map { try $0.get() } == [.text("x")])
  }

  @Test func aStatementThatFailsCanBeCaught() throws {
    let files = try Files()
    let careful = Migration(version: 1, name: "careful", onFreshFiles: .run) { tx in
      do { try tx.execute("DROP TABLE absent") } catch let error as StoreError {
        try tx.execute("CREATE TABLE reason (code TEXT)")
        try tx.execute("INSERT INTO reason VALUES (\(error.code.rawValue))")
      }
    }
    let store = try files.open("a", [Self.member], [careful])
    #expect(
      try store.read { tx in try tx.rows("SELECT * FROM reason").map(\.values) }
        == [[.text("invalidQuery")]])
  }

  @Test func aTransactionThatSQLiteEndedIsNotRecorded() throws {
    let files = try Files()
    try files.create("old", [Self.member])
    try PlainDatabase(files.path("old")).execute(
      """
      CREATE TRIGGER ends BEFORE INSERT ON Member WHEN new.name = 'end'
      BEGIN SELECT RAISE(ROLLBACK, 'ended'); END
      """)
    let before = try files.content("old")
    let deaf = Migration(version: 1, name: "deaf", onFreshFiles: .run) { tx in
      try tx.execute("INSERT INTO Member VALUES (1, 'a')")
      do { try tx.execute("INSERT INTO Member VALUES (2, 'end')") } catch {}
    }
    let stubborn = Migration(version: 1, name: "stubborn", onFreshFiles: .run) { tx in
      do { try tx.execute("INSERT INTO Member VALUES (2, 'end')") } catch {}
      try tx.execute("INSERT INTO Member VALUES (3, 'b')")
    }
    for migration in [deaf, stubborn] {
      #expect(failure { try files.open("old", [Self.member], [migration]) }?.code == .rejected)
      #expect(try files.content("old") == before)
    }
  }

  @Test(arguments: [
    "COMMIT", "BEGIN", "SAVEPOINT a", "PRAGMA foreign_keys = ON", "CREATE TEMP TABLE t (x)",
    "ATTACH 'x' AS y", "VACUUM", "/* x */ ROLLBACK",
  ])
  func aMigrationThatEndsItsTransactionIsRefused(sql: String) throws {
    let files = try Files()
    for readsRows in [false, true] {
      let sly = Migration(version: 1, name: "sly", onFreshFiles: .run) { tx in
        if readsRows {
          _ = try tx.rows(SQLText(sql: sql))
        } else {
          try tx.execute(SQLText(sql: sql))
        }
      }
      let error = failure { try files.open("a", [Self.member], [sly]) }
      #expect(error?.code == .migrationConflict)
      #expect(error?.message.hasPrefix("Migration 1 sly: ") == true, "\(error?.message ?? "")")
      #expect(try files.content("a") == [])
    }
  }

  @Test func aBrokenReferenceIsRefused() throws {
    let files = try Files()
    let breaking = Migration(version: 1, name: "break", onFreshFiles: .run) { tx in
      try tx.execute("CREATE TABLE child (p INTEGER REFERENCES Member)")
      try tx.execute("INSERT INTO child VALUES (7)")
    }
    #expect(failure { try files.open("a", [Self.member], [breaking]) }?.code == .rejected)
    #expect(try files.content("a") == [])
  }

  @Test func whatWasAppliedIsComparedByNameAndKind() throws {
    let files = try Files()
    try files.open("a", [Self.titled], [Self.split]).close()
    func message(_ migrations: Migration...) -> String? {
      failure { try files.open("a", [Self.titled], migrations) }
        .map { "\($0.code.rawValue): \($0.message)" }
    }
    #expect(
      message(Migration(version: 1, name: "other", onFreshFiles: .skip) { _ in }) == """
        migrationConflict: The migration 1 other was called title when it was applied. Restore its \
        name and write a new migration; nothing was changed.
        """)
    #expect(
      message(Migration(version: 1, name: "title", sql: "SELECT 1")) == """
        migrationConflict: The migration 1 title was in Swift when it was applied and is in SQL \
        now. Restore it and write a new migration; nothing was changed.
        """)
    #expect(message()?.hasPrefix("newerFormat: ") == true)
    // Code that was edited is the same migration, whatever it says about fresh files.
    try files.open(
      "a", [Self.titled], [Migration(version: 1, name: "title", onFreshFiles: .run) { _ in }]
    )
    .close()
    let script = Migration(version: 1, name: "sql", sql: "CREATE TABLE t (x)")
    try files.open("b", [Self.titled], [script]).close()
    let error = failure {
      try files.open(
        "b", [Self.titled], [Migration(version: 1, name: "sql", onFreshFiles: .skip) { _ in }])
    }
    #expect(error?.message.contains("was in SQL when it was applied and is in Swift now") == true)
  }
}
