internal import Testing

@testable internal import ModelStore

/// One adopted table, what another program does to it, and what is then reported about the model.
struct AdoptedModelCase: Sendable, CustomTestStringConvertible {
  let name: String
  let change: String
  /// Subject, name, reason and sentence of each difference.
  let expected: [String]
  /// Whether the model leaves.
  var isGone = false

  var testDescription: String { name }
}

/// Adopted models beside their tables: values compared, no store.
@Suite(.tags(.unit)) struct AdoptedModelTests {
  private static let tables = """
    CREATE TABLE P (id INTEGER PRIMARY KEY);
    CREATE TABLE T (
      id INTEGER PRIMARY KEY, n NVARCHAR(10) NOT NULL DEFAULT 'x', p INTEGER REFERENCES P,
      at DATETIME, flag INTEGER, UNIQUE (n, p));
    """

  /// What replaces T by a table with these columns.
  private static func rebuilt(_ columns: String, _ options: String = "") -> String {
    "DROP TABLE T; CREATE TABLE T (\(columns)) \(options)"
  }

  private static let columns = """
    id INTEGER PRIMARY KEY, n NVARCHAR(10) NOT NULL DEFAULT 'x', p INTEGER REFERENCES P, \
    at DATETIME, flag INTEGER, UNIQUE (n, p)
    """

  static let cases = [
    AdoptedModelCase(name: "unchanged", change: "CREATE INDEX i ON T (at)", expected: []),
    AdoptedModelCase(name: "recreated", change: rebuilt(columns), expected: []),
    AdoptedModelCase(
      name: "a new column", change: "ALTER TABLE T ADD COLUMN more TEXT",
      expected: ["column more unexpected: The column more is new."]),
    AdoptedModelCase(
      name: "a renamed column", change: "ALTER TABLE T RENAME COLUMN at TO time",
      expected: [
        "column at missing: The column at is gone.",
        "column time unexpected: The column time is new.",
      ]),
    AdoptedModelCase(
      name: "a column in other letters", change: "ALTER TABLE T RENAME COLUMN at TO At",
      expected: ["column At changed: The column At is spelled At now."]),
    AdoptedModelCase(
      name: "a dropped column", change: "ALTER TABLE T DROP COLUMN at",
      expected: ["column at missing: The column at is gone."]),
    AdoptedModelCase(
      name: "columns that are different",
      change: rebuilt(
        """
        id INTEGER PRIMARY KEY, n TEXT COLLATE NOCASE UNIQUE, p INTEGER NOT NULL CHECK (p > 0), \
        at DATETIME, flag INTEGER AS (p + 1)
        """),
      expected: [
        """
        column n changed: The column n is declared TEXT, accepts NULL, has no default, compares as \
        NOCASE, is unique now.
        """,
        """
        column p changed: The column p is NOT NULL, refers to no table, has other CHECK \
        constraints now.
        """,
        "column flag changed: The column flag is computed (virtual) now.",
        "table T changed: Other columns of T are unique together now.",
      ]),
    AdoptedModelCase(
      name: "another order",
      change: rebuilt(
        """
        id INTEGER PRIMARY KEY, p INTEGER REFERENCES P, n NVARCHAR(10) NOT NULL DEFAULT 'x', \
        at DATETIME, flag INTEGER, UNIQUE (n, p)
        """),
      expected: ["table T changed: The columns are in another order."]),
    AdoptedModelCase(
      name: "another key",
      change: rebuilt(
        """
        id INTEGER, n NVARCHAR(10) NOT NULL DEFAULT 'x', p INTEGER REFERENCES P, at DATETIME, \
        flag INTEGER, UNIQUE (n, p), PRIMARY KEY (id, flag)
        """, "WITHOUT ROWID"),
      expected: [
        "column id changed: The column id is not SQLite's row number now.",
        "column flag changed: The column flag is NOT NULL now.",
        "table T changed: The key of T is (id, flag) now.",
        "table T changed: T is WITHOUT ROWID now.",
      ]),
    AdoptedModelCase(
      name: "a unique index and a CHECK",
      change: "CREATE UNIQUE INDEX u ON T (at);" + "DROP TABLE P; CREATE TABLE P (id INTEGER "
        + "PRIMARY KEY)",
      expected: ["table T changed: Other columns of T are unique together now."]),
    AdoptedModelCase(
      name: "no key", change: rebuilt("id INTEGER, n NVARCHAR(10)"),
      expected: [
        """
        table T changed: T has no primary key, and no UNIQUE constraint over columns that are NOT \
        NULL. Add a unique index over such columns, then adopt the table.
        """
      ], isGone: true),
    AdoptedModelCase(
      name: "dropped", change: "DROP TABLE T",
      expected: ["table T missing: The table T is gone."], isGone: true),
    AdoptedModelCase(
      name: "renamed", change: "ALTER TABLE T RENAME TO U",
      expected: ["table T missing: The table T is gone."], isGone: true),
    AdoptedModelCase(
      name: "renamed with its triggers",
      change: """
        CREATE TRIGGER _ms_journal_T_insert AFTER INSERT ON T BEGIN SELECT 1; END;
        ALTER TABLE T RENAME TO U
        """,
      expected: ["table T missing: The table T is called U now."], isGone: true),
    AdoptedModelCase(
      name: "a view", change: "DROP TABLE T; CREATE VIEW T AS SELECT 1 AS id, 2 AS other",
      expected: [
        "table T changed: T is a view now.", "column n missing: The column n is gone.",
        "column p missing: The column p is gone.", "column at missing: The column at is gone.",
        "column flag missing: The column flag is gone.",
        "column other unexpected: The column other is new.",
      ]),
    AdoptedModelCase(
      name: "a virtual table", change: "DROP TABLE T; CREATE VIRTUAL TABLE T USING fts5(n)",
      expected: ["table T changed: T is a virtual table: its changes cannot be observed."],
      isGone: true),
  ]

  /// The model T of `file`, adopted in its first state and compared in its second one.
  private static func compared(
    _ change: String, retyping: (inout ModelSchema) -> Void = { _ in }
  ) throws -> (model: AdoptedModel, fresh: ModelSchema?) {
    let file = try SchemaTestFile(tables)
    let connection = try file.connect()
    func adopted() throws -> ModelSchema? {
      try Adoption(catalog: Catalog(reading: connection)).tables(on: connection)
        .first { $0.name == "T" }?.schema
    }
    var entry = try #require(try adopted())
    retyping(&entry)
    try connection.execute("PRAGMA foreign_keys = OFF; \(change)")
    let model = try #require(
      AdoptedModel.all([entry], in: try Catalog(reading: connection)).first)
    return (model, try adopted())
  }

  @Test(arguments: cases)
  func theDriftNamesWhatAnotherProgramChanged(_ example: AdoptedModelCase) throws {
    let (model, fresh) = try Self.compared(example.change)
    let lines = (model.drift?.differences ?? []).map {
      "\($0.subject.rawValue) \($0.name) \($0.reason.rawValue): \($0.sentence ?? "")"
    }
    #expect(lines == example.expected)
    #expect(model.drift?.owner == (lines.isEmpty ? nil : .model("T")))
    #expect(model.schema == fresh)
    #expect((model.schema == nil) == example.isGone)
  }

  private static func setFlag(_ type: FieldType, in model: inout ModelSchema) {
    for index in model.fields.indices where model.fields[index].name == "flag" {
      model.fields[index].type = type
    }
  }

  /// What the owner of the file says that a column means holds as long as the column can hold it.
  @Test(arguments: [
    ("ALTER TABLE T ADD COLUMN more TEXT", FieldType.boolean, ["more"]),
    ("DROP TABLE T; CREATE TABLE T (id INTEGER PRIMARY KEY, flag TINYINT)", .boolean, [String]()),
    ("DROP TABLE T; CREATE TABLE T (id INTEGER PRIMARY KEY, flag TEXT)", .text, ["flag"]),
  ])
  func aChosenTypeIsKept(change: String, type: FieldType, undecided: [String]) throws {
    let (model, _) = try Self.compared(change) { Self.setFlag(.boolean, in: &$0) }
    #expect(model.schema?.field(named: "flag")?.type == type)
    #expect(model.undecided.sorted() == undecided)
  }

  /// The declaration alone made the type, so another declaration makes another one.
  @Test func anInferredTypeFollowsTheDeclaration() throws {
    let (model, _) = try Self.compared(
      "DROP TABLE T; CREATE TABLE T (id INTEGER PRIMARY KEY, flag BOOLEAN)")
    #expect(model.schema?.field(named: "flag")?.type == .any)
    #expect(model.undecided == ["flag"])
  }

  @Test func aListWhoseTableChangedIsLost() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE L (id INTEGER PRIMARY KEY);
      CREATE TABLE E (id INTEGER PRIMARY KEY, l INTEGER, e INTEGER, pos INTEGER);
      """)
    let connection = try file.connect()
    let list = ListSchema(
      name: "parts", elementTable: "L", slotTable: "E",
      columns: .init(owner: "l", element: "e", position: "pos"))
    var catalog = try Catalog(reading: connection)
    var owner = try #require(
      try Adoption(catalog: catalog).tables(on: connection).first { $0.name == "L" }?.schema)
    owner.lists = [list]
    let entries = try [owner].withAdoptedSlots(in: { catalog }, beside: [])
    #expect(AdoptedModel.all(entries, in: catalog).map(\.schema) == entries)
    try connection.execute("ALTER TABLE E RENAME COLUMN pos TO place")
    catalog = try Catalog(reading: connection)
    let models = AdoptedModel.all(entries, in: catalog)
    owner.lists = []
    #expect(models.map(\.schema) == [owner, nil])
    #expect(models.map(\.lostLists) == [["parts"], []])
    #expect(
      models.map { $0.drift?.differences.map(\.sentence) } == [
        ["The list parts cannot be kept. L.parts cannot be a list. E has no column pos."],
        ["The table E cannot hold the slots of a list any more."],
      ])
  }
}
