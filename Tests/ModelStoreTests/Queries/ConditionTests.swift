import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct ConditionTests {
  private let schema = ModelSchema(
    name: "T",
    fields: [
      FieldSchema(name: "a", type: .integer),
      FieldSchema(name: "b", column: "b \"c\"", type: .text),
    ], key: ["a"])
  private let a = Condition.Operand.field(0)
  private let b = Condition.Operand.field(1)

  @Test func everyConditionHasItsSQL() throws {
    let one = Condition.comparison(a, .equal, .value(.integer(1)))
    let two = Condition.comparison(b, .isDistinct, .value(.text("it's")))
    let forms: [Condition] = [
      .constant(true), .constant(false), .constant(nil), one, two,
      .comparison(.value(.integer(2)), .lessOrEqual, a), .comparison(a, .notEqual, b),
      .isNull(a), .isNotNull(b), .isIn(a, [.integer(1), .null]), .isIn(a, []),
      .between(a, lower: .value(.real(0.5)), upper: b), .like(b, pattern: "x%"),
      .glob(b, pattern: "x*"), .and([]), .or([]), .not(one), .not(.or([one, two])),
      .and([one, .or([two, .isNull(a)]), .not(two)]), .or([.and([one, two]), one]),
      .sql("length(b) > \(10)"), .and([.sql("a -- why"), one]),
    ]
    #expect(
      try forms.map { try QueryFixtures.line($0, schema) } == [
        #"TRUE"#, #"FALSE"#, #"NULL"#, #""a" = 1"#, #""b ""c""" IS NOT 'it''s'"#,
        #"2 <= "a""#, #""a" <> "b ""c""""#,
        #""a" IS NULL"#, #""b ""c""" IS NOT NULL"#, #""a" IN (1, NULL)"#, #""a" IN ()"#,
        #""a" BETWEEN 0.5 AND "b ""c""""#, #""b ""c""" LIKE 'x%'"#,
        #""b ""c""" GLOB 'x*'"#, #"TRUE"#, #"FALSE"#, #"NOT ("a" = 1)"#,
        #"NOT ("a" = 1 OR "b ""c""" IS NOT 'it''s')"#,
        #""a" = 1 AND ("b ""c""" IS NOT 'it''s' OR "a" IS NULL) AND NOT ("b ""c""" IS NOT 'it''s')"#,
        #"("a" = 1 AND "b ""c""" IS NOT 'it''s') OR "a" = 1"#,
        #"(length(b) > 10)"#, #"(a -- why ) AND "a" = 1"#,
      ])
  }

  @Test func aConditionReportsItsFieldsAndItsSQL() {
    let typed = Condition.and([
      .not(.comparison(.value(.null), .less, b)), .or([.like(b, pattern: ""), .constant(true)]),
    ])
    let raw = Condition.or([.isNull(a), .not(.sql("b > 1"))])
    #expect(typed.fieldIndices == [1])
    #expect(!typed.containsSQL)
    #expect(raw.fieldIndices == [0])
    #expect(raw.containsSQL)
    #expect(Condition.between(a, lower: b, upper: .value(.null)).fieldIndices == [0, 1])
  }

  @Test func combiningConditionsKeepsOneLevel() {
    let (x, y, z) = (Condition.isNull(a), Condition.isNull(b), Condition.constant(true))
    #expect(x.and(y).and(z) == .and([x, y, z]))
    #expect(x.and(y.and(z)) == .and([x, y, z]))
    #expect(x.or(y).or(z) == .or([x, y, z]))
    #expect(x.or(y).and(z) == .and([.or([x, y]), z]))
  }

  @Test func aValueThatCannotBeStoredThrowsAtAnyDepth() throws {
    let hidden = Condition.or([
      .isNull(a), .not(.and([.invalid(field: 1, reason: "NaN cannot be stored")])),
    ])
    let error = #expect(throws: StoreError.self) { try hidden.sqlText(schema: schema) }
    #expect(error?.code == .invalidValue)
    #expect(error?.message == "T.b: NaN cannot be stored.")
    #expect(error?.field == "b")
    #expect(ConditionEvaluator(hidden, schema: schema) == nil)
  }

  @Test func aLongChainStaysWithinTheDepthThatSQLiteAllows() throws {
    let connection = try QueryFixtures.scratchConnection()
    try connection.execute("CREATE TABLE T (a INTEGER PRIMARY KEY, \"b \"\"c\"\"\" TEXT)")
    try connection.execute("INSERT INTO T VALUES (1, 'x'), (2999, 'y'), (3000, 'z')")
    let parts = (0..<3000).map { Condition.comparison(a, .equal, .value(.integer($0))) }
    let any = StoreQuery<DynamicRecord>(schema, where: .or(parts))
    let none = StoreQuery<DynamicRecord>(schema, where: .and(parts.map { .not($0) }))
    func keys(_ query: StoreQuery<DynamicRecord>) throws -> [Int64] {
      try connection.rows(query.keySelectText()) { row in try row.integer(at: 0) }
    }
    #expect(try keys(any) == [1, 2999])
    #expect(try keys(none) == [3000])
  }
}

extension ConditionTests {
  @Test func patternsThatDifferInBytesAreDifferentConditions() {
    let composed = Condition.like(.field(0), pattern: "\u{E9}%")
    let decomposed = Condition.like(.field(0), pattern: "e\u{301}%")
    #expect(composed == composed)
    #expect(composed != decomposed)
    #expect(Condition.not(.glob(.field(0), pattern: "\u{E9}")) != .not(decomposed))
    #expect(Condition.and([composed]) != .and([decomposed]))
  }
}
