// Adoption: existing tables become models and lists.
extension CatalogEditor {
  /// Returns every table and view that is not a model yet, with its model or the reason against
  /// one.
  func adoptableTables() throws -> [AdoptableTable] {
    try adoptableTables { _ in true }
  }

  /// - Parameter isWanted: Selects tables by folded name. Only values of these tables are read.
  private func adoptableTables(_ isWanted: (String) -> Bool) throws -> [AdoptableTable] {
    var tables = Set(models.schema.models.map { ExactText($0.table.asciiFolded) })
    return try engine.look { connection in
      // Models of a newer library version are already models.
      for problem in try CatalogEntries.models.problems(on: connection) {
        if let name = problem.model { tables.insert(ExactText(name.asciiFolded)) }
      }
      let catalog = try Catalog(reading: connection)
      return try Adoption(catalog: catalog).tables(on: connection)
        .filter { table in
          let name = table.name.asciiFolded
          return !tables.contains(ExactText(name)) && !name.hasPrefix("_ms_") && isWanted(name)
        }
        .map { try $0.decided(in: catalog, on: connection) }
    }
  }

  func adopt(_ names: [String]?, types choices: [TypeChoice]) throws -> [ModelSchema] {
    var schemas = try adoptable(names).compactMap(\.schema)
    let newCount = schemas.count
    for choice in choices {
      if !schemas.contains(where: { $0.name == choice.model }) {
        schemas.append(try retypable(choice))
      }
      guard let index = schemas.firstIndex(where: { $0.name == choice.model }) else { continue }
      schemas[index].apply(try decision(choice, for: schemas[index]))
    }
    try declare(Declarations(migrations: nil, models: schemas), allowing: .none)
    return Array(schemas.prefix(newCount))
  }

  private func adoptable(_ names: [String]?) throws -> [AdoptableTable] {
    guard let names else { return try adoptableTables() }
    let wanted = Set(names.map { ExactText($0.asciiFolded) })
    let found = names.isEmpty ? [] : try adoptableTables { wanted.contains(ExactText($0)) }
    return try names.map { name in
      let folded = name.asciiFolded
      guard let table = found.first(where: { $0.name.asciiFolded.isExactly(folded) }) else {
        throw StoreError(
          .unknownModel, "There is no table \(name) to adopt.", model: name)
      }
      if let reason = table.reason {
        throw StoreError(.unsupportedSchema, reason, model: name)
      }
      return table
    }
  }

  /// Returns the adopted model of `choice`.
  private func retypable(_ choice: TypeChoice) throws -> ModelSchema {
    let model = try models.schema.model(named: choice.model)
    let isSlot = models.schema.slotModels.contains { $0.schema.name == model.name }
    guard model.isAdopted, model.kind == .table, !isSlot else {
      let reason =
        isSlot
        ? "holds the places of a list"
        : model.kind == .view ? "is a view" : "is declared in Swift, and so are its types"
      throw StoreError(
        .unsupportedSchema,
        "\(model.name) \(reason). You can set the types of adopted tables only.",
        model: model.name, field: choice.field)
    }
    return model
  }

  /// Returns the decisions about `choices`, which are made together.
  func decisions(_ choices: [TypeChoice]) throws -> [TypeDecision] {
    var schemas: [ModelSchema] = []
    let decisions = try choices.map { choice in
      if !schemas.contains(where: { $0.name == choice.model }) {
        schemas.append(try typable(choice))
      }
      guard let index = schemas.firstIndex(where: { $0.name == choice.model }) else {
        throw StoreError(
          .unknownModel, "There is no table \(choice.model).", model: choice.model)
      }
      let decision = try decision(choice, for: schemas[index])
      schemas[index].apply(decision)
      return decision
    }
    try engine.look { [schemas] connection in
      try checkBindings(retyping: schemas, on: connection)
    }
    return decisions
  }

  /// Returns the model of `choice`: an adopted model, or the model of a table to adopt.
  private func typable(_ choice: TypeChoice) throws -> ModelSchema {
    guard !models.schema.contains(choice.model) else { return try retypable(choice) }
    guard let schema = try adoptable([choice.model]).compactMap(\.schema).first else {
      throw StoreError(
        .unknownModel, "There is no table \(choice.model).", model: choice.model)
    }
    return schema
  }

