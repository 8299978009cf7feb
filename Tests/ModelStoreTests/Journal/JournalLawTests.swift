import Testing

@testable import ModelStore

/// The journal, replayed, is the tables: whatever statements run, by whomever.
@Suite(.tags(.law)) struct JournalLawTests {
  @Test(arguments: 1...4 as ClosedRange<UInt64>, ["OFF", "ON"])
  func theJournalReplayedIsTheTables(seed: UInt64, recursiveTriggers: String) throws {
    print("seed \(seed)")
    var random = RandomStatements(seed: seed)
    let world = try JournalWorld(RandomStatements.setup)
    try world.other.execute(
      "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = \(recursiveTriggers)")
    var refusedCount = 0
    for _ in 0..<400 {
      let statements = random.transaction()
      let isOwn = random.chance(1, of: 3)
      let isGivenUp = random.chance(1, of: 12)
      do {
        if isOwn {
          try world.store.write { tx in
            for statement in statements { try tx.execute(SQLText(sql: statement)) }
            if isGivenUp { throw StoreError(.rejected, "Given up.") }
          }
        } else {
          let end = isGivenUp ? "ROLLBACK" : "COMMIT"
          try world.other.execute("BEGIN; \(statements.joined(separator: "; ")); \(end)")
        }
      } catch is StoreError {
        refusedCount += 1
      } catch is PlainDatabase.Failure {
        refusedCount += 1
        // Some conflicts end the transaction themselves.
        if !world.other.isInAutocommit { try world.other.execute("COMMIT") }
      }
    }
    #expect(refusedCount < 300, "seed \(seed)")
    for model in RandomStatements.models {
      #expect(try world.replayed(model) == world.stored(model), "\(model), seed \(seed)")
    }
    let rows = try world.other.rows(
      "SELECT count(*), min(position), max(position) FROM _ms_journal")
    #expect(rows[0][0] == rows[0][2] && rows[0][1] == .integer(1), "a gap, seed \(seed)")
    #expect(try world.store.checkIntegrity() == [])
    #expect(world.errors.events == [])
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func theJournalReplayedIsTheLists(seed: UInt64) throws {
    print("seed \(seed)")
    var random = RandomListTransaction(seed: seed)
    let world = try ForeignWorld()
    for step in 0..<300 {
      try random.run(in: world.store)
      if step % 7 == 0 {
        try world.other.execute(
          "DELETE FROM Mix_songs WHERE slot % 11 = \(step % 11)")
      }
    }
    for model in ["Song", "Mix", "Mix.songs"] {
      #expect(try world.replayed(model) == world.stored(model), "\(model), seed \(seed)")
    }
    #expect(try world.stored("Mix.songs").isEmpty == false)
  }
}

/// SQL over tables of every shape, drawn from a seed. Values are few, so that they meet often.
struct RandomStatements {
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  struct Table {
    let name: String
    let key: [String]
    /// The writable columns except the key.
    let others: [String]
    /// The unique columns except the key.
    var unique: [String] = []
  }

  static let wide = (1...30).map { "f\($0)" }

  static let tables: [Table] = [
    Table(name: "Parent", key: ["id"], others: ["n", "u"], unique: ["u"]),
    Table(name: "Child", key: ["id"], others: ["parent", "n"]),
    Table(name: "Pair", key: ["x", "y"], others: ["n", "u"], unique: ["u"]),
    Table(name: "Named", key: ["name"], others: ["n", "u"], unique: ["u"]),
    Table(name: "Partly", key: ["id"], others: ["k", "isActive"], unique: ["k"]),
    Table(name: "Choosy", key: ["id"], others: ["k", "u", "isActive"], unique: ["k", "u"]),
    Table(name: "Wordy", key: ["id"], others: ["slot", "c1"], unique: ["slot"]),
    Table(name: "Made", key: ["id"], others: ["a", "u"], unique: ["u"]),
    Table(name: "Wide", key: ["id"], others: wide, unique: ["f30"]),
    Table(name: "Shadow", key: ["id"], others: ["c0", "c1", "u"], unique: ["c0"]),
    Table(name: "Filled", key: ["id"], others: ["slot", "n"], unique: ["slot"]),
  ]

  static let models = tables.map(\.name)

  static let setup = """
    CREATE TABLE Parent (id INTEGER PRIMARY KEY, n, u INTEGER UNIQUE);
    CREATE TABLE Child (
      id INTEGER PRIMARY KEY, parent INTEGER REFERENCES Parent ON DELETE CASCADE ON UPDATE CASCADE,
      n);
    CREATE TABLE Pair (
      x TEXT NOT NULL, y INTEGER NOT NULL, n, u INTEGER UNIQUE, PRIMARY KEY (x, y)) WITHOUT ROWID;
    CREATE TABLE Named (
      name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY, n, u TEXT COLLATE NOCASE UNIQUE);
    CREATE TABLE Partly (id INTEGER PRIMARY KEY, k, isActive INTEGER);
    CREATE UNIQUE INDEX Partly_k ON Partly (k) WHERE isActive = 1;
    CREATE TABLE Choosy (id INTEGER PRIMARY KEY, k, u, isActive INTEGER);
    CREATE UNIQUE INDEX Choosy_k ON Choosy (k) WHERE isActive = '1' OR "U" IS NULL -- either
    ;
    CREATE UNIQUE INDEX Choosy_u ON Choosy (u)
      WHERE choosy.isActive IN (0, 1) /* known */ AND length(k) > 0;
    CREATE TABLE Wordy (id INTEGER PRIMARY KEY, slot TEXT NOT NULL DEFAULT "x", c1 TEXT);
    CREATE UNIQUE INDEX Wordy_slot ON Wordy (slot) WHERE c1 = "x" OR slot = "X";
    CREATE TABLE Made (
      id INTEGER PRIMARY KEY, a, u UNIQUE, twice AS (a || a) STORED, length AS (length(a)));
    CREATE TABLE Wide (id INTEGER PRIMARY KEY, \(wide.joined(separator: ", ")), UNIQUE (f30));
    CREATE TABLE Shadow (id INTEGER PRIMARY KEY, c0 UNIQUE, c1, u, UNIQUE (c1, u));
    CREATE TABLE Filled (id INTEGER PRIMARY KEY, slot TEXT NOT NULL DEFAULT 'x' UNIQUE, n);
    """

  mutating func chance(_ part: Int, of whole: Int) -> Bool {
    Int.random(in: 0..<whole, using: &generator) < part
  }

  mutating func transaction() -> [String] {
    (0..<Int.random(in: 1...3, using: &generator)).map { _ in statement() }
  }

  private mutating func statement() -> String {
    let table = Self.tables.randomElement(using: &generator) ?? Self.tables[0]
    let columns = table.key + table.others
    let names = columns.joined(separator: ", ")
    let values = columns.map { value($0) }.joined(separator: ", ")
    let field = table.others.randomElement(using: &generator) ?? "n"
    let key = table.key.randomElement(using: &generator) ?? "id"
    let place = table.key.map { "\($0) = \(value($0))" }.joined(separator: " AND ")
    switch Int.random(in: 0..<16, using: &generator) {
    case 0...2: return "INSERT OR REPLACE INTO \(table.name) (\(names)) VALUES (\(values))"
    case 3...4: return "INSERT OR IGNORE INTO \(table.name) (\(names)) VALUES (\(values))"
    case 5:
      return """
        INSERT INTO \(table.name) (\(names)) VALUES (\(values)) ON CONFLICT DO UPDATE \
        SET \(field) = \(value(field))
        """
    case 6:
      return "INSERT INTO \(table.name) (\(names)) VALUES (\(values)) ON CONFLICT DO NOTHING"
    case 7: return "UPDATE OR REPLACE \(table.name) SET \(field) = \(value(field)) WHERE \(place)"
    case 8: return "UPDATE OR REPLACE \(table.name) SET \(field) = \(value(field))"
    case 9: return "UPDATE OR IGNORE \(table.name) SET \(field) = \(value(field)), \(key) = \(key)"
    case 10: return "UPDATE OR REPLACE \(table.name) SET \(key) = \(value(key)) WHERE \(place)"
    case 11: return "UPDATE OR IGNORE \(table.name) SET \(key) = \(value(key))"
    case 12: return "UPDATE OR REPLACE \(table.name) SET \(key) = \(value(key)), \(field) = NULL"
    case 13:
      let selected = columns.map { $0 == key ? value($0) : $0 }.joined(separator: ", ")
      return "INSERT OR REPLACE INTO \(table.name) (\(names)) SELECT \(selected) FROM \(table.name)"
    case 14: return "DELETE FROM \(table.name) WHERE \(place)"
    default: return "DELETE FROM \(table.name) WHERE \(field) = \(value(field))"
    }
  }

  private mutating func value(_ column: String) -> String {
    let number = Int.random(in: 1...6, using: &generator)
    switch column {
    case "id", "parent": return "\(number)"
    case "y": return "\(number % 3)"
    case "x": return ["'a'", "'A'", "'b'"][number % 3]
    case "name": return ["'a'", "'A'", "'b'", "'B'", "'ab'", "'Ab'"][number - 1]
    case "isActive": return ["0", "1", "NULL"][number % 3]
    case "u", "k", "f30", "c0", "c1", "slot":
      return ["1", "2", "3", "NULL", "'x'", "'X'"][number - 1]
    default: return ["0", "1.0", "1", "NULL", "'text'", "x'0041'"][number - 1]
    }
  }
}
