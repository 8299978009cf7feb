/// An empty database in memory, in which SQLite reads the text of a table.
struct ScratchTables {
  private let connection: Connection

  /// - Parameter functions: The functions of the store's connections, which CHECKs may call.
  init(functions: Set<SQLFunction>) throws {
    connection = try Connection(
      path: ":memory:", role: .writer,
      policy: Connection.Policy(
        durability: .normal, busyTimeout: .zero, cacheSize: 1 << 16, statementCacheCapacity: 32,
        functions: functions))
  }

  /// Returns the table that `sql` creates; nil if SQLite does not accept the text.
  func table(_ name: String, _ sql: String) throws -> TableFacts? {
    let temporary = TableRebuild.temporaryName(of: name)
    // While records are copied the table has another name, which a CHECK cannot follow.
    guard let renamed = TableSQL.renaming(sql, to: temporary), try create(renamed) else {
      return nil
    }
    try connection.run("DROP TABLE \(identifier: temporary)")
    guard try create(sql) else { return nil }
    let facts = try Catalog(reading: connection, only: [name]).table(named: name)
    try connection.run("DROP TABLE \(identifier: name)")
    return facts
  }

  private func create(_ sql: String) throws -> Bool {
    do {
      try connection.readingQuotedStrings { try connection.execute(sql) }
      return true
    } catch let error as SQLiteError where error.code.primary == .error {
      return false
    }
  }
}
