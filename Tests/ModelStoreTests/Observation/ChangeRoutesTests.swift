import Testing

@testable import ModelStore

/// The observers found for a change, compared with a search through all of them.
@Suite(.tags(.law)) struct ChangeRoutesTests {
  private static let schema = ModelSchema(
    name: "t",
    fields: [
      FieldSchema(name: "id", type: .integer), FieldSchema(name: "a", type: .integer),
      FieldSchema(name: "b", type: .integer),
    ], key: ["id"])

  private static func concerns(
    _ change: RecordChange, _ interest: ChangeBroker.Interest
  ) -> Bool {
    guard change.model == interest.model else { return false }
    if let old = change.old, let new = change.new, old != new, let fields = interest.fields,
      !fields.contains(where: { old[$0] != new[$0] })
    {
      return false
    }
    switch interest.records {
    case .all: return true
    case .one(let key, let identity): return identity(stored: change.key) == key
    case .having(let field, let value):
      return [change.old, change.new].contains { $0?[field] == value }
    case .within(let range):
      return [change.old, change.new].contains { image in
        image.map { range.contains(ValueRange.place(of: $0[range.field], range.collation)) }
          ?? false
      }
    }
  }

  @Test(arguments: 1...4)
  func exactlyTheAffectedObserversAreFound(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var routes = ChangeRoutes()
    var known: [UInt64: ChangeBroker.Interest] = [:]
    func value() -> SQLValue { .integer(Int64.random(in: 0..<4, using: &random)) }
    func range() -> ValueRange {
      let bounds: [ValueRange.Edge] = [
        .start, .before(ValueRange.place(of: value(), .binary)),
        .after(ValueRange.place(of: value(), .binary)), .end,
      ]
      return ValueRange(
        field: 2, collation: .binary, lower: bounds.randomElement(using: &random) ?? .start,
        upper: bounds.randomElement(using: &random) ?? .end)
    }
    for number in 1...2000 as ClosedRange<UInt64> {
      if Bool.random(using: &random), let gone = known.keys.sorted().randomElement(using: &random) {
        if let interest = known.removeValue(forKey: gone) {
          _ = routes.remove(gone, for: interest)
        }
      } else {
        let records: [ChangeBroker.Interest.Records] = [
          .all, .one([value()], of: Self.schema), .having(field: 1, value: value()),
          .having(field: 2, value: value()), .within(range()),
        ]
        let interest = ChangeBroker.Interest(
          model: Bool.random(using: &random) ? "t" : "u",
          records: records.randomElement(using: &random) ?? .all,
          fields: [nil, [1], [1, 2]].randomElement(using: &random) ?? nil)
        known[number] = interest
        _ = routes.add(number, for: interest)
      }
      let key = value()
      func image() -> [SQLValue] { [key, value(), value()] }
      let change = RecordChange(
        model: "t", key: [key], old: Bool.random(using: &random) ? image() : nil, new: image(),
        fields: [], origin: .user, isRecreated: false)
      var found: [UInt64] = []
      routes.forEachObserver(of: change) { found.append($0) }
      #expect(
        found.sorted() == known.filter { Self.concerns(change, $0.value) }.keys.sorted(),
        "seed \(seed), step \(number)")
      var wanted: [String: Set<Int>?] = [:]
      for interest in known.values {
        wanted[interest.model] = .some(
          wanted[interest.model, default: .some([])].flatMap { known in
            interest.fields.map { known.union($0) }
          })
      }
      #expect(routes.interests == wanted, "seed \(seed), step \(number)")
    }
  }
}
