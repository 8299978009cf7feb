// What the models still need after the pending migrations, and whole schemas.
extension FileMigrations {
  /// Returns the steps that the declared models need after the pending migrations. The migrations
  /// run in a transaction that is rolled back; if none is pending, it only reads.
  ///
  /// - Throws: As ``apply(upTo:mode:)``, and ``StoreError`` if the models contradict each other.
  package func plan() throws -> MigrationPlan {
    try afterPending { catalog, connection in
      guard !models.isEmpty else { return MigrationPlan() }
      return try catalog.migrationDraft(
        for: catalog.withSlots(models, on: connection), on: connection
      ).plan
    }
  }

  /// Returns the schema that the file will have after the pending migrations.
  ///
  /// - Throws: As ``apply(upTo:mode:)``.
  package func schema() throws -> SchemaSnapshot {
    try afterPending { _, connection in try SchemaSnapshot(reading: connection) }
  }

  /// Returns the schema after the pending migrations, the same schema in line with the declared
  /// models, and the plan that leads there as far as the store can go by itself.
  ///
  /// - Throws: As ``plan()``.
  package func schemaInLineWithModels() throws -> (
    current: SchemaSnapshot, desired: SchemaSnapshot, plan: MigrationPlan
  ) {
    try afterPending { catalog, connection in
      let models = try catalog.withSlots(models, on: connection)
      let current = try SchemaSnapshot(reading: connection)
      let plan = try catalog.migrationDraft(for: models, on: connection).plan
      let desired = try SchemaSnapshot(
        bringing: current, inLineWith: models, by: plan,
        functions: catalog.configuration.functions)
      return (current, desired, plan)
    }
  }

  /// Returns the schema that the migrations which the file has had create in an empty file,
  /// together with the tables of the models.
  ///
  /// - Throws: What running them throws.
  package func expectedSchema() throws -> SchemaSnapshot {
    let newest = try store.open.catalog.appliedMigrations().last?.version ?? 0
    return try replay(upTo: newest).snapshot
  }

  private func afterPending<Result>(
    _ body: (CatalogEditor, Connection) throws -> Result
  ) throws -> Result {
    let catalog = try store.open.catalog
    return try catalog.afterPending(declared, creating: models) { try body(catalog, $0) }
  }
}

extension Store {
  /// Returns the schema of the file.
  package func schemaSnapshot() throws -> SchemaSnapshot {
    try open.look { connection in try SchemaSnapshot(reading: connection) }
  }
}
