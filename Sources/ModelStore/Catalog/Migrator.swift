/// Applies numbered migrations. Each is one transaction, which also records it in the ledger, so a
/// file is never between two versions. If ``FreshFilePlan`` creates tables or skips migrations, the
/// tables and all pending migrations are one transaction.
///
/// The migrator takes the write lock before it reads the ledger. A second process waits for the
/// first, and then finds no pending migrations.
struct Migrator {
  let connection: Connection
  let scope: MigrationLedger.Scope
  /// Runs at the beginning of each migration's transaction.
  var preparation: (Connection) throws -> Void = { _ in }

  private var ledger: MigrationLedger { MigrationLedger(connection: connection, scope: scope) }

  /// Returns the migrations that the file has not had, in the order of versions. It only reads.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` or `migrationConflict`.
  func pending(_ migrations: [Migration]) throws -> [Migration] {
    try scope.pending(of: migrations, after: ledger.entries())
  }

  /// Applies the pending migrations, in the order of versions.
  ///
  /// Foreign keys are off while an application's migration runs. So a table can be rebuilt without
  /// cascading deletes in the tables that refer to it. The migrator checks foreign keys before the
  /// commit: <https://sqlite.org/lang_altertable.html#otheralter>.
  ///
  /// - Parameter models: The models whose tables may be created before the migrations.
  /// - Returns: The migrations that were applied or skipped now. If none was pending, the result is
  ///   empty and no write lock was taken.
  /// - Throws: ``StoreError``, or what a migration in Swift throws. The failed transaction is
  ///   rolled back, and transactions before it stay.
  /// - Precondition: `connection` is not in a transaction.
  @discardableResult
  func apply(_ migrations: [Migration], creating models: [ModelSchema] = []) throws -> [Migration] {
    precondition(!connection.isInTransaction, "A migration needs its own transaction.")
    guard try !pending(migrations).isEmpty else { return [] }
    for migration in migrations { try MigrationScript(migration).check() }
    func applyAll() throws -> [Migration] {
      var applied: [Migration] = []
      while true {
        let next = try applyNext(of: migrations, creating: models)
        guard !next.isEmpty else { return applied }
        applied += next
      }
    }
    return try scope == .app ? connection.withForeignKeysOff(applyAll) : applyAll()
  }

  /// Applies the first pending migration, or all of them if the plan is not empty: once a table was
  /// created, another plan would take it for one in an old form.
  private func applyNext(
    of migrations: [Migration], creating models: [ModelSchema]
  ) throws -> [Migration] {
    try connection.inTransaction {
      let pending = try pending(migrations)
      guard let first = pending.first else { return [] }
      let plan = scope == .app ? try plan(pending, creating: models) : nil
      try preparation(connection)
      guard let plan, !plan.isEmpty else {
        try apply(first)
        return [first]
      }
      try SchemaValidation(models).check()
      try Reconciler(connection)
        .apply(SchemaPlan(created: plan.created.flatMap { SchemaSQL($0).objects }))
      for migration in pending {
        if plan.skipped.contains(migration.version) {
          try record(migration)
        } else {
          try apply(migration)
        }
      }
      return pending
    }
  }

  private func plan(
    _ pending: [Migration], creating models: [ModelSchema]
  ) throws -> FreshFilePlan {
    let objects = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE name NOT GLOB '_ms_*' AND name NOT GLOB 'sqlite_*'"
    ) { row in try row.text(at: 0) }
    return try FreshFilePlan(
      pending, models: models, objects: objects,
      isFresh: objects.isEmpty && ledger.entries().isEmpty)
  }

  private func apply(_ migration: Migration) throws {
    // The migration before may have enabled it, and a rollback does not disable it.
    try connection.execute("PRAGMA legacy_alter_table = OFF")
    let script = MigrationScript(migration)
    if scope == .app {
      let tables = try tables()
      let earlier = try BrokenReferences(in: connection)
      try script.run(on: connection)
      let broken = try BrokenReferences(in: connection).subtracting(earlier)
      guard broken.isEmpty else { throw dangling(broken, after: migration) }
      try forgetModels(of: tables.subtracting(self.tables()))
    } else {
      try script.run(on: connection)
    }
    try record(migration)
  }

  private func tables() throws -> Set<ExactText> {
    Set(
      try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") { row in
        ExactText(try row.text(at: 0).asciiFolded)
      })
  }

  /// Removes the catalog's entries of models whose tables a migration has dropped or renamed. The
  /// tables of adopted models belong to another program, which may bring them back.
  private func forgetModels(of tables: Set<ExactText>) throws {
    guard !tables.isEmpty else { return }
    let models = try CatalogEntries.models.read(on: connection).filter { model in
      !model.isAdopted && tables.contains(model.tableName)
    }
    try CatalogEntries.models.remove(models.map(\.name), on: connection)
  }

  private func record(_ migration: Migration) throws {
    try ledger.create()
    try ledger.record(migration)
  }

  private func dangling(_ broken: BrokenReferences, after migration: Migration) -> StoreError {
    StoreError(
      .rejected,
      """
      The migration \(migration) leaves \(broken.count) broken references \
      (\(broken.reasons.joined(separator: ", "))). The migration was rolled back.
      """)
  }
}
