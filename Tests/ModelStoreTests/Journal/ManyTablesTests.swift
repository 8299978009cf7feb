import Testing

@testable import ModelStore

/// What a database with many tables costs: in proportion to their number. Counted in statements,
/// and for reopening in SQLite's steps, so it is the same on every machine.
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

  /// What each step takes for that many tables, in statements unless it says otherwise.
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
    counts["turning on"] = try started(in: store) { try store.changeJournal.enable() }
    // Everything is as it is wanted, which is found out.
    counts["turning on again"] = try started(in: store) { try store.changeJournal.enable() }
    counts["turning to keys"] = try started(in: store) { try store.changeJournal.enable(.keys) }
    // On the same connection, so that its statements can be counted.
    counts["declaring"] = try started(in: store) { _ = try Store(at: path) }
    counts["reopening"] = try thousandsOfSteps(reopening: store)
    return counts
  }

  /// How many thousands of steps SQLite's virtual machine takes to open the file again: it asks
  /// whether to stop after each thousand. A statement with many rows counts more than a short one.
  private static func thousandsOfSteps(reopening store: Store) throws -> Int {
    let path = store.path
    store.close()
    let asked = Recorder<Void>()
    var configuration = StoreConfiguration()
    configuration.stopRequest = StopRequest {
      asked.add(())
      return false
    }
    let reopened = try Store(at: path, configuration: configuration)
    defer { reopened.close() }
    return asked.events.count
  }

  @Test("twice as many adopted tables take twice as many statements, not four times as many")
  func statementsGrowWithTables() throws {
    let (few, many) = (
      try Self.statementCounts(ofTables: 100), try Self.statementCounts(ofTables: 200)
    )
    #expect(few.count == 6)
    for (step, count) in few {
      let twice = try #require(many[step])
      // Steps are counted in thousands, which leaves a rest.
      let rest = step == "reopening" ? 4 : 0
      #expect(twice <= 2 * count + rest, "\(step): \(count), then \(twice)")
      // What is known to be in order is not checked again, so nothing grows there.
      let isKnown = ["declaring", "reopening"].contains(step)
      #expect(twice > count || isKnown, "\(step): \(count), then \(twice)")
    }
  }
}
