extension FieldBinding {
  /// A field as named in the declaration of the binding.
  enum Endpoint: Sendable {
    case field(BindingSchema.Field)
    /// A key path that is not a stored field, and the type of its values.
    case notStored(model: String, type: String)
    /// `Model.field`; both parts may contain dots.
    case text(String)
  }
}

extension FieldBinding.Endpoint {
  init<M: Model>(_ path: any PartialKeyPath<M> & Sendable) {
    let schema = M.schema
    if let index = M.definition.fieldIndex(of: path) {
      self = .field(BindingSchema.Field(model: schema.name, field: schema.fields[index].name))
    } else {
      self = .notStored(model: schema.name, type: "\(type(of: path).valueType)")
    }
  }

  func field(in models: [ModelSchema]) throws -> BindingSchema.Field {
    switch self {
    case .field(let field): return field
    case .notStored(let model, let type):
      throw StoreError(
        .unknownField,
        "A binding names a property of \(model), of type \(type), that is not a stored field. "
          + "Name a stored field.",
        model: model)
    case .text(let text):
      let candidates = models.filter { text.hasPrefix($0.name + ".") }
      for model in candidates {
        let name = String(text.dropFirst(model.name.count + 1))
        if model.field(named: name) != nil {
          return BindingSchema.Field(model: model.name, field: name)
        }
      }
      guard let model = candidates.max(by: { $0.name.count < $1.name.count }) else {
        throw StoreError(
          .unknownModel,
          "A binding names \(text), whose model the store does not have. Write Model.field.")
      }
      let names = model.fields.map(\.name).joined(separator: ", ")
      throw StoreError(
        .unknownField,
        "A binding names \(text), which is not a field of \(model.name). The fields are: \(names).",
        model: model.name, field: String(text.dropFirst(model.name.count + 1)))
    }
  }

  /// Returns the name of a field, which must belong to `model`.
  func field(in models: [ModelSchema], of model: String) throws -> String {
    let field = try field(in: models)
    guard field.model == model else {
      throw StoreError(
        .unsupportedSchema,
        "A binding to \(model) goes through \(field), a field of another model. Name the field of "
          + "\(model) that refers to the source.", model: model)
    }
    return field.field
  }
}
