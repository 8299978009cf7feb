/// The declarations of a program that opens a store.
package struct Declarations: Sendable {
  /// Nil where something is added to a file whose migrations are left as they are.
  package var migrations: [Migration]?
  package var models: [ModelSchema]
  /// The types of those models that have one.
  private(set) var types: [any Model.Type] = []
  var bindings: [FieldBinding]
  var rules: [Rule]
  var validators: [Validator]
  /// How much the change journal records of the models' changes; nil means as the file says.
  var changeJournal: JournalDetail?
  /// Receives how far their installation is.
  var progress: StoreConfiguration.SchemaProgress?
  /// What opening a store does with declarations that are missing from its file.
  var policy = Policy.install
  /// What opening a store does with a member's file that does not fit its shared store.
  var unfitMember = UnfitMemberPolicy.replace

  enum UnfitMemberPolicy: Sendable {
    /// It is replaced, if the program may do that.
    case replace
    case keep
  }

  enum Policy: Sendable {
    /// Opening writes them into the file.
    case install
    /// Opening throws, and the file stays unchanged.
    case refuse
  }

  package init(
    migrations: [Migration]? = [], models: [ModelSchema] = [], bindings: [FieldBinding] = [],
    rules: [Rule] = [], validators: [Validator] = [], changeJournal: JournalDetail? = nil
  ) {
    self.migrations = migrations
    self.models = models
    self.bindings = bindings
    self.rules = rules
    self.validators = validators
    self.changeJournal = changeJournal
  }

  /// The declarations of a program with types for its models.
  package init(
    migrations: [Migration] = [], models: [any Model.Type], bindings: [FieldBinding] = [],
    rules: [Rule] = [], validators: [Validator] = [], changeJournal: JournalDetail? = nil
  ) {
    self.init(
      migrations: migrations, models: models.map { $0.schema }, bindings: bindings, rules: rules,
      validators: validators, changeJournal: changeJournal)
    types = models
  }

  package var isEmpty: Bool {
    (migrations ?? []).isEmpty && models.isEmpty && bindings.isEmpty && rules.isEmpty
      && validators.isEmpty
  }

  /// The same declarations, for a dry run.
  ///
  /// Opening a store with them takes the models and validators into use and writes nothing. It
  /// throws unless the migrations, models, bindings, rules and validators are already in the file.
  package var forDryRun: Declarations {
    var declarations = self
    declarations.policy = .refuse
    declarations.unfitMember = .keep
    return declarations
  }
}

