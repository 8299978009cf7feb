/// What all members of a shared store have in common besides records, in one version of a file's
/// schema.
struct SharedSchema: Sendable {
  let tables: SharedTables
  /// A digest of the tables, indexes, triggers and views. It leaves out what SQLite adds by itself
  /// in one file only, such as the statistics of ANALYZE.
  let digest: [UInt8]

  /// Reads the schema as the transaction on `connection` sees it.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` for a table that cannot be shared.
  init(reading connection: Connection) throws {
    tables = try SharedTables(reading: connection)
    digest = try Self.digest(on: connection)
  }

  private static func digest(on connection: Connection) throws -> [UInt8] {
    var digest = SHA256()
    try connection.forEachRow(
      """
      SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_schema
      WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY type, name
      """
    ) { row in
      for column in 0..<4 {
        let text = Array(try row.text(at: column).utf8)
        digest.update(UInt64(text.count))
        digest.update(text)
      }
    }
    return digest.finish()
  }
}
