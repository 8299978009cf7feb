/// The table of the migrations that a file has had. The store's migrations and the application's
/// are numbered separately, by scope.
struct MigrationLedger {
  enum Scope: String, Hashable, Sendable {
    case store, app
  }

  private static let table = "_ms_migrations"
  private static let columns = ["scope", "version", "name", "checksum", "sql", "applied_at"]
  /// The columns that one of the store's own migrations adds.
  private static let details = ["kind", "reverse", "duration", "program", "replaced"]

  let connection: Connection
  let scope: Scope

  /// Creates the table if the file has none. The store's migrations bring it to its present form.
  func create() throws {
    try connection.run(
      """
      CREATE TABLE IF NOT EXISTS _ms_migrations (
        scope TEXT NOT NULL CHECK (scope IN ('store', 'app')),
        version INTEGER NOT NULL,
        name TEXT NOT NULL,
        checksum TEXT NOT NULL,
        sql TEXT NOT NULL,
        applied_at TEXT NOT NULL,
        PRIMARY KEY (scope, version)
      ) STRICT, WITHOUT ROWID
      """)
  }

  /// Returns the applied migrations, in the order of versions; empty while the file has none.
  ///
  /// - Parameter version: The only one to read; nil for all.
  /// - Throws: ``StoreError`` with code `newerFormat` if this library cannot read the ledger.
  func entries(of version: Int64? = nil) throws -> [AppliedMigration] {
    let found = try columnNames()
    guard !found.isEmpty else { return [] }
    guard found.isSuperset(of: Self.columns) else { throw Self.newer }
    let details =
      found.isSuperset(of: Self.details)
      ? "kind, reverse, duration, program, replaced" : "'run', NULL, NULL, NULL, NULL"
    return try connection.rows(
      """
      SELECT version, name, checksum, sql, applied_at, \(SQLText(sql: details))
      FROM _ms_migrations
      WHERE scope = \(scope.rawValue)
        AND version BETWEEN \(version ?? Int64.min) AND \(version ?? Int64.max)
      ORDER BY version
      """
    ) { row in
      guard let kind = AppliedMigration.Kind(rawValue: try row.text(at: 5)) else {
        throw Self.newer
      }
      return AppliedMigration(
        version: try row.integer(at: 0), name: try row.text(at: 1), checksum: try row.text(at: 2),
        sql: try row.text(at: 3), reverse: try row.optionalText(at: 6),
        appliedAt: try row.text(at: 4),
        duration: row.isNull(at: 7) ? nil : .microseconds(try row.integer(at: 7)),
        program: try row.optionalText(at: 8), kind: kind,
        replaced: Self.versions(try row.optionalText(at: 9)))
    }
  }

  private func columnNames() throws -> Set<String> {
    Set(
      try connection.rows("SELECT name FROM pragma_table_info(\(Self.table), 'main')") { row in
        try row.text(at: 0)
      })
  }

  private static let newer = StoreError(
    .newerFormat,
    """
    The file's list of migrations has a format that this version of ModelStore does not support. \
    Update this program; nothing was changed.
    """)

  /// Reads `[1, 2]`. Other texts were written by hand.
  private static func versions(_ text: String?) -> [Int64] {
    (text ?? "").split { !$0.isNumber }.compactMap { Int64($0) }
  }

  /// Records a migration in place of those for which it stands. A migration that has run replaces
  /// their entries, too, so that a later squash can stand for all of them.
  ///
  /// - Parameters:
  ///   - duration: How long it ran; nil if it did not run.
  ///   - replaced: More versions for which it stands than those that it declares. The entries of
  ///     all of them are removed.
  func record(
    _ migration: Migration, as kind: AppliedMigration.Kind = .run, taking duration: Duration? = nil,
    replacing replaced: [Int64] = []
  ) throws {
    try create()
    let replaced = Set(replaced + migration.replaces).sorted()
    for version in replaced { try remove(version) }
    try connection.run(
      """
      INSERT INTO _ms_migrations (scope, version, name, checksum, sql, applied_at)
      VALUES (
        \(scope.rawValue), \(migration.version), \(migration.name), \(migration.checksum),
        \(migration.sql), strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
      )
      """)
    guard try columnNames().isSuperset(of: Self.details) else { return }
    let list = replaced.isEmpty ? nil : "[\(replaced.map(String.init).joined(separator: ", "))]"
    try connection.run(
      """
      UPDATE _ms_migrations
      SET kind = \(kind.rawValue), reverse = \(SQLValue(text: migration.reverseSQL)),
        duration = \(duration.map { SQLValue.integer($0.microseconds) } ?? .null),
        program = \(WritingProgram().name), replaced = \(SQLValue(text: list))
      WHERE scope = \(scope.rawValue) AND version = \(migration.version)
      """)
  }

  /// Removes an entry, if there is one.
  func remove(_ version: Int64) throws {
    try connection.run(
      "DELETE FROM _ms_migrations WHERE scope = \(scope.rawValue) AND version = \(version)")
  }

  /// Replaces the name and the texts of an entry by those of its declaration.
  ///
  /// - Precondition: The store's own migrations were applied.
  func repair(_ migration: Migration) throws {
    try connection.run(
      """
      UPDATE _ms_migrations
      SET name = \(migration.name), checksum = \(migration.checksum), sql = \(migration.sql),
        reverse = \(SQLValue(text: migration.reverseSQL)), kind = 'repair'
      WHERE scope = \(scope.rawValue) AND version = \(migration.version)
      """)
  }
}

extension SQLValue {
  fileprivate init(text: String?) {
    self = text.map { .text($0) } ?? .null
  }
}

extension RowView {
  fileprivate borrowing func optionalText(at column: Int) throws(ColumnError) -> String? {
    isNull(at: column) ? nil : try text(at: column)
  }
}
