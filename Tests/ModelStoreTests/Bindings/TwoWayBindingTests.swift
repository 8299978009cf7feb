import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct TwoWayBindingTests {
  typealias TwoWay = BindingSchema.TwoWay

  private static func field(
    _ name: String, _ type: FieldType = .integer, isUnique: Bool = false,
    defaultSQL: String? = nil
  ) -> FieldSchema {
    FieldSchema(
      name: name, type: type, isOptional: name != "id", isUnique: isUnique, isRowID: name == "id",
      defaultSQL: defaultSQL)
  }

  private static let models = [
    ModelSchema(
      name: "L",
      fields: [field("id"), field("a"), field("b"), field("c"), field("d"), field("t", .text)],
      key: ["id"]),
    ModelSchema(
      name: "R",
      fields: [field("id"), field("ref", isUnique: true), field("x"), field("t", .text)],
      key: ["id"]),
  ]

  private static let tables = """
    CREATE TABLE L (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER, d INTEGER, t TEXT);
    CREATE TABLE R (id INTEGER PRIMARY KEY, ref INTEGER UNIQUE REFERENCES L ON UPDATE CASCADE ON DELETE SET NULL, x INTEGER, t TEXT);
    """

  private static func twoWay(
    _ left: String, _ right: String, _ forward: String? = nil, _ backward: String? = nil,
    conflict: BindingConflict = .leftWins, initially: BindingSide = .left, when: String? = nil
  ) -> BindingSchema {
    func field(_ text: String) -> BindingSchema.Field {
      let parts = text.split(separator: ".").map(String.init)
      return .init(model: parts[0], field: parts[1])
    }
    let isCross = left.first != right.first
    return BindingSchema(
      target: field(right),
      formula: .twoWay(
        TwoWay(
          left: field(left), match: isCross ? [.init(source: "id", target: "ref")] : [],
          forward: forward, backward: backward, conflict: conflict, initially: initially)),
      condition: when)
  }

  private func fixture(_ bindings: [BindingSchema], _ rows: String = "") throws -> BindingFixture {
    let fixture = try BindingFixture(Self.tables + rows)
    try fixture.install(bindings, in: Self.models)
    return fixture
  }

  private func findings(
    _ bindings: [BindingSchema], _ fixture: BindingFixture
  ) throws -> [BindingFinding] {
    try CompiledBindings(bindings, in: Self.models).findings(
      on: fixture.connection, maxKeyCount: 5)
  }

  @Test(
    "RX9 whichever end is written, the other one follows, and the cascade ends",
    arguments: BindingWriter.allCases)
  func bothWays(writer: BindingWriter) throws {
    let bindings = [Self.twoWay("L.a", "L.b", "a * 2", "b / 2")]
    let fixture = try fixture(bindings)
    let script = """
      INSERT INTO L (id, a) VALUES (1, 5);
      INSERT INTO L (id, b) VALUES (2, 8);
      INSERT INTO L (id, a) VALUES (3, 1);
      UPDATE L SET b = 31 WHERE id = 3;
      INSERT INTO L (id, a) VALUES (4, 1);
      UPDATE L SET a = 7 WHERE id = 4;
      """
    switch writer {
    case .library: try fixture.connection.execute(script)
    case .shell: #expect(try fixture.shell(script) == .init(output: [], errors: []))
    }
    // 31 / 2 is 15, and 15 * 2 is 30: what was written stays, and nothing comes back.
    #expect(
      try fixture.rows("SELECT id, a, b FROM L") == ["1|5|10", "2|4|8", "3|15|31", "4|7|14"])
    #expect(try findings(bindings, fixture) == [])
  }

  @Test("RX4 writing the current value starts no cascade")
  func sameValue() throws {
    let fixture = try fixture(
      [Self.twoWay("L.a", "L.b", "a * 2", "b / 2")],
      "INSERT INTO L (id, a) VALUES (1, 15);")
    try fixture.connection.execute("UPDATE L SET b = 31")
    let count = fixture.connection.totalChangeCount
    try fixture.connection.execute("UPDATE L SET b = b, a = a")
    #expect(fixture.connection.totalChangeCount - count == 1)
    #expect(try fixture.rows("SELECT a, b FROM L") == ["15|31"])
  }

  @Test("RX9 a chain passes each edge once from any start, also with lossy conversions")
  func chain() throws {
    let bindings = [
      Self.twoWay("L.a", "L.b", "a / 2", "b * 2"), Self.twoWay("L.b", "L.c", "b / 3", "c * 3"),
      Self.twoWay("L.c", "L.d", "c + 1", "d - 1"), Self.twoWay("L.d", "R.x", "-d", "-x"),
    ]
    let fixture = try fixture(bindings)
    try fixture.connection.execute(
      "INSERT INTO L (id, a) VALUES (1, 0); INSERT INTO R (id, ref) VALUES (1, 1)")
    for (sql, result) in [
      ("UPDATE L SET a = 13", "13|6|2|3|-3"), ("UPDATE R SET x = -10", "54|27|9|10|-10"),
      ("UPDATE L SET c = 4", "24|12|4|5|-5"), ("UPDATE L SET b = 11", "22|11|3|4|-4"),
    ] {
      let count = fixture.connection.totalChangeCount
      try fixture.connection.execute(sql)
      // The write itself and one for each edge.
      #expect(fixture.connection.totalChangeCount - count == 5, "\(sql)")
      #expect(
        try fixture.rows("SELECT a, b, c, d, x FROM L JOIN R ON ref = L.id") == [result], "\(sql)")
      #expect(try findings(bindings, fixture) == [])
    }
  }

  @Test(
    "if one statement writes both ends, the policy decides",
    arguments: [
      (BindingConflict.leftWins, ["3|6"]), (.rightWins, ["50|100"]), (.abort, ["1|2"]),
    ])
  func conflict(policy: BindingConflict, result: [String]) throws {
    let bindings = [Self.twoWay("L.a", "L.b", "a * 2", "b / 2", conflict: policy)]
    let fixture = try fixture(bindings, "INSERT INTO L (id, a, b) VALUES (1, 1, 2);")
    let error = try fixture.failure(of: "UPDATE L SET a = 3, b = 100")
    #expect(
      error?.message
        == (policy == .abort
          ? "The binding L.b cannot be kept: L.b and its other end were given values that differ."
          : nil))
    #expect(try fixture.rows("SELECT a, b FROM L") == result)
    // Ends that agree are not in conflict.
    try fixture.connection.execute("UPDATE L SET a = 9, b = 18")
    #expect(try fixture.rows("SELECT a, b FROM L") == ["9|18"])
    _ = try fixture.failure(of: "UPDATE OR IGNORE L SET a = 4, b = 100")
    #expect(try findings(bindings, fixture) == [])
  }

  @Test(
    "an inserted end that holds its default counts as not written",
    arguments: [
      BindingConflict.leftWins, .rightWins, .abort,
    ])
  func inserts(policy: BindingConflict) throws {
    let bindings = [Self.twoWay("L.a", "L.b", "a * 2", "b / 2", conflict: policy)]
    let fixture = try fixture(bindings)
    try fixture.connection.execute(
      "INSERT INTO L (id, a) VALUES (1, 4); INSERT INTO L (id, b) VALUES (2, 4); INSERT INTO L (id) VALUES (3); INSERT INTO L (id, a, b) VALUES (4, 2, 5)"
    )
    #expect(try fixture.rows("SELECT a, b FROM L") == ["4|8", "2|4", "NULL|NULL", "2|5"])
    let error = try fixture.failure(of: "INSERT INTO L (id, a, b) VALUES (5, 7, 100)")
    let expected =
      switch policy {
      case .leftWins: ["7|14"]
      case .rightWins: ["50|100"]
      case .abort: [String]()
      }
    #expect(try fixture.rows("SELECT a, b FROM L WHERE id = 5") == expected)
    #expect((error != nil) == (policy == .abort))
  }

  @Test(
    "when two records become linked, the policy decides, except for an end just written",
    arguments: BindingWriter.allCases)
  func meeting(writer: BindingWriter) throws {
    let bindings = [Self.twoWay("L.a", "R.x")]
    let fixture = try fixture(bindings)
    let script = """
      INSERT INTO L (id, a) VALUES (1, 10), (2, 20), (3, NULL);
      INSERT INTO R (id, ref, x) VALUES (1, 1, NULL), (2, NULL, 7), (3, NULL, 8);
      UPDATE R SET ref = 2 WHERE id = 2;
      UPDATE R SET ref = 3 WHERE id = 3;
      """
    func run(_ script: String) throws {
      switch writer {
      case .library: try fixture.connection.execute(script)
      case .shell: #expect(try fixture.shell(script) == .init(output: [], errors: []))
      }
    }
    try run(script)
    // The third left end held nothing, so it gave way.
    #expect(try fixture.rows("SELECT a FROM L") == ["10", "20", "8"])
    #expect(try fixture.rows("SELECT x FROM R") == ["10", "20", "8"])
    try run("UPDATE R SET ref = NULL; UPDATE R SET ref = 1, x = 77 WHERE id = 2")
    #expect(try fixture.rows("SELECT a FROM L") == ["77", "20", "8"])
    try run("DELETE FROM L WHERE id = 1")
    #expect(try fixture.rows("SELECT x FROM R") == ["10", "77", "8"])
    #expect(try findings(bindings, fixture) == [])
  }

  @Test(
    "a two-way binding over a reference keeps two records in sync",
    .enabled(if: Shell.isInstalled, Shell.reason),
    arguments: [
      "UPDATE L SET a = a + 1", "UPDATE R SET x = x + 1", "UPDATE L SET id = 9 WHERE id = 1",
      "UPDATE R SET id = id + 10", "REPLACE INTO L (id, a) VALUES (1, 5)",
      "REPLACE INTO R (id, ref, x) VALUES (1, 1, 5)",
      "REPLACE INTO R (id, ref, x) VALUES (9, 2, 5)",
      "UPDATE OR REPLACE R SET ref = 2 WHERE id = 1",
      "UPDATE R SET ref = NULL; UPDATE R SET ref = 3 - id",
      "INSERT INTO L (id, a) VALUES (1, 9) ON CONFLICT DO UPDATE SET a = 33",
      "INSERT INTO R (id, ref, x) VALUES (1, 1, 9) ON CONFLICT DO UPDATE SET x = 34",
      "DELETE FROM L", "DELETE FROM R; INSERT INTO R (id, ref, x) VALUES (5, 1, 99)",
      "UPDATE OR IGNORE L SET a = 3", "UPDATE R SET x = L.a + 5 FROM L WHERE ref = L.id",
    ])
  func paths(sql: String) throws {
    for writer in BindingWriter.allCases {
      let bindings = [
        Self.twoWay("L.a", "R.x", "a + 100", "x - 100"),
        Self.twoWay("L.a", "L.b", "a / 2", "b * 2"),
      ]
      let fixture = try fixture(
        bindings,
        "INSERT INTO L (id, a) VALUES (1, 1), (2, 2), (3, 3); INSERT INTO R (id, ref) VALUES (1, 1), (2, 2);"
      )
      switch writer {
      case .library: try fixture.connection.execute(sql)
      case .shell: #expect(try fixture.shell(sql).errors == [])
      }
      let wrong = """
        SELECT (SELECT count(*) FROM L JOIN R ON ref = L.id WHERE x IS NOT a + 100)
        + (SELECT count(*) FROM L WHERE b IS NOT a / 2 AND a IS NOT b * 2)
        """
      #expect(try fixture.rows(wrong) == ["0"], "\(writer)")
      #expect(try findings(bindings, fixture) == [], "\(writer)")
    }
  }

  @Test(
    "a new binding starts from the chosen end",
    arguments: [
      (BindingSide.left, "4|8"), (.right, "5|10"),
    ])
  func initially(side: BindingSide, result: String) throws {
    let fixture = try fixture(
      [Self.twoWay("L.a", "L.b", "a * 2", "b / 2", initially: side)],
      "INSERT INTO L (id, a, b) VALUES (1, 4, 10);")
    #expect(try fixture.rows("SELECT a, b FROM L") == [result])
  }

  @Test("expressions that are not inverses are reported and cause no loop")
  func loss() throws {
    let bindings = [
      Self.twoWay("L.a", "L.b", "a / 2", "b * 2"), Self.twoWay("L.t", "R.t", "trim(t)", "t"),
    ]
    let fixture = try fixture(
      bindings,
      "INSERT INTO L (id, a, t) VALUES (1, 4, 'x'), (2, 5, ' y '); INSERT INTO R (id, ref) VALUES (1, 1), (2, 2);"
    )
    let installed = try CompiledBindings(bindings, in: Self.models).bindings
    #expect(
      try installed.map { try $0.lossyRecordCount(on: fixture.connection) } == [1, 1])
    #expect(try findings(bindings, fixture) == [])
  }

  @Test(
    "while its condition is false, a binding leaves both ends free",
    arguments: BindingWriter.allCases)
  func conditions(writer: BindingWriter) throws {
    let bindings = [Self.twoWay("L.a", "L.b", "a * 2", "b / 2", when: "c > 0")]
    let fixture = try fixture(bindings, "INSERT INTO L (id, a, b, c) VALUES (9, 1, 1, 0);")
    func run(_ script: String) throws {
      switch writer {
      case .library: try fixture.connection.execute(script)
      case .shell: #expect(try fixture.shell(script) == .init(output: [], errors: []))
      }
      #expect(try findings(bindings, fixture) == [], "\(script)")
    }
    func rows() throws -> [String] { try fixture.rows("SELECT id, a, b FROM L ORDER BY id") }
    try run("INSERT INTO L (id, a, c) VALUES (1, 5, 1), (2, 5, 0), (3, 5, NULL)")
    #expect(try rows() == ["1|5|10", "2|5|NULL", "3|5|NULL", "9|1|1"])
    try run("UPDATE L SET b = 30")
    #expect(try rows() == ["1|15|30", "2|5|30", "3|5|30", "9|1|30"])
    try run("UPDATE L SET c = 0; UPDATE L SET a = 7 WHERE id = 1")
    #expect(try rows() == ["1|7|30", "2|5|30", "3|5|30", "9|1|30"])
    try run("UPDATE L SET a = NULL WHERE id = 9; UPDATE L SET c = 1 WHERE id <> 3")
    #expect(try rows() == ["1|7|14", "2|5|10", "3|5|30", "9|15|30"])
    // What is written together with the condition counts as written.
    try run("UPDATE L SET c = 1, b = 40 WHERE id = 3")
    #expect(try rows() == ["1|7|14", "2|5|10", "3|20|40", "9|15|30"])
  }

  @Test(
    "when the condition becomes true, the policy decides",
    arguments: [
      (BindingConflict.leftWins, "5|10"), (.rightWins, "15|30"), (.abort, "5|30"),
    ])
  func conditionsAndConflicts(policy: BindingConflict, result: String) throws {
    for (binding, link) in [
      (Self.twoWay("L.a", "L.b", "a * 2", "b / 2", conflict: policy, when: "c > 0"), ""),
      (Self.twoWay("L.a", "R.x", "a * 2", "x / 2", conflict: policy, when: "t = 'y'"), "R"),
    ] {
      let fixture = try fixture(
        [binding],
        "INSERT INTO L (id, a, b, c) VALUES (1, 5, 30, 0); INSERT INTO R (id, ref, x, t) VALUES (1, 1, 30, 'n');"
      )
      let error = try fixture.failure(
        of: link.isEmpty ? "UPDATE L SET c = 1" : "UPDATE R SET t = 'y'")
      #expect((error != nil) == (policy == .abort), "\(link)")
      #expect(
        try fixture.rows(
          link.isEmpty ? "SELECT a, b FROM L" : "SELECT a, x FROM L JOIN R ON ref = L.id")
          == [result], "\(link)")
      #expect(try findings([binding], fixture) == [], "\(link)")
    }
  }

  @Test("records that do not meet a condition stay free and count no lossy conversions")
  func conditionsOfTwoRecords() throws {
    let bindings = [Self.twoWay("L.t", "R.t", "trim(t)", "t", when: "x IS NOT NULL")]
    let fixture = try fixture(
      bindings,
      """
      INSERT INTO L (id, t) VALUES (1, ' a '), (2, ' b ');
      INSERT INTO R (id, ref, x) VALUES (1, 1, 1), (2, 2, NULL);
      """)
    let installed = try CompiledBindings(bindings, in: Self.models).bindings
    #expect(try installed.map { try $0.lossyRecordCount(on: fixture.connection) } == [1])
    #expect(try fixture.rows("SELECT t FROM R") == ["'a'", "NULL"])
    try fixture.connection.execute("UPDATE L SET t = 'c'; UPDATE R SET t = 'd' WHERE id = 2")
    #expect(
      try fixture.rows("SELECT L.t, R.t FROM L JOIN R ON ref = L.id") == ["'c'|'c'", "'c'|'d'"])
    try fixture.connection.execute("UPDATE R SET x = 5, t = 'e' WHERE id = 2")
    #expect(
      try fixture.rows("SELECT L.t, R.t FROM L JOIN R ON ref = L.id") == ["'c'|'c'", "'e'|'e'"])
    #expect(try findings(bindings, fixture) == [])
  }

  @Test func conditionsThatDependOnAnEndAreRefused() {
    for (left, condition) in [("L.a", "a > 0"), ("L.a", "b > 0"), ("L.a", "c > a")] {
      let error = #expect(throws: StoreError.self) {
        try ResolvedBinding.inDependencyOrder(
          [Self.twoWay(left, "L.b", when: condition)], in: Self.models)
      }
      #expect(error?.message.contains("its condition depends on L.") == true)
    }
    let circle = #expect(throws: StoreError.self) {
      try ResolvedBinding.inDependencyOrder(
        [
          Self.twoWay("L.a", "L.b", when: "c > 0"),
          BindingSchema(target: .init(model: "L", field: "c"), formula: .derive(sql: "a")),
        ], in: Self.models)
    }
    #expect(
      circle?.message
        == "Bindings form a cycle: L.a → L.c → L.a. Remove one of them.")
  }

  @Test func ringsAndSecondSourcesAreRefused() {
    func message(_ bindings: [BindingSchema]) -> String? {
      #expect(throws: StoreError.self) {
        try ResolvedBinding.inDependencyOrder(bindings, in: Self.models)
      }?
      .message
    }
    func derive(_ target: String, _ sql: String) -> BindingSchema {
      BindingSchema(target: .init(model: "L", field: target), formula: .derive(sql: sql))
    }
    #expect(
      message([
        Self.twoWay("L.a", "L.b"), Self.twoWay("L.b", "L.c"), Self.twoWay("L.c", "L.a"),
      ]) == "Two-way bindings form a cycle: L.c ↔ L.b ↔ L.a ↔ L.c. Remove one of them.")
    #expect(
      message([Self.twoWay("L.a", "L.b"), derive("a", "c")])
        == "L.a has two bindings, L.a and L.b. Remove one: an end of a two-way binding follows nothing else."
    )
    #expect(
      message([Self.twoWay("L.a", "L.b", "a + c", "b - c"), derive("c", "b")])
        == "Bindings form a cycle: L.b → L.c → L.b. Remove one of them.")
    #expect(
      message([Self.twoWay("L.a", "L.b", "a + b")])
        == "The binding L.b cannot be kept: L.b would be computed from itself.")
  }
}
