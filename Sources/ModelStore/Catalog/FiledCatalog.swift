/// The store's own tables in a file that was reconciled with declarations, and the digests of those
/// declarations.
///
/// Reconciling a file ends by recording the digest of the declarations, the schema version, and a
/// digest of these tables. If both are unchanged, nothing that opening checks can have changed.
/// SQLite increments the schema version for each change of a table, index or trigger, also by other
/// programs. The digest covers the rows that define these objects.
struct FiledCatalog: Sendable {
  /// The file's schema version at the time of reading.
  let schemaVersion: Int64
  let models: [FiledText]
  let bindings: [FiledText]
  let rules: [FiledText]
  private let digest: Int64
  /// The declarations' digests, each with the digest of the tables at that time.
  private let recorded: [Int64: Int64]

  /// Must change if the library checks more at opening: increase the first number. It also changes
  /// if the library writes other triggers and indexes for the same declarations, or has other
  /// tables. A file that another library version reconciled may then need changes.
  static let format = [
    1, CompiledForm.current, Int(CatalogText.format), StoreMigrations.all.count,
  ]

  /// The digest for programs without declarations. Every entry can be decoded, models and tables
  /// are unique, rules and bindings can be installed, and the journal's triggers are intact.
  static let file: Int64 = {
    var hash = StableHash()
    hash.add(format)
    return hash.integer
  }()

  /// - Returns: nil if nothing is recorded for the current state of the file.
  /// - Throws: ``SQLiteError``, ``ColumnError``.
  init?(reading connection: Connection) throws {
    let version = try connection.schemaVersion()
    schemaVersion = version
    let recorded = try Self.knowingTable {
      try connection.rows(
        "SELECT declarations, catalog FROM _ms_reconciled WHERE schema_version = \(version)"
      ) { row in (try row.integer(at: 0), try row.integer(at: 1)) }
    }
    guard let recorded, !recorded.isEmpty else { return nil }
    self.recorded = Dictionary(recorded) { first, _ in first }
    models = try CatalogEntries.models.texts(on: connection)
    bindings = try CatalogEntries.bindings.texts(on: connection)
    rules = try CatalogEntries.rules.texts(on: connection)
    digest = try Self.digest(models, bindings, rules, on: connection)
  }

  /// Whether the file was reconciled with the declarations that have this digest.
  func vouches(for declarations: Int64) -> Bool { recorded[declarations] == digest }

  /// Records that the file is reconciled with each of `declarations`, and deletes the records of
  /// its other states.
  ///
  /// - Precondition: A write transaction is open, and does not change any of this afterwards.
  static func record(_ declarations: [Int64], on connection: Connection) throws {
    let digest = try digest(
      CatalogEntries.models.texts(on: connection),
      CatalogEntries.bindings.texts(on: connection),
      CatalogEntries.rules.texts(on: connection), on: connection)
    let version = try connection.schemaVersion()
    try connection.run(
      "DELETE FROM _ms_reconciled WHERE schema_version <> \(version) OR catalog <> \(digest)")
    for declarations in declarations {
      try connection.run(
        """
        INSERT OR REPLACE INTO _ms_reconciled (declarations, schema_version, catalog)
        VALUES (\(declarations), \(version), \(digest))
        """)
    }
  }

  /// Whether anything is recorded, for any state of the file.
  static func isRecorded(on connection: Connection) throws -> Bool {
    try knowingTable {
      try connection.firstRow("SELECT 1 FROM _ms_reconciled LIMIT 1") { _ in true } ?? false
    } ?? false
  }

  /// Deletes what is recorded. Call it on a copy: SQLite counts its schema versions from another
  /// number, so a later version of the copy could have the number of a recorded one.
  static func forget(on connection: Connection) throws {
    _ = try knowingTable { try connection.run("DELETE FROM _ms_reconciled") }
  }

  /// - Returns: nil if the file lacks one of the store's own tables.
  static func knowingTable<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as SQLiteError where error.message.hasPrefix("no such table: ") {
      return nil
    }
  }

  private static func digest(
    _ models: [FiledText], _ bindings: [FiledText], _ rules: [FiledText],
    on connection: Connection
  ) throws -> Int64 {
    var hash = StableHash()
    hash.add(format)
    hash.add(models)
    hash.add(bindings)
    hash.add(rules)
    hash.add(try CatalogEntries.validators.texts(on: connection))
    for statement in [
      "SELECT scope, version, checksum FROM _ms_migrations ORDER BY scope, version",
      """
      SELECT number, model, is_current, format, definition
      FROM _ms_journal_layouts
      ORDER BY number
      """,
    ] {
      let rows = try connection.rows(SQLText(sql: statement)) { row in try row.values() }
      hash.add(rows)
    }
    return hash.integer
  }
}
