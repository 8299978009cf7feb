/// A field that the database itself keeps equal to an expression, for every writer.
///
/// You declare a binding when you open the store. From then on it exists in the file as triggers.
/// It only writes its target. To refuse values, use a rule or a validator. For values that you do
/// not need to observe, a generated column is cheaper.
/// ```swift
/// bindings: [
///   .copy(\Artist.name, to: \Album.artistName, through: \Album.artistID),
///   .derive(\Track.slug, from: "lower(title)"),
///   .aggregate(.sum(\Track.milliseconds), into: \Album.milliseconds, through: \Track.albumID),
///   .twoWay(
///     \Product.cents, \Product.price, forward: "cents / 100.0", backward: "round(price * 100)"),
/// ]
/// ```
/// Do not write a bound field: the binding replaces the written value within the same statement.
/// Only the two ends of a two-way binding can be written, and each then updates the other. A
/// binding may depend on the target of another one, but not in a cycle. The store refuses to open
/// if bindings form a cycle, or if two of them bind one field without a priority.
public struct FieldBinding: Sendable {
  var formula: Formula
  let target: Endpoint
  let name: String?
  private(set) var condition: String?
  private(set) var priority: Int?
  private(set) var mode: BindingSchema.Mode?
  private(set) var functions: [String]?

  enum Formula: Sendable {
    case copy(source: Endpoint, through: Endpoint)
    case derive(sql: String)
    case lookup(source: Endpoint, Link, transform: String?, keepsLast: Bool)
    case aggregate(AggregateParts, Link, condition: String?)
    case twoWay(left: Endpoint, Link, BindingSchema.TwoWay)
    case same(source: Endpoint)
    case schema(BindingSchema)
  }

  /// The link between records that belong together, as declared.
  enum Link: Sendable {
    case sameRecord
    /// A field of the first model that refers to the second.
    case through(Endpoint, isOfTarget: Bool)
    case match([(source: Endpoint, target: Endpoint)])
    case place(@Sendable () throws -> [SQLValue])
  }

  /// The fields of an aggregate.
  struct AggregateParts: Sendable {
    var function: BindingSchema.Aggregate.Function
    var model: String
    var field: Endpoint?
    var expression: String?
    var scale: Int?
    var order: Endpoint?
    var separator: String?
  }

  init(formula: Formula, target: Endpoint, name: String?) {
    self.formula = formula
    self.target = target
    self.name = name
  }

  /// Creates a binding from its schema, for models without a Swift type.
  package init(_ schema: BindingSchema) {
    formula = .schema(schema)
    target = .field(schema.target)
    name = schema.name
    condition = schema.condition
    priority = schema.priority
    mode = schema.mode
    functions = schema.functions
  }

  /// Returns the binding restricted to records of the target that meet `condition`. For other
  /// records, the field is free and keeps its value.
  ///
  /// For a two-way binding, the target is the right end. While the condition is not met, both ends
  /// are free. When it becomes true, they are reconciled like two records that are newly linked.
  ///
  /// - Parameter condition: A deterministic SQL expression over the record's other columns, with
  ///   built-in functions only. Anything but true counts as false.
  public func when(_ condition: String) -> FieldBinding {
    changed { $0.condition = condition }
  }

  /// Returns the binding with a priority. If several bindings of one field apply to a record, the
  /// one with the highest priority takes effect.
  public func priority(_ priority: Int) -> FieldBinding {
    changed { $0.priority = priority }
  }

  /// Returns the binding restricted to the number inside the target's text, from its first digit to
  /// its last. The text around the number is free. A text without a digit stays, and so does NULL.
  /// A value that is not a number replaces the whole text. While the value is NULL the whole text
  /// is free, so you can write the text before the first number: "0 kg". Blanks around the value
  /// are kept.
  ///
  /// A sign or point right before the first digit belongs to the number if only a blank or nothing
  /// precedes it. For example, -5 turns "3 kg" into "-5 kg", and 5 then turns it into "5 kg". In
  /// "item-5" and "No.5" the sign and the point are text, which stays. The same is true for a point
  /// after the last digit. For numbers with signs in such texts, derive the whole text.
  ///
  /// Use it for copied and derived texts. In Swift: `String.replacingNumber(with:)`.
  public func replacingOnlyTheNumber() -> FieldBinding {
    changed { $0.mode = .numberInText }
  }

  /// Returns the binding with functions in Swift that its expressions may call. The store must be
  /// opened with them: ``StoreConfiguration/functions``.
  ///
  /// Other programs do not have these functions. If one of them writes a record that triggers the
  /// binding, SQLite fails the statement with "no such function" before anything is changed.
  /// Reading works as before.
  public func calling(_ functions: SQLFunction...) -> FieldBinding {
    changed { $0.functions = functions.map(\.name) }
  }

