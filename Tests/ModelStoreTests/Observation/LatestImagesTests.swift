import Testing

@testable import ModelStore

/// A row that a statement updates is known before the statement ends, and is not read again. These
/// are the cases in which it must be.
@Suite(.tags(.law)) struct LatestImagesTests {
  private final class Witness: ChangeBroker.Observer {
    let interests: [ChangeBroker.Interest]
    let told = Recorder<RecordChange>()

    init(_ interest: ChangeBroker.Interest) { interests = [interest] }

    func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
      for change in commit.changes { told.add(change) }
      return []
    }

    func deliver(upTo version: UInt64) {}

    /// The net changes of the last commit, with the row before and after.
    func taken() -> Set<[[SQLValue]]> { Set(told.taken().map { [$0.old ?? [], $0.new ?? []] }) }
  }

  private struct World {
    let directory: TemporaryDirectory
    let plain: PlainDatabase
    let store: Store
    let witnesses: [Witness]

    private static let setup = """
      CREATE TABLE q(
        id INTEGER PRIMARY KEY, t TEXT, r REAL, n NUMERIC, b, u UNIQUE CHECK (u <> 13),
        g AS (n + 1) STORED, parent INTEGER REFERENCES q ON DELETE SET NULL);
      CREATE TABLE w(k TEXT PRIMARY KEY, r REAL, u UNIQUE) WITHOUT ROWID;
      CREATE TRIGGER echo AFTER UPDATE OF t ON q WHEN new.t = 'echo'
        BEGIN UPDATE q SET n = coalesce(n, 0) + 1, t = 'heard' WHERE id = new.id; END;
      CREATE TRIGGER early BEFORE UPDATE OF t ON q WHEN new.t = 'early'
        BEGIN UPDATE q SET r = coalesce(r, 0) + 1 WHERE id = new.id; END;
      CREATE TRIGGER ignored BEFORE UPDATE OF t ON q WHEN new.t = 'ignored'
        BEGIN SELECT RAISE(IGNORE); END;
      CREATE TRIGGER refused AFTER UPDATE OF t ON q WHEN new.t = 'refused'
        BEGIN SELECT RAISE(FAIL, 'no'); END;
      CREATE TRIGGER aborted AFTER UPDATE OF t ON q WHEN new.t = 'aborted'
        BEGIN SELECT RAISE(ABORT, 'no'); END;
      """

    init() throws {
      directory = try TemporaryDirectory()
      let path = directory.file("a.db")
      plain = try PlainDatabase(path)
      try plain.execute(Self.setup)
      for id in 1...8 {
        try plain.execute(
          "INSERT INTO q(id, t, u, parent) VALUES (\(id), 't', \(id), \(id % 3 + 1))")
        try plain.execute("INSERT INTO w VALUES ('k\(id)', \(id), \(id))")
      }
      store = try Store(at: path)
      try store.adopt(["q", "w"])
      witnesses = ["q", "w"].map { Witness(ChangeBroker.Interest(model: $0)) }
      for witness in witnesses { _ = store.engine.broker.enter(witness) }
    }

    func rows() throws -> [[[SQLValue]]] {
      [try plain.rows("SELECT * FROM q ORDER BY 1"), try plain.rows("SELECT * FROM w ORDER BY 1")]
    }
  }

  /// The rows that differ.
  private static func changes(
    _ before: [[SQLValue]], _ after: [[SQLValue]]
  ) -> Set<[[SQLValue]]> {
    func byKey(_ rows: [[SQLValue]]) -> [SQLValue: [SQLValue]] {
      Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0) })
    }
    let (old, new) = (byKey(before), byKey(after))
    var changes: Set<[[SQLValue]]> = []
    for key in Set(old.keys).union(new.keys) where old[key] != new[key] {
      changes.insert([old[key] ?? [], new[key] ?? []])
    }
    return changes
  }

  private static func statement(_ random: inout SeededGenerator) -> SQLText {
    let id = Int64.random(in: 1...9, using: &random)
    let other = Int64.random(in: 1...13, using: &random)
    let values: [SQLValue] = [
      .null, .integer(other), .real(Double(other)), .real(0.5), .text("\(other)"), .text("x"),
      .blob([1]),
    ]
    let value = values.randomElement(using: &random) ?? .null
    let word =
      ["a", "b", "echo", "early", "ignored", "refused", "aborted"]
      .randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<16, using: &random) {
    case 0, 1: return "UPDATE q SET t = \(value), r = \(other) WHERE id = \(id)"
    case 2: return "UPDATE q SET r = \(value), n = \(value), b = \(value) WHERE id = \(id)"
    case 3, 4: return "UPDATE q SET t = \(word) WHERE id BETWEEN \(id) AND \(id + 2)"
    case 5: return "UPDATE q SET u = \(other) WHERE id >= \(id)"
    case 6: return "UPDATE OR FAIL q SET u = u + 1, t = 'f' WHERE id >= \(id)"
    case 7: return "UPDATE OR IGNORE q SET u = u + 1 WHERE id >= \(id)"
    case 8: return "UPDATE OR REPLACE q SET u = \(other) WHERE id = \(id)"
    case 9: return "UPDATE q SET id = \(other) WHERE id = \(id)"
    case 10: return "DELETE FROM q WHERE id = \(id)"
    case 11: return "INSERT OR REPLACE INTO q(id, t, r, u) VALUES (\(id), \(value), 1, \(other))"
    case 12:
      return """
        INSERT INTO q(id, u) VALUES (\(id), \(other)) ON CONFLICT (id) DO UPDATE SET n = u, r = 2
        """
    case 13: return "UPDATE w SET r = \(other) WHERE k >= \("k\(id)")"
    case 14: return "UPDATE w SET u = u - 1 WHERE k >= \("k\(id)")"
    default: return "UPDATE w SET k = \("k\(other)") WHERE k = \("k\(id)")"
    }
  }

  private struct GivenUp: Error {}

  /// Runs some statements. Those that fail, and savepoints that end by an error, are undone.
  private static func run(
    in tx: borrowing WriteTransaction, _ random: inout SeededGenerator, depth: Int = 0
  ) throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      if depth < 2, Int.random(in: 0..<5, using: &random) == 0 {
        let isUndone = Bool.random(using: &random)
        do {
          try tx.savepoint { tx in
            try run(in: tx, &random, depth: depth + 1)
            if isUndone { throw GivenUp() }
          }
        } catch is GivenUp {}
      } else {
        do { try tx.execute(statement(&random)) } catch is StoreError {}
      }
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func netChangesAreTheDifferenceThatAnotherConnectionReads(seed: UInt64) throws {
    let world = try World()
    var random = SeededGenerator(seed: seed)
    var changeCount = 0
    for number in 0..<400 {
      let before = try world.rows()
      try world.store.write { tx in try Self.run(in: tx, &random) }
      let after = try world.rows()
      for (place, witness) in world.witnesses.enumerated() {
        let wanted = Self.changes(before[place], after[place])
        changeCount += wanted.count
        #expect(witness.taken() == wanted, "seed \(seed), commit \(number)")
      }
    }
    #expect(changeCount > 400)
  }

  @Test func aRowWhoseStatementFailedIsReadAgain() throws {
    let world = try World()
    try world.store.write { tx in
      #expect(throws: StoreError.self) { try tx.execute("UPDATE q SET r = 7, u = 5 WHERE id > 6") }
    }
    #expect(world.witnesses[0].taken() == [])
  }

  @Test func aRowOfAnUndoneSavepointIsReadAgain() throws {
    let world = try World()
    try world.store.write { tx in
      try tx.execute("UPDATE q SET r = 1 WHERE id = 1")
      do {
        try tx.savepoint { tx in
          try tx.execute("UPDATE q SET r = 2 WHERE id = 1")
          throw GivenUp()
        }
      } catch is GivenUp {}
    }
    #expect(world.witnesses[0].taken().map { $0[1][2] } == [.real(1)])
  }

  /// A statement that is refused is tried again without its rules, to explain it. Nothing of that
  /// remains.
  @Test func aRowOfAnExplainedRefusalIsReadAgain() throws {
    let world = try World()
    let schema = try world.store.schema.model(named: "q")
    try world.store.write { tx in
      #expect(throws: StoreError.self) { try tx.execute("UPDATE q SET r = 9, u = 13 WHERE id = 2") }
      #expect(throws: StoreError.self) {
        try tx.update(schema, key: [.integer(2)], set: ["r": .real(8), "u": .integer(13)])
      }
    }
    #expect(world.witnesses[0].taken() == [])
  }

  /// A text that is not UTF-8 fails a transaction only if it is still there at its end.
  @Test func aValueThatCannotBeReadMayPass() throws {
    let world = try World()
    try world.store.write { tx in
      try tx.execute("UPDATE q SET t = 'first' WHERE id = 1")
      try tx.execute("UPDATE q SET t = CAST(x'ff' AS TEXT) WHERE id = 1")
      try tx.execute("UPDATE q SET t = 'second' WHERE id = 1")
    }
    #expect(world.witnesses[0].taken().map { $0[1][1] } == [.text("second")])
    let error = #expect(throws: StoreError.self) {
      try world.store.write { tx in
        try tx.execute("UPDATE q SET t = 'third' WHERE id = 1")
        try tx.execute("UPDATE q SET t = CAST(x'ff' AS TEXT) WHERE id = 1")
      }
    }
    #expect(error?.code == .invalidValue)
    #expect(try world.plain.rows("SELECT t FROM q WHERE id = 1") == [[.text("second")]])
  }

  /// A row is read only where it must be.
  @Test func aRowThatWasUpdatedOnceIsNotRead() throws {
    let world = try World()
    let connection = try world.store.engine.connections.writer.sync { $0.connection }
    var value = 0
    // The first write looks at the file's schema, and a statement that fails anywhere in the
    // process, for example in another test, makes rows read again. So the least counts.
    func statements(_ body: (borrowing WriteTransaction, Int) throws -> Void) throws -> Int {
      var least = Int.max
      for _ in 0..<50 {
        value += 1
        let before = connection.statementCount
        try world.store.write { tx in try body(tx, value) }
        least = min(least, connection.statementCount - before)
      }
      return least
    }
    let one = try statements { tx, value in
      try tx.execute("UPDATE q SET r = \(value) WHERE id = 1")
    }
    let all = try statements { tx, value in try tx.execute("UPDATE q SET r = \(value)") }
    #expect(all == one)
    let undone = try statements { tx, value in
      try tx.execute("UPDATE q SET r = \(value)")
      do { try tx.savepoint { _ in throw GivenUp() } } catch is GivenUp {}
    }
    // Three for the savepoint, and one for each row.
    #expect(undone == all + 3 + 8)
  }
}
