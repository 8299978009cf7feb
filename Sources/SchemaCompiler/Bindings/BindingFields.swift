/// The lookup of a binding's models and fields, with a message for everything that does not fit.
struct BindingFields {
  package let binding: BindingSchema
  package let models: [ModelSchema]

  package func refusal(_ message: String) -> StoreError {
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

  package func model(named name: String) throws(StoreError) -> ModelSchema {
    guard let model = models.first(where: { $0.name == name }) else {
      throw StoreError(
        .unknownModel,
        "The binding \(binding.name) names the model \(name), which the store does not have.",
        model: name)
    }
    if model.kind == .view {
      throw refusal(
        "\(name) is a view, and triggers cannot detect its changes. Bind to its tables.")
    }
    // In a trigger NEW and OLD are the changed row: https://sqlite.org/lang_createtrigger.html
    if ["new", "old"].contains(model.table.asciiFolded) {
      throw refusal(
        "triggers cannot refer to a table called \(model.table). Rename the table.")
    }
    return model
  }

  package func field(named name: String, of model: ModelSchema) throws(StoreError) -> FieldSchema {
    guard let field = model.field(named: name) else {
      let names = model.fields.map(\.name).joined(separator: ", ")
      throw StoreError(
        .unknownField,
        "The binding \(binding.name) names \(model.name).\(name), which does not exist. "
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
        "\(binding.target) is a generated column, which SQLite already keeps up to date. Bind another field."
      )
    }
  }

  /// Returns the source's field whose values `reference` holds.
  package func key(
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
    guard source.affinity == target.affinity,
      source.type == target.type && FieldForm.holds(source.form, in: target.form)
        || target.isPlain
    else {
      throw refusal(
        "\(sourceModel.name).\(source.name) (\(source.meaning)) does not fit \(binding.target) "
          + "(\(target.meaning)). Declare them alike.")
    }
    if source.isOptional, !target.isOptional {
      throw refusal(
        "\(sourceModel.name).\(source.name) may be NULL and \(binding.target) may not. "
          + "Make \(binding.target) optional.")
    }
  }

  /// Returns the value of the target while there is no source value.
  ///
  /// - Parameter situation: When that is the case, worded to follow "while": "Album.artistID is
  ///   NULL".
  func absence(
    of target: FieldSchema, whenever mayBeMissing: Bool, while situation: String,
    names: String
  ) throws(StoreError) -> ResolvedBinding.Absence {
    if let sql = target.defaultSQL {
      do throws(SQLExpression.Problem) {
        guard try SQLExpression(sql).isLiteral else {
          throw SQLExpression.Problem(reason: "is not a literal")
        }
      } catch {
        throw refusal(
          "the default of \(binding.target), which it holds while \(names), \(error.reason). "
            + "Make it a number, a string, a blob or NULL.")
      }
      return .literal(sql)
    }
    if target.isOptional { return .null }
    if mayBeMissing {
      throw refusal(
        "while \(situation) there is nothing to copy, but \(binding.target) is not optional and has "
          + "no default. Give it a default, or make it optional.")
    }
    return .unchanged
  }

  package func expression(_ sql: String) throws(StoreError) -> SQLExpression {
    try expression(sql, over: binding.target.model)
  }

  package func expression(_ sql: String, over model: String) throws(StoreError) -> SQLExpression {
    let expression: SQLExpression
    do throws(SQLExpression.Problem) {
      expression = try SQLExpression(sql)
    } catch {
      throw refusal(
        "the expression \(error.reason). "
          + "Write one SQL expression over columns of \(model).")
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
  var declaration: String {
    declaredType ?? type.rawValue
  }

  /// The type with its form and the column's declaration: "date unix, declared INTEGER".
  fileprivate var meaning: String {
    let type = form.map { "\(self.type.rawValue) \($0.rawValue)" } ?? self.type.rawValue
    guard let declaredType, !declaredType.isEmpty else { return type }
    return "\(type), declared \(declaredType)"
  }

  /// Whether the type is a plain storage type, without a meaning of its own.
  package var isPlain: Bool { [.integer, .real, .text, .blob, .any].contains(type) }
}
