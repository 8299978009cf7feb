import ModelStore

/// Which records of an input are imported: those whose values meet a predicate. A field that a
/// record does not have is null.
struct InputSelection {
  private let evaluator: ConditionEvaluator
  private let affinities: [ColumnAffinity]

  /// - Throws: ``CommandError`` that points into a wrong predicate, and for one that only SQLite
  ///   can evaluate.
  init(_ text: String, of schema: ModelSchema) throws {
    let query = try PredicateText(schema: schema).query(where: text)
    guard let condition = query.condition,
      let evaluator = ConditionEvaluator(condition, schema: schema)
    else {
      throw CommandError.usage(
        "--where compares a field with a collation that only the program that declared it has.",
        model: schema.name)
    }
    self.evaluator = evaluator
    affinities = schema.fields.map(\.affinity)
  }

  func takes(_ record: InputRecord) throws -> Bool {
    var values = [SQLValue](repeating: .null, count: affinities.count)
    for (place, value) in zip(record.fields.places, record.row) {
      values[place] = affinities[place].converting(value)
    }
    return evaluator(values) == true
  }
}
