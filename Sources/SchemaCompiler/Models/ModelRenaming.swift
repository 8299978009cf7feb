/// New names of models, tables, fields and columns, and what they mean for everything in a file
/// that uses these names. A plain value.
package struct ModelRenaming: Sendable {
  /// The new names.
  package struct Names: Hashable, Sendable {
    /// The new names of tables, by the old ones, folded.
    package var tables: [ExactText: String] = [:]
    /// The new names of columns, by the old table and the old column, folded.
    package var columns: [ExactText: [ExactText: String]] = [:]
    /// The new names of models, by the old ones. A model without one is called as its table, if it
    /// was before.
    package var models: [String: String] = [:]
    /// The new names of fields, by the old model and the old field. A field without one is called
    /// as its column, if it was before.
    package var fields: [String: [String: String]] = [:]

    package init() {}

    package var isEmpty: Bool {
      tables.isEmpty && columns.isEmpty && models.isEmpty && fields.isEmpty
    }
  }

  /// A model before and after. Fields and lists have the same positions.
  package struct Pair: Hashable, Sendable {
    package let old: ModelSchema
    package let new: ModelSchema

    package var isChanged: Bool { old != new }
  }

  /// Every model of the file, in the given order.
  package let pairs: [Pair]
  private let byName: [String: Pair]

  /// - Parameter models: All models of the file, also those of slots.
  package init(of models: [ModelSchema], _ names: Names) {
    var pairs = models.map { Pair(old: $0, new: names.named($0)) }
    pairs = Self.withDistinctNames(pairs)
    let owners = Dictionary(pairs.map { ($0.old.name, $0) }) { first, _ in first }
    pairs = pairs.map { pair in
      names.following(pair, of: models, named: owners)
    }
    // The slots of a list are called as their owner and the list.
    var slots: [String: (name: String, table: String)] = [:]
    for pair in pairs {
      for (old, new) in zip(pair.old.lists, pair.new.lists) {
        slots[old.slotModelName(of: pair.old)] = (new.slotModelName(of: pair.new), new.slotTable)
      }
    }
    pairs = pairs.map { pair in
      guard let slot = slots[pair.old.name] else { return pair }
      var new = pair.new
      new.name = slot.name
      new.table = slot.table
      for index in new.indexes.indices {
        new.indexes[index].name = new.indexes[index].name
          .replacingPrefix("\(pair.old.table).", by: "\(slot.table).")
      }
      return Pair(old: pair.old, new: new)
    }
    self.pairs = pairs
    byName = Dictionary(pairs.map { ($0.old.name, $0) }) { first, _ in first }
  }

  /// Whether anything has another name.
  package var isEmpty: Bool { !pairs.contains(where: \.isChanged) }

  /// The models that have other names of any kind.
  package var changed: [Pair] { pairs.filter(\.isChanged) }

  /// Keeps the old name of a model if its new one is that of another model.
  private static func withDistinctNames(_ pairs: [Pair]) -> [Pair] {
    let counts = Dictionary(pairs.map { ($0.new.name, 1) }, uniquingKeysWith: +)
    return pairs.map { pair in
      guard counts[pair.new.name, default: 0] > 1 else { return pair }
      var new = pair.new
      new.name = pair.old.name
      return Pair(old: pair.old, new: new)
    }
  }

  // What uses the names

  package func model(_ name: String) -> String { byName[name]?.new.name ?? name }

  package func field(_ name: String, of model: String) -> String {
    guard let pair = byName[model], let index = pair.old.fieldIndex(named: name) else {
      return name
    }
    return pair.new.fields[index].name
  }

  /// Returns the expression over the columns of `model` with their new names.
  package func expression(_ text: String, of model: String) -> String {
    guard let pair = byName[model] else { return text }
    return pair.expression(text)
  }

  package func renamed(_ validator: ValidatorSchema) -> ValidatorSchema {
    ValidatorSchema(name: validator.name, models: validator.models.map(model))
  }

  /// Returns the rule with new names. A rule that is called by its model and field is renamed, too.
  package func renamed(_ rule: Rule) -> Rule {
    var new = rule
    new.model = model(rule.model)
    new.fields = rule.fields.map { field($0, of: rule.model) }
    new.name = byName[rule.model]?.ruleName(rule.name) ?? rule.name
    switch rule.demand {
    case .required, .immutable: break
    case .condition(let sql): new.demand = .condition(sql: expression(sql, of: rule.model))
    case .unique(let condition):
      new.demand = .unique(where: condition.map { expression($0, of: rule.model) })
    case .reference(let other): new.demand = .reference(model: model(other))
    case .countAtMost(let count, let per):
      new.demand = .countAtMost(count: count, per: per.map { field($0, of: rule.model) })
    case .sumAtMost(let limit, let per):
      new.demand = .sumAtMost(limit: limit, per: per.map { field($0, of: rule.model) })
    case .noOverlap(let per):
      new.demand = .noOverlap(per: per.map { field($0, of: rule.model) })
    }
    // A message that describes the demand follows it.
    func described(_ rule: Rule) -> String {
      Rule(rule.name, of: rule.model, fields: rule.fields, rule.demand).message
    }
    if rule.message == described(rule) { new.message = described(new) }
    return new
  }

  /// Returns the binding with new names. A binding that is called as its target is renamed, too.
  package func renamed(_ binding: BindingSchema) -> BindingSchema {
    var new = binding
    let target = binding.target.model
    new.target = renamed(binding.target)
    if binding.name == binding.target.description { new.name = new.target.description }
    new.condition = binding.condition.map { expression($0, of: target) }
    switch binding.formula {
    case .copy(let source, let reference):
      new.formula = .copy(source: renamed(source), through: field(reference, of: target))
    case .derive(let sql): new.formula = .derive(sql: expression(sql, of: target))
    case .lookup(var lookup):
      let source = lookup.source.model
      lookup.transform = lookup.transform.map { expression($0, of: source) }
      lookup.match = renamed(lookup.match, from: source, to: target)
      lookup.source = renamed(lookup.source)
      new.formula = .lookup(lookup)
    case .aggregate(var aggregate):
      let source = aggregate.model
      aggregate.model = model(source)
      aggregate.field = aggregate.field.map { field($0, of: source) }
      aggregate.expression = aggregate.expression.map { expression($0, of: source) }
      aggregate.order = aggregate.order.map { field($0, of: source) }
      aggregate.condition = aggregate.condition.map { expression($0, of: source) }
      aggregate.match = renamed(aggregate.match, from: source, to: target)
      new.formula = .aggregate(aggregate)
    case .twoWay(var twoWay):
      let left = twoWay.left.model
      twoWay.forward = twoWay.forward.map { expression($0, of: left) }
      twoWay.backward = twoWay.backward.map { expression($0, of: target) }
      twoWay.match = renamed(twoWay.match, from: left, to: target)
      twoWay.left = renamed(twoWay.left)
      new.formula = .twoWay(twoWay)
    }
    return new
  }

  private func renamed(_ field: BindingSchema.Field) -> BindingSchema.Field {
    BindingSchema.Field(model: model(field.model), field: self.field(field.field, of: field.model))
  }

  private func renamed(
    _ match: [BindingSchema.Match], from source: String, to target: String
  ) -> [BindingSchema.Match] {
    match.map {
      BindingSchema.Match(
        source: field($0.source, of: source), target: field($0.target, of: target))
    }
  }
}

