import CSQLite
import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct AggregateBindingTests {
  typealias Aggregate = BindingSchema.Aggregate

  private static let functions = Aggregate.Function.allCases.filter { $0 != .joined }

  private static func models(
    isStrict: Bool = true, value: FieldType = .integer, isOptional: Bool = true
  ) -> [ModelSchema] {
    [
      ModelSchema(
        name: "P",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: true),
          FieldSchema(name: "result", type: .integer, isOptional: true),
          FieldSchema(name: "mean", type: .real, isOptional: true),
        ], key: ["id"], isAdopted: !isStrict),
      ModelSchema(
        name: "C",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: true),
          FieldSchema(name: "p", type: .integer, isOptional: true),
          FieldSchema(name: "v", type: value, isOptional: isOptional),
          FieldSchema(name: "o", type: .integer, isOptional: true),
        ], key: ["id"], isAdopted: !isStrict),
    ]
  }

  private static let tables = """
    CREATE TABLE P (id INTEGER PRIMARY KEY, result INTEGER, mean REAL);
    CREATE TABLE C (id INTEGER PRIMARY KEY, p INTEGER, v INTEGER, o INTEGER);
    CREATE INDEX "C.p" ON C (p);
    """

  private static func binding(
    _ function: Aggregate.Function, condition: String? = nil
  ) -> BindingSchema {
    BindingSchema(
      target: .init(model: "P", field: function == .average ? "mean" : "result"),
      formula: .aggregate(
        Aggregate(
          function, model: "C", field: "v",
          order: function == .first || function == .last ? "o" : nil,
          match: [.init(source: "p", target: "id")], condition: condition)))
  }

  /// How many instructions `sql` takes, its triggers' included, and how many rows it scans.
  private func cost(_ sql: String, _ fixture: BindingFixture) throws -> (steps: Int32, scans: Int32)
  {
    try fixture.connection.withStatement(sql) { statement in
      try statement.run()
      return (
        sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_VM_STEP, 0),
        sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)
      )
    }
  }

  @Test(
    "a change costs the same among few records and among many", arguments: functions,
    [nil, "o > 0"])
  func cost(function: Aggregate.Function, condition: String?) throws {
    var costs: [[Int32]] = []
    for count in [20, 20_000] {
      let fixture = try BindingFixture(
        Self.tables + """
          INSERT INTO P (id) VALUES (1), (2);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
          INSERT INTO C SELECT i, 1, i % 10, i % 3 FROM n;
          """)
      try fixture.install([Self.binding(function, condition: condition)], in: Self.models())
      let changes = [
        "UPDATE C SET v = 100 WHERE id = 10", "UPDATE C SET v = -100 WHERE id = 11",
        "UPDATE C SET p = 2 WHERE id = 10", "UPDATE C SET o = 5 WHERE id = 13",
        "INSERT INTO C VALUES (1000000, 1, 500, 7)", "DELETE FROM C WHERE id = 11",
        "REPLACE INTO C VALUES (13, 2, 4, 1)",
      ]
      costs.append(
        try changes.map { sql in
          let cost = try cost(sql, fixture)
          #expect(cost.scans <= 4, "\(sql)")
          return cost.steps
        })
      #expect(
        try CompiledBindings([Self.binding(function, condition: condition)], in: Self.models())
          .findings(on: fixture.connection, maxKeyCount: 1) == [])
    }
    for (few, many) in zip(costs[0], costs[1]) {
      #expect(many <= few + few / 4, "\(costs)")
    }
  }

  /// Only the start of a trigger is left of an update that changes nothing of what follows.
  @Test func changesUnrelatedToABindingCostLittle() throws {
    let derived = BindingSchema(
      target: .init(model: "C", field: "o"), formula: .derive(sql: "v < 0"))
    func steps(_ bindings: [BindingSchema], isOptional: Bool = true) throws -> Int32 {
      let fixture = try BindingFixture(
        Self.tables
          + "INSERT INTO P (id) VALUES (1); INSERT INTO C (id, p, v, o) VALUES (1, 1, 1, 0);")
      try fixture.install(bindings, in: Self.models(isOptional: isOptional))
      return try cost("UPDATE C SET v = v + 1 WHERE id = 1", fixture).steps
    }
    let plain = try steps([])
    // What is never NULL counts whatever it holds: no trigger is started, which takes twenty.
    let countingAll = try steps([Self.binding(.count)], isOptional: false)
    #expect(countingAll <= plain + 1)
    let (counting, deriving) = (try steps([Self.binding(.count)]), try steps([derived]))
    #expect(counting <= plain + 60 && deriving <= plain + 30, "\(plain) \(counting) \(deriving)")
  }

  /// The target's trigger sees only targets that were written. The source's trigger must detect a
  /// target that a conflict clause or another trigger left unchanged.
  @Test(arguments: [Aggregate.Function.sum, .maximum, .last])
  func theStatementFailsIfATriggerIgnoresTheUpdateOfTheTarget(function: Aggregate.Function) throws {
    let fixture = try BindingFixture(
      Self.tables.replacing("result INTEGER", with: "result INTEGER CHECK (result < 50)") + """
        CREATE TRIGGER keep BEFORE UPDATE OF result ON P WHEN NEW.result > 100 BEGIN
          SELECT RAISE(IGNORE);
        END;
        INSERT INTO P (id) VALUES (1), (2);
        INSERT INTO C VALUES (1, 1, 10, 1), (3, 2, 20, 1);
        """)
    try fixture.install([Self.binding(function)], in: Self.models())
    func content() throws -> [String] {
      try fixture.rows("SELECT * FROM C") + fixture.rows("SELECT * FROM P")
    }
    let before = try content()
    #expect(before == ["1|1|10|1", "3|2|20|1", "1|10|NULL", "2|20|NULL"])
    for sql in [
      "INSERT OR IGNORE INTO C VALUES (2, 1, 60, 9)", "UPDATE OR IGNORE C SET v = 60 WHERE id = 1",
      "UPDATE OR IGNORE C SET p = 1, v = 60, o = 9 WHERE id = 3",
      "UPDATE C SET v = 200 WHERE id = 1", "INSERT INTO C VALUES (2, 1, 200, 9)",
    ] {
      #expect(
        try fixture.failure(of: sql)?.message
          == "The binding P.result cannot be kept: P.result does not take the value.", "\(sql)")
      #expect(try content() == before, "\(sql)")
    }
  }

  @Test func aSumThatIsTooLargeIsRefusedAndNothingDrifts() throws {
    let fixture = try BindingFixture(
      Self.tables
        + "INSERT INTO P (id) VALUES (1); INSERT INTO C VALUES (1, 1, 9223372036854775807, 1);")
    try fixture.install([Self.binding(.sum)], in: Self.models())
    for sql in [
      "INSERT INTO C VALUES (2, 1, 1, 1)", "INSERT OR IGNORE INTO C VALUES (2, 1, 1, 1)",
      "REPLACE INTO C VALUES (2, 1, 1, 1)",
    ] {
      #expect(
        try fixture.failure(of: sql)?.message
          == "The binding P.result cannot be kept: P.result does not take the value.")
    }
    try fixture.connection.execute("INSERT INTO C VALUES (2, 1, -1, 1)")
    #expect(try fixture.rows("SELECT result FROM P") == ["9223372036854775806"])
  }

  @Test func aSumRefusesValuesThatAreNotIntegersEvenInALooseTable() throws {
    let fixture = try BindingFixture(Self.tables + "INSERT INTO P (id) VALUES (1);")
    try fixture.install([Self.binding(.sum)], in: Self.models(isStrict: false))
    for value in ["'word'", "1.5", "x'00'"] {
      #expect(try fixture.failure(of: "INSERT INTO C VALUES (1, 1, \(value), 1)") != nil)
      #expect(try fixture.failure(of: "INSERT OR REPLACE INTO C VALUES (1, 1, \(value), 1)") != nil)
    }
    try fixture.connection.execute("INSERT INTO C VALUES (1, 1, '12', 1)")
    #expect(try fixture.rows("SELECT result FROM P") == ["12"])
  }

  @Test func withoutValuesASumIsZeroAndOtherAggregatesAreNull() throws {
    for function in Self.functions {
      let fixture = try BindingFixture(Self.tables)
      try fixture.install([Self.binding(function)], in: Self.models())
      try fixture.connection.execute(
        "INSERT INTO P (id) VALUES (1), (2); INSERT INTO C VALUES (1, 1, NULL, 1)")
      let field = function == .average ? "mean" : "result"
      let none = function == .sum || function == .count ? "0" : "NULL"
      #expect(try fixture.rows("SELECT \(field) FROM P") == [none, none], "\(function)")
    }
  }

  @Test func parentsCanComeAfterTheirRecordsAndGoBeforeThem() throws {
    let fixture = try BindingFixture(Self.tables)
    try fixture.install([Self.binding(.sum)], in: Self.models())
    try fixture.connection.execute(
      """
      INSERT INTO C VALUES (1, 1, 5, 1), (2, 1, 6, 1);
      INSERT INTO P (id) VALUES (1);
      DELETE FROM P;
      UPDATE C SET v = 7 WHERE id = 1;
      INSERT INTO P (id) VALUES (1);
      """)
    #expect(try fixture.rows("SELECT result FROM P") == ["13"])
  }

  @Test func droppingLeavesNothingBehind() throws {
    let fixture = try BindingFixture(Self.tables)
    for function in Aggregate.Function.allCases where function != .joined {
      try fixture.install([Self.binding(function)], in: Self.models())
      _ = try fixture.connection.inTransaction {
        try Reconciler(fixture.connection).dropBinding(Self.binding(function).name)
      }
      #expect(try InstalledObjects.ofBindings(in: fixture.connection).objects == [])
    }
  }

  @Test(arguments: [
    (
      Aggregate(.sum, model: "C", field: "v", match: [.init(source: "p", target: "id")]),
      "a running sum of real numbers accumulates rounding errors. Store C.v as a whole number of the smallest unit."
    ),
    (
      Aggregate(.minimum, model: "C", match: [.init(source: "p", target: "id")]),
      "minimum takes a field of C. Name it."
    ),
    (
      Aggregate(.count, model: "C", order: "o", match: [.init(source: "p", target: "id")]),
      "count does not use an order. Remove the order."
    ),
    (
      Aggregate(.count, model: "C", match: []),
      "the binding does not say which record of C belongs to one of P. Match their fields, or name the one record."
    ),
    (
      Aggregate(.count, model: "C", match: [.init(source: "p", target: "result")]),
      "P.result is not unique, so several records may belong to one. Make it unique."
    ),
    (
      Aggregate(.count, model: "C", match: [], place: [.integer(1), .integer(2)]),
      "the key of P has 1 value, none of them NULL; got 2."
    ),
    (
      Aggregate(.count, model: "C", match: [.init(source: "p", target: "id")], condition: "p = (1"),
      "the expression leaves a parenthesis open. Write one SQL expression over columns of C."
    ),
  ])
  func anUnsupportedAggregateIsRefusedWithAReason(
    aggregate: BindingSchema.Aggregate, reason: String
  ) {
    let binding = BindingSchema(
      target: .init(model: "P", field: "result"), formula: .aggregate(aggregate))
    let error = #expect(throws: StoreError.self) {
      try ResolvedBinding(binding, in: Self.models(value: .real))
    }
    #expect(error?.message == "The binding P.result cannot be kept: \(reason)")
  }
}
