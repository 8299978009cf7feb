// The resolution of each kind of formula.
extension BindingFields {
  package func condition(
    _ sql: String?, of model: ModelSchema
  ) throws(StoreError) -> SQLExpression? {
    guard let sql else { return nil }
    let expression = try expression(sql)
    var targets = [binding.target]
    if case .twoWay(let twoWay) = binding.formula { targets.append(twoWay.left) }
    let names = Set(model.fields(in: expression).map(\.name))
    if let target = targets.first(where: { $0.model == model.name && names.contains($0.field) }) {
      throw refusal("its condition depends on \(target) itself. Use other fields in it.")
    }
    return expression
  }

  func checkMode(_ target: FieldSchema) throws(StoreError) {
    guard binding.mode == .numberInText else { return }
    switch binding.formula {
    case .twoWay, .aggregate:
      throw refusal("only a copied or derived value can be the number in a text.")
    case .copy, .lookup, .derive: break
    }
    guard target.affinity == .text else {
      throw refusal("\(binding.target) is not a text field, so it cannot contain a number.")
    }
  }

  package func lookup(
    _ lookup: BindingSchema.Lookup, through: String?, to target: FieldSchema,
    of model: ModelSchema
  ) throws(StoreError) -> ResolvedBinding.Lookup {
    let source = try self.model(named: lookup.source.model)
    let field = try self.field(named: lookup.source.field, of: source)
    if source.name == model.name, field.name == target.name {
      throw refusal("\(binding.target) would be copied from itself. Copy from another field.")
    }
    let path = try path(of: lookup, through, source, to: target, of: model)
    let transform = try transform(lookup.transform, of: source, to: target, of: model)
    if transform == nil { try checkTypes(from: field, of: source, to: target, of: model) }
    if model.collidingSets.contains(where: { $0.map(\.name) == [target.name] }),
      !model.isUnique(path.link.pairs.map(\.target))
    {
      throw refusal("\(binding.target) is unique, and several records would follow one value.")
    }
    return ResolvedBinding.Lookup(
      source: source, field: field, transform: transform, link: path.link,
      absence: lookup.keepsLast == true
        ? .unchanged
        : try absence(
          of: target, whenever: path.mayBeMissing, while: path.situation, names: path.names))
  }

  /// Returns the expression that computes the target's value from a source record; nil for a plain
  /// copy.
  private func transform(
    _ sql: String?, of source: ModelSchema, to target: FieldSchema, of model: ModelSchema
  ) throws(StoreError) -> SQLExpression? {
    guard let sql else { return nil }
    let transform = try expression(sql, over: source.name)
    if source.name == model.name,
      source.fields(in: transform).contains(where: { $0.name == target.name })
    {
      throw refusal("\(binding.target) would be computed from itself.")
    }
    return transform
  }

  package func aggregate(
    _ aggregate: BindingSchema.Aggregate, into target: FieldSchema, of model: ModelSchema
  ) throws(StoreError) -> ResolvedBinding.Aggregate {
    let source = try self.model(named: aggregate.model)
    var field: FieldSchema? =
      if let name = aggregate.field { try self.field(named: name, of: source) } else { nil }
    // In a table of another design a key may be NULL despite PRIMARY KEY:
    // https://sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls
    if source.isAdopted, !source.isWithoutRowID, let counted = field, !counted.isRowID,
      source.key.contains(counted.name)
    {
      field = counted.optional(true)
    }
    let order: FieldSchema? =
      if let name = aggregate.order { try self.field(named: name, of: source) } else { nil }
    let function = aggregate.function
    let term = try term(of: aggregate, over: source)
    if field == nil, term == nil, function != .count {
      throw refusal("\(function.rawValue) takes a field of \(source.name). Name it.")
    }
    if order != nil, ![.first, .last, .joined].contains(function) {
      throw refusal("\(function.rawValue) does not use an order. Remove the order.")
    }
    var link = ResolvedBinding.Link()
    if let place = aggregate.place {
      link.place = try self.place(place, in: model)
    } else {
      link.pairs = try pairs(aggregate.match, source, model)
      try checkUnique(link.pairs.map(\.target), in: model)
    }
    try checkCollations(of: link, source, model)
    if let term {
      try check(term, function, of: source, into: target, of: model)
    } else {
      try checkAggregated(field, function, of: source, into: target, of: model)
    }
    let condition: SQLExpression? =
      if let sql = aggregate.condition { try expression(sql, over: source.name) } else { nil }
    let hasValueForNone = function == .count || function == .sum
    return ResolvedBinding.Aggregate(
      function: function, source: source, field: field, term: term, order: order,
      separator: aggregate.separator ?? ", ", link: link, condition: condition,
      absence: hasValueForNone
        ? .literal(target.type == .decimal ? "'0'" : "0")
        : try absence(
          of: target, whenever: true, while: "no record of \(source.name) counts",
          names: "no record of \(source.name) counts"))
  }

