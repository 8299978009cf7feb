// Applying, reverting and recording migrations apart from opening.
extension CatalogEditor {
  // Reading

  func migrationStatus(_ declared: [Migration]) throws -> [MigrationStatus] {
    try engine.look { connection in
      let applied = try MigrationLedger(connection: connection, scope: .app).entries()
      return try MigrationStatus.all(declared, after: applied)
    }
  }

  func migrationSteps(
    _ declared: [Migration], upTo version: Int64?, creating models: [ModelSchema]
  ) throws -> MigrationSteps {
    let created = try self.created(models, declared, upTo: version)
    return try engine.look { connection in
      try connection.inOneState {
        let migrator = try migrator(of: declared, upTo: version, on: connection)
        var pending = try PendingMigrations(
          of: declared, after: migrator.ledger.entries(), in: .app)
        pending.limit(to: migrator.limit)
        guard !pending.all.isEmpty else { return MigrationSteps(created: [], steps: []) }
        for migration in declared { try MigrationScript(migration).check() }
        return MigrationSteps(
          pending, by: try migrator.plan(pending, creating: created))
      }
    }
  }

  func reversionSteps(_ declared: [Migration], to version: Int64) throws -> MigrationSteps {
    try engine.look { connection in
      let reversions = try migrator(declaring: [], on: connection)
        .reversions(to: version, declaring: declared)
      return MigrationSteps(
        created: [],
        steps: reversions.map { reversion in
          MigrationSteps.Step(
            version: reversion.entry.version, name: reversion.entry.name,
            action: reversion.script.isSwift
              ? .revertByCode : .revert(reversion.script.statements))
        })
    }
  }

  /// The applied migrations of the file, in the order of versions.
  func appliedMigrations() throws -> [AppliedMigration] {
    try engine.look { try MigrationLedger(connection: $0, scope: .app).entries() }
  }

  // Applying and reverting

  func applyMigrations(
    _ declared: [Migration], upTo version: Int64?, creating models: [ModelSchema],
    _ mode: WriteMode, onCommit: @escaping ([AppliedMigration]) throws -> Void
  ) throws -> [AppliedMigration] {
    let created = try self.created(models, declared, upTo: version)
    return try migrating(mode, declaring: models) { migrator in
      var migrator = migrator
      migrator.limit = try Self.limit(version, of: declared)
      var entries: [AppliedMigration] = []
      var reportedCount = 0
      migrator.onRecord = { entries.append($0) }
      migrator.onCommit = {
        try onCommit(Array(entries[reportedCount...]))
        reportedCount = entries.count
      }
      try migrator.apply(declared, creating: created, isKept: mode == .commit)
      return entries
    }
  }

  /// Runs `body` on the file as it will be after the pending migrations, which are rolled back. If
  /// none is pending, it only reads.
  func afterPending<Result>(
    _ declared: [Migration], creating models: [ModelSchema], _ body: (Connection) throws -> Result
  ) throws -> Result {
    guard try !migrationSteps(declared, upTo: nil, creating: models).isEmpty else {
      return try engine.look(body)
    }
    let created = try self.created(models, declared, upTo: nil)
    return try migrating(.preview, declaring: models) { migrator in
      var result: Result?
      var outlook = Migrator.Outlook()
      _ = try migrator.each(isKept: false) {
        let applied = try migrator.applyNext(of: declared, creating: created, after: &outlook)
        if applied.isEmpty { result = try body(migrator.connection) }
        return applied
      }
      guard let result else { preconditionFailure("Running all migrations has run the body.") }
      return result
    }
  }

  func revertMigrations(
    _ declared: [Migration], to version: Int64, _ mode: WriteMode
  ) throws -> [AppliedMigration] {
    try migrating(mode) { migrator in
      try migrator.revert(to: version, declaring: declared, isKept: mode == .commit)
    }
  }

  func redoMigration(_ declared: [Migration], _ mode: WriteMode) throws -> AppliedMigration? {
    try migrating(mode) { migrator in
      guard try !migrator.ledger.entries().isEmpty else { return nil }
      return try migrator.redo(declared, isKept: mode == .commit)
    }
  }

  // Recording

  func repairMigration(_ version: Int64, _ declared: [Migration]) throws -> AppliedMigration? {
    try migrating { migrator in
      try migrator.connection.inTransaction {
        let migration = try Self.declaration(version, in: declared)
        guard let entry = try migrator.ledger.entries().first(where: { $0.version == version })
        else {
          throw StoreError(
            .migrationConflict,
            "The file has not had the migration \(migration), so there is nothing to repair. Nothing was changed."
          )
        }
        let isSame =
          entry.checksum == migration.checksum && entry.sql == migration.sql
          && entry.name == migration.name && entry.reverse == migration.reverseSQL
        guard !isSame else { return nil }
        try migrator.ledger.repair(migration)
        return entry
      }
    }
  }

