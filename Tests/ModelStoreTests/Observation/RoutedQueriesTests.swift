import Testing

@testable import ModelStore

/// Live queries found for a change by values and ranges, compared with SQL's own answer for every
/// row: a query that is not found is not affected by the row.
@Suite(.tags(.law)) struct RoutedQueriesTests {
  private static let schema = ModelSchema(
    name: "t",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "whole", type: .integer, isOptional: true),
      FieldSchema(name: "real", type: .real, isOptional: true),
      FieldSchema(name: "text", type: .text, isOptional: true),
      FieldSchema(name: "folded", type: .text, isOptional: true, collation: .nocase),
      FieldSchema(name: "trimmed", type: .text, isOptional: true, collation: .rtrim),
      FieldSchema(name: "any", type: .any, isOptional: true),
    ], key: ["id"])

  private static let numbers: [SQLValue] = [
    .integer(0), .integer(1), .integer(2), .integer(-1), .real(0.5), .real(1), .real(1.5),
    .real(-0.0), .integer(1 << 53), .integer((1 << 53) + 1), .real(0x1p53), .integer(.max),
    .real(0x1p63), .integer(.min), .real(.infinity),
  ]
  private static let texts: [SQLValue] = [
    "", "a", "A", "a ", "A  ", "b", "ab", "AB ", "a\u{0}b", "A\u{0}c", "1", "2", "Ä", "ä", "a\t",
  ].map { .text($0) }
  private static let blobs: [SQLValue] = [.blob([]), .blob([97]), .blob([0])]

  /// Rows as a STRICT table keeps them.
  private static func rows(
    on connection: Connection, _ random: inout SeededGenerator
  ) throws -> [[SQLValue]] {
    try connection.execute(
      """
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, whole INTEGER, real REAL, text TEXT, folded TEXT COLLATE NOCASE,
        trimmed TEXT COLLATE RTRIM, any ANY) STRICT
      """)
    let whole = numbers.filter { $0.storageClass == .integer } + [.null]
    for id in 1...150 {
      let values: [SQLValue] = [
        .integer(Int64(id)), whole.randomElement(using: &random) ?? .null,
        (numbers + [.null]).randomElement(using: &random) ?? .null,
        (texts + [.null]).randomElement(using: &random) ?? .null,
        (texts + [.null]).randomElement(using: &random) ?? .null,
        (texts + [.null]).randomElement(using: &random) ?? .null,
        (numbers + texts + blobs + [.null]).randomElement(using: &random) ?? .null,
      ]
      try connection.run(SQLText(sql: "INSERT INTO t VALUES (?,?,?,?,?,?,?)", arguments: values))
    }
    return try connection.rows(SQLText(sql: "SELECT * FROM t ORDER BY id")) { try $0.values() }
  }

  private static func condition(_ random: inout SeededGenerator) -> Condition {
    let field = Condition.Operand.field(Int.random(in: 1...6, using: &random))
    let values = numbers + texts + blobs + [.null]
    func value() -> SQLValue { values.randomElement(using: &random) ?? .null }
    let comparison = Condition.Comparison.allCases.randomElement(using: &random) ?? .equal
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return .isNull(field)
    case 1: return .isIn(field, [value(), value(), value()])
    case 2, 3: return .between(field, lower: .value(value()), upper: .value(value()))
    case 4: return .comparison(.value(value()), comparison, field)
    case 5: return .and([condition(&random), condition(&random)])
    case 6: return .or([condition(&random), condition(&random)])
    default: return .comparison(field, comparison, .value(value()))
    }
  }

  @Test(arguments: 1...8)
  func observersThatAreNotFoundAreNotAffectedByTheRow(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let connection = try QueryFixtures.scratchConnection()
    let rows = try Self.rows(on: connection, &random)
    var routes = ChangeRoutes()
    var selected: [UInt64: Set<SQLValue>] = [:]
    var interests: [UInt64: ChangeBroker.Interest] = [:]
    var boundCount = 0
    for number in 1...300 as ClosedRange<UInt64> {
      let query = StoreQuery<DynamicRecord>(Self.schema, where: Self.condition(&random))
      let plan = try LiveBlueprint(query)
      if case .all = plan.interest.records {} else { boundCount += 1 }
      selected[number] = Set(try connection.rows(query.keySelectText()) { try $0.value(at: 0) })
      interests[number] = plan.interest
      _ = routes.add(number, for: plan.interest)
    }
    #expect(boundCount > 150, "seed \(seed)")
    for round in 0..<300 {
      let (old, new) = (rows.randomElement(using: &random), rows.randomElement(using: &random))
      guard let old, var new, old != new else { continue }
      let oldID = old[0]
      let newID = new[0]
      new[0] = oldID
      let change = RecordChange(
        model: "t", key: [oldID], old: round % 7 == 0 ? nil : old, new: round % 5 == 0 ? nil : new,
        fields: [], origin: .user, isRecreated: false)
      var found: Set<UInt64> = []
      routes.forEachObserver(of: change) { number in
        #expect(found.insert(number).inserted, "seed \(seed), round \(round): twice")
      }
      for (number, ids) in selected {
        let isConcerned =
          (change.old != nil && ids.contains(oldID)) || (change.new != nil && ids.contains(newID))
        if isConcerned, change.old != change.new, !found.contains(number) {
          Issue.record("seed \(seed), round \(round): \(String(describing: interests[number]))")
          return
        }
      }
    }
  }

  @Test func costFollowsMatchesForQueriesOfRanges() throws {
    var routes = ChangeRoutes()
    for number in 0..<2_000 as Range<UInt64> {
      let low = Int64(number) * 10
      let query = StoreQuery<DynamicRecord>(
        Self.schema,
        where: .and([
          .comparison(.field(1), .greaterOrEqual, .value(.integer(low))),
          .comparison(.field(1), .less, .value(.integer(low + 10))),
        ]))
      _ = routes.add(number, for: try LiveBlueprint(query).interest)
    }
    func image(_ whole: Int64) -> [SQLValue] {
      [.integer(1), .integer(whole), .null, .null, .null, .null, .null]
    }
    var found: [UInt64] = []
    let visited = routes.forEachObserver(
      of: RecordChange(
        model: "t", key: [.integer(1)], old: image(5_004), new: image(15), fields: [],
        origin: .user, isRecreated: false)
    ) { found.append($0) }
    #expect(found.sorted() == [1, 500])
    #expect(visited <= 100)
  }

  @Test func queriesThatReadOtherFieldsAreNotNotified() {
    var routes = ChangeRoutes()
    for field in 1...6 {
      _ = routes.add(
        UInt64(field),
        for: ChangeBroker.Interest(
          model: "t", records: .one([.integer(1)], of: Self.schema), fields: [field]))
    }
    let old: [SQLValue] = [.integer(1), .null, .null, .text("a"), .null, .null, .null]
    var new = old
    new[3] = .text("b")
    func told(_ old: [SQLValue]?, _ new: [SQLValue]?) -> [UInt64] {
      var found: [UInt64] = []
      routes.forEachObserver(
        of: RecordChange(
          model: "t", key: [.integer(1)], old: old, new: new, fields: [], origin: .user,
          isRecreated: false)
      ) { found.append($0) }
      return found.sorted()
    }
    #expect(told(old, new) == [3])
    #expect(told(old, nil) == [1, 2, 3, 4, 5, 6])
    #expect(told(nil, new) == [1, 2, 3, 4, 5, 6])
  }
}