  /// Returns the expression that `aggregate` computes for each record; nil for a field.
  private func term(
    of aggregate: BindingSchema.Aggregate, over source: ModelSchema
  ) throws(StoreError) -> AggregateTerm? {
    guard let sql = aggregate.expression else {
      if aggregate.scale == nil { return nil }
      throw refusal("a scale goes with an expression. Pass the field's column as the expression.")
    }
    let function = aggregate.function
    guard [.sum, .average, .minimum, .maximum].contains(function) else {
      throw refusal(
        function == .count
          ? "count takes no expression. Pass it as a condition."
          : "\(function.rawValue) takes a field, not an expression. Derive a field of "
            + "\(source.name) from it.")
    }
    if aggregate.field != nil {
      throw refusal("it names both a field and an expression. Remove one.")
    }
    if let scale = aggregate.scale, !(0...DecimalSQL.maxDigitCount).contains(scale) {
      throw refusal("the scale is 0 to \(DecimalSQL.maxDigitCount) digits; got \(scale).")
    }
    let term = AggregateTerm(
      try expression(sql, over: source.name), decimals: aggregate.scale, of: source)
    guard !term.fields.isEmpty else {
      throw refusal("its expression names no column of \(source.name). Use count instead.")
    }
    return term
  }

  private func check(
    _ term: AggregateTerm, _ function: BindingSchema.Aggregate.Function, of source: ModelSchema,
    into target: FieldSchema, of model: ModelSchema
  ) throws(StoreError) {
    if source.name == model.name, term.fields.contains(where: { $0.name == target.name }) {
      throw refusal("\(binding.target) would be computed from itself.")
    }
    guard function.isTotal else {
      if let decimal = term.fields.first(where: { $0.type == .decimal }) {
        throw refusal(
          "\(source.name).\(decimal.name) is a decimal, and decimals cannot be ordered.")
      }
      guard term.decimals == nil else {
        throw refusal("a scale goes with a sum or an average. Remove it.")
      }
      return
    }
    if let reason = term.inexactness { throw refusal(reason) }
    guard function == .sum, term.decimals != nil else {
      return try checkTotal(function, into: target)
    }
    guard target.type == .decimal, target.affinity == .text else {
      throw refusal("\(binding.target) must be declared as a decimal.")
    }
  }

  private func checkTotal(
    _ function: BindingSchema.Aggregate.Function, into target: FieldSchema
  ) throws(StoreError) {
    let wanted: ColumnAffinity = function == .sum ? .integer : .real
    guard target.affinity == wanted, target.isPlain else {
      throw refusal(
        "\(binding.target) must be declared as \(function == .sum ? "an integer" : "a real").")
    }
  }

