// Undoing adoption.
extension CatalogEditor {
  func leave(
    _ names: [String]?, losing policy: LossPolicy, _ mode: WriteMode
  ) throws -> ModelDeparture {
    let planned = try engine.look { connection in
      try engine.read(connection) { try departure(of: names, policy, on: $0.access.connection) }
    }
    let isNothing = planned.models.isEmpty && !planned.removesCatalog
    guard mode == .commit, !isNothing else { return planned }
    func left(_ departure: ModelDeparture) -> Set<String> { Set(departure.allModels) }
    func complete(_ departure: ModelDeparture, on connection: Connection) throws {
      if departure.removesCatalog { try Self.dropCatalog(on: connection) }
    }
    return try changing(leaving: left, completion: complete) { connection in
      // Computes it again, inside the transaction that writes.
      let departure = try self.departure(of: names, policy, on: connection)
      try Self.check(departure, policy)
      try checkUnobserved(departure.allModels)
      try remove(departure, on: connection)
      return departure
    }
  }

  /// Returns everything that is removed with the models.
  private func departure(
    of names: [String]?, _ policy: LossPolicy, on connection: Connection
  ) throws -> ModelDeparture {
    let entries = try CatalogEntries.models.understood(on: connection)
    let leaving = try Self.leaving(names, entries, models.schema)
    let own = try dependents(of: leaving, among: entries, on: connection)
    let remaining = entries.filter { !leaving.contains($0.name) }
    let removesCatalog = try remaining.isEmpty && Self.ownsCatalogAlone(on: connection)
    var lostEntryCount = 0
    var lostConsumers: [String] = []
    if removesCatalog, try JournalLayouts(reading: connection) != nil {
      lostEntryCount =
        try connection.firstRow(
          "SELECT count(*) FROM _ms_journal WHERE layout <> \(JournalLayout.journalNumber)"
        ) { Int(try $0.integer(at: 0)) } ?? 0
      lostConsumers = try JournalConsumers(connection: connection).all().map(\.name)
    }
    return ModelDeparture(
      models: leaving.sorted(),
      removed: own.own + (policy == .accept ? own.others : []), dependents: own.others,
      lostEntryCount: lostEntryCount, lostConsumers: lostConsumers, removesCatalog: removesCatalog)
  }

  /// Returns the adopted models called `names`, with the slots of their lists.
  private static func leaving(
    _ names: [String]?, _ entries: [ModelSchema], _ known: StoreSchema
  ) throws -> Set<String> {
    let adopted = entries.filter(\.isAdopted)
    guard let names else { return Set(adopted.map(\.name)) }
    var leaving: Set<String> = []
    for name in names {
      guard let model = adopted.first(where: { $0.name == name }) else {
        throw notAdopted(name, known)
      }
      let owner = adopted.first { owner in
        owner.lists.contains { $0.slotModelName(of: owner) == name }
      }
      if let owner {
        throw StoreError(
          .unsupportedSchema,
          "\(name) holds the places of a list. Remove its owner, \(owner.name), to remove it.",
          model: name)
      }
      leaving.insert(name)
      leaving.formUnion(model.lists.map { $0.slotModelName(of: model) })
    }
    return leaving
  }

  /// Returns what depends on the models, apart for these models and for other models or programs.
  private func dependents(
    of leaving: Set<String>, among entries: [ModelSchema], on connection: Connection
  ) throws -> (own: [ModelDependent], others: [ModelDependent]) {
    var own: [ModelDependent] = []
    var others: [ModelDependent] = []
    func add(_ kind: ModelDependent.Kind, _ name: String, _ reason: String, isOwn: Bool) {
      let dependent = ModelDependent(kind: kind, name: name, reason: reason)
      if isOwn { own.append(dependent) } else { others.append(dependent) }
    }
    for binding in try CatalogEntries.bindings.understood(on: connection) {
      guard let name = binding.modelNames.first(where: leaving.contains) else { continue }
      let isOwn = binding.boundFields.allSatisfy { leaving.contains($0.model) }
      add(.binding, binding.name, "It follows or keeps a field of \(name).", isOwn: isOwn)
    }
    for rule in try CatalogEntries.rules.understood(on: connection) {
      guard let name = rule.modelNames.first(where: leaving.contains) else { continue }
      add(.rule, rule.name, "It is about \(name).", isOwn: leaving.contains(rule.model))
    }
    for validator in try CatalogEntries.validators.understood(on: connection) {
      guard let name = validator.models.first(where: leaving.contains) else { continue }
      add(
        .validator, validator.name, "A program declares it for \(name) in Swift.", isOwn: false)
    }
    let tables = Set(
      entries.filter { leaving.contains($0.name) }.map { ExactText($0.table.asciiFolded) })
    for owner in entries {
      for list in owner.lists {
        let isOwn = leaving.contains(owner.name)
        guard isOwn || tables.contains(ExactText(list.elementTable.asciiFolded)) else { continue }
        add(
          .list, list.slotModelName(of: owner), "Its elements are records of \(list.elementTable).",
          isOwn: isOwn)
      }
    }
    return (own, others)
  }

