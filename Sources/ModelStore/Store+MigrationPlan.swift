// Planning how tables are brought in line with models.
extension Store {
  /// Returns the steps that would bring the tables of this store's models in line with their
  /// declarations. It only reads.
  ///
  /// A store opens only if its tables fit, so the plan of an open store is empty until another
  /// program changes a table. To plan for a file that you cannot open yet, use
  /// ``migrationPlan(at:models:configuration:)``.
  ///
  /// - Complexity: About five small statements for each table of the file. Reads all records of a
  ///   model if a change depends on them.
  public func migrationPlan() throws -> MigrationPlan {
    try migrationPlan { _, _ in schema.models }
  }

  /// Returns the steps that would bring the tables of the file at `path` in line with `models`. It
  /// changes nothing, and works for a file that does not fit the models.
  ///
  /// ```swift
  /// let plan = try Store.migrationPlan(at: path, models: [Todo.self, List.self])
  /// print(plan)
  /// ```
  ///
  /// The plan is for the file as it is: migrations that are still pending are not considered.
  /// Nor are bindings, rules that are not part of a model, and the age of the program's migrations:
  /// opening checks these, too.
  ///
  /// - Parameter configuration: If the file is open in this process, pass the configuration of that
  ///   store.
  /// - Throws: ``StoreError`` if the file cannot be opened, or if the models contradict each other.
  public static func migrationPlan(
    at path: String, models: [any Model.Type],
    configuration: StoreConfiguration = StoreConfiguration(access: .readOnly)
  ) throws -> MigrationPlan {
    try migrationPlan(
      at: path, schemas: models.map { $0.schema }, configuration: configuration)
  }

  /// The form for models without types.
  package static func migrationPlan(
    at path: String, schemas: [ModelSchema], configuration: StoreConfiguration
  ) throws -> MigrationPlan {
    let store = try Store(
      at: path, declaring: Declarations(), configuration: configuration, onError: { _ in })
    defer { store.close() }
    return try store.migrationPlan { catalog, connection in
      try catalog.withSlots(schemas, on: connection)
    }
  }

  /// - Parameter models: Returns the models, together with those of slots.
  private func migrationPlan(
    for models: (CatalogEditor, Connection) throws -> [ModelSchema]
  ) throws -> MigrationPlan {
    let engine = try open
    return try engine.look { connection in
      let catalog = engine.catalog
      return try catalog.migrationDraft(for: models(catalog, connection), on: connection).plan
    }
  }

  /// Returns the steps that would bring the tables of this store's models in line with their
  /// declarations.
  public func migrationPlan() async throws -> MigrationPlan {
    try await open.readCalls.run { [self] in try migrationPlan() }
  }

  /// Returns the steps that would bring the tables of the file at `path` in line with `models`.
  public static func migrationPlan(
    at path: String, models: [any Model.Type],
    configuration: StoreConfiguration = StoreConfiguration(access: .readOnly)
  ) async throws -> MigrationPlan {
    try await BlockingCalls().run {
      try migrationPlan(at: path, models: models, configuration: configuration)
    }
  }
}
