// Restoring the triggers of bindings and rules that a migration has dropped.
extension CatalogEditor {
  /// What happens to the triggers of bindings and rules that a migration drops together with a
  /// table.
  enum DroppedTriggers {
    /// The caller brings the file in line with its declarations afterwards.
    case left
    /// They are created again in the transaction of the migration, because nothing else does it.
    case restored
  }

  /// Returns the bindings and rules of the file that have drifted.
  func driftedOwners(on connection: Connection) throws -> Set<SchemaDrift.Owner> {
    guard let filed = try filedObjects(leaving: [], on: connection) else { return [] }
    return Set(
      try
        (filed.bindings.drift(in: .ofBindings(in: connection))
        + filed.rules.drift(in: .ofRules(in: connection))).map(\.owner))
  }

  /// Creates the triggers, indexes and tables of the file's bindings and rules again that it lacks,
  /// and updates the values of these bindings.
  ///
  /// A binding or rule whose model does not fit its table any more waits until the model does.
  ///
  /// - Parameter drifted: The bindings and rules that are left unchanged.
  /// - Returns: The names of the models whose records were updated.
  /// - Throws: ``StoreError`` with code `rejected` if records break a unique rule, or do not keep
  ///   their value. The caller rolls back.
  /// - Precondition: A write transaction is open.
  func restoreTriggers(
    besides drifted: Set<SchemaDrift.Owner>, on connection: Connection
  ) throws -> Set<String> {
    guard let filed = try filedObjects(leaving: drifted, on: connection) else { return [] }
    let synchronised = try Reconciler(connection).reconcile(filed.bindings)
    try apply(filed.rules, on: connection)
    return filed.bindings.bindings.map(\.binding).updatedModels(synchronised)
  }

  /// Returns the compiled bindings and rules of the catalog that fit the tables; nil if there are
  /// none.
  private func filedObjects(
    leaving left: Set<SchemaDrift.Owner>, on connection: Connection
  ) throws -> (bindings: CompiledBindings, rules: CompiledRules)? {
    let bindings = try CatalogEntries.bindings.read(on: connection)
    let rules = try CatalogEntries.rules.read(on: connection)
    guard !bindings.isEmpty || !rules.isEmpty else { return nil }
    let models = try CatalogEntries.models.read(on: connection)
    let misfits = Set(
      SchemaDifference.differences(of: models, in: try Catalog(reading: connection))
        .filter(\.breaksTriggers).map(\.model))
    let usable = bindings.filter { binding in
      misfits.isDisjoint(with: binding.modelNames)
        && ResolvedBinding.canResolve(binding, in: models)
    }
    let compiled = try CompiledBindings(usable, in: models, on: connection)
      .keeping { !left.contains($0.owner) }
    let restored = rules.filter { rule in
      misfits.isDisjoint(with: rule.modelNames) && !left.contains(.rule(rule.name))
    }
    let filed = try FiledRules(restored, in: models, on: connection)
    let others = rules.filter { !filed.kept.contains($0) }
    return (compiled, try CompiledRules(filed.kept, in: models, leaving: others, on: connection))
  }
}

extension SchemaDifference {
  /// Whether triggers that are made from the model name something that the table lacks.
  fileprivate var breaksTriggers: Bool {
    switch kind {
    case .missingTable, .wrongKind, .withoutRowID, .key, .rowID, .missingColumn: true
    default: false
    }
  }
}
