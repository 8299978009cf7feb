import Testing

@testable import ModelStore

/// Columns whose declarations leave open what their values mean: the stored values decide.
@Suite(.tags(.unit)) struct TypeDecisionTests {
  /// Each decision of the table `t` as one line.
  private func decisions(_ script: String) throws -> [String] {
    let file = try SchemaTestFile(script)
    let store = try Store(at: file.path)
    let table = try #require(try store.adoptableTables().first { $0.name == "t" })
    let schema = try #require(table.schema)
    for decision in table.decisions {
      let field = schema.field(named: decision.field)
      #expect(field?.type == decision.type && field?.form == decision.form)
    }
    #expect(try store.adopt(["t"]) == [schema])
    #expect(try store.checkIntegrity() == [])
    return table.decisions.map(Self.line)
  }

  private static func line(_ decision: TypeDecision) -> String {
    let declared = decision.declaredType.isEmpty ? "-" : decision.declaredType
    let form = decision.form.map { " \($0.rawValue)" } ?? ""
    let misfits = decision.misfitCount > 0 ? ", \(decision.misfitCount) misfits" : ""
    return "\(decision.field) \(declared): \(decision.type.rawValue)\(form), "
      + "\(decision.valueCount)\(decision.isComplete ? "" : " of more")\(misfits)"
  }

  @Test func storedValuesDecideWhatDeclarationsLeaveOpen() throws {
    let found = try decisions(
      """
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, name NVARCHAR(20), small TINYINT, size DOUBLE PRECISION, raw BLOB,
        word STRING, is_active bool, flag BIT, level BOOLEAN, mixed BOOLEAN, price DECIMAL(10,2),
        cost MONEY, oops NUMERIC, born DATE, at DATETIME, seen TIMESTAMP, julian DATETIME,
        stamp TIMESTAMP WITH TIME ZONE, iso DATETIME, messy DATE, number DATE, uid UUID, upper GUID,
        config JSON, digest VARBINARY(16), clock TIME, year YEAR, a, b, c, d, e);
      INSERT INTO t VALUES
        (1, 'x', 1, 1, x'00', '007', 1, 0, 1, 1, 32.38, 5, 1, '2021-02-03', '2021-02-03 04:05:06',
          1600000000, 2459106.5, 1600000000250, '2021-02-03', '2021-02-03', 20210203,
          'c0ffee00-0000-4000-8000-00000000000a', 'C0FFEE00-0000-4000-8000-00000000000A',
          '{"a": 1}', x'00ff', '12:30', 2020, 1, 1.5, 'x', x'00', 1),
        (2, 'y', 2, 2.5, 'text', 'abc', 0, 1, 2, 'true', 7, NULL, 'oops', '2021-02-04',
          '2021-02-04 00:00:00', 1600000000.25, julianday('2020-01-01 12:34:56.789'), -5,
          '2021-02-03T04:05:06Z', '', 20210204, 'c0ffee00-0000-4000-8000-00000000000b', NULL,
          '[1]', NULL, '12:45', 2021, 2, 2.0, 'y', x'', 'z');
      """)
    #expect(
      found == [
        "is_active bool: boolean, 2", "flag BIT: boolean, 2",
        "level BOOLEAN: integer, 2, 1 misfits", "mixed BOOLEAN: any, 2, 1 misfits",
        "price DECIMAL(10,2): real, 2", "cost MONEY: real, 1", "oops NUMERIC: any, 2, 1 misfits",
        "born DATE: date YYYY-MM-DD, 2", "at DATETIME: date YYYY-MM-DD HH:MM:SS, 2",
        "seen TIMESTAMP: date unix, 2", "julian DATETIME: date julian, 2",
        "stamp TIMESTAMP WITH TIME ZONE: date unixms, 2", "iso DATETIME: date ISO-8601, 2",
        "messy DATE: any, 2, 1 misfits", "number DATE: real, 2, 2 misfits",
        "uid UUID: uuid lowercase, 2", "upper GUID: uuid, 1", "config JSON: json, 2",
        "digest VARBINARY(16): blob, 1", "clock TIME: any, 2", "year YEAR: real, 2",
        "a -: integer, 2", "b -: real, 2", "c -: text, 2", "d -: blob, 2", "e -: any, 2",
      ])
  }

  @Test func withoutValuesTheDeclarationDecides() throws {
    let found = try decisions(
      """
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, a BOOLEAN, b DATE, c DATETIME, d NUMERIC, e UUID, f JSON, g BINARY,
        h YEAR, i);
      INSERT INTO t (id) VALUES (1);
      """)
    #expect(
      found == [
        "a BOOLEAN: boolean, 0", "b DATE: date ISO-8601, 0", "c DATETIME: date ISO-8601, 0",
        "d NUMERIC: real, 0", "e UUID: uuid anycase, 0",
        "f JSON: json, 0", "g BINARY: blob, 0", "h YEAR: any, 0", "i -: any, 0",
      ])
  }

  private static let patterns: [([String], String?)] = [
    (["2021-02-03T04:05"], "YYYY-MM-DDTHH:MM"),
    (["2021-02-03 04:05:06+00:00", "2021-02-03 00:00:00+00:00"], "YYYY-MM-DD HH:MM:SS+00:00"),
    (["2021-02-03T04:05:06.000Z", "2021-02-03T04:05:06.120Z"], "YYYY-MM-DDTHH:MM:SS.SSSZ"),
    (["2021-02-03 04:05:06", "2021-02-03 04:05:06.123450"], "YYYY-MM-DD HH:MM:SS[.SSSSSS]"),
    (["2021-02-03 04:05:06.1", "2021-02-03 04:05:06.25"], "YYYY-MM-DD HH:MM:SS.S*"),
    (["2021-02-03 04:05:06.10", "2021-02-03 04:05:06.1"], "ISO-8601"),
    (["2021-02-03 04:05:06", "2021-02-03T04:05:06"], "ISO-8601"),
    (["2021-02-03 04:05:06+02:00"], "ISO-8601"),
    (["2021-02-30"], nil),
  ]

  @Test(arguments: patterns)
  func thePatternOfDatesIsFound(texts: [String], form: String?) throws {
    let values = texts.enumerated().map { "(\($0), '\($1)')" }.joined(separator: ", ")
    let misfits = form == nil ? ", \(texts.count) misfits" : ""
    #expect(
      try decisions(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, d DATETIME); INSERT INTO t VALUES \(values)")
        == ["d DATETIME: \(form.map { "date \($0)" } ?? "any"), \(texts.count)\(misfits)"])
    // The form accepts each of them unchanged.
    let field = FieldSchema(
      name: "d", type: .date, form: form.flatMap { FieldForm(rawValue: $0) }, declaredType: "DATE")
    #expect(texts.allSatisfy { FieldText.fits(.text($0), field) } == (form != nil))
  }

  @Test(arguments: [
    (["C0FFEE00-0000-4000-8000-00000000000A"], "uuid"),
    (["c0ffee00-0000-4000-8000-00000000000a"], "uuid lowercase"),
    (["00000000-0000-4000-8000-000000000000"], "uuid lowercase"),
    (["00000000-0000-4000-8000-000000000000", "C0FFEE00-0000-4000-8000-00000000000A"], "uuid"),
    (
      ["c0ffee00-0000-4000-8000-00000000000a", "C0FFEE00-0000-4000-8000-00000000000A"],
      "uuid anycase"
    ),
    (["C0ffee00-0000-4000-8000-00000000000A"], "uuid anycase"),
  ])
  func theSpellingOfUUIDsIsFound(texts: [String], type: String) throws {
    let values = texts.enumerated().map { "(\($0), '\($1)')" }.joined(separator: ", ")
    #expect(
      try decisions(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, u UUID); INSERT INTO t VALUES \(values)")
        == ["u UUID: \(type), \(texts.count)"])
  }

  @Test(arguments: [
    ("t (id INTEGER PRIMARY KEY, b BOOL)", true), ("t (id PRIMARY KEY, b BOOL)", true),
    ("t (id INTEGER PRIMARY KEY, b BOOL) WITHOUT ROWID", false),
  ])
  func samplingStaysWithinABudgetAndReachesTheEndOfTheTable(table: String, readsEnd: Bool) throws {
    let found = try decisions(
      """
      CREATE TABLE \(table);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO t SELECT i, i % 2 FROM n;
      UPDATE t SET b = 'late' WHERE id = 20000;
      """)
    let expected =
      readsEnd
      ? "b BOOL: any, 10000 of more, 1 misfits" : "b BOOL: boolean, 10000 of more"
    #expect(found.last == expected)
  }

  @Test func rowsOfBothEndsAreCountedOnce() throws {
    let found = try decisions(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, b BOOL);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9500)
      INSERT INTO t SELECT i, i % 2 FROM n;
      """)
    #expect(found == ["b BOOL: boolean, 9500"])
  }

  @Test func strictTablesAndViewsAreNotRead() throws {
    #expect(
      try decisions("CREATE TABLE t (a ANY PRIMARY KEY, b ANY) STRICT; INSERT INTO t VALUES (1, 2)")
        == [])
    #expect(
      try decisions(
        """
        CREATE VIEW t (n, d) AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n
        """) == [])
  }

  @Test func anEntryWithoutFormsStaysAsItWasWritten() throws {
    let file = try SchemaTestFile(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, b BOOL); INSERT INTO t VALUES (1, 1)")
    // What an older library recorded: no form, and ANY for what is NUMERIC to SQLite.
    var old = try #require(try Store(at: file.path).adopt().first)
    old.fields[1].type = .any
    let text = try CatalogText.text(of: old)
    #expect(!text.contains("form"))
    try file.connect().run("UPDATE _ms_models SET definition = \(text)")
    #expect(try Store(at: file.path).schema.models == [old])
    let store = try Store(at: file.path)
    try store.adopt([], types: [TypeChoice(model: "t", field: "b", type: .boolean)])
    old.fields[1].type = .boolean
    #expect(try Store(at: file.path).schema.models == [old])
  }

  private static let misfits: [(String, FieldType, FieldForm?, String)] = [
    (
      "b", FieldType.boolean, nil,
      "t.b cannot be of the type boolean: 1 of its 2 values do not fit, the first of them 'yes'."
    ),
    ("n", .boolean, nil, "t.n is declared TEXT; SQLite would convert values of the type boolean"),
    ("d", .date, FieldForm.unixSeconds, "t.d cannot be of the type date (unix): 2 of its 2 values"),
    ("d", .uuid, .unixSeconds, "t.d: the form unix is not one of the type uuid."),
    ("gone", .any, nil, "t has no field gone."),
  ]

  @Test(arguments: misfits)
  func aChosenTypeThatDoesNotFitIsRefused(
    field: String, type: FieldType, form: FieldForm?, message: String
  ) throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, b BOOL, n TEXT, d DATE);
      INSERT INTO t VALUES (1, 1, 'x', '2021-02-03'), (2, 'yes', 'y', '2021-02-04');
      """)
    let store = try Store(at: file.path)
    let choice = TypeChoice(model: "t", field: field, type: type, form: form)
    let error = #expect(throws: StoreError.self) { try store.adopt(["t"], types: [choice]) }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    #expect(store.schema.models == [])
  }

  @Test func aChoiceTakesItsFormFromTheStoredValues() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, d INT, s VARCHAR(30));
      INSERT INTO t VALUES (1, 1600000000, '2021-02-03T04:05:06Z');
      """)
    let store = try Store(at: file.path)
    try store.adopt(
      ["t"],
      types: ["d", "s"].map { TypeChoice(model: "t", field: $0, type: .date) })
    let fields = try store.schema.model(named: "t").fields
    #expect(
      fields.map { "\($0.type.rawValue) \($0.form?.rawValue ?? "")" }
        == ["integer ", "date unix", "date YYYY-MM-DDTHH:MM:SSZ"])
    #expect(try store.checkIntegrity() == [])
  }

  /// Comparisons and orders follow the column's affinity, whatever its values mean.
  @Test func ordersAndLiveQueriesFollowTheColumn() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, p DECIMAL(5,2), u);
      INSERT INTO t VALUES (1, 10, 10), (2, 9.5, 9), (3, 2, 100);
      """)
    let store = try Store(at: file.path)
    try store.adopt()
    let model = try store.schema.model(named: "t")
    #expect(model.fields.map(\.affinity) == [.integer, .numeric, .blob])
    // Another program's values, which the types do not have.
    try store.write { tx in
      try tx.execute("INSERT INTO t VALUES (4, 'x', '10'), (5, x'00', x'10'), (6, NULL, 10.0)")
    }
    for (name, index) in [("p", 1), ("u", 2)] {
      let query = StoreQuery<DynamicRecord>(model, orderings: [QueryOrdering(fieldIndex: index)])
      let live = try store.liveQuery(query)
      let keys = try store.fetch(query).map(\.key)
      #expect(live.keys(in: 0..<live.count) == keys)
      let order = try file.connect().lines("SELECT id FROM t ORDER BY \(identifier: name), id")
      #expect(keys.map { $0.map(\.description).joined() } == order)
      try store.write { tx in
        try tx.update(model, key: [.integer(4)], set: [name: .text("y")])
      }
      #expect(try live.keys(in: 0..<live.count) == store.fetch(query).map(\.key))
    }
  }
}