  /// Throws if a binding in the file could not be maintained with new types of adopted fields.
  /// Otherwise the store would silently remove the binding as one that cannot be resolved.
  ///
  /// - Parameter declared: Models with the new types; other models may be among them.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` that names the binding.
  func checkBindings(retyping declared: [ModelSchema], on connection: Connection) throws {
    let retyped = declared.filter(\.isAdopted)
    guard !retyped.isEmpty else { return }
    let before = try schema.known(on: connection, declaring: [])
    let after = before.map { model in
      retyped.first { $0.name == model.name && model.isAdopted && $0.hasTable(of: model) } ?? model
    }
    for binding in try CatalogEntries.bindings.understood(on: connection)
    where ResolvedBinding.canResolve(binding, in: before) {
      do throws(StoreError) {
        _ = try ResolvedBinding(binding, in: after)
      } catch {
        throw StoreError(
          error.code,
          "\(error.message) Drop the binding \(binding.name) first, or set the types of all its fields together; nothing was changed.",
          model: error.model, field: error.field)
      }
    }
  }

  private func decision(_ choice: TypeChoice, for schema: ModelSchema) throws -> TypeDecision {
    try engine.look { connection in
      let catalog = try Catalog(reading: connection)
      guard let table = catalog.table(named: schema.table), schema.kind == .table else {
        throw StoreError(
          .unsupportedSchema,
          "\(schema.name) is a view. You can set the types of adopted tables only.",
          model: schema.name, field: choice.field)
      }
      return try StoredTypes(schema: schema, table: table)
        .decision(choice, in: catalog, on: connection)
    }
  }

  /// Adopts a table whose rows become the slots of lists that records of `owner` own.
  func adopt(_ list: ListSchema, of owner: String) throws -> ModelSchema {
    var model = try models.schema.model(named: owner)
    guard model.isAdopted, !model.lists.contains(where: { $0.name == list.name }) else {
      throw StoreError(
        .configurationConflict,
        model.isAdopted
          ? "\(owner) already has a list \(list.name)."
          : "\(owner) is declared in Swift. Declare its list \(list.name) there too.",
        model: owner, field: list.name)
    }
    if let claimant = try claimant(of: list.slotTable) {
      throw StoreError(
        .configurationConflict,
        "The table \(list.slotTable) is in use as a model: \(claimant) refers to it. Remove that first.",
        model: owner, field: list.name)
    }
    model.lists.append(list)
    try declare(Declarations(migrations: nil, models: [model]), allowing: .none)
    return try models.schema.model(named: list.slotModelName(of: model))
  }

  /// Returns what the file would lose if the table were no longer a model; nil for nothing.
  ///
  /// That is a binding, a rule or another model's list.
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

  /// Returns the models together with those of their slots, as opening a store declares them.
  func withSlots(
    _ declared: [ModelSchema], on connection: Connection
  ) throws -> [ModelSchema] {
    try withAdoptedSlots(declared.withSlotModels(), on: connection)
  }

  func withAdoptedSlots(
    _ declared: [ModelSchema], on connection: Connection
  ) throws -> [ModelSchema] {
    let hasAdoptedLists = declared.contains { $0.lists.contains { $0.columns != nil } }
    guard hasAdoptedLists else { return declared }
    return try declared.withAdoptedSlots(
      in: { try Catalog(reading: connection) },
      beside: models.schema.models + CatalogEntries.models.understood(on: connection))
  }
}

extension AdoptableTable {
  /// Returns the table with the types of its undeclared columns decided by their values.
  fileprivate func decided(in catalog: Catalog, on connection: Connection) throws -> AdoptableTable
  {
    guard var schema, let table = catalog.table(named: name) else { return self }
    do {
      let decisions = try StoredTypes(schema: schema, table: table).decisions(on: connection)
      for decision in decisions { schema.apply(decision) }
      return AdoptableTable(
        name: name, result: .model(schema), notes: notes, decisions: decisions)
    } catch let error as SQLiteError where error.code != .interrupted {
      let missing = StoreError(missingObjectIn: error, about: schema, in: catalog)
      let note =
        "The types of \(name) are as declared, because its values could not be read: \(missing?.message ?? StoreError(error).message)"
      return AdoptableTable(name: name, result: result, notes: notes + [note])
    }
  }
}
