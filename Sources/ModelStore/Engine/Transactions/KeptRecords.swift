/// The records of one model that a transaction keeps when it deletes all others. Their keys are in
/// a temporary table, so memory does not grow with their number.
package struct KeptRecords {
  fileprivate let schema: ModelSchema
  /// The name of the temporary table.
  fileprivate let name: String

  fileprivate var table: String { "temp.\(SQLText.quoted(name))" }
  /// Names that no table's own column has to be distinguished from.
  fileprivate var columns: [String] { schema.key.indices.map { "k\($0)" } }
}

extension WriteTransaction {
  /// Prepares to keep records of a table; at most once for each model in a transaction.
  ///
  /// Call ``endKeeping(_:)`` before the transaction ends. A rollback removes the table of keys.
  package borrowing func beginKeeping(_ schema: ModelSchema) throws -> KeptRecords {
    let kept = KeptRecords(schema: schema, name: "_ms_kept_\(schema.name)")
    // The store's own statements keep what is temporary in memory.
    try run("PRAGMA temp_store = FILE")
    // The columns get the affinities of the key. Otherwise SQLite could not use the index to
    // compare them with it: https://sqlite.org/datatype3.html#comparison_expressions
    let fields = zip(schema.keyIndices, kept.columns).map { index, column in
      "\(SQLText.quoted(schema.fields[index].column)) AS \(column)"
    }
    try run(
      """
      CREATE TEMP TABLE \(SQLText.quoted(kept.name)) AS
      SELECT \(fields.joined(separator: ", ")) FROM main.\(SQLText.quoted(schema.table)) WHERE 0
      """)
    try run(
      """
      CREATE INDEX temp.\(SQLText.quoted(kept.name + "_index"))
      ON \(SQLText.quoted(kept.name)) (\(kept.columns.joined(separator: ", ")))
      """)
    return kept
  }

  /// Keeps the record with that key.
  package borrowing func keep(_ key: [SQLValue], in kept: KeptRecords) throws {
    let places = key.map { _ in "?" }.joined(separator: ", ")
    try access.runner.run("INSERT INTO \(kept.table) VALUES (\(places))") { statement in
      try statement.bind(key)
      try statement.run()
    }
  }

  /// Deletes all records of the model that are not kept, with the effects of references.
  ///
  /// - Returns: How many records were deleted, without those that references deleted.
  /// - Throws: ``StoreError`` with code `rejected` when a rule or reference refuses it.
  package borrowing func deleteOthers(than kept: KeptRecords) throws -> Int {
    let table = SQLText.quoted(kept.schema.table)
    let isSame = zip(kept.schema.keyIndices, kept.columns).map { index, column in
      "kept.\(column) IS \(table).\(SQLText.quoted(kept.schema.fields[index].column))"
    }
    let condition = SQLText(
      sql: "NOT EXISTS (SELECT 1 FROM \(kept.table) AS kept WHERE "
        + isSame.joined(separator: " AND ") + ")")
    return try delete(StoreQuery<DynamicRecord>(kept.schema, where: .sql(condition)))
  }

  /// Forgets which records are kept.
  ///
  /// - Returns: How many of them the model does not have any more, because references to deleted
  ///   records deleted them.
  package borrowing func endKeeping(_ kept: KeptRecords) throws -> Int {
    let keys = "SELECT DISTINCT \(kept.columns.joined(separator: ", ")) FROM \(kept.table)"
    let keptCount = try value(Int64.self, SQLText(sql: "SELECT count(*) FROM (\(keys))")) ?? 0
    let count = try count(StoreQuery<DynamicRecord>(kept.schema))
    try run("DROP TABLE \(kept.table)")
    return Int(keptCount) - count
  }

  private borrowing func run(_ sql: String) throws {
    try access.runner.run(sql) { statement in try statement.run() }
  }
}
