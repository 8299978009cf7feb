import ModelStore

/// A rule that is part of the definition of a model's table: CHECK, NOT NULL, UNIQUE or a reference.
struct TableRule {
  let name: String
  let fields: [String]
  let message: String

  /// Returns the rules of the table, in the order of its fields, then those over several fields.
  static func all(of model: ModelSchema, in models: [ModelSchema]) -> [TableRule] {
    guard model.kind == .table else { return [] }
    let checks = RecordChecks(schema: model, models: models, rules: []).checks
      .map(\.violation)
      // A type is no rule of its own: the sheet of the model shows it.
      .filter { $0.kind != .type }
      .map { TableRule(name: $0.rule, fields: $0.fields, message: $0.message) }
    let unique = uniqueFields(of: model).map { fields in
      TableRule(
        name: "\(model.name).\(fields.joined(separator: ",")).unique", fields: fields,
        message: fields.count == 1 ? "must be unique" : "must be unique together")
    }
    let places = Dictionary(
      model.fields.enumerated().map { ($0.element.name, $0.offset) }
    ) { first, _ in first }
    func place(_ rule: TableRule) -> Int {
      rule.fields.count == 1 ? places[rule.fields[0]] ?? .max : .max
    }
    return (checks + unique).enumerated()
      .sorted { (place($0.element), $0.offset) < (place($1.element), $1.offset) }
      .map(\.element)
  }

  /// The sets of fields whose values are unique, except the key.
  private static func uniqueFields(of model: ModelSchema) -> [[String]] {
    let all =
      model.fields.filter(\.isUnique).map { [$0.name] } + model.uniques
      + model.indexes.filter(\.isUnique).map(\.fields)
    var seen: Set<[String]> = [model.key]
    return all.filter { !$0.isEmpty && seen.insert($0).inserted }
  }
}
