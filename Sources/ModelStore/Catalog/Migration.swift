/// One numbered step of a schema, in SQL or Swift. Each file gets it once, in order of versions.
///
/// A migration brings existing files up to date. Its statements run on the tables as they are at
/// that point, not on today's Swift types.
///
/// A fresh file gets the tables of your models in their present form first. So a migration that
/// only changes such tables is recorded as applied and does not run there. Any other migration in
/// SQL runs on fresh files too. For recipes, see <doc:migration-cookbook>.
///
/// Foreign keys are not enforced while a migration runs, so ON DELETE and ON UPDATE do nothing and
/// you can rebuild a table. If a reference is broken afterwards, the migration fails.
public struct Migration: Sendable {
  /// What a migration does to a fresh file, which has no tables of your application yet.
  public enum FreshFiles: Hashable, Sendable {
    /// The migration runs after the tables of the models were created.
    case run
    /// The migration is recorded as applied, and does not run.
    case skip
  }

  /// A migration's text or code.
  enum Content: Sendable {
    case sql(String)
    case swift(@Sendable (borrowing MigrationTransaction) throws -> Void)
  }

  /// The version: above 0, and above every version applied before. Use consecutive numbers, or a
  /// UTC time such as 20260820101500.
  package let version: Int64
  /// A short description, for example `add_due_date`.
  package let name: String
  /// What the declaration says about fresh files. If it is nil, ``FreshFilePlan`` decides.
  let onFreshFiles: FreshFiles?
  let content: Content
  /// What takes the migration back; nil if it is irreversible.
  let reverse: Content?
  /// The versions of the earlier migrations that this one stands for, in ascending order.
  package let replaces: [Int64]

  /// Declares a migration in SQL.
  ///
  /// Do not change the text after a file has had the migration: the file keeps its checksum. The
  /// version and the text are checked when a store opens.
  ///
  /// - Parameters:
  ///   - sql: One or more statements. They run in one transaction, which they cannot end.
  ///   - reverse: Statements that take the migration back. The file keeps them, so that
  ///     ``Store/revertMigrations(at:to:migrations:configuration:)`` works without this program.
  ///     With nil, the migration is irreversible. You can change this argument later.
  ///   - replaces: The versions of earlier migrations that this one stands for. A file that had all
  ///     of them records this one without running it, and a file that had none runs it. A file that
  ///     had some runs the others first, as long as you still declare them.
  ///   - onFreshFiles: What the migration does to a fresh file. With nil, the store decides: a text
  ///     that only changes tables which the file gets in their present form does not run; any other
  ///     text runs. If a text does both, opening throws `migrationConflict`. You can change this
  ///     argument later.
  public init(
    version: Int64, name: String, sql: String, reverse: String? = nil, replaces: [Int64] = [],
    onFreshFiles: FreshFiles? = nil
  ) {
    self.version = version
    self.name = name
    self.onFreshFiles = onFreshFiles
    self.replaces = Set(replaces).sorted()
    content = .sql(sql)
    self.reverse = reverse.map { .sql($0) }
  }

  /// Declares a migration in Swift.
  ///
  /// ```swift
  /// Migration(version: 3, name: "split name", onFreshFiles: .skip) { tx in
  ///   for row in try tx.rows("SELECT id, name FROM Member") { … }
  /// }
  /// ```
  ///
  /// The store cannot read your code. So a table of a model exists before the code runs, unless a
  /// migration in SQL creates it or renames a table to it. The file keeps the version and the name,
  /// but no checksum. Do not change the code after a file has had the migration.
  ///
  /// - Parameters:
  ///   - onFreshFiles: What the migration does to a fresh file. Pass `.skip` if the code changes
  ///     tables of your models. Pass `.run` if it adds something that fresh files need.
  ///   - body: Runs in the transaction that records the migration. If it throws, nothing of the
  ///     migration is kept, and opening throws the error. It must not use a store.
  ///   - reverse: Takes the migration back, in one transaction. The file cannot keep code, so only
  ///     a program that declares the migration can revert it. With nil, it is irreversible.
  public init(
    version: Int64, name: String, onFreshFiles: FreshFiles,
    _ body: @escaping @Sendable (borrowing MigrationTransaction) throws -> Void,
    reverse: (@Sendable (borrowing MigrationTransaction) throws -> Void)? = nil
  ) {
    self.version = version
    self.name = name
    self.onFreshFiles = onFreshFiles
    replaces = []
    content = .swift(body)
    self.reverse = reverse.map { .swift($0) }
  }

  /// The text. It is empty for a migration in Swift.
  package var sql: String {
    if case .sql(let text) = content { text } else { "" }
  }

  /// The text that takes the migration back; nil if it is irreversible, or reversed by code.
  package var reverseSQL: String? {
    if case .sql(let text) = reverse { text } else { nil }
  }

  /// Whether the declaration says how to take the migration back.
  package var isReversible: Bool { reverse != nil }

  /// Whether the migration is written in Swift.
  package var isSwift: Bool {
    if case .swift = content { true } else { false }
  }

  /// A checksum of 16 hexadecimal digits. It ignores comments and treats all whitespace as one
  /// space, so you may reformat the SQL. Strings count as written. It is empty for a migration in
  /// Swift.
  package var checksum: String { isSwift ? "" : Self.checksum(of: sql) }

  private static func checksum(of sql: String) -> String {
    // FNV-1a, 64 bits. It detects edits, but does not protect against forgery.
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
      && left.reverseSQL == right.reverseSQL && left.isReversible == right.isReversible
      && left.replaces == right.replaces
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
