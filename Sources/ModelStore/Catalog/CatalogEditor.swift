/// What a program brings to a store when it opens it.
package struct Declarations: Sendable {
  var migrations: [Migration]
  package var models: [ModelSchema]
  var bindings: [Binding]
  var rules: [Rule]
  var validators: [Validator]
  /// How much of the models' changes the change journal records; nil for as the file says.
  var changeJournal: JournalDetail?
  /// What opening a store does about declarations that are not in its file.
  var policy = Policy.install

  enum Policy: Sendable {
    /// It writes them into the file.
    case install
    /// It throws, and the file stays as it is.
    case refuse
  }

  package init(
    migrations: [Migration] = [], models: [ModelSchema] = [], bindings: [Binding] = [],
    rules: [Rule] = [], validators: [Validator] = [], changeJournal: JournalDetail? = nil
  ) {
    self.migrations = migrations
    self.models = models
    self.bindings = bindings
    self.rules = rules
    self.validators = validators
    self.changeJournal = changeJournal
  }

  package var isEmpty: Bool {
    migrations.isEmpty && models.isEmpty && bindings.isEmpty && rules.isEmpty
      && validators.isEmpty
  }

  /// The same for a transaction that is rolled back. Opening a store takes the models and
  /// validators into use and writes nothing: it throws unless the migrations, models, bindings,
  /// rules and validators are in the file already.
  package var forDryRun: Declarations {
    var declarations = self
    declarations.policy = .refuse
    return declarations
  }
}

extension Declarations {
  fileprivate func checkValidatorNames() throws(StoreError) {
    var names = Set(rules.map(\.name.asciiFolded))
    for validator in validators where !names.insert(validator.name.asciiFolded).inserted {
      throw StoreError(
        .configurationConflict,
        "Two validators, or a validator and a rule, are called \(validator.name); names are unique.",
        model: validator.models.first)
    }
  }
}

/// Changes everything in the file except records: its models, bindings, rules and journal.
struct CatalogEditor {
  let engine: StoreEngine

  var schema: CurrentSchema { engine.schema }
  var models: ModelRegistry { engine.models }
  var configuration: StoreConfiguration { engine.configuration }
  var journal: JournalEditor { JournalEditor(schema: engine.schema) }

  /// Brings the file in line with `declarations`, as far as the configuration allows, and puts
  /// them into effect together with what the file's catalog has already.
  ///
  /// - Throws: ``StoreError``; then the file is as it was, except for migrations that were
  ///   complete. Only reading the file again may fail after the declarations are in it.
  func declare(_ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges)
    throws
  {
    var declarations = declarations
    declarations.models = try declarations.models.withSlotModels()
    try declarations.checkValidatorNames()
    try engine.connections.writer.sync { [declarations] writer in
      try writer.checkUsable()
      let changeCount = writer.connection.totalChangeCount
      // What is written here is not captured, so observers refetch.
      defer {
        // A migration may have been kept although what came after it failed.
        writer.lists.forget()
        if writer.connection.totalChangeCount != changeCount {
          engine.foreignSync.publishReset(&writer)
        }
      }
      do {
        if let filed = try filedCatalog(vouchingFor: declarations, on: writer.connection) {
          return try use(declarations, having: filed, &writer)
        }
        if mayInstall(declarations), !declarations.isEmpty {
          try Migrator(connection: writer.connection, scope: .store).apply(StoreMigrations.all)
          try Migrator(
            connection: writer.connection, scope: .app, preparation: JournalInstallation.suspend
          ).apply(declarations.migrations)
        } else if configuration.access != .readOnly || !declarations.isEmpty {
          // Refuses what a newer library wrote, without writing. Who only reads what the file says
          // of itself needs no more than catalog entries that this library knows.
          _ = try Migrator(connection: writer.connection, scope: .store).pending(
            StoreMigrations.all)
          _ = try CatalogEntries.validators.understood(on: writer.connection)
          try checkMigrations(of: declarations, on: writer.connection)
        }
        var declarations = declarations
        declarations.models = try self.withAdoptedSlots(
          declarations.models, on: writer.connection)
        try check(declarations.models, on: writer.connection)
        if try !isUpToDate(declarations, on: writer.connection) {
          let notices = try install(declarations, allowing: changes, on: writer.connection)
          for notice in notices { engine.reports.send(notice) }
        }
        if mayInstall(declarations), !declarations.isEmpty {
          try journal.install(declarations, on: writer.connection)
        }
        if mayInstall(declarations), !declarations.isEmpty {
          try noteOrder(for: declarations, on: writer.connection)
        }
        try use(declarations, &writer)
      } catch {
        throw ModelRegistry.storeError(
          writer.noting(error), models: declarations.models, rules: declarations.rules, about: nil)
      }
    }
  }

