/// The migrations of the store's own tables, compiled in from `Migrations/`.
enum StoreMigrations {
  /// The migrations in the order of versions, numbered from 1 without gaps.
  static let all = [
    Migration(
      version: 1, name: "catalog",
      sql: String(decoding: PackageResources._001_catalog_sql, as: UTF8.self)),
    Migration(
      version: 2, name: "rules",
      sql: String(decoding: PackageResources._002_rules_sql, as: UTF8.self)),
    Migration(
      version: 3, name: "change_journal",
      sql: String(decoding: PackageResources._003_change_journal_sql, as: UTF8.self)),
    Migration(
      version: 4, name: "journal_marks",
      sql: String(decoding: PackageResources._004_journal_marks_sql, as: UTF8.self)),
    Migration(
      version: 5, name: "log_link",
      sql: String(decoding: PackageResources._005_log_link_sql, as: UTF8.self)),
    Migration(
      version: 6, name: "reconciled",
      sql: String(decoding: PackageResources._006_reconciled_sql, as: UTF8.self)),
    Migration(
      version: 7, name: "steps",
      sql: String(decoding: PackageResources._007_steps_sql, as: UTF8.self)),
    Migration(
      version: 8, name: "workers",
      sql: String(decoding: PackageResources._008_workers_sql, as: UTF8.self)),
  ]
}