  /// - Parameter expected: The schema that the migrations create in an empty file.
  func baselineMigrations(
    _ declared: [Migration], to version: Int64, expecting expected: SchemaContent, _ mode: WriteMode
  ) throws -> [AppliedMigration] {
    try migrating(mode) { migrator in
      try migrator.connection.inTransaction(isKept: mode == .commit) {
        _ = try Self.declaration(version, in: declared)
        var pending = try PendingMigrations(
          of: declared, after: migrator.ledger.entries(), in: .app)
        pending.limit(to: version)
        guard !pending.all.isEmpty else { return [] }
        let differences = try SchemaContent(reading: migrator.connection)
          .differences(from: expected)
        guard differences.isEmpty else { throw Self.mismatch(differences, at: version) }
        for migration in pending.all { try migrator.ledger.record(migration, as: .baseline) }
        let versions = Set(pending.all.map(\.version))
        return try migrator.ledger.entries().filter { versions.contains($0.version) }
      }
    }
  }

  private static func mismatch(_ differences: [String], at version: Int64) -> StoreError {
    let list = differences.map { "\n- \($0)" }.joined()
    var error = StoreError(
      .schemaMismatch,
      """
      The file's schema is not the one that the migrations up to \(version) create in an empty \
      file, so they cannot be its baseline; nothing was changed. Change the file or the \
      migrations.\(list)
      """)
    error.schemaDifferences = differences
    return error
  }

  // Parts

  /// Returns the models whose tables are created first: none if newer migrations are left out.
  private func created(
    _ models: [ModelSchema], _ declared: [Migration], upTo version: Int64?
  ) throws -> [ModelSchema] {
    let newest = declared.map(\.version).max()
    return version == nil || version == newest ? try models.withSlotModels() : []
  }

  private func migrator(
    of declared: [Migration], upTo version: Int64?, on connection: Connection
  ) throws -> Migrator {
    var migrator = migrator(declaring: [], on: connection)
    migrator.limit = try Self.limit(version, of: declared)
    return migrator
  }

  private static func limit(_ version: Int64?, of declared: [Migration]) throws -> Int64 {
    guard let version else { return .max }
    return try declaration(version, in: declared).version
  }

  private static func declaration(
    _ version: Int64, in declared: [Migration]
  ) throws(StoreError) -> Migration {
    if let migration = declared.first(where: { $0.version == version }) { return migration }
    let newest = declared.max { $0.version < $1.version }
    throw StoreError(
      .migrationConflict,
      "There is no migration \(version) here\(newest.map { "; the newest one is \($0)" } ?? "")."
    )
  }

  /// Runs `body` with the writer, then puts the changed catalog into effect.
  ///
  /// - Throws: ``StoreError`` with code `configurationConflict` if a store of this process has
  ///   declared models of the file: they might not fit its tables any more.
  private func migrating<Result>(
    _ mode: WriteMode = .commit, declaring models: [ModelSchema] = [],
    _ body: (Migrator) throws -> Result
  ) throws -> Result {
    try configuration.checkWritable()
    if mode == .commit { try engine.checkHasOwnSchema() }
    let used = self.models.schema.models.first { !$0.isAdopted && schema.isDeclared($0.name) }
    if let model = used {
      throw StoreError(
        .configurationConflict,
        "A store of this process has declared the model \(model.name) of this file. Close it before you change the file's migrations.",
        model: model.name)
    }
    return try engine.turns.take { writer in
      try writer.checkUsable()
      let connection = writer.connection
      let changeCount = connection.totalChangeCount
      // These writes are not captured, so observers refetch.
      defer {
        writer.lists.forget()
        if mode == .commit, connection.totalChangeCount != changeCount {
          engine.foreignSync.publishReset(&writer)
        }
      }
      do {
        if mode == .commit {
          try Migrator(connection: connection, scope: .store).apply(StoreMigrations.all)
        }
        let earlier = try CatalogEntries.models.understood(on: connection).map(\.name)
        defer { if mode == .commit { reload(&writer, after: earlier) } }
        // An application opens the file next, which creates what its declarations need.
        return try body(
          migrator(
            declaring: models, droppedTriggers: models.isEmpty ? .restored : .left,
            on: connection))
      } catch {
        throw self.models.storeError(writer.noting(error), about: nil)
      }
    }
  }

  /// - Parameter earlier: The names of the models before.
  private func reload(_ writer: inout Writer, after earlier: [String]) {
    do {
      let names = try CatalogEntries.models.understood(on: writer.connection).map(\.name)
      reloadAfterCommit(&writer, leaving: Set(earlier).subtracting(names))
    } catch {
      engine.reports.send(
        writer.noting(error), afterCommit: "reading the changed schema", models)
    }
  }
}
