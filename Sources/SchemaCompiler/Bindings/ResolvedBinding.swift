/// A binding with resolved names and checked types, from which its triggers are made.
package struct ResolvedBinding: Hashable, Sendable {
  /// The value of the target while there is no source value.
  enum Absence: Hashable, Sendable {
    case null
    /// The target's declared default, a literal.
    case literal(String)
    /// The target keeps its last value.
    case unchanged
  }

  /// Which records belong together.
  package struct Link: Hashable, Sendable {
    package struct Pair: Hashable, Sendable {
      package let source: FieldSchema
      package let target: FieldSchema
    }

    package var pairs: [Pair] = []
    /// The key fields of the single record on the side that is found, with their literals.
    package var place: [Constant] = []

    package struct Constant: Hashable, Sendable {
      package let field: FieldSchema
      package let literal: String
    }
  }

  package struct Lookup: Hashable, Sendable {
    package let source: ModelSchema
    /// The field that is copied if there is no expression.
    package let field: FieldSchema
    package let transform: SQLExpression?
    package let link: Link
    let absence: Absence

    /// The source's fields that the value depends on.
    var dependencies: [FieldSchema] {
      transform.map { source.fields(in: $0) } ?? [field]
    }
  }

  package struct Aggregate: Hashable, Sendable {
    package let function: BindingSchema.Aggregate.Function
    package let source: ModelSchema
    package let field: FieldSchema?
    /// The expression that is aggregated instead of a field.
    let term: AggregateTerm?
    package let order: FieldSchema?
    package let separator: String
    package let link: Link
    package let condition: SQLExpression?
    let absence: Absence

    /// The fields that the aggregated value is read from.
    var measured: [FieldSchema] { term?.fields ?? [field].compactMap(\.self) }

    /// The source's fields that a record's contribution depends on, without its link.
    var dependencies: [FieldSchema] {
      let key = function.isFound || function == .joined ? source.keyFields : []
      let conditioned = condition.map(source.fields) ?? []
      return (measured + [order].compactMap(\.self) + key + conditioned).withoutRepeats
    }
  }

  /// One end of a two-way binding: its field, and the value that the other end follows.
  package struct End: Hashable, Sendable {
    package let model: ModelSchema
    package let field: FieldSchema
    /// The value that the other end follows, over this end's record.
    package let value: SQLExpression
    /// The fields that `value` names, and the end itself.
    let dependencies: [FieldSchema]
    /// The value of the field before any write.
    let blank: String
  }

  package struct TwoWay: Hashable, Sendable {
    package let left: End
    package let right: End
    /// `source` belongs to the left model; there are no pairs for two fields of one record.
    package let link: Link
    package let conflict: BindingConflict
    package let initially: BindingSide
  }

  package enum Formula: Hashable, Sendable {
    case lookup(Lookup)
    /// `dependencies` are the fields whose columns the expression may name.
    case derive(SQLExpression, dependencies: [FieldSchema])
    case aggregate(Aggregate)
    case twoWay(TwoWay)
  }

  package let schema: BindingSchema
  package let model: ModelSchema
  package let target: FieldSchema
  package let formula: Formula
  /// The columns that its written values depend on, and all columns that SQLite computes those
  /// from.
  package var origins: Set<Column> = []
  package let condition: SQLExpression?
  /// The conditions of bindings of the same field with higher priority.
  var precedence: [SQLExpression] = []
  /// How the file's indexes compare values.
  package var uniqueSets = UniqueSets()

  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema`, and
  ///   a message that says what to declare instead.
  package init(_ schema: BindingSchema, in models: [ModelSchema]) throws(StoreError) {
    let finder = BindingFields(binding: schema, models: models)
    self.schema = schema
    let model = try finder.model(named: schema.target.model)
    let target = try finder.field(named: schema.target.field, of: model)
    self.model = model
    self.target = target
    try finder.checkName()
    try finder.checkTarget(target, of: model)
    condition = try finder.condition(schema.condition, of: model)
    try finder.checkMode(target)
    switch schema.formula {
    case .copy(let source, let through):
      formula = .lookup(
        try finder.lookup(
          BindingSchema.Lookup(source: source, match: []), through: through, to: target, of: model))
    case .lookup(let lookup):
      formula = .lookup(try finder.lookup(lookup, through: nil, to: target, of: model))
    case .derive(let sql):
      let expression = try finder.expression(sql)
      let dependencies = model.fields(in: expression)
      if dependencies.contains(where: { $0.name == target.name }) {
        throw finder.refusal(
          "\(schema.target) would be derived from itself. To enforce a format, add a rule.")
      }
      formula = .derive(expression, dependencies: dependencies)
    case .aggregate(let aggregate):
      formula = .aggregate(try finder.aggregate(aggregate, into: target, of: model))
    case .twoWay(let twoWay):
      formula = .twoWay(try finder.twoWay(twoWay, right: target, of: model))
    }
  }

  /// Returns whether `models` have every name in `schema`, with matching types.
  package static func canResolve(_ schema: BindingSchema, in models: [ModelSchema]) -> Bool {
    do throws(StoreError) {
      _ = try ResolvedBinding(schema, in: models)
      return true
    } catch {
      return false
    }
  }

  /// The fields of the target's record that determine whether the binding applies.
  var conditionFields: [FieldSchema] {
    (([condition].compactMap(\.self) + precedence).flatMap(model.fields)).withoutRepeats
  }

  /// The columns that the binding writes.
  package var targets: [Column] {
    let right = Column(model, target)
    guard case .twoWay(let twoWay) = formula else { return [right] }
    return [Column(twoWay.left.model, twoWay.left.field), right]
  }

  /// The columns that its written values depend on, without its targets.
  package var sources: [Column] {
    let own = conditionFields.map { Column(model, $0) }
    switch formula {
    case .lookup(let lookup):
      return lookup.dependencies.map { Column(lookup.source, $0) }
        + lookup.link.columns(lookup.source, model) + lookup.link.placed(lookup.source) + own
    case .derive(_, let dependencies): return dependencies.map { Column(model, $0) } + own
    case .aggregate(let aggregate):
      return aggregate.dependencies.map { Column(aggregate.source, $0) }
        + aggregate.link.columns(aggregate.source, model) + own
    case .twoWay(let twoWay):
      let ends = Set(targets)
      return
        (twoWay.left.dependencies.map { Column(twoWay.left.model, $0) }
        + twoWay.right.dependencies.map { Column(twoWay.right.model, $0) }
        + twoWay.link.columns(twoWay.left.model, twoWay.right.model))
        .filter { !ends.contains($0) } + own
    }
  }

  /// The paths on which values flow into ``sources``, in the direction of the flow. A path from an
  /// end of a two-way binding back to that end is excluded.
  package func ways(through generated: GeneratedColumns) -> [[Column]] {
    guard case .twoWay(let twoWay) = formula else {
      return sources.flatMap { generated.ways(into: $0) }
    }
    let ends = Set(targets)
    func ways(into end: End) -> [[Column]] {
      let own = Column(end.model, end.field)
      return end.dependencies.flatMap { generated.ways(into: Column(end.model, $0)) }
        .filter { $0[0] != own }
    }
    let links = twoWay.link.columns(twoWay.left.model, twoWay.right.model)
      .flatMap { generated.ways(into: $0) }
    return (ways(into: twoWay.left) + ways(into: twoWay.right) + links)
      .filter { $0.count > 1 || !ends.contains($0[0]) }
      + conditionFields.flatMap { generated.ways(into: Column(model, $0)) }
  }

  /// A column of the file, whichever model names it. SQLite folds ASCII case in names.
  package struct Column: Hashable {
    package let table: String
    package let column: String
    package let field: BindingSchema.Field
    package var description: String { field.description }

    package init(_ model: ModelSchema, _ field: FieldSchema) {
      table = model.table.asciiFolded
      column = field.column.asciiFolded
      self.field = BindingSchema.Field(model: model.name, field: field.name)
    }

    package static func == (left: Column, right: Column) -> Bool {
      left.table == right.table && left.column == right.column
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(table)
      hasher.combine(column)
    }
  }
}

extension BindingSchema {
  /// Returns the fields that the binding reads: the sources of values, the fields that match
  /// records, and the fields in its condition. The ends of a two-way binding itself are excluded.
  ///
  /// - Returns: Each field once, sources of values first.
  /// - Throws: ``StoreError`` when `models` do not have a name that the binding uses.
  package func inputs(in models: [ModelSchema]) throws(StoreError) -> [Field] {
    var seen: Set<ResolvedBinding.Column> = []
    return try ResolvedBinding(self, in: models).sources.filter { seen.insert($0).inserted }
      .map(\.field)
  }
}

extension ResolvedBinding.Link {
  fileprivate func columns(
    _ source: ModelSchema, _ target: ModelSchema
  ) -> [ResolvedBinding.Column] {
    pairs.flatMap {
      [ResolvedBinding.Column(source, $0.source), ResolvedBinding.Column(target, $0.target)]
    }
  }

  fileprivate func placed(_ model: ModelSchema) -> [ResolvedBinding.Column] {
    place.map { ResolvedBinding.Column(model, $0.field) }
  }
}

extension BindingSchema.Aggregate.Function {
  /// Whether the value is kept up to date by adding and subtracting.
  var isTotal: Bool { [.count, .sum, .average].contains(self) }

  /// Whether the value comes from one record, found through an index.
  package var isFound: Bool { [.minimum, .maximum, .first, .last].contains(self) }
}

extension ModelSchema {
  package var keyFields: [FieldSchema] { keyIndices.map { fields[$0] } }

  /// Returns the fields whose columns `expression` may name.
  package func fields(in expression: SQLExpression) -> [FieldSchema] {
    let names = SQLExpression.columnNames(in: expression.text)
    return fields.filter { names.contains($0.column.asciiFolded) }
  }
}

extension [FieldSchema] {
  /// The fields in their order, without duplicates.
  var withoutRepeats: [FieldSchema] {
    var names: Set<String> = []
    return filter { names.insert($0.name).inserted }
  }
}
