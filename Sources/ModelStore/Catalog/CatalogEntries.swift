/// One part of the self-describing catalog, with each entry as JSON, so that a program without the
/// Swift types knows the models. Not ``Catalog``, which is what SQLite itself says about the file.
struct CatalogEntries<Entry: CatalogEntry>: Sendable {
  /// The store's own table, from `Migrations/`.
  let table: String
  /// What an entry is, for messages: "model".
  let noun: String

  /// Every entry in the file, by name; none when the file has no catalog.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` when an entry says more than this library
  ///   knows, `corrupt` when it is no JSON.
  func read(on connection: Connection) throws -> [Entry] {
    try rows(on: connection).map(entry)
  }

  /// The entries that this library knows, where nothing can be written; for a store that writes, as
  /// ``read(on:)``: an entry of a newer library may say something of any record, so writing without
  /// knowing it could break what it says.
  func understood(on connection: Connection) throws -> [Entry] {
    guard [.readOnlyFile, .soleReader].contains(connection.role) else {
      return try read(on: connection)
    }
    return try rows(on: connection).compactMap { row in
      do throws(StoreError) {
        return try entry(row)
      } catch {
        guard [.newerFormat, .corrupt].contains(error.code) else { throw error }
        return nil
      }
    }
  }

  /// Why some entries cannot be read, in the order of their names; empty when all can.
  func problems(on connection: Connection) throws -> [StoreError] {
    try rows(on: connection).compactMap { row in
      do throws(StoreError) {
        _ = try entry(row)
        return nil
      } catch {
        return error
      }
    }
  }

  /// Writes those of `entries` that the file does not hold in the same words. Entries of the file
  /// that are not among `entries` stay: they may be another program's.
  ///
  /// - Returns: The names of what was written, in the order given.
  /// - Throws: ``StoreError`` with code `newerFormat` rather than overwrite what a newer library
  ///   wrote.
  /// - Precondition: The store's own migrations were applied.
  @discardableResult
  func write(_ entries: [Entry], on connection: Connection) throws -> [String] {
    var stored: [ExactText: Row] = [:]
    for row in try rows(on: connection) { stored[ExactText(row.name)] = row }
    var written: [String] = []
    for entry in entries {
      let definition = try CatalogText.text(of: entry)
      if let row = stored[ExactText(entry.name)] {
        guard !row.definition.isExactly(definition) else { continue }
        _ = try self.entry(row)
      }
      try connection.run(
        """
        INSERT INTO \(identifier: table) (name, format, definition)
        VALUES (\(entry.name), \(CatalogText.format), \(definition))
        ON CONFLICT (name) DO UPDATE SET format = excluded.format, definition = excluded.definition
        """)
      written.append(entry.name)
    }
    if !written.isEmpty { try Self.changeSchemaVersion(of: connection) }
    return written
  }

  /// Removes the entries called `names`; names that are not there are no error.
  func remove(_ names: [String], on connection: Connection) throws {
    var isChanged = false
    for name in names {
      try connection.run("DELETE FROM \(identifier: table) WHERE name = \(name)")
      if connection.changeCount > 0 { isChanged = true }
    }
    if isChanged { try Self.changeSchemaVersion(of: connection) }
  }

  /// Gives the file another schema version in the transaction that changes the catalog.
  ///
  /// Every connection of every program compares that version before it writes, and reads the
  /// catalog again when it differs. The rows of the catalog alone do not change it. A change of
  /// types, for example, leaves all tables as they are. `PRAGMA schema_version` would set it, but
  /// SQLite ignores that under the defensive mode of stores, so a view is made and dropped:
  /// <https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigdefensive>.
  private static func changeSchemaVersion(of connection: Connection) throws {
    try connection.execute(
      "CREATE VIEW _ms_catalog_changed AS SELECT 1; DROP VIEW _ms_catalog_changed")
  }

  /// Every entry in the file as it stands, by name.
  ///
  /// - Precondition: The store's own migrations were applied.
  func texts(on connection: Connection) throws -> [FiledText] {
    // Entries of every library say whether a model owns lists.
    try connection.rows(
      """
      SELECT name, format, definition, instr(definition, '"lists":[]')
      FROM \(identifier: table)
      ORDER BY name
      """
    ) { row in
      FiledText(
        name: try row.text(at: 0), format: try row.integer(at: 1), definition: try row.text(at: 2),
        mayOwnLists: try row.integer(at: 3) == 0)
    }
  }

  private struct Row {
    let name: String
    let format: Int64
    let definition: String
  }

  private func entry(_ row: Row) throws(StoreError) -> Entry {
    guard row.format <= CatalogText.format else { throw newer(row.name, "format \(row.format)") }
    do {
      return try CatalogText.entry(from: row.definition)
    } catch {
      throw error.isDamage ? damaged(row.name) : newer(row.name, error.reason)
    }
  }

  private func rows(on connection: Connection) throws -> [Row] {
    let exists = try connection.firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(table)"
    ) { row in try row.integer(at: 0) }
    guard exists != nil else { return [] }
    return try connection.rows(
      "SELECT name, format, definition FROM \(identifier: table) ORDER BY name"
    ) { row in
      Row(
        name: try row.text(at: 0), format: try row.integer(at: 1),
        definition: try row.text(at: 2))
    }
  }

  private func damaged(_ name: String) -> StoreError {
    StoreError(
      .corrupt,
      """
      What the file says of the \(noun) \(name) in \(table) is no JSON, so it was damaged or \
      edited by hand. Restore a backup; nothing was changed.
      """, model: Entry.self == ModelSchema.self ? name : nil)
  }

  private func newer(_ name: String, _ reason: String) -> StoreError {
    StoreError(
      .newerFormat,
      """
      The file describes the \(noun) \(name) in a way that this version of ModelStore does not \
      know (\(reason)). Update this program; nothing was changed.
      """, model: Entry.self == ModelSchema.self ? name : nil)
  }
}

extension CatalogEntries<ModelSchema> {
  static let models = CatalogEntries(table: "_ms_models", noun: "model")
}

extension CatalogEntries<ValidatorSchema> {
  static let validators = CatalogEntries(table: "_ms_validators", noun: "validator")
}

extension CatalogEntries<Rule> {
  static let rules = CatalogEntries(table: "_ms_rules", noun: "rule")
}
