import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct QueryTests {
  private let orders = ModelSchema(
    name: "Order", table: "Order Details",
    fields: [
      FieldSchema(name: "order", type: .integer),
      FieldSchema(name: "product", type: .text, collation: .nocase),
      FieldSchema(name: "amount", column: "the amount", type: .integer, isOptional: true),
      FieldSchema(name: "price", type: .decimal), FieldSchema(name: "weight", type: .real),
    ], key: ["order", "product"], isWithoutRowID: true)

  private func lines(_ query: StoreQuery<DynamicRecord>) throws -> [String] {
    [
      QueryFixtures.line(try query.selectText()), QueryFixtures.line(try query.keySelectText()),
      QueryFixtures.line(try query.countText()), QueryFixtures.line(try query.selectionText()),
    ]
  }

  @Test func allRecordsComeInKeyOrder() throws {
    #expect(
      try lines(StoreQuery(orders)) == [
        #"SELECT "order", "product", "the amount", "price", "weight" FROM "Order Details" ORDER BY "order", "product" COLLATE "BINARY""#,
        #"SELECT "order", "product" FROM "Order Details" ORDER BY "order", "product" COLLATE "BINARY""#,
        #"SELECT count(*) FROM "Order Details""#,
        "",
      ])
  }

  @Test func conditionOrderAndWindowAreCombined() throws {
    let query = StoreQuery<DynamicRecord>(
      orders, where: .comparison(.field(2), .greater, .value(.integer(3))),
      orderings: [
        QueryOrdering(fieldIndex: 2, direction: .descending, nulls: .first),
        QueryOrdering(fieldIndex: 1, collation: .binary),
      ], limit: 10, offset: 20)
    #expect(
      try lines(query) == [
        #"SELECT "order", "product", "the amount", "price", "weight" FROM "Order Details" WHERE "the amount" > 3 ORDER BY "the amount" DESC NULLS FIRST, "product" COLLATE "BINARY", "order" LIMIT 10 OFFSET 20"#,
        #"SELECT "order", "product" FROM "Order Details" WHERE "the amount" > 3 ORDER BY "the amount" DESC NULLS FIRST, "product" COLLATE "BINARY", "order" LIMIT 10 OFFSET 20"#,
        #"SELECT count(*) FROM ( SELECT 1 FROM "Order Details" WHERE "the amount" > 3 LIMIT 10 OFFSET 20 )"#,
        #"WHERE ("order", "product") IN ( SELECT "order", "product" FROM "Order Details" WHERE "the amount" > 3 ORDER BY "the amount" DESC NULLS FIRST, "product" COLLATE "BINARY", "order" LIMIT 10 OFFSET 20 )"#,
      ])
  }

  @Test func anOffsetWithoutALimitStillWritesALimit() throws {
    let text = try StoreQuery<DynamicRecord>(orders, offset: 5).keySelectText()
    #expect(text.sql.hasSuffix("LIMIT ? OFFSET ?"))
    #expect(text.arguments == [.integer(-1), .integer(5)])
  }

  @Test func repeatedOrderingsAreDroppedAndOtherCollationsKept() {
    let query = StoreQuery<DynamicRecord>(
      orders,
      orderings: [
        QueryOrdering(fieldIndex: 1, direction: .descending), QueryOrdering(fieldIndex: 1),
        QueryOrdering(fieldIndex: 1, collation: .rtrim), QueryOrdering(fieldIndex: 0, nulls: .last),
      ])
    #expect(
      query.totalOrderings == [
        QueryOrdering(fieldIndex: 1, direction: .descending),
        QueryOrdering(fieldIndex: 1, collation: .rtrim), QueryOrdering(fieldIndex: 0, nulls: .last),
        QueryOrdering(fieldIndex: 1, collation: .binary),
      ])
  }

  @Test func theDefaultsOfAnOrderingMatchSQLite() {
    let descending = QueryOrdering(fieldIndex: 1, direction: .descending)
    #expect(descending.effectiveNulls == .last)
    #expect(descending.effectiveCollation(in: orders) == .nocase)
    #expect(QueryOrdering(fieldIndex: 1).effectiveNulls == .first)
    #expect(
      QueryOrdering(fieldIndex: 1, collation: .rtrim).effectiveCollation(in: orders) == .rtrim)
  }

  @Test func filtersAddUpAndOrdersReplace() {
    let (first, second) = (Condition.isNull(.field(2)), Condition.isNotNull(.field(0)))
    let query = StoreQuery<DynamicRecord>(orders).filter(first).order([QueryOrdering(fieldIndex: 0)]
    )
    .filter(second).order([QueryOrdering(fieldIndex: 2)]).limit(3)
    #expect(
      query
        == StoreQuery(
          orders, where: .and([first, second]), orderings: [QueryOrdering(fieldIndex: 2)], limit: 3)
    )
    #expect(query != query.limit(4))
    #expect(Set([query, query.limit(3), query.limit(nil)]).count == 2)
  }

  @Test func aggregatesReadTheWholeResultOrItsWindow() throws {
    let query = StoreQuery<DynamicRecord>(orders, where: .isNotNull(.field(2)))
    let texts = try StoreQuery<DynamicRecord>.Aggregate.allCases.map {
      QueryFixtures.line(try query.aggregateText($0, of: 2))
    }
    let tail = #" FROM "Order Details" WHERE "the amount" IS NOT NULL"#
    #expect(
      texts
        == [
          #"min("the amount")"#, #"max("the amount")"#, #"sum("the amount")"#,
          #"avg("the amount")"#, #"count(DISTINCT "the amount")"#,
        ].map { "SELECT \($0)\(tail)" })
    #expect(
      QueryFixtures.line(try query.limit(2).aggregateText(.sum, of: 2))
        == #"SELECT sum("the amount") FROM ( SELECT "the amount"\#(tail) ORDER BY "order", "product" COLLATE "BINARY" LIMIT 2 OFFSET 0 )"#
    )
  }

  @Test func sumsOfTextsAreRefused() throws {
    let query = StoreQuery<DynamicRecord>(orders)
    let error = #expect(throws: StoreError.self) { try query.aggregateText(.sum, of: 3) }
    #expect(error?.message == "Order.price has type decimal, which has no sum.")
    #expect(throws: StoreError.self) { try query.aggregateText(.maximum, of: 3) }
    #expect(try query.aggregateText(.countDistinct, of: 3).arguments == [])
  }

  @Test(.ownThreads) func negativeWindowsTrap() async {
    await #expect(processExitsWith: .failure) {
      _ = StoreQuery<DynamicRecord>(ModelSchema(name: "T", fields: [], key: []), limit: -1)
    }
    await #expect(processExitsWith: .failure) {
      _ = StoreQuery<DynamicRecord>(ModelSchema(name: "T", fields: [], key: [])).limit(
        1, offset: -1)
    }
  }

  @Test func sqliteAcceptsEveryStatement() throws {
    let connection = try QueryFixtures.scratchConnection()
    try connection.execute(
      """
      CREATE TABLE "Order Details" (
        "order" INTEGER, product TEXT COLLATE NOCASE, "the amount" INTEGER, price TEXT, weight REAL,
        PRIMARY KEY ("order", product)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO "Order Details"
      VALUES (1, 'Ale', 5, '1.5', 1), (1, 'bun', NULL, '2', 2), (2, 'Ale', 7, '3', 4), (3, 'Cod', 7, '1', 8);
      """)
    let query = StoreQuery<DynamicRecord>(
      orders, where: .comparison(.field(4), .less, .value(.integer(8))),
      orderings: [QueryOrdering(fieldIndex: 2, direction: .descending, nulls: .first)], limit: 2)
    func rows(_ text: SQLText) throws -> [[SQLValue]] {
      try connection.rows(text) { row in try row.values() }
    }
    #expect(
      try rows(query.keySelectText()) == [
        [.integer(1), .text("bun")], [.integer(2), .text("Ale")],
      ])
    #expect(try rows(query.countText()) == [[.integer(2)]])
    #expect(try rows(query.aggregateText(.sum, of: 4)) == [[.real(6)]])
    #expect(try rows(query.aggregateText(.countDistinct, of: 2)) == [[.integer(1)]])
    try connection.run("DELETE FROM \"Order Details\"\n\(try query.selectionText())")
    #expect(
      try rows(StoreQuery<DynamicRecord>(orders).keySelectText())
        == [[.integer(1), .text("Ale")], [.integer(3), .text("Cod")]])
  }
}
