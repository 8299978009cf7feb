/// The files that may meet a migration which stands for others. Each of them must record it in
/// place of what the file has had.
struct SquashHistories {
  let squash: Migration
  /// The migrations before those that it replaces.
  let earlier: [Migration]
  /// What the files have had.
  let histories: [[AppliedMigration]]

  /// - Parameter replaced: What `squash` replaces, without what these migrations stand for
  ///   themselves.
  init(of squash: Migration, replacing replaced: [Migration], after earlier: [Migration]) {
    self.squash = squash
    self.earlier = earlier
    let before = earlier.map { AppliedMigration(recording: $0) }
    let versions = Set(replaced.flatMap { $0.replaces + [$0.version] }).sorted()
    let originals = versions.map { Migration(version: $0, name: "original", sql: "") }
    histories = [replaced, originals].map { migrations in
      before + migrations.map { AppliedMigration(recording: $0) }
    }
  }

  /// - Throws: ``StoreError`` with code `migrationConflict` if a file would refuse the migration,
  ///   or would run it.
  func check() throws(StoreError) {
    for history in histories {
      let pending = try PendingMigrations(of: earlier + [squash], after: history, in: .app)
      guard pending.all == [squash], pending.squashes == [squash.version] else {
        throw StoreError(
          .migrationConflict,
          """
          A file that has had the migrations which \(squash) replaces would not record it in their \
          place. Replace other migrations; nothing was changed.
          """)
      }
    }
  }
}

extension AppliedMigration {
  /// What a ledger has about a migration that ran, as far as it can be compared.
  fileprivate init(recording migration: Migration) {
    self.init(
      version: migration.version, name: migration.name, checksum: migration.checksum,
      sql: migration.sql, reverse: migration.reverseSQL, appliedAt: "", duration: nil,
      program: nil, kind: .run, replaced: migration.replaces)
  }
}
