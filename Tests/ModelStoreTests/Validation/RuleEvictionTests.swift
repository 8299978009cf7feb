import Foundation
import Testing

@testable import ModelStore

/// Rules that consider the former values of a record, against statements that replace records.
@Suite(.tags(.unit)) struct RuleEvictionTests {
  enum Outcome: String {
    /// The rule refuses the statement.
    case refused
    /// The statement passes, and no immutable field of a record has another value.
    case passes
    /// The statement passes and the value is another one: a limit of the rule.
    case notHeld = "not held"
  }

  struct Cell: CustomStringConvertible {
    let statement: String
    let outcome: Outcome
    /// The price that the record has afterwards.
    let price: Int64

    init(_ statement: String, _ outcome: Outcome, price: Int64 = 5) {
      self.statement = statement
      self.outcome = outcome
      self.price = price
    }

    var description: String { statement }
  }

  /// `Item` has an integer key; `Part` a text key beside its row number; `Piece` is WITHOUT ROWID;
  /// `Label` is unique by an expression.
  private static let tables = """
    CREATE TABLE Item (
      id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE, price INTEGER, note TEXT);
    INSERT INTO Item VALUES (1, 'a', 5, 'x'), (2, 'b', 6, 'y'), (-1, 'c', 7, 'z');
    CREATE TABLE Part (code TEXT PRIMARY KEY NOT NULL, price INTEGER);
    INSERT INTO Part (rowid, code, price) VALUES (1, 'a', 5), (2, 'b', 6);
    CREATE TABLE Piece (code TEXT PRIMARY KEY NOT NULL, price INTEGER) WITHOUT ROWID;
    INSERT INTO Piece VALUES ('a', 5), ('b', 6);
    CREATE TABLE Label (id INTEGER PRIMARY KEY, code TEXT, price INTEGER);
    CREATE UNIQUE INDEX "Label.lower" ON Label (lower(code));
    INSERT INTO Label VALUES (1, 'a', 5);
    """

  static let cells = [
    Cell("UPDATE Item SET price = 9 WHERE id = 1", .refused),
    Cell("UPDATE OR REPLACE Item SET price = 9 WHERE id = 1", .refused),
    Cell("REPLACE INTO Item VALUES (1, 'a', 9, 'x')", .refused),
    Cell("REPLACE INTO Item VALUES (1, 'a', '5', 'new')", .passes),
    Cell("REPLACE INTO Item (code, price) VALUES ('a', 9)", .refused),
    Cell("REPLACE INTO Item (code, price) VALUES ('A', 9)", .refused),
    Cell("REPLACE INTO Item (code, price) VALUES ('a', 5)", .passes),
    Cell("REPLACE INTO Item (code, price) VALUES ('new', 9)", .passes),
    Cell("INSERT OR REPLACE INTO Item SELECT id, code, price + 4, note FROM Item", .refused),
    Cell("INSERT OR IGNORE INTO Item VALUES (1, 'a', 9, 'x')", .passes),
    Cell(
      "INSERT INTO Item VALUES (1, 'a', 9, 'n') ON CONFLICT (id) DO UPDATE SET note = excluded.note",
      .passes),
    Cell(
      "INSERT INTO Item VALUES (1, 'a', 9, 'n') ON CONFLICT (id) DO UPDATE SET price = excluded.price",
      .refused),
    Cell("UPDATE OR REPLACE Item SET id = 1 WHERE id = 2", .refused),
    Cell("UPDATE OR REPLACE Item SET rowid = 1 WHERE id = 2", .refused),
    Cell("UPDATE OR REPLACE Item SET code = 'A' WHERE id = 2", .refused),
    Cell("REPLACE INTO Part VALUES ('a', 9)", .refused),
    Cell("REPLACE INTO Part (rowid, code, price) VALUES (1, 'new', 9)", .refused),
    Cell("REPLACE INTO Piece VALUES ('a', 9)", .refused),
    Cell("UPDATE OR REPLACE Piece SET code = 'a' WHERE code = 'b'", .refused),
    Cell("UPDATE OR REPLACE Part SET rowid = 1 WHERE code = 'b'", .notHeld, price: 0),
    Cell("REPLACE INTO Label (code, price) VALUES ('A', 9)", .notHeld, price: 9),
    Cell(
      "DELETE FROM Item WHERE id = 1; INSERT INTO Item VALUES (1, 'a', 9, 'x')", .notHeld, price: 9),
    Cell(
      "UPDATE Item SET id = 8, code = 'h' WHERE id = 1; INSERT INTO Item VALUES (1, 'a', 9, 'x')",
      .notHeld, price: 9),
  ]

  private struct World {
    let directory: TemporaryDirectory
    let store: Store

    init() throws {
      directory = try TemporaryDirectory()
      let path = directory.file("items.store")
      try PlainDatabase(path).execute(RuleEvictionTests.tables)
      store = try Store(at: path)
      _ = try store.adopt()
      for model in ["Item", "Part", "Piece", "Label"] {
        try store.add(Rule("\(model).fixed", of: model, fields: ["price"], .immutable))
      }
    }

    var path: String { store.path }
  }

  private static func table(of cell: Cell) -> String {
    ["Item", "Part", "Piece", "Label"].first { cell.statement.contains(" \($0) ") } ?? ""
  }

  /// The price of the first record that the statement's table had; no row when it is gone.
  private static func price(of cell: Cell) -> String {
    "SELECT price FROM \(table(of: cell)) WHERE lower(code) = 'a'"
  }

  private static func refusal(of cell: Cell) -> String {
    "\(table(of: cell)).price must not change (rule \(table(of: cell)).fixed)"
  }

  @Test(arguments: ["OFF", "ON"])
  func anotherProgramBehavesAsTheTableSays(recursiveTriggers: String) throws {
    let world = try World()
    let other = try PlainDatabase(world.path)
    try other.execute("PRAGMA recursive_triggers = \(recursiveTriggers)")
    for cell in Self.cells {
      try other.execute("BEGIN")
      var complaint = ""
      do { try other.execute(cell.statement) } catch { complaint = "\(error)" }
      let isRefused = complaint.hasPrefix(Self.refusal(of: cell))
      #expect(isRefused == (cell.outcome == .refused), "\(cell): \(complaint)")
      #expect(isRefused || complaint.isEmpty, "\(cell): \(complaint)")
      let price = try other.rows(Self.price(of: cell)).map { $0[0] }
      #expect(price == (cell.price == 0 ? [] : [.integer(cell.price)]), "\(cell)")
      try other.execute("ROLLBACK")
    }
    #expect(try world.store.schemaDrift(of: [.rules]) == [])
  }

  @Test(SQLiteShell.isNeeded) func theShellBehavesAsTheTableSays() throws {
    let world = try World()
    for cell in Self.cells {
      let complaint = try SQLiteShell.complaint(
        about: "BEGIN; \(cell.statement); ROLLBACK", in: world.path)
      #expect(
        complaint.contains(Self.refusal(of: cell)) == (cell.outcome == .refused),
        "\(cell): \(complaint)")
      #expect(complaint.isEmpty == (cell.outcome != .refused), "\(cell): \(complaint)")
    }
  }

  @Test func theStoreBehavesAsTheTableSays() throws {
    let world = try World()
    for cell in Self.cells {
      var found: [StoreError] = []
      do {
        try world.store.write { tx in
          do {
            for statement in cell.statement.components(separatedBy: "; ") {
              try tx.execute(SQLText(sql: statement))
            }
          } catch let error as StoreError {
            found.append(error)
          }
          let price: [Int64] = try tx.access.connection.rows(
            SQLText(sql: Self.price(of: cell))
          ) { row in try row.integer(at: 0) }
          #expect(price == (cell.price == 0 ? [] : [cell.price]), "\(cell)")
          throw CancellationError()
        }
      } catch is CancellationError {
      }
      #expect(
        found.flatMap(\.violations).prefix(1).map(\.rule)
          == (cell.outcome == .refused ? ["\(Self.table(of: cell)).fixed"] : []), "\(cell)")
    }
  }

  @Test func theArticleHasEachStatementOfTheTable() throws {
    let place = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    let article = try String(
      contentsOfFile: place + "/Sources/ModelStore/ModelStore.docc/rules.md", encoding: .utf8)
    let lines = article.components(separatedBy: "\n")
    let rows = Self.cells.map { "| `\($0.statement)` | \($0.outcome.rawValue) |" }
    #expect(rows.filter { !lines.contains($0) } == [])
  }

  /// Notes of a statement that replaced nothing once could meet the next one's trigger.
  @Test func aStatementThatReplacesNothingLeavesNothingBehind() throws {
    let world = try World()
    let other = try PlainDatabase(world.path)
    for statement in [
      "INSERT OR IGNORE INTO Item VALUES (1, 'a', 9, 'x')",
      "INSERT INTO Item VALUES (1, 'a', 9, 'n') ON CONFLICT (id) DO UPDATE SET note = 'n'",
      "UPDATE OR IGNORE Item SET code = 'b' WHERE id = 1",
    ] {
      try other.execute(statement)
      try other.execute(
        """
        DELETE FROM Item WHERE id = 1;
        INSERT INTO Item VALUES (1, 'a', 9, 'x');
        DELETE FROM Item WHERE id = 1;
        INSERT INTO Item (code, price) VALUES ('other', 1);
        UPDATE Item SET code = 'another' WHERE code = 'other';
        DELETE FROM Item WHERE code = 'another';
        INSERT INTO Item VALUES (1, 'a', 5, 'x');
        """)
    }
    // Plain inserts and replacements that change nothing keep no notes.
    try other.execute("REPLACE INTO Item VALUES (1, 'a', 5, 'x')")
    #expect(try other.rows("SELECT count(*) FROM \"_ms_rulenotes_Item.fixed\"") == [[.integer(0)]])
  }

  @Test func aReferencedRecordIsNotEvictedByAnother() throws {
    let hotel = try Hotel()
    #expect(try hotel.shell("UPDATE Booking SET room = NULL, start = 1") == nil)
    #expect(try hotel.shell("DELETE FROM Room WHERE id = 2") == nil)
    try hotel.store.add(.reference(\Booking.start, to: Room.self))
    let refused = "Room is still referred to by Booking.start"
    // The foreign key has no part in it: it is off in most programs.
    let other = try PlainDatabase(hotel.store.path)
    func complaint(_ sql: String) -> String? {
      do {
        try other.execute(sql)
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(complaint("REPLACE INTO Room VALUES (7, 'Blue')")?.hasPrefix(refused) == true)
    #expect(complaint("INSERT INTO Room VALUES (7, 'Red')") == nil)
    #expect(
      complaint("UPDATE OR REPLACE Room SET name = 'Blue' WHERE id = 7")?.hasPrefix(refused)
        == true)
    #expect(complaint("REPLACE INTO Room VALUES (1, 'Green')") == nil)
    #expect(complaint("REPLACE INTO Room VALUES (8, 'Red')") == nil)
    #expect(try hotel.store.findings(in: Booking.schema) == [])
  }

  @Test func aNegativePartOfASumIsNotEvictedIfTheSumBecomesTooLarge() throws {
    let world = try World()
    try world.store.add(
      Rule("Item.budget", of: "Item", fields: ["price"], .sumAtMost(limit: 18, per: ["note"])))
    try world.store.dropRule("Item.fixed")
    let other = try PlainDatabase(world.path)
    try other.execute(
      """
      INSERT INTO Item VALUES (10, 'k', -9, 'sum'), (11, 'l', 18, 'sum'), (12, 'm', 9, 'sum');
      """)
    for sql in [
      "REPLACE INTO Item VALUES (13, 'k', 0, 'else')",
      "REPLACE INTO Item VALUES (10, 'k', 0, 'else')",
      "UPDATE OR REPLACE Item SET code = 'k' WHERE id = 1",
      "UPDATE OR REPLACE Item SET id = 10 WHERE id = 1",
    ] {
      var complaint = ""
      do { try other.execute(sql) } catch { complaint = "\(error)" }
      #expect(complaint.contains("(rule Item.budget)"), "\(sql)")
    }
    try other.execute("REPLACE INTO Item VALUES (13, 'k', -9, 'sum')")
    try other.execute("REPLACE INTO Item VALUES (14, 'l', 0, 'else')")
  }

  @Test func aUniqueRuleThatIsAddedLaterCounts() throws {
    let world = try World()
    try world.store.add(Rule("Item.note.once", of: "Item", fields: ["note"], .unique(where: nil)))
    #expect(try world.store.schemaDrift(of: [.rules]) == [])
    let other = try PlainDatabase(world.path)
    #expect(throws: PlainDatabase.Failure.self) {
      try other.execute("REPLACE INTO Item VALUES (9, 'q', 9, 'x')")
    }
    // An index of another program is found as a difference, and counts after a rebuild.
    try world.store.dropRule("Item.note.once")
    #expect(try world.store.schemaDrift(of: [.rules]) == [])
    try other.execute("CREATE UNIQUE INDEX \"other.note\" ON Item (note) WHERE price > 0")
    #expect(try world.store.schemaDrift(of: [.rules]).map(\.owner.name) == ["Item.fixed"])
    #expect(try world.store.rebuildRules().map(\.owner.name) == ["Item.fixed"])
    #expect(try world.store.schemaDrift(of: [.rules]) == [])
    #expect(throws: PlainDatabase.Failure.self) {
      try other.execute("REPLACE INTO Item VALUES (9, 'q', 9, 'x')")
    }
    try other.execute("REPLACE INTO Item VALUES (9, 'q', 5, 'x')")
  }

  /// What a file has that an earlier version wrote: one trigger.
  @Test func missingTriggersOfAnEarlierVersionAreAdded() throws {
    let world = try World()
    let other = try PlainDatabase(world.path)
    let names = [
      "_ms_rule_Item.fixed_replaced_insert", "_ms_rule_Item.fixed_replaced_update",
      "_ms_rulenotes_Item.fixed", "_ms_rulenotes_Item.fixed_insert",
      "_ms_rulenotes_Item.fixed_update",
    ]
    for name in names {
      let kind = name == "_ms_rulenotes_Item.fixed" ? "TABLE" : "TRIGGER"
      try other.execute("DROP \(kind) \"\(name)\"")
    }
    let unkept = [
      SchemaDrift(
        .rule("Item.fixed"),
        names.map { name in
          .init(name == "_ms_rulenotes_Item.fixed" ? .table : .trigger, name, .missing)
        })
    ]
    #expect(try world.store.schemaDrift(of: [.rules]) == unkept)
    #expect(try world.store.rebuildRules() == unkept)
    #expect(try world.store.schemaDrift(of: [.rules]) == [])
    try world.store.dropRule("Item.fixed")
    #expect(
      try other.rows("SELECT name FROM sqlite_schema WHERE instr(name, 'Item.fixed') > 0") == [])
  }

  @Test func otherRefusalsOfAReplacementNameNoUnchangedField() throws {
    let world = try World()
    try world.store.add(Rule("Item.note.short", of: "Item", .condition(sql: "length(note) < 3")))
    let error = failure {
      try world.store.write { tx in
        try tx.execute("REPLACE INTO Item VALUES (1, 'a', 5, 'long'), (2, 'b', 6, 'long')")
      }
    }
    #expect(error?.violations.map(\.rule) == ["Item.note.short", "Item.note.short"])
  }

  // Statements within statements

  struct Nested: CustomStringConvertible {
    let trigger: String
    let statement: String
    var isRefused = true
    /// Whether the rule also refuses when the trigger is older than the rule.
    var isRefusedByNewerRule: Bool?

    var description: String { "\(trigger)\n\(statement)" }
  }

  private static let replacing = "REPLACE INTO Item VALUES (1, 'a', 9, 'x')"

  static let nested = [
    Nested(
      trigger: "AFTER INSERT ON Item BEGIN INSERT INTO Item VALUES (50, 'n', 1, ''); END",
      statement: replacing),
    Nested(
      trigger: "AFTER INSERT ON Item BEGIN INSERT INTO Item VALUES (50, 'n', 1, ''); END",
      statement: "REPLACE INTO Item VALUES (1, 'a', 5, 'new')", isRefused: false),
    Nested(
      trigger: "AFTER INSERT ON Item BEGIN INSERT INTO Item (price) VALUES (NEW.price); END",
      statement: replacing),
    Nested(
      trigger:
        "AFTER INSERT ON Item BEGIN UPDATE Item SET code = upper(code) WHERE id = NEW.id; END",
      statement: replacing),
    Nested(
      trigger:
        "AFTER INSERT ON Item BEGIN UPDATE Item SET code = lower(code) WHERE id = NEW.id; END",
      statement: replacing),
    Nested(
      trigger: "AFTER INSERT ON Item BEGIN UPDATE Item SET id = 60 WHERE id = NEW.id; END",
      statement: replacing),
    Nested(
      trigger:
        "AFTER INSERT ON Item BEGIN REPLACE INTO Item VALUES (NEW.id, NEW.code, NEW.price, 'n'); END",
      statement: replacing),
    Nested(
      trigger:
        "AFTER INSERT ON Item BEGIN INSERT INTO Item VALUES (2, 'b', 1, '') ON CONFLICT DO NOTHING; END",
      statement: replacing),
    Nested(
      trigger:
        "AFTER INSERT ON Item BEGIN INSERT INTO Item VALUES (2, 'b', 1, '') ON CONFLICT DO NOTHING; END",
      statement: "REPLACE INTO Item VALUES (1, 'a', 5, 'new')", isRefused: false),
    // The other record takes the key of the evicted one.
    Nested(
      trigger: "AFTER INSERT ON Item BEGIN INSERT INTO Item VALUES (1, 'n', 9, ''); END",
      statement: "REPLACE INTO Item VALUES (70, 'a', 9, 'x')"),
    Nested(
      trigger: "AFTER UPDATE OF code ON Item BEGIN INSERT INTO Item VALUES (50, 'n', 1, ''); END",
      statement: "UPDATE OR REPLACE Item SET code = 'A' WHERE id = 2"),
    Nested(
      trigger:
        "AFTER UPDATE OF code ON Item BEGIN UPDATE Item SET code = 'n' WHERE id = NEW.id; END",
      statement: "UPDATE OR REPLACE Item SET code = 'A' WHERE id = 2"),
    // Two levels.
    Nested(
      trigger: """
        AFTER INSERT ON Item BEGIN INSERT INTO Item VALUES (50, 'n', 1, ''); END;
        CREATE TRIGGER "second" AFTER INSERT ON Item WHEN NEW.id = 50
        BEGIN UPDATE Item SET code = 'm' WHERE id = 50; END
        """, statement: replacing),
    Nested(
      trigger: """
        AFTER INSERT ON Item BEGIN INSERT INTO Item VALUES (50, 'n', 1, ''); END;
        CREATE TRIGGER "second" AFTER INSERT ON Item WHEN NEW.id = 50
        BEGIN REPLACE INTO Item VALUES (2, 'b', 7, ''); END
        """, statement: "REPLACE INTO Item VALUES (1, 'a', 5, 'new')"),
    // A trigger that makes room, and a trigger that evicts records itself.
    Nested(
      trigger:
        "BEFORE INSERT ON Item BEGIN UPDATE Item SET id = 80, code = 'r' WHERE id = NEW.id; END",
      statement: "INSERT INTO Item VALUES (1, 'a', 9, 'x')", isRefused: false),
    Nested(
      trigger:
        "BEFORE INSERT ON Item BEGIN UPDATE Item SET id = 80, code = 'r' WHERE id = NEW.id; END",
      statement: replacing, isRefused: false),
    Nested(
      trigger: "BEFORE INSERT ON Item BEGIN REPLACE INTO Item VALUES (2, 'q', 1, ''); END",
      statement: "INSERT INTO Item VALUES (30, 's', 9, 'x')"),
    Nested(
      trigger: "BEFORE INSERT ON Item BEGIN INSERT INTO Item VALUES (50, 'n', 1, ''); END",
      statement: replacing, isRefusedByNewerRule: false),
  ]

  /// Triggers that were made last run first, so both orders are tried.
  @Test(arguments: [false, true]) func otherTriggersThatWriteTheTableDoNotHideEvictions(
    ruleIsNewer: Bool
  ) throws {
    for nested in Self.nested {
      let world = try World()
      let other = try PlainDatabase(world.path)
      try other.execute("CREATE TRIGGER \"other\" \(nested.trigger)")
      if ruleIsNewer {
        try world.store.dropRule("Item.fixed")
        try world.store.add(Rule("Item.fixed", of: "Item", fields: ["price"], .immutable))
      }
      let isRefused =
        ruleIsNewer ? nested.isRefusedByNewerRule ?? nested.isRefused : nested.isRefused
      let shell = try SQLiteShell.complaint(
        about: "BEGIN; \(nested.statement); ROLLBACK", in: world.path)
      #expect(shell.contains("(rule Item.fixed)") == isRefused, "\(nested): \(shell)")
      #expect(shell.isEmpty != isRefused, "\(nested): \(shell)")
      var complaint = ""
      try other.execute("BEGIN")
      do { try other.execute(nested.statement) } catch { complaint = "\(error)" }
      try other.execute("ROLLBACK")
      #expect(complaint.contains("(rule Item.fixed)") == isRefused, "\(nested): \(complaint)")
    }
  }

  /// Each leaves notes of a row that was not stored.
  static let leaving = [
    "INSERT OR IGNORE INTO Item VALUES (1, 'a', 9, 'x')",
    "INSERT OR FAIL INTO Item VALUES (1, 'a', 9, 'x')",
    "INSERT OR ABORT INTO Item VALUES (1, 'a', 9, 'x')",
    "UPDATE OR IGNORE Item SET code = 'a' WHERE id = 2",
    "UPDATE OR FAIL Item SET id = 1 WHERE id = 2",
    // The trigger below writes the same table, and fails or is ignored.
    "INSERT INTO Log VALUES ('ignore')", "INSERT OR FAIL INTO Log VALUES ('fail')",
    "INSERT INTO Log VALUES ('abort')",
    // Another AFTER trigger keeps the rule's own from running.
    "REPLACE INTO Item VALUES (1, 'a', 9, 'skip')",
  ]

  @Test(arguments: leaving) func leftoverNotesDoNotCauseRefusalsOfOtherRows(leaving: String) throws
  {
    let world = try World()
    let other = try PlainDatabase(world.path)
    try other.execute(
      """
      CREATE TABLE Log (what TEXT);
      CREATE TRIGGER "log" AFTER INSERT ON Log BEGIN
        INSERT INTO Item VALUES (1, 'a', 9, 'x') ON CONFLICT DO NOTHING;
        INSERT INTO Item SELECT 1, 'a', 9, 'x' WHERE NEW.what <> 'ignore';
      END;
      CREATE TRIGGER "skip" AFTER INSERT ON Item WHEN NEW.note = 'skip'
      BEGIN SELECT RAISE(IGNORE); END;
      """)
    for following in [
      "REPLACE INTO Item SELECT * FROM Item",
      "INSERT INTO Item VALUES (1, 'a', 9, 'x')",
      "INSERT INTO Item (code, price) VALUES ('a', 8)",
      "INSERT INTO Item VALUES (3, 'd', 9, 'x'); UPDATE Item SET id = 1, code = 'a' WHERE id = 3",
      """
      CREATE TRIGGER "again" AFTER INSERT ON Log BEGIN
        INSERT INTO Item VALUES (1, 'a', 8, 'x'); UPDATE Item SET code = 'A' WHERE id = 1;
      END;
      INSERT INTO Log VALUES ('ignore');
      """,
    ] {
      try other.execute("BEGIN")
      do { try other.execute(leaving) } catch is PlainDatabase.Failure {}
      let deletes = following.hasPrefix("REPLACE") ? "" : "DELETE FROM Item WHERE id = 1; "
      let inserts = following.contains("\"again\"") ? "DROP TRIGGER \"log\"; " : ""
      var complaint = ""
      do { try other.execute(deletes + inserts + following) } catch { complaint = "\(error)" }
      #expect(complaint == "", "\(leaving); \(following)")
      try other.execute("ROLLBACK")
    }
  }

  @Test func ignoredRowsLeaveFewNotes() throws {
    let world = try World()
    let other = try PlainDatabase(world.path)
    for number in 100..<200 {
      try other.execute(
        """
        INSERT INTO Item VALUES (\(number), 'k\(number)', 1, '');
        INSERT OR IGNORE INTO Item VALUES (\(number), 'k\(number)', 2, '');
        DELETE FROM Item WHERE id = \(number);
        """)
    }
    let notes = try other.rows("SELECT count(*) <= 33 FROM \"_ms_rulenotes_Item.fixed\"")
    #expect(notes == [[.integer(1)]])
    #expect(throws: PlainDatabase.Failure.self) { try other.execute(Self.replacing) }
  }
}
