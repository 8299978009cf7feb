internal import Testing

@testable internal import ModelStore

/// Reading that a limit stops.
@Suite(.tags(.unit)) struct BoundedReadingTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("plain.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE f (id INTEGER PRIMARY KEY, name TEXT, data BLOB);
      INSERT INTO f VALUES (1, 'a', x'00'), (2, 'b', zeroblob(30000)), (3, 'c', x'01');
      CREATE VIEW endless AS
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c;
      """)
  }

  private func store(maxValueSize: Int) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.maxValueSize = maxValueSize
    let store = try Store(at: path, configuration: configuration) { _ in }
    try store.adopt()
    return store
  }

  @Test func aLargeValueIsNamedAndNotRead() throws {
    let store = try store(maxValueSize: 20_000)
    let model = try store.schema.model(named: "f")
    let ways: [() throws -> Void] = [
      { _ = try store.fetch(StoreQuery<DynamicRecord>(model)) },
      { _ = try store.read { try $0.find(model, key: [.integer(2)]) } },
      { try store.read { try $0.forEach(StoreQuery<DynamicRecord>(model).limit(2)) { _ in } } },
    ]
    for way in ways {
      let error = #expect(throws: StoreError.self) { try way() }
      #expect(
        error?.code == .invalidValue && error?.field == "data", "\(String(describing: error))")
      #expect(error?.key == [.integer(2)] && error?.model == "f")
    }
    #expect(try store.fetch(StoreQuery<DynamicRecord>(model, where: .sql("id <> 2"))).count == 2)
    #expect(throws: StoreError.self) {
      try store.write { tx in
        try tx.insert(
          ["id": .integer(4), "data": .blob([UInt8](repeating: 0, count: 30_000))], into: model)
      }
    }
  }

  @Test func aLargeTextIsNamedToo() throws {
    let store = try store(maxValueSize: 40_000)
    try PlainDatabase(path).execute("UPDATE f SET name = hex(zeroblob(40000)) WHERE id = 3")
    let model = try store.schema.model(named: "f")
    let error = #expect(throws: StoreError.self) {
      try store.fetch(StoreQuery<DynamicRecord>(model))
    }
    #expect(error?.field == "name" && error?.key == [.integer(3)])
  }

  @Test func countingStopsAfterItsSteps() throws {
    let store = try store(maxValueSize: 1_000_000)
    let endless = StoreQuery<DynamicRecord>(try store.schema.model(named: "endless"))
    let table = StoreQuery<DynamicRecord>(try store.schema.model(named: "f"))
    let counts: [Int?] = try store.read { reads in
      [
        try reads.count(endless, maxStepCount: 100_000),
        // The budget is one statement's: the next one runs on.
        try reads.count(table), try reads.count(endless.limit(5), maxStepCount: 100_000),
      ]
    }
    #expect(counts == [nil, 3, 5])
  }

  @Test func rowsAreReadAsTheyAreFound() throws {
    struct Enough: Error {}
    let store = try store(maxValueSize: 1_000_000)
    var seen: [SQLValue] = []
    #expect(throws: Enough.self) {
      try store.read { reads in
        try reads.forEachRow("SELECT x FROM endless") { row in
          if seen.count == 3 { throw Enough() }
          seen += row.values
        }
      }
    }
    #expect(seen == [.integer(1), .integer(2), .integer(3)])
  }
}