  private func checkAggregated(
    _ field: FieldSchema?, _ function: BindingSchema.Aggregate.Function, of source: ModelSchema,
    into target: FieldSchema, of model: ModelSchema
  ) throws(StoreError) {
    let name = field.map { "\(source.name).\($0.name)" } ?? source.name
    switch function {
    case .count:
      guard target.affinity == .integer, target.isPlain else {
        throw refusal("a count is a whole number, and \(binding.target) is not declared as one.")
      }
    case .sum, .average:
      guard field?.affinity == .integer else {
        throw refusal(
          "a running sum of real numbers accumulates rounding errors. "
            + "Store \(name) as a whole number of the smallest unit.")
      }
      try checkTotal(function, into: target)
    case .minimum, .maximum, .first, .last:
      if let field {
        try checkTypes(from: field.optional(false), of: source, to: target, of: model)
      }
    case .joined:
      guard target.affinity == .text, target.isPlain else {
        throw refusal("joined values are a text, and \(binding.target) is not declared as one.")
      }
    }
  }

  package func twoWay(
    _ twoWay: BindingSchema.TwoWay, right field: FieldSchema, of model: ModelSchema
  ) throws(StoreError) -> ResolvedBinding.TwoWay {
    let leftModel = try self.model(named: twoWay.left.model)
    let leftField = try self.field(named: twoWay.left.field, of: leftModel)
    guard leftModel.name != model.name || leftField.name != field.name else {
      throw refusal("both of its ends are \(binding.target). Bind two fields.")
    }
    try checkTarget(leftField, of: leftModel)
    try checkNotUnique(leftField, of: leftModel)
    try checkNotUnique(field, of: model)
    let link = try link(twoWay, leftField, of: leftModel, field, of: model)
    let isPlain = twoWay.forward == nil && twoWay.backward == nil
    if isPlain {
      try checkTypes(from: leftField, of: leftModel, to: field, of: model)
      try checkTypes(from: field, of: model, to: leftField, of: leftModel)
    }
    let left = try end(leftField, of: leftModel, twoWay.forward)
    let right = try end(field, of: model, twoWay.backward)
    if leftModel.name == model.name {
      for (end, other) in [(left, right), (right, left)]
      where end.dependencies.contains(where: { $0.name == other.field.name }) {
        throw refusal("\(model.name).\(other.field.name) would be computed from itself.")
      }
    }
    return ResolvedBinding.TwoWay(
      left: left, right: right, link: link, conflict: twoWay.conflict,
      initially: twoWay.initially)
  }

  private func checkNotUnique(
    _ end: FieldSchema, of model: ModelSchema
  ) throws(StoreError) {
    guard model.collidingSets.contains(where: { $0.contains(end) }) else { return }
    throw refusal(
      "\(model.name).\(end.name) is unique, and REPLACE at one end could delete "
        + "records at the other. Use a one-way binding.")
  }

  private func end(
    _ field: FieldSchema, of model: ModelSchema, _ sql: String?
  ) throws(StoreError) -> ResolvedBinding.End {
    let value = try expression(sql ?? SQLText.quoted(field.column), over: model.name)
    return ResolvedBinding.End(
      model: model, field: field, value: value,
      dependencies: ([field] + model.fields(in: value)).withoutRepeats,
      blank: try blank(of: field, in: model))
  }

  /// Returns the value of `field` before any write, as an expression.
  private func blank(
    of field: FieldSchema, in model: ModelSchema
  ) throws(StoreError) -> String {
    guard let sql = field.defaultSQL else { return "NULL" }
    let value = SQLDefault(sql).expression
    do throws(SQLExpression.Problem) {
      guard try SQLExpression(value).isConstant else {
        throw SQLExpression.Problem(reason: "is not the same for every record")
      }
    } catch {
      throw refusal(
        "the default of \(model.name).\(field.name), which marks a field that was never written, "
          + "\(error.reason). Make it a number, a string, a blob or NULL.")
    }
    return value
  }
}

extension FieldSchema {
  fileprivate func optional(_ isOptional: Bool) -> FieldSchema {
    var copy = self
    copy.isOptional = isOptional
    return copy
  }
}
