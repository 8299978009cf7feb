/// One migration as a file and a program know it.
package struct MigrationStatus: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    /// The file had it, and the declaration is the same.
    case applied
    /// The file has not had it yet.
    case pending
    /// The file has not had it, but had a later one before. Opening throws `migrationConflict`.
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
  /// What the ledger has; nil if the file has not had it.
  package let applied: AppliedMigration?
  /// Whether the file or the program says how to take it back.
  package let isReversible: Bool

  package var version: Int64 { declared?.version ?? applied?.version ?? 0 }
  /// The declared name if there is one.
  package var name: String { declared?.name ?? applied?.name ?? "" }
}
