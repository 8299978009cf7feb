import Testing

@testable import ModelStore

/// The statements that turn one schema into another, run on a file with records.
@Suite(.tags(.unit)) struct SchemaEvolutionTests {
  private static let base = """
    CREATE TABLE List (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE Todo (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (title <> ''),
      list INTEGER REFERENCES List (id) ON DELETE CASCADE, size INTEGER DEFAULT 1);
    CREATE INDEX by_list ON Todo (list);
    CREATE TRIGGER shout AFTER INSERT ON Todo BEGIN UPDATE List SET name = upper(name); END;
    CREATE VIEW titles AS SELECT title FROM Todo;
    """

  private static let records = """
    INSERT INTO List VALUES (1, 'a'), (2, 'b');
    INSERT INTO Todo VALUES (7, 'x', 1, 4), (9, 'y', 2, NULL);
    """

  private func evolution(
    to desired: String, from current: String = base, renames: [SchemaRename] = [],
    dropping: Set<String> = []
  ) throws -> SchemaEvolution {
    try SchemaEvolution(
      from: SchemaSnapshot(script: current), to: SchemaSnapshot(script: desired),
      renames: renames, dropping: dropping)
  }

  /// Runs the statements as a migration on a file with records, and then the way back.
  ///
  /// - Returns: The records of Todo after the way there.
  private func run(_ evolution: SchemaEvolution, to desired: String) throws -> [String] {
    let files = try MigratedFiles()
    try PlainDatabase(files.path("todo")).execute(
      "PRAGMA journal_mode = WAL; \(Self.base) \(Self.records)")
    try PlainDatabase(files.path("new")).execute("PRAGMA journal_mode = WAL; \(desired)")
    let there = Migration(
      version: 1, name: "there", sql: evolution.steps.flatMap(\.statements).script)
    let store = try Store(at: files.path("todo"), migrations: [there])
    #expect(try store.schemaDifferences(from: Store(at: files.path("new"))) == [])
    let rows = try store.read { reads in try reads.rows("SELECT * FROM Todo ORDER BY 1") }
    store.close()
    if let reverse = evolution.reverse {
      let back = Migration(version: 2, name: "back", sql: reverse.flatMap(\.statements).script)
      let returned = try Store(at: files.path("todo"), migrations: [there, back])
      try PlainDatabase(files.path("old")).execute("PRAGMA journal_mode = WAL; \(Self.base)")
      #expect(try returned.schemaDifferences(from: Store(at: files.path("old"))) == [])
    }
    return rows.map { $0.values.map(\.description).joined(separator: " ") }
  }

  @Test func aColumnIsAddedInPlace() throws {
    let desired = Self.base.replacing(
      "DEFAULT 1)", with: "DEFAULT 1, due TEXT NOT NULL DEFAULT '-')")
    let evolution = try evolution(to: desired)
    #expect(
      evolution.steps == [
        .init(
          changes: ["Todo.due add"],
          statements: [#"ALTER TABLE "Todo" ADD COLUMN due TEXT NOT NULL DEFAULT '-'"#])
      ])
    #expect(
      evolution.reverse?.flatMap(\.statements) == [#"ALTER TABLE "Todo" DROP COLUMN "due""#])
    #expect(try run(evolution, to: desired) == ["7 'x' 1 4 '-'", "9 'y' 2 NULL '-'"])
  }

  @Test func aRebuildKeepsTheIndexAndTheTrigger() throws {
    let desired = Self.base.replacing(
      "size INTEGER DEFAULT 1", with: "size INTEGER, CHECK (id > 0)")
    let evolution = try evolution(to: desired)
    #expect(evolution.steps.map(\.changes) == [["Todo.size no default", "Todo CHECK (id > 0)"]])
    #expect(evolution.steps.map(\.isRebuild) == [true])
    #expect(
      evolution.steps[0].statements.suffix(2).map { String($0.prefix(20)) } == [
        "CREATE INDEX by_list", "CREATE TRIGGER shout",
      ])
    #expect(try run(evolution, to: desired) == ["7 'x' 1 4", "9 'y' 2 NULL"])
  }

  @Test func aDroppedColumnIsALossWithoutAWayBack() throws {
    let desired = Self.base.replacing(", size INTEGER DEFAULT 1", with: "")
    let evolution = try evolution(to: desired)
    #expect(evolution.steps.flatMap(\.losses) == [.column("size", of: "Todo")])
    #expect(evolution.reverse == nil)
    #expect(try run(evolution, to: desired) == ["7 'x' 1", "9 'y' 2"])
  }

  @Test func aColumnThatBecomesComputedIsALossWithoutAWayBack() throws {
    let desired = Self.base.replacing("size INTEGER DEFAULT 1", with: "size INTEGER AS (id * 2)")
    let evolution = try evolution(to: desired)
    #expect(evolution.steps.flatMap(\.losses) == [.column("size", of: "Todo")])
    #expect(evolution.reverse == nil)
    #expect(try run(evolution, to: desired) == ["7 'x' 1 14", "9 'y' 2 18"])
  }

  @Test(arguments: ["VIRTUAL", "STORED"])
  func computedValuesAreCopiedIntoAPlainColumn(kind: String) throws {
    let computed = "CREATE TABLE t (id INTEGER PRIMARY KEY, b INTEGER AS (id * 2) \(kind));"
    let evolution = try evolution(
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, b INTEGER NOT NULL);", from: computed)
    #expect(evolution.steps.flatMap(\.losses) == [])
    #expect(
      evolution.steps.flatMap(\.warnings) == [
        "It fails for records without a value in t.b. Update them first."
      ])
    let files = try MigratedFiles()
    try PlainDatabase(files.path("t")).execute(
      "PRAGMA journal_mode = WAL; \(computed) INSERT INTO t (id) VALUES (1), (3)")
    let there = Migration(
      version: 1, name: "there", sql: evolution.steps.flatMap(\.statements).script)
    let store = try Store(at: files.path("t"), migrations: [there])
    #expect(
      try store.read { reads in try reads.rows("SELECT id, b FROM t").map(\.values) } == [
        [.integer(1), .integer(2)], [.integer(3), .integer(6)],
      ])
  }

  @Test func anIndexedColumnAndItsIndexAreDropped() throws {
    let desired = """
      CREATE TABLE List (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
      CREATE TABLE Todo (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (title <> ''),
        size INTEGER DEFAULT 1);
      CREATE TRIGGER shout AFTER INSERT ON Todo BEGIN UPDATE List SET name = upper(name); END;
      CREATE VIEW titles AS SELECT title FROM Todo;
      """
    let evolution = try evolution(to: desired)
    #expect(
      evolution.steps.map(\.changes) == [
        ["index by_list drop"], ["Todo.list drop", "Todo drop (list) REFERENCES List"],
      ])
    #expect(try run(evolution, to: desired) == ["7 'x' 4", "9 'y' NULL"])
  }

  @Test func aPossibleRenameIsAQuestionUntilItIsAnswered() throws {
    let desired = Self.base.replacing("size", with: "effort")
    let open = try evolution(to: desired)
    let rename = SchemaRename(table: "Todo", column: "size", newName: "effort")
    #expect(open.questions == [.init(dropped: "Todo.size", renames: [rename])])
    let dropping = try evolution(to: desired, dropping: ["Todo.size"])
    #expect(dropping.questions == [])
    #expect(try run(dropping, to: desired) == ["7 'x' 1 1", "9 'y' 2 1"])
    let renaming = try evolution(to: desired, renames: [rename])
    #expect(renaming.questions == [])
    #expect(
      renaming.steps.flatMap(\.statements) == [
        #"ALTER TABLE "Todo" RENAME COLUMN "size" TO "effort""#
      ])
    #expect(try run(renaming, to: desired) == ["7 'x' 1 4", "9 'y' 2 NULL"])
  }

  @Test func questionsAboutARenamedTableHaveItsOldName() throws {
    let (current, desired) = ("CREATE TABLE t (a)", "CREATE TABLE tt (aa)")
    let table = SchemaRename(table: "t", newName: "tt")
    let open = try evolution(to: desired, from: current, renames: [table])
    let column = SchemaRename(table: "t", column: "a", newName: "aa")
    #expect(open.questions == [.init(dropped: "t.a", renames: [column])])
    let both = try evolution(to: desired, from: current, renames: [table, column])
    #expect(both.questions == [] && both.steps.allSatisfy(\.losses.isEmpty))
    let dropping = try evolution(
      to: desired, from: current, renames: [table], dropping: ["T.a"])
    #expect(dropping.questions == [])
    #expect(dropping.steps.flatMap(\.losses) == [.column("a", of: "tt")])
  }

  @Test(arguments: ["zz", "Todo.zz", "title", "titles"])
  func dropsOfNothingAreRefused(_ name: String) throws {
    let error = #expect(throws: StoreError.self) {
      try evolution(to: Self.base, dropping: ["Todo", name])
    }
    #expect(error?.message == "There is no table or column \(name) to drop.")
  }

  @Test func aTableIsRenamedWithAColumn() throws {
    let desired = Self.base.replacing("List", with: "Folder").replacing("name", with: "label")
    let open = try evolution(to: desired)
    #expect(open.questions.map(\.dropped) == [])
    let evolution = try evolution(
      to: desired,
      renames: [
        SchemaRename(table: "List", newName: "Folder"),
        SchemaRename(table: "List", column: "name", newName: "label"),
      ])
    #expect(evolution.steps.map(\.isRebuild) == [false, false])
    #expect(try run(evolution, to: desired) == ["7 'x' 1 4", "9 'y' 2 NULL"])
  }

  @Test func objectsAreDroppedBeforeAndCreatedAfterTables() throws {
    let desired = Self.base
      .replacing("SELECT title FROM Todo", with: "SELECT title, due FROM Todo")
      .replacing("DEFAULT 1)", with: "DEFAULT 1, due TEXT)")
      .replacing("CREATE INDEX by_list ON Todo (list)", with: "CREATE INDEX by_due ON Todo (due)")
    let evolution = try evolution(to: desired)
    #expect(
      evolution.steps.flatMap(\.changes) == [
        "view titles drop", "index by_list drop", "Todo.due add", "index by_due create",
        "view titles create",
      ])
    #expect(try run(evolution, to: desired) == ["7 'x' 1 4 NULL", "9 'y' 2 NULL NULL"])
  }

  @Test func tablesComeAndGo() throws {
    let desired = Self.base + "CREATE TABLE Tag (id INTEGER PRIMARY KEY) STRICT, WITHOUT ROWID;"
    #expect(
      try evolution(to: desired).reverse?.flatMap(\.losses) == [.table("Tag")])
    #expect(try run(evolution(to: desired), to: desired).count == 2)
  }

  @Test(arguments: [
    ("size INTEGER DEFAULT 1, day TEXT DEFAULT CURRENT_TIMESTAMP)", true),
    ("size INTEGER DEFAULT 1, code TEXT UNIQUE)", true),
    ("size INTEGER DEFAULT 1, half AS (size / 2) STORED)", true),
    ("size INTEGER DEFAULT 1, half AS (size / 2))", false),
    ("size INTEGER DEFAULT 1, other INTEGER REFERENCES List (id))", false),
    ("size INTEGER DEFAULT 1, other INTEGER DEFAULT 1 REFERENCES List (id))", true),
    ("size INTEGER DEFAULT 1, rest TEXT CHECK (rest <> title))", false),
    ("size TEXT DEFAULT 1)", true),
    ("size INTEGER DEFAULT 1, UNIQUE (title, list))", true),
    ("size INTEGER DEFAULT 1) STRICT", true),
  ])
  func whatSQLiteCannotAddInPlaceIsCopied(_ end: String, isRebuild: Bool) throws {
    let desired = Self.base.replacing("size INTEGER DEFAULT 1)", with: end)
    let evolution = try evolution(to: desired)
    #expect(evolution.steps.map(\.isRebuild) == [isRebuild], "\(evolution.steps)")
    #expect(try run(evolution, to: desired).count == 2)
  }

  @Test func aColumnThatMustHaveAValueIsAWarning() throws {
    let desired = Self.base.replacing("DEFAULT 1)", with: "DEFAULT 1, code TEXT NOT NULL)")
    let evolution = try evolution(to: desired)
    #expect(evolution.steps.flatMap(\.warnings).count == 1)
    #expect(throws: StoreError.self) { try run(evolution, to: desired) }
  }

  @Test func theHighestKeyIsKept() throws {
    let old = "CREATE TABLE T (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT);"
    let new = "CREATE TABLE T (id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER);"
    let evolution = try evolution(to: new, from: old)
    let files = try MigratedFiles()
    let database = try PlainDatabase(files.path("t"))
    try database.execute(
      "\(old) INSERT INTO T (id) VALUES (1), (9); DELETE FROM T; "
        + evolution.steps.flatMap(\.statements).script)
    #expect(
      try database.rows("SELECT name, seq FROM sqlite_sequence") == [[.text("T"), .integer(9)]])
  }

  private struct Pair: CustomTestStringConvertible, Sendable {
    let old: String
    let new: String
    let change: String

    init(_ old: String, _ new: String, _ change: String = "") {
      self.old = "CREATE TABLE T (\(old));"
      self.new = "CREATE TABLE T (\(new));"
      self.change = change
    }

    var testDescription: String { "\(old) \(new)" }
  }

  @Test(arguments: [
    Pair("a TEXT PRIMARY KEY", "a TEXT PRIMARY KEY DESC", "T PRIMARY KEY (a DESC)"),
    Pair("id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY DESC", "T PRIMARY KEY (id DESC)"),
    Pair(
      "a TEXT, PRIMARY KEY (a)", "a TEXT, PRIMARY KEY (a COLLATE NOCASE)",
      "T PRIMARY KEY (a COLLATE NOCASE)"),
    Pair("a TEXT UNIQUE", "a TEXT, UNIQUE (a DESC)", "T change"),
    Pair("a TEXT UNIQUE", "a TEXT UNIQUE ON CONFLICT IGNORE", "T change"),
    Pair("a TEXT NOT NULL", "a TEXT NOT NULL ON CONFLICT REPLACE", "T change"),
    Pair(
      "a INT REFERENCES T", "a INT REFERENCES T DEFERRABLE INITIALLY DEFERRED", "T change"),
    Pair("a TEXT DEFAULT null", #"a TEXT DEFAULT "null""#, #"T.a DEFAULT "null""#),
    Pair(
      #""a + b" INT, a INT, b INT, CHECK ("a + b" > 0)"#,
      #""a + b" INT, a INT, b INT, CHECK (a + b > 0)"#, "T CHECK (a + b > 0)"),
  ])
  private func everyClauseCounts(_ pair: Pair) throws {
    let evolution = try evolution(to: pair.new, from: pair.old)
    #expect(evolution.steps.map(\.isRebuild) == [true])
    #expect(evolution.steps.first?.changes.first == pair.change)
    #expect(try differences(pair).count == 1)
  }

  @Test(arguments: [
    Pair("a TEXT DEFAULT abc", "a TEXT DEFAULT 'abc'"),
    Pair("a TEXT", "a TEXT DEFAULT NULL"),
    Pair("a INT CHECK (a > 0)", #"a INT CHECK ("t".a > 0)"#),
    Pair("a TEXT UNIQUE", "a TEXT, UNIQUE (A)"),
  ])
  private func spellingDoesNotCount(_ pair: Pair) throws {
    #expect(try evolution(to: pair.new, from: pair.old).steps == [])
    #expect(try differences(pair) == [])
  }

  /// The differences between two files.
  private func differences(_ pair: Pair) throws -> [String] {
    let files = try MigratedFiles()
    for (name, text) in [("old", pair.old), ("new", pair.new)] {
      try PlainDatabase(files.path(name)).execute("PRAGMA journal_mode = WAL; \(text)")
    }
    return try Store(at: files.path("old")).schemaDifferences(from: Store(at: files.path("new")))
  }

  @Test func lettersOfATableDoNotCount() throws {
    let old = "CREATE TABLE T (a INT); CREATE TABLE U (b INT);"
    let evolution = try evolution(
      to: "CREATE TABLE t (a TEXT); CREATE TABLE u (B INT);", from: old)
    #expect(evolution.steps.map(\.changes) == [["t.a INT -> TEXT"]])
  }

  @Test func aCheckThatNamesItsTableSurvivesARebuild() throws {
    let old = "CREATE TABLE T (a INT, b INT, CHECK (T.a <> T.b));"
    let new = "CREATE TABLE T (a TEXT, b INT, CHECK (T.a <> T.b));"
    let statements = try evolution(to: new, from: old).steps.flatMap(\.statements)
    let files = try MigratedFiles()
    let database = try PlainDatabase(files.path("t"))
    try database.execute("\(old) INSERT INTO T VALUES (1, 2); \(statements.script)")
    #expect(try database.rows("SELECT a, b FROM T") == [[.text("1"), .integer(2)]])
    #expect(throws: (any Error).self) { try database.execute("INSERT INTO T VALUES ('x', 'x')") }
  }

  @Test func aTableWithTheNameOfTheCopyStays() throws {
    let others = "CREATE TABLE new_T (x); CREATE INDEX new_T_2 ON new_T (x);"
    let old = "CREATE TABLE T (a INT); \(others)"
    let new = "CREATE TABLE T (a TEXT); \(others)"
    let statements = try evolution(to: new, from: old).steps.flatMap(\.statements)
    let files = try MigratedFiles()
    let database = try PlainDatabase(files.path("t"))
    try database.execute(
      "\(old) INSERT INTO T VALUES (1); INSERT INTO new_T VALUES (5); \(statements.script)")
    #expect(try database.rows("SELECT a, x FROM T, new_T") == [[.text("1"), .integer(5)]])
  }

  @Test func equalSchemasNeedNothing() throws {
    let spelled = Self.base.replacing("INTEGER", with: "integer").replacing(
      "size", with: "\"size\"")
    #expect(try evolution(to: spelled).steps == [])
  }

  @Test func aSnapshotIsAScriptThatMakesTheSameSchema() throws {
    let snapshot = try SchemaSnapshot(script: Self.base)
    let again = try SchemaSnapshot(script: snapshot.script)
    #expect(again.script == snapshot.script)
    #expect(again.namesOfDifferences(from: snapshot) == [])
    #expect(
      snapshot.script.split(separator: "\n").filter { $0.hasPrefix("CREATE") }
        .map { $0.split(separator: " ")[2] } == ["List", "Todo", "by_list", "shout", "titles"])
  }

  @Test(arguments: ["Todo.nothing=x", "Nothing=x"])
  func aRenameOfNothingIsRefused(_ text: String) throws {
    let rename = try #require(SchemaRename(text))
    #expect(throws: StoreError.self) { try evolution(to: Self.base, renames: [rename]) }
  }

  @Test(arguments: ["Todo", "Todo.a.b=c", "=x", "Todo=", "Todo.=x", "Todo.a=b.c", "a=b=c"])
  func otherTextsAreNoRenames(_ text: String) {
    #expect(SchemaRename(text) == nil)
  }
}

extension [String] {
  fileprivate var script: String { map { $0 + ";" }.joined(separator: "\n") }
}
