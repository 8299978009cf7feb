import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct PlacedKeysTests {
  private static let schema = ModelSchema(
    name: "t",
    fields: [
      FieldSchema(name: "number", type: .integer), FieldSchema(name: "name", type: .text),
      FieldSchema(name: "any", type: .any),
    ], key: ["number", "name"])

  /// Behind every value of the corpus in every order, keys of integers and texts read back exactly.
  @Test func keysAreReadBackFromBehindAnyTerms() throws {
    let collations: [Collation] = [.binary, .nocase, .rtrim]
    let terms = collations.flatMap { collation in
      [SortTerm.Direction.ascending, .descending].flatMap { direction in
        [SortTerm.NullPlacement.first, .last].map {
          SortTerm(collation: collation, direction: direction, nulls: $0)
        }
      }
    }
    let integers: [Int64] = [0, 1, -1, 255, -256, 1 << 52, 1 << 53, -(1 << 53) - 1, .max, .min]
    let texts = ["", "a", "a\u{0}b", "\u{1}\u{2}", "Ä", String(repeating: "long ", count: 9)]
    for term in terms {
      let keys = try #require(PlacedKeys(Self.schema, orderedBy: [term, term]))
      for (place, value) in sortCorpus.enumerated() {
        let other = sortCorpus[(place * 7 + 3) % sortCorpus.count]
        let key: [SQLValue] = [
          .integer(integers[place % integers.count]), .text(texts[place % texts.count]),
        ]
        let sortKey = SortKey(values: [value, other], terms: [term, term], key: key)
        #expect(keys.key(in: sortKey) == key, "\(value), \(other) by \(term)")
      }
    }
  }

  @Test func columnsThatMayHoldRealsKeepTheirKeys() {
    for (type, declaredType) in [
      (FieldType.real, nil), (.any, nil), (.integer, "INT"), (.any, "NUMERIC"),
    ] as [(FieldType, String?)] {
      var field = FieldSchema(name: "id", type: type)
      field.declaredType = declaredType
      let schema = ModelSchema(name: "t", fields: [field], key: ["id"])
      #expect(PlacedKeys(schema, orderedBy: []) == nil, "\(type) \(declaredType ?? "strict")")
    }
  }
}
