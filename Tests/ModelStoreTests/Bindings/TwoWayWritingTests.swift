import Testing

@testable import ModelStore

/// Which end of a two-way binding leads, by what was written.
@Suite(.tags(.unit)) struct TwoWayWritingTests {
  typealias TwoWay = BindingSchema.TwoWay

  private static func field(
    _ name: String, _ type: FieldType = .integer, declaredType: String? = nil,
    isUnique: Bool = false, defaultSQL: String? = nil, collation: Collation = .binary
  ) -> FieldSchema {
    FieldSchema(
      name: name, type: type, declaredType: declaredType, isOptional: name != "id",
      isUnique: isUnique, isRowID: name == "id", defaultSQL: defaultSQL, collation: collation)
  }

  // What an expression names in addition to the end

  private static let items = ModelSchema(
    name: "I", fields: [field("id"), field("price"), field("total"), field("rate")], key: ["id"])

  private static func total(_ policy: BindingConflict, when: String? = nil) -> BindingSchema {
    BindingSchema(
      target: .init(model: "I", field: "total"),
      formula: .twoWay(
        .init(
          left: .init(model: "I", field: "price"), match: [], forward: "price * rate",
          backward: "total / rate", conflict: policy)),
      condition: when)
  }

  /// The one record after `sql`, or as it was where that is refused.
  private func outcome(
    of sql: String, _ binding: BindingSchema, _ record: String = "1, 2, 6, 3"
  ) throws -> String {
    let fixture = try BindingFixture(
      """
      CREATE TABLE I (id INTEGER PRIMARY KEY, price INTEGER, total INTEGER, rate INTEGER);
      INSERT INTO I VALUES (\(record));
      """)
    try fixture.install([binding], in: [Self.items])
    let failure = try fixture.failure(of: "UPDATE I SET \(sql)")
    let findings = try CompiledBindings([binding], in: [Self.items])
      .findings(on: fixture.connection, maxKeyCount: 1)
    #expect(findings == [])
    if let failure {
      #expect(failure.message.hasSuffix("and its other end were given values that differ."))
    }
    return try fixture.rows("SELECT price, total, rate FROM I").joined()
      + (failure == nil ? "" : " refused")
  }

  @Test(arguments: [BindingConflict.leftWins, .rightWins, .abort])
  func theWrittenEndDecidesTheOther(policy: BindingConflict) throws {
    let binding = Self.total(policy)
    #expect(try outcome(of: "total = 100, rate = 10", binding) == "10|100|10")
    #expect(try outcome(of: "price = 5, rate = 5", binding) == "5|25|5")
    #expect(try outcome(of: "price = 5", binding) == "5|15|3")
    #expect(try outcome(of: "total = 12", binding) == "4|12|3")
    // No end was written, so there is no conflict.
    #expect(try outcome(of: "rate = 4", binding) == "2|8|4")
    #expect(try outcome(of: "rate = 10", binding, "1, NULL, 100, NULL") == "10|100|10")
    let both =
      switch policy {
      case .leftWins: "5|10|2"
      case .rightWins: "4|8|2"
      case .abort: "2|6|3 refused"
      }
    #expect(try outcome(of: "price = 5, total = 8, rate = 2", binding) == both)
  }

  /// Unlike in one record, where the left end would lead.
  @Test func inTwoRecordsTheWrittenEndDecidesTheOther() throws {
    let models = [
      ModelSchema(
        name: "L", fields: [Self.field("id"), Self.field("a"), Self.field("n")], key: ["id"]),
      ModelSchema(
        name: "R",
        fields: [
          Self.field("id"), Self.field("ref", isUnique: true), Self.field("b"), Self.field("m"),
        ], key: ["id"]),
    ]
    let fixture = try BindingFixture(
      """
      CREATE TABLE L (id INTEGER PRIMARY KEY, a INTEGER, n INTEGER);
      CREATE TABLE R (id INTEGER PRIMARY KEY, ref INTEGER UNIQUE, b INTEGER, m INTEGER);
      INSERT INTO L VALUES (1, 2, 3), (2, 2, 3);
      INSERT INTO R VALUES (1, 1, 6, 3), (2, 2, 6, 3);
      """)
    let binding = BindingSchema(
      target: .init(model: "R", field: "b"),
      formula: .twoWay(
        .init(
          left: .init(model: "L", field: "a"), match: [.init(source: "id", target: "ref")],
          forward: "a * n", backward: "b / m")))
    try fixture.install([binding], in: models)
    func pairs() throws -> [String] {
      try fixture.rows("SELECT a, b FROM L JOIN R ON ref = L.id ORDER BY L.id")
    }
    // One expression still gives the other end, so the pair is in sync.
    try fixture.connection.execute(
      "UPDATE L SET n = 5 WHERE id = 1; UPDATE R SET m = 2 WHERE id = 2")
    #expect(try pairs() == ["2|6", "2|6"])
    try fixture.connection.execute(
      "UPDATE R SET m = 2 WHERE id = 1; UPDATE L SET n = 5 WHERE id = 2")
    #expect(try pairs() == ["3|6", "2|10"])
  }

  @Test func aConditionThatWasTrueBeforeDoesNotSynchroniseTheEndsAgain() throws {
    let binding = Self.total(.abort, when: "rate > 0")
    #expect(try outcome(of: "rate = 4", binding) == "2|8|4")
    #expect(try outcome(of: "rate = 4", binding, "1, 2, 7, 0") == "2|7|0 refused")
    #expect(
      try outcome(of: "rate = 4", Self.total(.rightWins, when: "rate > 0"), "1, 2, 7, 0")
        == "1|7|4")
  }

  /// A DATE column has the affinity NUMERIC and keeps texts, of which CAST makes a year.
  @Test func aConditionOverADateThatWasTrueBeforeDoesNotSynchroniseTheEndsAgain() throws {
    let model = ModelSchema(
      name: "I",
      fields: [
        Self.field("id"), Self.field("day", .any, declaredType: "DATE"),
        Self.field("price", .real), Self.field("rate", .real), Self.field("total", .real),
      ], key: ["id"], isAdopted: true)
    let fixture = try BindingFixture(
      """
      CREATE TABLE I (id INTEGER PRIMARY KEY, day DATE, price REAL, rate REAL, total REAL);
      INSERT INTO I VALUES (1, '2021-05-05', 2, 3, 6);
      """)
    try fixture.install([Self.total(.abort, when: "day >= '2020-01-01'")], in: [model])
    #expect(try fixture.failure(of: "UPDATE I SET rate = 4") == nil)
    #expect(
      try fixture.rows(
        "SELECT CAST(price AS INTEGER), CAST(rate AS INTEGER), CAST(total AS INTEGER) FROM I")
        == ["2|4|8"])
  }

  // Defaults

  private static func pair(_ defaultSQL: String) -> (ModelSchema, BindingSchema) {
    let model = ModelSchema(
      name: "D",
      fields: [field("id"), field("l", .text, defaultSQL: defaultSQL), field("r", .text)],
      key: ["id"])
    let binding = BindingSchema(
      target: .init(model: "D", field: "r"),
      formula: .twoWay(.init(left: .init(model: "D", field: "l"), match: [])))
    return (model, binding)
  }

  @Test(arguments: [
    ("\"none\"", "'none'"), ("none", "'none'"), ("1 + 1", "'2'"), ("upper('x')", "'X'"),
    ("-5", "'-5'"), ("'it''s'", "'it''s'"),
  ])
  func anEndThatHoldsItsDefaultWasNotWritten(sql: String, value: String) throws {
    let (model, binding) = Self.pair(sql)
    let needsParentheses = sql.contains("+") || sql.contains("(")
    let fixture = try BindingFixture(
      """
      CREATE TABLE D (
        id INTEGER PRIMARY KEY, l TEXT DEFAULT \(needsParentheses ? "(\(sql))" : sql), r TEXT);
      """)
    try fixture.install([binding], in: [model])
    try fixture.connection.execute(
      "INSERT INTO D (id, r) VALUES (1, 'mine'); INSERT INTO D (id) VALUES (2)")
    #expect(
      try fixture.rows("SELECT l, r FROM D ORDER BY id")
        == ["'mine'|'mine'", "\(value)|\(value)"])
  }

  /// IS TRUE would take 5 for the default.
  @Test func aDefaultOfTrueIsRecognised() throws {
    let model = ModelSchema(
      name: "D",
      fields: [Self.field("id"), Self.field("l", defaultSQL: "TRUE"), Self.field("r")],
      key: ["id"])
    let binding = BindingSchema(
      target: .init(model: "D", field: "r"),
      formula: .twoWay(.init(left: .init(model: "D", field: "l"), match: [])))
    let fixture = try BindingFixture(
      "CREATE TABLE D (id INTEGER PRIMARY KEY, l INTEGER DEFAULT TRUE, r INTEGER)")
    try fixture.install([binding], in: [model])
    try fixture.connection.execute(
      "INSERT INTO D (id, l, r) VALUES (1, 5, 7); INSERT INTO D (id, r) VALUES (2, 7)")
    #expect(try fixture.rows("SELECT l, r FROM D ORDER BY id") == ["5|5", "7|7"])
  }

  @Test(arguments: ["CURRENT_TIMESTAMP", "random()", "datetime('now')"])
  func aDefaultThatDecidesNothingIsRefused(sql: String) {
    let (model, binding) = Self.pair(sql)
    let error = #expect(throws: StoreError.self) { try ResolvedBinding(binding, in: [model]) }
    #expect(
      error?.message
        == "The binding D.r cannot be kept: the default of D.l, which marks a field that was never written, is not the same for every record. Make it a number, a string, a blob or NULL."
    )
  }

  // Links and losses

  @Test func linksThatCompareByDifferentCollationsAreRefused() {
    let models = [
      ModelSchema(
        name: "L",
        fields: [
          Self.field("id"), Self.field("code", .text, isUnique: true, collation: .nocase),
          Self.field("v", .text),
        ], key: ["id"]),
      ModelSchema(
        name: "R",
        fields: [
          Self.field("id"), Self.field("code", .text, isUnique: true), Self.field("w", .text),
        ], key: ["id"]),
    ]
    let binding = BindingSchema(
      target: .init(model: "R", field: "w"),
      formula: .twoWay(
        .init(
          left: .init(model: "L", field: "v"), match: [.init(source: "code", target: "code")])))
    let error = #expect(throws: StoreError.self) { try ResolvedBinding(binding, in: models) }
    #expect(
      error?.message
        == "The binding R.w cannot be kept: L.code and R.code compare texts by different collations. Declare them alike."
    )
  }

  @Test(arguments: [
    ("DATE", FieldType.any, "l", "r", ["'2021-05-05'", "5", "x'3132'", "NULL", "1.5"], 0),
    ("INTEGER", .integer, "l", "r", ["'word'", "1.5", "'12'", "'1e2'", "7"], 0),
    ("INTEGER", .integer, "l / 2", "r * 2", ["4", "5", "6", "7", "NULL"], 2),
    ("TEXT", .text, "trim(l)", "r", ["' a'", "'b'", "NULL"], 1),
    ("REAL", .real, "l * 10", "r / 10", ["1.5", "2", "0.5"], 0),
  ])
  func aValueThatComesBackUnchangedIsNotALossyConversion(
    type: String, fieldType: FieldType, forward: String, backward: String, values: [String],
    count: Int
  ) throws {
    let model = ModelSchema(
      name: "D",
      fields: [
        Self.field("id"), Self.field("l", fieldType, declaredType: type),
        Self.field("r", fieldType, declaredType: type),
      ], key: ["id"], isAdopted: true)
    let binding = BindingSchema(
      target: .init(model: "D", field: "r"),
      formula: .twoWay(
        .init(
          left: .init(model: "D", field: "l"), match: [], forward: forward, backward: backward)))
    let rows = values.map { "(\($0))" }.joined(separator: ", ")
    let fixture = try BindingFixture(
      "CREATE TABLE D (id INTEGER PRIMARY KEY, l \(type), r \(type)); INSERT INTO D (l) VALUES \(rows);"
    )
    let installed = try CompiledBindings([binding], in: [model]).bindings
    #expect(try installed.map { try $0.lossyRecordCount(on: fixture.connection) } == [count])
  }
}
