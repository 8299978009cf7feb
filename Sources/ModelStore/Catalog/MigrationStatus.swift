/// One migration as a file and a program know it.
package struct MigrationStatus: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    /// The file had it, and the declaration is the same.
    case applied
    /// It is still to be applied to the file.
    case pending
    /// It was not applied to the file, but a later one was. Opening throws `migrationConflict`.
    case late
    /// The file had it, and the program does not declare it.
    case missing
    /// The file had it with another text, or in Swift instead of SQL. To accept the declaration,
    /// call ``FileMigrations/repair(_:)``.
    case changed
    /// The file had it under another name. For a migration in Swift, opening throws
    /// `migrationConflict`.
    case renamed
    /// A migration stands for it that the file had, or that the file will have instead.
    case replaced(by: Int64)
  }

  package let state: State
  /// The declaration; nil if the program lacks it.
  package let declared: Migration?
  /// What the ledger has; nil if it was not applied to the file.
  package let applied: AppliedMigration?
  /// Whether the file or the program says how to take it back.
  package let isReversible: Bool

  package var version: Int64 { declared?.version ?? applied?.version ?? 0 }
  /// The declared name if there is one.
  package var name: String { declared?.name ?? applied?.name ?? "" }
}

extension MigrationStatus {
  /// Compares the declared migrations of a program with those that a file had.
  ///
  /// - Returns: Every migration, in the order of versions.
  /// - Throws: ``StoreError`` with code `migrationConflict` if the declarations contradict each
  ///   other.
  static func all(
    _ declared: [Migration], after applied: [AppliedMigration]
  ) throws(StoreError) -> [MigrationStatus] {
    let standing = try StandingMigrations(declared, after: applied)
    let newest = applied.last?.version ?? 0
    var all = standing.declared.map { migration in
      let entry = applied.first { entry in
        entry.version == migration.version
          && !(standing.isSquash(migration) && standing.isReplaced(entry))
      }
      return MigrationStatus(
        state: standing.state(of: migration, entry, after: newest), declared: migration,
        applied: entry, isReversible: entry?.reverse != nil || migration.isReversible)
    }
    for entry in applied where !all.contains(where: { $0.applied == entry }) {
      let squash = standing.declared.first {
        standing.isSquash($0) && $0.replaces.contains(entry.version)
      }
      all.append(
        MigrationStatus(
          state: squash.map { .replaced(by: $0.version) } ?? .missing, declared: nil,
          applied: entry, isReversible: entry.reverse != nil))
    }
    return all.sorted { $0.version < $1.version }
  }
}

extension StandingMigrations {
  fileprivate func state(
    of migration: Migration, _ entry: AppliedMigration?, after newest: Int64
  ) -> MigrationStatus.State {
    if let squash = stand[migration.version] { return .replaced(by: squash) }
    guard let entry else {
      return migration.version < newest && !isSquash(migration) ? .late : .pending
    }
    if entry.checksum != migration.checksum { return .changed }
    return entry.name.isExactly(migration.name) ? .applied : .renamed
  }
}
