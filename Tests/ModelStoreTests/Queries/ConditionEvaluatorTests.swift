import Testing

@testable import ModelStore

@Suite(.tags(.law)) struct ConditionEvaluatorTests {
  /// A table, how a model sees it, and its rows as SQLite stored them.
  private struct Corpus {
    var connection: Connection
    var schema: ModelSchema
    var rows: [[SQLValue]]

    /// - Parameter columns: Name, declared type and collation, after the key.
    init(
      strict: Bool, columns: [(name: String, type: String, collation: Collation)],
      fieldTypes: [FieldType], candidates: [SQLValue], using random: inout SeededGenerator
    ) throws {
      connection = try QueryFixtures.scratchConnection()
      schema = ModelSchema(
        name: "T",
        fields: [FieldSchema(name: "id", type: .integer, isRowID: true)]
          + zip(columns, fieldTypes).map { column, type in
            FieldSchema(
              name: column.name, type: type, declaredType: strict ? nil : column.type,
              isOptional: true, collation: column.collation)
          },
        key: ["id"])
      let definitions = columns.map { "\($0.name) \($0.type) COLLATE \($0.collation.name)" }
      try connection.execute(
        "CREATE TABLE T (id INTEGER PRIMARY KEY, \(definitions.joined(separator: ", ")))"
          + (strict ? " STRICT" : ""))
      let places = columns.map { _ in "?" }.joined(separator: ", ")
      for _ in 0..<300 {
        let values = fieldTypes.map { type in
          let value = candidates.randomElement(using: &random) ?? .null
          return strict ? Self.fitting(value, type) : value
        }
        try connection.run(
          SQLText(sql: "INSERT INTO T VALUES (NULL, \(places))", arguments: values))
      }
      rows = try connection.rows("SELECT * FROM T ORDER BY id") { row in try row.values() }
    }

    /// `value`, or NULL where a STRICT column refuses it.
    private static func fitting(_ value: SQLValue, _ type: FieldType) -> SQLValue {
      switch (type, value) {
      case (.any, _), (.integer, .integer), (.real, .real), (.real, .integer), (.text, .text),
        (.blob, .blob):
        value
      default: .null
      }
    }

    /// SQLite's answers for every row, in row order.
    func answers(_ condition: Condition) throws -> [Bool?] {
      let text: SQLText = "SELECT (\(try condition.sqlText(schema: schema))) FROM T ORDER BY id"
      return try connection.rows(text) { row in
        row.isNull(at: 0) ? nil : try row.integer(at: 0) != 0
      }
    }
  }

  private static let candidates: [SQLValue] = [
    .null, .integer(0), .integer(1), .integer(-1), .integer(5), .integer(12), .integer(100),
    .integer(9_007_199_254_740_992), .integer(9_007_199_254_740_993), .integer(.max),
    .integer(.min), .real(0), .real(-0.0), .real(1), .real(1.5), .real(-1.5), .real(5), .real(12),
    .real(9_007_199_254_740_992), .real(9_223_372_036_854_775_808),
    .real(-9_223_372_036_854_775_808),
    .real(1e300), .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude), .text(""),
    .text(" "),
    .text("a"), .text("A"), .text("a "), .text("A  "), .text("a\t"), .text("abc"), .text("ABC"),
    .text("aBc "), .text("b"), .text("_"), .text("[a]"), .text("%"), .text("a%c"), .text("12"),
    .text(" 12 "), .text("+12"), .text("12a"), .text("012"), .text("1e"), .text("."), .text("-"),
    .text("0x1F"), .text("9007199254740993"), .text("é"), .text("e\u{301}"), .text("É"),
    .text("ä"), .text("Ä"), .text("a\0b"), .text("a\0z"), .text("A\0B"), .text("\u{FFFF}"),
    .text("\u{FFFD}"), .text("😀"), .text("2026-09-01"), .text("]"), .text("a-c"), .text("^"),
    .blob([]), .blob([0]), .blob([0x61]), .blob([0x61, 0x62]), .blob([0xFF]),
  ]

  private static let patterns = [
    "", "%", "_", "a", "A%", "%c", "a_c", "%b%", "__", "é", "É%", "_\u{301}", "%%", "a%%c", "1%",
    "%2", "\u{FFFE}", "a\\%c", "*", "?", "a*", "[a]", "[a-c]", "[^a-c]*", "[]]", "[^]]", "[a-]",
    "[-a]*", "[a", "[", "[]", "a?c", "*[bB]*", "?*?", "*a*b*", "[[]a[]]", "[a-b-c]", "[b-a]*",
    "**", "*?", "[^a", "%a%b%", "é*", "[à-é]*", "a\0b",
  ]

  private func randomValue(_ random: inout SeededGenerator) -> SQLValue {
    Self.candidates.randomElement(using: &random) ?? .null
  }

  private func randomOperand(
    _ schema: ModelSchema, _ random: inout SeededGenerator
  ) -> Condition.Operand {
    Int.random(in: 0..<10, using: &random) < 6
      ? .field(Int.random(in: 0..<schema.fields.count, using: &random))
      : .value(randomValue(&random))
  }

  private func randomCondition(
    _ schema: ModelSchema, depth: Int, _ random: inout SeededGenerator
  ) -> Condition {
    let operand = randomOperand(schema, &random)
    switch Int.random(in: 0..<(depth == 0 ? 9 : 12), using: &random) {
    case 0: return .isNull(operand)
    case 1: return .isNotNull(operand)
    case 2:
      let count = Int.random(in: 0...5, using: &random)
      return .isIn(operand, (0..<count).map { _ in randomValue(&random) })
    case 3:
      return .between(
        operand, lower: randomOperand(schema, &random), upper: randomOperand(schema, &random))
    case 4: return .like(operand, pattern: Self.patterns.randomElement(using: &random) ?? "")
    case 5: return .glob(operand, pattern: Self.patterns.randomElement(using: &random) ?? "")
    case 6 where depth > 0:
      return .constant([true, false, nil].randomElement(using: &random) ?? nil)
    case 6, 7, 8:
      let comparison = Condition.Comparison.allCases.randomElement(using: &random) ?? .equal
      return .comparison(operand, comparison, randomOperand(schema, &random))
    case 9: return .not(randomCondition(schema, depth: depth - 1, &random))
    case let form:
      let count = Int.random(in: 0...3, using: &random)
      let parts = (0..<count).map { _ in randomCondition(schema, depth: depth - 1, &random) }
      return form == 10 ? .and(parts) : .or(parts)
    }
  }

  /// Compares evaluator and SQLite for random conditions; returns how many answers were compared.
  private func compare(
    _ corpus: Corpus, conditions: Int, seed: UInt64, using random: inout SeededGenerator
  ) throws -> Int {
    var compared = 0
    for _ in 0..<conditions {
      let condition = randomCondition(corpus.schema, depth: 2, &random)
      guard let evaluate = ConditionEvaluator(condition, schema: corpus.schema) else { continue }
      let wanted = try corpus.answers(condition)
      let found = corpus.rows.map { evaluate($0) }
      compared += found.count
      guard found != wanted else { continue }
      for (row, pair) in zip(corpus.rows, zip(found, wanted)) where pair.0 != pair.1 {
        let text = try QueryFixtures.line(condition, corpus.schema)
        Issue.record(
          "seed \(seed): \(text) on \(row): SQLite \(String(describing: pair.1)), evaluator \(String(describing: pair.0))"
        )
        return compared
      }
    }
    return compared
  }

  @Test(arguments: [UInt64(1), 20_260_901])
  func strictTablesAreEvaluatedAsInSQLite(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let corpus = try Corpus(
      strict: true,
      columns: [
        ("i", "INTEGER", .binary), ("r", "REAL", .binary), ("t", "TEXT", .binary),
        ("tn", "TEXT", .nocase), ("tr", "TEXT", .rtrim), ("b", "BLOB", .binary),
        ("x", "ANY", .binary), ("xn", "ANY", .nocase),
      ],
      fieldTypes: [.integer, .real, .text, .text, .text, .blob, .any, .any],
      candidates: Self.candidates, using: &random)
    #expect(try compare(corpus, conditions: 900, seed: seed, using: &random) > 90_000)
  }

  @Test(arguments: [UInt64(2), 20_261_121])
  func looseTablesAreEvaluatedAsInSQLite(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let corpus = try Corpus(
      strict: false,
      columns: [
        ("i", "INT", .binary), ("r", "DOUBLE", .binary), ("n", "NUMERIC(10,2)", .nocase),
        ("d", "DATETIME", .binary), ("t", "NVARCHAR(160)", .binary), ("tn", "CLOB", .nocase),
        ("tr", "TEXT", .rtrim), ("b", "BLOB", .binary), ("u", "", .nocase),
      ],
      fieldTypes: [.integer, .real, .real, .text, .text, .text, .text, .blob, .any],
      candidates: Self.candidates, using: &random)
    #expect(try compare(corpus, conditions: 900, seed: seed, using: &random) > 70_000)
  }

  private let titles = ModelSchema(
    name: "T",
    fields: [
      FieldSchema(name: "n", type: .integer), FieldSchema(name: "t", type: .text),
      FieldSchema(name: "c", type: .text, collation: .custom("german")),
      FieldSchema(name: "r", type: .real), FieldSchema(name: "a", type: .any, declaredType: "ANY"),
    ], key: ["n"])

  @Test func conditionsThatTheSchemaDoesNotDecideAreLeftToSQLite() {
    let text = Condition.Operand.value(.text("1"))
    let refused: [Condition] = [
      .sql("n > 1"), .and([.isNull(.field(0)), .sql("n > 1")]),
      // A collation that another program registered.
      .comparison(.field(2), .less, text), .isIn(.field(2), [.text("1")]),
      // ANY in a table that may be STRICT or not.
      .comparison(.field(4), .equal, text),
      // Conversions between text and reals.
      .comparison(.field(1), .equal, .value(.real(0.1))),
      .comparison(.field(0), .equal, .value(.text("0.1"))),
      .comparison(.field(0), .equal, .field(1)), .like(.field(3), pattern: "1%"),
      .like(.field(1), pattern: String(repeating: "a", count: 50_001)),
    ]
    #expect(refused.filter { ConditionEvaluator($0, schema: titles) != nil } == [])
    var view = titles
    view.kind = .view
    #expect(ConditionEvaluator(.isNull(.field(0)), schema: view) == nil)
  }

  @Test func nullMakesComparisonsUnknown() throws {
    let row: [SQLValue] = [.integer(1), .null, .null, .null, .null]
    let conditions: [Condition] = [
      .comparison(.field(1), .equal, .value(.text("x"))),
      .not(.comparison(.field(1), .notEqual, .value(.text("x")))),
      .comparison(.field(1), .isDistinct, .value(.text("x"))),
      .isIn(.field(0), [.integer(2), .null]), .isIn(.field(0), [.integer(1), .null]),
      .isIn(.field(1), []),
      .and([.constant(nil), .constant(false)]), .or([.constant(nil), .constant(true)]),
      .and([.constant(nil), .constant(true)]),
    ]
    var answers: [Bool?] = []
    for condition in conditions {
      let evaluate = try #require(ConditionEvaluator(condition, schema: titles))
      answers.append(evaluate(row))
    }
    #expect(answers == [nil, nil, true, nil, true, false, false, true, nil])
  }
}
