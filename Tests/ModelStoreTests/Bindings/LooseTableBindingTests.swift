import Testing

@testable import ModelStore

/// Bindings of adopted tables, whose columns hold what their types do not say, and whose keys a
/// trigger may give.
@Suite(.tags(.unit)) struct LooseTableBindingTests {
  private static let tables = """
    CREATE TABLE P (id INTEGER PRIMARY KEY, days INTEGER, big INTEGER, total INTEGER);
    CREATE TABLE C (
      id INTEGER PRIMARY KEY, p INTEGER REFERENCES P (id), v INTEGER, day DATE,
      t TEXT COLLATE NOCASE, u INTEGER UNIQUE
    );
    INSERT INTO P (id) VALUES (1), (2), (3);
    INSERT INTO C VALUES
      (1, 1, 1.5, '2021-05-05', x'30', 1), (2, 1, 1, '2019-05-05', 'A', 2),
      (3, 2, 2, 2021, '0', 3), (4, 2, 'word', '2021', 'b', 4);
    """

  private static let conditions = [
    "days": "day >= '2020-01-01'", "big": "v > 1", "total": "t >= 'a'",
  ]

  private static func binding(_ target: String) -> BindingSchema {
    BindingSchema(
      target: .init(model: "P", field: target),
      formula: .aggregate(
        .init(
          target == "total" ? .sum : .count, model: "C", field: target == "total" ? "u" : nil,
          match: [.init(source: "p", target: "id")], condition: conditions[target])))
  }

  private static let bindings = ["days", "big", "total"].map(binding)

  private static let mistakes = """
    SELECT count(*) FROM P
    WHERE days IS NOT (SELECT count(*) FROM C WHERE p = P.id AND day >= '2020-01-01')
      OR big IS NOT (SELECT count(*) FROM C WHERE p = P.id AND v > 1)
      OR total IS NOT (SELECT coalesce(sum(u), 0) FROM C WHERE p = P.id AND t >= 'a');
    """

  private static let leftBehind = """
    SELECT (SELECT count(*) FROM "_ms_binding_P.days_written")
      + (SELECT count(*) FROM "_ms_binding_P.big_written")
      + (SELECT count(*) FROM "_ms_binding_P.total_written");
    """

  @Test(
    "conditions of totals compare like their columns, whatever values those hold",
    .enabled(if: Shell.isInstalled, Shell.reason),
    arguments: [
      "INSERT INTO C VALUES (10, 3, 1.5, '2021-05-05', x'30', 10)",
      "INSERT INTO C SELECT id + 20, 3, v, day, t, u + 20 FROM C",
      "UPDATE C SET v = 7, day = '2019-01-01', t = x'31'",
      "UPDATE C SET u = u + 100", "UPDATE C SET day = 2021 WHERE id = 1",
      "UPDATE C SET v = 'many', t = '0' WHERE id = 2", "UPDATE C SET v = 1.25, u = 9 WHERE id = 1",
      "UPDATE C SET p = 3", "UPDATE C SET p = NULL WHERE id = 1", "UPDATE C SET id = id + 50",
      "UPDATE C SET p = 3, t = 'B', day = NULL, v = x'00'", "DELETE FROM C WHERE id = 1",
      "DELETE FROM C", "REPLACE INTO C VALUES (1, 2, 1.5, '2022-01-01', x'30', 2)",
      "REPLACE INTO C VALUES (9, 3, 1, 5, 'A', 1)", "UPDATE OR REPLACE C SET u = 2 WHERE id = 1",
      "UPDATE OR REPLACE C SET id = 4 WHERE id = 1",
      "UPDATE OR IGNORE C SET u = 2, p = 3, v = 1.5",
      "INSERT INTO C (id, p) VALUES (1, 3) ON CONFLICT DO UPDATE SET p = 3, day = '2030'",
    ])
  func conditionsOfLooseColumns(sql: String) throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    for binding in Self.bindings { try world.store.add(FieldBinding(binding)) }
    let result = try Shell.run(
      "\(sql);\n\(Self.mistakes)\n\(Self.leftBehind)", on: world.directory.file("journal.store"))
    #expect(result == .init(output: ["0", "0"], errors: []))
    #expect(try world.store.bindingFindings() == [])
  }

  @Test func aSumOfALooseTableIsExactAtTheEdgeOf64Bits() throws {
    let world = try JournalWorld(Self.tables + "DELETE FROM C;", detail: nil)
    try world.store.add(FieldBinding(Self.binding("total")))
    try world.other.execute(
      """
      INSERT INTO C (id, p, t, u) VALUES (1, 1, 'a', 9000000000000000001);
      UPDATE C SET u = 9000000000000000003;
      """)
    #expect(
      try world.other.rows("SELECT total FROM P WHERE id = 1") == [
        [.integer(9_000_000_000_000_000_003)]
      ])
    #expect(try world.store.bindingFindings() == [])
  }

  @Test func onlyTablesWithoutStrictTypesNeedALookupTable() throws {
    func tables(isAdopted: Bool, condition: String) throws -> Int {
      let models = [
        ModelSchema(
          name: "P",
          fields: [
            FieldSchema(name: "id", type: .integer, isRowID: true),
            FieldSchema(name: "days", type: .integer, isOptional: true),
          ], key: ["id"]),
        ModelSchema(
          name: "C",
          fields: [
            FieldSchema(name: "id", type: .integer, isRowID: true),
            FieldSchema(name: "p", type: .integer, isOptional: true),
            FieldSchema(name: "day", type: .text, isOptional: true),
            FieldSchema(name: "bytes", type: .blob, isOptional: true),
            FieldSchema(name: "any", type: .any, declaredType: "ANY", isOptional: true),
          ], key: ["id"], isAdopted: isAdopted),
      ]
      var binding = Self.binding("days")
      guard case .aggregate(var aggregate) = binding.formula else { return 0 }
      aggregate.condition = condition
      binding.formula = .aggregate(aggregate)
      let installation = try CompiledBindings([binding], in: models)
      return installation.bindings.flatMap(\.storage).count { $0.kind == .table }
    }
    #expect(try tables(isAdopted: false, condition: "day > 'a'") == 2)
    #expect(try tables(isAdopted: true, condition: "day > 'a'") == 3)
    #expect(try tables(isAdopted: true, condition: "bytes IS NOT NULL AND any > 1") == 2)
  }

  // Keys that triggers give

  private static func bound(_ target: String, _ formula: BindingSchema.Formula) -> FieldBinding {
    let parts = target.split(separator: ".").map(String.init)
    return FieldBinding(
      BindingSchema(target: .init(model: parts[0], field: parts[1]), formula: formula))
  }

  @Test(
    "a record is repaired even if a trigger assigns its key",
    arguments: [
      "AFTER INSERT ON T WHEN NEW.id IS NULL BEGIN UPDATE T SET id = 'k' || rowid WHERE rowid = NEW.rowid; END",
      "AFTER INSERT ON T WHEN NEW.id NOT LIKE 'k%' BEGIN UPDATE T SET id = 'k' || id WHERE id = NEW.id; END",
    ], [true, false])
  func keysOfTriggers(trigger: String, isYounger: Bool) throws {
    let table = "CREATE TABLE T (id TEXT PRIMARY KEY, title TEXT, name TEXT, slug TEXT);"
    let giving = "CREATE TRIGGER give \(trigger);"
    let world = try JournalWorld(table + (isYounger ? "" : giving), detail: nil)
    try world.store.add(Self.bound("T.slug", .derive(sql: "lower(title)")))
    try world.store.add(
      Self.bound("T.name", .twoWay(.init(left: .init(model: "T", field: "title"), match: []))))
    if isYounger { try world.other.execute(giving) }
    let isNull = trigger.contains("IS NULL")
    let (first, second) = isNull ? ("NULL", "NULL") : ("1", "2")
    try world.other.execute(
      """
      INSERT INTO T (id, title) VALUES (\(first), 'Abc');
      INSERT INTO T (id, name) VALUES (\(second), 'Xyz');
      """)
    #expect(
      try world.other.rows("SELECT id, title, name, slug FROM T ORDER BY id") == [
        [.text("k1"), .text("Abc"), .text("Abc"), .text("abc")],
        [.text("k2"), .text("Xyz"), .text("Xyz"), .text("xyz")],
      ])
    #expect(try world.store.bindingFindings() == [])
  }

  @Test(arguments: [true, false])
  func pairsAgreeThoughATriggerGivesTheKey(isYounger: Bool) throws {
    let giving = """
      CREATE TRIGGER give AFTER INSERT ON L WHEN NEW.id IS NULL BEGIN
        UPDATE L SET id = 'k' || rowid WHERE rowid = NEW.rowid;
      END;
      """
    let world = try JournalWorld(
      """
      CREATE TABLE L (id TEXT PRIMARY KEY, code TEXT UNIQUE, v TEXT);
      CREATE TABLE R (id INTEGER PRIMARY KEY, code TEXT UNIQUE, w TEXT);
      INSERT INTO R VALUES (1, 'a', 'mine');
      """ + (isYounger ? "" : giving), detail: nil)
    try world.store.add(
      Self.bound(
        "R.w",
        .twoWay(
          .init(
            left: .init(model: "L", field: "v"),
            match: [.init(source: "code", target: "code")]))))
    if isYounger { try world.other.execute(giving) }
    try world.other.execute("INSERT INTO L (code) VALUES ('a')")
    #expect(
      try world.other.rows("SELECT L.id, v, w FROM L JOIN R USING (code)")
        == [[.text("k1"), .text("mine"), .text("mine")]])
    #expect(try world.store.bindingFindings() == [])
  }
}