extension ModelRenaming.Pair {
  /// Returns the expression over the model's columns with their new names. A name without quotes
  /// stays without them if it can.
  func expression(_ text: String) -> String {
    var renamed = old
    renamed.fields = zip(old.fields, new.fields).filter { $0.column != $1.column }.map(\.0)
    guard !renamed.fields.isEmpty else { return text }
    do {
      return try SQLExpression(text).spelling(columnsOf: renamed) { field, token in
        let name = column(field.column)
        let canBeBare =
          name.utf8.allSatisfy(SQLText.isBareByte)
          && SQLExpression.columnNames(in: name) == [name.asciiFolded]
        return canBeBare && token.utf8.allSatisfy(SQLText.isBareByte) ? name : SQLText.quoted(name)
      }
    } catch {
      // Another program wrote it. SQLite did not accept it before, either.
      return text
    }
  }

  /// The new names of the CHECKs of the model's table, by the old ones.
  package var checks: [String: String] {
    guard !old.isAdopted, old.kind == .table else { return [:] }
    let names = zip(old.allRules, new.allRules).map { ($0.rule.name, $1.rule.name) }
    return Dictionary(names.filter { $0 != $1 }) { first, _ in first }
  }

  /// The indexes of the model that have other names now.
  package var indexes: [(old: String, new: SchemaObject)] {
    guard !old.isAdopted, old.kind == .table else { return [] }
    return zip(old.allIndexes, new.allIndexes).filter { $0.name != $1.name }
      .map { ($0.name, SchemaSQL(new).index($1)) }
  }

  /// The new name of a column.
  package func column(_ name: String) -> String {
    let folded = name.asciiFolded
    let index = old.fields.firstIndex { $0.column.asciiFolded == folded }
    return index.map { new.fields[$0].column } ?? name
  }

