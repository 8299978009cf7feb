import Testing

@testable import ModelStore

/// What a database with many tables costs: in proportion to their number. Counted in statements, so
/// it is the same on every machine.
@Suite(.tags(.unit)) struct ManyTablesTests {
  private static func started(in store: Store, _ body: () throws -> Void) throws -> Int {
    let started = Recorder<Void>()
    try store.engine.connections.writer.sync { writer in
      writer.connection.hooks.onProgramStart { start in
        if case .statement = start { started.add(()) }
      }
    }
    try body()
    try store.engine.connections.writer.sync { $0.connection.hooks.onProgramStart(nil) }
    return started.events.count
  }

  /// How many statements each step takes for that many tables.
  private static func statementCounts(ofTables count: Int) throws -> [String: Int] {
    let directory = try TemporaryDirectory()
    let path = directory.file("many.store")
    let tables = (1...count).map {
      "CREATE TABLE t\($0) (id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE);"
    }
    try PlainDatabase(path).execute("PRAGMA journal_mode = WAL;" + tables.joined())
    var counts: [String: Int] = [:]
    let store = try Store(at: path)
    counts["adopting"] = try started(in: store) { try store.adopt() }
    counts["turning on"] = try started(in: store) { try store.changeJournal.turnOn() }
    // Everything is as it is wanted, which is found out.
    counts["turning on again"] = try started(in: store) { try store.changeJournal.turnOn() }
    counts["turning to keys"] = try started(in: store) { try store.changeJournal.turnOn(.keys) }
    // On the same connection, so that its statements can be counted.
    counts["opening"] = try started(in: store) { _ = try Store(at: path) }
    return counts
  }

  @Test("twice as many adopted tables take twice as many statements, not four times as many")
  func statementsGrowWithTables() throws {
    let (few, many) = (
      try Self.statementCounts(ofTables: 50), try Self.statementCounts(ofTables: 100)
    )
    #expect(few.count == 5)
    for (step, count) in few {
      let twice = try #require(many[step])
      #expect(twice <= 2 * count, "\(step): \(count) statements, then \(twice)")
      #expect(twice > count, "\(step): \(count) statements, then \(twice)")
    }
  }
}
