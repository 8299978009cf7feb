import Synchronization
import Testing

@testable import ModelStore

/// Reading many rows in migrations in Swift.
@Suite(.tags(.unit)) struct BackfillTests {
  private static let tables = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT);
    CREATE TABLE hidden (x TEXT);
    CREATE TABLE pair (k TEXT COLLATE NOCASE, n INTEGER, x TEXT, PRIMARY KEY (k, n)) WITHOUT ROWID;
    CREATE VIEW seen AS SELECT 1 AS x;
    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 25)
    INSERT INTO a SELECT i * 3, 'x' || i FROM n;
    INSERT INTO hidden SELECT x FROM a;
    INSERT INTO pair SELECT CASE id % 2 WHEN 0 THEN 'B' ELSE 'a' END, id, x FROM a;
    """

  private func run(
    _ body: @escaping @Sendable (borrowing MigrationTransaction) throws -> Void
  ) throws -> SchemaTestFile {
    let file = try SchemaTestFile(Self.tables)
    try Migrator(connection: try file.connect(), scope: .app).apply([
      Migration(version: 1, name: "fill", onFreshFiles: .run, body)
    ])
    return file
  }

  @Test(arguments: [("a", 7), ("hidden", 1), ("pair", 25), ("pair", 4), ("a", 100)])
  func everyRowIsVisitedOnceInBatches(table: String, size: Int) throws {
    let seen = Mutex<[SQLValue]>([])
    let sizes = Mutex<[Int]>([])
    let steps = Mutex<[String]>([])
    let file = try run { tx in
      try tx.forEachBatch(
        of: table, columns: ["x"], size: size,
        progress: { done, all in steps.withLock { $0.append("\(done)/\(all)") } }
      ) { rows in
        sizes.withLock { $0.append(rows.count) }
        seen.withLock { $0 += rows.compactMap { $0["x"] } }
        // Rows of the table may be changed meanwhile, and those behind the last one are left out.
        try tx.execute("UPDATE a SET x = x || '!'")
        try tx.execute("INSERT INTO a (x) VALUES ('new')")
      }
    }
    #expect(seen.withLock(\.count) == 25)
    #expect(sizes.withLock { $0.allSatisfy { $0 <= size } })
    #expect(sizes.withLock(\.count) == (25 + size - 1) / size)
    #expect(steps.withLock(\.first) == "0/25")
    #expect(steps.withLock(\.last) == "25/25")
    let order =
      table == "pair" ? "SELECT x FROM pair ORDER BY k, n" : "SELECT x FROM hidden ORDER BY rowid"
    let expected = try file.connect().rows(SQLText(sql: order)) { try $0.text(at: 0) }
    let found = seen.withLock { $0.map { "\($0)".filter { $0 != "!" && $0 != "'" } } }
    #expect(found == expected)
  }

  @Test func aSplitAndAMergeOfTablesAreWritten() throws {
    let file = try run { tx in
      try tx.execute("CREATE TABLE even (id INTEGER PRIMARY KEY, x TEXT)")
      try tx.forEachRow("SELECT id, x FROM a WHERE id % 2 = 0") { row in
        guard let id = row["id"], let x = row["x"] else { return }
        try tx.execute("INSERT INTO even VALUES (\(id), \(x))")
      }
      try tx.execute("DELETE FROM a WHERE id IN (SELECT id FROM even)")
    }
    #expect(try file.connect().lines("SELECT count(*) FROM even") == ["12"])
    #expect(try file.connect().lines("SELECT count(*) FROM a") == ["13"])
  }

  @Test(arguments: ["nowhere", "seen"])
  func aTableWithoutAnOrderIsRefused(table: String) {
    let error = failure {
      try run { tx in try tx.forEachBatch(of: table, columns: ["x"]) { _ in } }
    }
    #expect(
      error?.message
        == "Migration 1 fill: there is no table \(table), or its rows have no order. The migration was rolled back."
    )
  }

  @Test func anUnknownColumnIsNamed() {
    let error = failure {
      try run { tx in try tx.forEachBatch(of: "a", columns: ["y"]) { _ in } }
    }
    #expect(error?.message.contains("y") == true, "\(error?.message ?? "")")
  }

  private struct Enough: Error {}

  @Test func progressCanStopIt() throws {
    #expect(throws: Enough.self) {
      try run { tx in
        try tx.forEachBatch(
          of: "a", columns: ["id"], size: 5,
          progress: { done, _ in if done >= 10 { throw Enough() } }
        ) { _ in try tx.execute("DELETE FROM hidden") }
      }
    }
  }

  @Test func aCancelledTaskStopsItAndRollsBack() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let shell = try PlainDatabase(path)
    try shell.execute(Self.tables)
    let batches = Mutex(0)
    let task = Mutex<Task<Void, any Error>?>(nil)
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let opening = Task {
      for await _ in started { break }
      let fill = Migration(version: 1, name: "fill", onFreshFiles: .run) { tx in
        try tx.forEachBatch(of: "a", columns: ["id"], size: 5) { _ in
          try tx.execute("DELETE FROM hidden")
          batches.withLock { $0 += 1 }
          task.withLock { $0?.cancel() }
        }
      }
      _ = try await Store(at: path, models: [], migrations: [fill])
    }
    task.withLock { $0 = opening }
    start.yield()
    await #expect(throws: (any Error).self) { try await opening.value }
    #expect(batches.withLock(\.self) == 1)
    #expect(try shell.rows("SELECT count(*) FROM hidden") == [[.integer(25)]])
  }
}
