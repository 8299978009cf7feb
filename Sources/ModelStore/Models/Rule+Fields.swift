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

  /// Requires a value in an optional field. Called `Model.field.required`.
  public static func required<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, severity: Violation.Severity = .error
  ) -> Rule {
    let name = Self.name(of: field)
    return Rule(
      "\(M.schema.name).\(name).required", of: M.schema.name, fields: [name], .required,
      severity: severity)
  }

  /// Keeps a field as it was inserted. Called `Model.field.immutable`.
  public static func immutable<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable
  ) -> Rule {
    let name = Self.name(of: field)
    return Rule("\(M.schema.name).\(name).immutable", of: M.schema.name, fields: [name], .immutable)
  }

  /// Requires that an SQL expression over the record's columns is true or NULL.
  ///
  /// - Parameter fields: The fields that a form shows the message at.
  public static func condition<M: Model>(
    _ name: String, of model: M.Type, _ sql: String, _ message: String,
    fields: [any PartialKeyPath<M> & Sendable] = [], severity: Violation.Severity = .error
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: fields.map { Self.name(of: $0) }, .condition(sql: sql),
      message: message, severity: severity)
  }

  /// Requires that the values of several fields together are unique.
  ///
  /// - Parameter condition: An SQL expression over the record's columns, without table names. The
  ///   values are unique only among records for which it is true.
  public static func unique<M: Model>(
    _ name: String, _ fields: any PartialKeyPath<M> & Sendable..., where condition: String? = nil
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: fields.map { Self.name(of: $0) }, .unique(where: condition))
  }

  /// Requires that a field names an existing record of another model. Called `Model.field.exists`.
  public static func reference<M: Model, Value: ColumnValue, Other: Model>(
    _ field: any KeyPath<M, Value> & Sendable, to other: Other.Type
  ) -> Rule {
    let name = Self.name(of: field)
    return Rule(
      "\(M.schema.name).\(name).exists", of: M.schema.name, fields: [name],
      .reference(model: Other.schema.name))
  }

  /// Allows at most `count` records with the same values in the fields `per`; in total, if `per` is
  /// empty.
  public static func atMost<M: Model>(
    _ count: Int, of model: M.Type, per fields: any PartialKeyPath<M> & Sendable...,
    name: String, severity: Violation.Severity = .error
  ) -> Rule {
    let names = fields.map { Self.name(of: $0) }
    return Rule(
      name, of: M.schema.name, fields: names, .countAtMost(count: count, per: names),
      severity: severity)
  }

  /// Limits the sum of a field over the records with the same values in `per`.
  public static func sum<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, atMost limit: Double,
    per fields: any PartialKeyPath<M> & Sendable..., name: String,
    severity: Violation.Severity = .error
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: [Self.name(of: field)],
      .sumAtMost(limit: limit, per: fields.map { Self.name(of: $0) }), severity: severity)
  }

  /// Requires that intervals do not overlap among records with the same values in `per`. An
  /// interval reaches from one field up to, and not including, another.
  public static func noOverlap<M: Model, Value: ColumnValue>(
    from start: any KeyPath<M, Value> & Sendable, to end: any KeyPath<M, Value> & Sendable,
    per fields: any PartialKeyPath<M> & Sendable..., name: String,
    severity: Violation.Severity = .error
  ) -> Rule {
    Rule(
      name, of: M.schema.name, fields: [Self.name(of: start), Self.name(of: end)],
      .noOverlap(per: fields.map { Self.name(of: $0) }), severity: severity)
  }

  /// Returns the field's name. For a path that is not a stored field, it returns the path, which no
  /// model has as a field, so adding the rule throws.
  private static func name<M: Model>(of path: any PartialKeyPath<M> & Sendable) -> String {
    M.definition.fieldIndex(of: path).map { M.schema.fields[$0].name }
      ?? M.definition.described(path)
  }
}
