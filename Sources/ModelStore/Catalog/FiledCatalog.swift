/// The store's own tables as they stand in a file that was found in order, and for which
/// declarations it was.
///
/// Bringing a file in line with declarations ends by recording their digest with the schema version
/// and a digest of these tables. While both are the same, nothing that an opening checks can have
/// changed: SQLite counts the schema version up for each change of a table, index or trigger, also
/// by other programs, and the digest covers the rows that say what those should be.
struct FiledCatalog: Sendable {
  /// The file's schema version when this was read.
  let schemaVersion: Int64
  let models: [FiledText]
  let bindings: [FiledText]
  let rules: [FiledText]
  private let digest: Int64
  /// The declarations' digests, each with that of the tables then.
  private let recorded: [Int64: Int64]

  /// Changes when a library checks more at opening, for which the first number rises, writes other
  /// triggers and indexes for the same declarations, or has other tables of its own: what another
  /// version of the library found in order may not be so for this one.
  static let format = [
    1, CompiledForm.current, Int(CatalogText.format), StoreMigrations.all.count,
  ]

  /// For programs without declarations: every entry is understood, models and tables are unique,
  /// rules and bindings can be kept, and the journal's triggers are as they should be.
  static let file: Int64 = {
    var hash = StableHash()
    hash.add(format)
    return hash.integer
  }()

  /// - Returns: nil when nothing is recorded about the file as it is now.
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

  /// Whether the file was found in order for the declarations with `digest`.
  func vouches(for declarations: Int64) -> Bool { recorded[declarations] == digest }

  /// Records that the file is in order for each of `declarations`, and forgets what was recorded of
  /// other states of it.
  ///
  /// - Precondition: A write transaction is open, in which nothing of this changes any more.
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

  /// - Returns: nil when the file lacks one of the store's own tables.
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
