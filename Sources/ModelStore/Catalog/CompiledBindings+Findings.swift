// Comparing bindings with the file.
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

  /// Returns the differences of the objects and values in the file, in the order of ``bindings``.
  /// Bindings that only the file has follow, by name.
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
  /// Returns the binding's differences in the file; nil if there are none.
  ///
  /// - Parameter drift: The differences of its objects.
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
    // Values cannot be compared if their table is missing, or if only another program can compute
    // them.
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
      // The other bindings are still compared.
      return uncompared(drift, .init(error))
    }
  }
}
