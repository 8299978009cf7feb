import ModelStore

/// A binding in Swift.
struct SwiftBinding {
  private let binding: BindingSchema
  private let description: StoreDescription
  private let names: SwiftNames

  init(_ binding: BindingSchema, _ description: StoreDescription, _ names: SwiftNames) {
    self.binding = binding
    self.description = description
    self.names = names
  }

  /// The call; nil if Swift cannot declare the binding.
  var text: String? {
    // The function itself is not in the file.
    guard binding.functions == nil, let target = description.model(named: binding.target.model),
      let call = target.isDeclarable ? typed(target) ?? named : named
    else { return nil }
    var text = call
    if let condition = binding.condition { text += "\n  .when(\(SwiftText.literal(condition)))" }
    if let priority = binding.priority { text += "\n  .priority(\(priority))" }
    if binding.mode == .numberInText { text += "\n  .replacingOnlyTheNumber()" }
    return text
  }

  private var name: [String] {
    binding.name == "\(binding.target)" ? [] : ["name: \(SwiftText.literal(binding.name))"]
  }

  /// The form for models without a Swift type; nil if the binding has none.
  private var named: String? {
    func text(_ field: BindingSchema.Field) -> String { SwiftText.literal("\(field)") }
    switch binding.formula {
    case .copy(let source, let through):
      let reference = BindingSchema.Field(model: binding.target.model, field: through)
      return SwiftText.call(
        ".copy",
        ["from: \(text(source))", "to: \(text(binding.target))", "through: \(text(reference))"]
          + name)
    case .derive(let sql):
      return SwiftText.call(
        ".derive", ["to: \(text(binding.target))", "from: \(SwiftText.literal(sql))"] + name)
    case .lookup, .aggregate, .twoWay: return nil
    }
  }

  /// The form by key paths; nil if types do not fit it.
  private func typed(_ target: ModelSchema) -> String? {
    let bound = names.path(binding.target.field, of: target)
    if case .derive(let sql) = binding.formula {
      return SwiftText.call(".derive", [bound, "from: \(SwiftText.literal(sql))"] + name)
    }
    guard let source = binding.sourceModel.flatMap(description.model), source.isDeclarable else {
      return nil
    }
    switch binding.formula {
    case .derive: return nil
    case .copy(let field, let through):
      guard canCopy(field.field, of: source, through, to: target) else { return nil }
      return SwiftText.call(
        ".copy",
        [
          names.path(field.field, of: source), "to: \(bound)",
          "through: \(names.path(through, of: target))",
        ] + name)
    case .lookup(let lookup): return typed(lookup, source, target, bound)
    case .aggregate(let aggregate): return typed(aggregate, source, target, bound)
    case .twoWay(let twoWay): return typed(twoWay, source, target, bound)
    }
  }

  /// Whether the key paths have types that the compiler accepts for a copy.
  private func canCopy(
    _ field: String, of source: ModelSchema, _ through: String, to target: ModelSchema
  ) -> Bool {
    guard let copied = source.field(named: field),
      let bound = target.field(named: binding.target.field),
      let reference = target.field(named: through), source.keyFields.count == 1
    else { return false }
    let key = source.keyFields[0]
    let isReferenceTyped =
      SwiftType.of(reference, in: target) == SwiftType.of(key, in: source)
      && ["Int64", "String", "UUID"].contains(SwiftType.of(key, in: source))
    return isReferenceTyped && isSame(copied, of: source, as: bound, of: target)
  }

  /// Whether a value of `left` is one of `right`, which may be optional in addition.
  private func isSame(
    _ left: FieldSchema, of model: ModelSchema, as right: FieldSchema, of other: ModelSchema
  ) -> Bool {
    SwiftType.of(left, in: model) == SwiftType.of(right, in: other)
      && (right.isOptional || !left.isOptional)
  }

  private func matches(
    _ match: [BindingSchema.Match], _ source: ModelSchema, _ target: ModelSchema
  ) -> [String]? {
    var texts: [String] = []
    for pair in match {
      guard let left = source.field(named: pair.source),
        let right = target.field(named: pair.target),
        isSame(left, of: source, as: right, of: target)
      else { return nil }
      let paths = [names.path(pair.source, of: source), names.path(pair.target, of: target)]
      texts.append(".equal(\(paths.joined(separator: ", ")))")
    }
    return texts.isEmpty ? nil : ["matching: \(texts[0])"] + texts.dropFirst()
  }

