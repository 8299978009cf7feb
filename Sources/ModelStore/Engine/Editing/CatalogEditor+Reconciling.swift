// Reconciling: bringing the file in line with declarations.
extension CatalogEditor {
  /// Brings tables, indexes, bindings, rules and the journal in line with `declarations`, and
  /// writes the declarations into the catalog.
  ///
  /// What the catalog has already stays in effect. Opening a store and adopting tables call this
  /// after the migrations. If nothing differs, it takes no write lock and does not wait for the
  /// writes of other processes.
  ///
  /// - Returns: Notices about rules that the file already had.
  /// - Throws: ``StoreError``; the file is then unchanged.
  func reconcile(
    _ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges,
    on connection: Connection
  ) throws -> [StoreError] {
    guard !declarations.isEmpty else { return [] }
    var notices: [StoreError] = []
    if try !isUpToDate(declarations, on: connection) {
      guard mayInstall(declarations) else { throw try refusal(of: declarations, on: connection) }
      notices = try withReferences(
        kept: !copies(declarations, changes, on: connection), on: connection
      ) {
        try install(declarations, allowing: changes, on: connection)
      }
    }
    if mayInstall(declarations) { try journal.install(declarations, on: connection) }
    return notices
  }

  // What differs

  /// Returns whether tables, bindings, rules and the catalog match `declarations`.
  func isUpToDate(_ declarations: Declarations, on connection: Connection) throws -> Bool {
    let catalog = try Catalog(reading: connection)
    let models = try schema.known(on: connection, declaring: declarations.models)
    try check(declarations.validators, against: models)
    let entries = try CatalogEntries.models.understood(on: connection)
    guard try SchemaUpdate(declarations.models, in: catalog).differences.isEmpty,
      try entries.hold(declarations.models),
      configuration.access == .readOnly || entries.superseded(by: declarations.models).isEmpty
    else { return false }
    let schemas = try declarations.bindings.map { try $0.schema(in: models) }
    try checkFunctions(of: schemas)
    return try hasRules(of: declarations, in: models, catalog, on: connection)
      && CatalogEntries.validators.understood(on: connection).hold(declarations.validatorSchemas)
      && hasBindings(schemas, in: models, on: connection)
  }

  /// Whether the catalog has the declared rules and, unless the store is read-only, the file
  /// has the triggers and indexes of all rules.
  ///
  /// Reading needs no triggers of rules: they decide what may be written, not what is there.
  private func hasRules(
    of declarations: Declarations, in models: [ModelSchema], _ catalog: Catalog,
    on connection: Connection
  ) throws -> Bool {
    let (filed, displaced) = try filedRules(beside: declarations.rules, in: models, on: connection)
    let plan = try CompiledRules(
      declarations.rules + filed.kept, in: models, leaving: filed.left, catalog: catalog
    ).plan(from: .ofRules(in: connection))
    let isSettled = plan.isEmpty && filed.gone.isEmpty && displaced.isEmpty
    return try (configuration.access == .readOnly || isSettled)
      && CatalogEntries.rules.understood(on: connection).hold(declarations.rules)
  }

  /// Whether the catalog has the declared bindings, and the file the triggers of all bindings.
  ///
  /// A read-only store needs these too: without them, bound fields may be out of date.
  private func hasBindings(
    _ declared: [BindingSchema], in models: [ModelSchema], on connection: Connection
  ) throws -> Bool {
    let bindings = try allBindings(declared, in: models, on: connection)
    return try (configuration.access == .readOnly || bindings.obsolete.isEmpty)
      && CatalogEntries.bindings.understood(on: connection).hold(declared)
      && CompiledBindings(bindings.kept, in: models, on: connection)
        .keeping { try $0.missingFunction(on: connection) == nil }
        .plan(from: .ofBindings(in: connection)).isEmpty
  }

  /// Returns why `declarations` are not written into a file that lacks some of them.
  private func refusal(
    of declarations: Declarations, on connection: Connection
  ) throws -> StoreError {
    let update = try SchemaUpdate(declarations.models, in: Catalog(reading: connection))
    try checkAge(of: declarations.models, update, on: connection)
    try update.check(allowing: .none)
    return StoreError(
      .readOnly,
      configuration.access == .readOnly
        ? "The store was opened read-only, and its file lacks some declarations of this program. Open it for writing once."
        : "The file lacks some declarations of this program, or another program changed them, and this store may not change the file. Open it for writing once."
    )
  }

  /// Throws if a validator is for a missing model or a view. Such a validator would never run.
  private func check(_ validators: [Validator], against models: [ModelSchema]) throws {
    for validator in validators {
      if let problem = validator.problem { throw problem }
      for name in validator.models {
        guard let model = models.first(where: { $0.name == name }) else {
          throw StoreError(
            .unknownModel,
            "The validator \(validator.name) is for \(name), which is not a model of this store; pass it to Store(at:models:).",
            model: name)
        }
        guard model.kind == .table else {
          throw StoreError(
            .unsupportedSchema,
            "The validator \(validator.name) is for \(model.name), a view, and a view cannot be written.",
            model: model.name)
        }
      }
      guard
        !schema.validators.contains(where: {
          $0.name == validator.name && $0.models != validator.models
        })
      else {
        throw StoreError(
          .configurationConflict,
          "The validator \(validator.name) of another model is already in effect; names are unique in a store.",
          model: validator.models.first)
      }
    }
  }

