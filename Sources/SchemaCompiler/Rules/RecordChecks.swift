/// The checks of one model's records by themselves: required values, types, references, and rules.
/// Each check has a condition that is true for records that break it.
package struct RecordChecks {
  package struct Check {
    package let violation: Violation
    /// The condition over the columns of the model's table.
    package let offence: SQLText
    /// Whether it reads other records too.
    package var readsOthers = false
  }

  package let schema: ModelSchema
  package let models: [ModelSchema]
  /// The rules beside the table's definition; may include rules of other models.
  package let rules: [Rule]

  package init(schema: ModelSchema, models: [ModelSchema], rules: [Rule]) {
    self.schema = schema
    self.models = models
    self.rules = rules
  }

  /// In the order of fields, then checks over several fields, then the added rules.
  package var checks: [Check] {
    let added = rules.filter { $0.model == schema.name }.compactMap { rule -> Check? in
      guard let offence = objects(of: rule)?.offence else { return nil }
      var check = Check(violation: rule.violation, offence: offence)
      switch rule.demand {
      case .required, .condition: break
      default: check.readsOthers = true
      }
      return check
    }
    return schema.fields.flatMap { checks(of: $0) } + schema.rules.map { condition($0, fields: []) }
      + added
  }

  private func objects(of rule: Rule) -> RuleObjects? {
    do {
      return RuleObjects(try ResolvedRule(rule, in: models))
    } catch {
      // Its model or field is gone. Its triggers are removed when the program that changed the
      // schema opens the store.
      return nil
    }
  }

  private func checks(of field: FieldSchema) -> [Check] {
    let column: SQLText = "\(identifier: field.column)"
    var checks: [Check] = []
    if !field.isOptional, !field.isRowID {
      checks.append(
        Check(
          violation: violation(
            .required, field, "required", "must have a value", remedy: "Give it one."),
          offence: "\(column) IS NULL"))
    }
    if let classes = field.storageClassList {
      checks.append(
        Check(
          violation: violation(
            .type, field, "type", "must be of type \(field.type.rawValue)",
            remedy: "Convert the value first."),
          offence: "typeof(\(column)) NOT IN (\(SQLText(sql: classes)), 'null')"))
    }
    if field.type == .boolean {
      checks.append(
        Check(
          violation: violation(
            .check, field, "boolean", "must be true or false", remedy: "Give it 1 or 0."),
          offence: "\(column) IS NOT NULL AND \(column) NOT IN (0, 1)"))
    }
    if let reference = field.reference, let referenced = reference.referencedColumn(in: models) {
      checks.append(
        Check(
          violation: .missing("record of \(reference.table)", for: field.name, of: schema),
          offence: """
            \(column) IS NOT NULL AND NOT EXISTS (
              SELECT 1 FROM \(identifier: reference.table) AS "_ms_referenced"
              WHERE "_ms_referenced".\(identifier: referenced)
                = \(identifier: schema.table).\(column))
            """, readsOthers: true))
    }
    return checks + field.rules.map { condition($0, fields: [field.name]) }
  }

  private func violation(
    _ kind: Violation.Kind, _ field: FieldSchema, _ label: String, _ message: String,
    remedy: String
  ) -> Violation {
    Violation(
      kind: kind, model: schema.name, fields: [field.name],
      rule: "\(schema.name).\(field.name).\(label)", message: message, remedy: remedy)
  }

  private func condition(_ rule: RuleSchema, fields: [String]) -> Check {
    Check(
      violation: Violation(
        kind: .check, model: schema.name, fields: fields, rule: rule.name, message: rule.message,
        remedy: "Change the value."),
      offence: "NOT (\(SQLText(sql: rule.condition)))")
  }
}

extension ReferenceSchema {
  /// Returns the referenced column; nil when only a model can determine it and `models` has none.
  package func referencedColumn(in models: [ModelSchema]) -> String? {
    if let column { return column }
    guard let model = models.first(where: { $0.table == table }), model.key.count == 1
    else { return nil }
    return model.field(named: model.key[0])?.column
  }
}

extension FieldSchema {
  /// The storage classes of valid values other than NULL, as SQL; nil if any class is valid.
  fileprivate var storageClassList: String? {
    if let form, form.isText { return "'text'" }
    return switch type {
    case .integer, .boolean: "'integer'"
    case .real, .date: "'real', 'integer'"
    case .text, .uuid, .url, .decimal, .json: "'text'"
    case .blob: "'blob'"
    case .any: nil
    }
  }
}

extension Violation {
  package static let referenceRemedy = "Insert that record first, or name another."

  /// Returns the violation for a field that refers to a missing record of the model or table called
  /// `target`.
  package static func missing(_ target: String, for field: String, of model: ModelSchema)
    -> Violation
  {
    Violation(
      kind: .reference, model: model.name, fields: [field],
      rule: "\(model.name).\(field).reference", message: "must name an existing \(target)",
      remedy: referenceRemedy)
  }
}
