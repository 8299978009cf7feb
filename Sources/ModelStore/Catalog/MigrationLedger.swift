/// The table of the migrations that a file has had. The store's migrations and the application's
/// are numbered separately, by scope.
struct MigrationLedger {
  enum Scope: String, Hashable, Sendable {
    case store, app
  }

  struct Entry: Hashable, Sendable {
    let version: Int64
    let name: String
    /// Empty for a migration in Swift, as its text is.
    let checksum: String
    let sql: String
  }

  private static let table = "_ms_migrations"
  private static let columns = ["scope", "version", "name", "checksum", "sql", "applied_at"]

  let connection: Connection
  let scope: Scope

  /// Creates the table if the file has none.
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

  /// Returns the applied migrations, in the order of versions; empty if there is no ledger yet.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` if this library cannot read the ledger.
  func entries() throws -> [Entry] {
    let found = try connection.rows("SELECT name FROM pragma_table_info(\(Self.table), 'main')") {
      row in try row.text(at: 0)
    }
    guard !found.isEmpty else { return [] }
    guard Set(found).isSuperset(of: Self.columns) else {
      throw StoreError(
        .newerFormat,
        """
        The file's list of migrations has a format that this version of ModelStore does not \
        support. Update this program; nothing was changed.
        """)
    }
    return try connection.rows(
      """
      SELECT version, name, checksum, sql
      FROM _ms_migrations
      WHERE scope = \(scope.rawValue)
      ORDER BY version
      """
    ) { row in
      Entry(
        version: try row.integer(at: 0), name: try row.text(at: 1), checksum: try row.text(at: 2),
        sql: try row.text(at: 3))
    }
  }

  func record(_ migration: Migration) throws {
    try connection.run(
      """
      INSERT INTO _ms_migrations (scope, version, name, checksum, sql, applied_at)
      VALUES (
        \(scope.rawValue), \(migration.version), \(migration.name), \(migration.checksum),
        \(migration.sql), strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
      )
      """)
  }
}

extension MigrationLedger.Scope {
  /// Returns those of `migrations` that `applied` lacks, in the order of versions.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` if the file had later migrations than
  ///   `migrations`; `migrationConflict` if a migration was changed, is missing, or has a too low
  ///   version.
  func pending(
    of migrations: [Migration], after applied: [MigrationLedger.Entry]
  ) throws(StoreError) -> [Migration] {
    let known = try ordered(migrations)
    let newest = known.last?.version ?? 0
    for entry in applied {
      guard let migration = known.first(where: { $0.version == entry.version }) else {
        throw entry.version > newest
          ? newer(applied.last ?? entry, than: known.last) : missing(entry)
      }
      guard migration.checksum == entry.checksum else { throw changed(migration, from: entry) }
      // Of a migration in Swift, the name is all that can be compared.
      if migration.isSwift, !migration.name.isExactly(entry.name) {
        throw renamed(migration, from: entry)
      }
    }
    let done = Set(applied.map(\.version))
    let pending = known.filter { !done.contains($0.version) }
    if let first = pending.first, let last = applied.last, first.version < last.version {
      throw StoreError(
        .migrationConflict,
        """
        The migration \(first) comes too late: \(last.version) \(last.name) was applied before it. \
        Give it a version above \(last.version); nothing was changed.
        """)
    }
    return pending
  }

  private func ordered(_ migrations: [Migration]) throws(StoreError) -> [Migration] {
    let ordered = migrations.sorted { $0.version < $1.version }
    for migration in ordered where migration.version < 1 {
      throw StoreError(
        .migrationConflict, "The migration \(migration) must have a version above 0.")
    }
    for (first, second) in zip(ordered, ordered.dropFirst()) where first.version == second.version {
      throw StoreError(
        .migrationConflict,
        "Two migrations have the version \(first.version): \(first.name) and \(second.name).")
    }
    return ordered
  }

  private func newer(_ last: MigrationLedger.Entry, than newest: Migration?) -> StoreError {
    let reader = self == .store ? "this ModelStore" : "this program"
    let known = newest.map { "only those up to \($0.version) (\($0.name))" } ?? "none"
    return StoreError(
      .newerFormat,
      """
      The file has migrations up to \(last.version) (\(last.name)); \(reader) knows \(known). \
      Update this program; nothing was changed.
      """)
  }

  private func missing(_ entry: MigrationLedger.Entry) -> StoreError {
    StoreError(
      .migrationConflict,
      """
      The file has had the migration \(entry.version) \(entry.name), which is missing here. \
      Restore it; nothing was changed.
      """)
  }

  private func renamed(_ migration: Migration, from entry: MigrationLedger.Entry) -> StoreError {
    StoreError(
      .migrationConflict,
      """
      The migration \(migration) was called \(entry.name) when it was applied. Restore its name \
      and write a new migration; nothing was changed.
      """)
  }

  private func changed(_ migration: Migration, from entry: MigrationLedger.Entry) -> StoreError {
    let wasSwift = entry.checksum.isEmpty
    guard !wasSwift, !migration.isSwift else {
      return StoreError(
        .migrationConflict,
        """
        The migration \(migration) was in \(wasSwift ? "Swift" : "SQL") when it was applied and \
        is in \(wasSwift ? "SQL" : "Swift") now. Restore it and write a new migration; nothing \
        was changed.
        """)
    }
    return StoreError(
      .migrationConflict,
      """
      The migration \(migration) was changed after it was applied \
      (checksum \(entry.checksum) then, \
      \(migration.checksum) now). Restore its text and write a new migration; nothing was changed.
      """)
  }
}