  /// Puts `declarations`, which are in the file, into effect.
  private func use(
    _ declarations: Declarations, having read: FiledCatalog? = nil, _ writer: inout Writer
  ) throws {
    // A stop request would only hide that they are in the file.
    try writer.connection.hooks.withoutStopping {
      try schema.reload(&writer, declaring: declarations.models, having: read)
    }
    schema.add(declarations)
  }

  /// Whether what is missing in the file may be written into it.
  private func mayInstall(_ declarations: Declarations) -> Bool {
    configuration.access != .readOnly && declarations.policy == .install
  }

  /// Refuses migrations that the file has not had where they may not be applied.
  private func checkMigrations(of declarations: Declarations, on connection: Connection) throws {
    guard declarations.policy == .refuse,
      let first = try Migrator(connection: connection, scope: .app)
        .pending(declarations.migrations).first
    else { return }
    throw StoreError(
      .schemaMismatch,
      "The migration \(first) is not applied to the file yet, and nothing in the file may be changed now. Open the store for writing once."
    )
  }

  /// Refuses models that conflict with models in effect.
  private func check(_ declared: [ModelSchema], on connection: Connection) throws {
    guard !declared.isEmpty else { return }
    let known = models.schema.models + (try CatalogEntries.models.understood(on: connection))
    let problems = try CatalogEntries.models.problems(on: connection)
    let namesakes = Dictionary(grouping: known, by: \.name)
    let present = Dictionary(grouping: models.schema.models) { ExactText($0.table.asciiFolded) }
    for model in declared {
      if let problem = problems.first(where: { $0.model == model.name }) { throw problem }
      if let twin = namesakes[model.name]?.first(where: { !$0.name.isExactly(model.name) }) {
        throw StoreError(
          .unsupportedSchema,
          "The model \(model.name) has the same characters in its name as the model of the table \(twin.table), in other bytes (Unicode normalisation), so the two cannot be told apart. Rename one of them.",
          model: model.name)
      }
      if let other = present[ExactText(model.table.asciiFolded)]?.first(where: {
        $0.name != model.name && isInUse($0)
      }) {
        throw StoreError(
          .configurationConflict,
          "The table \(model.table) is the model \(other.name) of a store that is open in this process, so it cannot become the model \(model.name). Close that store first, or declare one of them.",
          model: model.name)
      }
    }
  }

  /// Whether a store that is open here declared the model, or it has observers.
  private func isInUse(_ model: ModelSchema) -> Bool {
    schema.isDeclared(model.name) || engine.broker.interests()[model.name] != nil
  }

  /// Whether opening has nothing to write, so that it need not wait for another process's write.
  func isUpToDate(_ declarations: Declarations, on connection: Connection) throws -> Bool {
    if declarations.isEmpty { return true }
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
    let validators = declarations.validators.map {
      ValidatorSchema(name: $0.name, models: $0.models)
    }
    let bindings = try allBindings(schemas, in: models, on: connection)
    let (filed, displaced) = try filedRules(beside: declarations.rules, in: models, on: connection)
    let isKeepingRules = try RuleInstallation(
      declarations.rules + filed.kept, in: models, leaving: filed.left, catalog: catalog
    ).drift(in: RuleInstallation.objects(in: connection)).isEmpty
    guard
      configuration.access == .readOnly
        || isKeepingRules && filed.gone.isEmpty && displaced.isEmpty,
      try CatalogEntries.rules.understood(on: connection).hold(declarations.rules)
    else { return false }
    return try (configuration.access == .readOnly || bindings.obsolete.isEmpty)
      && CatalogEntries.bindings.understood(on: connection).hold(schemas)
      && CatalogEntries.validators.understood(on: connection).hold(validators)
      && BindingInstallation(bindings.kept, in: models, on: connection)
        .difference(from: BindingInstallation.objects(in: connection)).isEmpty
  }

