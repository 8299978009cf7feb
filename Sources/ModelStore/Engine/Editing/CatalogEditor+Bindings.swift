// Bindings in the file.
extension CatalogEditor {
  func add(
    _ binding: FieldBinding, mode: WriteMode, onProgress: (_ done: Int, _ all: Int) throws -> Void
  ) throws -> Int {
    try changing(mode: mode) { connection in
      let models = self.models.schema.models
      let schema = try binding.schema(in: models)
      try self.checkFunctions(of: [schema])
      let others = try CatalogEntries.bindings.read(on: connection)
        .filter { $0.name != schema.name }
      // Bindings of a model whose table has changed wait until the model is refreshed.
      let broken = try self.brokenModels(on: connection)
      let bindings = try CompiledBindings(others + [schema], in: models, on: connection)
        .keeping { $0.binding == schema || broken.isDisjoint(with: $0.binding.modelNames) }
      let synchronised = try Reconciler(connection).reconcile(bindings) { _, done, all in
        try onProgress(done, all)
      }
      if mode == .commit { try CatalogEntries.bindings.write([schema], on: connection) }
      return synchronised.reduce(0) { $0 + $1.recordCount }
    }
  }

  /// Makes `bindings` maintain their target after another binding of the same target was removed.
  ///
  /// - Returns: The number of updated records.
  func follow(_ bindings: [BindingSchema], on connection: Connection) throws -> Int {
    let models = self.models.schema.models
    // A binding may be dropped because its model or field was removed.
    let kept = bindings.filter { ResolvedBinding.canResolve($0, in: models) }
    return try Reconciler(connection)
      .reconcile(CompiledBindings(kept, in: models, on: connection))
      .reduce(0) { $0 + $1.recordCount }
  }

  /// Throws if a declared binding calls a function that this store does not have.
  func checkFunctions(of bindings: [BindingSchema]) throws(StoreError) {
    let known = Set(configuration.functions.map(\.name.asciiFolded))
    for binding in bindings {
      guard let name = binding.functions?.first(where: { !known.contains($0) }) else { continue }
      throw StoreError(
        .unknownFunction,
        "The binding \(binding.name) calls the function \(name), which this store does not have. "
          + "Add it to StoreConfiguration.functions.",
        model: binding.target.model, field: binding.target.field)
    }
  }

  func dropBinding(_ name: String, mode: WriteMode) throws -> Int {
    try changing(mode: mode) { connection in
      let bindings = try CatalogEntries.bindings.read(on: connection)
      guard let dropped = bindings.first(where: { $0.name.isExactly(name) }) else {
        throw StoreError(.unknownBinding, "There is no binding \(name) in this store.")
      }
      try Reconciler(connection).dropBinding(name)
      let recordCount = try self.follow(
        bindings.filter { $0.target == dropped.target && $0 != dropped }, on: connection)
      if mode == .commit { try CatalogEntries.bindings.remove([name], on: connection) }
      return recordCount
    }
  }

  func rebuildBindings() throws -> [(binding: String, recordCount: Int)] {
    // Updates the values first, in an ordinary transaction, so that observers receive exact
    // changes. Recreating the triggers then finds nothing to update.
    let updated = try engine.write { tx in
      var unread = UnreadBindings(policy: .stop)
      return try self.synchroniseBindings(in: tx.access, &unread)
    }
    return try completed(updated, besides: [])
  }

  /// See ``Store/rebuildReadableBindings(mode:)``.
  func rebuildReadableBindings(mode: WriteMode) throws -> BindingsRebuild {
    func synchronise(_ access: _TransactionAccess) throws -> BindingsRebuild {
      var unread = UnreadBindings(policy: .skip)
      let updated = try self.synchroniseBindings(in: access, &unread)
      return BindingsRebuild(updated: updated, unread: unread.errors)
    }
    guard mode == .commit else {
      return try engine.preview { tx in try synchronise(tx.access) }.value
    }
    var rebuild = try engine.write { tx in try synchronise(tx.access) }
    rebuild.updated = try completed(rebuild.updated, besides: Set(rebuild.unread.map(\.binding)))
    return rebuild
  }

  /// Installs the triggers, and adds the bindings whose records were updated because of that.
  private func completed(
    _ updated: [(binding: String, recordCount: Int)], besides left: Set<String>
  ) throws -> [(binding: String, recordCount: Int)] {
    let made = try changing { connection in
      try Reconciler(connection).reconcile(
        self.filedBindings(on: connection).keeping { !left.contains($0.binding.name) })
    }
    let others = made.filter { made in !updated.contains { $0.binding == made.binding } }
      .map { (binding: $0.binding, recordCount: $0.recordCount) }
    return updated + others.filter { $0.recordCount > 0 }
  }

  func previewBindingsRebuild() throws -> [(binding: String, recordCount: Int)] {
    try engine.preview { tx in
      var unread = UnreadBindings(policy: .stop)
      return try self.synchroniseBindings(in: tx.access, &unread)
    }.value
  }

