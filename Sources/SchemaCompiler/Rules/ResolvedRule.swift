/// A rule with the models and fields that it names.
package struct ResolvedRule: Hashable, Sendable {
  package let rule: Rule
  package let model: ModelSchema
  /// The fields that the rule concerns.
  package let fields: [FieldSchema]
  /// The fields that group records.
  package let group: [FieldSchema]
  /// The model that the rule's field refers to.
  package let referenced: ModelSchema?
  /// The condition for records, or for the records that have to be unique.
  package let expression: SQLExpression?

  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema`.
  package init(_ rule: Rule, in models: [ModelSchema]) throws(StoreError) {
    guard !rule.name.isEmpty, !rule.name.utf8.contains(0), !rule.message.utf8.contains(0) else {
      throw rule.refusal(.unsupportedSchema, "its name is empty, or there is a NUL in it.")
    }
    let model = try rule.model(rule.model, in: models)
    guard model.kind == .table else {
      throw rule.refusal(.unsupportedSchema, "\(model.name) is a view, which cannot be written.")
    }
    self.rule = rule
    self.model = model
    fields = try rule.fields(rule.fields, of: model)
    group = try rule.fields(rule.demand.groupNames, of: model)
    referenced = try rule.referencedModel(in: models)
    expression = try rule.expression()
    try rule.checkNumbers()
  }

  /// The fields whose change may break the rule; none when only another record can break it.
  package var watched: [FieldSchema] {
    switch rule.demand {
    case .required, .immutable, .reference, .unique: return fields
    case .countAtMost: return group
    case .sumAtMost, .noOverlap: return group + fields
    case .condition:
      let names = Set(expression?.plainNames ?? [])
      let named = model.fields.filter { names.contains($0.column.asciiFolded) }
      return named.isEmpty ? model.fields : named
    }
  }

  /// The key's fields that are not ``watched``.
  var keyBesideWatched: [FieldSchema] {
    let names = Set(watched.map(\.name))
    return model.keyIndices.map { model.fields[$0] }.filter { !names.contains($0.name) }
  }
}

extension Rule {
  fileprivate func refusal(_ code: StoreError.Code, _ reason: String) -> StoreError {
    StoreError(code, "The rule \(name) cannot be kept: \(reason)", model: model)
  }

  fileprivate func model(
    _ name: String, in models: [ModelSchema]
  ) throws(StoreError) -> ModelSchema {
    guard let found = models.first(where: { $0.name == name }) else {
      throw refusal(.unknownModel, "\(name) is not a model of this store.")
    }
    return found
  }

  fileprivate func fields(
    _ names: [String], of model: ModelSchema
  ) throws(StoreError) -> [FieldSchema] {
    var found: [FieldSchema] = []
    for name in names {
      guard let field = model.field(named: name) else {
        throw refusal(.unknownField, "\(model.name) has no field \(name).")
      }
      found.append(field)
    }
    return found
  }

  fileprivate func referencedModel(in models: [ModelSchema]) throws(StoreError) -> ModelSchema? {
    guard case .reference(let name) = demand else { return nil }
    let referenced = try model(name, in: models)
    guard referenced.key.count == 1, referenced.kind == .table else {
      throw refusal(.unsupportedSchema, "\(name) has no key of one field to refer to.")
    }
    return referenced
  }

  fileprivate func expression() throws(StoreError) -> SQLExpression? {
    guard let condition = demand.conditionSQL else { return nil }
    let expression: SQLExpression
    do throws(SQLExpression.Problem) {
      expression = try SQLExpression(condition)
    } catch {
      throw refusal(.unsupportedSchema, "the condition \(error.reason).")
    }
    if let clock = expression.clockDependency {
      throw refusal(.unsupportedSchema, "\(clock) has another value at another time.")
    }
    guard !expression.calledNames.contains("raise") else {
      throw refusal(
        .unsupportedSchema, "RAISE is for triggers. Write the condition that must be true.")
    }
    return expression
  }

  fileprivate func checkNumbers() throws(StoreError) {
    switch demand {
    case .countAtMost(let count, _) where count < 0:
      throw refusal(.unsupportedSchema, "the count is negative.")
    case .sumAtMost(let limit, _) where !limit.isFinite:
      throw refusal(.unsupportedSchema, "the limit is not a number.")
    default: break
    }
    let wanted = demand.fieldCounts
    guard wanted.contains(fields.count) else {
      let words = wanted.upperBound == .max ? "at least one" : "\(wanted.lowerBound)"
      throw refusal(.unsupportedSchema, "it is about \(fields.count) fields, not \(words).")
    }
  }
}

extension Rule.Demand {
  var conditionSQL: String? {
    switch self {
    case .condition(let sql): sql
    case .unique(let sql): sql
    default: nil
    }
  }

  /// The names of the fields that group records.
  var groupNames: [String] {
    switch self {
    case .countAtMost(_, let per), .sumAtMost(_, let per), .noOverlap(let per): per
    default: []
    }
  }

  /// The number of fields that such a rule may concern.
  fileprivate var fieldCounts: ClosedRange<Int> {
    switch self {
    case .required, .immutable, .unique: 1...Int.max
    case .condition, .countAtMost: 0...Int.max
    case .reference, .sumAtMost: 1...1
    case .noOverlap: 2...2
    }
  }
}
