/// One numbered step of a schema: SQL or Swift that is applied once to each file, in the order of
/// versions.
///
/// A migration changes files that exist. It talks to the database as it is at that point, not to
/// today's Swift types. A table that a file lacks is created as your model declares it now, so a
/// migration that only changes such a table is recorded as applied without running. Everything else
/// runs on fresh files, too: <doc:migration-cookbook>.
///
/// Foreign keys are not enforced while it runs, so ON DELETE and ON UPDATE do nothing and a table
/// can be rebuilt; a reference that it leaves broken makes it fail.
public struct Migration: Sendable {
  /// What a migration does to a fresh file: one without any table of the application.
  public enum FreshFiles: Hashable, Sendable {
    /// It runs, after the tables of the models were created.
    case run
    /// It is recorded as applied, and does not run.
    case skip
  }

  enum Content: Sendable {
    case sql(String)
    case swift(@Sendable (borrowing MigrationTransaction) throws -> Void)
  }

  /// Above 0, and above every version applied before: a running number, or a UTC time such as
  /// 20260820101500.
  package let version: Int64
  /// For people: `add_due_date`.
  package let name: String
  /// What the declaration says about fresh files; nil for what ``MigrationPlan`` finds.
  let onFreshFiles: FreshFiles?
  let content: Content

  /// Declares a migration in SQL. Its text is frozen once it was applied anywhere: its checksum is
  /// kept in the file.
  ///
  /// Checks nothing: what is wrong with a version or a text shows when migrations are applied.
  ///
  /// - Parameters:
  ///   - sql: One or more statements. They run in one transaction, which they may not end.
  ///   - onFreshFiles: What it does to a fresh file. With nil, the store decides from the text: the
  ///     migration runs, unless it only changes tables that the file gets in their present form.
  ///     Opening throws `migrationConflict` for a text that does both.
  public init(version: Int64, name: String, sql: String, onFreshFiles: FreshFiles? = nil) {
    self.version = version
    self.name = name
    self.onFreshFiles = onFreshFiles
    content = .sql(sql)
  }

  /// Declares a migration in Swift.
  ///
  /// ```swift
  /// Migration(version: 3, name: "split name", onFreshFiles: .skip) { tx in
  ///   for row in try tx.rows("SELECT id, name FROM Member") { … }
  /// }
  /// ```
  ///
  /// The file keeps its version and name, and no checksum: two migrations in Swift are equal when
  /// these are.
  ///
  /// - Parameters:
  ///   - onFreshFiles: What it does to a fresh file. `.skip` is right for code that changes tables
  ///     of your models, `.run` for code that adds something that fresh files need.
  ///   - body: Runs in one transaction together with the migration's row in the file. If it throws,
  ///     nothing is kept, and opening throws the error. It must not use a store.
  public init(
    version: Int64, name: String, onFreshFiles: FreshFiles,
    _ body: @escaping @Sendable (borrowing MigrationTransaction) throws -> Void
  ) {
    self.version = version
    self.name = name
    self.onFreshFiles = onFreshFiles
    content = .swift(body)
  }

  /// The text; empty for a migration in Swift.
  package var sql: String {
    if case .sql(let text) = content { text } else { "" }
  }

  /// Whether it is written in Swift.
  package var isSwift: Bool {
    if case .swift = content { true } else { false }
  }

  /// 16 hexadecimal digits over the text without comments and with every run of blanks and line
  /// ends as one space, so that reformatting does not count as a change. Strings count as written.
  /// Empty for a migration in Swift.
  package var checksum: String {
    guard !isSwift else { return "" }
    // FNV-1a, 64 bits: it detects edits. It is no protection against forgery, and needs none.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in SQLTokens(sql).normalized.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension Migration: Hashable {
  public static func == (left: Migration, right: Migration) -> Bool {
    left.version == right.version && left.name == right.name && left.sql == right.sql
      && left.isSwift == right.isSwift && left.onFreshFiles == right.onFreshFiles
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(name)
  }
}

extension Migration: CustomStringConvertible {
  /// `20260820101500 add_due_date`
  public var description: String { "\(version) \(name)" }
}
