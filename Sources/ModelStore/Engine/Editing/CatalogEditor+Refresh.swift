// Refreshing adopted models whose tables other programs have changed.
extension CatalogEditor {
  func adoptedDrift() throws -> [SchemaDrift] {
    try engine.look { connection in
      try Self.adoptedModels(on: connection).compactMap(\.drift)
    }
  }

  /// Returns the adopted models of the file with their tables, in the order of names.
  static func adoptedModels(on connection: Connection) throws -> [AdoptedModel] {
    try connection.inOneState {
      let entries = try CatalogEntries.models.understood(on: connection)
      guard entries.contains(where: \.isAdopted) else { return [] }
      return AdoptedModel.all(entries, in: try Catalog(reading: connection))
    }
  }

  /// Returns the adopted models whose triggers cannot be generated from their entries.
  func brokenModels(on connection: Connection) throws -> Set<String> {
    Set(try Self.adoptedModels(on: connection).filter(\.isBroken).map(\.entry.name))
  }

  /// Reports adopted models that differ from their tables, as one error.
  ///
  /// It never fails: a file is usable even if some of its models are outdated.
  ///
  /// It reads on the writer's connection. A reader that is opened later then detects that the file
  /// was replaced, and does not compile statements for an earlier schema.
  func reportAdoptedDrift() {
    do {
      let drift = try engine.connections.writer.sync { writer in
        try Self.isRecordedInOrder(on: writer.connection)
          ? [] : Self.adoptedModels(on: writer.connection).compactMap(\.drift)
      }
      if !drift.isEmpty { engine.reports.send(StoreError(outdated: drift)) }
    } catch {
      engine.reports.send(StoreError(reporting: models.storeError(error, about: nil)))
    }
  }

  /// Whether the file records that it is in order. Adopted models then had no drift, and neither
  /// the schema nor the catalog has changed since.
  private static func isRecordedInOrder(on connection: Connection) throws -> Bool {
    try connection.inOneState {
      let filed = try FiledCatalog.knowingTable { try FiledCatalog(reading: connection) }
      return filed.flatMap { $0 }?.vouches(for: FiledCatalog.file) ?? false
    }
  }

  func refreshAdopted(
    _ names: [String]?, _ mode: WriteMode
  ) throws -> [ModelRefresh] {
    let planned = try engine.look { connection in
      try engine.read(connection) { try refreshes(names, on: $0.access.connection).map(\.refresh) }
    }
    guard mode == .commit, !planned.isEmpty else { return planned }
    func goneModels(_ refreshes: [ModelRefresh]) -> Set<String> {
      Set(refreshes.filter { $0.schema == nil }.map(\.name))
    }
    return try changing(leaving: goneModels) { connection in
      // Computes it again, inside the transaction that writes.
      let refreshes = try self.refreshes(names, on: connection)
      let gone = goneModels(refreshes.map(\.refresh))
      try Self.checkDependents(of: refreshes.map(\.refresh))
      try checkUnobserved(gone.sorted())
      let removed = refreshes.flatMap(\.refresh.removed)
      try removeBindings(removed.filter { $0.kind == .binding }.map(\.name), on: connection)
      try CatalogEntries.models.write(refreshes.compactMap(\.refresh.schema), on: connection)
      try CatalogEntries.models.remove(gone.sorted(), on: connection)
      try removeRules(removed.filter { $0.kind == .rule }.map(\.name), on: connection)
      try installDependents(of: Set(refreshes.map(\.model.entry.name)), on: connection)
      return refreshes.map(\.refresh)
    }
  }

  /// Returns the effect of a refresh on each model that differs from its table.
  private func refreshes(
    _ names: [String]?, on connection: Connection
  ) throws -> [(model: AdoptedModel, refresh: ModelRefresh)] {
    let all = try Self.adoptedModels(on: connection)
    let chosen = try Self.chosen(names, of: all, models.schema).filter(\.isOutdated)
    guard !chosen.isEmpty else { return [] }
    let catalog = try Catalog(reading: connection)
    let decided = try chosen.map { try Self.decided($0, in: catalog, on: connection) }
    let schemas = Dictionary(zip(chosen.map(\.entry.name), decided.map(\.schema))) { $1 }
    let after = try schema.filed(on: connection).compactMap { model in
      schemas[model.name] ?? model
    }
    let dependents = try brokenDependents(of: chosen, in: after, on: connection)
    return zip(chosen, decided).map { model, decided in
      let refresh = ModelRefresh(
        name: model.entry.name, schema: decided.schema,
        drift: model.drift ?? SchemaDrift(.model(model.entry.name), []),
        decisions: decided.decisions, removed: dependents[model.entry.name]?.removed ?? [],
        dependents: dependents[model.entry.name]?.others ?? [])
      return (model, refresh)
    }
  }

  /// Returns the models called `names`, each with the slots of its lists, in their order in `all`.
  private static func chosen(
    _ names: [String]?, of all: [AdoptedModel], _ known: StoreSchema
  ) throws -> [AdoptedModel] {
    guard let names else { return all }
    var wanted: Set<String> = []
    for name in names {
      guard let model = all.first(where: { $0.entry.name == name }) else {
        throw Self.notAdopted(name, known)
      }
      wanted.insert(name)
      wanted.formUnion(model.entry.lists.map { $0.slotModelName(of: model.entry) })
    }
    return all.filter { wanted.contains($0.entry.name) }
  }

  static func notAdopted(_ name: String, _ known: StoreSchema) -> StoreError {
    guard known.contains(name) else {
      return StoreError(.unknownModel, "There is no model \(name) in this store.", model: name)
    }
    return StoreError(
      .unsupportedSchema,
      "\(name) is declared in Swift, not adopted. Change or remove it in the program that declares it.",
      model: name)
  }

