import CSQLite
import Foundation
import Testing

@testable import ModelStore

/// What every connection refuses, and the errors that name the limits.
@Suite(.tags(.unit)) struct ConnectionSafetyTests {
  @Test(arguments: [
    Connection.Role.writer, .reader, .readOnlyFile, .checkpointer,
  ])
  func everyConnectionHasTheSameLimits(role: Connection.Role) throws {
    let place = try TemporaryDirectory()
    let other = try PlainDatabase(place.file("a.store"))
    try other.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
    let connection = try Connection(
      path: place.file("a.store"), role: role, policy: StoreConfiguration().connectionPolicy)
    let limits = [SQLITE_LIMIT_ATTACHED, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, SQLITE_LIMIT_LENGTH]
    #expect(limits.map { sqlite3_limit(connection.handle, $0, -1) } == [0, 1_000, 1_000_000_000])
    for sql in [
      "SELECT load_extension('x')", "SELECT fts3_tokenizer('simple', x'0102030405060708')",
      "SELECT \"no such column\"", "SELECT 'a' REGEXP 'a'",
    ] {
      #expect(throws: SQLiteError.self, "\(sql)") { try connection.execute(sql) }
    }
    // Off, it gives no address away either.
    #expect(
      try connection.rows("SELECT fts3_tokenizer('simple')") { row in row.isNull(at: 0) } == [true])
    withExtendedLifetime(other) {}
  }

  /// A connection that is opened elsewhere would miss the settings.
  @Test func everyOpenedConnectionIsMadeSafe() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    var opening: [String] = []
    for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains("sqlite3_open_v2(") else { continue }
      opening.append(file.lastPathComponent)
      #expect(text.contains("ConnectionSafety.apply(to:"), "\(file.lastPathComponent)")
    }
    #expect(opening.sorted() == ["Connection.swift", "LogHeader.swift", "StoredColumn.swift"])
  }

  @Test func onlyBlindTriggersReadAndInsertNothing() throws {
    let scratch = try ScratchDatabase()
    let connection = scratch.connection
    try connection.execute(
      """
      CREATE TABLE Item(id INTEGER PRIMARY KEY);
      CREATE TABLE Log(name, id);
      CREATE TRIGGER a_blind BEFORE INSERT ON Item WHEN EXISTS (SELECT 1 FROM Item WHERE id > 0)
      BEGIN INSERT INTO Log VALUES ('blind', NEW.id); END;
      CREATE TRIGGER a_seeing BEFORE INSERT ON Item WHEN EXISTS (SELECT 1 FROM Item WHERE id > 0)
      BEGIN INSERT INTO Log VALUES ('seeing', NEW.id); END;
      """)
    connection.hooks.blindTriggers { $0.hasSuffix("_blind") }
    func insert(_ id: Int) throws { try connection.run("INSERT INTO Item VALUES (\(id))") }
    for id in 1...3 { try insert(id) }
    // These set an authorizer of their own for a while, after which SQLite compiles all again.
    _ = try connection.sources(of: "SELECT id FROM Item")
    try insert(4)
    try connection.rollingBack {
      try connection.runUnchecked("INSERT INTO Item VALUES (9)", leavingOutTriggers: "a_")
    }
    try insert(5)
    let logged = try connection.rows("SELECT name || id FROM Log ORDER BY id") {
      try $0.text(at: 0)
    }
    #expect(logged == ["seeing2", "seeing3", "seeing4", "seeing5"])
  }

  @Test func aLongPatternIsRefusedWithTheLimit() throws {
    let hotel = try Hotel()
    for (word, pattern) in [("LIKE", "a%"), ("GLOB", "a*")] {
      func refusal(_ length: Int) -> StoreError? {
        let text = String(repeating: pattern, count: length / 2)
        do {
          _ = try hotel.store.read { tx in
            try tx.rows(
              word == "LIKE"
                ? "SELECT 'a' LIKE \(text)"
                : "SELECT 'a' GLOB \(text)")
          }
          return nil
        } catch {
          return error as? StoreError
        }
      }
      #expect(refusal(1_000) == nil)
      let error = refusal(1_002)
      #expect(error?.code == .invalidValue)
      #expect(
        error?.message
          == "A LIKE or GLOB pattern is longer than 1000 bytes, which is the limit. Shorten the pattern, or search with instr()."
      )
    }
    // What is decided without SQLite keeps to the same limit.
    #expect(TextPattern(String(repeating: "a", count: 1_000), syntax: .like) != nil)
    #expect(TextPattern(String(repeating: "a", count: 1_001), syntax: .like) == nil)
  }

  @Test func aLongValueIsRefusedWithTheLimit() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.maxValueSize = 100_000
    let store = try Store(
      at: directory.file("small.store"), models: Artist.self, configuration: configuration)
    var error: StoreError?
    do {
      try store.write { tx in
        try tx.execute("INSERT INTO Artist VALUES (1, zeroblob(100001))")
      }
    } catch let refusal as StoreError {
      error = refusal
    }
    #expect(error?.code == .invalidValue)
    #expect(
      error?.message
        == "A value or record is larger than this store accepts (string or blob too big). See StoreConfiguration.maxValueSize."
    )
  }
}
