// Rules by key paths of a model.
extension Rule {
  /// A rule of one field, called `Model.field.label`.
  public static func field<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, _ rule: FieldRule,
    severity: Violation.Severity = .error
  ) -> Rule {
    let name = Self.name(of: field)
    let schema = M.schema.field(named: name) ?? FieldSchema(name: name, type: .any)
    return Self.field(schema, of: M.schema, rule, severity: severity)
  }

  /// A rule of one field of a model without a Swift type, called `Model.field.label`.
  public static func field(
    _ field: FieldSchema, of model: ModelSchema, _ rule: FieldRule,
    severity: Violation.Severity = .error
  ) -> Rule {
    let schema = rule.schema(model: model.name, field: field.name, column: field.column)
    return Rule(
      schema.name, of: model.name, fields: [field.name], .condition(sql: schema.condition),
      message: schema.message, severity: severity)
  }

  /// Every record has a value in an optional field. Called `Model.field.required`.
  public static func required<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, severity: Violation.Severity = .error
  ) -> Rule {
    let name = Self.name(of: field)
    return Rule(
      "\(M.schema.name).\(name).required", of: M.schema.name, fields: [name], .required,
      severity: severity)
  }

  /// A field that stays as it was inserted. Called `Model.field.immutable`.
  public static func immutable<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable
  ) -> Rule {
    let name = Self.name(of: field)
    return Rule("\(M.schema.name).\(name).immutable", of: M.schema.name, fields: [name], .immutable)
  }

  /// An SQL expression over the record's columns that is true or NULL.
  ///
  /// - Parameter fields: Those that it is about, for forms.
  public static func condition<M: Model>(
    _ name: String, of model: M.Type, _ sql: String, _ message: String,
    fields: [any PartialKeyPath<M> & Sendable] = [], severity: Violation.Severity = .error
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: fields.map { Self.name(of: $0) }, .condition(sql: sql),
      message: message, severity: severity)
  }

  /// Values that occur once together.
  ///
  /// - Parameter condition: An SQL expression over the record's columns, in bare names; only among
  ///   records for which it is true are the values unique.
  public static func unique<M: Model>(
    _ name: String, _ fields: any PartialKeyPath<M> & Sendable..., where condition: String? = nil
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: fields.map { Self.name(of: $0) }, .unique(where: condition))
  }

  /// A field that names an existing record of another model. Called `Model.field.exists`.
  public static func reference<M: Model, Value: ColumnValue, Other: Model>(
    _ field: any KeyPath<M, Value> & Sendable, to other: Other.Type
  ) -> Rule {
    let name = Self.name(of: field)
    return Rule(
      "\(M.schema.name).\(name).exists", of: M.schema.name, fields: [name],
      .reference(model: Other.schema.name))
  }

  /// At most `count` records with the same values in the fields `per`; in all, without any.
  public static func atMost<M: Model>(
    _ count: Int, of model: M.Type, per fields: any PartialKeyPath<M> & Sendable...,
    name: String, severity: Violation.Severity = .error
  ) -> Rule {
    let names = fields.map { Self.name(of: $0) }
    return Rule(
      name, of: M.schema.name, fields: names, .countAtMost(count: count, per: names),
      severity: severity)
  }

  /// A field that adds up to at most `limit` among records with the same values in `per`.
  public static func sum<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, atMost limit: Double,
    per fields: any PartialKeyPath<M> & Sendable..., name: String,
    severity: Violation.Severity = .error
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: [Self.name(of: field)],
      .sumAtMost(limit: limit, per: fields.map { Self.name(of: $0) }), severity: severity)
  }

  /// From one field up to, and not including, another is an interval that overlaps with none of
  /// another record with the same values in `per`.
  public static func noOverlap<M: Model, Value: ColumnValue>(
    from start: any KeyPath<M, Value> & Sendable, to end: any KeyPath<M, Value> & Sendable,
    per fields: any PartialKeyPath<M> & Sendable..., name: String,
    severity: Violation.Severity = .error
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: [Self.name(of: start), Self.name(of: end)],
      .noOverlap(per: fields.map { Self.name(of: $0) }), severity: severity)
  }

  /// The field's name; for what is no stored field the path's, which no model has, so that adding
  /// the rule says so.
  private static func name<M: Model>(of path: any PartialKeyPath<M> & Sendable) -> String {
    M.definition.fieldIndex(of: path).map { M.schema.fields[$0].name }
      ?? M.definition.described(path)
  }
}
