import ModelStore

/// A copy of a model's table in memory, with its indexes, on which further indexes are tried. The
/// file is only read.
///
/// Fields that a query does not compare, sort or sum are null in the copy, so that it stays small.
struct ScratchTable {
  /// The largest number of rows in a copy; of a larger table it has a sample.
  static let rowCountMax = 50_000

  let rowCount: Int
  /// How many rows the table has.
  let totalCount: Int
  private let store: Store
  private let hasStatistics: Bool

  /// Why there is no copy.
  struct Impossible: Error {
    let reason: String
  }

  /// - Parameter fieldIndices: The fields whose values the query uses.
  /// - Throws: ``Impossible`` for a view, and for an index that cannot be created in the copy.
  init(
    of schema: ModelSchema, using fieldIndices: Set<Int>, _ reads: borrowing ReadTransaction
  ) throws {
    guard !schema.isView else {
      throw Impossible(reason: "\(schema.name) is a view, which has no indexes of its own")
    }
    let indexes = try ScratchIndex.all(of: schema, reads)
    totalCount = try reads.count(StoreQuery<DynamicRecord>(schema))
    store = try Store.inMemory(models: [])
    let statistics: SQLText =
      "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1' AND type = 'table'"
    hasStatistics = try reads.rows(statistics).first?.values == [.integer(1)]
    do {
      try store.write { transaction in
        try transaction.execute(SQLText(sql: Self.definition(of: schema)))
      }
      rowCount = try Self.copy(
        schema, using: fieldIndices.union(schema.keyIndices), into: store, totalCount, reads)
      try store.write { transaction in
        for index in indexes { try transaction.execute(SQLText(sql: index.sql)) }
        if hasStatistics { try transaction.execute("ANALYZE") }
      }
    } catch let error as StoreError where error.code != .cancelled {
      store.close()
      throw Impossible(reason: "the table cannot be copied: \(error.message)")
    }
  }

  func close() { store.close() }

  /// What a statement costs.
  ///
  /// - Parameter index: The statement of an index that exists meanwhile.
  func work(of text: SQLText, with index: String? = nil) throws -> StatementWork {
    struct Measured: Error { let work: StatementWork }
    guard let index else {
      return try store.read { reads in try reads.work(of: text, maxStepCount: Self.stepCountMax) }
    }
    do {
      // Rolled back, so that the next index is tried without this one.
      return try store.write { transaction in
        try transaction.execute(SQLText(sql: index))
        if hasStatistics { try transaction.execute("ANALYZE") }
        throw Measured(work: try transaction.work(of: text, maxStepCount: Self.stepCountMax))
      }
    } catch let measured as Measured {
      return measured.work
    }
  }

  private static let stepCountMax = 50_000_000

  /// The table without its rules, which the rows meet already.
  private static func definition(of schema: ModelSchema) -> String {
    var parts = schema.fields.map { field in
      var part = "\(SQLText.quoted(field.column)) \(field.declaredType ?? Self.type(of: field))"
      if field.isRowID { part += " PRIMARY KEY" }
      if field.collation != .binary { part += " COLLATE \(SQLText.quoted(field.collation.name))" }
      return part
    }
    if schema.isWithoutRowID {
      let key = schema.keyIndices.map { schema.fields[$0].column }
      parts.append("PRIMARY KEY (\(SQLText.quotedList(key)))")
    }
    return "CREATE TABLE \(SQLText.quoted(schema.table)) (\(parts.joined(separator: ", ")))"
      + (schema.isWithoutRowID ? " WITHOUT ROWID" : "")
  }

  /// `ANY` keeps values as they are in STRICT tables only.
  private static func type(of field: FieldSchema) -> String {
    field.type == .any ? "BLOB" : field.columnType
  }

  /// - Returns: How many rows were copied.
  private static func copy(
    _ schema: ModelSchema, using used: Set<Int>, into store: Store, _ totalCount: Int,
    _ reads: borrowing ReadTransaction
  ) throws -> Int {
    let columns = schema.fields.indices.map { index in
      used.contains(index) ? SQLText.quoted(schema.fields[index].column) : "NULL"
    }
    var rows = SQLText(
      sql: "SELECT \(columns.joined(separator: ", ")) FROM \(SQLText.quoted(schema.table))")
    let distance = (totalCount + rowCountMax - 1) / rowCountMax
    if distance > 1, !schema.isWithoutRowID { rows.append("\nWHERE rowid % \(distance) = 0") }
    rows.append("\nLIMIT \(rowCountMax)")
    let places = [String](repeating: "?", count: columns.count).joined(separator: ", ")
    let insertion = "INSERT INTO \(SQLText.quoted(schema.table)) VALUES (\(places))"
    var count = 0
    var pending: [[SQLValue]] = []
    func insertPending() throws {
      try store.write { transaction in
        for values in pending {
          try transaction.execute(SQLText(sql: insertion, arguments: values))
        }
      }
      count += pending.count
      pending.removeAll(keepingCapacity: true)
    }
    try reads.forEachRow(rows) { row in
      pending.append(row.values)
      if pending.count == 1000 { try insertPending() }
    }
    try insertPending()
    return count
  }
}

/// An index of the file, as a statement that creates it in a copy.
private struct ScratchIndex {
  let sql: String

  static func all(
    of schema: ModelSchema, _ reads: borrowing ReadTransaction
  ) throws -> [ScratchIndex] {
    let list = try reads.rows("PRAGMA index_list(\(identifier: schema.table))")
    var found: [ScratchIndex] = []
    for row in list {
      guard case .text(let name) = row["name"] else { continue }
      let text: SQLText = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = \(name)"
      if case .text(let sql) = try reads.rows(text).first?.values.first {
        found.append(ScratchIndex(sql: sql))
      } else if row["origin"] != .text("pk") || !schema.isWithoutRowID {
        let columns = try reads.rows("PRAGMA index_xinfo(\(identifier: name))").compactMap(
          Self.column)
        // SQLite's own names are reserved.
        let given = "unique_\(found.count + 1)_of_\(schema.table)"
        found.append(
          ScratchIndex(
            sql: "CREATE UNIQUE INDEX \(SQLText.quoted(given)) ON "
              + "\(SQLText.quoted(schema.table)) (\(columns.joined(separator: ", ")))"))
      }
    }
    return found
  }

  private static func column(_ row: ResultRow) -> String? {
    guard row["key"] == .integer(1), case .text(let name) = row["name"] else { return nil }
    var column = SQLText.quoted(name)
    if case .text(let collation) = row["coll"] { column += " COLLATE \(SQLText.quoted(collation))" }
    return column + (row["desc"] == .integer(1) ? " DESC" : "")
  }
}
