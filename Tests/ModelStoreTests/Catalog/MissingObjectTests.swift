internal import Testing

@testable internal import ModelStore

/// Tables that need collations and functions which only the program that made them registers.
@Suite(.tags(.unit)) struct MissingObjectTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("other.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE tag (
        tag TEXT NOT NULL PRIMARY KEY COLLATE nocase, usn INTEGER) WITHOUT ROWID;
      CREATE TABLE deck (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE nocase);
      CREATE UNIQUE INDEX deck_name ON deck (name);
      CREATE TABLE book (id INTEGER PRIMARY KEY, sort TEXT);
      CREATE TRIGGER book_sort AFTER INSERT ON book BEGIN
        UPDATE book SET sort = title_sort(NEW.sort) WHERE id = NEW.id;
      END;
      CREATE TABLE child (id INTEGER PRIMARY KEY, book INTEGER REFERENCES book);
      CREATE TABLE checked (id INTEGER PRIMARY KEY, a TEXT CHECK (upper(a) <> ''));
      INSERT INTO tag VALUES ('a', 1);
      INSERT INTO deck VALUES (1, 'x'), (2, 'y');
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(replace(sql, 'nocase', 'unicase'), 'upper', 'own');
      """)
  }

  private func store(
    _ access: StoreConfiguration.Access = .readWrite
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.access = access
    return try Store(at: path, configuration: configuration) { _ in }
  }

  private func refusal(_ body: () throws -> Void) throws -> StoreError? {
    #expect(throws: StoreError.self) { try body() }
  }

  @Test(
    arguments: [
      ("no such collation sequence: unicase", "the collation unicase"),
      ("no such function: f", "the function f"), ("unknown function: f()", "the function f"),
      ("no such module: own", "the virtual-table module own"),
      ("no such tokenizer: own", "the full-text tokenizer own"), ("no such table: t", nil),
    ] as [(String, String?)])
  func theMissingObjectIsReadFromSQLitesMessage(message: String, phrase: String?) {
    let error = SQLiteError(code: .error, message: message)
    #expect(MissingObject(error)?.phrase == phrase)
    #expect(error.isAboutMissingObject == (phrase != nil))
  }

  @Test func everyWayToReadNamesTheCollation() throws {
    let store = try store()
    let tag = try #require(try store.adopt(["tag"]).first)
    let ways: [() throws -> Void] = [
      { _ = try store.fetch(StoreQuery<DynamicRecord>(tag)) },
      { _ = try store.read { try $0.find(tag, key: [.text("a")]) } },
      { _ = try store.read { try $0.count(StoreQuery<DynamicRecord>(tag)) } },
      { _ = try store.findings(in: tag) },
      { _ = try store.liveQuery(StoreQuery<DynamicRecord>(tag)) },
      { try store.write { tx in _ = try tx.insert(["tag": .text("b")], into: tag) } },
    ]
    for way in ways {
      let error = try refusal(way)
      #expect(
        error?.code == .unsupportedSchema && error?.model == "tag", "\(String(describing: error))")
      #expect(
        error?.message.hasPrefix(
          "tag needs the collation unicase, which this program does not have.") == true)
    }
  }

  /// SQLite would count over the index of names, the smaller one.
  @Test func recordsAreCountedWithoutTheCollation() throws {
    let store = try store()
    let deck = try #require(try store.adopt(["deck"]).first)
    #expect(
      try store.read { try $0.count(StoreQuery<DynamicRecord>(deck), maxStepCount: 1000) } == 2)
    let named = StoreQuery<DynamicRecord>(deck, where: .sql("name = 'x'"))
    #expect(
      try refusal { _ = try store.read { try $0.count(named, maxStepCount: 1000) } }?.code
        == .unsupportedSchema)
  }

  @Test func adoptionWarnsOfMissingObjects() throws {
    let notes = Dictionary(
      uniqueKeysWithValues: try store(.readOnly).adoptableTables().map { ($0.name, $0.notes) })
    let reading =
      "needs the collation unicase, which this program does not have. Reading and writing its "
      + "records fails where SQLite needs it. Use the program that created the table."
    #expect(
      notes == [
        "tag": ["tag " + reading], "deck": ["deck " + reading], "child": [],
        "checked": [
          "Writing checked needs the function own, which this program does not have. Its records can "
            + "be read here; write them with the program that created the table."
        ],
        "book": [
          "Writing book needs the function title_sort, which this program does not have. Its records "
            + "can be read here; write them with the program that created the table."
        ],
      ])
  }

  @Test func theOtherTablesAreChecked() throws {
    try PlainDatabase(path).execute(
      "INSERT INTO child VALUES (4, 1), (5, 1), (7, 2), (8, 2), (9, 2), (10, 3)")
    let store = try store(.readOnly)
    var unchecked: [StoreError] = []
    let found = try store.checkIntegrity { unchecked.append($0) }
    #expect(found == ["6 rows of child refer to missing rows of book: 4, 5, 7, 8, 9, …."])
    #expect(
      unchecked.map(\.message)
        == ["deck", "tag"].map {
          "The table \($0) was not checked: no such collation sequence: unicase."
        })
    #expect(try store.checkIntegrity() == found + unchecked.map(\.message))
  }

  @Test func aMissingFunctionOfAStatementIsNotBlamedOnTheTable() throws {
    let store = try store()
    let child = try #require(try store.adopt(["child"]).first)
    let query = StoreQuery<DynamicRecord>(child, where: .sql("mine(id)"))
    #expect(try refusal { _ = try store.fetch(query) }?.code == .invalidQuery)
  }

  @Test func aSchemaOfANewerSQLiteIsNotDamage() throws {
    try PlainDatabase(path).execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE TABLE child (id INTEGER PRIMARY KEY) LATER OPTION'
        WHERE name = 'child';
      """)
    let error = try refusal { _ = try store(.readOnly) }
    #expect(error?.code == .unsupportedSchema, "\(String(describing: error))")
    #expect(error?.message.contains("cannot parse the file's schema") == true)
  }
}
