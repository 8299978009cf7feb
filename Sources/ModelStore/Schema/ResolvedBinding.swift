/// A binding whose every name was found and whose types fit: what its triggers are made from.
struct ResolvedBinding: Hashable, Sendable {
  /// What the target holds while its reference names no record.
  enum Absence: Hashable, Sendable {
    case null
    /// The target's declared default, a literal.
    case literal(String)
    /// The target takes no NULL and has no default: it keeps its last value.
    case unchanged
  }

  enum Formula: Hashable, Sendable {
    case copy(
      source: ModelSchema, field: FieldSchema, key: FieldSchema, reference: FieldSchema,
      absence: Absence)
    /// `dependencies` are the fields whose columns the expression may name.
    case derive(SQLExpression, dependencies: [FieldSchema])
  }

  let schema: BindingSchema
  let model: ModelSchema
  let target: FieldSchema
  let formula: Formula

  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema` and a
  ///   sentence that says what to declare instead.
  init(_ schema: BindingSchema, in models: [ModelSchema]) throws(StoreError) {
    let finder = FieldFinder(binding: schema, models: models)
    self.schema = schema
    let model = try finder.model(named: schema.target.model)
    let target = try finder.field(named: schema.target.field, of: model)
    self.model = model
    self.target = target
    try finder.checkName()
    try finder.checkTarget(target, of: model)
    switch schema.formula {
    case .copy(let source, let through):
      let sourceModel = try finder.model(named: source.model)
      let sourceField = try finder.field(named: source.field, of: sourceModel)
      let reference = try finder.field(named: through, of: model)
      if sourceModel.name == model.name, sourceField.name == target.name {
        throw finder.refusal(
          "\(schema.target) would be copied from itself. Copy from another field.")
      }
      if reference.name == target.name {
        throw finder.refusal(
          "\(schema.target) is its own reference. Name the field that refers to \(source.model).")
      }
      let key = try finder.key(of: sourceModel, for: reference, in: model)
      try finder.checkTypes(from: sourceField, of: sourceModel, to: target, of: model)
      formula = .copy(
        source: sourceModel, field: sourceField, key: key, reference: reference,
        absence: try finder.absence(of: target, of: model, reference: reference))
    case .derive(let sql):
      let expression = try finder.expression(sql)
      let names = Set(expression.plainNames)
      let dependencies = model.fields.filter { names.contains($0.column.asciiFolded) }
      if dependencies.contains(where: { $0.name == target.name }) {
        throw finder.refusal(
          "\(schema.target) would be derived from itself. Demand a form of a field by a rule.")
      }
      formula = .derive(expression, dependencies: dependencies)
    }
  }

  /// Whether every name of `schema` is found among `models` and its types fit.
  static func canResolve(_ schema: BindingSchema, in models: [ModelSchema]) -> Bool {
    do throws(StoreError) {
      _ = try ResolvedBinding(schema, in: models)
      return true
    } catch {
      return false
    }
  }

  /// The columns that the target's value depends on.
  fileprivate var sources: [Column] {
    switch formula {
    case .copy(let source, let field, let key, let reference, _):
      [Column(source, field), Column(source, key), Column(model, reference)]
    case .derive(_, let dependencies): dependencies.map { Column(model, $0) }
    }
  }

  /// A column of the file, whichever model names it. SQLite folds ASCII case in names.
  fileprivate struct Column: Hashable {
    let table: String
    let column: String
    let description: String

    init(_ model: ModelSchema, _ field: FieldSchema) {
      table = model.table.asciiFolded
      column = field.column.asciiFolded
      description = "\(model.name).\(field.name)"
    }

    static func == (left: Column, right: Column) -> Bool {
      left.table == right.table && left.column == right.column
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(table)
      hasher.combine(column)
    }
  }

  /// Resolves `schemas` and orders them so that each comes after the bindings it reads from.
  ///
  /// - Throws: ``StoreError``, as ``init(_:in:)`` does, and when two bindings share a name or a
  ///   target or when bindings go round in a circle, which the message spells out.
  static func inDependencyOrder(
    _ schemas: [BindingSchema], in models: [ModelSchema]
  ) throws(StoreError) -> [ResolvedBinding] {
    var byTarget: [Column: ResolvedBinding] = [:]
    var names: Set<String> = []
    var resolved: [ResolvedBinding] = []
    for schema in schemas {
      let binding = try ResolvedBinding(schema, in: models)
      // Trigger names carry the binding's name, and SQLite folds ASCII case in names.
      guard names.insert(schema.name.asciiFolded).inserted else {
        throw StoreError(
          .unsupportedSchema,
          "Two bindings are called \(schema.name). Give one of them another name.")
      }
      if let other = byTarget.updateValue(binding, forKey: Column(binding.model, binding.target)) {
        throw StoreError(
          .unsupportedSchema,
          "\(schema.target) has two bindings, \(other.schema.name) and \(schema.name). Remove one.",
          model: schema.target.model, field: schema.target.field)
      }
      resolved.append(binding)
    }
    return try DependencyOrder(byTarget: byTarget).sorted(resolved)
  }

  private struct DependencyOrder {
    let byTarget: [Column: ResolvedBinding]
    private var finished: Set<Column> = []
    private var path: [Column] = []
    private var order: [ResolvedBinding] = []

    init(byTarget: [Column: ResolvedBinding]) {
      self.byTarget = byTarget
    }

    func sorted(_ bindings: [ResolvedBinding]) throws(StoreError) -> [ResolvedBinding] {
      var copy = self
      for binding in bindings { try copy.visit(Column(binding.model, binding.target)) }
      return copy.order
    }

    private mutating func visit(_ column: Column) throws(StoreError) {
      guard let binding = byTarget[column], !finished.contains(column) else { return }
      if let start = path.firstIndex(of: column) {
        // The walk goes from a field to what it reads; values flow the other way.
        let circle = ([column] + path[start...].reversed()).map(\.description)
          .joined(separator: " → ")
        throw StoreError(
          .unsupportedSchema,
          "Bindings go round in a circle: \(circle). Remove one of them.",
          model: binding.schema.target.model, field: binding.schema.target.field)
      }
      path.append(column)
      for source in binding.sources { try visit(source) }
      path.removeLast()
      finished.insert(column)
      order.append(binding)
    }
  }
}

/// Finds a binding's models and fields, and says in a sentence what does not fit.
private struct FieldFinder {
  let binding: BindingSchema
  let models: [ModelSchema]

  func refusal(_ message: String) -> StoreError {
    StoreError(
      .unsupportedSchema, "The binding \(binding.name) cannot be kept: \(message)",
      model: binding.target.model, field: binding.target.field)
  }

  func checkName() throws(StoreError) {
    guard !binding.name.isEmpty, !binding.name.unicodeScalars.contains(where: { $0.value < 0x20 })
    else {
      throw refusal("its name is empty or holds a control character. Give it a printable name.")
    }
  }

  func model(named name: String) throws(StoreError) -> ModelSchema {
    guard let model = models.first(where: { $0.name == name }) else {
      throw StoreError(
        .unknownModel,
        "The binding \(binding.name) names the model \(name), which the store does not have.",
        model: name)
    }
    if model.kind == .view {
      throw refusal(
        "\(name) is a view, whose changes no trigger sees. Bind to the tables under it.")
    }
    // In a trigger NEW and OLD are the changed row: https://sqlite.org/lang_createtrigger.html
    if ["new", "old"].contains(model.table.asciiFolded) {
      throw refusal(
        "triggers cannot speak of a table called \(model.table). Rename the table.")
    }
    return model
  }

  func field(named name: String, of model: ModelSchema) throws(StoreError) -> FieldSchema {
    guard let field = model.field(named: name) else {
      let names = model.fields.map(\.name).joined(separator: ", ")
      throw StoreError(
        .unknownField,
        "The binding \(binding.name) names \(model.name).\(name), which is no field. "
          + "The fields are: \(names).",
        model: model.name, field: name)
    }
    return field
  }

  func checkTarget(_ target: FieldSchema, of model: ModelSchema) throws(StoreError) {
    if model.key.contains(target.name) {
      throw refusal("\(binding.target) is part of the key. Bind another field.")
    }
    if target.generated != nil {
      throw refusal(
        "\(binding.target) is generated by SQLite, which keeps it already. Bind another field.")
    }
  }

  /// The source's field that `reference` holds values of.
  func key(
    of source: ModelSchema, for reference: FieldSchema, in model: ModelSchema
  ) throws(StoreError) -> FieldSchema {
    let name = "\(model.name).\(reference.name)"
    var key: FieldSchema?
    if let declared = reference.reference {
      guard declared.table.asciiFolded == source.table.asciiFolded else {
        throw refusal(
          "\(name) refers to the table \(declared.table), not to \(source.name). "
            + "Name the field that does.")
      }
      if let column = declared.column?.asciiFolded {
        key = source.fields.first { $0.column.asciiFolded == column }
      }
    }
    if key == nil, source.key.count == 1 { key = source.field(named: source.key[0]) }
    guard let key else {
      throw refusal(
        "\(source.name) has a key of \(source.key.count) fields, which one reference cannot name. "
          + "Refer to a field of it that is unique by itself.")
    }
    guard
      source.key == [key.name] || key.isUnique || source.uniques.contains([key.name])
        || source.indexes.contains(where: { $0.isUnique && $0.fields == [key.name] })
    else {
      throw refusal(
        "\(source.name).\(key.name) is not unique, so \(name) may name several records. "
          + "Make it unique.")
    }
    guard key.affinity == reference.affinity else {
      throw refusal(
        "\(name) (\(reference.declaration)) and \(source.name).\(key.name) (\(key.declaration)) "
          + "are stored differently, so equal keys may not compare equal. Declare them alike.")
    }
    return key
  }

  func checkTypes(
    from source: FieldSchema, of sourceModel: ModelSchema, to target: FieldSchema,
    of model: ModelSchema
  ) throws(StoreError) {
    let plain: Set<FieldType> = [.integer, .real, .text, .blob, .any]
    guard source.affinity == target.affinity,
      source.type == target.type || plain.contains(target.type)
    else {
      throw refusal(
        "\(sourceModel.name).\(source.name) (\(source.declaration)) does not fit \(binding.target) "
          + "(\(target.declaration)). Declare them alike.")
    }
    if source.isOptional, !target.isOptional {
      throw refusal(
        "\(sourceModel.name).\(source.name) may be NULL and \(binding.target) may not. "
          + "Make \(binding.target) optional.")
    }
  }

  func absence(
    of target: FieldSchema, of model: ModelSchema, reference: FieldSchema
  ) throws(StoreError) -> ResolvedBinding.Absence {
    if let sql = target.defaultSQL {
      do throws(SQLExpression.Problem) {
        guard try SQLExpression(sql).isLiteral else {
          throw SQLExpression.Problem(reason: "is no literal")
        }
      } catch {
        throw refusal(
          "the default of \(binding.target), which it holds while \(model.name).\(reference.name) "
            + "names no record, \(error.reason). Make it a number, a string, a blob or NULL.")
      }
      return .literal(sql)
    }
    if target.isOptional { return .null }
    if reference.isOptional {
      throw refusal(
        "while \(model.name).\(reference.name) is NULL there is nothing to copy, and "
          + "\(binding.target) takes no NULL and has no default. Give it a default, or make it "
          + "optional.")
    }
    return .unchanged
  }

  func expression(_ sql: String) throws(StoreError) -> SQLExpression {
    let expression: SQLExpression
    do throws(SQLExpression.Problem) {
      expression = try SQLExpression(sql)
    } catch {
      throw refusal(
        "the expression \(error.reason). "
          + "Write one SQL expression over columns of \(binding.target.model).")
    }
    if let dependency = expression.clockDependency {
      throw refusal(
        "\(dependency) has another value at another time or place. Derive from columns alone.")
    }
    let builtIn: Set = ["binary", "nocase", "rtrim"]
    if let collation = expression.collations.first(where: { !builtIn.contains($0) }) {
      throw refusal(
        "other writers do not have the collation \(collation). Use BINARY, NOCASE or RTRIM.")
    }
    return expression
  }
}

extension FieldSchema {
  fileprivate var declaration: String {
    declaredType ?? type.rawValue
  }
}
