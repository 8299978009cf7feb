/// What a file's ledger keeps about one migration that the file has had.
package struct AppliedMigration: Hashable, Sendable {
  /// How the migration came into the ledger.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// It ran.
    case run
    /// It changes only tables that the file got in their present form, so it did not run.
    case skip
    /// The file's schema was already the one after it, so it did not run.
    case baseline
    /// It stands for earlier migrations that the file had, so it did not run.
    case squash
    /// It ran. Its text was changed afterwards, and the file accepted the change.
    case repair
  }

  package let version: Int64
  package let name: String
  /// Empty for a migration in Swift, as its text is.
  package let checksum: String
  package let sql: String
  /// The text that takes it back; nil if it is irreversible, reversed by code, or was applied by a
  /// version of the library that did not keep the text.
  package let reverse: String?
  /// In UTC, as ISO 8601 with milliseconds.
  package let appliedAt: String
  /// How long it ran; nil if it did not run, or if the library did not keep it.
  package let duration: Duration?
  /// The program that applied it; nil if the library did not keep it.
  package let program: String?
  package let kind: Kind
  /// The versions of the migrations for which it stands.
  package let replaced: [Int64]

  /// Whether the migration was written in Swift.
  package var isSwift: Bool { checksum.isEmpty }
}

extension AppliedMigration: CustomStringConvertible {
  /// `20260820101500 add_due_date`
  package var description: String { "\(version) \(name)" }
}
