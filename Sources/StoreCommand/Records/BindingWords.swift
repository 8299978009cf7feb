import ModelStore

/// Resolves the words of `bindings add` against the models of a store.
struct BindingWords {
  /// The model whose field `--through` names.
  enum Referring {
    case source
    case target
  }

  private let opened: OpenedStore

  init(in opened: OpenedStore) {
    self.opened = opened
  }

  func key(_ text: String, for model: ModelSchema) throws -> [SQLValue] {
    try KeyText.key(text, for: model, in: opened)
  }

  /// The model that `text` names, or the field that `Model.field` names.
  func modelOrField(_ text: String) throws -> (model: ModelSchema, field: FieldSchema?) {
    guard !opened.store.schema.contains(text) else { return (try opened.model(named: text), nil) }
    let (model, field) = try field(text)
    return (model, field)
  }

  /// Which records belong together, by `--through` or `--match`; empty without them.
  func match(
    _ link: BindingLink, from source: ModelSchema, to target: ModelSchema, referring: Referring
  ) throws -> [BindingSchema.Match] {
    if let words = link.match {
      return try CommaList(words).texts.map { pair in
        let names = pair.split(separator: "=", maxSplits: 1).map(String.init)
        guard names.count == 2 else {
          throw CommandError.usage("--match takes SOURCEFIELD=TARGETFIELD; got \(pair).")
        }
        return BindingSchema.Match(source: names[0], target: names[1])
      }
    }
    guard let through = link.through else { return [] }
    let (holder, referred) = referring == .target ? (target, source) : (source, target)
    let reference = try holder.requiredField(named: through).reference
    if let reference, reference.table.lowercased() != referred.table.lowercased() {
      throw CommandError.usage(
        "\(holder.name).\(through) refers to the table \(reference.table), not to "
          + "\(referred.name). Name the field that does, or pass --match with the equal fields.",
        hint: "storecli models \(Shell.quoted(holder.name))", model: holder.name,
        field: through)
    }
    let column = reference?.column?.lowercased()
    let named = referred.fields.first { column != nil && $0.column.lowercased() == column }?.name
    guard let key = named ?? (referred.key.count == 1 ? referred.key[0] : nil) else {
      throw CommandError.usage(
        "\(referred.name) has a key of \(referred.key.count) fields. Pass --match with the equal "
          + "fields.", model: referred.name)
    }
    return [
      referring == .target
        ? BindingSchema.Match(source: key, target: through)
        : BindingSchema.Match(source: through, target: key)
    ]
  }

  /// The field that `Model.field` names; both may hold dots.
  func field(_ text: String) throws -> (model: ModelSchema, field: FieldSchema) {
    try opened.field(named: text)
  }
}

extension OpenedStore {
  /// The field that `Model.field` names; both may hold dots.
  ///
  /// - Throws: ``CommandError`` with near misses.
  func field(named text: String) throws -> (model: ModelSchema, field: FieldSchema) {
    let candidates = store.schema.models.filter { text.hasPrefix($0.name + ".") }
    for model in candidates {
      if let field = model.field(named: String(text.dropFirst(model.name.count + 1))) {
        return (model, field)
      }
    }
    guard let model = candidates.max(by: { $0.name.count < $1.name.count }) else {
      let name = text.split(separator: ".").first.map(String.init) ?? text
      guard !store.schema.contains(name) else {
        throw CommandError.usage("\(text) names no field; write MODEL.FIELD.")
      }
      _ = try self.model(named: name)
      throw CommandError.usage("\(text) names no field; write MODEL.FIELD.")
    }
    return (model, try model.requiredField(named: String(text.dropFirst(model.name.count + 1))))
  }
}