  /// Returns the new name of a rule that is called `Model.field.label` or `Model.label`.
  func ruleName(_ name: String) -> String {
    guard name.hasPrefix("\(old.name).") else { return name }
    let rest = name.dropFirst(old.name.count + 1)
    for (field, other) in zip(old.fields, new.fields) where rest.hasPrefix("\(field.name).") {
      return "\(new.name).\(other.name)\(rest.dropFirst(field.name.count))"
    }
    return "\(new.name).\(rest)"
  }
}

extension ModelRenaming.Names {
  /// Returns the model with new names of its own: of itself, its table, its fields and columns.
  fileprivate func named(_ model: ModelSchema) -> ModelSchema {
    var new = model
    let table = ExactText(model.table.asciiFolded)
    new.table = tables[table] ?? model.table
    new.name =
      models[model.name] ?? (model.name.isExactly(model.table) ? new.table : model.name)
    for index in model.fields.indices {
      let field = model.fields[index]
      let column = columns[table]?[ExactText(field.column.asciiFolded)] ?? field.column
      new.fields[index].column = column
      new.fields[index].name =
        fields[model.name]?[field.name]
        ?? (field.name.isExactly(field.column) ? column : field.name)
    }
    if Set(new.fields.map(\.name)).count < new.fields.count {
      for index in model.fields.indices { new.fields[index].name = model.fields[index].name }
    }
    func renamed(_ names: [String]) -> [String] {
      names.map { name in model.fieldIndex(named: name).map { new.fields[$0].name } ?? name }
    }
    new.key = renamed(model.key)
    new.uniques = model.uniques.map(renamed)
    for index in model.indexes.indices {
      new.indexes[index].fields = renamed(model.indexes[index].fields)
    }
    return new
  }

  /// Returns the model with what follows the names of other models, and its rules.
  fileprivate func following(
    _ pair: ModelRenaming.Pair, of models: [ModelSchema],
    named pairs: [String: ModelRenaming.Pair]
  ) -> ModelRenaming.Pair {
    let old = pair.old
    var new = pair.new
    for index in new.fields.indices {
      if let reference = old.fields[index].reference {
        new.fields[index].reference = renamed(reference)
      }
      new.fields[index].rules = renamed(old.fields[index].rules, of: pair)
    }
    new.rules = renamed(old.rules, of: pair)
    for index in new.lists.indices {
      new.lists[index] = renamed(old.lists[index], of: pair, named: pairs)
    }
    return ModelRenaming.Pair(old: old, new: new)
  }

  private func renamed(_ reference: ReferenceSchema) -> ReferenceSchema {
    var new = reference
    let table = ExactText(reference.table.asciiFolded)
    new.table = tables[table] ?? reference.table
    new.column = reference.column.map { columns[table]?[ExactText($0.asciiFolded)] ?? $0 }
    return new
  }

  /// Constraints of adopted tables keep the names that other programs have given them.
  private func renamed(_ rules: [RuleSchema], of pair: ModelRenaming.Pair) -> [RuleSchema] {
    rules.map { rule in
      RuleSchema(
        name: pair.old.isAdopted ? rule.name : pair.ruleName(rule.name), message: rule.message,
        condition: pair.expression(rule.condition))
    }
  }

  private func renamed(
    _ list: ListSchema, of pair: ModelRenaming.Pair, named pairs: [String: ModelRenaming.Pair]
  ) -> ListSchema {
    var new = list
    let table = ExactText(list.slotTable.asciiFolded)
    new.elementTable = tables[ExactText(list.elementTable.asciiFolded)] ?? list.elementTable
    if let columns = list.columns {
      func column(_ name: String) -> String {
        self.columns[table]?[ExactText(name.asciiFolded)] ?? name
      }
      new.columns = ListSchema.Columns(
        owner: column(columns.owner), element: column(columns.element),
        position: column(columns.position))
    }
    let slots = list.slotModelName(of: pair.old)
    let isCalledByOwner =
      list.columns == nil && list.slotTable.isExactly("\(pair.old.name)_\(list.name)")
    if let declared = models[slots], declared.hasPrefix("\(pair.new.name).") {
      new.name = String(declared.dropFirst(pair.new.name.count + 1))
    } else if isCalledByOwner, let moved = tables[table], moved.hasPrefix("\(pair.new.name)_") {
      new.name = String(moved.dropFirst(pair.new.name.count + 1))
    }
    new.slotTable =
      isCalledByOwner ? "\(pair.new.name)_\(new.name)" : tables[table] ?? list.slotTable
    return new
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, by new: String) -> String {
    hasPrefix(prefix) ? new + dropFirst(prefix.count) : self
  }
}

extension SQLText {
  /// Whether the byte can be part of a name without quotes.
  fileprivate static func isBareByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
