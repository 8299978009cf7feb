import ModelStore

/// The binding that the options of `bindings add` describe.
struct BindingWords {
  private let options: BindingsAddCommand
  private let opened: OpenedStore

  init(_ options: BindingsAddCommand, in opened: OpenedStore) {
    self.options = options
    self.opened = opened
  }

  /// - Throws: ``CommandError`` for words that name nothing or say too little.
  func binding() throws -> BindingSchema {
    let (target, field) = try self.field(options.target)
    let place = BindingSchema.Field(model: target.name, field: field.name)
    var binding = BindingSchema(
      name: options.name, target: place, formula: try formula(into: place, of: target))
    binding.condition = options.when
    binding.priority = options.priority
    binding.mode = options.number ? .numberInText : nil
    return binding
  }

  private func formula(
    into target: BindingSchema.Field, of model: ModelSchema
  ) throws -> BindingSchema.Formula {
    if let sql = options.derive { return .derive(sql: sql) }
    if let words = options.copy {
      let (source, field) = try self.field(words)
      let place = BindingSchema.Field(model: source.name, field: field.name)
      if let through = options.through, options.asSQL == nil, !options.keepLast {
        return .copy(source: place, through: through)
      }
      return .lookup(
        BindingSchema.Lookup(
          source: place, match: try match(from: source, to: model, isReferenceOfTarget: true),
          place: try options.of.map { try KeyText.key($0, for: source, in: opened) },
          transform: options.asSQL, keepsLast: options.keepLast ? true : nil))
    }
    if let words = options.aggregate {
      return .aggregate(try aggregate(words, into: model))
    }
    guard let words = options.twoWay else {
      throw CommandError.usage("Choose one of --copy, --derive, --aggregate and --two-way.")
    }
    let (left, field) = try self.field(words)
    let isSameRecord = left.name == model.name && options.through == nil && options.match == nil
    return .twoWay(
      BindingSchema.TwoWay(
        left: BindingSchema.Field(model: left.name, field: field.name),
        match: isSameRecord ? [] : try match(from: left, to: model, isReferenceOfTarget: true),
        forward: options.asSQL, backward: options.back,
        conflict: (options.conflict ?? .leftWins).meaning,
        initially: options.initially == .right ? .right : .left))
  }

  private func aggregate(
    _ words: String, into target: ModelSchema
  ) throws -> BindingSchema.Aggregate {
    let parts = words.split(separator: "=", maxSplits: 1).map(String.init)
    let names = BindingSchema.Aggregate.Function.allCases.map(\.rawValue)
    guard parts.count == 2, let function = BindingSchema.Aggregate.Function(rawValue: parts[0])
    else {
      throw CommandError.usage(
        "--aggregate takes FUNCTION=MODEL.FIELD, or count=MODEL; got \(words).",
        hint: "the functions are \(names.joined(separator: ", "))")
    }
    let isModel = opened.store.schema.contains(parts[1])
    let named = try isModel ? nil : field(parts[1])
    let source = try named?.model ?? opened.model(named: parts[1])
    return BindingSchema.Aggregate(
      function, model: source.name, field: named?.field.name, order: options.by,
      separator: options.separator,
      match: try match(from: source, to: target, isReferenceOfTarget: false),
      place: try options.of.map { try KeyText.key($0, for: target, in: opened) },
      condition: options.condition)
  }

  /// Which records belong together, by `--through` or `--match`; none with `--of`.
  private func match(
    from source: ModelSchema, to target: ModelSchema, isReferenceOfTarget: Bool
  ) throws -> [BindingSchema.Match] {
    if let words = options.match {
      return try CommaList(words).texts.map { pair in
        let names = pair.split(separator: "=", maxSplits: 1).map(String.init)
        guard names.count == 2 else {
          throw CommandError.usage("--match takes SOURCEFIELD=TARGETFIELD; got \(pair).")
        }
        return BindingSchema.Match(source: names[0], target: names[1])
      }
    }
    guard let through = options.through else { return [] }
    let (referring, referred) = isReferenceOfTarget ? (target, source) : (source, target)
    let reference = try referring.requiredField(named: through).reference
    if let reference, reference.table.lowercased() != referred.table.lowercased() {
      throw CommandError.usage(
        "\(referring.name).\(through) refers to the table \(reference.table), not to "
          + "\(referred.name). Name the field that does, or say with --match what belongs together.",
        hint: "storecli models \(Shell.quoted(referring.name))", model: referring.name,
        field: through)
    }
    let column = reference?.column?.lowercased()
    let named = referred.fields.first { column != nil && $0.column.lowercased() == column }?.name
    guard let key = named ?? (referred.key.count == 1 ? referred.key[0] : nil) else {
      throw CommandError.usage(
        "\(referred.name) has a key of \(referred.key.count) fields; say with --match what belongs "
          + "together.", model: referred.name)
    }
    return [
      isReferenceOfTarget
        ? BindingSchema.Match(source: key, target: through)
        : BindingSchema.Match(source: through, target: key)
    ]
  }

  /// The field that `Model.field` names; both may hold dots.
  private func field(_ text: String) throws -> (model: ModelSchema, field: FieldSchema) {
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
