// Applying, reverting and recording migrations apart from opening.
extension CatalogEditor {
  func migrationStatus(_ declared: [Migration]) throws -> [MigrationStatus] { [] }
  func migrationSteps(
    _ declared: [Migration], upTo version: Int64?, creating models: [ModelSchema]
  ) throws -> MigrationSteps { MigrationSteps(created: [], steps: []) }
  func applyMigrations(
    _ declared: [Migration], upTo version: Int64?, creating models: [ModelSchema], _ mode: WriteMode
  ) throws -> [AppliedMigration] { [] }
  func reversionSteps(_ declared: [Migration], to version: Int64) throws -> MigrationSteps {
    MigrationSteps(created: [], steps: [])
  }
  func revertMigrations(
    _ declared: [Migration], to version: Int64, _ mode: WriteMode
  ) throws -> [AppliedMigration] { [] }
  func redoMigration(_ declared: [Migration], _ mode: WriteMode) throws -> AppliedMigration? { nil }
  func repairMigration(_ version: Int64, _ declared: [Migration]) throws -> AppliedMigration? {
    nil
  }
  func baselineMigrations(
    _ declared: [Migration], to version: Int64, models: [ModelSchema], _ mode: WriteMode
  ) throws -> [AppliedMigration] { [] }
  func migrationDrift(
    _ declared: [Migration], at version: Int64?, models: [ModelSchema]
  ) throws -> [String] { [] }
}