  private func typed(
    _ lookup: BindingSchema.Lookup, _ source: ModelSchema, _ target: ModelSchema, _ bound: String
  ) -> String? {
    let field = names.path(lookup.source.field, of: source)
    let transform = lookup.transform.map { ["as: \(SwiftText.literal($0))"] } ?? []
    let keeps = lookup.keepsLast == true ? ["withoutSource: .keepLast"] : []
    if let place = lookup.place {
      guard keeps.isEmpty, let key = literal(place, of: source) else { return nil }
      return SwiftText.call(".copy", [field, "of: \(key)", "to: \(bound)"] + transform + name)
    }
    if let match = matches(lookup.match, source, target) {
      return SwiftText.call(
        ".copy", [field, "to: \(bound)"] + match + transform + keeps + name)
    }
    guard lookup.match.count == 1, !transform.isEmpty,
      refers(lookup.match[0].target, of: target, to: lookup.match[0].source, of: source)
    else { return nil }
    let reference = "through: \(names.path(lookup.match[0].target, of: target))"
    return SwiftText.call(
      ".copy", [field, "to: \(bound)", reference] + transform + keeps + name)
  }

  private func typed(
    _ aggregate: BindingSchema.Aggregate, _ source: ModelSchema, _ target: ModelSchema,
    _ bound: String
  ) -> String? {
    var arguments = [function(aggregate, source), "into: \(bound)"]
    if let place = aggregate.place {
      guard let key = literal(place, of: target) else { return nil }
      arguments.append("of: \(key)")
      // Only the function says which records are aggregated.
      arguments[0] = "Aggregation<\(names.type(of: source))>\(arguments[0])"
    } else if aggregate.match.count == 1,
      refers(aggregate.match[0].source, of: source, to: aggregate.match[0].target, of: target)
    {
      arguments.append("through: \(names.path(aggregate.match[0].source, of: source))")
    } else if let match = matches(aggregate.match, source, target) {
      arguments += match
    } else {
      return nil
    }
    if let condition = aggregate.condition {
      arguments.append("where: \(SwiftText.literal(condition))")
    }
    return SwiftText.call(".aggregate", arguments + name)
  }

  private func function(_ aggregate: BindingSchema.Aggregate, _ source: ModelSchema) -> String {
    let name = aggregate.function.rawValue
    if let expression = aggregate.expression {
      let scale = aggregate.scale.map { ", scale: \($0)" } ?? ""
      return ".\(name)(of: \(SwiftText.literal(expression))\(scale))"
    }
    guard let field = aggregate.field else { return ".\(name)" }
    var arguments = [names.path(field, of: source)]
    if let separator = aggregate.separator {
      arguments.append("separator: \(SwiftText.literal(separator))")
    }
    if let order = aggregate.order { arguments.append("by: \(names.path(order, of: source))") }
    return ".\(name)(\(arguments.joined(separator: ", ")))"
  }

  private func typed(
    _ twoWay: BindingSchema.TwoWay, _ left: ModelSchema, _ right: ModelSchema, _ bound: String
  ) -> String? {
    var arguments = [names.path(twoWay.left.field, of: left), bound]
    if !twoWay.match.isEmpty {
      if let match = matches(twoWay.match, left, right) {
        arguments += match
      } else if twoWay.match.count == 1,
        refers(twoWay.match[0].target, of: right, to: twoWay.match[0].source, of: left)
      {
        arguments.append("through: \(names.path(twoWay.match[0].target, of: right))")
      } else {
        return nil
      }
    }
    if let forward = twoWay.forward { arguments.append("forward: \(SwiftText.literal(forward))") }
    if let backward = twoWay.backward {
      arguments.append("backward: \(SwiftText.literal(backward))")
    }
    if twoWay.conflict != .leftWins { arguments.append("conflict: .\(twoWay.conflict.rawValue)") }
    if twoWay.initially != .left { arguments.append("initially: .\(twoWay.initially.rawValue)") }
    return SwiftText.call(".twoWay", arguments + name)
  }

  /// Whether the reference `field` alone says that it names `key` of the other model.
  private func refers(
    _ field: String, of model: ModelSchema, to key: String, of other: ModelSchema
  ) -> Bool {
    guard let reference = model.field(named: field)?.reference else { return other.key == [key] }
    guard reference.table.lowercased() == other.table.lowercased() else { return false }
    guard let column = reference.column else { return other.key == [key] }
    return other.field(named: key)?.column.lowercased() == column.lowercased()
  }

  /// A key of `model` in Swift; nil if its type has no literal.
  private func literal(_ key: [SQLValue], of model: ModelSchema) -> String? {
    guard key.count == 1, model.keyFields.count == 1 else { return nil }
    switch (key[0], SwiftType.of(model.keyFields[0], in: model)) {
    case (.integer(let number), "Int64"): return "\(number)"
    case (.text(let text), "String"): return SwiftText.literal(text)
    default: return nil
    }
  }
}
