import Testing

@testable import ModelStore

/// Insertions for which SQLite keeps no copies of pages, because a refused record has changed
/// nothing yet (`INSERT OR FAIL`), compared with insertions that SQLite can undo.
@Suite(.tags(.law)) struct RefusedInsertionTests {
  /// A record of the table T of every round.
  private struct Row: Model {
    var id: Int64
    var n: Int64?
    var u: Int64?
    var p: Int64?

    static let definition = ModelDefinition<Row>(
      "T", key: \.id,
      fields: [.init("id", \.id), .init("n", \.n), .init("u", \.u), .init("p", \.p)])

    var key: Int64 { id }

    init(_ id: Int64, n: Int64? = nil, u: Int64? = nil, p: Int64? = nil) {
      (self.id, self.n, self.u, self.p) = (id, n, u, p)
    }

    init(_ random: inout SeededGenerator) {
      func value(_ values: ClosedRange<Int64>) -> Int64? {
        Int.random(in: 0..<6, using: &random) == 0 ? nil : .random(in: values, using: &random)
      }
      id = .random(in: 1...40, using: &random)
      n = value(0...6)
      u = value(0...60)
      p = value(1...9)
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      n = try row.decode(at: 1)
      u = try row.decode(at: 2)
      p = try row.decode(at: 3)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try n.encode(to: &arguments, at: 1)
      try u.encode(to: &arguments, at: 2)
      try p.encode(to: &arguments, at: 3)
    }
  }

  /// What a transaction did.
  private struct Outcome: Equatable {
    var errors: [String] = []
    var failure: String?
    var changes: [String] = []
    var rows: [[SQLValue]] = []
    var entries: [String] = []
  }

  /// The definition of the tables of one round.
  private static func script(_ random: inout SeededGenerator) -> String {
    func any(_ definitions: String...) -> String {
      definitions.randomElement(using: &random) ?? ""
    }
    let fields = [
      any("id INTEGER PRIMARY KEY", "id INTEGER NOT NULL PRIMARY KEY", "id INT NOT NULL UNIQUE"),
      any(
        "n INTEGER", "n INTEGER CHECK (n < 5)", "n INTEGER NOT NULL",
        "n INTEGER NOT NULL ON CONFLICT IGNORE"),
      any(
        "u INTEGER UNIQUE", "u INTEGER UNIQUE", "u INTEGER", "u UNIQUE ON CONFLICT REPLACE",
        "u UNIQUE ON CONFLICT ROLLBACK"),
      any(
        "p INTEGER", "p INTEGER REFERENCES P", "p INTEGER REFERENCES T (id)",
        "p INTEGER REFERENCES P DEFERRABLE INITIALLY DEFERRED"),
    ]
    let trigger = any(
      "", "", "", "BEFORE INSERT ON T BEGIN INSERT INTO Log (t) VALUES (NEW.n); END",
      "AFTER INSERT ON T BEGIN INSERT INTO Log (t) VALUES (NEW.n); END",
      "AFTER INSERT ON T WHEN NEW.n = 3 BEGIN SELECT RAISE(ABORT, 'no'); END",
      "AFTER INSERT ON T WHEN NEW.n = 3 BEGIN SELECT RAISE(FAIL, 'no'); END",
      "BEFORE INSERT ON T WHEN NEW.n = 3 BEGIN SELECT RAISE(IGNORE); END")
    return """
      CREATE TABLE P (id INTEGER PRIMARY KEY);
      INSERT INTO P VALUES (1), (2), (3), (4), (5), (6), (7);
      CREATE TABLE Log (id INTEGER PRIMARY KEY, t \(any("", "UNIQUE")));
      CREATE TABLE T (\(fields.joined(separator: ", ")));
      \(trigger.isEmpty ? "" : "CREATE TRIGGER t_log \(trigger);")
      """
  }

  /// - Parameter isUndone: Whether SQLite undoes each refused insertion.
  private func outcome(
    _ seed: UInt64, isUndone: Bool
  ) throws -> (outcome: Outcome, text: String, script: String) {
    var random = SeededGenerator(seed: seed)
    let script = Self.script(&random)
    let world = try JournalWorld(script)
    var outcome = Outcome()
    var text = ""
    do {
      outcome.changes = try world.store.writeReturningChanges { tx in
        text = try tx.access.statements(for: Row.self).insertOrFail
        if isUndone { tx.access.notes.ranRawSQL = true }
        for part in 0..<12 {
          let isGivenUp = Int.random(in: 0..<4, using: &random) == 0
          let rows = (0..<8).map { _ in Row(&random) }
          do {
            try tx.savepoint { tx in
              for row in rows {
                do {
                  try tx.insert(row)
                } catch {
                  outcome.errors.append("\(part): \(error)")
                }
              }
              if isGivenUp { throw StoreError(.rejected, "Given up.") }
            }
          } catch {
            outcome.errors.append("\(part): \(error)")
          }
        }
      }.changes.changes.map { "\($0)" }
    } catch {
      outcome.failure = "\(error)"
    }
    outcome.rows = try world.other.rows("SELECT * FROM T") + world.other.rows("SELECT * FROM Log")
    outcome.entries = try world.entries()
    #expect(try world.replayed("T") == world.stored("T"), "seed \(seed): \(script)")
    #expect(try world.replayed("Log") == world.stored("Log"), "seed \(seed): \(script)")
    return (outcome, text, script)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func aRefusedInsertionChangesNothing(seed: UInt64) throws {
    print("seed \(seed)")
    let quick = try outcome(seed, isUndone: false)
    let undone = try outcome(seed, isUndone: true)
    #expect(quick.outcome.errors == undone.outcome.errors, "\(quick.script)")
    #expect(quick.outcome.failure == undone.outcome.failure, "\(quick.script)")
    #expect(quick.outcome.changes == undone.outcome.changes, "\(quick.script)")
    #expect(quick.outcome.rows == undone.outcome.rows, "\(quick.script)")
    #expect(quick.outcome.entries == undone.outcome.entries, "\(quick.script)")
  }

  @Test func theRoundsHaveBothKindsAndRefusals() throws {
    var counts = (quick: 0, undone: 0, refused: 0)
    for seed in 0..<20 as Range<UInt64> {
      let round = try outcome(seed, isUndone: false)
      let isQuick = round.text.hasPrefix("INSERT OR FAIL ")
      counts.quick += isQuick ? 1 : 0
      counts.undone += isQuick ? 0 : 1
      counts.refused += isQuick ? round.outcome.errors.count : 0
    }
    #expect(counts.quick > 3)
    #expect(counts.undone > 3)
    #expect(counts.refused > 50)
  }

  @Test func tablesWhoseRefusalsMayLeaveSomethingHaveUndoneInsertions() throws {
    let tables = [
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n, u UNIQUE, p)": true,
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n, u UNIQUE ON CONFLICT REPLACE, p)": false,
      "CREATE TABLE T(id INTEGER PRIMARY KEY on conflict rollback, n, u, p)": false,
      """
      CREATE TABLE T(id INTEGER PRIMARY KEY, n, u, p);
      CREATE TABLE Other(id INTEGER PRIMARY KEY UNIQUE ON CONFLICT IGNORE);
      CREATE TRIGGER other AFTER INSERT ON Other BEGIN SELECT 1; END
      """: true,
      """
      CREATE TABLE T(id INTEGER PRIMARY KEY, n, u, p);
      CREATE TRIGGER t AFTER INSERT ON t BEGIN SELECT 1; END
      """: false,
    ]
    for (script, isQuick) in tables {
      let world = try JournalWorld(script)
      let text = try world.store.write { try $0.access.statements(for: Row.self).insertOrFail }
      #expect(text.hasPrefix("INSERT OR FAIL ") == isQuick, "\(script)")
    }
  }

  @Test func aTriggerThatTheTransactionItselfMadeIsUndoneWithItsInsertion() throws {
    let world = try JournalWorld(
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n, u UNIQUE, p); CREATE TABLE Log(t)")
    try world.store.write { tx in
      try tx.insert(Row(1, u: 1))
      try tx.execute(
        "CREATE TRIGGER t BEFORE INSERT ON T BEGIN INSERT INTO Log VALUES (NEW.id); END")
      try tx.insert(Row(2, u: 2))
      #expect(throws: StoreError.self) { try tx.insert(Row(3, u: 1)) }
    }
    #expect(try world.other.rows("SELECT t FROM Log") == [[.integer(2)]])
    #expect(try world.stored("T").count == 2)
  }

  /// No object of the store refuses an entry of the journal. Another program's can.
  @Test func aRecordThatCannotBeRecordedEndsTheTransaction() throws {
    let world = try JournalWorld("CREATE TABLE T(id INTEGER PRIMARY KEY, n, u, p)")
    try world.other.execute(
      "CREATE UNIQUE INDEX few ON _ms_journal (c1) WHERE layout > 0 AND entry = 1 AND c1 > 4")
    let position = try world.store.changeJournal.position()
    let refusal = failure {
      try world.store.write { tx in
        try tx.insert(Row(1, n: 5))
        #expect(throws: StoreError.self) { try tx.insert(Row(2, n: 5)) }
        try tx.insert(Row(3, n: 6))
      }
    }
    #expect(refusal?.code == .rejected)
    #expect(try world.stored("T").isEmpty)
    #expect(try world.entries(after: position) == [])
    try world.store.write { tx in try tx.insert(Row(3, n: 6)) }
    #expect(try world.replayed("T") == world.stored("T"))
    #expect(try world.stored("T").count == 1)
  }

  @Test func onlyTriggersForEvictionsAreLeftOut() {
    let names = ["preinsert", "replaced", "preupdate", "vacated", "insert", "delete", "rekey"]
    #expect(
      names.map { JournalTriggers.isForEvictions("_ms_journal_Item_\($0)") } == [
        true, true, true, true, false, false, false,
      ])
    #expect(!JournalTriggers.isForEvictions("_ms_journal_a_replaced_insert"))
    #expect(!JournalTriggers.isForEvictions("Item_replaced"))
  }
}