extension Declarations {
  fileprivate func checkValidatorNames() throws(StoreError) {
    var names = Set(rules.map(\.name.asciiFolded))
    for validator in validators where !names.insert(validator.name.asciiFolded).inserted {
      throw StoreError(
        .configurationConflict,
        "Two validators, or a validator and a rule, are called \(validator.name). Names must be unique.",
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

  /// Brings the file in line with `declarations`, as far as the configuration allows, and puts them
  /// into effect together with the file's existing catalog.
  ///
  /// - Returns: Whether the file recorded that it is in order, so that nothing had to be checked.
  /// - Throws: ``StoreError``. The file is then unchanged, except for migrations that completed,
  ///   and the tables created for them. The only error after the declarations are written is a
  ///   failure to read the file again.
  @discardableResult
  func declare(
    _ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges
  ) throws -> Bool {
    var declarations = declarations
    declarations.models = try declarations.models.withSlotModels()
    try declarations.checkValidatorNames()
    for type in declarations.types {
      try type.checkPaths()
      if let type = type as? any CodableModel.Type { try type.checkCoding() }
    }
    return try engine.connections.writer.sync { [declarations] writer in
      try writer.checkUsable()
      let changeCount = writer.connection.totalChangeCount
      // These writes are not captured, so observers refetch.
      defer {
        // A migration may have been committed although a later step failed.
        writer.lists.forget()
        if writer.connection.totalChangeCount != changeCount {
          engine.foreignSync.publishReset(&writer)
        }
      }
      do {
        if let filed = try filedCatalog(vouchingFor: declarations, on: writer.connection) {
          try use(declarations, having: filed, &writer)
          return true
        }
        var declarations = declarations
        if try engine.sharesSchema(writer.connection) { declarations.policy = .refuse }
        if mayInstall(declarations), !declarations.isEmpty {
          try Migrator(connection: writer.connection, scope: .store).apply(StoreMigrations.all)
          try migrate(declarations, allowing: changes, on: writer.connection)
        } else if configuration.access != .readOnly || !declarations.isEmpty {
          // Rejects a newer library's files without writing. A read-only store without declarations
          // uses the file's own description: it only needs catalog entries that this library
          // understands.
          _ = try Migrator(connection: writer.connection, scope: .store).pending(
            StoreMigrations.all)
          _ = try CatalogEntries.validators.understood(on: writer.connection)
          try checkMigrations(of: declarations, on: writer.connection)
        }
        declarations.models = try self.withAdoptedSlots(
          declarations.models, on: writer.connection)
        try check(declarations.models, on: writer.connection)
        let notices = try reconcile(declarations, allowing: changes, on: writer.connection)
        for notice in notices { engine.reports.send(notice) }
        if mayInstall(declarations), !declarations.isEmpty {
          try noteOrder(for: declarations, on: writer.connection)
        }
        // A copied table is in the log once more.
        if changes == .migrate { engine.maintenance.checkpointIfNeeded(&writer) }
        try use(declarations, &writer)
        return false
      } catch {
        throw ModelRegistry.storeError(
          writer.noting(error), models: declarations.models, rules: declarations.rules, about: nil)
      }
    }
  }

  /// Puts `declarations` into effect. The file already contains them.
  private func use(
    _ declarations: Declarations, having read: FiledCatalog? = nil, _ writer: inout Writer
  ) throws {
    // A stop request here would only hide that the file contains them.
    try writer.connection.hooks.withoutStopping {
      try schema.reload(&writer, declaring: declarations.models, having: read)
    }
    schema.add(declarations)
  }

  /// Returns whether missing declarations may be written into the file.
  func mayInstall(_ declarations: Declarations) -> Bool {
    configuration.access != .readOnly && declarations.policy == .install
  }

  /// Applies the migrations that the file lacks. If opening may create tables, missing tables are
  /// created before them.
  private func migrate(
    _ declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges,
    on connection: Connection
  ) throws {
    guard let migrations = declarations.migrations else { return }
    try migrator(declaring: declarations.models, on: connection)
      .apply(migrations, creating: changes == .none ? [] : declarations.models)
  }

  /// The migrator of the application's migrations, which keeps what belongs to models.
  func migrator(
    declaring models: [ModelSchema], droppedTriggers: DroppedTriggers = .left,
    on connection: Connection
  ) -> Migrator {
    Migrator(
      connection: connection, scope: .app,
      keepingModels: { run in
        try keepingModels(
          declaring: models, droppedTriggers: droppedTriggers, on: connection, run)
      })
  }

  /// Throws if the file lacks migrations that may not be applied. A program that declares nothing
  /// takes the file as it is, with the migrations that it has had.
  private func checkMigrations(of declarations: Declarations, on connection: Connection) throws {
    guard declarations.policy == .refuse, !declarations.isEmpty,
      let migrations = declarations.migrations,
      let first = try Migrator(connection: connection, scope: .app).pending(migrations).first
    else { return }
    throw StoreError(
      .schemaMismatch,
      "The migration \(first) has not been applied to the file, and this store may not change the file. Open it for writing once."
    )
  }

  /// Throws for models that conflict with models in effect.
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
          "The model \(model.name) has the same characters in its name as the model of the table \(twin.table), in other bytes (Unicode normalisation), so the two cannot be distinguished. Rename one of them.",
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

  /// Returns whether an open store of this process declared the model, or observers use it.
  func isInUse(_ model: ModelSchema) -> Bool {
    schema.isDeclared(model.name) || engine.broker.interests()[model.name] != nil
  }

  /// Runs `body` as a transaction that changes the file except its records, then reloads the file's
  /// schema and rules.
  ///
  /// A failure of the reload is reported: the commit is complete, and the next write reloads them.
  ///
  /// - Parameters:
  ///   - mode: Whether the transaction commits or rolls back. A rollback returns what would be
  ///     done, or throws the refusal. `body` then writes nothing into the store's own tables, which
  ///     may belong to an older library.
  ///   - left: The names of adopted models that the transaction removes from the catalog.
  ///   - completion: Runs last in the transaction, after the journal was brought in line.
  func changing<Result>(
    mode: WriteMode = .commit, leaving left: ((Result) -> Set<String>)? = nil,
    completion: ((Result, Connection) throws -> Void)? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try configuration.checkWritable()
    if mode == .commit { try engine.checkHasOwnSchema() }
    return try engine.turns.take { writer in
      try writer.checkUsable()
      let changeCount = writer.connection.totalChangeCount
      // These writes are not captured, so observers refetch.
      defer {
        if mode == .commit, writer.connection.totalChangeCount != changeCount {
          engine.foreignSync.publishReset(&writer)
        }
      }
      do {
        let connection = writer.connection
        guard mode == .commit else {
          return try connection.inTransaction(isKept: false) { try body(connection) }
        }
        try Migrator(connection: connection, scope: .store).apply(StoreMigrations.all)
        let result = try connection.inTransaction {
          let standing = try journal.standing(on: connection)
          let result = try JournalMark.signing(on: connection) { try body(connection) }
          // A new unique rule is another reason for REPLACE to evict records, so the journal needs
          // an entry for it. The entry comes after the commit record, because it is not a change
          // that can be reverted.
          try journal.align(keeping: standing, on: connection)
          try recordOrder(on: connection)
          try completion?(result, connection)
          return result
        }
        reloadAfterCommit(&writer, leaving: left?(result) ?? [])
        return result
      } catch {
        throw models.storeError(writer.noting(error), about: nil)
      }
    }
  }

  func reloadAfterCommit(_ writer: inout Writer, leaving left: Set<String>) {
    do {
      try writer.connection.hooks.withoutStopping { try schema.reload(&writer, leaving: left) }
    } catch {
      engine.reports.send(
        writer.noting(error), afterCommit: "reading the changed schema", models)
    }
  }

  // The catalog

  /// Returns the catalog's entries of one kind, for example the bindings.
  func catalogEntries<Entry>(_ entries: CatalogEntries<Entry>) throws -> [Entry] {
    try engine.look { connection in try entries.understood(on: connection) }
  }

  /// Returns why catalog entries cannot be read: models, bindings, rules, then validators.
  func catalogProblems() throws -> [StoreError] {
    try engine.look { connection in try problems(on: connection) }
  }

  func problems(on connection: Connection) throws -> [StoreError] {
    try CatalogEntries.models.problems(on: connection)
      + CatalogEntries.bindings.problems(on: connection)
      + CatalogEntries.rules.problems(on: connection)
      + CatalogEntries.validators.problems(on: connection)
  }
}

extension CatalogEntries<BindingSchema> {
  static let bindings = CatalogEntries(table: "_ms_bindings", noun: "binding")
}

extension Array where Element: CatalogEntry {
  /// Returns whether all of `others` are here with the same text, byte for byte.
  func hold(_ others: [Element]) throws -> Bool {
    let own = Dictionary(grouping: self, by: \.name)
    return try others.allSatisfy { other in
      guard let own = own[other.name]?.first(where: { $0 == other }) else { return false }
      return try CatalogText.text(of: own).isExactly(CatalogText.text(of: other))
    }
  }
}

extension ModelSchema {
  /// Returns whether both models use the same table.
  func hasTable(of other: ModelSchema) -> Bool {
    table.asciiFolded.isExactly(other.table.asciiFolded)
  }
}