  /// Updates every record that differs from its binding.
  ///
  /// - Returns: The bindings with such records, and their number.
  private func synchroniseBindings(
    in access: _TransactionAccess, _ unread: inout UnreadBindings
  ) throws -> [(binding: String, recordCount: Int)] {
    let connection = access.connection
    let installed = try InstalledObjects.ofBindings(in: connection)
    let bindings = try filedBindings(on: connection).bindings
      .filter { try $0.missingFunction(on: connection) == nil }
    // Restores all triggers first: updating a value fires the triggers of other bindings.
    for binding in bindings {
      _ = try unread.attempt(binding.binding, of: models, in: access) {
        try Reconciler(connection).restoreStorage(of: binding, in: installed)
      }
    }
    var updated: [(binding: String, recordCount: Int)] = []
    for binding in bindings {
      let count = try unread.attempt(binding.binding, of: models, in: access) {
        try binding.synchronise(on: connection)
      }
      if let count, count > 0 { updated.append((binding.binding.name, count)) }
    }
    return updated
  }

  /// Returns the bindings of the file's catalog.
  private func filedBindings(on connection: Connection) throws -> CompiledBindings {
    let models = models.schema.models
    var bindings = try CatalogEntries.bindings.understood(on: connection)
    if try !CatalogEntries.models.problems(on: connection).isEmpty {
      // Bindings of a model that only a newer library understands cannot be compared here.
      bindings = bindings.filter { ResolvedBinding.canResolve($0, in: models) }
    }
    return try CompiledBindings(bindings, in: models, on: connection)
  }

  /// Returns the problems with the bindings of the file.
  func bindingFindings(maxKeyCount: Int) throws -> [BindingFinding] {
    try readingBindings { bindings, connection in
      let left = try uncompared(bindings, on: connection)
      return try bindings.findings(on: connection, maxKeyCount: maxKeyCount)
        .filter { !left.contains($0.binding) }
    }
  }

  /// Returns how the bindings' objects in the file differ from the catalog.
  func bindingDrift() throws -> [SchemaDrift] {
    try readingBindings { bindings, connection in
      let left = try uncompared(bindings, on: connection)
      return try bindings.drift(in: .ofBindings(in: connection))
        .filter { !left.contains($0.owner.name) }
    }
  }

  /// Returns the names of the catalog's bindings that are not among `bindings`.
  private func uncompared(
    _ bindings: CompiledBindings, on connection: Connection
  ) throws -> Set<String> {
    Set(try CatalogEntries.bindings.understood(on: connection).map(\.name))
      .subtracting(bindings.bindings.map(\.binding.name))
  }

  func lossyConversions() throws -> [LossyConversion] {
    try readingBindings { bindings, connection in
      try bindings.bindings.compactMap { binding in
        // A binding that cannot be compared appears in the findings.
        guard try binding.missingFunction(on: connection) == nil,
          try binding.namingProblem(on: connection) == nil
        else { return nil }
        do {
          let count = try binding.lossyRecordCount(on: connection)
          return count == 0
            ? nil : LossyConversion(binding: binding.binding.name, recordCount: count)
        } catch let error as SQLiteError where error.concernsOneBinding {
          return nil
        }
      }
    }
  }

  /// Returns the bindings that `field` of `model` depends on, sources first.
  func bindings(into field: FieldSchema, of model: ModelSchema) throws -> [BindingSchema] {
    try readingBindings { bindings, connection in
      let generated = try GeneratedColumns(of: self.models.schema.models, on: connection)
      return bindings.chain(into: generated.origins(of: [.init(model, field)]))
    }
  }

  /// See ``Store/computedFields()``.
  func computedFields() throws -> [BindingSchema.Field: [BindingSchema.Field]] {
    try engine.look { connection in
      try GeneratedColumns(of: models.schema.models, on: connection).computed
    }
  }

  private func readingBindings<Result>(
    _ body: (CompiledBindings, Connection) throws -> Result
  ) throws -> Result {
    try engine.look { connection in
      try engine.read(connection) { reads in
        let connection = reads.access.connection
        return try body(try self.filedBindings(on: connection), connection)
      }
    }
  }
}

/// The bindings that a rebuild cannot read or write, each with the reason.
private struct UnreadBindings {
  /// The reaction to the first such binding.
  enum Policy { case stop, skip }

  let policy: Policy
  private(set) var errors: [(binding: String, error: StoreError)] = []

  init(policy: Policy) {
    self.policy = policy
  }

  /// Runs `body` for one binding, unless that binding has failed before.
  ///
  /// - Returns: The result of `body`; nil if the binding is skipped. Its changes are rolled back
  ///   then.
  mutating func attempt<Result>(
    _ binding: BindingSchema, of models: ModelRegistry, in access: _TransactionAccess,
    _ body: () throws -> Result
  ) throws -> Result? {
    guard policy == .skip else { return try body() }
    guard !errors.contains(where: { $0.binding == binding.name }) else { return nil }
    do {
      return try access.runner.savepoint(body)
    } catch let error as SQLiteError where [.error, .tooBig].contains(error.code.primary) {
      errors.append((binding.name, reason(error, binding, models)))
      return nil
    }
  }

  /// Returns what is missing from a table of the binding, or SQLite's error.
  private func reason(
    _ error: SQLiteError, _ binding: BindingSchema, _ models: ModelRegistry
  ) -> StoreError {
    let schemas = binding.boundFields.compactMap { field in
      models.schema.models.first { $0.name == field.model }
    }
    let reasons = schemas.compactMap { models.storeError(error, about: $0) as? StoreError }
    return reasons.first { $0.code == .unsupportedSchema } ?? reasons.first ?? StoreError(error)
  }
}