  /// A validator of a model that does not exist, or of a view, would never be asked.
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
            "The validator \(validator.name) is for \(model.name), a view, which nobody writes.",
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
          "The validator \(validator.name) of another model is in force already; names are unique in a store.",
          model: validator.models.first)
      }
    }
  }

  /// - Returns: What to report.
  private func install(
    _ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges,
    on connection: Connection
  ) throws -> [StoreError] {
    guard mayInstall(declarations) else {
      let update = try SchemaUpdate(declarations.models, in: Catalog(reading: connection))
      try update.check(allowing: .none)
      throw StoreError(
        .readOnly,
        configuration.access == .readOnly
          ? "The store was opened read-only, and what this program declares is not in its file yet. Open it for writing once."
          : "What this program declares is not all in the file, or was changed there, and nothing in the file may be changed now. Open the store for writing once."
      )
    }
    return try connection.inTransaction {
      let update = try SchemaUpdate(declarations.models, in: Catalog(reading: connection))
      try update.check(allowing: changes)
      try update.apply(on: connection)
      try Catalog(reading: connection).checkReferences(of: declarations.models)
      let models = try schema.known(on: connection, declaring: declarations.models)
      let schemas = try declarations.bindings.map { try $0.schema(in: models) }
      try checkFunctions(of: schemas)
      try checkBindings(retyping: declarations.models, on: connection)
      let bindings = try allBindings(schemas, in: models, on: connection)
      for name in bindings.obsolete { _ = try BindingInstallation.remove(name, from: connection) }
      try JournalMark.signing(on: connection) {
        _ = try BindingInstallation(bindings.kept, in: models, on: connection).apply(to: connection)
      }
      let notices = try install(declarations.rules, in: models, on: connection)
      try CatalogEntries.bindings.remove(bindings.obsolete, on: connection)
      try CatalogEntries.models.remove(
        CatalogEntries.models.read(on: connection).superseded(by: declarations.models),
        on: connection)
      try CatalogEntries.models.write(declarations.models, on: connection)
      try CatalogEntries.bindings.write(schemas, on: connection)
      try CatalogEntries.validators.write(
        declarations.validators.map { ValidatorSchema(name: $0.name, models: $0.models) },
        on: connection)
      // In the same transaction, so that a failure here leaves the file as it was.
      try journal.install(declarations, on: connection)
      try recordOrder(for: declarations, on: connection)
      return notices
    }
  }

  /// The declared bindings and those that the file has from other programs, so that cycles and
  /// conflicts between the two are found.
  ///
  /// - Returns: As `obsolete` the names of those in the file that can no longer be kept, because a
  ///   model or field of theirs is gone or because a declared one took a field or name of theirs. A
  ///   program that does not know them could not open the file otherwise.
  private func allBindings(
    _ declared: [BindingSchema], in models: [ModelSchema], on connection: Connection
  ) throws -> (kept: [BindingSchema], obsolete: [String]) {
    var kept = declared
    var obsolete: [String] = []
    for binding in try CatalogEntries.bindings.understood(on: connection)
    where !declared.contains(where: { $0.name == binding.name }) {
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

  /// Runs `body` as a transaction that changes the file except its records, and reads the
  /// file's schema and rules again. A failure of that reading is reported: the commit stands, and
  /// the next write reads them.
  ///
  /// - Parameter isPreview: Whether it is rolled back. It then returns what would be done, or
  ///   throws why it would be refused, and `body` writes nothing into the store's own tables, which
  ///   may belong to an older library.
  func changing<Result>(
    isPreview: Bool = false, _ body: (Connection) throws -> Result
  ) throws -> Result {
    try configuration.checkWritable()
    return try engine.turns.take { writer in
      try writer.checkUsable()
      let changeCount = writer.connection.totalChangeCount
      // What is written here is not captured, so observers refetch.
      defer {
        if !isPreview, writer.connection.totalChangeCount != changeCount {
          engine.foreignSync.publishReset(&writer)
        }
      }
      do {
        let connection = writer.connection
        guard !isPreview else {
          return try connection.inTransaction(isKept: false) { try body(connection) }
        }
        try Migrator(connection: connection, scope: .store).apply(StoreMigrations.all)
        let result = try connection.inTransaction {
          let standing = try journal.standing(on: connection)
          let result = try JournalMark.signing(on: connection) { try body(connection) }
          // A new unique rule is something else by which REPLACE may evict records. What the
          // journal says of that comes behind the mark: it is no change that could be taken back.
          try journal.align(keeping: standing, on: connection)
          try recordOrder(on: connection)
          return result
        }
        reloadAfterCommit(&writer)
        return result
      } catch {
        throw models.storeError(writer.noting(error), about: nil)
      }
    }
  }

  private func reloadAfterCommit(_ writer: inout Writer) {
    do {
      try writer.connection.hooks.withoutStopping { try schema.reload(&writer) }
    } catch {
      engine.reports.send(
        writer.noting(error), afterCommit: "reading the changed schema", models)
    }
  }

  // Checks

  /// How the tables differ from the models that the file says they are.
  func drift() throws -> [SchemaDifference] {
    let models = models.schema.models
    return try engine.connections.readers.sync { connection in
      SchemaDifference.differences(of: models, in: try Catalog(reading: connection))
    }
  }

  // The catalog

  /// What the file says of itself beyond models.
  func catalogEntries<Entry>(_ entries: CatalogEntries<Entry>) throws -> [Entry] {
    try engine.connections.readers.sync { connection in try entries.understood(on: connection) }
  }

  /// Why entries of the catalog cannot be read: models, bindings, rules, then validators.
  func catalogProblems() throws -> [StoreError] {
    try engine.connections.readers.sync { connection in try problems(on: connection) }
  }

  func problems(on connection: Connection) throws -> [StoreError] {
    try CatalogEntries.models.problems(on: connection)
      + CatalogEntries.bindings.problems(on: connection)
      + CatalogEntries.rules.problems(on: connection)
      + CatalogEntries.validators.problems(on: connection)
  }
}

extension BindingSchema: CatalogEntry {}

extension BindingSchema {
  /// Whether the two have a field in common and cannot both be kept: an end of a two-way binding
  /// is an end of other two-way bindings at most.
  fileprivate func takesAnEnd(of other: BindingSchema) -> Bool {
    let ends = boundFields
    return (ends.count == 1 || other.boundFields.count == 1)
      && other.boundFields.contains(where: ends.contains)
  }
}

extension CatalogEntries<BindingSchema> {
  static let bindings = CatalogEntries(table: "_ms_bindings", noun: "binding")
}

extension Array where Element: CatalogEntry {
  /// Whether all of `others` are here in the same words, byte for byte.
  func hold(_ others: [Element]) throws -> Bool {
    let own = Dictionary(grouping: self, by: \.name)
    return try others.allSatisfy { other in
      guard let own = own[other.name]?.first(where: { $0 == other }) else { return false }
      return try CatalogText.text(of: own).isExactly(CatalogText.text(of: other))
    }
  }
}

extension [ModelSchema] {
  /// The names of those whose table one of `declared` claims under another name.
  fileprivate func superseded(by declared: [ModelSchema]) -> [String] {
    let claims = Dictionary(grouping: declared) { ExactText($0.table.asciiFolded) }
    return filter { model in
      claims[ExactText(model.table.asciiFolded)]?.contains { $0.name != model.name } ?? false
    }.map(\.name)
  }
}

extension ModelSchema {
  /// Whether the two are kept in the same table.
  func hasTable(of other: ModelSchema) -> Bool {
    table.asciiFolded.isExactly(other.table.asciiFolded)
  }
}
