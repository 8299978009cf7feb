// Values larger than the configured maximum.
extension StatementRunner {
  /// Returns an error that names the field and the first record of `schema`, in key order, with a
  /// value larger than ``StoreConfiguration/maxValueSize``. SQLite names neither.
  ///
  /// - Complexity: Reads the sizes of all values, field by field. It reads no value larger than the
  ///   limit.
  func oversized(in schema: ModelSchema, _ error: SQLiteError) throws -> StoreError {
    var field: FieldSchema?
    var key: [SQLValue]?
    for candidate in schema.fields where field == nil && schema.kind == .table {
      key = try firstKey(ofOversized: candidate, in: schema)
      if key != nil { field = candidate }
    }
    let place = field.map { "\(schema.name).\($0.name)" } ?? schema.name
    // If none is stored, it is one that was to be written.
    let value = field == nil && schema.kind == .table ? "A new value" : "A stored value"
    let cure = field == nil && schema.kind == .table ? "Shorten it" : "Leave the field out"
    return StoreError(
      .invalidValue,
      """
      \(value) of \(place) is larger than the \(connection.maxValueSize) bytes that this store \
      accepts per value. \(cure), or raise StoreConfiguration.maxValueSize.
      """, model: schema.name, field: field?.name, key: key?.isEmpty == false ? key : nil,
      sqliteCode: error.code.rawValue)
  }

  private func firstKey(
    ofOversized field: FieldSchema, in schema: ModelSchema
  ) throws -> [SQLValue]? {
    let column = SQLText.quoted(field.column)
    let sized = "typeof(\(column)) IN ('text', 'blob')"
    var count = 0
    do {
      // SQLite usually knows the size of a blob without reading it. It reads a text to count its
      // characters, and stops at a value that is too large.
      let sql = Self.select("length(\(column))", from: schema, where: sized)
      let isFound = try connection.withStatement(sql) { statement in
        while try statement.step() {
          let size = try RowView(statement: statement.handle).integer(at: 0)
          if size > Int64(connection.maxValueSize) { return true }
          count += 1
        }
        return false
      }
      guard isFound else { return nil }
    } catch let error as SQLiteError where error.code.primary == .tooBig {
      // The oversized value is in the row after the last row that was read.
    }
    do {
      return try firstKey(in: schema, where: sized, skipping: count)
    } catch let error as SQLiteError where error.code.primary == .tooBig {
      // The value is in the row's own page, and SQLite reads it to find its type. Only the field is
      // known.
      return []
    }
  }

  private func firstKey(
    in schema: ModelSchema, where condition: String, skipping count: Int
  ) throws -> [SQLValue]? {
    let columns = SQLText.quotedList(schema.keyIndices.map { schema.fields[$0].column })
    let sql = Self.select(columns, from: schema, where: condition) + " LIMIT 1 OFFSET \(count)"
    return try connection.firstRow(SQLText(sql: sql)) { row in try row.values() }
  }

  private static func select(
    _ columns: String, from schema: ModelSchema, where condition: String
  ) -> String {
    let key = SQLText.quotedList(schema.keyIndices.map { schema.fields[$0].column })
    return
      "SELECT \(columns) FROM \(SQLText.quoted(schema.table)) WHERE \(condition) ORDER BY \(key)"
  }
}