  private func changed(_ body: (inout FieldBinding) -> Void) -> FieldBinding {
    var copy = self
    body(&copy)
    return copy
  }

  /// Returns the binding as a value, with each name and type checked against `models`.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema` and a
  ///   sentence that says what to declare instead. Cycles and fields bound twice are found only
  ///   when a store is opened with all bindings.
  package func schema(in models: [ModelSchema]) throws -> BindingSchema {
    let target = try target.field(in: models)
    var schema = BindingSchema(
      name: name, target: target, formula: try formula.schema(into: target, in: models))
    schema.condition = condition
    schema.priority = priority
    schema.mode = mode
    if let functions { schema.calls(functions) }
    return try ResolvedBinding(schema, in: models).schema
  }
}

extension FieldBinding.Formula {
  fileprivate func schema(
    into target: BindingSchema.Field, in models: [ModelSchema]
  ) throws -> BindingSchema.Formula {
    switch self {
    case .schema(let schema): return schema.formula
    case .derive(let sql): return .derive(sql: sql)
    case .same(let source):
      let field = try source.field(in: models)
      let column = models.first { $0.name == field.model }?.field(named: field.field)?.column
      return .derive(sql: SQLText.quoted(column ?? field.field))
    case .copy(let source, let through):
      return .copy(
        source: try source.field(in: models),
        through: try through.field(in: models, of: target.model))
    case .lookup(let source, let link, let transform, let keepsLast):
      let source = try source.field(in: models)
      let (match, place) = try link.resolved(source: source.model, target: target.model, models)
      return .lookup(
        BindingSchema.Lookup(
          source: source, match: match, place: place, transform: transform,
          keepsLast: keepsLast ? true : nil))
    case .aggregate(let parts, let link, let condition):
      let (match, place) = try link.resolved(source: parts.model, target: target.model, models)
      return .aggregate(
        BindingSchema.Aggregate(
          parts.function, model: parts.model,
          field: try parts.field?.field(in: models, of: parts.model),
          expression: parts.expression, scale: parts.scale,
          order: try parts.order?.field(in: models, of: parts.model),
          separator: parts.separator, match: match, place: place, condition: condition))
    case .twoWay(let left, let link, var twoWay):
      twoWay.left = try left.field(in: models)
      twoWay.match =
        try link.resolved(source: twoWay.left.model, target: target.model, models).match
      return .twoWay(twoWay)
    }
  }
}

extension FieldBinding.Link {
  fileprivate func resolved(
    source: String, target: String, _ models: [ModelSchema]
  ) throws -> (match: [BindingSchema.Match], place: [SQLValue]?) {
    switch self {
    case .sameRecord: return ([], nil)
    case .place(let key): return ([], try key())
    case .match(let pairs):
      let match = try pairs.map {
        BindingSchema.Match(
          source: try $0.source.field(in: models, of: source),
          target: try $0.target.field(in: models, of: target))
      }
      return (match, nil)
    case .through(let reference, let isOfTarget):
      let (from, to) = isOfTarget ? (target, source) : (source, target)
      let name = try reference.field(in: models, of: from)
      let key = try Self.key(of: to, for: name, of: from, models)
      let match =
        isOfTarget
        ? BindingSchema.Match(source: key, target: name)
        : BindingSchema.Match(source: name, target: key)
      return ([match], nil)
    }
  }

  /// Returns the field of `model` whose values the reference `name` holds.
  private static func key(
    of model: String, for name: String, of other: String, _ models: [ModelSchema]
  ) throws -> String {
    guard let referred = models.first(where: { $0.name == model }) else {
      throw StoreError(.unknownModel, "The store has no model \(model).", model: model)
    }
    let declared = models.first { $0.name == other }?.field(named: name)?.reference
    if let declared, declared.table.asciiFolded == referred.table.asciiFolded,
      let column = declared.column?.asciiFolded,
      let field = referred.fields.first(where: { $0.column.asciiFolded == column })
    {
      return field.name
    }
    if let declared, declared.table.asciiFolded != referred.table.asciiFolded {
      throw StoreError(
        .unsupportedSchema,
        "\(other).\(name) refers to the table \(declared.table), not to \(model). Name the field "
          + "that does.", model: other, field: name)
    }
    guard referred.key.count == 1 else {
      throw StoreError(
        .unsupportedSchema,
        "\(model) has a key of \(referred.key.count) fields, which one reference cannot name. "
          + "Match the fields instead.", model: model)
    }
    return referred.key[0]
  }
}
