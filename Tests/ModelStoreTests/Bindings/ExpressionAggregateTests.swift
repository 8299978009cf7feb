import CSQLite
import Foundation
import Testing

@testable import ModelStore

/// Sums and other aggregates of an expression over the columns of each record.
@Suite(.tags(.unit)) struct ExpressionAggregateTests {
  typealias Aggregate = BindingSchema.Aggregate

  private static func models(isStrict: Bool = true) -> [ModelSchema] {
    func field(_ name: String, _ type: FieldType, isOptional: Bool = true) -> FieldSchema {
      FieldSchema(
        name: name, type: type, isOptional: isOptional, isRowID: name == "id")
    }
    return [
      ModelSchema(
        name: "O",
        fields: [
          field("id", .integer, isOptional: false), field("whole", .integer),
          field("exact", .decimal), field("mean", .real),
        ], key: ["id"], isAdopted: !isStrict),
      ModelSchema(
        name: "L",
        fields: [
          field("id", .integer, isOptional: false), field("o", .integer),
          field("quantity", .integer), field("price", .decimal), field("cents", .integer),
          field("rate", .real), field("note", .text),
        ], key: ["id"], isAdopted: !isStrict),
    ]
  }

  private static func tables(isStrict: Bool = true) -> String {
    """
    CREATE TABLE O (id INTEGER PRIMARY KEY, whole INTEGER, exact TEXT, mean REAL)\
    \(isStrict ? " STRICT" : "");
    CREATE TABLE L (
      id INTEGER PRIMARY KEY, o INTEGER, quantity INTEGER, price TEXT, cents INTEGER, rate REAL,
      note TEXT
    )\(isStrict ? " STRICT" : "");
    CREATE INDEX "L.o" ON L (o);
    INSERT INTO O (id) VALUES (1), (2);
    """
  }

  private static func binding(
    _ function: Aggregate.Function, of expression: String, scale: Int? = nil,
    into target: String? = nil
  ) -> BindingSchema {
    let field = function == .average ? "mean" : scale == nil ? "whole" : "exact"
    return BindingSchema(
      target: .init(model: "O", field: target ?? field),
      formula: .aggregate(
        Aggregate(
          function, model: "L", expression: expression, scale: scale,
          match: [.init(source: "o", target: "id")])))
  }

  private func fixture(
    _ bindings: [BindingSchema], isStrict: Bool = true, _ rows: String = ""
  ) throws -> BindingFixture {
    let fixture = try BindingFixture(Self.tables(isStrict: isStrict) + rows)
    try fixture.install(bindings, in: Self.models(isStrict: isStrict))
    return fixture
  }

  private static func refusal(_ target: String) -> String {
    "The binding O.\(target) cannot be kept: O.\(target) does not take the value."
  }

  @Test("the sum of products of decimals is exact, where real numbers are not")
  func decimals() throws {
    let fixture = try fixture(
      [Self.binding(.sum, of: "quantity * price", scale: 2)],
      "INSERT INTO L (id, o, quantity, price) VALUES (1, 1, 3, '0.1'), (2, 1, 1, '0.2');")
    #expect(try fixture.rows("SELECT exact FROM O") == ["'0.5'", "'0'"])
    #expect(try fixture.rows("SELECT 3 * 0.1 = 0.3") == ["0"])
    try fixture.connection.execute("UPDATE L SET price = '-99999999999.99' WHERE id = 2")
    #expect(try fixture.rows("SELECT exact FROM O") == ["'-99999999999.69'", "'0'"])
    try fixture.connection.execute("UPDATE L SET o = 2, price = '0.05', quantity = 1")
    #expect(try fixture.rows("SELECT exact FROM O") == ["'0'", "'0.1'"])
    try fixture.connection.execute("UPDATE L SET price = NULL WHERE id = 1; DELETE FROM O")
    try fixture.connection.execute("INSERT INTO O (id) VALUES (2)")
    #expect(try fixture.rows("SELECT exact FROM O") == ["'0.05'"])
  }

  @Test(
    "sums, differences, products and numbers of several scales are computed exactly",
    arguments: [
      ("price", "12.5"), ("price * price", "156.25"), ("-price", "-12.5"),
      ("quantity - price", "-8.5"), ("price * 1.19", "14.875"), ("quantity", "4"),
      ("(price + cents) * (quantity - 0.001)", "77.9805"), ("price - price", "0"),
      ("price*-1*-(2)", "25"), ("\"price\" + [cents] + `quantity`", "23.5"),
    ])
  func arithmetic(expression: String, value: String) throws {
    let fixture = try fixture(
      [Self.binding(.sum, of: expression, scale: 3)],
      "INSERT INTO L (id, o, quantity, price, cents) VALUES (1, 1, 4, '12.5', 7);")
    #expect(try fixture.rows("SELECT exact FROM O WHERE id = 1") == ["'\(value)'"])
  }

  @Test(
    "a value that cannot be added exactly is refused, and nothing changes",
    arguments: [
      "'1.005'", "'word'", "''", "'1e3'", "'1.2.3'", "'--1'", "'1-2'", "'.5'", "'5.'", "' 5'",
      "'+5'", "'1' || char(0)", "'12345678901234567890'", "'99999999999999999'",
    ])
  func unfitDecimals(value: String) throws {
    let fixture = try fixture(
      [Self.binding(.sum, of: "quantity * price", scale: 2)],
      "INSERT INTO L (id, o, quantity, price) VALUES (1, 1, 2, '1.5');")
    for sql in [
      "UPDATE L SET price = \(value)", "UPDATE OR IGNORE L SET price = \(value)",
      "INSERT INTO L (id, o, quantity, price) VALUES (2, 1, 1, \(value))",
      "INSERT OR REPLACE INTO L (id, o, quantity, price) VALUES (1, 1, 1, \(value))",
    ] {
      #expect(try fixture.failure(of: sql)?.message == Self.refusal("exact"), "\(sql)")
    }
    // A record that counts for no target is free.
    try fixture.connection.execute("INSERT INTO L (id, price) VALUES (3, \(value))")
    #expect(try fixture.failure(of: "UPDATE L SET o = 2, quantity = 1 WHERE id = 3") != nil)
    #expect(try fixture.rows("SELECT exact FROM O") == ["'3'", "'0'"])
    #expect(try fixture.rows("SELECT id, price FROM L WHERE id < 3") == ["1|'1.5'"])
  }

  @Test("records that a sum cannot count make adding the binding fail", arguments: [true, false])
  func unfitRecords(isStrict: Bool) throws {
    let rows = "INSERT INTO L (id, o, quantity, price) VALUES (1, 1, 2, 'free');"
    #expect(throws: StoreError.self) {
      try fixture([Self.binding(.sum, of: "price", scale: 2)], isStrict: isStrict, rows)
    }
    guard !isStrict else { return }
    for value in ["'word'", "1.5", "x'00'"] {
      #expect(throws: StoreError.self) {
        try fixture(
          [Self.binding(.sum, of: "quantity * cents")], isStrict: false,
          "INSERT INTO L (id, o, quantity, cents) VALUES (1, 1, \(value), 3);")
      }
    }
  }

  @Test("products and sums beyond 64 bits are refused")
  func overflow() throws {
    let fixture = try fixture(
      [
        Self.binding(.sum, of: "quantity * cents"),
        Self.binding(.sum, of: "price * price", scale: 6),
      ])
    for row in ["4000000000, 4000000000, NULL", "1, 1, '99999.000001'"] {
      #expect(
        try fixture.failure(
          of: "INSERT INTO L (o, quantity, cents, price) VALUES (1, \(row))") != nil, "\(row)")
    }
    try fixture.connection.execute(
      "INSERT INTO L (id, o, quantity, cents) VALUES (1, 1, 3000000000, 3000000000)")
    #expect(
      try fixture.failure(
        of: "INSERT INTO L (o, quantity, cents) VALUES (1, 3000000000, 100000000)")?.message
        == Self.refusal("whole"))
    #expect(try fixture.rows("SELECT whole, exact FROM O") == ["9000000000000000000|'0'", "0|'0'"])
  }

  @Test("in an adopted table a whole number is what it says, whatever its column accepts")
  func looseValues() throws {
    let fixture = try fixture([Self.binding(.sum, of: "quantity * cents")], isStrict: false)
    for value in ["'word'", "1.5", "x'00'"] {
      let sql = "INSERT INTO L (o, quantity, cents) VALUES (1, \(value), 0)"
      #expect(try fixture.failure(of: sql)?.message == Self.refusal("whole"), "\(value)")
    }
    try fixture.connection.execute("INSERT INTO L (o, quantity, cents) VALUES (1, '12', 2)")
    #expect(try fixture.rows("SELECT whole FROM O") == ["24", "0"])
  }

  @Test("the mean of decimals is that of their exact sum")
  func mean() throws {
    let fixture = try fixture(
      [Self.binding(.average, of: "quantity * price", scale: 2)],
      """
      INSERT INTO L (o, quantity, price) VALUES (1, 1, '0.1'), (1, 1, '0.2'), (1, 3, '0.1'),
        (1, NULL, '7');
      """)
    #expect(try fixture.rows("SELECT mean FROM O") == ["0.2", "NULL"])
  }

  @Test("a change costs the same among few records and among many", arguments: [false, true])
  func cost(isOrdered: Bool) throws {
    var costs: [[Int32]] = []
    let bindings =
      isOrdered
      ? [Self.binding(.maximum, of: "quantity * cents")]
      : [Self.binding(.sum, of: "quantity * price", scale: 2)]
    for count in [20, 20_000] {
      let fixture = try fixture(
        bindings,
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO L (id, o, quantity, price, cents)
        SELECT i, 1, iif(i % 5, i % 10, NULL), '1.5', i % 3 FROM n;
        """)
      let changes = [
        "UPDATE L SET quantity = 100 WHERE id = 11", "UPDATE L SET price = '7.25' WHERE id = 11",
        "UPDATE L SET o = 2 WHERE id = 11", "INSERT INTO L (o, quantity) VALUES (1, 500)",
        "DELETE FROM L WHERE id = 11",
      ]
      costs.append(
        try changes.map { sql in
          try fixture.connection.withStatement(sql) { statement in
            try statement.run()
            return sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_VM_STEP, 0)
          }
        })
    }
    for (few, many) in zip(costs[0], costs[1]) {
      #expect(many <= few + few / 4 + 20, "\(costs)")
    }
  }

  @Test(
    "what cannot be exact is refused with the reason",
    arguments: [
      (
        binding(.sum, of: "quantity * rate"),
        "a running sum of real numbers accumulates rounding errors. Store L.rate as a whole number of the smallest unit, or convert it in the expression: CAST(round(price * 100) AS INTEGER)."
      ),
      (
        binding(.sum, of: "round(rate * 100)"),
        "a running sum of real numbers accumulates rounding errors. Store L.rate as a whole number of the smallest unit, or convert it in the expression: CAST(round(price * 100) AS INTEGER)."
      ),
      (
        binding(.sum, of: "quantity * price"),
        "L.price is a decimal, which is stored as text. Say with how many digits after the point it is computed: the scale."
      ),
      (
        binding(.sum, of: "quantity * 1.5"),
        "a number with a point makes each value a real number, whose sum accumulates rounding errors. Pass a scale, and bind a decimal."
      ),
      (binding(.sum, of: "quantity + note"), "L.note (text) is not a whole number."),
      (
        binding(.sum, of: "quantity * ifnull(price, 0)", scale: 2),
        "only sums, differences and products of fields and numbers can be computed exactly for decimals. Derive other values into a field first."
      ),
      (
        binding(.sum, of: "price * price * price", scale: 7),
        "its values have 21 digits after the point, and 64 bits hold 18. Pass a smaller scale."
      ),
      (binding(.sum, of: "price", scale: 19), "the scale is 0 to 18 digits; got 19."),
      (
        binding(.sum, of: "price", scale: 2, into: "whole"),
        "O.whole must be declared as a decimal."
      ),
      (binding(.sum, of: "cents", into: "exact"), "O.exact must be declared as an integer."),
      (
        binding(.maximum, of: "quantity * price"),
        "L.price is a decimal, and decimals cannot be ordered."
      ),
      (
        binding(.maximum, of: "quantity", scale: 2),
        "a scale goes with a sum or an average. Remove it."
      ),
      (binding(.count, of: "quantity"), "count takes no expression. Pass it as a condition."),
      (
        binding(.first, of: "quantity * 2"),
        "first takes a field, not an expression. Derive a field of L from it."
      ),
      (binding(.sum, of: "1"), "its expression names no column of L. Use count instead."),
    ])
  func refusals(binding: BindingSchema, reason: String) {
    let error = #expect(throws: StoreError.self) {
      try ResolvedBinding(binding, in: Self.models())
    }
    #expect(error?.message == "The binding \(binding.name) cannot be kept: \(reason)")
  }

  @Test("an expression that SQLite does not accept is refused when it is declared")
  func unknownColumns() {
    for expression in ["quantity * missing", "quantity * random()", "(SELECT 1) + quantity"] {
      #expect(throws: StoreError.self, "\(expression)") {
        try fixture([Self.binding(.sum, of: expression)])
      }
    }
  }

  @Test("a real number can be converted, and a comparison uses the columns' types")
  func conversions() throws {
    for isStrict in [true, false] {
      let fixture = try fixture(
        [
          Self.binding(.sum, of: "quantity * CAST(round(rate * 100) AS INTEGER)"),
          Self.binding(.average, of: "note > 5"),
        ], isStrict: isStrict)
      try fixture.connection.execute(
        """
        INSERT INTO L (id, o, quantity, rate, note) VALUES (1, 1, 3, 0.29, '10'), (2, 1, 1, 0.1, 'a');
        UPDATE L SET note = '6' WHERE id = 1;
        UPDATE L SET rate = 0.3 WHERE id = 1;
        """)
      // As texts '6' and 'a' are greater than '5'; '10' was not.
      #expect(try fixture.rows("SELECT whole, mean FROM O WHERE id = 1") == ["100|1.0"])
      let installation = try CompiledBindings(
        [
          Self.binding(.sum, of: "quantity * CAST(round(rate * 100) AS INTEGER)"),
          Self.binding(.average, of: "note > 5"),
        ], in: Self.models(isStrict: isStrict))
      #expect(try installation.findings(on: fixture.connection, maxKeyCount: 1) == [])
    }
  }
}

/// Exact sums of decimals under random writes of the library and of the `sqlite3` shell.
@Suite(.tags(.law)) struct DecimalSumTests {
  private static let tables = """
    CREATE TABLE O (id INTEGER PRIMARY KEY, exact TEXT, mean REAL) STRICT;
    CREATE TABLE L (
      id INTEGER PRIMARY KEY, o INTEGER, quantity INTEGER, price TEXT, discount TEXT,
      code INTEGER UNIQUE
    ) STRICT;
    """

  private static let models = [
    ModelSchema(
      name: "O",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "exact", type: .decimal, isOptional: true),
        FieldSchema(name: "mean", type: .real, isOptional: true),
      ], key: ["id"]),
    ModelSchema(
      name: "L",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "o", type: .integer, isOptional: true),
        FieldSchema(name: "quantity", type: .integer, isOptional: true),
        FieldSchema(name: "price", type: .decimal, isOptional: true),
        FieldSchema(name: "discount", type: .decimal, isOptional: true),
        FieldSchema(name: "code", type: .integer, isOptional: true, isUnique: true),
      ], key: ["id"]),
  ]

  private static let expression = "quantity * (price - discount * 0.5)"

  private static let bindings = [
    BindingSchema(
      target: .init(model: "O", field: "exact"),
      formula: .aggregate(
        .init(
          .sum, model: "L", expression: expression, scale: 3,
          match: [.init(source: "o", target: "id")], condition: "quantity > -3"))),
    BindingSchema(
      target: .init(model: "O", field: "mean"),
      formula: .aggregate(
        .init(
          .average, model: "L", expression: expression, scale: 3,
          match: [.init(source: "o", target: "id")]))),
  ]

  private static func decimal(_ generator: inout SeededGenerator) -> String {
    if Int.random(in: 0..<8, using: &generator) == 0 { return "NULL" }
    let thousandths = Int.random(in: -99_999...99_999, using: &generator)
    return "'\(Decimal(thousandths) / 1000)'"
  }

  private static func statement(_ generator: inout SeededGenerator) -> String {
    func id() -> Int { Int.random(in: 1...8, using: &generator) }
    func order() -> String {
      Int.random(in: 0..<6, using: &generator) == 0
        ? "NULL" : "\(Int.random(in: 1...3, using: &generator))"
    }
    func quantity() -> String {
      Int.random(in: 0..<8, using: &generator) == 0
        ? "NULL" : "\(Int.random(in: -5...50, using: &generator))"
    }
    let clause = ["", "OR IGNORE ", "OR REPLACE "].randomElement(using: &generator) ?? ""
    return switch Int.random(in: 0..<9, using: &generator) {
    case 0, 1, 2:
      "INSERT \(clause)INTO L VALUES (\(id()), \(order()), \(quantity()), \(decimal(&generator)), \(decimal(&generator)), \(id()))"
    case 3: "DELETE FROM L WHERE id = \(id())"
    case 4: "UPDATE \(clause)L SET price = \(decimal(&generator)) WHERE id = \(id())"
    case 5: "UPDATE \(clause)L SET discount = \(decimal(&generator)), quantity = \(quantity())"
    case 6: "UPDATE \(clause)L SET o = \(order()) WHERE id = \(id())"
    case 7: "REPLACE INTO O (id) VALUES (\(Int.random(in: 1...3, using: &generator)))"
    default: "UPDATE O SET exact = '7' WHERE id = 1"
    }
  }

  /// What the orders hold and must hold, by `Decimal`.
  private static func mistakes(in fixture: BindingFixture) throws -> [String] {
    func decimal(_ value: SQLValue?) -> Decimal? {
      if case .text(let text)? = value { Decimal(string: text) } else { nil }
    }
    let lines = try BindingZoo.read("L", fixture.connection)
    return try BindingZoo.read("O", fixture.connection).compactMap { order in
      func values(above least: Int64) -> [Decimal] {
        lines.filter { $0["o"] == order["id"] }.compactMap { line -> Decimal? in
          guard case .integer(let quantity)? = line["quantity"], quantity > least,
            let price = decimal(line["price"]), let discount = decimal(line["discount"])
          else { return nil }
          return Decimal(quantity) * (price - discount / 2)
        }
      }
      let sum = values(above: -3).reduce(0, +)
      let all = values(above: .min)
      let total = all.reduce(0, +) * 10_000
      let mean =
        all.isEmpty
        ? SQLValue.null
        : .real(Double("\(total)").map { $0 / Double(all.count) / 10_000 } ?? .nan)
      guard order["exact"] == .text("\(sum)"), order["mean"] == mean else {
        return "\(order), not \(sum) and \(mean)"
      }
      return nil
    }
  }

  @Test("exact sums of decimals hold under every writer", arguments: 0..<20 as Range<UInt64>)
  func sumsHold(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try BindingFixture(Self.tables + "INSERT INTO O (id) VALUES (1), (2), (3);")
    try fixture.install(Self.bindings, in: Self.models)
    for round in 0..<4 {
      for _ in 0..<25 {
        let sql = Self.statement(&generator)
        if let failure = try fixture.failure(of: sql) {
          #expect(failure.message.contains("UNIQUE constraint failed"), "seed \(seed): \(sql)")
        }
        #expect(try Self.mistakes(in: fixture) == [], "seed \(seed): \(sql)")
      }
      guard Shell.isInstalled else { continue }
      let script = (0..<25).map { _ in Self.statement(&generator) + ";" }
      let result = try fixture.shell(script.joined(separator: "\n"))
      #expect(
        result.errors.filter { !$0.contains("UNIQUE constraint failed") && $0.contains("rror") }
          == [], "seed \(seed), round \(round)")
      #expect(
        try Self.mistakes(in: fixture) == [],
        "seed \(seed), round \(round), after \(script.joined(separator: "\n"))")
    }
    let installation = try CompiledBindings(Self.bindings, in: Self.models)
    #expect(try installation.findings(on: fixture.connection, maxKeyCount: 3) == [], "seed \(seed)")
  }
}
