/// The migrations of a store's file and those that a program declares: their status, and the
/// operations beyond what opening does.
///
/// Open the store without declarations, because opening applies what is declared:
///
/// ```swift
/// let store = try Store(
///   at: path, declaring: Declarations(), configuration: configuration, onError: report)
/// let migrations = FileMigrations(of: store, declared: program.migrations)
/// for status in try migrations.status() { … }
/// ```
///
/// Each operation takes the write lock, then reads the ledger. So of two programs that do the same
/// at once, the second finds nothing to do, or an error that says what the first has changed.
/// Nothing is ever half done: each migration is one transaction.
package struct FileMigrations: Sendable {
  let store: Store
  let declared: [Migration]
  let models: [ModelSchema]

  /// - Parameters:
  ///   - declared: The program's migrations, in any order.
  ///   - models: The program's models, whose missing tables ``apply(upTo:mode:)`` creates, as
  ///     opening does. Pass none if the schema comes from migrations alone.
  package init(of store: Store, declared: [Migration], models: [ModelSchema] = []) {
    self.store = store
    self.declared = declared
    self.models = models
  }

  /// Returns every migration that the file had or the program declares, in the order of versions.
  ///
  /// - Throws: ``StoreError`` with code `migrationConflict` if the declared migrations contradict
  ///   each other, `newerFormat` if this library cannot read the ledger. Conflicts between the file
  ///   and the program are states, not errors.
  package func status() throws -> [MigrationStatus] {
    try store.open.catalog.migrationStatus(declared)
  }

  /// Returns what ``apply(upTo:mode:)`` would do, with the exact statements. It only reads.
  ///
  /// - Throws: As ``apply(upTo:mode:)``, except for what running the statements would find.
  package func steps(upTo version: Int64? = nil) throws -> MigrationSteps {
    try store.open.catalog.migrationSteps(declared, upTo: version, creating: models)
  }

  /// Applies the pending migrations up to and with `version`, each in its own transaction.
  ///
  /// With a version below the newest declared one, no tables of models are created first: they have
  /// a form that fits the newest migration.
  ///
  /// - Parameters:
  ///   - version: A declared version; nil for the newest one.
  ///   - mode: A preview runs all of them in one transaction, which is rolled back.
  ///   - onCommit: Receives what each committed transaction has recorded. If it throws, the rest is
  ///     not applied.
  /// - Returns: What was recorded in the ledger, in that order; empty if nothing was pending.
  /// - Throws: ``StoreError`` with code `migrationConflict`, as opening does; `rejected` if
  ///   references would be broken; the error of a failing statement, which names the migration.
  ///   The migrations before the failed one stay applied.
  @discardableResult
  package func apply(
    upTo version: Int64? = nil, mode: WriteMode = .commit,
    onCommit: @escaping ([AppliedMigration]) throws -> Void = { _ in }
  ) throws -> [AppliedMigration] {
    try store.open.catalog.applyMigrations(
      declared, upTo: version, creating: models, mode, onCommit: onCommit)
  }

  /// Returns what ``revert(to:mode:)`` would do, with the exact statements. It only reads.
  package func stepsBack(to version: Int64) throws -> MigrationSteps {
    try store.open.catalog.reversionSteps(declared, to: version)
  }

  /// Takes back the newest applied migrations above `version`, newest first, each in its own
  /// transaction. Foreign keys are checked as they are when migrations are applied.
  ///
  /// The text in the ledger runs. If the ledger has none, the declared reverse does.
  ///
  /// - Parameters:
  ///   - version: The file's newest version afterwards: an applied one, or 0 for none.
  ///   - mode: A preview reverts all of them in one transaction, which is rolled back.
  /// - Returns: What the ledger had about the reverted migrations, newest first; empty if the file
  ///   has no migration above `version`.
  /// - Throws: ``StoreError`` with code `migrationConflict` if one of them is irreversible, or
  ///   stands for others among which `version` is. Nothing is changed then. Otherwise as
  ///   ``apply(upTo:mode:)``.
  @discardableResult
  package func revert(to version: Int64, mode: WriteMode = .commit) throws -> [AppliedMigration] {
    try store.open.catalog.revertMigrations(declared, to: version, mode)
  }

  /// Reverts the newest applied migration and applies its declaration again, in one transaction.
  /// Its text may have changed.
  ///
  /// - Returns: What was recorded; nil if the file has had no migration.
  /// - Throws: As ``revert(to:mode:)`` and ``apply(upTo:mode:)``; `migrationConflict` if the
  ///   migration is not declared.
  @discardableResult
  package func redo(mode: WriteMode = .commit) throws -> AppliedMigration? {
    try store.open.catalog.redoMigration(declared, mode)
  }

  /// Accepts the declared text, reverse and name of a migration that the file has had. Nothing
  /// runs.
  ///
  /// - Returns: What the ledger had before; nil if it already had the same.
  /// - Throws: ``StoreError`` with code `migrationConflict` if the file has not had the migration,
  ///   or the program does not declare it.
  @discardableResult
  package func repair(_ version: Int64) throws -> AppliedMigration? {
    try store.open.catalog.repairMigration(version, declared)
  }

  /// Records the declared migrations up to and with `version` as applied, without running them.
  ///
  /// The file's tables, indexes, triggers and views must be those that the migrations create in an
  /// empty file.
  ///
  /// - Returns: What was recorded; empty if the file has had all of them.
  /// - Throws: ``StoreError`` with code `schemaMismatch` if the schemas differ; its
  ///   ``StoreError/schemaDifferences`` and its message list how. `migrationConflict` if `version`
  ///   is not declared, or as opening does.
  @discardableResult
  package func baseline(_ version: Int64, mode: WriteMode = .commit) throws -> [AppliedMigration] {
    try store.open.catalog.baselineMigrations(
      declared, to: version, expecting: replay(upTo: version).schema, mode)
  }

  /// Returns how the file's schema differs from the one that the declared migrations up to
  /// `version` create in an empty file: one sentence for each difference.
  ///
  /// - Parameter version: A declared version; nil for the newest one that the file has had.
  /// - Throws: ``StoreError`` with code `schemaMismatch` if the migrations fail in an empty file.
  package func drift(at version: Int64? = nil) throws -> [String] {
    let engine = try store.open
    let newest = try version ?? engine.catalog.appliedMigrations().last?.version ?? 0
    let expected = try replay(upTo: newest).schema
    return try engine.look { try SchemaContent(reading: $0) }.differences(from: expected)
  }

  /// Runs the declared migrations up to `version` in an empty file.
  func replay(upTo version: Int64) throws -> MigrationReplay {
    let newest = declared.map(\.version).max() ?? 0
    // Models fit the newest migration only.
    return try MigrationReplay(
      declared.filter { $0.version <= version }, models: version == newest ? models : [],
      functions: store.open.configuration.functions)
  }

  /// Returns how the schema that `squash` creates in an empty file differs from the one after the
  /// migrations that it replaces; empty if it may stand for them.
  ///
  /// - Parameter migrations: All migrations up to and with the last replaced one.
  /// - Throws: What running either of them throws; ``StoreError`` with code `migrationConflict` if
  ///   files that have had the migrations would refuse `squash`.
  package static func differences(
    of squash: Migration, from migrations: [Migration]
  ) throws -> [String] {
    let earlier = migrations.filter { $0.version < squash.replaces.first ?? squash.version }
    try SquashHistories(
      of: squash, replacing: migrations.filter { !earlier.contains($0) }, after: earlier
    ).check()
    let squashed = try MigrationReplay(earlier + [squash], models: [])
    return try squashed.schema.differences(
      from: MigrationReplay(migrations, models: []).schema)
  }
}