  // What has to happen

  /// Brings the file in line with `declarations`.
  ///
  /// - Returns: The notices to report.
  /// - Precondition: A write transaction is open.
  private func install(
    _ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges,
    on connection: Connection
  ) throws -> [StoreError] {
    let (renaming, names) = try renaming(to: declarations.models, on: connection)
    var standing: JournalStanding?
    if changes == .migrate || !renaming.isEmpty {
      standing = try journal.standing(on: connection)
      _ = try follow(renaming, names, on: connection)
      standing = try standing?.renamed(by: renaming, on: connection)
    }
    try updateTables(of: declarations, allowing: changes, on: connection)
    try Catalog(reading: connection).checkReferences(of: declarations.models)
    let models = try schema.known(on: connection, declaring: declarations.models)
    let schemas = try declarations.bindings.map { try $0.schema(in: models) }
    try checkFunctions(of: schemas)
    try checkBindings(retyping: declarations.models, on: connection)
    let obsolete = try install(
      schemas, in: models, reportingTo: declarations.progress, on: connection)
    let notices = try install(declarations.rules, in: models, on: connection)
    try CatalogEntries.bindings.remove(obsolete, on: connection)
    let unbegun = try journal.unbegun(declarations.models, on: connection)
    try CatalogEntries.models.remove(
      CatalogEntries.models.read(on: connection).superseded(by: declarations.models),
      on: connection)
    try CatalogEntries.models.write(declarations.models, on: connection)
    try CatalogEntries.bindings.write(schemas, on: connection)
    try CatalogEntries.validators.write(declarations.validatorSchemas, on: connection)
    // In the same transaction, so that a failure here leaves the file as it was.
    try journal.install(declarations, unbegun: unbegun, keeping: standing, on: connection)
    try recordOrder(for: declarations, on: connection)
    return notices
  }

  /// Installs the bindings.
  ///
  /// - Returns: The names of the bindings that were dropped.
  private func install(
    _ declared: [BindingSchema], in models: [ModelSchema],
    reportingTo progress: StoreConfiguration.SchemaProgress?, on connection: Connection
  ) throws -> [String] {
    let bindings = try allBindings(declared, in: models, on: connection)
    let reconciler = Reconciler(connection)
    for name in bindings.obsolete { try reconciler.dropBinding(name) }
    let synchronised = try JournalMark.signing(on: connection) {
      try reconciler.reconcile(CompiledBindings(bindings.kept, in: models, on: connection)) {
        try progress?.report($0, $1, $2)
      }
    }
    try checkCascades(
      of: synchronised, bindings.kept, in: models, on: connection)
    return bindings.obsolete
  }

  /// Returns the declared bindings together with those that other programs put into the file.
  ///
  /// Together they show cycles and conflicts between the two.
  ///
  /// - Returns: `obsolete` holds the names of bindings in the file that can no longer be
  ///   maintained. Their model or field is gone, or a declared binding took their field or name.
  ///   Otherwise a program that does not know them could not open the file.
  private func allBindings(
    _ declared: [BindingSchema], in models: [ModelSchema], on connection: Connection
  ) throws -> (kept: [BindingSchema], obsolete: [String]) {
    var kept = declared
    var obsolete: [String] = []
    let filed = try CatalogEntries.bindings.understood(on: connection)
      .filter { binding in !declared.contains { $0.name == binding.name } }
    // Bindings of a model whose table has changed wait for a refresh of the model.
    let broken = filed.isEmpty ? [] : try brokenModels(on: connection)
    for binding in filed where broken.isDisjoint(with: binding.modelNames) {
      let isDisplaced = declared.contains {
        $0.target == binding.target || $0.name.asciiFolded == binding.name.asciiFolded
          || $0.takesAnEnd(of: binding)
      }
      if isDisplaced || !ResolvedBinding.canResolve(binding, in: models) {
        obsolete.append(binding.name)
      } else {
        kept.append(binding)
      }
    }
    return (kept, obsolete)
  }
}

extension Declarations {
  fileprivate var validatorSchemas: [ValidatorSchema] {
    validators.map { ValidatorSchema(name: $0.name, models: $0.models) }
  }
}

extension BindingSchema {
  /// Returns whether the two share a field and exclude each other.
  ///
  /// An end of a two-way binding may only be an end of other two-way bindings.
  fileprivate func takesAnEnd(of other: BindingSchema) -> Bool {
    let ends = boundFields
    return (ends.count == 1 || other.boundFields.count == 1)
      && other.boundFields.contains(where: ends.contains)
  }
}

extension [ModelSchema] {
  /// Returns the names of the models whose table one of `declared` claims under another name.
  fileprivate func superseded(by declared: [ModelSchema]) -> [String] {
    let claims = Dictionary(grouping: declared) { ExactText($0.table.asciiFolded) }
    return filter { model in
      claims[ExactText(model.table.asciiFolded)]?.contains { $0.name != model.name } ?? false
    }.map(\.name)
  }
}
