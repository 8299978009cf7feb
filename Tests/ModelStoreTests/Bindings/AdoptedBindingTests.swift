import Testing

@testable import ModelStore

/// Bindings over tables of other designs: columns of any type, of any name, and indexes with
/// collations of their own.
@Suite(.tags(.unit)) struct AdoptedBindingTests {
  private static func count(where condition: String) -> FieldBinding {
    FieldBinding(
      BindingSchema(
        target: .init(model: "P", field: "n"),
        formula: .aggregate(
          .init(
            .count, model: "C", match: [.init(source: "p", target: "id")], condition: condition))))
  }

  private static func copy(matching names: [BindingSchema.Match], place: [SQLValue]? = nil)
    -> FieldBinding
  {
    FieldBinding(
      BindingSchema(
        target: .init(model: "T", field: "a"),
        formula: .lookup(
          .init(source: .init(model: "S", field: "v"), match: names, place: place))))
  }

  @Test(arguments: [
    ("NUMERIC", SQLValue.text("1")), ("INT", .text("1")), ("REAL", .text(" +1.0 ")),
    ("TEXT", .integer(1)), ("", .integer(1)), ("NUMERIC", .real(1)),
  ])
  func aBindingFollowsItsRecordHoweverTheKeyIsGiven(type: String, key: SQLValue) throws {
    let world = try JournalWorld(
      """
      CREATE TABLE S (k \(type) NOT NULL PRIMARY KEY, v TEXT);
      CREATE TABLE T (id INTEGER PRIMARY KEY, a TEXT);
      INSERT INTO S VALUES (1, 'first');
      INSERT INTO T (id) VALUES (1);
      """, detail: nil)
    try world.store.add(Self.copy(matching: [], place: [key]))
    var told: [[SQLValue]] = []
    for sql in ["UPDATE S SET v = 'later'", "DELETE FROM S", "INSERT INTO S VALUES (1, 'new')"] {
      try world.other.execute(sql)
      told += try world.other.rows("SELECT a FROM T")
    }
    #expect(told == [[.text("later")], [.null], [.text("new")]])
    #expect(try world.store.bindingFindings() == [])
  }

  /// A STRICT table's ANY keeps the text '1' beside the number.
  @Test func aKeyOfTypeAnyIsNotConverted() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE S (k ANY NOT NULL PRIMARY KEY, v TEXT) STRICT;
      CREATE TABLE T (id INTEGER PRIMARY KEY, a TEXT);
      INSERT INTO S VALUES (1, 'a number'), ('1', 'a text');
      INSERT INTO T (id) VALUES (1);
      """, detail: nil)
    try world.store.add(Self.copy(matching: [], place: [.text("1")]))
    try world.other.execute("UPDATE S SET v = 'later ' || v")
    #expect(try world.other.rows("SELECT a FROM T") == [[.text("later a text")]])
  }

  @Test func aTextThatIsNotANumberRemainsAKey() {
    let affinities: [ColumnAffinity] = [.numeric, .integer, .real]
    for affinity in affinities {
      for text in ["", "a", "0x10", "inf", "nan", "1 2", "1e", "--1"] {
        #expect(affinity.converting(.text(text)) == .text(text), "\(affinity) \(text)")
      }
      #expect(affinity.converting(.text("\t-7 ")) == .integer(-7))
      #expect(affinity.converting(.text("1e3")) == .real(1000))
      #expect(affinity.converting(.blob([49])) == .blob([49]))
    }
    #expect(ColumnAffinity.text.converting(.integer(-7)) == .text("-7"))
    #expect(ColumnAffinity.blob.converting(.text("1")) == .text("1"))
  }

  @Test func columnsMayBeNamedAsKeywords() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE C (
        id INTEGER PRIMARY KEY, p INTEGER REFERENCES P (id), "end" INTEGER, "null" INTEGER,
        "like" TEXT);
      INSERT INTO P (id) VALUES (1);
      """, detail: nil)
    try world.store.add(
      Self.count(
        where: """
          CASE WHEN "end" IS NOT NULL AND end > 5 THEN "null" IS NULL ELSE 0 END
          AND like NOT LIKE 'x%'
          """))
    try world.other.execute(
      """
      INSERT INTO C VALUES
        (1, 1, 9, NULL, 'a'), (2, 1, 9, 1, 'a'), (3, 1, 3, NULL, 'a'), (4, 1, 9, NULL, 'xa');
      """)
    #expect(try world.other.rows("SELECT n FROM P") == [[.integer(1)]])
    try world.other.execute("UPDATE C SET \"end\" = 8, \"null\" = NULL, \"like\" = 'b'")
    #expect(try world.other.rows("SELECT n FROM P") == [[.integer(4)]])
    #expect(try world.store.bindingFindings() == [])
  }

  @Test func keywordsAreNotReadAsColumns() throws {
    func names(_ sql: String) -> [String] { SQLExpression.columnNames(in: sql).sorted() }
    #expect(names("CASE WHEN a THEN b ELSE c END") == ["a", "b", "c"])
    #expect(names("CASE WHEN end > 1 THEN end END") == ["end"])
    #expect(names("a NOT LIKE b AND NOT glob") == ["a", "b", "glob"])
    #expect(names("a IS NOT NULL OR \"null\" ISNULL OR [not]") == ["a", "not", "null"])
    #expect(names("(a) MATCH 'x' AND lower(match) = 1") == ["a", "match"])
  }

  /// 'a' and 'A' are two records, and equal in a lookup by the column's collation.
  @Test func anIndexWithAFinerCollationDoesNotMakeItsColumnUnique() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE S (id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE NOT NULL, v TEXT);
      CREATE UNIQUE INDEX fine ON S (code COLLATE BINARY);
      CREATE TABLE T (id INTEGER PRIMARY KEY, code TEXT, a TEXT);
      INSERT INTO S VALUES (1, 'a', 'lower');
      INSERT INTO T (id, code) VALUES (1, 'A');
      """, detail: nil)
    let binding = Self.copy(matching: [.init(source: "code", target: "code")])
    let error = failure { try world.store.add(binding) }
    #expect(error?.code == .unsupportedSchema)
    #expect(
      error?.message == """
        The binding T.a cannot be kept: what makes S.code unique compares texts by another \
        collation than the table, so several records may belong to one. Add a unique index \
        without COLLATE.
        """)
    try world.other.execute("CREATE UNIQUE INDEX \"as declared\" ON S (code)")
    try world.store.add(binding)
    #expect(try world.other.rows("SELECT a FROM T") == [[.text("lower")]])
  }

  /// SQLite lets a PRIMARY KEY be NULL unless it says NOT NULL.
  @Test func aKeyThatIsNullIsNotCounted() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE C (id TEXT PRIMARY KEY, p INTEGER REFERENCES P (id));
      INSERT INTO P (id) VALUES (1);
      """, detail: nil)
    try world.store.add(
      FieldBinding(
        BindingSchema(
          target: .init(model: "P", field: "n"),
          formula: .aggregate(
            .init(
              .count, model: "C", field: "id", match: [.init(source: "p", target: "id")])))))
    try world.other.execute("INSERT INTO C VALUES ('x', 1), (NULL, 1)")
    #expect(try world.other.rows("SELECT n FROM P") == [[.integer(1)]])
    try world.other.execute("UPDATE C SET id = 'y' WHERE id IS NULL")
    #expect(try world.other.rows("SELECT n FROM P") == [[.integer(2)]])
    #expect(try world.store.bindingFindings() == [])
  }

  @Test func aNumberThatItsColumnCannotStoreIsReported() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE T (id INTEGER PRIMARY KEY, v INTEGER, r REAL);
      INSERT INTO T VALUES (1, 9007199254740993, NULL);
      """, detail: nil)
    let error = failure {
      try world.store.add(
        FieldBinding(
          BindingSchema(target: .init(model: "T", field: "r"), formula: .derive(sql: "v"))))
    }
    #expect(error?.code == .unsupportedSchema)
    #expect(error?.message.contains("the column cannot store it") == true)
  }

  /// P and T with a binding that copies a number from one to the other.
  private static func copiedNumbers() throws -> JournalWorld {
    let world = try JournalWorld(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, ts INTEGER);
      CREATE TABLE T (id INTEGER PRIMARY KEY, pid INTEGER REFERENCES P, pts INTEGER);
      INSERT INTO P VALUES (1, 1);
      INSERT INTO T VALUES (1, 1, 0);
      """, detail: nil)
    try world.store.add(
      FieldBinding(
        BindingSchema(
          target: .init(model: "T", field: "pts"),
          formula: .copy(source: .init(model: "P", field: "ts"), through: "pid"))))
    return world
  }

  /// Setting the type removed the binding without a word.
  @Test func aTypeThatABindingCannotUseIsRefused() throws {
    let world = try Self.copiedNumbers()
    let choice = TypeChoice(model: "T", field: "pts", type: .boolean)
    let message = """
      The binding T.pts cannot be kept: P.ts (integer, declared INTEGER) does not fit T.pts \
      (boolean, declared INTEGER). Declare them alike. Drop the binding T.pts first, or set the \
      types of all its fields together; nothing was changed.
      """
    let errors = [
      failure { try world.store.typeDecision(choice) },
      failure { try world.store.adopt([], types: [choice]) },
    ]
    #expect(errors.map { $0?.code } == [.unsupportedSchema, .unsupportedSchema])
    #expect(errors.map { $0?.message } == [message, message])
    #expect(try world.store.bindings().map(\.name) == ["T.pts"])
    #expect(try world.store.schema.model(named: "T").field(named: "pts")?.type == .integer)
  }

  @Test func bothEndsOfABindingChangeTypeTogether() throws {
    let world = try Self.copiedNumbers()
    let choices = [
      TypeChoice(model: "T", field: "pts", type: .boolean),
      TypeChoice(model: "P", field: "ts", type: .boolean),
    ]
    #expect(try world.store.typeDecisions(choices).map(\.type) == [.boolean, .boolean])
    try world.store.adopt([], types: choices)
    #expect(try world.store.bindings().map(\.name) == ["T.pts"])
    #expect(try world.store.bindingFindings() == [])
  }

  @Test func aCountStaysAWholeNumber() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE C (id INTEGER PRIMARY KEY, p INTEGER REFERENCES P, a INTEGER);
      """, detail: nil)
    try world.store.add(Self.count(where: "a > 0"))
    let choice = TypeChoice(model: "P", field: "n", type: .date, form: .unixSeconds)
    let error = failure { try world.store.adopt([], types: [choice]) }
    #expect(error?.code == .unsupportedSchema)
    #expect(try world.store.bindings().map(\.name) == ["P.n"])
  }
}
