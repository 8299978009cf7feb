import Testing

@testable import ModelStore

/// Raw SQL can do everything to the data and nothing to the store.
@Suite(.tags(.unit)) struct StatementPolicyTests {
  static let refused = [
    "COMMIT", "END", "ROLLBACK", "BEGIN", "SAVEPOINT a", "RELEASE a", "VACUUM",
    "VACUUM INTO '/tmp/never'", "ATTACH ':memory:' AS other", "DETACH other",
    "\u{FEFF}COMMIT", "/* x */ COMMIT", "-- x\nCOMMIT", ";COMMIT",
    "EXPLAIN COMMIT", "PRAGMA mmap_size = 1000000", "PRAGMA mmap_size(1000000)",
    "PRAGMA main.mmap_size = 1000000", "EXPLAIN PRAGMA mmap_size = 1000000",
    "EXPLAIN QUERY PLAN PRAGMA mmap_size = 1000000", "PRAGMA \"mmap_size\" = 1000000",
    "PRAGMA \u{FEFF}wal_checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint",
    "PRAGMA query_only = OFF", "PRAGMA synchronous = OFF", "PRAGMA wal_autocheckpoint = 1",
    "PRAGMA journal_mode = DELETE", "PRAGMA recursive_triggers = OFF", "PRAGMA trusted_schema = ON",
    "PRAGMA foreign_keys = OFF", "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA optimize",
    "PRAGMA incremental_vacuum", "PRAGMA writable_schema = ON",
    "PRAGMA ignore_check_constraints = 1",
    "CREATE TEMP TABLE Artist (id, name)", "CREATE TEMPORARY VIEW Artist AS SELECT 1 AS id",
    "CREATE TABLE temp.Artist (id, name)", "CREATE \u{0B}TEMP TABLE Artist (id, name)",
    "CREATE TEMP TRIGGER swallow BEFORE INSERT ON Artist BEGIN SELECT RAISE(IGNORE); END",
  ]

  @Test(arguments: refused)
  func noStatementEndsTheTransactionOrUndoesThePolicy(sql: String) throws {
    // Post-mortem: value(_:) took COMMIT for a reading statement, and the rest ran without a
    // transaction.
    let directory = try TemporaryDirectory()
    let path = directory.file("policy.store")
    let store = try Store(at: path, models: Artist.self)
    let text = SQLText(sql: sql)
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "a"))
      #expect(code { try tx.execute(text) } == .misuse)
      #expect(code { try tx.rows(text) } == .misuse)
      #expect(code { try tx.value(SQLValue.self, text) } == .misuse)
      #expect(code { try tx.savepoint { try $0.execute(text) } } == .misuse)
    }
    try store.read { tx in
      #expect(code { try tx.rows(text) } == .misuse)
      #expect(code { try tx.value(SQLValue.self, text) } == .misuse)
    }
    let settings = try store.read { tx in
      [try tx.value(Int64.self, "PRAGMA mmap_size"), try tx.value(Int64.self, "PRAGMA query_only")]
    }
    #expect(settings == [0, 1])
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "a")])
    #expect(
      code {
        try store.write { tx in
          try tx.insert(Artist(id: 2, name: "b"))
          _ = try tx.value(SQLValue.self, text)
        }
      } == .misuse)
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "a")])
  }

  @Test(arguments: [
    "PRAGMA user_version", "PRAGMA table_info(Artist)", "PRAGMA main.table_info(\"Artist\")",
    "PRAGMA integrity_check", "PRAGMA quick_check(1)", "PRAGMA page_count",
    "PRAGMA foreign_key_check", "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT 1",
    "PRAGMA encoding;",
    "SELECT name FROM pragma_table_info('Artist')", "SELECT 'COMMIT'",
  ])
  func readOnlyStatementsAreAllowed(sql: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("policy.store"), models: Artist.self)
    #expect(thrownError { try store.read { tx in try tx.rows(SQLText(sql: sql)) } } == nil)
  }

  @Test func aMigrationCannotEndItsTransactionBehindAByteOrderMark() throws {
    let directory = try TemporaryDirectory()
    let migration = Migration(
      version: 1, name: "sly", sql: "CREATE TABLE a(x); \u{FEFF}COMMIT; CREATE TABLE b(x)")
    #expect(
      code { try Store(at: directory.file("sly.store"), migrations: [migration]) }
        == .migrationConflict)
  }

  @Test func notANumberIsRefusedInRawSQLToo() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("nan.store"), models: Artist.self)
    try store.write { tx in
      #expect(
        code { try tx.execute("INSERT INTO Artist VALUES (\(Double.nan), 'a')") } == .invalidValue)
    }
    #expect(try store.fetch(Artist.all) == [])
  }
}
