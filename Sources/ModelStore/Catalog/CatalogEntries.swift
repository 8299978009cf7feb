/// One part of the self-describing catalog, with each entry as JSON. It lets a program without the
/// Swift types read the models. ``Catalog`` is different: it is what SQLite itself reports about
/// the file.
struct CatalogEntries<Entry: CatalogEntry>: Sendable {
  /// The store's own table, from `Migrations/`.
  let table: String
  /// The kind of entry, for messages: "model".
  let noun: String

  /// Returns every entry in the file, by name; none if the file has no catalog.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` if an entry contains more than this library
  ///   knows, `corrupt` if it is not JSON.
  func read(on connection: Connection) throws -> [Entry] {
    try rows(on: connection).map(entry)
  }

  /// Returns the entries that this library can decode, if the store only reads. If the store
  /// writes, it is the same as ``read(on:)``: an unknown entry of a newer library may restrict any
  /// record, so a write could violate it.
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

  /// Returns why some entries cannot be read, in name order; empty if all can.
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

  /// Writes those of `entries` whose text differs from the file's. Other entries of the file stay,
  /// because another program may use them.
  ///
  /// - Returns: The names of the written entries, in the given order.
  /// - Throws: ``StoreError`` with code `newerFormat` instead of overwriting an entry of a newer
  ///   library.
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

  /// Removes the entries called `names`. Names that do not exist are ignored.
  func remove(_ names: [String], on connection: Connection) throws {
    var isChanged = false
    for name in names {
      try connection.run("DELETE FROM \(identifier: table) WHERE name = \(name)")
      if connection.changeCount > 0 { isChanged = true }
    }
    if isChanged { try Self.changeSchemaVersion(of: connection) }
  }

  /// Replaces entries by their renamed forms.
  ///
  /// - Returns: The entries that differ, before and after.
  /// - Precondition: The store's own migrations were applied.
  func rename(
    on connection: Connection, _ renamed: (Entry) -> Entry
  ) throws -> [(old: Entry, new: Entry)] {
    let changes = try read(on: connection).map { (old: $0, new: renamed($0)) }
      .filter { $0.old != $0.new }
    // Two entries may exchange their names.
    try remove(changes.map(\.old.name), on: connection)
    try write(changes.map(\.new), on: connection)
    return changes
  }

  /// Changes the file's schema version in the transaction that changes the catalog.
  ///
  /// Every connection of every program compares that version before it writes, and reads the
  /// catalog again if it differs. Rows of the catalog alone do not change it. For example, a change
  /// of types leaves all tables unchanged. `PRAGMA schema_version` could set it, but SQLite ignores
  /// it in the defensive mode of stores. So the store creates and drops a view:
  /// <https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigdefensive>.
  private static func changeSchemaVersion(of connection: Connection) throws {
    try connection.execute(
      "CREATE VIEW _ms_catalog_changed AS SELECT 1; DROP VIEW _ms_catalog_changed")
  }

  /// Returns the text of every entry in the file, by name.
  ///
  /// - Precondition: The store's own migrations were applied.
  func texts(on connection: Connection) throws -> [FiledText] {
    // Entries of every library version say whether a model has lists.
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
      The entry of the \(noun) \(name) in \(table) is not JSON. The file was damaged or \
      edited by hand. Restore a backup; nothing was changed.
      """, model: Entry.self == ModelSchema.self ? name : nil)
  }

  private func newer(_ name: String, _ reason: String) -> StoreError {
    StoreError(
      .newerFormat,
      """
      The entry of the \(noun) \(name) has a format that this version of ModelStore does not \
      support (\(reason)). Update this program; nothing was changed.
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
