// Bindings and the file that should keep them.
extension CompiledBindings {
  /// As ``init(_:in:generated:uniqueSets:)``, with the generated columns and indexes of the file.
  init(
    _ schemas: [BindingSchema], in models: [ModelSchema], on connection: Connection
  ) throws {
    try self.init(
      schemas, in: models,
      generated: schemas.isEmpty
        ? GeneratedColumns() : GeneratedColumns(of: models, on: connection),
      uniqueSets: schemas.isEmpty ? UniqueSets() : UniqueSets(on: connection))
  }

  /// What is wrong with the objects in the file and with the values they keep, by the order of
  /// ``bindings``; bindings that only the file has follow, by name.
  func findings(on connection: Connection, maxKeyCount: Int) throws -> [BindingFinding] {
    let installed = try InstalledObjects.ofBindings(in: connection)
    let drift = drift(in: installed)
    let declared = try bindings.compactMap { binding in
      try binding.finding(
        drift.first { $0.owner == binding.owner }, installed, on: connection,
        maxKeyCount: maxKeyCount)
    }
    let names = Set(undeclared(in: installed))
    let undeclared = drift.filter { names.contains($0.owner.name) }
      .map { BindingFinding(binding: $0.owner.name, drift: $0, recordCount: 0, keys: []) }
    return declared + undeclared
  }
}

extension BindingTriggers {
  /// What is wrong with the binding in the file; nil when it is kept.
  ///
  /// - Parameter drift: What is wrong with its objects.
  fileprivate func finding(
    _ drift: SchemaDrift?, _ installed: InstalledObjects, on connection: Connection,
    maxKeyCount: Int
  ) throws -> BindingFinding? {
    func uncompared(
      _ drift: SchemaDrift?, _ obstacle: BindingFinding.Obstacle? = nil
    ) -> BindingFinding {
      BindingFinding(
        binding: binding.name, drift: drift, recordCount: 0, keys: [], isCompared: false,
        obstacle: obstacle)
    }
    // What is kept in a table that is not there cannot be compared, nor what only another program
    // can compute.
    guard hasStorage(in: installed), try missingFunction(on: connection) == nil else {
      return drift.map { uncompared($0) }
    }
    if let problem = try namingProblem(on: connection) {
      let unusable = SchemaDrift(owner, objects.map { .init($0, .unusable) })
      return uncompared(drift ?? unusable, .init(problem))
    }
    do {
      var drift = drift
      if let table = auditedTable, try isStorageWrong(on: connection) {
        drift = SchemaDrift(
          owner, (drift?.differences ?? []) + [.init(.table, table, .outdated)])
      }
      let count = try driftingRecordCount(on: connection)
      guard drift != nil || count > 0 else { return nil }
      return BindingFinding(
        binding: binding.name, drift: drift, recordCount: count,
        keys: count == 0 ? [] : try driftingKeys(maxKeyCount, on: connection))
    } catch let error as SQLiteError where error.concernsOneBinding {
      // The other bindings are compared all the same.
      return uncompared(drift, .init(error))
    }
  }
}
