import Testing

@testable import ModelStore

/// Which rows a change brings into a result or takes out of it.
@Suite(.tags(.unit)) struct AdmissionTests {
  /// More fields than a mask of changed fields distinguishes.
  private static let schema = ModelSchema(
    name: "wide", fields: (0..<70).map { FieldSchema(name: "f\($0)", type: .integer) }, key: ["f0"])

  private static func change(_ field: Int, from old: Int64, to new: Int64) -> RecordChange {
    func image(_ value: Int64) -> [SQLValue] {
      var image = [SQLValue](repeating: .integer(1), count: 70)
      image[field] = .integer(value)
      return image
    }
    return RecordChange(
      model: "wide", key: [.integer(1)], old: image(old), new: image(new), origin: .user)
  }

  /// A condition is not evaluated again after a change of fields that it does not read. Fields that
  /// share a bit of the mask are not such fields.
  @Test(arguments: [1, 40, 62, 63, 64, 69])
  func aConditionIsEvaluatedAgainIfAFieldThatItReadsChanged(field: Int) {
    let rule = LiveResult.Rule(
      schema: Self.schema, admits: { $0[field] == .integer(1) }, filterFields: [field], terms: [])
    for changed in [1, 2, 40, 62, 63, 64, 65, 69] {
      let isOwn = changed == field
      let entering = rule.touch(Self.change(changed, from: 0, to: 1))
      #expect(entering?.before == (isOwn ? .excluded : .admitted))
      #expect(entering?.after == .admitted)
      let leaving = rule.touch(Self.change(changed, from: 1, to: 0))
      #expect(leaving?.before == .admitted)
      #expect(leaving?.after == (isOwn ? .excluded : .admitted))
      let staying = rule.touch(Self.change(changed, from: 7, to: 8))
      #expect(staying?.before == (isOwn ? nil : .admitted))
    }
  }

  @Test func aConditionIsNotEvaluatedAgainIfNothingThatItReadsChanged() {
    let evaluations = Recorder<[SQLValue]>()
    let rule = LiveResult.Rule(
      schema: Self.schema,
      admits: { image in
        evaluations.add(image)
        return true
      }, filterFields: [3], terms: [])
    let change = Self.change(5, from: 1, to: 2)
    #expect(rule.touch(change)?.after == .admitted)
    #expect(evaluations.events == [change.old ?? []])
  }

  /// Results of one order share the places of a row, and those of another order do not.
  @Test func onlyResultsOfOneOrderShareARow() {
    func rule(_ field: Int, _ direction: SortTerm.Direction = .ascending) -> LiveResult.Rule {
      LiveResult.Rule(
        schema: Self.schema, admits: nil,
        terms: [(field: field, term: SortTerm(direction: direction))])
    }
    let change = Self.change(2, from: 1, to: 2)
    let first = rule(2).touch(change)?.row
    #expect(rule(2).touch(change)?.row === first)
    for other in [rule(3), rule(2, .descending)] {
      let row = other.touch(change)?.row
      #expect(row !== first)
      #expect(other.touch(change)?.row === row)
    }
  }
}
