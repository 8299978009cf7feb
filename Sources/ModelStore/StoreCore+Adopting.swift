// Tables of another design that become models and lists.
extension StoreCore {
  /// Every table and view that is no model yet, with the model it would make or the reason why not.
  func adoptableTables() throws -> [AdoptableTable] {
    let tables = Set(models.schema.models.map { ExactText($0.table.asciiFolded) })
    return try readers.sync { connection in
      try Adoption(catalog: try Catalog(reading: connection)).tables(on: connection)
        .filter { table in
          let name = table.name.asciiFolded
          return !tables.contains(ExactText(name)) && !name.hasPrefix("_ms_")
        }
    }
  }

  func adopt(_ names: [String]?) throws -> [ModelSchema] {
    let found = try adoptableTables()
    let chosen =
      try names.map { names in
        try names.map { name in
          let folded = name.asciiFolded
          guard let table = found.first(where: { $0.name.asciiFolded.isExactly(folded) }) else {
            throw StoreError(
              .unknownModel, "There is no table \(name) that could be adopted.", model: name)
          }
          if let reason = table.reason {
            throw StoreError(.unsupportedSchema, reason, model: name)
          }
          return table
        }
      } ?? found
    let schemas = chosen.compactMap(\.schema)
    try declare(
      Declarations(models: schemas), allowing: .none)
    return schemas
  }

  /// Makes the rows of a table of another design the slots of lists that records of `owner` own.
  func adopt(_ list: ListSchema, of owner: String) throws -> ModelSchema {
    var model = try models.schema.model(named: owner)
    guard model.isAdopted, !model.lists.contains(where: { $0.name == list.name }) else {
      throw StoreError(
        .configurationConflict,
        model.isAdopted
          ? "\(owner) has a list \(list.name) already."
          : "\(owner) is declared in Swift, and so are its lists; declare \(list.name) there.",
        model: owner, field: list.name)
    }
    if let claimant = try claimant(of: list.slotTable) {
      throw StoreError(
        .configurationConflict,
        "The table \(list.slotTable) is in use as a model: \(claimant) speaks of it. Remove that first.",
        model: owner, field: list.name)
    }
    model.lists.append(list)
    try declare(Declarations(models: [model]), allowing: .none)
    return try models.schema.model(named: list.slotModelName(of: model))
  }

  /// What in the file would be lost if the table were no longer the model that it is: a binding or
  /// rule, or another model's list. Nil when nothing would.
  private func claimant(of table: String) throws -> String? {
    let folded = ExactText(table.asciiFolded)
    guard
      let model = models.schema.models.first(where: { ExactText($0.table.asciiFolded) == folded })
    else { return nil }
    if let slots = models.schema.slotModels.first(where: { $0.schema == model }) {
      return "the list \(slots.name)"
    }
    let others = models.schema.models.filter { $0 != model }
    let binding = try catalogEntries(.bindings).first {
      ResolvedBinding.canResolve($0, in: others + [model])
        && !ResolvedBinding.canResolve($0, in: others)
    }
    if let binding { return "the binding \(binding.name)" }
    let rule = try catalogEntries(.rules).first { $0.model == model.name }
    return rule.map { "the rule \($0.name)" }
  }

  func withAdoptedSlots(
    _ declared: [ModelSchema], on connection: Connection
  ) throws -> [ModelSchema] {
    try declared.withAdoptedSlots(
      in: { try Catalog(reading: connection) },
      beside: models.schema.models + CatalogEntries.models.read(on: connection))
  }
}