  /// Returns the refreshed model. The values of new columns decide their types.
  private static func decided(
    _ model: AdoptedModel, in catalog: Catalog, on connection: Connection
  ) throws -> (schema: ModelSchema?, decisions: [TypeDecision]) {
    guard var schema = model.schema, schema.kind == .table, !model.undecided.isEmpty,
      let table = catalog.table(named: schema.table)
    else { return (model.schema, []) }
    do {
      let decisions = try StoredTypes(schema: schema, table: table).decisions(on: connection)
        .filter { model.undecided.contains($0.field) }
      for decision in decisions { schema.apply(decision) }
      return (schema, decisions)
    } catch let error as SQLiteError where error.isAboutMissingObject {
      // As in adoption: if values cannot be read here, the declared types apply.
      return (schema, [])
    }
  }

  private static func checkDependents(of refreshes: [ModelRefresh]) throws {
    let broken = refreshes.filter { !$0.dependents.isEmpty }
    guard let first = broken.first else { return }
    let names = broken.flatMap(\.dependents).map { "the \($0.kind.rawValue) \($0.name)" }
    throw StoreError(
      .unsupportedSchema,
      "\(broken.map(\.name).joined(separator: ", ")) cannot be refreshed, because removed fields are still in use: \(names.joined(separator: ", ")). Drop that first; nothing was changed.",
      model: broken.count == 1 ? first.name : nil)
  }

  // Bindings and rules

  /// The bindings and rules of one model that cannot be maintained.
  private struct BrokenDependents {
    /// The bindings and rules that are removed with the model.
    var removed: [ModelDependent] = []
    /// The bindings and rules that prevent the refresh.
    var others: [ModelDependent] = []

    mutating func add(_ dependent: ModelDependent, goes: Bool) {
      if goes { removed.append(dependent) } else { others.append(dependent) }
    }
  }

  /// Returns, by model, the bindings and rules of `changed` models that cannot be maintained after
  /// it.
  private func brokenDependents(
    of changed: [AdoptedModel], in after: [ModelSchema], on connection: Connection
  ) throws -> [String: BrokenDependents] {
    var found: [String: BrokenDependents] = [:]
    let names = Set(changed.map(\.entry.name))
    let gone = Set(changed.filter { $0.schema == nil }.map(\.entry.name))
    for binding in try CatalogEntries.bindings.understood(on: connection) {
      guard let model = binding.modelNames.first(where: names.contains),
        let problem = try Self.problem(of: binding, in: after, on: connection)
      else { continue }
      let dependent = ModelDependent(kind: .binding, name: binding.name, reason: problem)
      let goes = binding.boundFields.allSatisfy { gone.contains($0.model) }
      found[model, default: BrokenDependents()].add(dependent, goes: goes)
    }
    for rule in try CatalogEntries.rules.understood(on: connection) {
      guard let model = rule.modelNames.first(where: names.contains),
        let problem = try Self.problem(of: rule, in: after, on: connection)
      else { continue }
      let dependent = ModelDependent(kind: .rule, name: rule.name, reason: problem)
      found[model, default: BrokenDependents()].add(dependent, goes: gone.contains(rule.model))
    }
    return found
  }

  /// Returns why a rule cannot be maintained; nil if it can.
  private static func problem(
    of rule: Rule, in models: [ModelSchema], on connection: Connection
  ) throws -> String? {
    guard try FiledRules([rule], in: models, on: connection).kept.isEmpty else { return nil }
    do {
      try RuleObjects(try ResolvedRule(rule, in: models)).check(on: connection)
      return "The rule \(rule.name) cannot be kept: its table has changed."
    } catch let error as StoreError {
      return error.message
    }
  }

  /// Returns why a binding cannot be maintained; nil if it can.
  private static func problem(
    of binding: BindingSchema, in models: [ModelSchema], on connection: Connection
  ) throws -> String? {
    do {
      let triggers = BindingTriggers(try ResolvedBinding(binding, in: models))
      guard try triggers.missingFunction(on: connection) == nil else { return nil }
      try triggers.checkExpressions(on: connection)
      try triggers.checkFinders(on: connection)
      return nil
    } catch let error as StoreError {
      return error.message
    }
  }

  /// Brings the triggers of rules, and of bindings of `names`, in line with the catalog.
  private func installDependents(of names: Set<String>, on connection: Connection) throws {
    let models = try schema.filed(on: connection)
    let bindings = try CatalogEntries.bindings.read(on: connection)
      .filter { ResolvedBinding.canResolve($0, in: models) }
    try Reconciler(connection).reconcile(
      CompiledBindings(bindings, in: models, on: connection)
        .keeping { !names.isDisjoint(with: $0.binding.modelNames) })
    try apply(compiled(CatalogEntries.rules.read(on: connection), on: connection), on: connection)
  }
}

extension BindingSchema {
  /// The models that it names, starting with the model of its target.
  var modelNames: [String] {
    switch formula {
    case .copy(let source, _): [target.model, source.model]
    case .derive: [target.model]
    case .lookup(let lookup): [target.model, lookup.source.model]
    case .aggregate(let aggregate): [target.model, aggregate.model]
    case .twoWay(let twoWay): [target.model, twoWay.left.model]
    }
  }
}

extension Rule {
  /// The models that it names, starting with the model that it restricts.
  var modelNames: [String] {
    if case .reference(let referenced) = demand { [model, referenced] } else { [model] }
  }
}
