import ModelStore

/// What a file says about some of its models: the input of `generate`.
struct StoreDescription {
  /// In the order of names, without the models that hold the slots of lists.
  private(set) var models: [ModelSchema]
  /// The bindings between these models, in the order of names.
  let bindings: [BindingSchema]
  /// The rules of these models beside their tables, in the order of names.
  let rules: [Rule]
  /// The validators in Swift that judge these models.
  let validators: [DeclaredValidator]
  /// All models of the file.
  let all: [ModelSchema]
  /// The fields whose stored values have other types than the field, as `Model.field`.
  private(set) var misfits: [String] = []

  /// - Parameter names: The models; empty for all. The elements of their lists are included.
  /// - Throws: ``CommandError`` with near misses for an unknown name.
  init(of opened: OpenedStore, names: [String]) throws {
    let store = opened.store
    all = store.schema.models.sorted { $0.name < $1.name }
    let slots = Set(all.flatMap { owner in owner.lists.map { $0.slotModelName(of: owner) } })
    let owned = all.filter { !slots.contains($0.name) }
    var chosen = Set(try names.map { try opened.model(named: $0).name })
    var isGrowing = !chosen.isEmpty
    while isGrowing {
      let tables = Set(
        owned.filter { chosen.contains($0.name) }.flatMap(\.lists).map(\.elementTable))
      let count = chosen.count
      chosen.formUnion(owned.filter { tables.contains($0.table) }.map(\.name))
      isGrowing = chosen.count > count
    }
    let models = owned.filter { chosen.isEmpty || chosen.contains($0.name) }
    self.models = models
    let known = Set(models.map(\.name))
    bindings = try store.bindings().sorted { $0.name < $1.name }.filter { binding in
      known.contains(binding.target.model)
        && (binding.sourceModel.map(known.contains) ?? true)
    }
    rules = try store.rules().sorted { $0.name < $1.name }.filter { rule in
      guard known.contains(rule.model) else { return false }
      if case .reference(let other) = rule.demand { return known.contains(other) }
      return true
    }
    validators = try store.declaredValidators().sorted { $0.name < $1.name }
      .filter { !known.isDisjoint(with: $0.models) }
  }

  /// Returns the description with the type `any` for each field of an adopted model that holds a
  /// value of another type, among the first rows of its table.
  func loosened(in opened: OpenedStore) throws -> StoreDescription {
    var copy = self
    for (place, model) in models.enumerated() where model.isAdopted {
      // The collation of a column may be unknown here; typeof does not need it.
      let classes = model.fields.enumerated().map { index, field in
        "typeof(\(SQLText.quoted(field.column))) AS c\(index)"
      }
      let tests = model.fields.enumerated().map { index, field in
        "sum(c\(index) NOT IN (\(SwiftType.storageClasses(of: field)))) > 0"
      }
      let rows = try opened.read { reads in
        try reads.rows(
          SQLText(
            sql: "SELECT \(tests.joined(separator: ", ")) FROM "
              + "(SELECT \(classes.joined(separator: ", ")) FROM \(SQLText.quoted(model.table)) "
              + "LIMIT \(Self.checkedRowCount))"))
      }
      guard let row = rows.first else { continue }
      for (index, value) in row.values.enumerated() where value == .integer(1) {
        copy.models[place].fields[index].type = .any
        copy.models[place].fields[index].form = nil
        copy.misfits.append("\(model.name).\(model.fields[index].name)")
      }
    }
    return copy
  }

  private static let checkedRowCount = 100_000

  /// The model called `name`, among those that are described.
  func model(named name: String) -> ModelSchema? { models.first { $0.name == name } }
}

extension BindingSchema {
  /// The model of the records that the value comes from; nil if it is the bound record itself.
  var sourceModel: String? {
    switch formula {
    case .copy(let source, _): source.model
    case .derive: nil
    case .lookup(let lookup): lookup.source.model
    case .aggregate(let aggregate): aggregate.model
    case .twoWay(let twoWay): twoWay.left.model
    }
  }
}

extension ModelSchema {
  /// Whether a Swift struct can declare the model: its table is one that the store made.
  var isDeclarable: Bool { !isAdopted && kind == .table }
}