  /// Returns whether the file has the store's own tables, and no program has recorded migrations in
  /// them.
  private static func ownsCatalogAlone(on connection: Connection) throws -> Bool {
    guard try !InstalledObjects.ofStore(in: connection).objects.isEmpty else {
      return false
    }
    return try MigrationLedger(connection: connection, scope: .app).entries().isEmpty
  }

  private static func check(_ departure: ModelDeparture, _ policy: LossPolicy) throws {
    guard policy == .refuse else { return }
    var reasons = departure.dependents.map { "the \($0.kind.rawValue) \($0.name) needs them" }
    if departure.lostEntryCount > 0 {
      reasons.append("the change journal and its \(departure.lostEntryCount) entries would be lost")
    }
    if !departure.lostConsumers.isEmpty {
      let names = departure.lostConsumers.joined(separator: ", ")
      reasons.append("the change journal's consumers (\(names)) would be lost")
    }
    guard !reasons.isEmpty else { return }
    throw StoreError(
      .conflict,
      "The models cannot be removed: \(reasons.joined(separator: "; ")). Remove that first, or accept the losses; nothing was changed.",
      model: departure.models.count == 1 ? departure.models[0] : nil)
  }

  /// Throws if a model is observed: its observers would wait forever for changes.
  func checkUnobserved(_ names: [String]) throws(StoreError) {
    let interests = engine.broker.interests()
    guard let name = names.first(where: { interests[$0] != nil }) else { return }
    throw StoreError(
      .configurationConflict,
      "\(name) is observed in this process. End the observation first; nothing was changed.",
      model: name)
  }

  // Removing

  private func remove(_ departure: ModelDeparture, on connection: Connection) throws {
    func names(_ kind: ModelDependent.Kind) -> [String] {
      departure.removed.filter { $0.kind == kind }.map(\.name)
    }
    try removeBindings(names(.binding), on: connection)
    try removeRules(names(.rule), on: connection)
    try CatalogEntries.validators.remove(names(.validator), on: connection)
    let lists = Set(names(.list))
    var owners: [ModelSchema] = []
    for var owner in try CatalogEntries.models.read(on: connection)
    where !departure.models.contains(owner.name)
      && owner.lists.contains(where: { lists.contains($0.slotModelName(of: owner)) })
    {
      owner.lists = owner.lists.filter { !lists.contains($0.slotModelName(of: owner)) }
      owners.append(owner)
    }
    try CatalogEntries.models.write(owners, on: connection)
    try CatalogEntries.models.remove(departure.allModels, on: connection)
  }

  func removeBindings(_ names: [String], on connection: Connection) throws {
    let all = try CatalogEntries.bindings.read(on: connection)
    let gone = Set(names)
    for name in names { try Reconciler(connection).dropBinding(name) }
    let targets = Set(all.filter { gone.contains($0.name) }.map(\.target))
    for target in targets {
      let others = all.filter { $0.target == target && !gone.contains($0.name) }
      if !others.isEmpty { _ = try follow(others, on: connection) }
    }
    try CatalogEntries.bindings.remove(names, on: connection)
  }

  func removeRules(_ names: [String], on connection: Connection) throws {
    guard !names.isEmpty else { return }
    let rest = try CatalogEntries.rules.read(on: connection).filter { !names.contains($0.name) }
    try Reconciler(connection).reconcile(compiled(rest, on: connection))
    try CatalogEntries.rules.remove(names, on: connection)
  }

  /// Drops the store's own tables and everything else that it created.
  private static func dropCatalog(on connection: Connection) throws {
    let own = try InstalledObjects.ofStore(in: connection).objects
    // Dropping a table drops its indexes too.
    let tables = Set(own.filter { $0.kind == .table }.map(\.name))
    try Reconciler(connection).apply(
      SchemaPlan(dropped: own.filter { $0.kind != .index || !tables.contains($0.table) }))
  }
}

extension ModelDeparture {
  /// The models, and the slot models of the lists that are removed with them.
  fileprivate var allModels: [String] {
    models + removed.filter { $0.kind == .list }.map(\.name)
  }
}
