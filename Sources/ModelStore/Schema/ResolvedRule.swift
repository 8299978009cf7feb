/// A rule with the models and fields that it names.
struct ResolvedRule: Hashable, Sendable {
  let rule: Rule
  let model: ModelSchema
  /// Those that the rule is about.
  let fields: [FieldSchema]
  /// Those that say which records count together.
  let group: [FieldSchema]
  /// The model that the rule's field refers to.
  let referenced: ModelSchema?
  /// The condition, of records or of those that are to be unique.
  let expression: SQLExpression?

  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema`.
  init(_ rule: Rule, in models: [ModelSchema]) throws(StoreError) {
    func refusal(_ code: StoreError.Code, _ reason: String) -> StoreError {
      StoreError(code, "The rule \(rule.name) cannot be kept: \(reason)", model: rule.model)
    }
    guard !rule.name.isEmpty, !rule.name.utf8.contains(0), !rule.message.utf8.contains(0) else {
      throw refusal(.unsupportedSchema, "its name is empty, or there is a NUL in it.")
    }
    guard let model = models.first(where: { $0.name == rule.model }) else {
      throw refusal(.unknownModel, "\(rule.model) is not a model of this store.")
    }
    guard model.kind == .table else {
      throw refusal(.unsupportedSchema, "\(model.name) is a view, which nobody writes.")
    }
    func fields(_ names: [String]) throws(StoreError) -> [FieldSchema] {
      var found: [FieldSchema] = []
      for name in names {
        guard let field = model.field(named: name) else {
          throw refusal(.unknownField, "\(model.name) has no field \(name).")
        }
        found.append(field)
      }
      return found
    }
    self.rule = rule
    self.model = model
    self.fields = try fields(rule.fields)
    var group: [FieldSchema] = []
    var referenced: ModelSchema?
    var condition: String?
    var fieldCount = 1...Int.max
    switch rule.demand {
    case .required, .immutable: break
    case .condition(let sql):
      condition = sql
      fieldCount = 0...Int.max
    case .unique(let sql): condition = sql
    case .reference(let name):
      fieldCount = 1...1
      referenced = models.first { $0.name == name }
      guard let referenced else {
        throw refusal(.unknownModel, "\(name) is not a model of this store.")
      }
      guard referenced.key.count == 1, referenced.kind == .table else {
        throw refusal(.unsupportedSchema, "\(name) has no key of one field to refer to.")
      }
    case .countAtMost(let count, let per):
      guard count >= 0 else { throw refusal(.unsupportedSchema, "the count is negative.") }
      group = try fields(per)
      fieldCount = 0...Int.max
    case .sumAtMost(let limit, let per):
      guard limit.isFinite else { throw refusal(.unsupportedSchema, "the limit is no number.") }
      group = try fields(per)
      fieldCount = 1...1
    case .noOverlap(let per):
      group = try fields(per)
      fieldCount = 2...2
    }
    guard fieldCount.contains(rule.fields.count) else {
      let wanted = fieldCount.upperBound == .max ? "at least one" : "\(fieldCount.lowerBound)"
      throw refusal(.unsupportedSchema, "it is about \(rule.fields.count) fields, not \(wanted).")
    }
    self.group = group
    self.referenced = referenced
    do throws(SQLExpression.Problem) {
      var expression: SQLExpression?
      if let condition { expression = try SQLExpression(condition) }
      self.expression = expression
    } catch {
      throw refusal(.unsupportedSchema, "the condition \(error.reason).")
    }
    if let clock = expression?.clockDependency {
      throw refusal(.unsupportedSchema, "\(clock) is another value tomorrow.")
    }
  }

  /// The fields whose change may break the rule; none when only another record can break it.
  var watched: [FieldSchema] {
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
