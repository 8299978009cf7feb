import Testing

@testable import ModelStore

@Suite(.tags(.law)) struct QueryRegionTests {
  private let schema = ModelSchema(
    name: "T", table: "t",
    fields: [
      FieldSchema(name: "id", type: .integer), FieldSchema(name: "title", type: .text),
      FieldSchema(name: "genre", type: .text, collation: .nocase),
      FieldSchema(name: "rating", type: .real), FieldSchema(name: "extra", type: .any),
    ], key: ["id"])

  private func terms(_ condition: Condition) -> [String] {
    QueryRegion(StoreQuery<DynamicRecord>(schema, where: condition)).equalityTerms.map {
      "\($0.field) \($0.value)"
    }
  }

  @Test func aRegionNamesTheFieldsThatDecideTheResult() {
    let query = StoreQuery<DynamicRecord>(
      schema, where: .comparison(.field(3), .greater, .value(.real(1))),
      orderings: [QueryOrdering(fieldIndex: 1)])
    let region = QueryRegion(query)
    #expect(region.table == "t")
    #expect(region.filterColumns == [3])
    #expect(region.orderColumns == [0, 1])
    #expect(region.resultColumns == [0, 1, 2, 3, 4])
    #expect(region.columns == [0, 1, 2, 3, 4])
    #expect(!region.readsWholeFile)
  }

  @Test func rawSQLMayReadAnything() {
    let region = QueryRegion(
      StoreQuery<DynamicRecord>(schema, where: .sql("id IN (SELECT id FROM u)")))
    #expect(region.readsWholeFile)
    #expect(region.filterColumns == [0, 1, 2, 3, 4])
  }

  @Test func termsComeFromConjunctionsOnly() {
    let id = Condition.comparison(.field(0), .equal, .value(.integer(1)))
    let title = Condition.comparison(.value(.text("a")), .isIdentical, .field(1))
    #expect(terms(id) == ["0 1"])
    #expect(terms(.and([id, title, id, .isNull(.field(3))])) == ["0 1", "1 'a'", "3 NULL"])
    #expect(terms(.isIn(.field(0), [.integer(7)])) == ["0 7"])
    #expect(terms(.comparison(.field(1), .equal, .value(.integer(5)))) == ["1 '5'"])
    #expect(terms(.comparison(.field(3), .equal, .value(.real(5)))) == ["3 5"])
    #expect(terms(.comparison(.field(3), .equal, .value(.real(5.5)))) == ["3 5.5"])
    #expect(terms(.comparison(.field(3), .equal, .value(.text("5")))) == ["3 5"])
    let none: [Condition] = [
      .or([id, title]), .not(id), .isIn(.field(0), [.integer(1), .integer(2)]),
      .comparison(.field(0), .equal, .value(.null)), .comparison(.field(0), .equal, .field(3)),
      .comparison(.field(0), .less, .value(.integer(1))),
      .comparison(.field(2), .equal, .value(.text("rock"))),
      .comparison(.field(1), .equal, .value(.real(0.1))),
    ]
    #expect(none.map(terms) == none.map { _ in [] })
  }

  @Test func admittingNeverMissesARecord() throws {
    var random = SeededGenerator(seed: 11)
    let values: [SQLValue] = [
      .null, .integer(1), .integer(2), .real(1), .real(2.5), .text("a"), .text("A"), .text("1"),
    ]
    func pick() -> SQLValue { values.randomElement(using: &random) ?? .null }
    var selected = 0
    for _ in 0..<5_000 {
      let parts = (0..<2).map { _ in
        Condition.comparison(
          .field(Int.random(in: 0..<5, using: &random)),
          Bool.random(using: &random) ? .equal : .isIdentical, .value(pick()))
      }
      let condition = Condition.and(parts)
      let region = QueryRegion(StoreQuery<DynamicRecord>(schema, where: condition))
      guard let evaluate = ConditionEvaluator(condition, schema: schema) else { continue }
      let record: [SQLValue] = [
        [.integer(1), .integer(2)].randomElement(using: &random) ?? .null,
        [.text("a"), .text("A"), .text("1"), .null].randomElement(using: &random) ?? .null,
        [.text("a"), .text("A"), .null].randomElement(using: &random) ?? .null,
        [.real(1), .real(2.5), .null].randomElement(using: &random) ?? .null, pick(),
      ]
      if evaluate(record) == true {
        selected += 1
        #expect(region.admits(record), "\(condition) \(record)")
      }
    }
    #expect(selected > 100)
  }
}
