import Testing

@testable import ModelStore

/// Edges of bindings: collations, 64 bits, conflict clauses, and values of other types.
@Suite(.tags(.unit)) struct BindingEdgeTests {
  private static func field(
    _ name: String, _ type: FieldType = .integer, collation: Collation = .binary,
    isUnique: Bool = false
  ) -> FieldSchema {
    FieldSchema(
      name: name, type: type, isOptional: name != "id", isUnique: isUnique, isRowID: name == "id",
      collation: collation)
  }

  private static let models = [
    ModelSchema(
      name: "P",
      fields: [
        field("id"), field("code", .text, collation: .nocase, isUnique: true), field("n"),
        field("mean", .real), field("name", .text),
      ], key: ["id"]),
    ModelSchema(
      name: "C",
      fields: [
        field("id"), field("pcode", .text, collation: .nocase), field("plain", .text), field("v"),
        field("name", .text), field("slug", .text, isUnique: true),
      ], key: ["id"]),
  ]

  private static let tables = """
    CREATE TABLE P (
      id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE, n INTEGER, mean REAL, name TEXT);
    CREATE TABLE C (
      id INTEGER PRIMARY KEY, pcode TEXT COLLATE NOCASE, plain TEXT, v INTEGER, name TEXT,
      slug TEXT UNIQUE);
    """

  private static func sum(
    _ function: BindingSchema.Aggregate.Function = .sum, _ field: String? = "v",
    where condition: String? = nil
  ) -> BindingSchema {
    BindingSchema(
      target: .init(model: "P", field: function == .average ? "mean" : "n"),
      formula: .aggregate(
        .init(
          function, model: "C", field: field, match: [.init(source: "pcode", target: "code")],
          condition: condition)))
  }

  private static func copy(match: String = "plain", into target: String = "name") -> BindingSchema {
    BindingSchema(
      target: .init(model: "C", field: target),
      formula: .lookup(
        .init(
          source: .init(model: "P", field: "name"),
          match: [.init(source: "code", target: match)])))
  }

  private static func derive(_ target: String, _ sql: String) -> BindingSchema {
    BindingSchema(target: .init(model: "C", field: target), formula: .derive(sql: sql))
  }

  /// Installs one binding and lets both writers run `script`, each on a file of its own.
  private func outcomes(
    _ binding: BindingSchema, _ rows: String, _ script: String, _ question: String
  ) throws -> [String] {
    try BindingWriter.allCases.map { writer in
      let fixture = try BindingFixture(Self.tables + rows)
      try fixture.install([binding], in: Self.models)
      var failure = ""
      switch writer {
      case .library: failure = try fixture.failure(of: script)?.message ?? ""
      case .shell: failure = try fixture.shell(script).errors.joined()
      }
      let findings = try CompiledBindings([binding], in: Self.models)
        .findings(on: fixture.connection, maxKeyCount: 3)
      #expect(findings == [], "\(writer): \(script)")
      let rows = try fixture.rows(question).joined(separator: " ")
      return failure.contains("cannot be kept") || failure.contains("overflow")
        ? "refused: \(rows)" : rows
    }
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func replacedRecordsLeaveTotalsWhateverTheCaseOfTheirLink() throws {
    #expect(
      try outcomes(
        Self.sum(.count, nil),
        "INSERT INTO P (id, code) VALUES (1, 'a'), (2, 'b'); INSERT INTO C (id, pcode) VALUES (1, 'a'), (2, 'A');",
        "REPLACE INTO C (id, pcode) VALUES (2, 'B');", "SELECT n FROM P ORDER BY id")
        == ["1 1", "1 1"])
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func replacedSourcesAreLeftByTargetsWhateverTheCaseOfTheirLink() throws {
    #expect(
      try outcomes(
        Self.copy(),
        "INSERT INTO P (id, code, name) VALUES (1, 'A', 'Anna'); INSERT INTO C (id, plain) VALUES (1, 'A'), (2, 'a');",
        "REPLACE INTO P (id, code, name) VALUES (1, 'z', 'Zoe');",
        "SELECT name FROM C ORDER BY id") == ["NULL NULL", "NULL NULL"])
  }

  @Test(
    .enabled(if: Shell.isInstalled, Shell.reason),
    arguments: [
      // The least number has no negative one.
      ("-9223372036854775808, 5", "DELETE FROM C WHERE id = 1", "5"),
      ("-9000000000000000001", "UPDATE C SET v = 9000000000000000001", "9000000000000000001"),
      (
        "9000000000000000001, -9000000000000000001, 5000000000000000003",
        "DELETE FROM C WHERE id = 2", "refused: 5000000000000000003"
      ),
      (
        "9000000000000000001, -9000000000000000001, 5000000000000000003",
        "UPDATE C SET pcode = 'none' WHERE id = 2", "refused: 5000000000000000003"
      ),
      (
        "9000000000000000001, -9000000000000000001, 5000000000000000003",
        "REPLACE INTO C (id, pcode, v) VALUES (2, 'none', 1)", "refused: 5000000000000000003"
      ),
      (
        "9000000000000000001", "INSERT INTO C (pcode, v) VALUES ('a', 9000000000000000001)",
        "refused: 9000000000000000001"
      ),
    ])
  func sumsAreExactAtTheEdgesOf64BitsOrRefused(
    values: String, script: String, result: String
  ) throws {
    let rows = values.split(separator: ", ").map { "('a', \($0))" }.joined(separator: ", ")
    #expect(
      try outcomes(
        Self.sum(),
        "INSERT INTO P (id, code) VALUES (1, 'a'); INSERT INTO C (pcode, v) VALUES \(rows);",
        script + ";", "SELECT n FROM P") == [result, result])
  }

  @Test(arguments: ["2.5", "'abc'"])
  func aSumIsNotAddedWhileRecordsHoldOtherValuesThanIntegers(value: String) throws {
    let fixture = try BindingFixture(
      Self.tables
        + "INSERT INTO P (id, code) VALUES (1, 'a'); INSERT INTO C (pcode, v) VALUES ('a', \(value));"
    )
    let error = #expect(throws: StoreError.self) {
      try fixture.install([Self.sum()], in: Self.models)
    }
    #expect(error?.message.contains("is not an integer of 64 bits") == true)
    #expect(try InstalledObjects.ofBindings(in: fixture.connection).objects == [])
  }

  @Test func everyTamperedTotalIsFound() throws {
    let place = BindingSchema(
      target: .init(model: "P", field: "n"),
      formula: .aggregate(.init(.sum, model: "C", field: "v", match: [], place: [.integer(1)])))
    for (binding, keys) in [(Self.sum(), [[SQLValue.integer(1)]]), (place, [[.integer(1)]])] {
      for tampering in ["9223372036854775807", "-9223372036854775808", "1.5"] {
        let fixture = try BindingFixture(
          Self.tables
            + "INSERT INTO P (id, code) VALUES (1, 'a'), (2, 'b'), (3, 'c'); INSERT INTO C (pcode, v) VALUES ('a', -5);"
        )
        try fixture.install([binding], in: Self.models)
        try fixture.connection.execute(
          "UPDATE \"_ms_binding_P.n_totals\" SET total = \(tampering)")
        let findings = try CompiledBindings([binding], in: Self.models)
          .findings(on: fixture.connection, maxKeyCount: 9)
        #expect(findings.map(\.keys) == [keys], "\(tampering)")
        #expect(findings.map(\.drift?.objects) == [["_ms_binding_P.n_totals"]])
      }
    }
  }

  @Test func checksEvaluateConditionsOverStoredValues() throws {
    let binding = Self.sum(.count, nil, where: "v > 1")
    let fixture = try BindingFixture(
      Self.tables
        + "INSERT INTO P (id, code) VALUES (1, 'a'); INSERT INTO C (pcode, v) VALUES ('a', 1.5);")
    try fixture.install([binding], in: Self.models)
    #expect(try fixture.rows("SELECT n FROM P") == ["1"])
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func aNumberStoredAsTextRemainsText() throws {
    for binding in [Self.derive("name", "v"), Self.derive("name", "CAST(v AS INTEGER)")] {
      #expect(
        try outcomes(
          binding, "INSERT INTO C (id, v) VALUES (1, 345);",
          "UPDATE C SET name = '0345'; UPDATE C SET name = ' 345.0 ';", "SELECT name FROM C")
          == ["'345'", "'345'"])
    }
  }

  @Test(
    .enabled(if: Shell.isInstalled, Shell.reason),
    arguments: [
      "UPDATE OR REPLACE C SET name = 'One' WHERE id = 2",
      "REPLACE INTO C (id, name) VALUES (3, 'one')",
      "INSERT OR REPLACE INTO C (id, name) VALUES (2, 'ONE')",
    ])
  func aReplacedValueOfAUniqueFieldDeletesNoRecord(script: String) throws {
    #expect(
      try outcomes(
        Self.derive("slug", "lower(name)"),
        "INSERT INTO C (id, name) VALUES (1, 'one'), (2, 'two');", script + ";",
        "SELECT id || slug FROM C ORDER BY id")
        == ["refused: '1one' '2two'", "refused: '1one' '2two'"])
  }

  @Test func uniqueTargetsOfSeveralRecordsAreRefused() {
    func message(_ binding: BindingSchema) -> String? {
      #expect(throws: StoreError.self) {
        try ResolvedBinding.inDependencyOrder([binding], in: Self.models)
      }?
      .message
    }
    #expect(
      message(Self.copy(match: "pcode", into: "slug"))
        == "The binding C.slug cannot be kept: C.slug is unique, and several records would follow one value."
    )
    #expect(
      message(
        BindingSchema(
          target: .init(model: "C", field: "slug"),
          formula: .twoWay(.init(left: .init(model: "C", field: "name"), match: []))))?
        .contains("C.slug is unique") == true)
  }

  @Test func expressionsThatDependOnTheTimeAreRefused() {
    for sql in ["strftime('%s')", "strftime(name)", "1 + strftime('%Y') * 2"] {
      let error = #expect(throws: StoreError.self) {
        try ResolvedBinding.inDependencyOrder([Self.derive("plain", sql)], in: Self.models)
      }
      #expect(error?.message.contains("strftime() without a time") == true, "\(sql)")
    }
    #expect(throws: Never.self) {
      try ResolvedBinding.inDependencyOrder(
        [Self.derive("plain", "strftime('%Y', name)")], in: Self.models)
    }
  }

  @Test func twoWayEndsOfOneModelDoNotFeedThemselves() {
    let error = #expect(throws: StoreError.self) {
      try ResolvedBinding.inDependencyOrder(
        [
          BindingSchema(
            target: .init(model: "C", field: "v"),
            formula: .twoWay(
              .init(
                left: .init(model: "C", field: "plain"),
                match: [.init(source: "id", target: "id")], forward: "plain || v")))
        ], in: Self.models)
    }
    #expect(error?.message == "The binding C.v cannot be kept: C.v would be computed from itself.")
  }

  /// A writer that asks SQLite to stop halfway gets what it asked for; checks find it.
  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func anUpdateThatFailStopsHalfwayIsFoundAndRepaired() throws {
    let binding = Self.copy()
    let tables = Self.tables.replacing("name TEXT,", with: "name TEXT CHECK (length(name) < 6),")
    let fixture = try BindingFixture(
      tables
        + "INSERT INTO P (id, code, name) VALUES (1, 'a', 'Anna'); INSERT INTO C (id, plain) VALUES (1, 'a');"
    )
    try fixture.install([binding], in: Self.models)
    _ = try fixture.shell("UPDATE OR FAIL P SET name = 'too long' WHERE id = 1;")
    let installation = try CompiledBindings([binding], in: Self.models)
    let findings = try installation.findings(on: fixture.connection, maxKeyCount: 3)
    #expect(findings.map(\.keys) == [[[.integer(1)]]])
    try fixture.connection.execute("UPDATE P SET name = 'short'")
    #expect(try installation.findings(on: fixture.connection, maxKeyCount: 3) == [])
  }

  /// SQLite rewrites the triggers, so they continue to work; but the declaration in the file names
  /// a column that no longer exists.
  @Test func aRenamedColumnIsAFindingAndNotAFailure() throws {
    let fixture = try BindingFixture(
      Self.tables + "INSERT INTO P (id, code, name) VALUES (1, 'a', 'Anna');")
    let bindings = [Self.copy(), Self.sum()]
    try fixture.install(bindings, in: Self.models)
    try fixture.connection.execute(
      """
      ALTER TABLE P RENAME COLUMN name TO named;
      UPDATE P SET n = 7;
      DROP TRIGGER "_ms_binding_P.n_target_update";
      UPDATE P SET n = 7;
      """)
    let findings = try CompiledBindings(bindings, in: Self.models)
      .findings(on: fixture.connection, maxKeyCount: 3)
    let byName = Dictionary(uniqueKeysWithValues: findings.map { ($0.binding, $0) })
    #expect(byName["C.name"]?.drift?.objects.isEmpty == false)
    #expect(byName["P.n"]?.keys == [[.integer(1)]])
  }

  @Test func droppingABindingLetsTheNextPriorityTakeEffect() throws {
    func binding(_ name: String, _ sql: String, _ condition: String, _ priority: Int)
      -> BindingSchema
    {
      BindingSchema(
        name: name, target: .init(model: "Album", field: "artistName"), formula: .derive(sql: sql),
        condition: condition, priority: priority)
    }
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self, Album.self,
      bindings: [
        FieldBinding(binding("high", "'high'", "id = 1", 2)),
        FieldBinding(binding("low", "'low'", "id < 5", 1)),
      ])
    try store.write { tx in
      try tx.insert(Album(id: 1, title: "a"))
      try tx.insert(Album(id: 2, title: "b"))
    }
    func names() throws -> [String?] {
      try store.fetch(Album.all.order { $0.id }).map(\.artistName)
    }
    #expect(try names() == ["high", "low"])
    try store.dropBinding("high")
    #expect(try names() == ["low", "low"])
    #expect(try store.bindingFindings() == [])
  }
}
